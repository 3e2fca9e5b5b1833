#!/usr/bin/env python3
"""`pace report` beside `perf report` on real recordings by others, key by key: rows, shares and numbers of samples of single keys, pairs
and triples, with what callers called and without, filtered and of stretches of time.

Of each recording some combinations are looked at, chosen by its name so that they are always the same; all of them with
PACE_EVERY_KEY=1 (a quarter of an hour). Not compared, and why:
- names of functions of recordings of branches: perf shows where no name is known as it was sampled, pace by the file;
- the weight of branches: perf says 1, pace that none was recorded;
- sizes of the kernel and its modules, which perf takes from the kernel it runs on, or prints as a negative number;
- sizes of functions alone: perf has a row for each function whose size it does not know;
- callers by functions and files: pace says where a stack ends before its beginning, and shows addresses by the file; and by the time
  and the socket, of which perf counts some several times;
- branches filtered by file, of which perf shows some of other files, too; branches to address 0, which it takes for the kernel's;
- call graphs of recordings whose files are not here, for that reason; of programs that are here test_report compares them;
- what perf cuts: names of threads behind those it had before, times behind 12 characters, what tracepoints say."""
import json
import os
import re
import shutil
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402
import others  # noqa: E402

COMBINATIONS = [keys.split(',') for keys in (
    'comm', 'pid', 'dso', 'sym', 'cpu', 'socket', 'time', 'local_weight', 'weight', 'transaction', 'cgroup', 'code_page_size', 'local_ins_lat',
    'addr', 'parent', 'srcfile', 'trace',
    'comm,dso', 'dso,comm', 'comm,sym', 'sym,dso', 'pid,dso', 'pid,sym', 'cpu,comm', 'cpu,dso', 'dso,sym', 'comm,pid', 'cpu,sym', 'time,comm',
    'comm,time', 'dso,dso_size', 'sym,symbol_size', 'pid,cpu', 'addr,sym', 'dso,addr', 'socket,comm', 'transaction,comm', 'weight,sym',
    'local_weight,dso', 'sym,parent', 'pid,comm,dso', 'comm,dso,sym', 'cpu,pid,sym')]
# With the keys that they are compared for: all of these at most, the one at least. What is in a file perf knows of rows, not of samples.
WAYS = [
    *[([], None, None)] * 3,
    (['--children'], {'comm', 'pid', 'cpu'}, None),
    (['--percentage', 'relative', '-d', '[kernel.kallsyms],libc.so.6'], None, 'dso'),
    (['-C', '0'], None, None),
    (['--time', '20%-60%'], None, None),
    (['--percent-limit', '1'], None, None),
]
PARENTS = ['-p', '^(__x64_)?sys_|page_fault|^main$']  # the expressions they look for without one are of different kernels
FEW = 4 if not os.environ.get('PACE_EVERY_KEY') else None


def chosen(path, things, few):
    """Always the same of them for a recording of that name."""
    order = sorted(things, key=lambda thing: zlib.crc32(f'{os.path.basename(path)} {thing}'.encode()))
    return order[:few]


def cell(key, text):
    text = re.sub(r' +', ' ', text.strip())
    if key == 'comm':
        return text[:3]
    if key == 'time':
        return text[:12]
    if key == 'trace':
        return text[:8]
    if key == 'addr':
        return text.removeprefix('0x')
    if key == 'srcfile' and text == '[unknown]':
        return ''
    if key == 'sym':
        return re.sub(r'^\[[HXk.]\] (0x)?0*([0-9a-f]+)$', r'\2', text)
    return text


def rows(result, keys):
    """Cells -> samples, share. Functions of the procedure linkage table have one name in perf; rows of the same names are one here."""
    found = {}
    for line in result.out.split('\n'):
        if not line.strip() or line.startswith('#') or '@plt' in line:
            continue
        share, *cells = line.split('|')
        cells = [cell(key, text) for key, text in zip(keys, cells)]
        if 'dso_size' in keys and cells[1].startswith('['):
            cells[2] = ''
        # The table says none, and nothing follows: to perf it goes on to the end of some page.
        if 'symbol_size' in keys and '[.] _fini' in cells:
            cells[keys.index('symbol_size')] = ''
        others_of_name = found.get(tuple(cells[1:]), (0, 0))
        found[tuple(cells[1:])] = others_of_name[0] + int(cells[0]), others_of_name[1] + float(share.strip(' %'))
    return found


