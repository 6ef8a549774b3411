#!/usr/bin/env python3
"""A slow and lossy wire between two TAP devices, for kernels without tc netem:

    wire.py HERE NAMESPACE THERE MILLISECONDS LOSS

makes the device HERE, and THERE in the network namespace, and carries frames between them, each after that delay and
a share LOSS of them never, until it is killed.  Counts go to standard error then."""
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000


def tap(name):
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return device


here, namespace, there, milliseconds, loss = sys.argv[1:]
ends = [tap(here)]
inside = os.open("/run/netns/" + namespace, os.O_RDONLY)
if ctypes.CDLL(None, use_errno=True).setns(inside, 0):
    sys.exit("setns: " + os.strerror(ctypes.get_errno()))
ends.append(tap(there))
generator = random.Random(1)
waiting, number, lost = [], 0, 0


def stop(*_):
    print("carried %d frames, lost %d" % (number, lost), file=sys.stderr)
    sys.exit(0)


signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True:
    left = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    for end in select.select(ends, [], [], left)[0]:
        frame = os.read(end, 65536)
        number += 1
        if generator.random() < float(loss):
            lost += 1
            continue
        heapq.heappush(waiting, (time.monotonic() + float(milliseconds) / 1000, number, ends[end == ends[0]], frame))
    while waiting and waiting[0][0] <= time.monotonic():
        _, _, to, frame = heapq.heappop(waiting)
        try:
            os.write(to, frame)
        except OSError:
            pass  # the device is down
