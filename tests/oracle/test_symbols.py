#!/usr/bin/env python3
"""Which of an address's names is printed: for random addresses in big libraries, the same one as by perf.

The recording is made up: one process that has a library mapped, with samples all over its code."""
import glob
import os
import random
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

IP, TID = 1, 2
BASE, PAGE, USER = 0x7f0000000000, 4096, 2
COUNT = 2000


def executable_segment(path):
    """(offset in the file, size) of the code; addresses are the offsets plus a constant."""
    with open(path, 'rb') as file:
        head = file.read(64)
        start, size, n = struct.unpack_from('<Q', head, 32)[0], *struct.unpack_from('<HH', head, 54)
        for i in range(n):
            file.seek(start + i * size)
            kind, flags, offset, _, _, filled = struct.unpack_from('<IIQQQQ', file.read(size))
            if kind == 1 and flags & 1:
                return offset, filled
    return skip(f'{path} has no code')


def record_of(kind, misc, body):
    body += b'\0' * (-len(body) % 8)
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def mapped(library, offset):
    """The pages that a loader maps as code, where that is among it: the first, and how many bytes."""
    with open(library, 'rb') as file:
        data = file.read(1 << 16)
    at, size, n = (struct.unpack_from('<Q', data, 32)[0], *struct.unpack_from('<HH', data, 54))
    for i in range(n):
        kind, flags, start, _, _, length = struct.unpack_from('<IIQQQQ', data, at + i * size)
        if kind == 1 and flags & 1 and start <= offset < start + length:
            return start // PAGE * PAGE, (start + length + PAGE - 1) // PAGE * PAGE - start // PAGE * PAGE
    return skip(f'no segment of {library} has its code')


def write_recording(output, library, addresses, offset):
    """As perf 5 writes it: MMAP2, COMM, samples with an address and a thread."""
    attr = bytearray(128)
    struct.pack_into('<IIQQQQ', attr, 0, 1, 128, 0, 1, IP | TID, 0)  # cpu-clock, every one
    place, length = mapped(library, offset)
    records = record_of(3, 0, struct.pack('<II', 100, 100) + b'prog\0')
    records += record_of(10, USER, struct.pack('<IIQQQIIQQII', 100, 100, BASE + place, length, place,
                                               0, 0, 0, 0, 5, 2) + library.encode() + b'\0')
    for address in addresses:
        records += record_of(9, USER, struct.pack('<QII', BASE + address, 100, 100))
    with open(output, 'wb') as file:
        at = 104 + 144
        file.write(b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 144, 104, 144, at, len(records), 0, 0) + bytes(32))
        file.write(bytes(attr) + struct.pack('<QQ', 0, 0) + records)


def names(result):
    """The symbols, one for each sample; without what perf hangs behind a name."""
    assert result.status == 0, result
    return [re.match(r'\s*[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)?\s*(?:\(inlined\))?$', line).group(1) for line in result.out.splitlines()
            if re.match(r'\s*[0-9a-f]+ ', line)]


def library(*patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            return os.path.realpath(path)
    return skip(f'none of {patterns} is here')


def compare(path):
    perf_works()
    offset, size = executable_segment(path)
    chance = random.Random(20)
    write_recording('perf.data', path, [offset + chance.randrange(size) for _ in range(COUNT)], offset)
    fields = ['-F', 'ip,sym,symoff']
    mine = names(pace('script', '-i', 'perf.data', '--no-inline', '--no-unnamed-functions', '--no-demangle', *fields))
    theirs = names(run('perf', 'script', '-i', 'perf.data', '--no-inline', '--no-demangle', *fields))
    assert len(mine) == len(theirs) == COUNT, (len(mine), len(theirs))
    named = sum(name != '[unknown]' for name in mine)
    differing = [(a, b) for a, b in zip(mine, theirs) if a != b]
    # What has a name here and none there is no difference of choice; the other way round it would be.
    # The head of the linkage table, and the lazy stubs beside those that calls go to, perf names after the function before them.
    chosen = [(a, b) for a, b in differing if b != '[unknown]' and not (a.endswith('@plt') and b == '_init')]
    assert named > COUNT / 20, (named, mine[:10])
    assert len(chosen) <= COUNT / 1000, chosen[:30]


@test
def symbols_of_the_c_library_are_those_that_perf_chooses():
    compare(library('/usr/lib/x86_64-linux-gnu/libc.so.6', '/usr/lib/*-linux-gnu/libc.so.6', '/usr/lib64/libc.so.6'))


@test
def symbols_of_a_big_cpp_library_are_those_that_perf_chooses():
    compare(library('/usr/lib/*/libLLVM-1[4-9]*.so.1', '/usr/lib/llvm-*/lib/libLLVM*.so*', '/usr/lib/*/libstdc++.so.6'))


@test
def symbols_of_node_are_those_that_perf_chooses():
    needs('node')
    # Debian's program is a few bytes that call its library.
    libnode = re.search(r'=> (/\S*/libnode\.so\S*)', run('ldd', shutil.which('node')).out)
    compare(os.path.realpath(libnode.group(1) if libnode else shutil.which('node')))


if __name__ == '__main__':
    main()
