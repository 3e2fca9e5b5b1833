#!/usr/bin/env python3
"""What 'data lint' calls damaged, and what it does not: a file is damaged if a part of it is lost or it contradicts itself."""
import glob
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

WORDCOUNT = os.path.join(TOP, 'tests/golden/data/wordcount.data')


def verdict(path):
    result = pace('data', 'lint', path)
    assert result.status in (0, 1), (path, result)
    last = result.out.strip().split('\n')[-1]
    assert last.startswith('This file is whole.' if result.status == 0 else 'This file is damaged: '), (path, result)
    return last, result.out


def insert(data, what):
    """The recording with `what` between its attrs and its records."""
    start, size = struct.unpack_from('<QQ', data, 40)
    out = bytearray(data[:start] + what + data[start:])
    struct.pack_into('<Q', out, 40, start + len(what))
    features = sum(bin(word).count('1') for word in struct.unpack_from('<4Q', data, 72))
    mark = struct.unpack_from('<QQ', data, start + size + features * 16)
    if mark[0] == struct.unpack('<Q', b'PACEOWNE')[0]:
        features += 1 + bin(mark[1]).count('1')
    for i in range(features):
        at = start + len(what) + size + i * 16
        where = struct.unpack_from('<Q', out, at)[0]
        if where != mark[0]:
            struct.pack_into('<Q', out, at, where + len(what))
    return bytes(out)


@test
def recordings_that_have_just_been_made_are_whole():
    """Of all CPUs too, where room is left for the ids of CPUs that are switched on later."""
    can_record()
    kinds = [['-e', 'cpu-clock'], ['-e', 'cpu-clock,page-faults'], ['-e', '{cpu-clock,page-faults}'], ['-g'], ['-z'], ['--no-embed']]
    if not os.geteuid():
        kinds += [['-a'], ['-a', '-e', 'cpu-clock,page-faults,context-switches'], ['-a', '-g', '-z']]
    for words in kinds:
        result = pace('record', *words, '-o', 'made.data', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
        assert result.status == 0, (words, result)
        last, page = verdict('made.data')
        assert last == 'This file is whole.', (words, page)
        assert 'belong to' not in page, (words, page)


@test
def what_perf_and_its_inject_wrote_is_whole():
    perf_works()
    for words in ([], ['-e', '{cpu-clock,page-faults}', '-g']):
        assert run('perf', 'record', '-q', *words, '-o', 'perf.data', 'ls', '/').status == 0, words
        assert run('perf', 'inject', '-b', '-i', 'perf.data', '-o', 'injected.data').status == 0, words
        for path in ('perf.data', 'injected.data'):
            last, page = verdict(path)
            assert last == 'This file is whole.', (words, path, page)


@test
def zeros_between_parts_are_padding():
    """Up to the next page, as 'perf inject' leaves them."""
    data = open(WORDCOUNT, 'rb').read()
    for n in (8, 16, 4096 - struct.unpack_from('<Q', data, 40)[0], 10000):
        open('padded.data', 'wb').write(insert(data, bytes(n)))
        last, page = verdict('padded.data')
        assert last == 'This file is whole.', (n, page)
        assert [n] == [int(line.split()[-1].replace(',', '')) for line in page.split('\n') if 'padding' in line], (n, page)
    open('longer.data', 'wb').write(data + bytes(4096))
    last, page = verdict('longer.data')
    assert last == 'This file is whole.' and 'padding' in page, page


@test
def bytes_that_nothing_names_are_a_contradiction_between_parts_and_odd_behind_them():
    """simpleperf writes its sections anew where longer ones were."""
    data = open(WORDCOUNT, 'rb').read()
    open('behind.data', 'wb').write(data + b'left over' * 10)
    last, page = verdict('behind.data')
    assert last == 'This file is whole.', page
    assert f'90 bytes at 0x{len(data):x}, after the last part, belong to nothing' in page, page
    open('between.data', 'wb').write(insert(data, bytes(1000) + b'something' + bytes(15)))
    last, page = verdict('between.data')
    assert last == 'This file is damaged: 1 contradiction in its layout.' and '1024 bytes at' in page, page


@test
def records_of_others_add_up_to_their_data():
    """Of recordings that are whole every byte of the data is one of a record, those behind traces too; simpleperf's formats of
    tracepoints lie inside of their record, and nothing behind them is taken for theirs."""
    seen = 0
    for path in sorted(glob.glob(needs_shared('fixtures') + '/*/*')):
        with open(path, 'rb') as file:
            if file.read(16) != b'PERFILE2' + struct.pack('<Q', 104):
                continue
        result = pace('data', 'lint', path)
        if result.status or 'compressed records' in result.out:
            continue
        data = re.search(r'^  data +0x[0-9a-f]+ +([0-9,]+)$', result.out, re.M).group(1)
        records = re.search(r'^  all +[0-9,]+ +([0-9,]+)$', result.out, re.M).group(1)
        assert data == records, (path, result)
        if path.endswith('simpleperf__testdata__perf_with_trace_offcpu.data.6d0c5e0a'):
            assert re.search('^  SAMPLE +1,005 ', result.out, re.M) and 'TRACING_DATA' in result.out, result
        seen += 1
    assert seen > 60, seen


main()