def differing(a, b):
    """Rows that are in one only or have other figures; sums of rounded shares may be off a little."""
    return [(cells, a.get(cells), b.get(cells)) for cells in sorted(a.keys() | b.keys())
            if cells not in a or cells not in b or a[cells][0] != b[cells][0] or abs(a[cells][1] - b[cells][1]) > 0.05]


def is_comparable(path, keys, options):
    if others.BRANCHES.search(path):
        return '-d' not in options and not {'sym', 'addr', 'local_weight', 'weight'} & set(keys) and \
            not ('raw_callgraph_branch' in path and 'dso' in keys)
    return True


def compare(path, keys, options):
    """Whether both showed rows, and the first rows that differ."""
    words = ['-i', path, '-n', '-s', ','.join(keys), '-g', 'none', '-t', '|', '--no-group',
             *([] if '--children' in options else ['--no-children']), *(PARENTS if 'parent' in keys else []), *options]
    ours = pace('report', '--no-unnamed-functions', *words)
    if ours.status == 2:
        # It says what the recording lacks.
        assert re.search(r"key '|the recording", ours.err), (path, words, ours.err)
        return False, []
    theirs = run('perf', 'report', '--stdio', '-f', *words)
    keys = ['samples', *keys]
    if '--children' in options:
        if '# Children' not in theirs.out:
            return False, []
        # Shares of what is in them stand behind; of callers it is the first that counts.
        for result in (ours, theirs):
            result.out = re.sub(r'^([^#|]+)\|[^|]+', r'\1', result.out, flags=re.M)
    a, b = rows(ours, keys), rows(theirs, keys)
    if differing(a, b) and (foreign := others.elsewhere(path)):
        # perf names these by files of this machine.
        if 'dso' not in keys:
            return False, []
        a, b = ({cells: row for cells, row in table.items() if not foreign & set(cells)} for table in (a, b))
    return bool(b), [(os.path.basename(path), ' '.join(words[2:]), row) for row in differing(a, b)[:4]] if b else []


@test
def rows_of_all_keys_are_those_of_perf():
    perf_works()
    n_files = n_compared = 0
    seen, wrong = set(), []
    for path in others.comparable():
        cases = [(keys, *WAYS[zlib.crc32(f'{os.path.basename(path)} {keys}'.encode()) % len(WAYS)]) for keys in COMBINATIONS]
        cases = [(keys, options) for keys, options, most, least in cases
                 if (not most or most >= set(keys)) and (not least or least in keys) and is_comparable(path, keys, options)]
        found = [(keys, *compare(path, keys, options)) for keys, options in chosen(path, cases, FEW)]
        n = sum(is_shown for _, is_shown, _ in found)
        n_compared += n
        n_files += n > 0
        seen |= {tuple(keys) for keys, is_shown, _ in found if is_shown}
        wrong += [row for _, _, rows_of_one in found for row in rows_of_one]
    assert not wrong, '\n'.join(str(row) for row in wrong)
    assert n_files > 40 and n_compared > 120 and len(seen) > 25, (n_files, n_compared, len(seen))


