#!/usr/bin/env python3
"""`pace c2c report` compared with `perf c2c report`: the same totals, the same lines, the same offsets.

No machine here has a PMU that says where data was found, and no recording by others has such samples. The test records a clock and
puts what such a PMU would have written into the samples: addresses of the program's data, DATA_SRC, weights.

Not compared: perf's "records" and "loads" of a line, which are sums of its other columns and leave out uncached loads and stores; impossible
levels, like memory of this node and of another at once, which perf counts twice; the kernel's accesses to addresses of programs, because
perf looks for their maps among the kernel's."""
import collections
import json
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402

PROGRAM = r'''
#include <pthread.h>
#include <time.h>
long table[4096] __attribute__((aligned(4096))) = {1};
/* Each for so much of a processor's time, however many others want one. */
static int may_go_on(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec == 0 && t.tv_nsec < 200000000;
}
__attribute__((noinline)) void reader(long *p) { for (int i = 0; i < 10000; i++) __asm__ volatile("" :: "r"(*(volatile long *)p)); }
__attribute__((noinline)) void writer(long *p) { for (int i = 0; i < 10000; i++) *(volatile long *)p = i; }
/* Functions that call nothing have no frame: the return address in this one is who calls it for them. */
__attribute__((noinline)) void run(long *p) { reader(p); writer(p); __asm__ volatile(""); }
static void *begin(void *p) { while (may_go_on()) for (int i = 0; i < 200; i++) run(p); return p; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, begin, table);
	pthread_create(&b, 0, begin, table + 1);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
'''
IP, TID, TIME, ADDR, CALLCHAIN, CPU, PERIOD, WEIGHT, DATA_SRC, PHYS = 0, 1, 2, 3, 5, 7, 8, 14, 15, 19
WEIGHT_STRUCT = 24
# Bits in the order of the record; all of them but the call chain are words of 8 bytes here.
ORDER = [16, IP, TID, TIME, ADDR, 6, 9, CPU, PERIOD, CALLCHAIN, WEIGHT, WEIGHT_STRUCT, DATA_SRC, PHYS]
LOAD, STORE = 2, 4
HIT, MISS, L1, LFB, L2, L3, LOC_RAM, REM_RAM1, REM_RAM2, REM_CCE1, REM_CCE2, IO, UNC = [1 << i for i in range(1, 14)]
SNOOP_HIT, HITM = 4, 0x10


def data_src(op, level, snoop=1, lock=1, remote=0, snoopx=0, blocked=0):
    return op | level << 5 | snoop << 19 | lock << 24 | remote << 37 | snoopx << 38 | blocked << 40


# What Intel's processors write most often.
USUAL = [data_src(LOAD, L1 | HIT, 2), data_src(LOAD, LFB | HIT, 2), data_src(LOAD, L2 | HIT, 2), data_src(LOAD, L3 | HIT, SNOOP_HIT),
         data_src(LOAD, L3 | HIT, HITM), data_src(LOAD, L3 | HIT, HITM, lock=2), data_src(LOAD, L3 | MISS | REM_CCE1, HITM),
         data_src(LOAD, HIT | REM_CCE1, SNOOP_HIT), data_src(LOAD, LOC_RAM | HIT, SNOOP_HIT), data_src(LOAD, LOC_RAM | HIT, 8),
         data_src(LOAD, REM_RAM1 | HIT, 8), data_src(LOAD, IO | HIT), data_src(LOAD, UNC | HIT), data_src(LOAD, L3 | HIT, 2, blocked=2),
         data_src(LOAD, L3 | HIT, 2, blocked=4), data_src(STORE, L1 | HIT), data_src(STORE, L1 | MISS), data_src(STORE, 1),
         data_src(STORE, UNC | HIT), data_src(STORE, L1 | HIT, lock=2), data_src(LOAD, L3 | HIT, 2, snoopx=2), data_src(1, 1)]


def words_of(sample_type):
    known = [bit for bit in ORDER if sample_type >> bit & 1]
    assert bin(sample_type).count('1') == len(known), hex(sample_type)
    return known


