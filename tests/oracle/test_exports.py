#!/usr/bin/env python3
"""Exports, read back: the sums of functions are those of `pace report --json`, and the programs that the forms are for agree.

Packages of npm are installed into a folder of this user's cache, once. Without node, npm or a network these tests are skipped."""
import base64
import collections
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import browser  # noqa: E402
from harness import *  # noqa: E402,F403

PROGRAM = r'''
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void inner(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void leaf(int n) { inner(n); for (int i = 0; i < n; i++) sink ^= i; }
__attribute__((noinline)) int again(int depth) { inner(800); if (depth) again(depth - 1); leaf(300); return depth; }
__attribute__((noinline)) void work(void) { leaf(5000); again(5); sink++; }
int main(void) { for (int i = 0; i < 20000; i++) work(); return 0; }
'''
EVENTS = ['cpu-clock', 'task-clock']
# Asks DuckDB: what the table of each file sums up to, for each event, and its first five functions.
DUCKDB = """
const {createRequire} = require('module');
const {DuckDBInstance} = createRequire(process.argv[1] + '/')('@duckdb/node-api');
(async () => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect(), ret = {};
    for (const path of process.argv.slice(2)) {
        const ask = async question => (await connection.runAndReadAll(question)).getRowsJson();
        ret[path] = [await ask(`SELECT event, sum(samples), sum(period), count(*) FROM '${path}' GROUP BY event`),
            await ask(`SELECT event, symbol, sum(period), max(total_period) FROM '${path}' GROUP BY ALL ORDER BY sum(period) DESC LIMIT 5`)];
    }
    console.log(JSON.stringify(ret));
})();
"""
PACKAGES = ['speedscope@1.25.0', 'ajv@8.20.0', 'pprof-format@2.3.2', 'protobufjs@8.8.1', '@firefox-devtools/profiler-cli@0.10.0']
# Tests have homes of their own.
CACHE = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
PROTO = os.path.join(TOP, 'tests/oracle/profiles.proto')
PROFILES = 'opentelemetry.proto.profiles.v1development.ProfilesData'


def record():
    can_record()
    needs('gcc')
    with open('work.c', 'w', encoding='ascii') as file:
        file.write(PROGRAM)
    done = run('gcc', '-O1', '-g', '-fno-optimize-sibling-calls', '-fno-omit-frame-pointer', '-o', 'work', 'work.c')
    assert done.status == 0, done
    done = pace('record', '-q', '-g', '-F', '2000', '-e', ','.join(EVENTS), '-o', 'work.data', './work')
    assert done.status == 0, done
    return 'work.data'


class Sums:
    """What an event has in all, and by function: alone, and with all that it calls."""

    def __init__(self):
        self.all, self.own, self.total = 0, collections.Counter(), collections.Counter()

    def add(self, stack, n):
        """A stack of names, the innermost first. A sample in an inlined function is counted where that is inlined, as reports do."""
        self.all += n
        self.own[next(name for name in stack if not name.endswith(' (inlined)'))] += n
        for name in set(stack):
            self.total[name] += n


def reported(path, *options):
    """Event -> the report's sums."""
    done = pace('report', '-i', path, '--json', '-s', 'symbol', '--children', '-g', 'none', *options)
    assert done.status == 0, done
    result = {}
    for event in json.loads(done.out)['events']:
        sums = result[event['event']] = Sums()
        sums.all = event['period']
        for row in event['rows']:
            sums.own[row['symbol']] += row['period']
            sums.total[row['symbol']] += row.get('total_period', row['period'])
    return result


def export(form, path, *options):
    done = pace('export', '--format', form, '-i', path, '-o', f'out.{form}', *options)
    assert done.status == 0 and not done.out, done
    return f'out.{form}'


def compare(wanted, got, n_functions=5):
    """All functions are equal, and there are enough of them to say so."""
    assert len([n for n in wanted.total.values() if n]) >= n_functions, wanted.total
    assert got.all == wanted.all, (got.all, wanted.all)
    assert got.own is None or +got.own == +wanted.own, (got.own - wanted.own, wanted.own - got.own)
    assert +got.total == +wanted.total, (got.total - wanted.total, wanted.total - got.total)


def read_speedscope(path):
    with open(path, encoding='utf-8') as file:
        document = json.load(file)
    frames, result = document['shared']['frames'], {}
    for profile in document['profiles']:
        sums = result[profile['name']] = Sums()
        assert profile['unit'] == ('nanoseconds' if profile['name'] in EVENTS else 'none') and profile['type'] == 'sampled', profile['unit']
        assert len(profile['samples']) == len(profile['weights'])
        for stack, weight in zip(profile['samples'], profile['weights']):
            # The outermost is the thread's name, which has no file.
            assert 'file' not in frames[stack[0]] and all('file' in frames[i] for i in stack[1:])
            sums.add([frames[i]['name'] for i in reversed(stack[1:])], weight)
        assert profile['endValue'] - profile['startValue'] == sums.all
    return result


def read_firefox(path):
    """Tables are complete, and threads have their samples in the order of time."""
    with open(path, encoding='utf-8') as file:
        document = json.load(file)
    shared = document['shared']
    assert document['meta']['preprocessedProfileVersion'] == 62
    for table in shared.values():
        if isinstance(table, dict):
            assert all(len(column) == table['length'] for name, column in table.items() if name != 'length'), table
    strings, frames, functions, stacks = shared['stringArray'], shared['frameTable'], shared['funcTable'], shared['stackTable']
    assert all(functions['name'][i] < len(strings) and 0 <= functions['resource'][i] < len(document['libs']) for i in range(functions['length']))
    assert all(prefix is None or prefix < i for i, prefix in enumerate(stacks['prefix']))
    result = {}
    for thread in document['threads']:
        samples, name = thread['samples'], thread['name']
        # "thread (event)", or the thread's name if there is one event only.
        sums = result.setdefault(name.rsplit('(', 1)[1][:-1] if name.endswith(')') else name, Sums())
        factor = 1_000_000 if samples['weightType'] == 'tracing-ms' else 1
        assert samples['time'] == sorted(samples['time']) and all(len(samples[column]) == samples['length'] for column in ('time', 'stack', 'weight'))
        for stack, weight in zip(samples['stack'], samples['weight']):
            names = []
            while stack is not None:
                frame = stacks['frame'][stack]
                names.append(strings[functions['name'][frames['func'][frame]]] + (' (inlined)' if frames['inlineDepth'][frame] else ''))
                stack = stacks['prefix'][stack]
            sums.add(names, round(weight * factor))
    return result


