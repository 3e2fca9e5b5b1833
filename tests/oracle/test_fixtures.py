#!/usr/bin/env python3
"""Real recordings by others (see the shared folder): every one is read or refused with a reason, and where the installed
perf reads it too, both show the same rows."""
import glob
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import perftext  # noqa: E402
from others import BRANCHES, NAMED, comparable, elsewhere, recordings  # noqa: E402

@test
def every_recording_is_read_or_refused_with_a_reason():
    for path in recordings():
        result = pace('report', '-i', path, '-g', 'none')
        assert result.status in (0, 1, 2), (path, result)
        if result.status == 2 or (result.status == 1 and not result.out):
            assert result.err.strip().split('\n')[-1].startswith('pace report: '), (path, result)
            assert os.path.basename(path)[:30] in result.err, (path, result)
        elif result.status == 1:
            assert 'warning: ' in result.err, (path, result)
        evlist = pace('evlist', '-v', '-i', path)
        assert (evlist.status == 0) == bool(evlist.out), (path, evlist)


@test
def every_sample_is_shown_or_left_out_for_a_reason():
    """samples in = shown + in small rows + filtered + lost by cause, whatever is asked for."""
    n_read = n_lossy = n_of_groups = 0
    for path in recordings():
        stats = pace('report', '--stats', '-i', path)
        if stats.status == 2:
            continue
        found = re.search(r'SAMPLE events: +(\d+)', stats.out)
        recorded = int(found.group(1)) if found else 0
        if re.search(r'sample_type: [^,]*\bREAD\b', pace('evlist', '-v', '-i', path).out):
            # Those that a leader reads are samples too: they stand with their events.
            recorded = sum(map(int, re.findall(r'SAMPLE events: +(\d+)', stats.out)[1:]))
            n_of_groups += 1
        ways = [['-g', 'none'], ['--no-children', '-s', 'dso', '--percent-limit', '3'], ['--symbol-filter', 'a', '--no-children', '-g', 'none'],
                ['-d', 'libc.so.6', '--percentage', 'relative', '-g', 'none'], ['--socket-filter', '0', '-g', 'none']]
        for way in ways:
            result = pace('report', '--json', '-i', path, *way)
            if not result.out:
                continue
            answer = json.loads(result.out)
            ledger = answer['ledger']
            assert ledger['recorded'] == recorded, (path, way, ledger, recorded)
            parts = sum(ledger[part] for part in ('shown', 'below_limit', 'filtered'))
            read = recorded - ledger['unread'] - ledger['foreign']
            # Of recordings of branches it is these that are counted.
            assert parts == ledger.get('branches', read), (path, way, ledger)
            assert bool(ledger.get('branches')) <= bool(read), (path, way, ledger)
            in_rows = sum(row['samples'] for event in answer['events'] for row in event['rows'])
            assert ledger['shown'] == in_rows, (path, way, ledger, in_rows)
            n_read += 1
            # --strict says what was lost, and nothing else changes.
            strict = pace('report', '--json', '--strict', '-i', path, *way) if way == ways[0] else None
            if strict:
                assert strict.out == result.out, path
                lost = ledger['unread'] + ledger['foreign'] + ledger['dropped']
                assert strict.status == 3 if lost else strict.status in (0, 1, 3), (path, strict)
                assert ('--strict' in strict.err) == (strict.status == 3), (path, strict)
                n_lossy += strict.status == 3
    assert n_read > 100 and n_lossy > 3 and n_of_groups >= 2, (n_read, n_lossy, n_of_groups)


def rows_of(result, keys):
    """For each event the rows as printed, names cut to what perf's columns always show."""
    blocks = []
    for _, rows in perftext.parse(result.out):
        found = []
        for row in rows:
            cells = row.cells[1:]
            if keys[0] == 'comm':
                cells[1] = cells[1][:3]
            if '[unknown]' in cells:
                cells[-1] = re.sub(r'^\[.\] 0*$', '[.] 0x0000000000000000', cells[-1])
            found.append(tuple(cells))
        blocks.append(sorted(found))
    return blocks