def put_accesses(path, out, choose):
    """Rewrites each sample as choose(its number, tid) says: (offset in the table or None, DATA_SRC, cycles)."""
    file = bytearray(open(path, 'rb').read())
    attrs_at, = struct.unpack_from('<Q', file, 24)
    data_at, size = struct.unpack_from('<QQ', file, 40)
    known = words_of(struct.unpack_from('<Q', file, attrs_at + 24)[0])
    records, at, n = [], data_at, 0
    while at < data_at + size:
        kind, misc, length = struct.unpack_from('<IHH', file, at)
        records.append((at, kind, misc, length))
        at += length
    # The program's writable map: the table lies on its pages. Samples of another processor may stand before it in the file.
    table = max((struct.unpack_from('<Q', file, at + 16)[0] for at, kind, misc, length in records
                 if kind == 10 and misc & 1 << 13 and b'/shared\0' in file[at:at + length]), default=None)
    for at, kind, _, _ in records:
        if kind == 9:
            where, place = {}, at + 8
            for bit in known:
                where[bit] = place
                place += 8 + (8 * struct.unpack_from('<Q', file, place)[0] if bit == CALLCHAIN else 0)
            tid, = struct.unpack_from('<I', file, where[TID] + 4)
            offset, source, cycles = choose(n, tid)
            address = 0 if offset is None or table is None else table + offset
            struct.pack_into('<Q', file, where[ADDR], address)
            struct.pack_into('<Q', file, where[DATA_SRC], source)
            struct.pack_into('<Q', file, where[WEIGHT_STRUCT], cycles)
            if PHYS in where:
                struct.pack_into('<Q', file, where[PHYS], address and 0x100000 + offset)
            n += 1
    assert n > 200 and table, (n, table)
    open(out, 'wb').write(file)
    return table


def recording(*options):
    perf_works()
    needs('gcc')
    open('shared.c', 'w', encoding='utf-8').write(PROGRAM)
    assert run('gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-pthread', '-o', 'shared', 'shared.c').status == 0
    result = run('perf', 'record', '-q', '-e', 'cpu-clock:u', '-F', '5000', '-d', '-W', '--phys-data', '--sample-cpu', *options, '-o', 'clock.data', './shared')
    assert result.status == 0, result


TITLES = {'Total records': 'records', 'Locked Load/Store Operations': 'locked', 'Load Operations': 'load', 'Loads - uncacheable': 'load_uncached',
          'Loads - IO': 'load_io', 'Loads - Miss': 'load_miss', 'Load Fill Buffer Hit': 'load_fill_buffer',
          'Load L1D hit': 'load_l1', 'Load L2D hit': 'load_l2', 'Load LLC hit': ('load_llc', 'local_hitm'), 'Load Local HITM': 'local_hitm',
          'Load Remote HITM': 'remote_hitm', 'Load Remote HIT': 'remote_hit', 'Load Local DRAM': 'local_dram',
          'Load Remote DRAM': 'remote_dram', 'Load MESI State Exclusive': 'load_exclusive', 'Load MESI State Shared': 'load_shared',
          'Load access blocked by data': 'blocked_by_data', 'Load access blocked by address': 'blocked_by_address',
          'Load HIT Local Peer': 'local_peer', 'Load HIT Remote Peer': 'remote_peer', 'Store Operations': 'store',
          'Store - uncacheable': 'store_uncached', 'Store L1D Hit': 'store_l1', 'Store L1D Miss': 'store_l1_miss',
          'Store No available memory level': 'store_no_level', 'Unable to parse data source': 'unknown'}


def perfs(path):
    """Totals; {line: [figures of its row]}; {line: {(offset, code address): figures}}."""
    text = run('perf', 'c2c', 'report', '--stdio', '--show-all', '-i', path).out
    totals = {}
    head = text[:text.index('Global Shared Cache Line Event')]
    for title, value in re.findall(r'^  (\S.*?) +: +(\d+)$', head, re.M):
        totals[title] = int(value)
    lines = {}
    table = text[text.index('Shared Data Cache Line Table'):text.index('Shared Cache Line Distribution Pareto')]
    for row in re.findall(r'^ +\d+ +(0x[0-9a-f]+) +.*$', table, re.M):
        whole = next(line for line in table.split('\n') if re.match(rf'^ +\d+ +{row} ', line))
        lines[int(row, 16)] = [float(x.rstrip('%')) for x in re.findall(r' (-?[\d.]+%?)(?= |$)', whole.split(row)[1])]
    return totals, lines, text