def read_chrome(path):
    """Slices are nested, and each track is in the order of time. Where slices tell no sums, their lengths do."""
    with open(path, encoding='utf-8') as file:
        events = json.load(file)['traceEvents']
    assert {event['ph'] for event in events} <= set('BEXCM'), events[:5]
    result, names, tracks = {}, {}, {}
    for event in events:
        where = event['pid'], event['tid']
        if event['name'] == 'thread_name':
            names[where] = event['args']['name']
        if event['ph'] not in 'BE':
            continue
        name = names[where]
        sums = result.setdefault(name.rsplit('(', 1)[1][:-1] if name.endswith(')') else name, Sums())
        track = tracks.setdefault(where, {'time': 0, 'open': []})
        ns = round(event['ts'] * 1000)
        assert ns >= track['time'], event
        track['time'] = ns
        if event['ph'] == 'B':
            track['open'].append({'name': event['name'], 'from': ns, 'below': 0})
            continue
        slice_ = track['open'].pop()
        assert slice_['name'] == event['name'], (slice_, event)
        length = sum(event['args'].values()) if 'args' in event else ns - slice_['from']
        sums.own[event['name']] += length - slice_['below']
        # In recursion the outermost one counts.
        sums.total[event['name']] += 0 if any(other['name'] == event['name'] for other in track['open']) else length
        if track['open']:
            track['open'][-1]['below'] += length
        else:
            sums.all += length
    assert not any(track['open'] for track in tracks.values())
    for sums in result.values():
        # As in reports, a sample in an inlined function is one of the function that contains it: see Sums.add().
        if any(name.endswith(' (inlined)') and n for name, n in sums.own.items()):
            sums.own = None
    return result


def fields(message):
    """The fields of a message of protocol buffers: (number, a number or bytes)."""
    at = 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = message[at]
            at, n, shift = at + 1, n | (byte & 0x7f) << shift, shift + 7
            if byte < 0x80:
                return n

    while at < len(message):
        tag = varint()
        assert tag & 7 in (0, 2), tag
        value = varint()
        if tag & 7 == 2:
            at, value = at + value, message[at:at + value]
            assert at <= len(message)
        yield tag >> 3, value


def numbers(packed):
    """A packed list."""
    return [sum((b & 0x7f) << 7 * i for i, b in enumerate(group)) for group in re.findall(rb'[\x80-\xff]*[\x00-\x7f]', packed, re.S)]


def read_pprof(path):
    with gzip.open(path) as file:
        profile = collections.defaultdict(list)
        for number, value in fields(file.read()):
            profile[number].append(value)
    strings = [text.decode('utf-8') for text in profile[6]]
    assert strings[0] == ''
    types = [dict(fields(message)) for message in profile[1]]
    mappings = {m[1]: m for m in (dict(fields(message)) for message in profile[3])}
    functions = {f[1]: strings[f[2]] for f in (dict(fields(message)) for message in profile[5])}
    locations = {}
    for message in profile[4]:
        plain = dict(fields(message))
        lines = [functions[dict(fields(value))[1]] for number, value in fields(message) if number == 4]
        # All but the last are inlined into what comes after them.
        locations[plain[1]] = [f'{name} (inlined)' for name in lines[:-1]] + lines[-1:]
        mapping = mappings[plain[2]]
        assert mapping.get(2, 0) <= plain.get(3, 0) < mapping[3] and strings[mapping[5]], (plain, mapping)
    assert len(locations) == len(profile[4]) and len(functions) == len(profile[5])
    result = {strings[t[1]] + ('' if strings[t[2]] == 'nanoseconds' else '/' + strings[t[2]]): Sums() for t in types}
    for message in profile[2]:
        sample = dict(fields(message))
        stack = [name for location in numbers(sample[1]) for name in locations[location]]
        values = numbers(sample[2])
        assert len(values) == len(types)
        for sums, value in zip(result.values(), values):
            sums.add(stack, value)
    return {name: sums for name, sums in result.items() if len(types) == 1 or not name.endswith('samples/count')}


def read_callgrind(path):
    """Own costs and totals: the costs of calls are added to those of the function that calls."""
    result, names, function, is_call = {}, {}, None, False
    with open(path, encoding='utf-8', newline='\n') as file:
        lines = file.read().split('\n')
    assert lines[0] == '# callgrind format'
    for line in lines[1:]:
        key, found, value = line.partition('=' if re.match('[a-z]+=', line) else ':')
        if not found and line:
            costs = [int(n) for n in line.split()[1:]]
            for sums, cost in zip(result.values(), costs):
                sums.total[function] += cost
                if not is_call:
                    sums.own[function] += cost
            is_call = False
        elif key == 'events':
            result = {event.replace('_', '-'): Sums() for event in value.split()}
        elif key == 'fn':
            number, name = re.fullmatch(r'\((\d+)\)(?: (.*))?', value).groups()
            function = names.setdefault(number, name)
        elif key == 'cfn':
            number, name = re.fullmatch(r'\((\d+)\)(?: (.*))?', value).groups()
            assert names.setdefault(number, name) is not None
        elif key == 'calls':
            is_call = True
        elif key in ('summary', 'totals'):
            for sums, cost in zip(result.values(), value.split()):
                assert sums.all in (0, int(cost))
                sums.all = int(cost)
    return result