def compare(keys):
    perf_works()
    compared = 0
    for path in comparable('sym' not in keys):
        if BRANCHES.search(path):
            continue
        words = ['report', '-i', path, '-n', '-g', 'none', '--no-children', '-s', ','.join(keys)]
        ours = pace(*words, '--no-unnamed-functions')
        # Of kernels that the recording does not name perf says what is at those addresses in the one that runs here.
        no_names = ['--kallsyms=/dev/null'] if re.search('does not say which kernel it was|was recorded on Linux', ours.out) else []
        theirs = run('perf', *words[:1], '--stdio', '-f', *words[1:], *no_names)
        if not perftext.parse(theirs.out):
            continue
        if rows_of(ours, keys) != rows_of(theirs, keys) and 'sym' in keys:
            others = elsewhere(path)
            rows = [[[row for row in event if row[2] not in others] for event in rows_of(page, keys)] for page in (ours, theirs)]
            assert others and rows[0] == rows[1], (path, others, rows)
            compared += 1
            continue
        assert rows_of(ours, keys) == rows_of(theirs, keys), (path, rows_of(ours, keys), rows_of(theirs, keys))
        compared += 1
    assert compared > 40, compared


@test
def functions_are_those_of_perf():
    compare(['comm', 'dso', 'sym'])


@test
def groups_that_a_leader_reads_are_those_of_the_perf_that_recorded_them():
    """Each value is a sample of its event: the tables beside the recordings, of perf 7.2 and of perf 6.1 on s390x."""
    for name in 'perf72-group-read', 'be-group':
        path = needs_shared(f'fixtures/own/{name}.data')
        result = pace('report', '-i', path, '--no-unnamed-functions')
        (samples, ours), = perftext.parse(result.out)
        (their_samples, theirs), = perftext.parse(open(f'{path}.report').read())
        assert samples.split() == their_samples.split(), (samples, their_samples)
        # Names are those of files that only the recording machine had.
        figures = [[row.cells[:-1] for row in rows] for rows in (ours, theirs)]
        assert figures[0] == figures[1] and len(ours) > 5, figures
        assert re.search(r'(?m)^Event count|^# Event count \(approx\.\): (\d+)', result.out).group(1) in open(f'{path}.report').read()
        # Everywhere else too: of each event as many samples as lines of script, and the same sum.
        lines = [line.split() for line in pace('script', '-F', 'event,period', '-i', path).out.splitlines()]
        sums = {event['event']: (event['samples'], event['period']) for event in json.loads(pace('report', '--json', '-i', path).out)['events']}
        of_script = {}
        for period, event in lines:
            n, all = of_script.get(event.rstrip(':'), (0, 0))
            of_script[event.rstrip(':')] = (n + 1, all + int(period))
        assert {event: value for event, value in sums.items() if value[0]} == of_script and len(of_script) == 3, (sums, of_script)


@test
def threads_are_those_of_perf():
    compare(['pid'])


@test
def processors_are_those_of_perf():
    compare(['cpu'])


@test
def headers_are_those_of_perf():
    """The sections both know, line by line; perf before 6.1 had no words for some."""
    perf_works()
    compared = 0
    for path in recordings():
        if 'corpus' in path:
            continue
        ours, theirs = pace('report', '-i', path, '--header-only', '-I'), run('perf', 'report', '-f', '-i', path, '--header-only', '-I')
        # of a recording that was never finished perf prints its empty memory: hostname (null)
        if ours.status or theirs.status or not theirs.out or '(null)' in theirs.out:
            continue
        known = re.compile(r'^# (hostname|os release|perf version|arch|nrcpus|cpudesc|cpuid|total memory|cmdline|sibling|CPU \d|node\d|'
                           r'time of|sample duration|data (offset|size)|feat offset)')
        # perf gives up on some lists of cores that are there
        if 'Core ID and Socket ID information is not available' in theirs.out:
            ours.out = re.sub(r'# CPU \d+: .*\n', '', ours.out)
        lines = [[line.rstrip() for line in out.split('\n') if known.match(line)] for out in (ours.out, theirs.out)]
        assert lines[0] == lines[1], (path, [pair for pair in zip(*lines) if pair[0] != pair[1]])
        compared += bool(lines[0])
    assert compared > 40, compared