def compare(path):
    totals, lines, text = perfs(path)
    ours = json.loads(pace('c2c', 'report', '--json', '-i', path).out)
    for title, word in TITLES.items():
        words = [word] if isinstance(word, str) else word
        # Loads that found their line modified by a core of this node are hits of the last level cache for perf's total, not for its lines.
        got = sum(ours['total'].get(word, 0) for word in words)
        assert totals[title] == got, (title, totals[title], ours['total'])
    # What has no address lies in no line; perf makes line 0 of it. With --show-all it has lines without HITM too.
    lines.pop(0, None)
    lines = {address: figures for address, figures in lines.items() if figures[-18]}
    mine = {int(line['address'], 16): line for line in ours['lines']}
    assert set(mine) == set(lines) and len(mine) > 3, (sorted(map(hex, mine)), sorted(map(hex, lines)))
    for address, figures in lines.items():
        line = mine[address]
        hitm = [line.get('local_hitm', 0) + line.get('remote_hitm', 0), line.get('local_hitm', 0), line.get('remote_hitm', 0)]
        wanted = [line.get(k, 0) for k in ('store', 'store_l1', 'store_l1_miss', 'store_no_level',
                                                                         'load_fill_buffer', 'load_l1', 'load_l2', 'load_llc', 'local_hitm',
                                                                         'remote_hit', 'remote_hitm', 'local_dram', 'remote_dram')]
        # Node and page counts come first in perf's row, then the percentage.
        assert figures[-len(wanted):] == wanted, (hex(address), figures, wanted)
        assert figures[-len(wanted) - 5:-len(wanted) - 2] == hitm, (hex(address), figures, hitm)
        assert line['records'] == line.get('load', 0) + line.get('store', 0) == sum(use['records'] for use in line['uses'])
    return ours, text


@test
def totals_and_lines_of_usual_accesses_are_perfs():
    recording()
    random.seed(7)
    put_accesses('clock.data', 'usual.data', lambda n, tid: (random.randrange(0, 1024, 8), random.choice(USUAL), random.randrange(30, 900)))
    ours, _ = compare('usual.data')
    assert ours['total']['local_hitm'] > 10 and ours['total']['remote_hitm'] > 5


@test
def totals_and_lines_of_all_kinds_of_accesses_are_perfs():
    recording()
    random.seed(11)

    def anything(n, tid):
        level = 1 << random.randrange(3, 14)
        source = data_src(random.choice([1, LOAD, LOAD, LOAD, STORE, STORE, LOAD | STORE]),
                          random.choice([level | HIT, level | HIT, level | MISS, level, 1, level | HIT | MISS]), random.getrandbits(5),
                          random.getrandbits(2), level != LOC_RAM and random.getrandbits(1), random.getrandbits(2), random.getrandbits(3))
        return (None if n % 17 == 0 else random.randrange(0, 1024, 8), source, random.randrange(1, 900))
    put_accesses('clock.data', 'all.data', anything)
    compare('all.data')


@test
def mem_report_has_the_rows_of_perf_mem_report():
    recording()
    random.seed(3)
    put_accesses('clock.data', 'mem.data', lambda n, tid: (random.randrange(0, 1024, 8), random.choice(USUAL), random.randrange(30, 900)))

    def rows(text):
        """By share, weight, where data was found."""
        return sorted(re.findall(r'^ +([\d.]+%) +(?:\d+ +)?(\d+) {2,}(\S.*?) {2,}\[\.\] (?:reader|writer)', text, re.M))
    theirs = rows(run('perf', 'mem', 'report', '--stdio', '-s', 'local_weight,mem,sym', '-i', 'mem.data').out)
    ours = rows(pace('mem', 'report', '-s', 'local_weight,mem,symbol', '-i', 'mem.data').out)
    assert len(ours) > 50 and ours == [row for row in theirs if row in ours], (ours[:5], theirs[:5])
    assert abs(len(ours) - len(theirs)) < 0.05 * len(theirs), (len(ours), len(theirs))


def accesses_of(tool, *words):
    """Lines of mem report -D, without the blanks of perf's first one, which it prints in a form of its own."""
    lines = run(tool, 'mem', 'report', '-D', *words).out.split('\n')
    lines = [re.sub(r' 0x016(?=[0-9a-f]* )', ' 0x', re.sub(r' +', ' ', line.strip())) for line in lines]
    return [re.sub(r'0x0+(?=[0-9a-f])', '0x', line) for line in lines]


