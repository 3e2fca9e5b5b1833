#!/usr/bin/env python3
"""Real recordings as decoded by quipper, Google's reader of perf.data: every record, field by field. Its text lies beside the
recordings (see the shared folder); it is compared with `pace report -D`."""
import collections
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

# quipper's message -> its field -> pace's
FIELDS = {
    'mmap_event': {'pid': 'pid', 'tid': 'tid', 'start': 'addr', 'len': 'len', 'pgoff': 'pgoff', 'filename': 'path', 'prot': 'prot',
                   'flags': 'flags', 'ino': 'ino', 'ino_generation': 'gen'},
    'comm_event': {'pid': 'pid', 'tid': 'tid', 'comm': 'comm'},
    'fork_event': {'pid': 'pid', 'ppid': 'ppid', 'tid': 'tid', 'ptid': 'ptid', 'fork_time_ns': 'time'},
    'exit_event': {'pid': 'pid', 'ppid': 'ppid', 'tid': 'tid', 'ptid': 'ptid', 'fork_time_ns': 'time'},
    'lost_event': {'id': 'id', 'lost': 'lost'},
    'lost_samples_event': {'num_lost': 'lost'},
    'throttle_event': {'time_ns': 'time', 'id': 'id', 'stream_id': 'stream_id'},
    'ksymbol_event': {'addr': 'addr', 'len': 'len', 'ksym_type': 'ksym_type', 'flags': 'flags', 'name': 'name'},
    'aux_event': {'aux_offset': 'offset', 'aux_size': 'size'},
    'itrace_start_event': {'pid': 'pid', 'tid': 'tid'},
    'time_conv_event': {'time_shift': 'time_shift', 'time_mult': 'time_mult', 'time_zero': 'time_zero'},
    'sample_event': {'ip': 'IP', 'pid': 'pid', 'tid': 'tid', 'sample_time_ns': 'TIME', 'addr': 'ADDR', 'id': 'ID', 'stream_id': 'STREAM_ID',
                     'cpu': 'CPU', 'period': 'PERIOD', 'callchain': 'callchain', 'weight': 'WEIGHT', 'data_src': 'DATA_SRC'},
}
SIGNED = {'pid', 'tid', 'ppid', 'ptid'}
TEXTS = {'filename', 'comm', 'name'}


def address(v):
    """quipper sets the highest bit of addresses that are in no map, garbage of frame pointers mostly."""
    return v & ~(1 << 63)


def number(text):
    return int(text, 16) if text.startswith('0x') else int(text)


def blocks(path):
    """Each event of quipper's text: (its message, type, misc, size, its fields)."""
    depth, event = 0, None
    for line in open(path, encoding='utf-8', errors='replace'):
        line = line.strip()
        if line.endswith('{'):
            depth += 1
            if depth == 1 and line == 'events {':
                event = {'message': None, 'header': {}, 'fields': collections.defaultdict(list)}
            elif depth == 2 and event is not None:
                inside = line[:-2]
                if inside != 'header':
                    event['message'] = inside
            elif depth == 3 and event is not None:
                inside_deep = line[:-2]
            continue
        if line == '}':
            depth -= 1
            if depth == 0 and event is not None:
                yield event
                event = None
            elif depth == 1:
                inside = None
            continue
        if event is None or depth not in (2, 3):
            continue
        name, value = line.split(': ', 1)
        if depth == 2 and inside == 'header':
            event['header'][name] = int(value)
        elif depth == 2 and inside in FIELDS:
            event['fields'][name].append(value)
        elif depth == 3 and inside == 'sample_event' and inside_deep == 'callchain':
            event['fields']['callchain'].append(value)


def theirs(path):
    found = collections.Counter()
    for event in blocks(path):
        message = event['message']
        if message not in FIELDS:
            continue
        fields = []
        for name, ours in FIELDS[message].items():
            values = event['fields'].get(name)
            if not values:
                continue
            if name == 'callchain':
                # they left the markers of modes in or not, as the recording has them
                fields.append((ours, tuple(address(int(v)) for v in values)))
            elif name in TEXTS:
                fields.append((ours, values[0].strip('"')))
            elif name == 'ip':
                fields.append((ours, address(int(values[0]))))
            else:
                v = int(values[0])
                fields.append((ours, v - 2**32 if name in SIGNED and v >= 2**31 else v))
        found[(event['header']['type'], event['header']['size'], tuple(sorted(fields)))] += 1
    return found