@test
def attributes_are_those_of_perf():
    perf_works()
    compared = 0
    for path in recordings():
        ours, theirs = pace('evlist', '-v', '-i', path), run('perf', 'evlist', '-v', '-f', '-i', path)
        # in pipe mode perf 6.1 prints what lies behind an attr that is shorter than its own
        if ours.status or theirs.status or 'corpus' in path or 'piped' in path:
            continue
        # the names that perf makes up for events without one follow other rules; what they are is the same
        def fields(out):
            return [line[re.search(r': (type|size): ', line).start():] for line in out.strip().split('\n') if re.search(r': (type|size): ', line)]
        assert fields(ours.out) == fields(theirs.out), (path, ours.out, theirs.out)
        compared += 1
    assert compared > 40, compared


# Where perf's script differs, and why pace is not made to agree.
SCRIPTS_DIFFER = {
    'perf_with_add_counter': 'perf says that a counted event overflowed before the first sample, pace that it was read at it',
    'intel_pt-4.14': 'perf decodes the instruction trace into samples of its own',
    'contentsize.data': 'of a stack whose file is not here perf does not even show where it was sampled',
    'vector_static_gcc': 'the same',
    'cqf_implementation': 'the same',
    'true.v2': 'the same',
    'cpp-recursion': 'the same',
    'apk_perf': 'the same',
    'lbr': 'perf makes call chains of branch records, pace does not yet',
}


def script_text(text):
    """What is left when everything is taken away that is another matter: names of functions of kernels that are not this one
    (perf takes this one's), where the kernel's file was, and perf's remark that host and guest are measured, as always."""
    lines = []
    for line in text.split('\n'):
        line = re.sub(r':HG:( |$)', r':\1', line.rstrip()).rstrip()
        line = re.sub(r'\(/\S*/([\w-]+)\.ko(\.\w+)?\)$', lambda m: '([' + m.group(1).replace('-', '_') + '])', line)
        line = re.sub(r'\(\S*vmlinux\S*\)$', '([kernel.kallsyms])', line)
        line = re.sub(r'(\s[0-9a-f]+) [^\s(]+\+0x[0-9a-f]+ (\(\[)', r'\1 [unknown] \2', line)
        lines.append(line)
    return lines


def is_named_here_only(theirs, ours):
    """In recordings without times, records of who ran what may stand behind the samples of another CPU: pace looks ahead, and knows the
    program's name and file where perf has a number, and nothing of the address."""
    theirs, ours = re.sub(r'\[unknown\] \(\[unknown\]\)$', '', theirs).split(), ours.split()
    return len(theirs) > 1 and theirs[0] == f':{theirs[1]}' and ours[1:len(theirs)] == theirs[1:]


@test
def scripts_are_those_of_perf():
    perf_works()
    compared = 0
    for path in recordings():
        if 'corpus' in path or NAMED.search(path) or any(part in path for part in SCRIPTS_DIFFER):
            continue
        theirs = run('perf', 'script', '--no-inline', '-f', '-i', path)
        if not theirs.out:
            continue
        ours = pace('script', '--no-inline', '--no-unnamed-functions', '-i', path)
        a, b = script_text(theirs.out), script_text(ours.out)
        assert len(a) == len(b), (path, len(a), len(b), ours.err)
        differ = [pair for pair in zip(a, b) if pair[0] != pair[1]]
        others = elsewhere(path) if differ else ()
        differ = [pair for pair in differ if not is_named_here_only(*pair)]
        differ = [pair for pair in differ if not any(pair[0].endswith(f'{dso})') for dso in others)]
        assert not differ, (path, len(differ), differ[:3])
        compared += 1
    assert compared > 50, compared