@test
def mem_report_prints_accesses_one_by_one_as_perf():
    perf_works()
    recording()
    random.seed(5)
    put_accesses('clock.data', 'mem.data', lambda n, tid: (random.randrange(0, 1024, 8), random.choice(USUAL), random.randrange(30, 900)))
    handmade.write_memory('made.data')
    for path, words in (('mem.data', []), ('mem.data', ['-x', ',']), ('mem.data', ['-U']), ('made.data', ['-p', '--data-page-size']), ('made.data', ['-x', ';', '-p']),
                        ('made.data', ['-U'])):
        ours, theirs = (accesses_of(tool, '-i', path, *words) for tool in (PACE, 'perf'))
        # Names of libraries, of which perf 6.1 knows others, do not matter here.
        ours, theirs = ([line for line in lines if ' /usr/' not in line and ',/usr/' not in line] for lines in (ours, theirs))
        assert ours == theirs and len(ours) > (2 if '-U' not in words else 1), (words, ours[:3], theirs[:3])
    assert accesses_of(PACE, '-i', 'made.data', '-C', '1') == accesses_of(PACE, '-i', 'made.data')[:1] + ['']
    handmade.write('bare.data', handmade.IP | handmade.TID | handmade.TIME | handmade.ADDR | handmade.DATA_SRC, [dict(ip=handmade.TEXT, addr=0x600000, data_src=2)])
    handmade.write('plain.data', handmade.IP | handmade.TID | handmade.TIME, [dict(ip=handmade.TEXT)])
    for words, part in ((['-i', 'bare.data', '-p'], '--phys-data'), (['-i', 'plain.data'], 'accesses to memory')):
        result = pace('mem', 'report', '-D', *words)
        assert result.status == 2 and part in result.err and not result.out, result


@test
def mem_report_takes_perfs_options_as_perf():
    recording()
    random.seed(4)
    put_accesses('clock.data', 'mem.data', lambda n, tid: (random.randrange(0, 1024, 8), random.choice(USUAL), random.randrange(30, 900)))

    def table(result):
        """Titles, and how often each row's first cells of accesses are there."""
        lines = [re.sub(r' +', ' ', line.strip()) for line in re.sub(r', +|  +', '|', result.out).split('\n')]
        head = next(line for line in lines if line.startswith('# Overhead')).replace('|IPC [IPC Coverage]', '')
        return head.removesuffix('|').removesuffix('|IPC').removesuffix('|[IPC Coverage]').removesuffix('|IPC')
    for options in (['-t', 'store'], ['-p'], ['-tstore'], ['-t', 'load', '-p']):
        words = ['-i', 'mem.data', 'report', *options]
        ours, theirs = pace('mem', *words), run('perf', 'mem', *words, '--stdio')
        assert table(ours) == table(theirs), (options, table(ours), table(theirs))
    assert table(pace('mem', '-p', '-i', 'mem.data', 'report')) == table(pace('mem', 'report', '-p', '-i', 'mem.data'))
    assert pace('mem', 'report', '-x', ';', '-i', 'mem.data').out.startswith('# Overhead;Samples;Local Weight;')
    assert 'Data Type' in table(pace('mem', 'report', '-T', '-i', 'mem.data'))
    assert 'Data Page Size' in table(pace('mem', 'report', '--data-page-size', '-i', 'mem.data'))
    for words, part in ((['-D', '-s', 'mem'], "no option '-s'"), (['-t', 'loads'], 'none of load, store'), (['-t'], 'needs a value')):
        result = pace('mem', 'report', '-i', 'mem.data', *words)
        assert result.status == 2 and part in result.err and not result.out, result
    assert pace('mem', '-C', '0', '-e', 'cpu-clock', '-v', '-p', 'record', '--dry-run', 'true').out.split()[-6:] == \
        ['--sample-cpu', '--phys-data', '-C', '0', '-v', 'true']


@test
def pairs_of_lines_are_counted_as_one():
    recording()
    random.seed(8)
    put_accesses('clock.data', 'pairs.data', lambda n, tid: (random.randrange(0, 1024, 8), random.choice(USUAL), random.randrange(30, 900)))
    lines, pairs = (json.loads(pace('c2c', 'report', '--json', '-i', 'pairs.data', *options).out) for options in ([], ['--double-cl']))
    assert lines['line_bytes'] == 64 and pairs['line_bytes'] == 128, pairs['line_bytes']
    sums = collections.Counter()
    for line in lines['lines']:
        sums[int(str(line['address']), 0) & ~127] += line['records']
    assert sums == {int(str(pair['address']), 0): pair['records'] for pair in pairs['lines']} and len(pairs['lines']) < len(lines['lines']), pairs