@test
def rows_of_a_recording_made_here_are_those_of_perf():
    """Of three events, with callers; of all combinations, some of them filtered. Files of source are looked at by test_lines."""
    can_record()
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write('seq 1 20000 | sort -R | md5sum\nawk \'BEGIN { for (i = 0; i < 200000; i++) s = s + sqrt(i) }\'\n')
    events = [word for event in ('cpu-clock/freq=2000/', 'page-faults/period=5/', 'context-switches/period=2/') for word in ('-e', event)]
    for _ in range(8):
        done = run('perf', 'record', '-q', '-g', '--sample-cpu', '-o', 'w.data', *events, 'sh', 'work.sh')
        assert done.status == 0, done
        # Heads of procedure linkage tables, which are seldom met, have a name in pace only.
        if '_dl_runtime_resolve@plt' not in pace('report', '-i', 'w.data', '-g', 'none', '-s', 'sym').out:
            break
    combinations = [keys for keys in COMBINATIONS if 'srcfile' not in keys]
    found = [(keys, *compare('w.data', keys, [])) for keys in combinations]
    shown = [keys for keys, is_shown, _ in found if is_shown]
    wrong = [row for _, _, rows_of_one in found for row in rows_of_one]
    assert len(shown) > 25, shown
    n = 0
    for options, most, least in WAYS[3:]:
        fitting = [keys for keys in shown if (not most or most >= set(keys)) and (not least or least in keys)]
        for keys in chosen(str(options), fitting, FEW):
            is_shown, rows_of_one = compare('w.data', keys, options)
            n += is_shown
            wrong += rows_of_one
    # Where _init ends, which has no size, depends on whether stubs of a procedure linkage table are symbols: perf 6.12 has them elsewhere.
    wrong = [row for row in wrong if "'[.] _init'" not in str(row)]
    assert not wrong, '\n'.join(str(row) for row in wrong)
    # Nothing may have run on that processor, or in that part of the time.
    assert n > 8, n


@test
def namespaces_of_control_groups_are_those_of_perf():
    needs_root()
    needs('unshare')
    can_record()
    perf_works()
    done = run('perf', 'record', '-q', '--namespaces', '-e', 'cpu-clock', '-F', '2000', '-o', 'n.data', 'sh', '-c',
               'unshare -C sh -c "seq 20000 | sort -R | md5sum"; seq 20000 | sort -R | md5sum')
    if done.status:
        skip('no namespace can be made here: ' + done.err.strip()[-80:])
    tables = []
    for program in ([PACE], ['perf']):
        result = run(*program, 'report', '--stdio', '-i', 'n.data', '-n', '-g', 'none', '-t', '|', '-s', 'cgroup_id,comm')
        rows_ = [line.split('|') for line in result.out.split('\n') if re.match(r' *[\d.]+%', line)]
        tables.append(sorted((int(n), namespace.strip(), comm.strip()) for _, n, namespace, comm in rows_))
    assert tables[0] == tables[1] and len({row[1] for row in tables[0]}) == 2, tables
    result = pace('report', '-i', 'n.data', '-s', 'parallelism')
    assert result.status == 2 and '--switch-events' in result.err, result


@test
def numbers_in_names_of_threads_can_be_left_out():
    can_record()
    for name in ('w12k3', 'w7k44', 'plain'):
        os.symlink(shutil.which('sleep'), name)
    assert pace('record', '-q', '-e', 'cpu-clock', '-F', '9000', '-o', 'c.data', 'sh', '-c',
                'for i in 1 2 3 4; do ./w12k3 0.001; ./w7k44 0.001; ./plain 0.001; done').status == 0
    rows_ = [row.split('|')[1:] for row in pace('report', '-i', 'c.data', '-s', 'comm_nodigit,comm', '-t', '|').out.strip().split('\n')[1:]]
    assert {tuple(row) for row in rows_} >= {('w<N>k<N>', 'w12k3'), ('w<N>k<N>', 'w7k44'), ('plain', 'plain')}, rows_
    assert all(re.sub('[0-9]+', '<N>', comm) == name for name, comm in rows_), rows_
    rows_ = pace('report', '-i', 'c.data', '-s', 'comm_nodigit', '-t', '|').out
    assert rows_.count('w<N>k<N>') == 1, rows_


