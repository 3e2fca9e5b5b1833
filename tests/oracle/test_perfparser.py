#!/usr/bin/env python3
"""Stacks that perfparser (of hotspot) expects of its own recordings, with the program that was recorded: addresses,
functions, inlined functions, lines."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

FOLDER = 'fixtures/KDAB__perfparser'
BEGIN = 'tests__auto__perfdata__vector_static_gcc__'
PROGRAM = 'vector_static_gcc_v9.1.0'
# Where the program is loaded; perfparser tells addresses, perf and pace what they are in the file.
BASE = 0x400000


def expected(path):
    """Samples: time, [(address, name, is_inlined, line)]; address and name None where perfparser knows none."""
    with open(path, encoding='utf-8') as f:
        blocks = f.read().split('\n\n')
    for head, body in zip(blocks[::2], blocks[1::2]):
        frames, pairs = [], body.strip('\n').split('\n')
        for place, symbol in zip(pairs[::2], pairs[1::2]):
            place, symbol = place.split('\t')[1:], symbol.split('\t')[1:]
            where = re.match(r'(.*):(\d+):(-?\d+)$', place[1])
            line = f'{os.path.basename(where[1])}:{where[2]}' if where else None
            found = re.match(rf'(.*) {PROGRAM} /', symbol[-1])
            # inside of others an inlined function is told by where it begins
            address, is_sampled = place[0].split()
            frames.append((int(address, 16) if is_sampled != '0' or not found else None, found[1] if found else None,
                           symbol[-1].endswith('(inlined)'), line))
        yield re.match(r'.*\t([\d.]+)$', head.strip('\n').split('\n')[0])[1], frames


def ours(recording, symfs):
    done = pace('script', '--no-unnamed-functions', '-i', recording, '--symfs', symfs, '-v', '--ns', '-F', 'tid,time,ip,sym,dso,srcline')
    assert done.status == 0, done
    for block in done.out.split('\n\n'):
        if not block.strip():
            continue
        head, *lines = block.strip('\n').split('\n')
        frames = []
        for line in lines:
            frame = re.fullmatch(r'\t\s*([0-9a-f]+) (.*) \((.*)\)', line)
            if frame:
                is_program = frame[3] == 'inlined' or frame[3].endswith(PROGRAM)
                frames.append([int(frame[1], 16), frame[2] if is_program else None, frame[3] == 'inlined', None])
            elif re.fullmatch(r'  .*:\d+( \(inlined\))?', line):
                frames[-1][3] = line.strip().removesuffix(' (inlined)')
        yield head.strip().split()[-1].rstrip(':'), [tuple(frame) for frame in frames]


def aliases(program):
    """name -> address, of functions."""
    symbols = run('readelf', '-sW', program).out
    return {found[2]: found[1] for found in re.finditer(r'^\s*\d+: ([0-9a-f]+)\s+\d+ (?:FUNC|IFUNC) .* (\S+)$', symbols, re.M)}


def is_same(theirs, frame, addresses):
    address, name, is_inlined, line = theirs
    ip, own_name, own_inlined, own_line = frame
    if (is_inlined, line) != (own_inlined, own_line):
        return False
    if address is not None and name and ip + BASE - address not in (0, 1):
        return False
    if not name:
        return not own_name and ip - address in (0, 1)
    # what calls indirect functions has no symbols: perfparser takes the one before
    if name == '_init' and own_name.endswith('@plt'):
        return True
    # of what has only a DWARF name, perfparser adds the namespace
    return own_name in (name, name.removeprefix('std::')) or addresses.get(name, 0) == addresses.get(own_name)


@test
def stacks_are_those_that_perfparser_expects():
    folder = needs_shared(FOLDER)
    needs('readelf')
    compared, addresses = 0, aliases(f'{folder}/{BEGIN}{PROGRAM}.ELFBINARY')
    for recording, n_samples in (('perf.data', 45), ('perf.data.zstd', 34)):
        path = f'{folder}/{BEGIN}{recording}'
        listed = pace('buildid-list', '-i', path).out
        place = re.search(rf'/\S*/{PROGRAM}', listed)[0]
        os.makedirs('root' + os.path.dirname(place), exist_ok=True)
        os.symlink(f'{folder}/{BEGIN}{PROGRAM}.ELFBINARY', 'root' + place)
        theirs, mine = list(expected(f'{path}.expected.txt.EXPECTED')), list(ours(path, 'root'))
        assert len(theirs) == len(mine) == n_samples, (len(theirs), len(mine))
        for (time, frames), (own_time, own_frames) in zip(theirs, mine):
            assert time == own_time, (time, own_time)
            # in execve and exit there is no stack any more: perfparser leaves out where the kernel was called
            if len(own_frames) == len(frames) + 1 and not any(frame[1] for frame in frames):
                own_frames.pop()
            assert len(frames) == len(own_frames) and all(is_same(a, b, addresses) for a, b in zip(frames, own_frames)), (path, time, frames, own_frames)
            compared += len(frames)
        shutil.rmtree('root')
    print(f'# {compared} frames')


main()