@test
def data_has_the_names_of_variables_as_perf_tells_them():
    recording()
    random.seed(5)
    # From the page before the variables to behind the table, most of it in the table.
    put_accesses('clock.data', 'named.data', lambda n, tid: (random.choice([None, -16, 0, 8, *range(0x2f80, 0x4000, 64), *range(0x5000, 0xb000, 1000)]),
                                                             random.choice(USUAL), random.randrange(30, 900)))

    def shares(text):
        """Of what has a name and an offset; perf has several rows for one name."""
        sums = collections.Counter()
        for share, name in re.findall(r'^ +([\d.]+)% +(?:\d+ +)?\[\.\] ([A-Za-z_.]\w*\+0x[0-9a-f]+) ', text, re.M):
            sums[name] += float(share)
        # What has no size reaches up to the next one for perf.
        return {name: share for name, share in sums.items() if not name.startswith('_GLOBAL_OFFSET_TABLE_')}
    ours = shares(pace('mem', 'report', '-s', 'symbol_daddr,dso_daddr', '-i', 'named.data').out)
    theirs = shares(run('perf', 'mem', 'report', '--stdio', '-s', 'symbol_daddr,dso_daddr', '-i', 'named.data').out)
    assert set(ours) <= set(theirs) and len(ours) > 10 and all(name.split('+')[0] in ('table', '_IO_stdin_used', 'completed.0', 'stop') for name in ours), (ours, theirs)
    assert any(name.startswith('table+') for name in ours), ours
    assert all(abs(theirs[name] - share) < 0.05 for name, share in ours.items()), (ours, theirs)
    assert not {name for name in theirs if name.startswith('table+')} - set(ours), (ours, theirs)


@test
def uses_are_told_apart_as_by_perf():
    recording()
    random.seed(9)
    table = put_accesses('clock.data', 'uses.data', lambda n, tid: (random.randrange(0, 128, 8), random.choice(USUAL), random.randrange(30, 900)))
    compared = 0
    # What stands between the offset's columns and the cycles, by which ours are found.
    for coalesce, told in (('tid', r'(\d+):\S+ +'), ('pid', r'(\d+) +'), ('dso', ''), ('pid,tid', r'\d+ +(\d+):\S+ +')):
        text = run('perf', 'c2c', 'report', '--stdio', '-c', coalesce, '-i', 'uses.data').out
        ours = json.loads(pace('c2c', 'report', '--json', '-c', coalesce, '-i', 'uses.data').out)
        line = None
        mine = {int(line['address'], 16): line for line in ours['lines']}
        assert all(('pid' in use, 'tid' in use, 'dso' in use, 'code' in use) == ('pid' in coalesce, 'tid' in coalesce, 'dso' in coalesce, False)
                   for found in ours['lines'] for use in found['uses']), ours['lines'][0]['uses'][0]
        for row in text[text.index('Distribution Pareto'):].split('\n'):
            head = re.match(r'^ +\d+(?: +\d+){5} +(0x[0-9a-f]+)$', row)
            if head:
                line = mine[int(head[1], 16)]
            found = re.match(rf'^ +([\d.]+)% +([\d.]+)% +[\d.]+% +[\d.]+% +[\d.]+% +0x([0-9a-f]+) +(\d+) +\d+ +{told}(\d+) +(\d+) +\d+ +\d+ +(\d+)\b.*?(\S+) *$', row)
            if not found:
                continue
            remote, local, offset, _, *who, remote_cycles, local_cycles, cpus, nodes = found.groups()
            use = [use for use in line['uses'] if use['offset'] == int(offset, 16) and
                   (not who or who[0] == str(use['tid' if 'tid' in coalesce else 'pid']))]
            use, = (u for u in use if coalesce != 'dso' or u['dso'] == row.split()[-2])
            for percent, kind, cycles in ((remote, 'remote_hitm', remote_cycles), (local, 'local_hitm', local_cycles)):
                n = use.get(kind, 0)
                assert abs(float(percent) - 100 * n / max(line.get(kind, 0), 1)) < 0.01, (row, use)
                assert not n or abs(int(cycles) - use[f'cycles_{kind}'] / n) < 1.01, (row, use)
            assert int(cpus) == len(use['cpus']) and nodes == ','.join(map(str, use['nodes'])), (row, use)
            compared += 1
    assert table and compared > 40, (compared, text)
    shown = pace('c2c', 'report', '-c', 'tid', '-i', 'uses.data').out
    assert re.search(r'Nodes +Tid$', shown, re.M) and 'Code' not in shown and re.search(r'^   0x00 .* 0 +\d+$', shown, re.M), shown
    result = pace('c2c', 'report', '-c', 'cpu', '-i', 'uses.data')
    assert result.status == 2 and 'pid, tid, iaddr, dso' in result.err, result