# What may differ where pace stands in perf's place, and in which recordings; all others are the same, byte by byte.
STACKS = 'of a stack whose file is not here perf shows nothing or guesses, pace shows where the sample was taken'
CARRIED = 'simpleperf wrote the names into the recording; perf does not read them'
IN_PERFS_PLACE = {
    'contentsize.data': STACKS, 'vector_static_gcc__perf.data': STACKS, 'cqf_implementation': STACKS, 'true.v2': STACKS,
    'cpp-recursion': STACKS, 'apk_perf': STACKS,
    'perf_with_symbols': CARRIED, 'generic_git_symbols': CARRIED, 'add_counter': CARRIED,
    'gcc__perf.lbr': 'where no branches were recorded perf shows the sampled address as the only caller, pace those that the kernel found',
    'perf.data.e4288b23': 'no times: perf does not know yet who ran, pace has looked ahead',
    'intel_pt-4.14': 'perf decodes the instruction trace into samples of its own',
    'header_features_aligned-6.12': 'from a pipe perf takes the file of this machine for that of the recording',
}


def without_names_of_this_machine(text):
    """Without names of functions of a kernel and vdso: if a recording has none, perf takes those of the machine that it runs on."""
    return re.sub(r'(?m)(\s[0-9a-f]+) [^\s(]+(?:\+0x[0-9a-f]+)? (\(\[(?:kernel|guest|vdso))', r'\1 [unknown] \2', text)


def is_named_or_same(theirs, ours):
    """The same line, or one of an address for which pace has a name; of the same place."""
    unknown = r'(?<=[0-9a-f]) (\[unknown\]|\S+) (?=\(/)'
    return re.sub(unknown, '', theirs) == re.sub(unknown, '', ours) and (theirs == ours or '[unknown]' in theirs)


def compare_in_perfs_place(path, words):
    """None: perf cannot read it; else whether the texts are the same before anything is taken away."""
    theirs = run('perf', 'script', '-f', '-i', path, *words).out
    if not theirs:
        return None
    ours = pace('--as-perf', 'script', '-f', '-i', path, *words).out
    reason = next((why for part, why in IN_PERFS_PLACE.items() if part in path), None)
    a, b = without_names_of_this_machine(theirs), without_names_of_this_machine(ours)
    assert a == b or reason, (path, words, [pair for pair in zip(a.split('\n'), b.split('\n')) if pair[0] != pair[1]][:3])
    assert a != b or words or not reason, (path, 'is the same by now')
    if reason == CARRIED:
        pairs = list(zip(a.split('\n'), b.split('\n')))
        assert a.count('\n') == b.count('\n') and all(is_named_or_same(*pair) for pair in pairs), (path, words, [p for p in pairs if not is_named_or_same(*p)][:3])
    elif reason == STACKS:
        # Each sample's own line is there in both.
        heads = [re.findall(r'(?m)^\S.*: $', text) for text in (a, b)]
        assert heads[0] == heads[1] and heads[0], (path, words)
    return theirs == ours


@test
def scripts_in_perfs_place_are_its_bytes():
    perf_works()
    for words, least in (([], 50), (['-F', 'comm,tid,time,event,ip,sym,dso'], 50)):
        compared = [compare_in_perfs_place(path, words) for path in recordings() if 'corpus' not in path]
        n_same, n_read = compared.count(True), len(compared) - compared.count(None)
        assert n_read > 80 and n_same > least, (words, n_read, n_same)