def read_otlp(path):
    """Checks the rules of the format, too: tables begin with a zero value and have each entry once, references are to what is there."""
    with open(path, 'rb') as file:
        data = collections.defaultdict(list)
        for number, value in fields(file.read()):
            data[number].append(value)
    tables = collections.defaultdict(list)
    for number, value in fields(data[2][0]):
        tables[number].append(value)
    assert len(data[2]) == 1 and set(tables) <= set(range(1, 8)), (len(data[2]), set(tables))
    for number in range(1, 8):
        assert tables[number][0] == b'' and len(set(tables[number])) == len(tables[number]), (number, tables[number][:3])
    mappings, locations, functions, _, strings, attributes, stacks = (tables[number] for number in range(1, 8))
    strings = [text.decode('utf-8') for text in strings]

    def name_of(line):
        return strings[dict(fields(functions[dict(fields(line))[1]]))[1]]

    def names_of(location):
        plain = dict(fields(locations[location]))
        lines = [name_of(value) for number, value in fields(locations[location]) if number == 3]
        mapping = dict(fields(mappings[plain[1]]))
        assert location and mapping.get(1, 0) <= plain.get(2, 0) < mapping[2] and strings[mapping[4]], (plain, mapping)
        return [f'{name} (inlined)' for name in lines[:-1]] + lines[-1:]

    stacks = [[name for location in numbers(dict(fields(stack)).get(1, b'')) for name in names_of(location)] for stack in stacks]
    scope, = [value for number, value in fields(data[1][0]) if number == 2]
    result = {}
    for number, profile in fields(scope):
        if number != 2:
            continue
        (_, kind), *samples = fields(profile)
        kind = [strings[i] for _, i in fields(kind)]
        sums = result[kind[0] + ('' if kind[1] == 'nanoseconds' else '/' + kind[1])] = Sums()
        for _, sample in samples:
            sample = dict(fields(sample))
            value, = numbers(sample[4])
            (key, text), = [[value for _, value in fields(attributes[i])] for i in numbers(sample[2])] if 2 in sample else [(0, 0)]
            assert not key or strings[key] == 'thread.name' and dict(fields(text))[1].decode(), (key, text)
            sums.add(stacks[sample[1]], value)
    return {name: sums for name, sums in result.items() if len(result) == 1 or not name.endswith('samples/count')}