def ours(path, wanted):
    """The same from our dump, with the fields that theirs have for each type."""
    found = collections.Counter()
    record = None

    def end():
        if record and record['type'] in wanted:
            names = wanted[record['type']]
            key = tuple(sorted((n, v) for n, v in record['fields'].items() if n in names))
            found[(record['type'], record['size'], key)] += 1

    for line in pace('report', '-D', '-i', path).out.split('\n'):
        start = re.match(r'0x[0-9a-f]+@.* \[0x([0-9a-f]+)\]: event: (\d+)$', line)
        if start:
            end()
            record = {'type': int(start.group(2)), 'size': int(start.group(1), 16), 'fields': {}}
            continue
        body = re.match(r'(?:-?\d+ )*0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_(\w+) (.*)$', line)
        if body and body.group(1) != 'SAMPLE':
            text = body.group(2)
            # the last field may have spaces in it
            last = re.search(r'(?:^| )(path|comm|name)=(.*)$', text)
            if last:
                record['fields'][last.group(1)] = last.group(2)
                text = text[:last.start()]
            for name, value in re.findall(r'(\w+)=(\S+)', text):
                if re.fullmatch(r'-?\d+|0x[0-9a-f]+', value):
                    record['fields'][name] = number(value)
        field = re.match(r' \.\.\. ([A-Z_]+) (.*)$', line)
        if field and record:
            name, value = field.groups()
            name = 'ID' if name == 'IDENTIFIER' else name
            if name == 'TID':
                record['fields']['pid'], record['fields']['tid'] = (int(v) for v in value.split('/'))
            elif name == 'CALLCHAIN':
                record['fields']['callchain'] = tuple(address(int(v, 16)) for v in value.split(': ', 1)[1].split()) if ': ' in value else ()
            elif re.match(r'-?\d|0x', value):
                v = number(value.split()[0].split('/')[0])
                record['fields'][name] = address(v) if name == 'IP' else v
    end()
    return found


def without_joined_maps(only_theirs, only_ours):
    """quipper joins the map of a file with those that stand in for its huge pages. What is left when these are taken away."""
    joined, rest_theirs = [], []
    for key in only_theirs:
        fields = dict(key[2])
        if key[0] in (1, 10) and any(o[0] == key[0] and dict(o[2]).get('addr') == fields['addr'] and dict(o[2])['pid'] == fields['pid'] and
                                     dict(o[2])['len'] < fields['len'] for o in only_ours):
            joined.append((fields['pid'], fields['addr'], fields['addr'] + fields['len']))
        else:
            rest_theirs.append(key)
    rest_ours = [key for key in only_ours if key[0] not in (1, 10) or not any(
        pid == dict(key[2])['pid'] and start <= dict(key[2])['addr'] < end for pid, start, end in joined)]
    return rest_theirs, rest_ours


@test
def every_field_of_every_record_is_what_quipper_decodes():
    root = needs_shared('fixtures/google__perf_data_converter')
    n_files, n_records = 0, collections.Counter()
    for expected in sorted(glob.glob(f'{root}/*.pb_text.EXPECTED')):
        path = expected[:-len('.pb_text.EXPECTED')]
        a = theirs(expected)
        wanted = collections.defaultdict(set)
        for (kind, _, fields), _ in a.items():
            wanted[kind] |= {name for name, _ in fields}
        b = ours(path, wanted)
        only_theirs, only_ours = without_joined_maps(a - b, b - a)
        assert not only_theirs and not only_ours, (os.path.basename(path), len(only_theirs), len(only_ours),
                                                  only_theirs[:2], only_ours[:2])
        n_files += 1
        for (kind, _, _), n in a.items():
            n_records[kind] += n
    assert n_files > 15 and n_records[9] > 20000 and n_records[1] + n_records[10] > 20000, (n_files, n_records)


main()