@test
def scripts_of_other_machines_are_what_perf_printed_there():
    """Recordings of big-endian machines and of perf 7.2, with its text: only the widths of its columns and the names of functions
    that this machine does not have are not compared."""
    root = needs_shared('fixtures/own')
    compared = 0
    for expected in sorted(glob.glob(f'{root}/*.script')):
        name = os.path.basename(expected)
        # The stacks that it copied are of a program that is not here.
        if 'dwarf' in name:
            continue

        def words(text):
            text = re.sub(r' [^\s(]+\+0x[0-9a-f]+ \(', ' [unknown] (', text)
            # a thread that has ended has no name to perf
            return [re.sub(r'^(:\d+|\S+) (?=\d)', '', ' '.join(line.split())) for line in text.split('\n')]
        # perf 7.2 writes where callers were in memory.
        ours = pace('script', '--no-inline', '--no-unnamed-functions', '--frames', 'memory' if 'perf72' in name else 'pace',
                    '-i', expected[:-len('.script')])
        assert ours.status == 0, (name, ours.err)
        a, b = words(open(expected).read()), words(ours.out)
        differ = [pair for pair in zip(a, b) if pair[0] != pair[1]]
        assert len(a) == len(b) and not differ, (name, len(a), len(b), differ[:3])
        compared += 1
    assert compared >= 9, compared

def killed(path, share):
    """
    What a recorder leaves that is killed when it has told its header of what was there before, and of that share of what came then:
    (bytes, how many were told, all).
    """
    data = open(path, 'rb').read()
    order = '>' if data.startswith(b'2ELIFREP') else '<'
    begin, size = struct.unpack_from(order + 'QQ', data, 40)
    starts, at, n_before = [], begin, 0
    while at < begin + size:
        kind, _, length = struct.unpack_from(order + 'IHH', data, at)
        starts.append(at)
        at += length
        n_before = len(starts) if kind >= 64 and kind not in (68, 81, 83) else n_before
    n_told = n_before + int((len(starts) - n_before) * share)
    head = data[:40] + struct.pack(order + 'QQ', begin, starts[n_told] - begin) + data[56:72] + bytes(32) + data[104:begin]
    return head + data[begin:begin + size], n_told, len(starts)


def events(path):
    """How many records there are of which kind, and what is said."""
    result = pace('report', '--stats', '-i', path)
    assert not result.status, result
    return re.findall(r'(\S+) events: +(\d+)', result.out), result.err


@test
def records_behind_the_end_that_the_header_says_are_read_in_any_byte_order_and_in_directories():
    for name in 'be-clock', 'be-group', 'be-sched', 'be-z', 'perf72-addr':
        path = needs_shared(f'fixtures/own/{name}.data')
        whole, _ = events(path)
        assert int(dict(reversed(whole))['SAMPLE']) > 10, (name, whole)
        for share in 0.99, 0.5, 0.1:
            cut, n_told, n = killed(path, share)
            for place in f'{name}.cut', f'{name}.dir/data':
                os.makedirs(os.path.dirname(place) or '.', exist_ok=True)
                with open(place, 'wb') as f:
                    f.write(cut)
                found, said = events(place.removesuffix('/data'))
                assert found == whole, (name, share, found, whole)
                assert f'not finished by its recorder: {n - n_told} records behind the end' in said, (name, share, said)
        # What stands behind them is none of theirs.
        with open(f'{name}.cut', 'ab') as f:
            f.write(b'something else, of any length')
        assert events(f'{name}.cut')[0] == whole


SIMPLEPERF = 'fixtures/GrapheneOS__platform_system_extras/simpleperf__testdata__'