def split_nodes(path):
    """Says that each of the two processors that were recorded is a node of its own."""
    file = bytearray(open(path, 'rb').read())
    data_at, size = struct.unpack_from('<QQ', file, 40)
    features, = struct.unpack_from('<Q', file, 72)
    numa = 14
    assert features >> numa & 1, hex(features)
    entry = data_at + size + 16 * bin(features & (1 << numa) - 1).count('1')
    section = struct.pack('<I', 2)
    for node in (0, 1):
        section += struct.pack('<IQQI', node, 1 << 20, 1 << 19, 64) + str(node).encode().ljust(64, b'\0')
    struct.pack_into('<QQ', file, entry, len(file), len(section))
    open(path, 'wb').write(file + section)


@test
def loads_from_peers_and_their_nodes_are_those_of_perf():
    recording()
    random.seed(4)
    peers = [data_src(LOAD, L2 | HIT, 2, snoopx=2), data_src(LOAD, L3 | HIT, 2, snoopx=2), data_src(LOAD, L1 | HIT, 2, remote=1, snoopx=2),
             data_src(LOAD, REM_CCE1 | HIT, SNOOP_HIT, remote=1, snoopx=2), data_src(LOAD, L1 | HIT, 2), data_src(STORE, L1 | HIT), data_src(STORE, L1 | MISS)]
    put_accesses('clock.data', 'peer.data', lambda n, tid: (random.randrange(0, 256, 8), random.choice(peers), random.randrange(30, 900)))
    if (os.cpu_count() or 1) > 1:
        split_nodes('peer.data')
    ours = json.loads(pace('c2c', 'report', '--json', '-c', 'tid', '-i', 'peer.data').out)
    assert ours['total'].get('local_peer') and ours['total'].get('remote_peer') and 'local_hitm' not in ours['total'], ours['total']
    mine = {int(line['address'], 16): line for line in ours['lines']}
    text = run('perf', 'c2c', 'report', '--stdio', '-d', 'peer', '-N', '-c', 'tid', '-i', 'peer.data').out
    cpus = run('perf', 'c2c', 'report', '--stdio', '-d', 'peer', '-N', '-N', '-c', 'tid', '-i', 'peer.data').out
    shown = [pace('c2c', 'report', '-c', 'tid', '-i', 'peer.data', *['-N'] * n, *option).out for n, option in ((1, ()), (2, ()), (1, ('-d', 'peer')))]
    assert shown[0] == shown[2]
    compared = 0
    for part, known in zip((text, cpus), shown):
        for row in part[part.index('Distribution Pareto'):].split('\n'):
            head = re.match(r'^ +\d+(?: +\d+){5} +(0x[0-9a-f]+)$', row)
            line = mine[int(head[1], 16)] if head else line if compared or head else None
            found = re.match(r'^ +([\d.]+)% +([\d.]+)% +[\d.]+% +[\d.]+% +[\d.]+% +0x([0-9a-f]+) +\d+ +\d+ +(\d+):\S+ +(\d+) +(\d+) +(\d+) +\d+ +(\d+) +(\S.*?) *$', row)
            if not found:
                compared += bool(head)
                continue
            remote, local, offset, tid, *of_cycles, n_cpus, nodes = found.groups()
            use, = (use for use in line['uses'] if use['offset'] == int(offset, 16) and use['tid'] == int(tid))
            for percent, kind, mean in ((remote, 'remote_peer', of_cycles[0]), (local, 'local_peer', of_cycles[1])):
                n = use.get(kind, 0)
                assert abs(float(percent) - 100 * n / max(line.get(kind, 0), 1)) < 0.01, (row, use)
                assert abs(int(mean) - use.get(f'cycles_{kind}', 0) / max(n, 1)) < 1.01, (row, use)
            others_ = use.get('load', 0) - use.get('remote_peer', 0) - use.get('local_peer', 0)
            assert abs(int(of_cycles[2]) - use['cycles_other_loads'] / max(others_, 1)) < 1.01 and int(n_cpus) == len(use['cpus']), (row, use)
            # perf: "0{ 1  50.0%  n/a} 1{...}"; ours: "0{1 50.0% 0.0%},1{...}"
            theirs = re.findall(r'(\d+)\{ *([^}]*?)\}', nodes)
            rows_ = [text_ for text_ in known.split('\n') if re.match(rf'   0x{int(offset, 16):02x} .* {tid}$', text_)]
            assert any(re.findall(r'(\d+)\{([^}]*)\}', text_) == [(node, ' '.join(what.split()).replace('n/a', '0.0%')) for node, what in theirs] for text_ in rows_), (nodes, rows_)
            compared += 1
    assert compared > 40, compared


