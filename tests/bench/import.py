"""Reads a table of numbers as others do: import.py FILE SEPARATOR

Prints a line for each reader that is installed: its name, the nanoseconds of the fastest of five
calls from the page cache, and the mean processor time of a call, of all threads.  The start of Python
is not timed.  Each returns numbers of 32 bits, as sc-import does; pandas with its C parser, pyarrow
with all threads.
"""
import sys
import time

path, separator = sys.argv[1:]


def numpy_reader():
    import numpy

    return lambda: numpy.loadtxt(path, dtype=numpy.float32, delimiter=separator)


def pandas_reader():
    import pandas

    return lambda: pandas.read_csv(path, sep=separator, header=None, dtype="float32", engine="c")


def pyarrow_reader():
    import pyarrow
    from pyarrow import csv

    with open(path) as file:
        columns = file.readline().count(separator) + 1
    names = [str(i) for i in range(columns)]
    read = csv.ReadOptions(column_names=names)
    parse = csv.ParseOptions(delimiter=separator)
    convert = csv.ConvertOptions(column_types={name: pyarrow.float32() for name in names})
    return lambda: csv.read_csv(path, read, parse, convert)


for name, make in (("loadtxt", numpy_reader), ("pandas", pandas_reader), ("pyarrow", pyarrow_reader)):
    try:
        read = make()
    except ImportError:
        continue
    spent = []
    processor = time.process_time_ns()
    for _ in range(5):
        start = time.perf_counter_ns()
        read()
        spent.append(time.perf_counter_ns() - start)
    print(name, min(spent), (time.process_time_ns() - processor) // 5)
