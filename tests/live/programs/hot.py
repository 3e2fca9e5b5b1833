"""Calls of a small function: each of them passes the trampoline that has its name."""
import sys
import time


def tiny(i):
    return i


end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    for k in range(20000):
        tiny(k)