@test
def callers_stand_below_the_uses_as_in_perf():
    recording('-g')
    random.seed(6)
    put_accesses('clock.data', 'calls.data', lambda n, tid: (random.randrange(0, 32, 8), random.choice(USUAL), random.randrange(30, 900)))
    result = pace('c2c', 'report', '-g', '-i', 'calls.data')
    assert result.status == 0, result
    theirs = run('perf', 'c2c', 'report', '--stdio', '-g', '-i', 'calls.data').out
    stacks = [set(), set()]
    for stack, text in zip(stacks, (result.out, theirs)):
        for graph in re.findall(r'\n +\|\n +---((?: *\S+\n)+)', text):
            stack.add(tuple(name for name in graph.split() if name in ('reader', 'writer', 'begin')))
    # perf's go down to the code, ours up from it.
    assert {('reader', 'begin'), ('writer', 'begin')} <= stacks[0] & {names[::-1] for names in stacks[1]}, stacks
    drawn = [pace('c2c', 'report', f'--call-graph={how}', '-i', 'calls.data').out for how in ('none', 'caller', 'folded')]
    assert len({result.out, *drawn}) == 4 and '---' not in drawn[0] and ';begin' in drawn[2], drawn[2]
    assert pace('c2c', 'report', '--call-graph=zz', '-i', 'calls.data').status == 2
    plain = pace('c2c', 'report', '-i', 'calls.data').out
    assert '---' not in plain and set(plain.split('\n')) <= set(result.out.split('\n')), result
    stats = pace('c2c', 'report', '--stats', '-i', 'calls.data').out
    known = dict(re.findall(r'^  (\S.*?) +: +(\d+)$', run('perf', 'c2c', 'report', '--stats', '-i', 'calls.data').out, re.M))
    ours = {title: n for n, title in re.findall(r'^ +(\d+)  (\S.*)$', stats, re.M)}
    for theirs_, title in (('Load Operations', 'Loads'), ('Store Operations', 'Stores'), ('Load L1D hit', 'Loads, L1'), ('Store L1D Miss', 'Stores, L1 missed'),
                           ('Load Remote DRAM', 'Loads, memory of another node')):
        assert ours[title] == known[theirs_], (theirs_, ours, known)
    assert f"# What {known['Total records']} memory accesses" in stats, (stats, known)
    refused = pace('c2c', 'report', '-i', 'calls.data', '-g', '--stats')
    assert refused.status == 2 and '--stats' in refused.err, refused
    document = json.loads(pace('c2c', 'report', '-i', 'calls.data', '-g', '--json').out)
    uses = [use for line in document['lines'] for use in line['uses']]
    ways = set()
    for use in uses:
        if 'callers' not in use:
            continue
        hot = use.get('local_hitm', 0) + use.get('remote_hitm', 0)
        assert use['callers_of'] == ('hitm' if hot else 'store'), use
        node, = use['callers']
        assert node['symbol'] == use['function'] and node['period'] == (hot or use['store']) and node['share'] == 100, use
        while node.get('nodes'):
            assert node['period'] == node['own_period'] + sum(below['period'] for below in node['nodes']), use
            ways.add((node['symbol'], node['nodes'][0]['symbol']))
            node = node['nodes'][0]
    assert {('reader', 'begin'), ('writer', 'begin')} <= ways, (ways, document)
    del_callers = [{key: value for key, value in use.items() if key not in ('callers', 'callers_of')} for use in uses]
    without = json.loads(pace('c2c', 'report', '-i', 'calls.data', '--json').out)
    assert del_callers == [use for line in without['lines'] for use in line['uses']]
    recording()
    put_accesses('clock.data', 'flat.data', lambda n, tid: (0, USUAL[0], 1))
    refused = pace('c2c', 'report', '-g', '-i', 'flat.data')
    assert refused.status == 1 and 'no call chains' in refused.err, refused