def read_sqlite(path):
    """The tables are consistent, and each view has the sums of the tables that it is made of."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute('PRAGMA integrity_check').fetchall() == [('ok',)] and not db.execute('PRAGMA foreign_key_check').fetchall()
        result = {}
        for event, name, period in db.execute('SELECT id, name, period FROM events ORDER BY id').fetchall():
            sums = result[name] = Sums()
            sums.all = period
            for function, own, total in db.execute('SELECT function, self, total FROM by_function WHERE event = ?', (name,)):
                sums.own[function] += own
                sums.total[function] += total
            for view in 'by_file', 'by_thread':
                assert db.execute(f'SELECT sum(period) FROM {view} WHERE event = ?', (name,)).fetchone() == (period,), (view, name)
            # Node by node: what the table of totals says is what the tree says.
            assert sorted(db.execute(TOTALS, (event,))) == sorted(db.execute('SELECT function, inlined, total FROM totals WHERE event = ?', (event,)))
        if db.execute('SELECT count(*) FROM samples').fetchone() != (0,):
            each = 'SELECT node, event, sum(samples), sum(period) FROM {} GROUP BY node, event ORDER BY node, event'
            assert db.execute(each.format('samples')).fetchall() == db.execute(each.format('counts')).fetchall()
    return result


def read_html(path):
    """The page's data: nodes in preorder, how many levels each goes up, their names and values."""
    with open(path, encoding='utf-8') as file:
        chunks = {name: zlib.decompress(base64.b64decode(data), wbits=-15) for name, data in
                  re.findall(r'<script type="application/octet-stream" id="(\w+)">([A-Za-z0-9+/=]*)</script>', file.read())}
    about, names = json.loads(chunks['about']), chunks['names'].decode('utf-8').split('\n')
    places = numbers(chunks['places'])
    # The last name ends with a newline, too. The first number of each is its kind.
    kinds = [chr(kind) for kind in places[::len(places) // (len(names) - 1)]]
    ups, nodes = numbers(chunks['ups']), numbers(chunks['nodes'])
    assert len(ups) == len(nodes) == about['nodes']
    result = {}
    for part, event in enumerate(about['events']):
        sums, stack = result.setdefault(event['name'], Sums()), []
        for up, node, value in zip(ups, nodes, numbers(chunks[f'period{part}'])):
            del stack[len(stack) - up:]
            stack.append(node)
            if value:
                sums.add([names[i] for i in reversed(stack) if kinds[i] != 't'], value)
        assert sums.all == event['period']
    return result


# The sums of functions with all that they call, from the tree; in recursion each sample counts once.
TOTALS = """
WITH RECURSIVE up (leaf, node) AS (SELECT node, node FROM counts UNION SELECT up.leaf, parent FROM up JOIN nodes n ON n.id = up.node WHERE parent NOT NULL),
seen AS (SELECT DISTINCT up.leaf, p.function, p.inlined FROM up JOIN nodes n ON n.id = up.node JOIN frames p ON p.id = n.frame)
SELECT function, inlined, sum(period) FROM seen JOIN counts c ON c.node = seen.leaf WHERE c.event = ? GROUP BY function, inlined
"""
READERS = {'speedscope': read_speedscope, 'firefox': read_firefox, 'chrome': read_chrome, 'pprof': read_pprof, 'callgrind': read_callgrind, 'otlp': read_otlp, 'sqlite': read_sqlite,
           'html': read_html}


@test
def exports_have_the_sums_of_the_report():
    path = record()
    for options in ((), ('--no-inline',), ('-S', 'leaf')):
        wanted = reported(path, *options)
        assert list(wanted) == EVENTS, wanted
        for form, read in READERS.items():
            # Callgrind's own costs are those of inlined functions, too.
            if form == 'callgrind' and options != ('--no-inline',):
                continue
            got = read(export(form, path, *options))
            assert list(got) == EVENTS, (form, list(got))
            for event in EVENTS:
                # Shares, and so the sum of the event, are of all samples; exports have what is left.
                if '-S' in options:
                    wanted[event].all = sum(wanted[event].own.values())
                compare(wanted[event], got[event], 3 if '-S' in options else 5)


@test
def callgrind_tells_events_apart_whose_names_differ_in_other_letters_only():
    can_record()
    names = ['a-b', 'a.b', 'a_b', 'a_b_2']
    recorded = pace('record', '-q', '-o', 'names.data', *[word for i, name in enumerate(names) for word in ('-e', f'cpu-clock/name={name},period={i + 1}000000/')],
                    '--', 'sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done')
    assert recorded.status == 0, recorded
    export('callgrind', 'names.data')
    events, = re.findall('^events: (.*)$', open('out.callgrind', encoding='utf-8').read(), re.M)
    # Each by its own letters or with a number behind them, in their order.
    assert events.split() == ['a_b', 'a_b_2', 'a_b_3', 'a_b_2_4'], events


@test
def callgrind_annotate_has_the_sums_of_the_report():
    needs('callgrind_annotate')
    path = record()
    wanted = reported(path, '--no-inline')
    export('callgrind', path, '--no-inline')
    for i, inclusive in enumerate(('no', 'yes')):
        done = run('callgrind_annotate', '--threshold=100', f'--inclusive={inclusive}', '--show-percs=no', 'out.callgrind')
        assert done.status == 0, done
        for name in ('main', 'work', 'leaf', 'again'):
            figures = re.search(rf'^\s*([\d,.]+)\s+([\d,.]+)\s+work\.c:{name} \[.*/work\]', done.out, re.M)
            sums = [(wanted[event].own, wanted[event].total)[i][name] for event in EVENTS]
            assert figures or not any(sums), (name, done.out)
            assert not figures or [int(n.replace(',', '').replace('.', '0')) for n in figures.groups()] == sums, (name, figures, sums)
        totals = re.search(r'^\s*([\d,]+)\s+([\d,]+)\s+PROGRAM TOTALS', done.out, re.M)
        assert [int(n.replace(',', '')) for n in totals.groups()] == [wanted[event].all for event in EVENTS], done.out


def reported_lines(path, event):
    """What `report` says of the program's lines: number -> period."""
    rows = next(e['rows'] for e in json.loads(pace('report', '-i', path, '--json', '-s', 'srcline', '-g', 'none', '--no-children',
                                                   '--no-inline').out)['events'] if e['event'] == event)
    return +collections.Counter({int(row['srcline'].split(':')[1]): row['period'] for row in rows if row['srcline'].startswith('work.c:')})


@test
def callgrind_annotate_shows_costs_at_their_lines():
    needs('callgrind_annotate')
    path = record()
    export('callgrind', path, '--no-inline')
    wanted = [reported_lines(path, event) for event in EVENTS]
    done = run('callgrind_annotate', '--threshold=100', '--show-percs=no', '--context=100', 'out.callgrind', os.path.abspath('work.c'))
    source = done.out.split('-- Auto-annotated source')[1]
    assert sum(len(lines) > 1 for lines in wanted), wanted
    for number, text in enumerate(PROGRAM.split('\n'), 1):
        figures = re.search(rf'^\s*([\d,.]+)\s+([\d,.]+)\s+{re.escape(text)}$', source, re.M) if text else None
        costs = [int(n.replace(',', '').replace('.', '0')) for n in figures.groups()] if figures else [0, 0]
        assert costs == [lines[number] for lines in wanted], (number, text, costs, done.out)


@test
def go_s_pprof_and_sqlite_have_the_sums_of_lines():
    needs('go')
    path = record()
    exported, database = (export(form, path, '--no-inline') for form in ('pprof', 'sqlite'))
    for event in EVENTS:
        wanted = reported_lines(path, event)
        text, rows = pprof_top(exported, event, '-lines')
        got = collections.Counter()
        for name, (own, total) in rows.items():
            line = re.search(r'/work\.c:(\d+)', name)
            got[int(line.group(1)) if line else 0] += own
        del got[0]
        assert len(wanted) > 1 and +got == wanted, (wanted, text)
        with contextlib.closing(sqlite3.connect(database)) as db:
            lines = db.execute("SELECT line, period FROM by_line WHERE event = ? AND source LIKE '%/work.c'", (event,)).fetchall()
        assert dict(lines) == wanted, (lines, wanted)
    inlined = dict(pprof_top(export('pprof', path), EVENTS[0], '-lines')[1])
    # Each of two functions at an address has its own line.
    assert any(re.match(r'inner /.*/work\.c:3$', name) for name in inlined) and any(re.match(r'leaf /.*/work\.c:4$', name) for name in inlined), inlined


@test
def sqlite_s_own_program_reads_samples_and_stacks():
    needs('sqlite3')
    path = record()
    export('sqlite', path)

    def ask(question):
        done = run('sqlite3', 'out.sqlite', question)
        assert done.status == 0, done
        return done.out.split('\n')[:-1]
    events = json.loads(pace('report', '-i', path, '--json').out)['events']
    assert ask('SELECT name, unit, samples, period FROM events') == [f'{e["event"]}|ns|{e["samples"]}|{e["period"]}' for e in events]
    script = pace('script', '-i', path, '-F', 'time,tid,event', '-G', '--ns')
    lines = re.findall(r'^\s*(\d+)\s+(\d+)\.(\d{9}):\s+(\S+):', script.out, re.M)
    assert len(lines) == sum(e['samples'] for e in events), script
    wanted = [f'{seconds}{ns}|{tid}|{event}' for tid, seconds, ns, event in lines]
    got = ask('SELECT time, tid, e.name FROM samples s JOIN tasks t ON t.id = task JOIN events e ON e.id = event ORDER BY time, e.id')
    assert sorted(got) == sorted(wanted), (got[:3], wanted[:3])
    stacks = ask("SELECT stack FROM stacks WHERE stack LIKE '%;work;leaf%' AND node IN (SELECT node FROM counts)")
    assert stacks and all(re.match('work;.*main;work;leaf', stack) for stack in stacks), stacks[:5]
    assert ask("SELECT value FROM recording WHERE name = 'Command'")[0].endswith('./work')


@test
def rows_on_lines_are_the_rows_of_csv():
    path = record()
    events = json.loads(pace('report', '-i', path, '--json').out)['events']
    with open(export('ndjson', path), encoding='utf-8') as file:
        rows = [json.loads(line) for line in file]
    wanted = [{'event': event['event'], **row} for event in events for row in event['rows']]
    for row in wanted:
        row.pop('calls', None)
    assert rows == wanted
    with open(export('csv', path), encoding='utf-8') as file:
        assert len(file.readlines()) == len(rows) + 1


@test
def duckdb_reads_tables_with_the_sums_of_the_report():
    folder = os.path.join(CACHE, 'pace', 'duckdb')
    browser.needs_module('@duckdb/node-api', '1.5.6-r.1', folder)
    path = record()
    files = [export(form, path) for form in ('ndjson', 'csv')]
    done = run('node', '-e', DUCKDB, folder, *files)
    assert done.status == 0, done
    events = json.loads(pace('report', '-i', path, '--json').out)['events']
    wanted = reported(path)
    for sums, first in json.loads(done.out).values():
        assert sorted(sums) == sorted([e['event'], str(e['samples']), str(e['period']), str(len(e['rows']))] for e in events), (sums, events)
        # In a table of one program a function has one row, or more if threads have several names.
        assert len(first) == 5 and all(int(own) == wanted[event].own[symbol] for event, symbol, own, _ in first), (first, wanted)


def packages():
    """The folder of the packages of npm."""
    needs('node', 'npm')
    folder = os.path.join(CACHE, 'pace', 'npm')
    marker = os.path.join(folder, 'installed')
    wanted = '\n'.join(PACKAGES)
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(marker) or open(marker, encoding='ascii').read() != wanted:
        with open(os.path.join(folder, 'package.json'), 'w', encoding='ascii') as file:
            file.write('{"private": true}')
        try:
            done = run('npm', 'install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', *PACKAGES, cwd=folder, timeout=120)
        except AssertionError as error:
            skip(str(error))
        if done.status:
            skip('npm cannot install packages here: ' + done.err.strip().split('\n')[-1][:100])
        with open(marker, 'w', encoding='ascii') as file:
            file.write(wanted)
    return os.path.join(folder, 'node_modules')


def node(script, *args):
    done = run('node', '-e', script, *args, env=dict(os.environ, NODE_PATH=packages()))
    assert done.status == 0, done
    return done.out


class Profiler:
    """The Firefox Profiler's own code, as a program for terminals: a daemon that has loaded the file, until the end of the block."""

    def __init__(self, path):
        self.path, self.script = path, os.path.join(packages(), '@firefox-devtools/profiler-cli/dist/profiler-cli.js')
        # The path of its socket has to be short.
        self.folder = tempfile.mkdtemp(prefix='pq-')
        self.env, self.pid = dict(os.environ, PROFILER_CLI_SESSION_DIR=self.folder), None

    def ask(self, *words):
        return run('node', self.script, *words, env=self.env)

    def __enter__(self):
        done = self.ask('load', self.path)
        # It waits for its daemon for half a second only, which is little on a machine that is busy.
        late = re.search(r'did not become ready.*?/([a-z0-9]+)\.log.*?running as pid (\d+)', done.err, re.S)
        if late:
            self.pid = int(late.group(2))
            for _ in range(60):
                if self.ask('session', 'use', late.group(1)).status == 0 and self.ask('status').status == 0:
                    return self
                time.sleep(1)
        assert done.status == 0, done
        return self

    def __exit__(self, *_):
        stopped = self.ask('stop', '--all').status == 0
        if self.pid and not stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def json(self, *words):
        done = self.ask(*words, '--json')
        assert done.status == 0, done
        return json.loads(done.out)

    def threads(self):
        """Name -> handle."""
        return {thread['name']: thread['threadHandle'] for thread in self.json('thread', 'list')['threads']}

    def functions(self, handle):
        """Name -> its own value and its total. Functions of one name in several files count together."""
        result = {}
        for function in self.json('thread', 'functions', '--thread', handle)['functions']:
            own, total = result.get(function['name'], (0, 0))
            result[function['name']] = own + function['selfSamples'], total + function['totalSamples']
        return result


@test
def the_firefox_profiler_has_the_sums_of_the_report():
    path = record()
    wanted = reported(path, '--no-inline')
    with Profiler(export('firefox', path, '--no-inline')) as profiler:
        threads = profiler.threads()
        assert set(threads) == {f'work ({event})' for event in EVENTS}, threads
        for event in EVENTS:
            got = profiler.functions(threads[f'work ({event})'])
            assert len(got) >= 5
            for name, sums in got.items():
                assert tuple(round(ms * 1e6) for ms in sums) == (wanted[event].own[name], wanted[event].total[name]), (event, name, sums)
            assert round(sum(own for own, total in got.values()) * 1e6) == wanted[event].all
        done = profiler.ask('profile', 'meta')
        assert 'Imported from: pace' in done.out and 'Command: ' in done.out, done


@test
def the_firefox_profiler_reads_profiles_without_times():
    with open('plain.folded', 'w', encoding='ascii') as file:
        file.write('sh;main;work;leaf 7\nsh;main;work 2\nsh;main 1\n')
    with Profiler(export('firefox', 'plain.folded')) as profiler:
        handle, = profiler.threads().values()
        assert profiler.functions(handle) == {'main': (1, 10), 'work': (2, 9), 'leaf': (7, 7)}


@test
def the_firefox_profiler_measures_the_slices_of_trace_events():
    path = record()
    wanted = reported(path, '--no-inline')
    with Profiler(export('chrome', path, '--no-inline')) as profiler:
        threads = profiler.threads()
        for event in EVENTS:
            markers = profiler.json('thread', 'markers', '--thread', threads[f'work ({event})'])['byType']
            sums = {marker['markerName']: round(marker['count'] * marker['durationStats']['avg'] * 1e6) for marker in markers if marker['isInterval']}
            # Markers of a recursion are all counted.
            for name in ('main', 'work', 'leaf', '_start', '__libc_start_call_main'):
                assert sums[name] == wanted[event].total[name] > 0, (event, name, sums)


@test
def trace_events_have_what_the_scheduler_did():
    """As computed from the tracepoints' texts: which task each CPU ran, and who woke whom."""
    can_record()
    done = pace('record', '-q', '-a', '-e', 'sched:sched_switch,sched:sched_wakeup', '-o', 'sched.data', 'sh', '-c', 'for i in 1 2 3 4 5; do sleep 0.02; done')
    if done.status:
        skip(done.err.strip().split('\n')[0])
    script = pace('script', '-i', 'sched.data', '-F', 'cpu,time,event,trace', '--ns')
    switches = [(int(cpu), int(s + ns), int(prev), int(next_), comm) for cpu, s, ns, prev, comm, next_ in re.findall(
        r'^\s*\[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:sched_switch:.*? prev_pid=(\d+) .*?next_comm=(.*?) next_pid=(\d+) ', script.out, re.M)]
    assert len(switches) > 20, script
    running, last = {}, max(int(s + ns) for s, ns in re.findall(r'^\s*\[\d+\]\s+(\d+)\.(\d{9}):', script.out, re.M))
    wanted = collections.Counter()
    for cpu, time_ns, prev, next_, comm in sorted(switches, key=lambda switch: switch[1]):
        if cpu in running and running[cpu][1]:
            wanted[cpu, running[cpu][1]] += time_ns - running[cpu][0]
        running[cpu] = time_ns, next_
    for cpu, (time_ns, tid) in running.items():
        if tid:
            wanted[cpu, tid] += last - time_ns
    with open(export('chrome', 'sched.data'), encoding='utf-8') as file:
        events = json.load(file)['traceEvents']
    names = {(e['pid'], e['tid']): e['args']['name'] for e in events if e['name'] == 'thread_name'}
    processes = {e['args']['name']: e['pid'] for e in events if e['name'] == 'process_name'}
    got = collections.Counter()
    for event in events:
        if event['ph'] == 'X' and event['pid'] == processes['CPUs']:
            got[int(names[event['pid'], event['tid']].split()[1]), event['args']['tid']] += round(event['dur'] * 1000)
    # What ran before the first switch of a CPU is known from that switch.
    for cpu, tid in {key: None for key in got}:
        first = min(switch for switch in switches if switch[0] == cpu)
        if (cpu, tid) != (cpu, first[2]):
            assert got[cpu, tid] == wanted[cpu, tid], (cpu, tid, got[cpu, tid], wanted[cpu, tid])
    assert set(got) >= set(+wanted) and len(wanted) > 5
    wakes = [e for e in events if e['ph'] == 'X' and e['name'].startswith('woken by ')]
    states = collections.Counter(e['name'] for e in events if e['ph'] == 'X' and e['pid'] == processes['Tasks'])
    assert wakes and all(e['dur'] == 0 for e in wakes) and states['Running'] > 10 and states['Sleeping'] > 5, states
    with Profiler('out.chrome') as profiler:
        cpu = min(cpu for cpu, tid in got)
        markers = profiler.json('thread', 'markers', '--thread', profiler.threads()[f'CPU {cpu}'])['byType']
        total = sum(round(marker['count'] * marker['durationStats']['avg'] * 1e6) for marker in markers)
        assert abs(total - sum(n for (on, tid), n in got.items() if on == cpu)) < 1000, (total, got)


@test
def slices_of_events_that_are_no_time_tell_their_sums():
    can_record()
    done = pace('record', '-q', '-g', '-e', 'page-faults', '-c', '1', '-o', 'faults.data', sys.executable, '-c', 'import json')
    assert done.status == 0, done
    wanted, = reported('faults.data').values()
    got, = read_chrome(export('chrome', 'faults.data')).values()
    compare(wanted, got)


@test
def speedscope_s_schema_holds():
    packages()
    out = node('''
        const fs = require('fs'), path = require('path'), Ajv = require('ajv');
        const folder = path.join(process.env.NODE_PATH, 'speedscope/dist/release');
        const schema = fs.readdirSync(folder).find(name => /^file-format-schema.*json$/.test(name));
        const validate = new Ajv({strict: false}).compile(JSON.parse(fs.readFileSync(path.join(folder, schema))));
        const document = JSON.parse(fs.readFileSync(process.argv[1]));
        console.log(validate(document), JSON.stringify(validate.errors));
        delete document.profiles[0].weights;
        console.log(validate(document));''', export('speedscope', record()))
    assert out.split('\n')[0] == 'true null' and out.split('\n')[1] == 'false', out


def script_texts(path):
    """What `script` prints of a recording with pace in perf's place, and with perf: the name of the tool, its text as a file."""
    perf_works()
    for tool, words in (('pace', (PACE, '--as-perf')), ('perf', ('perf',))):
        done = run(*words, 'script', '--no-inline', '-F', '+pid', '-i', path)
        assert done.status == 0, done
        with open(f'{tool}.txt', 'w', encoding='utf-8') as file:
            # The first return address of a program is the first byte behind _start's call: perf names what begins there.
            file.write(done.out.replace(' _dl_start_user+0x0 ', ' _start+0x8 '))
        yield tool, os.path.abspath(f'{tool}.txt')


@test
def the_firefox_profiler_makes_the_same_of_perfs_text():
    path, read = record(), {}
    for tool, text in script_texts(path):
        with Profiler(text) as profiler:
            read[tool] = {name: profiler.functions(handle) for name, handle in profiler.threads().items()}
    ours, theirs = (({name: {function.split('+0x')[0]: sums for function, sums in functions.items()} for name, functions in read[tool].items()})
                    for tool in ('pace', 'perf'))
    assert ours == theirs and any('leaf' in functions for functions in ours.values()), (ours, theirs)


@test
def speedscope_makes_the_same_of_perfs_text():
    browser.needs_browser()
    path, rows = record(), {}
    release = os.path.join(packages(), 'speedscope/dist/release')
    for tool, text in script_texts(path):
        rows[tool] = sorted(row for row in json.loads(node(SPEEDSCOPE, release, browser.MODULES, text)) if len(row) == 3 and '(' in row[0])
    assert rows['pace'] == rows['perf'] and any('leaf' in row[2] for row in rows['pace']), rows


def pprof_top(path, event, *options):
    """What pprof itself says: function -> its own and its total nanoseconds."""
    done = run('go', 'tool', 'pprof', '-top', '-nodefraction=0', '-nodecount=100000', '-unit=ns', f'-sample_index={event}', *options, path,
               env=dict(os.environ, HOME=os.getcwd(), GOFLAGS='', GO111MODULE='off'))
    assert done.status == 0, done
    rows = re.findall(r'^\s*(\d+)\S*\s+\S+%\s+\S+%\s+(\d+)\S*\s+\S+%\s+(.+?)(?: \(inline\))?$', done.out, re.M)
    return done.out, {name: (int(own), int(total)) for own, total, name in rows}


# The rows of its sandwich view: total, self, name; and the names of the profiles, if there are several.
SPEEDSCOPE = """
const {createRequire} = require('module'), fs = require('fs');
const [folder, modules, file] = process.argv.slice(1);
const {chromium} = createRequire(modules + '/')('playwright-core');
(async () => {
    const browser = await chromium.launch({executablePath: process.env.PACE_CHROMIUM, args: ['--no-sandbox', '--allow-file-access-from-files']});
    try {
        const page = await browser.newPage();
        const script = `${process.cwd()}/load.js`;
        fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(file)}, ${JSON.stringify(fs.readFileSync(file).toString('base64'))})`);
        await page.goto(`file://${folder}/index.html#localProfilePath=${script}`);
        await page.waitForFunction(() => document.body.innerText.includes('Sandwich') && document.title !== 'speedscope', null, {timeout: 60000});
        await page.keyboard.press('3');
        await page.waitForFunction(() => document.body.innerText.includes('Symbol Name'), null, {timeout: 60000});
        console.log(JSON.stringify(await page.evaluate(() => [...document.querySelectorAll('tr')].map(row => [...row.querySelectorAll('td')].map(c => c.innerText)))));
    } finally {
        await browser.close();
    }
})().catch(error => { console.error(error); process.exit(1); });
"""


@test
def speedscope_itself_has_the_sums_of_the_report():
    browser.needs_browser()
    path = record()
    wanted = reported(path, '--no-inline')[EVENTS[0]]
    release = os.path.join(packages(), 'speedscope/dist/release')
    units = {'ns': 1, '\u00b5s': 1e3, 'ms': 1e6, 's': 1e9}
    for form in ('speedscope', 'pprof', 'callgrind', 'chrome'):
        rows = [row for row in json.loads(node(SPEEDSCOPE, release, browser.MODULES, export(form, path, '--no-inline'))) if len(row) == 3 and '(' in row[0]]
        got = {}
        for total, own, name in rows:
            figures = [re.match(r'([\d.,]+)([^\d\s]*) \(', text).groups() for text in (own, total)]
            # Callgrind's costs have no unit.
            # The thread is named like the function work.
            got.setdefault(name.strip(), []).append([float(number.replace(',', '')) * units.get(unit, 1) for number, unit in figures])
        for name in ('main', 'work', 'leaf', 'again', '__libc_start_call_main'):
            exact = wanted.own[name], wanted.total[name]
            assert any(all(abs(a - b) <= max(b * 0.01, 10_000) for a, b in zip(row, exact)) for row in got[name]), (form, name, got[name], exact)


@test
def go_s_pprof_has_the_sums_of_the_report():
    needs('go')
    path = record()
    wanted = reported(path, '--no-inline')
    exported = export('pprof', path, '--no-inline')
    for event in EVENTS:
        text, rows = pprof_top(exported, event)
        assert 'File: work\n' in text, text
        for name in ('main', 'work', 'leaf', 'again', '__libc_start_call_main'):
            assert rows[name] == (wanted[event].own[name], wanted[event].total[name]), (event, name, rows[name])
        assert sum(own for own, total in rows.values()) == wanted[event].all


@test
def pprof_format_reads_all_samples():
    packages()
    path = record()
    out = node('''
        const {Profile} = require('pprof-format'), fs = require('fs'), zlib = require('zlib');
        const p = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[1])));
        console.log(p.sampleType.map((t, i) => p.stringTable.strings[Number(t.type)] + ' ' +
            p.sample.reduce((sum, s) => sum + BigInt(s.value[i]), 0n)).join('\\n'));''', export('pprof', path))
    sums = dict(line.rsplit(' ', 1) for line in out.strip().split('\n'))
    assert {event: int(sums[event]) for event in EVENTS} == {event: s.all for event, s in reported(path).items()}, sums


@test
def an_exported_profile_of_pprof_is_read_back_equal():
    path = record()
    ours = reported(path, '--no-inline')
    back = reported(export('pprof', path, '--no-inline'))
    for event in EVENTS:
        assert +ours[event].total == +back[f'{event}/nanoseconds'].total, event


# Type of profiles -> the sum of its values.
DECODE = """
const fs = require('fs'), protobuf = require('protobufjs');
const type = protobuf.loadSync(process.argv[1]).lookupType(process.argv[3]);
const bytes = fs.readFileSync(process.argv[2]);
const data = type.decode(bytes);
// Fields that the .proto does not have would be missing here.
console.log(Buffer.compare(Buffer.from(type.encode(data).finish()), bytes));
for (const profile of data.resourceProfiles[0].scopeProfiles[0].profiles)
    console.log(data.dictionary.stringTable[profile.sampleType.typeStrindex] + ' ' +
        profile.samples.reduce((sum, sample) => sum + BigInt(sample.values[0].toString()), 0n));
"""


@test
def protobufjs_decodes_profiles_of_opentelemetry_and_finds_nothing_else_in_them():
    packages()
    path = record()
    same, *lines = node(DECODE, PROTO, export('otlp', path), PROFILES).strip().split('\n')
    sums = dict(line.rsplit(' ', 1) for line in lines)
    assert same == '0' and len(sums) == 2 * len(EVENTS), (same, sums)
    assert {event: int(sums[event]) for event in EVENTS} == {event: s.all for event, s in reported(path).items()}, sums


@test
def protoc_decodes_profiles_of_opentelemetry_and_finds_nothing_else_in_them():
    needs('protoc')
    path = record()
    done = run('sh', '-c', 'protoc --decode="$0" -I "$1" "$2" <"$3"', PROFILES, os.path.dirname(PROTO), PROTO, export('otlp', path))
    assert done.status == 0, done
    # Fields without a name are numbers.
    assert not re.search(r'^\s*\d+[: ]', done.out, re.M), done.out[:1000]
    values = [int(n) for n in re.findall(r'^\s+values: (\d+)$', done.out, re.M)]
    sums = reported(path)
    events = json.loads(pace('report', '-i', path, '--json').out)['events']
    assert sum(values) == sum(s.all for s in sums.values()) + sum(e['samples'] for e in events), (sum(values), sums)


BINARY = ['pprof', 'otlp', 'sqlite']
@test
def exported_profiles_of_opentelemetry_are_read_back_equal():
    path = record()
    for options in ((), ('--no-inline',)):
        ours = reported(path, *options)
        exported = export('otlp', path, *options)
        back = reported(exported, *options)
        for event in EVENTS:
            assert ours[event].all == back[f'{event}/nanoseconds'].all and +ours[event].total == +back[f'{event}/nanoseconds'].total, event
            assert +ours[event].own == +back[f'{event}/nanoseconds'].own, event
    events = json.loads(pace('report', '-i', exported, '--json').out)['events']
    assert {e['event'].split('/')[0]: e['samples'] for e in events if 'nanoseconds' in e['event']} == \
        {e['event']: e['samples'] for e in json.loads(pace('report', '-i', path, '--json').out)['events']}
    done = pace('report', '-i', exported, '--html', 'page.html')
    assert done.status == 0 and os.path.getsize('page.html') > 10000, done
    done = pace('diff', exported, exported)
    assert done.status == 0 and 'leaf' in done.out, done
    # What it was made from is no recording.
    done = pace('report', '-i', exported, '--time', '10%/2')
    assert done.status == 2 and 'is a profile of OpenTelemetry' in done.err, done


HOSTILE = ['<script>alert(1)</script>', '</script>', ']]>', 'quote" back\\slash', 'percent%s', '(7) number', 'fn=(3) x', '\u202eevil\u202c',
           'x' * 65536, 'tab\there', 'esc\x1b[31m', 'snow\u2603', 'calls=1 2']


def shown(name):
    """A name as reports show it."""
    return ''.join(''.join(f'\\x{b:02x}' for b in c.encode()) if c < ' ' or '\u202a' <= c <= '\u202e' else c for c in name)


@test
def names_that_are_meant_to_do_harm_are_only_names():
    with open('hostile.folded', 'wb') as file:
        for i, name in enumerate(HOSTILE):
            file.write(b'main;' + name.encode() + b' %d\n' % (i + 1))
        file.write(b'main;bad\xff\xfeutf8 100\n')
    n = sum(range(1, len(HOSTILE) + 1)) + 100
    for form, read in READERS.items():
        with open(export(form, 'hostile.folded'), 'rb') as file:
            raw = file.read()
        if form not in BINARY:
            assert not re.search(rb'[\x00-\x08\x0b-\x1f\x7f]', raw) and '\u202e'.encode() not in raw, form
            raw.decode('utf-8')
        sums, = read(f'out.{form}').values()
        assert sums.all == n, (form, sums.all)
        wanted = {shown(name): i + 1 for i, name in enumerate(HOSTILE)} | {'bad\\xff\\xfeutf8': 100}
        assert dict(+sums.own) == wanted, (form, set(sums.own) ^ set(wanted))


FIXTURES = ['KDAB__perfparser/tests__auto__perfdata__vector_static_gcc__perf.data', 'KDAB__perfparser/tests__auto__perfdata__contentsize.data',
            'frankandreace__cqf_implementation/flamegraph__perf.data', 'google__perf_data_converter/src__quipper__testdata__perf.data.ctx_switch_namespaces-4.14']


@test
def recordings_of_others_have_the_sums_of_the_report_in_every_form():
    for path in (os.path.join(needs_shared('fixtures'), name) for name in FIXTURES):
        wanted = [sums for sums in reported(path, '--no-inline', '--no-wall').values() if sums.all]
        for form, read in READERS.items():
            done = pace('export', '--format', form, '--no-inline', '-i', path, '-o', f'out.{form}')
            # Files that are cut off are exported as far as they go.
            assert done.status in (0, 1), (path, form, done)
            got = [sums for sums in read(f'out.{form}').values() if sums.all]
            # Tracks of threads are in the order of their samples.
            assert sorted(sums.all for sums in got) == sorted(sums.all for sums in wanted), (path, form)


def hostile_recording():
    """A program whose functions, thread, path and source file have such names; in the file they stand in for names as long."""
    can_record()
    needs('gcc')
    names = [name.encode() for name in HOSTILE if len(name) < 60000] + [b'bad\xff\xfeutf8']
    holders = [f'f{i:02}_'.ljust(40, 'a') for i in range(len(names))] + ['x' * 65536]
    with open('<b>.c', 'w', encoding='ascii') as file:
        file.write('#include <sys/prctl.h>\nstatic volatile unsigned long sink;\n')
        for name in holders:
            file.write(f'__attribute__((noinline)) void {name}(void) {{ for (int i = 0; i < 20000; i++) sink += i; }}\n')
        file.write('int main(void) { prctl(PR_SET_NAME, "<i>\\x1b]0;x\\a\\u202e"); for (int i = 0; i < 150; i++) {' +
                   ' '.join(f'{name}();' for name in holders) + '} return 0; }\n')
    folder = '<img src=x>\x1b[1m]]>'
    os.mkdir(folder)
    path = f'{folder}/a"b'
    done = run('gcc', '-O1', '-g', '-fno-optimize-sibling-calls', '-fno-omit-frame-pointer', '-o', path, '<b>.c')
    assert done.status == 0, done
    with open(path, 'rb') as file:
        program = file.read()
    for holder, name in zip(holders, names):
        assert holder.encode() in program
        program = program.replace(holder.encode(), name.ljust(40, b'\0'))
    with open(path, 'wb') as file:
        file.write(program)
    done = pace('record', '-q', '-g', '-F', '2000', '-e', 'cpu-clock', '-o', 'hostile.data', './' + path)
    assert done.status == 0, done
    return 'hostile.data', {shown(name) for name in HOSTILE} | {'bad\\xff\\xfeutf8'}


@test
def a_hostile_recording_does_nothing_but_appear_in_every_form():
    path, names = hostile_recording()
    wanted, = reported(path, '--no-inline').values()
    known = names & set(wanted.total)
    assert len(known) > len(HOSTILE) // 2, (len(known), list(wanted.total)[:20])
    for form, read in READERS.items():
        sums, = read(export(form, path, '--no-inline')).values()
        compare(wanted, sums)
    for form in ('folded', 'speedscope', 'firefox', 'chrome', 'callgrind', 'csv', 'json', 'ndjson', 'html'):
        with open(export(form, path), 'rb') as file:
            raw = file.read()
        assert not re.search(rb'[\x00-\x08\x0b-\x1f\x7f]', raw) and '\u202e'.encode() not in raw, form
        raw.decode('utf-8')
    if shutil.which('callgrind_annotate'):
        done = run('callgrind_annotate', '--auto=no', '--threshold=100', 'out.callgrind')
        assert done.status == 0 and not [name[:100] for name in known if f':{name} [' not in done.out], done.out[-3000:]
    if shutil.which('go'):
        text, rows = pprof_top('out.pprof', 'cpu-clock')
        assert sum(own for own, total in rows.values()) == wanted.all, text


@test
def what_cannot_be_written_is_said():
    data = os.path.join(TOP, 'tests/golden/data/wordcount.data')
    for options, said in (((), '--format says for which program'), (('--format', 'text'), "'text' is for people"),
                          (('--format', 'zzz'), 'is none of'), (('--format', 'speedscope', '-s', 'comm'), 'has stacks, not rows')):
        done = pace('export', *options, '-i', data)
        assert done.status == 2 and said in done.err and not done.out, done
    done = pace('diff', '--format', 'speedscope', data, data)
    assert done.status == 2 and 'shows one recording' in done.err, done
    # A file that is there is kept, under another name; it comes back if nothing could be written.
    with open('kept', 'w', encoding='ascii') as file:
        file.write('precious')
    done = pace('export', '--format', 'speedscope', '--time', 'never', '-i', data, '-o', 'kept')
    assert done.status == 2, done
    assert open('kept', encoding='ascii').read() == 'precious' and sorted(os.listdir()) == ['kept']
    done = pace('export', '--format', 'speedscope', '-i', data, '-o', 'kept')
    assert done.status == 0 and open('kept.old', encoding='ascii').read() == 'precious', done
    assert run('sh', '-c', '"$0" export --format speedscope -i "$1" | cmp - kept', PACE, data).status == 0


if __name__ == '__main__':
    main()
