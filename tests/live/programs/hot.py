"""Calls of a small function: each of them passes the trampoline that has its name."""
import sys
import time


def tiny(i):
    return i


end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for k in range(20000):
        tiny(k)