@test
def weights_have_averages_of_their_parts_and_accesses_their_kind():
    fields = handmade.IP | handmade.TID | handmade.TIME | handmade.ADDR | handmade.CPU | handmade.PERIOD | handmade.DATA_SRC | handmade.WEIGHT_STRUCT
    handmade.write('w.data', fields, [
        dict(ip=0x401000 + 8 * (i % 3), addr=0x600000, weight=(30 + i, 5 + i % 3, 7), data_src=handmade.data_src(op=(2, 4)[i % 2], level=0x0a, lock=2))
        for i in range(18)])
    out = pace('report', '--mem-mode', '-i', 'w.data', '-s', 'addr', '-F', 'addr,weight1,weight2,weight3', '-t', '|').out
    rows_ = sorted(tuple(map(float, row.split('|')[1:])) for row in out.strip().split('\n')[1:])
    assert rows_ == [(sum(30 + i for i in range(k, 18, 3)) / 6, 5.0 + k, 7.0) for k in range(3)], out
    # As fields the names of sums are those of averages, which is said.
    for names in ('weight,ins_lat,retire_lat', 'weight,ins_lat,p_stage_cyc'):
        result = pace('report', '--mem-mode', '-i', 'w.data', '-s', 'addr', '-F', f'addr,{names}', '-t', '|')
        assert result.out == out and "'ins_lat' is the average, 'weight2'" in result.err, result
    assert '|36' in pace('report', '--mem-mode', '-i', 'w.data', '-s', 'addr,ins_lat', '-t', '|').out
    out = pace('report', '-i', 'w.data', '-n', '-s', 'op', '-t', '|').out.strip().split('\n')[1:]
    assert out == ['50.00%|9|LOAD', '50.00%|9|STORE'], out
    for key in ('latency', 'latency_children'):
        result = pace('report', '-i', 'w.data', '-s', f'{key},comm')
        assert result.status == 2 and '--switch-events' in result.err, result


def perf_of_version(least):
    """perf, if it is that new: earlier ones do not have what is compared."""
    perf_works()
    version = re.search(r'version (\d+)', run('perf', '--version').out)
    if not version or int(version.group(1)) < least:
        skip(f'this perf is not perf {least}: {run("perf", "--version").out.strip()}')


# perf-mem(1) of perf 7.2, and which samples perf 7.2 counts where: title -> what of the word says so.
NUMBER = lambda *numbers: lambda word: (word >> 33 & 15) in numbers  # noqa: E731
SNOOP = lambda bits: lambda word: (word >> 19 & 31) == bits  # noqa: E731
TLB = lambda bits: lambda word: (word >> 26 & 127) == bits  # noqa: E731
OP = lambda bits: lambda word: (word & 31) == bits  # noqa: E731
FIELDS = {
    'op': ('Mem Op', {'Load': OP(2), 'Store': OP(4), 'Ld+St': OP(6), 'Pfetch': lambda word: bool(word & 8), 'Exec': lambda word: (word & 24) == 16}),
    'cache': ('Cache', {'L1': NUMBER(1), 'L2': NUMBER(2), 'L3': NUMBER(3), 'L4': NUMBER(4), 'L1-buf': NUMBER(12), 'L2-buf': NUMBER(5)}),
    'memory': ('Memory', {'RAM': NUMBER(13), 'MSC': NUMBER(6), 'Uncach': NUMBER(8), 'CXL': NUMBER(9), 'IO': NUMBER(10), 'PMEM': NUMBER(14)}),
    'dtlb': ('D-TLB', {'L1-Hit': TLB(10), 'L2-Hit': TLB(18), 'L?-Hit': TLB(26), 'Miss': lambda word: bool(word >> 26 & 4)}),
    'snoop': ('Snoop', {'Hit': SNOOP(4), 'HitM': SNOOP(16), 'Miss': SNOOP(8)}),
}
WORDS = {'Ld+St': 'load_store', 'Pfetch': 'prefetch', 'L1-buf': 'l1_buffer', 'L2-buf': 'l2_buffer', 'MSC': 'side_cache', 'Uncach': 'uncached', 'PMEM': 'persistent',
         'L1-Hit': 'l1_hit', 'L2-Hit': 'l2_hit', 'L?-Hit': 'any_hit'}
