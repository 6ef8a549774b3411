#!/bin/sh
# The Python module.
. "$(dirname "$0")/lib.sh"

python=$(python_with numpy)
if [ -z "$python" ]; then
    skip_that 'the Python module reads, writes, expands and condenses' 'no Python with NumPy'
    finish
fi
export PYTHONPATH="$SC_ROOT/formats" PYTHONDONTWRITEBYTECODE=1

test_that 'datasets and pools are written as the programs write them' '
    sc-gen cbf -n 30 -L 40 -o set.npy
    sc-shapelets -q -k 3 set.npy -o pool.slp
    printf "a,p,1,2\nb,q,3,4\n" | sc-import -q --group 2 -o groups.npy
    "$python" -c "
import shapecond
for name in (\"set.npy\", \"groups.npy\"):
    shapecond.save(\"again-\" + name, **shapecond.load(name))
shapecond.save_pool(\"again.slp\", shapecond.load_pool(\"pool.slp\"))
assert list(shapecond.load(\"groups.npy\")[\"groups\"]) == [0, 1]
"
    cmp again-set.npy set.npy
    cmp again-groups.npy groups.npy
    cmp again.slp pool.slp
    flip pool.slp 60
    "$python" -c "
import shapecond
try: shapecond.load_pool(\"pool.slp\")
except ValueError as error: assert \"damaged\" in str(error)
else: raise SystemExit(\"accepted\")"
'
test_that 'views are expanded to the bytes of the golden files' '
    for bits in "" -4; do
        "$python" -c "
import numpy as np, shapecond, sys
golden = sys.argv[1]
series, logits = shapecond.expand(shapecond.load(golden + \".npy\"))
expected = shapecond.load(golden + \"-expanded.npy\")
assert series.tobytes() == expected[\"X\"].tobytes() and logits.tobytes() == expected[\"soft\"].tobytes()
" "$SC_ROOT/tests/golden/views$bits"
    done
'
test_that 'few bits are read and written as the programs do' '
    for bits in "" -4; do
        "$python" -c "
import numpy as np, shapecond, sys
data = shapecond.load(sys.argv[1] + \".npy\")
series, logits = shapecond.expand(data)
expected = shapecond.load(sys.argv[1] + \"-expanded.npy\")
assert np.concatenate([data[\"X\"], series]).tobytes() == expected[\"X\"].tobytes()
assert np.concatenate([data[\"soft\"], logits]).tobytes() == expected[\"soft\"].tobytes()
shapecond.save(\"again.npy\", **data)
" "$SC_ROOT/tests/golden/views-few$bits"
        # Codes of 4 bits are those of an earlier version there.
        test -n "$bits" || cmp again.npy "$SC_ROOT/tests/golden/views-few.npy"
        for file in again.npy "$SC_ROOT/tests/golden/views-few$bits.npy"; do
            sc-expand -q -o - - <"$file" | head -c 5000 >expanded-$(basename "$file")
        done
        cmp expanded-again.npy "expanded-views-few$bits.npy"
        # Steps that were cut off are gone; other values are refused, not wrapped around.
        "$python" -c "
import numpy as np, shapecond, sys
data = shapecond.load(sys.argv[1])
few = {name: data[name] for name in (\"y\", \"levels\", \"packing\")}
shapecond.save(\"cut.npy\", data[\"X\"][..., :5], **few)
assert shapecond.load(\"cut.npy\")[\"X\"].tobytes() == data[\"X\"][..., :5].tobytes()
try: shapecond.save(\"none.npy\", 10 * data[\"X\"], **few)
except ValueError as error: assert \"levels\" in str(error)
else: raise SystemExit(\"accepted\")
with open(\"half.npy\", \"wb\") as file:
    np.save(file, np.zeros((2, 1, 3), \"u1\")), np.save(file, np.zeros((2, 2, 1, 1), \"f4\"))
try: shapecond.load(\"half.npy\")
except ValueError as error: assert \"packing\" in str(error)
else: raise SystemExit(\"accepted\")
" "$SC_ROOT/tests/golden/views-few$bits.npy"
        sc-info cut.npy | grep -q " 5 steps"
    done
'
test_that 'compressed series are read and written as the programs do' '
    sc-gen cbf -n 30 -L 50 | sc-quantise -q --step 0.2 -o smooth.npy
    sc-gen two-patterns -n 40 | sc-quantise -q --step 0.01 -o fine.npy
    # More channels than a byte can number, and as many classes as a byte can.
    "$python" -c "
import numpy as np, shapecond
random = np.random.default_rng(1)
shapecond.save(\"channels.npy\", random.normal(size=(3, 300, 4)), [0, 1, 0])
shapecond.save(\"classes.npy\", random.normal(size=(256, 1, 9)), np.arange(256))
"
    sc-quantise -q --step 0.25 channels.npy -o wide.npy
    sc-quantise -q --step 0.25 classes.npy | sc-views -q --augment --bits 4 -m 30 -o many.npy
    for file in smooth.npy fine.npy wide.npy many.npy "$SC_ROOT/tests/golden/packed.npy"; do
        sc-prune -q --ratio 0 "$file" -o floats.npy
        "$python" -c "
import shapecond, sys
data = shapecond.load(sys.argv[1])
assert data[\"X\"].tobytes() == shapecond.load(\"floats.npy\")[\"X\"].tobytes()
shapecond.save(\"again.npy\", **data)
try: shapecond.save(\"none.npy\", data[\"X\"] * 1.01, data[\"y\"], levels=data[\"levels\"], packing=data[\"packing\"])
except ValueError as error: assert \"levels\" in str(error)
else: raise SystemExit(\"accepted\")
" "$file"
        cmp again.npy "$file"
        sc-prune -q --ratio 0 again.npy -o again-floats.npy
        size=$(($(sc-info --json floats.npy | json count) * 4))
        head -c $((128 + size)) again-floats.npy >a && head -c $((128 + size)) floats.npy | cmp - a
    done
    # Codes of an earlier version with something in half bytes that are not used.
    "$python" -c "
import numpy as np, sys, zlib
with open(sys.argv[1], \"rb\") as file: arrays = [np.load(file) for _ in range(4)]
arrays[3][:, -1] |= 240
arrays[2][11] = zlib.crc32(arrays[3].tobytes())
with open(\"unused.npy\", \"wb\") as file:
    for array in arrays: np.save(file, array)
import shapecond
shapecond.save(\"again.npy\", **shapecond.load(\"unused.npy\"))
" "$SC_ROOT/tests/golden/views-4.npy"
    sc-expand -q - <unused.npy | head -c 1000 >a && sc-expand -q - <again.npy | head -c 1000 | cmp - a
'
test_that 'labels of any kind are numbered, and what makes no sense is refused' '
    "$python" -c "
import numpy as np, shapecond
shapecond.save(\"text.npy\", np.ones((3, 4)), np.array([\"up\", \"down\", \"up\"], object), groups=[7, 7, 3])
data = shapecond.load(\"text.npy\")
assert list(data[\"names\"]) == [\"down\", \"up\"] and list(data[\"y\"]) == [1, 0, 1] and list(data[\"groups\"]) == [1, 1, 0]
for bad in (lambda: shapecond.save(\"x\", np.ones(3)), lambda: shapecond.save(\"x\", np.ones((3, 4)), [1, 2]),
            lambda: shapecond.expand(data), lambda: shapecond.Condenser().set_params(what=1)):
    try: bad()
    except ValueError: continue
    raise SystemExit(\"accepted\")
"
    sc-info text.npy | grep -q "3 series, 1 channel, 4 steps, 2 classes"
'
test_that 'series are condensed from Python' '
    "$python" -c "
import numpy as np, shapecond
data = shapecond.load(\"set.npy\")
X, y = shapecond.Condenser(spc=2, options=[\"--steps\", 20, \"--views\", 5, \"--no-score\"]).fit_resample(
    data[\"X\"][:, 0], np.array([\"c\", \"b\", \"f\"])[data[\"y\"]])
few = shapecond.condense(data[\"X\"], data[\"y\"], None, options=[\"--bytes\", \"7k\", \"--force\", \"--steps\", 2, \"--no-score\"])
assert 40 in few[\"packing\"]
import warnings
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter(\"always\")
    grouped = shapecond.condense(np.swapaxes(data[\"X\"], 1, 2), data[\"y\"], 1, groups=[\"ann\", \"bob\", \"eve\"] * (len(data[\"y\"]) // 3),
                                 options=[\"--steps\", 2, \"--views\", 5, \"--no-score\", \"--force\"])
assert len(found) == 1 and \"(N, steps, channels)\" in str(found[0].message)
assert set(grouped[\"groups\"]) <= {0, 1, 2}
np.savez(\"arrays.npz\", X=data[\"X\"])
try: shapecond.load(\"arrays.npz\")
except ValueError as error: assert \"numpy.load\" in str(error)
else: raise SystemExit(\"accepted\")
assert X.shape == (6, 40) and sorted(y) == [\"b\", \"b\", \"c\", \"c\", \"f\", \"f\"], (X.shape, y)
try: shapecond.condense(X, np.zeros(6), options=[\"--no-such-thing\"])
except RuntimeError as error: assert \"unknown option\" in str(error)
else: raise SystemExit(\"accepted\")
"
'
finish