@test
def offsets_say_who_reads_and_who_writes():
    recording()
    # Of the busiest two threads one reads and one writes, whoever was seen first.
    counts = collections.Counter(int(tid) for tid in pace('script', '-i', 'clock.data', '-F', 'tid').out.split())
    threads = {tid: k for k, (tid, _) in enumerate(counts.most_common())}

    def false_sharing(n, tid):
        if threads[tid] % 2:
            return (8, data_src(STORE, L1 | HIT), 5)
        return (0, data_src(LOAD, L3 | HIT, HITM), 200)
    table = put_accesses('clock.data', 'false.data', false_sharing)
    read = json.loads(pace('c2c', 'report', '--json', '-i', 'false.data').out)
    line = next(line for line in read['lines'] if int(line['address'], 16) == table)
    assert line['sharing'] == 'false', line
    by_offset = collections.defaultdict(collections.Counter)
    for use in line['uses']:
        by_offset[use['offset']].update(load=use.get('load', 0), store=use.get('store', 0), hitm=use.get('local_hitm', 0))
        # A sample may have been taken before they began.
        assert use.get('function') in ('reader', 'writer', 'run', 'begin') or use['dso'] != 'shared' or use['records'] < 3, use
    assert by_offset[0]['hitm'] == by_offset[0]['load'] > 20 and not by_offset[0]['store'], (by_offset, counts, read['total'])
    assert by_offset[8]['store'] > 20 and not by_offset[8]['load'], by_offset
    assert sum(use['cycles_local_hitm'] for use in line['uses']) == 200 * by_offset[0]['hitm']
    text = pace('c2c', 'report', '-i', 'false.data').out
    assert 'false sharing' in text and re.search(r'^   0x00 +[\d.]+% .* reader\+0x[0-9a-f]+  shared  shared\.c:\d+$', text, re.M), text
    # The same offset, written by one and read by the other: there is nothing to move apart.
    put_accesses('clock.data', 'true.data', lambda n, tid: (16, data_src(STORE, L1 | HIT) if threads[tid] % 2 else data_src(LOAD, L3 | HIT, HITM), 9))
    read = json.loads(pace('c2c', 'report', '--json', '-i', 'true.data').out)
    assert read['lines'][0]['sharing'] == 'true' and read['lines'][0]['shared_offset'] == 16, read['lines'][0]


@test
def a_recording_without_accesses_is_refused_with_the_way_to_one():
    can_record()
    assert pace('record', '-q', '-e', 'cpu-clock', '-o', 'plain.data', 'true').status == 0
    result = pace('c2c', 'report', '-i', 'plain.data')
    assert result.status == 1 and 'pace c2c record' in result.err and not result.out, result


@test
def a_recording_that_lost_accesses_says_so():
    """Accesses are counted in the same pass as the samples of the account: what the one misses the other tells."""
    recording()
    put_accesses('clock.data', 'whole.data', lambda n, tid: (random.randrange(0, 1024, 8), random.choice(USUAL), 50))
    whole = pace('c2c', 'report', '--json', '-i', 'whole.data')
    assert whole.status == 0 and not whole.err, whole
    file = open('whole.data', 'rb').read()
    data_offset, data_size = struct.unpack_from('<QQ', file, 40)
    open('cut.data', 'wb').write(file[:data_offset + data_size * 2 // 3])
    cut = pace('c2c', 'report', '--json', '-i', 'cut.data')
    n, all_of_them = (json.loads(result.out)['total']['records'] for result in (cut, whole))
    assert cut.status == 1 and 'cut off' in cut.err and 0 < n < all_of_them, cut


@test
def record_is_the_events_of_the_machine_or_a_refusal():
    result = pace('c2c', 'record', '--dry-run', '--', '-a', 'sleep', '1')
    if result.status:
        assert result.status == 1 and 'no PMU supports the memory events' in result.err and not os.path.exists('perf.data'), result
    devices = 'sys/bus/event_source/devices/cpu'
    os.makedirs(f'{devices}/events')
    os.makedirs(f'{devices}/format')
    for name, text in (('type', '4'), ('events/mem-loads', 'event=0xcd,umask=0x1,ldlat=3'), ('events/mem-stores', 'event=0xcd,umask=0x2'),
                       ('format/event', 'config:0-7'), ('format/umask', 'config:8-15'), ('format/ldlat', 'config1:0-15')):
        open(f'{devices}/{name}', 'w', encoding='utf-8').write(text + '\n')
    result = pace('c2c', 'record', '--sysfs', 'sys', '--ldlat', '50', '--dry-run', '--', '-a', 'sleep', '1')
    assert result.status == 0 and result.out == ('pace record -e cpu/mem-loads,ldlat=50/P,cpu/mem-stores/P -W -d --sample-cpu --phys-data '
                                                 '-a sleep 1\n'), result
    for words, event, more in (([], 'cpu/mem-loads,ldlat=30/P,cpu/mem-stores/P', ''), (['-t', 'load'], 'cpu/mem-loads,ldlat=30/P', ''),
                               (['-t', 'store', '-U', '-p'], 'cpu/mem-stores/P', ' --phys-data --all-user')):
        result = pace('mem', 'record', '--sysfs', 'sys', '--dry-run', *words, 'true')
        assert result.status == 0 and result.out == f'pace record -e {event} -W -d --sample-cpu{more} true\n', result
    assert pace('mem', 'record', '-t', 'loads', 'true').status == 2


if __name__ == '__main__':
    main()