ACCESSES = [handmade.data_src(op=op) for op in range(32)] + [handmade.data_src(op=2, number=n, level=2) for n in range(16)] + \
    [handmade.data_src(op=4, tlb=tlb) for tlb in range(128)] + [handmade.data_src(op=2, snoop=snoop, more=snoop % 4) for snoop in range(32)]


def write_accesses(path):
    """Accesses whose weights tell them apart; the instructions are as many as functions would be."""
    fields = handmade.IP | handmade.TID | handmade.TIME | handmade.ADDR | handmade.CPU | handmade.PERIOD | handmade.DATA_SRC | handmade.WEIGHT_STRUCT
    samples = [dict(ip=0x401000 + 16 * (i % 5), addr=0x600000, weight=(1 + i * i % 97, 0, 0), data_src=word) for i, word in enumerate(ACCESSES)]
    handmade.write(path, fields, samples)
    return samples


def weights_by_part(samples, field):
    """Title -> weight, of the parts that there are, in perf's order."""
    parts = dict.fromkeys([*FIELDS[field][1], 'Other'], 0)
    for sample in samples:
        parts[next((title for title, fits in FIELDS[field][1].items() if fits(sample['data_src'])), 'Other')] += sample['weight'][0]
    return {title: weight for title, weight in parts.items() if weight}


def parts_of_text(out, field):
    """Title -> share, of a table of one row and one field."""
    lines = [line for line in out.split('\n') if line.strip()]
    at = next(i for i, line in enumerate(lines) if re.match(rf'# [- ]*{FIELDS[field][0]}[- ]*$', line))
    row = next(line for line in lines[at:] if '%' in line)
    return list(zip(lines[at + 1].lstrip('# ').split(), row.split()))


@test
def fields_break_down_the_weights_of_accesses():
    samples = write_accesses('a.data')
    whole = sum(sample['weight'][0] for sample in samples)
    for field in FIELDS:
        want = weights_by_part(samples, field)
        assert len(want) == len(FIELDS[field][1]) + 1, (field, want)
        found = parts_of_text(pace('mem', 'report', '-i', 'a.data', '-F', field).out, field)
        assert found == [(title, '%.1f%%' % (100 * weight / whole)) for title, weight in want.items()], (field, found)
        # The same words of -s group by what they count there.
        if field != 'op' and field != 'snoop':
            rows_ = pace('mem', 'report', '-i', 'a.data', '-s', field, '-F', 'period', '-x', '|').out.strip().split('\n')[1:]
            assert {row.split('|')[1]: int(row.split('|')[0]) for row in rows_} == want, (field, rows_)
    # "mem" is the memory as a field, and where the data was as a key.
    assert pace('mem', 'report', '-i', 'a.data', '-F', 'mem').out == pace('mem', 'report', '-i', 'a.data', '-F', 'memory').out
    assert 'Memory access' in pace('mem', 'report', '-i', 'a.data', '-F', 'mem', '-s', 'mem').out


@test
def fields_have_a_column_for_each_part_in_all_forms():
    samples = write_accesses('a.data')
    whole = sum(sample['weight'][0] for sample in samples)
    words = ['mem', 'report', '-i', 'a.data', '-F', 'overhead,op,snoop', '-s', 'symbol']
    rows_ = {row['symbol']: row for row in json.loads(pace(*words, '--json').out)['events'][0]['rows']}
    head, *lines = [line.split(',') for line in pace(*words, '--csv').out.strip().split('\n')]
    text = {row.split('|')[3]: row.split('|') for row in pace(*words, '-x', '|').out.strip().split('\n')[1:]}
    assert len(rows_) == 5 and len(lines) == 5
    for address, row in rows_.items():
        own = [sample for sample in samples if sample['ip'] == int(address, 16)]
        values = next(dict(zip(head, line)) for line in lines if address in line)
        for n, field in enumerate(('op', 'snoop')):
            parts = weights_by_part(own, field)
            for title in [*FIELDS[field][1], 'Other']:
                name = f'{field}_{WORDS.get(title, title.lower())}'
                share = 100 * parts.get(title, 0) / whole
                assert abs(row[name] - share) < 0.001 and abs(float(values[name]) - share) < 0.001, (name, row, share)
            # In a line of separated columns a field is one column, as perf has it.
            assert len(text['[.] 0x%016x' % int(address, 16)][1 + n].split()) == len(weights_by_part(samples, field)), text
    assert '| Mem Op: Load | Mem Op: Store |' in pace(*words, '--md').out
    result = pace('report', '-i', write_plain('p.data'), '-F', 'overhead,op,comm')
    assert result.status == 2 and "key 'op'" in result.err and 'record with' in result.err, result