@test
def functions_that_simpleperf_wrote_down_have_their_names():
    """Its sections FILE and FILE2, for programs, libraries, the kernel and what lies in the map of its last module."""
    for name, shares in {'perf_with_symbols.data': {'t2': {'main': 61.17, 'func2': 38.50}},
                         'perf_with_symbols_for_nonzero_minvaddr_dso.data': {'libc.so': {'memcpy': 99.69}},
                         'perf_with_trace_offcpu.data.6d0c5e0a': {'simpleperf_runtest_run_and_sleep64': {'RunFunction': 99.34},
                                                                  '[htc_battery]': {'_raw_spin_unlock_irqrestore': 0.14}}}.items():
        path = needs_shared(SIMPLEPERF + name)
        for words in ([], ['--symfs', '/nonexistent'], ['-s', 'dso,sym,srcline']):
            page = pace('report', '--no-children', '-g', 'none', '-s', 'dso,sym', '--json', '-i', path, *words)
            assert page.status == 0, (path, page)
            rows = json.loads(page.out)['events'][0]['rows']
            for dso, symbols in shares.items():
                for symbol, share in symbols.items():
                    found = [row['share'] for row in rows if row['dso'] == dso and row['symbol'] == symbol]
                    assert abs(sum(found) - share) < 0.01, (path, words, symbol, found)


@test
def events_have_the_names_that_formats_of_tracepoints_and_simpleperf_tell():
    for name, events in {'perf_with_trace_offcpu.data.6d0c5e0a': 'cycles\nsched:sched_switch\n',
                         'perf_with_tracepoint_event_dynamic_field.data': 'kprobes:myopen\n'}.items():
        assert pace('evlist', '-i', needs_shared(SIMPLEPERF + name)).out == events, name
    lines = pace('script', '-i', needs_shared(SIMPLEPERF + 'perf_with_tracepoint_event_dynamic_field.data')).out
    assert lines.count('name="perf.data" dfd=-100') and 'kprobes:myopen' in lines, lines


@test
def recordings_without_samples_say_what_they_hold():
    counted = pace('stat', 'record', '-o', 'counted.data', 'true')
    assert counted.status == 0, counted
    traced = needs_shared(SIMPLEPERF + 'etm__perf.data')
    for path, said in (('counted.data', "holds counts and no samples: 'pace stat report -i counted.data' shows them"),
                       (traced, 'holds an instruction trace and no samples, which pace does not decode'),
                       (needs_shared('fixtures/google__perf_data_converter/src__quipper__testdata__perf.data.intel_pt-4.14'),
                        'holds an instruction trace besides its samples')):
        for words in (['report', '-i', path], ['script', '-i', path], ['diff', path, path], ['annotate', '-i', path], ['readperf', path, '-o', 't']):
            if words == ['script', '-i', 'counted.data']: # it prints them
                continue
            assert said in pace(*words).err, (path, words)
    counts = pace('script', '-i', 'counted.data')
    assert counts.status == 0 and 'task-clock' in counts.out and not counts.err, counts
    made = os.path.join(TOP, 'tests/golden/data/wordcount.data')
    assert 'holds' not in pace('report', '-i', made).err


@test
def headers_of_unfinished_recordings_invent_nothing():
    page = pace('report', '--header-only', '-i', needs_shared('fixtures/Osmanyasal__Recursion-Engine/perf.data')).out
    assert '# never written, because the recorder did not finish the file: BUILD_ID HOSTNAME OSRELEASE' in page, page
    for invented in ('# hostname', '# nrcpus', '# total memory', '# sample duration', 'hybrid'):
        assert invented not in page, page


@test
def bpf_programs_have_their_names_in_the_header():
    perf_works()
    compared = 0
    for name in ('profiling__perf.data', 'profiling__ver2__perf.data'):
        path = needs_shared('fixtures/endygamedev__network-traffic/' + name)
        ours, theirs = (re.findall('^# bpf_prog_info .*$', run(program, 'report', '--header-only', '-i', path).out, re.M) for program in (PACE, 'perf'))
        assert ours == theirs, (path, ours, theirs)
        compared += len(ours)
    assert compared > 10, compared


main()