def write_plain(path):
    handmade.write(path, handmade.IP | handmade.TID | handmade.TIME | handmade.PERIOD, [dict(ip=0x401000)] * 3)
    return path


@test
def fields_of_accesses_are_those_of_perf():
    perf_of_version(7)
    write_accesses('a.data')
    handmade.write_memory('m.data')

    def table(program, path, words):
        result = run(program, 'mem', 'report', '--stdio', '-i', path, *words)
        lines = [line.rstrip() for line in result.out.split('\n') if line.strip() and not re.match(r'# (To|Total|Samples|Event|Sort|\d|\()|#$', line)]
        return [line for line in lines if 'Warning' not in line]
    for path in ('a.data', 'm.data'):
        for words in (['-F', 'op'], ['-F', 'mem,snoop'], ['-F', 'cache,dtlb'], ['-F', 'overhead,op,cache,memory,dtlb,snoop', '-s', 'sym'], ['-F', '+op,snoop', '-s', 'sym'],
                      ['-F', 'sym,op,period,sample'], ['-F', 'op,overhead', '-s', 'comm'],
                      ['-F', 'overhead,weight,ins_lat,retire_lat,sym']):
            ours, theirs = table(PACE, path, words), table('perf', path, words)
            # Addresses without names are all equal where perf sorts.
            assert sorted(ours) == sorted(theirs) and len(ours) > 2, (path, words, ours, theirs)


THREADS = '''#include <pthread.h>
__attribute__((noinline)) long inner(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i * 3; return s; }
__attribute__((noinline)) long outer(long n) { long s = 0; for (int i = 0; i < 10; i++) s += inner(n); return s; }
__attribute__((noinline)) long again(long n) { return n ? again(n - 1) + inner(300000) : 1; }
void *work(void *n) { outer((long)n); again(3); return 0; }
int main(void)
{
	pthread_t t[3];
	outer(3000000);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, work, (void *)4000000L);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	again(5);
	return 0;
}
'''


def sides(out):
    """Head, and the rows that are of no functions, or of the program's."""
    lines = [re.sub(r' +', ' ', line).strip() for line in out.split('\n') if line.strip()]
    head = [line for line in lines if line.startswith('# ') and ('Latency' in line or line == '# Command')]
    return head[:1], [line for line in lines if line[0] != '#' and ('[.]' not in line or re.search(r'\[\.\] (inner|outer|again|work|main)\b', line)) and '[k]' not in line]


LATENCIES = [['--latency'], ['--latency', '-s', 'sym'], ['--latency', '--no-children', '-s', 'dso,sym'], ['--latency', '-s', 'overhead,comm'],
             ['-s', 'latency,comm'], ['-s', 'comm,latency'], ['-s', 'overhead,latency,sym'], ['-F', 'latency,sym'], ['-F', 'latency'],
             ['--latency', '-F', '+sample', '-s', 'sym'], ['--latency', '--parallelism', '2', '-s', 'sym'], ['--latency', '-F', 'comm'], ['-F', 'latency,sym', '-s', 'comm']]


@test
def latency_is_shown_as_by_perf():
    perf_of_version(7)
    can_record()
    with open('threads.c', 'w', encoding='utf-8') as file:
        file.write(THREADS)
    program = build_c(os.path.abspath('threads.c'), 'threads', '-pthread')
    for name, words in (('l.data', []), ('g.data', ['-g'])):
        done = run('perf', 'record', '-q', '--latency', *words, '-e', 'cpu-clock:u', '-F', '2000', '-o', name, os.path.abspath(program))
        if done.status:
            skip('no switches can be recorded here: ' + done.err.strip()[-80:])
        for options in [*LATENCIES, *([['-s', 'latency_children,sym'], ['-F', 'latency_children,overhead_children,sym']] if words else [])]:
            words_ = ['-i', name, '-g', 'none', '--no-inline', *options]
            ours = sides(pace('report', '--no-unnamed-functions', *words_).out)
            theirs = sides(run('perf', 'report', '--stdio', *words_).out)
            assert ours[0] == theirs[0] and sorted(ours[1]) == sorted(theirs[1]) and (theirs[1] or '--parallelism' in options), (options, ours, theirs)


@test
def latency_is_the_time_of_each_sample_over_the_threads_that_ran_then():
    """Of callers it is that of what they called, once where a function calls itself."""
    can_record()
    done = run('perf', 'record', '-q', '-g', '--switch-events', '-e', 'cpu-clock', '-F', '2000', '-o', 'p.data', 'sh', '-c',
               'for i in 1 2 3; do seq 30000 | sort -R | md5sum & done; wait; seq 10000 | sort -R | md5sum')
    if done.status:
        skip('no switches can be recorded here: ' + done.err.strip()[-80:])
    words = ['report', '--no-wall', '-i', 'p.data']
    by_level = {}
    for row in json.loads(pace(*words, '--json', '-g', 'none', '--no-children', '-s', 'comm,dso,symbol,parallelism').out)['events'][0]['rows']:
        key = row['comm'], row['dso'], row['symbol']
        by_level[key] = by_level.get(key, 0) + row['period'] // row['parallelism']
    rows_ = json.loads(pace(*words, '--json', '-g', 'none', '--latency', '--no-children').out)['events'][0]['rows']
    found = {(row['comm'], row['dso'], row['symbol']): row['latency'] for row in rows_}
    assert found.keys() == by_level.keys() and len(found) > 10, (found, by_level)
    # Each sample's part is a whole number.
    assert all(abs(found[key] - by_level[key]) <= 1000 for key in found), (found, by_level)
    assert [row['latency'] for row in rows_] == sorted((row['latency'] for row in rows_), reverse=True)
    whole = sum(found.values())
    assert all(abs(row['latency_share'] - 100 * row['latency'] / whole) < 0.001 for row in rows_)
    # What is below a function's outermost calls, of whole stacks.
    document = json.loads(pace(*words, '--json', '--latency', '-s', 'symbol').out)['events'][0]
    total = {row['symbol']: row for row in document['rows']}
    assert all(row['latency_children'] >= row['latency'] for row in total.values()) and all(row['latency_children'] <= whole + 1000 for row in total.values())
    assert any(row['latency_children'] > 2 * row['latency'] > 0 or (row['latency_children'] and not row['latency']) for row in total.values()), total
    result = pace('report', '-i', write_plain('plain.data'), '--latency')
    assert result.status == 2 and result.err.startswith('pace report: --latency: ') and '--switch-events' in result.err, result


@test
def all_fields_of_a_tracepoint_are_keys():
    path = os.path.join(others.needs_shared('fixtures'), 'own', 'perf72-sched.data')
    words = ['report', '-i', path, '-n', '-t', '|', '-s']
    whole = pace(*words, 'sched:sched_stat_runtime.*').out
    assert whole == pace(*words, 'sched_stat_runtime.*').out and 'N/A' in whole, whole
    heads = {line for line in whole.split('\n') if line.startswith('# Overhead')}
    assert any('runtime' in head for head in heads), heads
    assert 'more than 16 keys' in pace(*words, 'trace_fields').err


@test
def a_field_that_is_called_like_a_key_is_the_fields():
    """Of sched_wakeup, comm is who is woken: perf and pace list it under that name, and neither as the thread of the sample."""
    perf_works()
    can_record()
    if run('perf', 'record', '-q', '-a', '-e', 'sched:sched_wakeup', '-o', 'wakeups.data', 'sh', '-c', 'sleep 0.05; ls / | sort').status:
        skip('there are no tracepoints for perf here')
    words = ['report', '-i', 'wakeups.data', '-n', '-t', '|', '-s', 'trace_fields']
    ours, theirs = ({tuple(cell.strip() for cell in line.split('|')) for line in result.out.split('\n') if line.strip() and not line.startswith('#')}
                    for result in (pace(*words), run('perf', *words, '--stdio')))
    assert ours == theirs and len(ours) > 1, (ours - theirs, theirs - ours)


def parallelism_of_script(text):
    """Threads on CPUs -> samples, of `perf script` with switches and tasks."""
    kinds = [(int(tid), 'in' if ' IN' in rest else 'out' if ' OUT' in rest or 'EXIT' in rest else 'sample', rest)
             for tid, rest in re.findall(r'^.{16} +(\d+) +[\d.]+: +(\S.*)', text, flags=re.M) if 'SWITCH' in rest or 'EXIT' in rest or 'cpu-clock' in rest]
    known, running, found = set(), set(), {}
    for tid, kind, _ in kinds:
        if kind == 'out' and tid not in known:
            running.add(tid)
        known |= {tid} if kind != 'sample' else set()
    for tid, kind, _ in kinds:
        (running.add if kind == 'in' else running.discard if kind == 'out' else found.__contains__)(tid)
        if kind == 'sample':
            n = max(len(running), 1)
            found[n] = found.get(n, 0) + 1
    return found


@test
def threads_that_ran_at_the_same_time_are_counted():
    can_record()
    perf_works()
    done = run('perf', 'record', '-q', '--switch-events', '-e', 'cpu-clock', '-F', '2000', '-o', 'p.data', 'sh', '-c',
               'for i in 1 2 3; do seq 30000 | sort -R | md5sum & done; wait; seq 10000 | sort -R | md5sum')
    if done.status:
        skip('no switches can be recorded here: ' + done.err.strip()[-80:])
    text = run('perf', 'script', '-i', 'p.data', '--show-switch-events', '--show-task-events', '-F', 'comm,tid,time,event').out
    rows_ = pace('report', '--no-wall', '-i', 'p.data', '-n', '-t', '|', '-s', 'parallelism').out.strip().split('\n')[1:]
    ours = {int(n): int(samples) for _, samples, n in (row.split('|') for row in rows_)}
    assert ours == parallelism_of_script(text) and ours.get(1), (ours, parallelism_of_script(text))
    times = {n: samples / n for n, samples in ours.items()}
    rows_ = pace('report', '--no-wall', '-i', 'p.data', '-F', 'latency,parallelism', '-t', '|').out.strip().split('\n')[1:]
    shares = {int(n): float(share.rstrip('%')) for share, n in (row.split('|') for row in rows_)}
    assert all(abs(shares[n] - 100 * times[n] / sum(times.values())) < 0.02 for n in times), (shares, times)
    rows_ = pace('report', '--no-wall', '-i', 'p.data', '-F', 'latency,comm', '-t', '|').out.strip().split('\n')[1:]
    assert [float(row.split('%')[0]) for row in rows_] == sorted((float(row.split('%')[0]) for row in rows_), reverse=True), rows_
    for list_ in ('1', '2-9', '1,3'):
        levels = {n for part in list_.split(',') for n in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)}
        result = pace('report', '--no-wall', '--json', '-i', 'p.data', '-s', 'comm', '--parallelism', list_)
        assert json.loads(result.out)['ledger']['shown'] == sum(samples for n, samples in ours.items() if n in levels), (list_, ours, result)
    result = pace('report', '-i', 'p.data', '-s', 'cgroup_id')
    assert result.status == 2 and '--namespaces' in result.err, result


if __name__ == '__main__':
    main()
