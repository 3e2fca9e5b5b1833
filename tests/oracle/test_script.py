#!/usr/bin/env python3
"""Fields of `pace script -F` compared with the installed perf's, on recordings that have them: memory accesses, branches, code, times
of day, control groups."""
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402
from handmade import ADDR, BRANCH_STACK, DATA_SRC, IP, PERIOD, TEXT, TID, TIME  # noqa: E402

SOURCE = '''int x;
__attribute__((noinline)) int inner(int a) {
	if (a & 1)
		x += a;
	else
		x -= a;
	return x;
}
__attribute__((noinline)) int outer(int a) {
	int s = 0;
	for (int i = 0; i < a; i++)
		s += inner(i);
	return s;
}
int main(int c, char **v) { return outer(c * 1000); }
'''


def both(path, fields, *more):
    """The lines of perf and of pace."""
    theirs = run('perf', 'script', '-f', '--no-inline', '-i', path, '-F', fields, *more)
    ours = pace('script', '--no-inline', '--no-unnamed-functions', '-i', path, '-F', fields, *more)
    assert not theirs.status and not ours.status and ours.out, (fields, theirs, ours)
    return theirs.out.splitlines(), ours.out.splitlines()


def check_same(path, *field_sets):
    for fields in field_sets:
        theirs, ours = both(path, fields)
        assert theirs == ours, (fields, next(pair for pair in zip(theirs + [''], ours + ['']) if pair[0] != pair[1]))


def write_accesses(path):
    """Every bit of each part of an access, and some pairs. perf cuts texts of more than 99 letters, and 6.1 has other names for levels of
    the numbers 5 to 8."""
    of = handmade.data_src
    remote = sum(1 << bit for bit in range(8, 12))
    words = [of(op=op) for op in range(32)] + [of(op=2, level=level) for level in range(1 << 14)
                                               if bin(level).count('1') <= 2 and bin(level & remote).count('1') < 2]
    words += [of(op=2, snoop=snoop, more=more) for snoop in range(32) for more in range(4) if bin(snoop).count('1') <= 3]
    words += [of(lock=lock) for lock in range(4)] + [of(tlb=tlb) for tlb in range(128) if bin(tlb).count('1') <= 3]
    words += [of(number=n, remote=remote, level=level) for n in (*range(5), *range(9, 16)) for remote in (0, 1) for level in (0, 1, 2, 4, 10)]
    handmade.write(path, IP | TID | TIME | ADDR | DATA_SRC, [{'ip': TEXT + i, 'addr': 0x600000 + i, 'data_src': word} for i, word in enumerate(words)])
    return len(words)


@test
def cpus_that_were_not_recorded_cannot_be_chosen():
    perf_works()
    handmade.write('nowhere.data', IP | TID | TIME, [{'ip': TEXT}])
    ours, theirs = (run(*tool, 'script', '-i', 'nowhere.data', '-C', '1') for tool in ((PACE,), ('perf',)))
    assert ours.status and theirs.status and not ours.out + theirs.out and '-C: the recording does not say on which CPU' in ours.err, (ours, theirs)


@test
def fields_are_taken_out_of_call_chains_too():
    perf_works()
    can_record()
    assert run('perf', 'record', '-q', '-g', '-e', 'cpu-clock:u', '-o', 'chains.data', 'sh', '-c', 'ls / | sort').status == 0
    for more in (['-F', '-dso'], ['-F', '-symoff'], ['-F', '-ip'], ['-F', 'comm,ip', '-F', '+sym']):
        # The call at the end of the dynamic linker's _start does not return, and what follows it is another function.
        theirs, ours = ([re.sub(r'_dl_start_user(\+0x0)?', lambda m: '_start' + ('+0x8' if m[1] else ''), line.split('[')[0].rstrip()) for line in run(*tool, 'script', '--no-inline', '-i', 'chains.data', *more).out.splitlines()]
                        for tool in (('perf',), (PACE, '--as-perf')))
        assert theirs == ours and len(ours) > 1, (more, next(pair for pair in zip(theirs + [''], ours + ['']) if pair[0] != pair[1]))


@test
def memory_accesses_are_said_in_perfs_words():
    perf_works()
    needs_layout_of_perf('fields of samples')
    n = write_accesses('accesses.data')
    theirs, ours = both('accesses.data', 'ip,data_src')
    assert theirs == ours and len(ours) == n, next(pair for pair in zip(theirs, ours) if pair[0] != pair[1])


@test
def costs_and_addresses_of_accesses_are_perfs():
    perf_works()
    needs_layout_of_perf('fields of samples')
    handmade.write_memory('m.data')
    check_same('m.data', 'ip,weight,ins_lat', 'addr,data_src,weight,ins_lat,ip', 'ip,data_src,phys_addr,data_page_size,code_page_size',
               'comm,pid,tid,cpu,misc,time,ip,sym,dso', 'flags,ip', 'ip,ipc', 'machine_pid,ip')
    # What perf 6.1 has not: of x86 the third part of the weight.
    assert {line.split()[0] for line in pace('script', '-i', 'm.data', '-F', 'retire_lat,ip').out.splitlines()} == {'1', '2'}
    samples = [json.loads(line) for line in pace('script', '-i', 'm.data', '--json').out.splitlines()]
    columns = [line.split() for line in pace('script', '-i', 'm.data', '-F', 'weight,ins_lat,retire_lat').out.splitlines()]
    assert [[str(s['weight']), str(s['ins_lat']), str(s['retire_lat'])] for s in samples] == columns
    assert samples[0]['access'] == '|OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK N/A|BLK  N/A' and int(samples[0]['data_src'], 16), samples[0]


@test
def raw_events_show_where_the_data_was_by_default():
    perf_works()
    needs_layout_of_perf('fields of samples')
    handmade.write_memory('m.data')
    with open('m.data', 'r+b') as file:
        # The attr's type.
        file.seek(handmade.HEADER)
        file.write(b'\4')
    theirs, ours = (run(*tool, 'script', '-i', 'm.data').out.splitlines() for tool in (('perf',), (PACE,)))
    # perf 6.1 calls the event raw 0x0:HG.
    cut = re.compile(r'^.* (cycles|raw 0x0)\S*: ')
    assert [cut.sub('', line) for line in theirs] == [cut.sub('', line) for line in ours] and '|OP LOAD|LVL L1 hit|' in ours[0], (theirs[0], ours[0])


@test
def records_beside_samples_have_perfs_text():
    perf_works()
    can_record()
    done = run('perf', 'record', '-q', '-a', '-e', 'cpu-clock', '-F', '99', '--switch-events', '--namespaces', '--all-cgroups', '-o', 'r.data', '--',
               'sh', '-c', 'ls / | sort; true')
    if done.status:
        skip('perf cannot record everything of this machine: ' + done.err[-200:])
    shows = [f'--show-{kind}-events' for kind in ('task', 'mmap', 'switch', 'namespace', 'cgroup', 'bpf', 'lost')]
    for more in ([], ['-F', '+misc'], ['-L'], ['-F', 'pid,tid'], ['-C', '0']):
        theirs, ours = (run(*tool, 'script', '-i', 'r.data', *shows, *more).out.splitlines() for tool in (('perf',), (PACE,)))
        # Tasks that were there before: perf calls all of them by their parents' names until their own one comes.
        pairs = [pair for pair in zip(theirs, ours) if 'PERF_RECORD' in pair[0] or pair[0].startswith('\t\t')]
        differing = [pair for pair in pairs if pair[0] != pair[1] and 'NAMESPACES' not in pair[0]]
        assert len(theirs) == len(ours) and len(pairs) > 50 and not differing, (more, differing[:2])
        kinds = {line.split('PERF_RECORD_')[1].split()[0].split('(')[0].rstrip(':') for line in ours if 'PERF_RECORD_' in line}
        # What ends may all end on another CPU.
        assert {'COMM', 'FORK', 'MMAP2'} <= kinds if more == ['-C', '0'] else {'COMM', 'FORK', 'EXIT', 'MMAP2', 'SWITCH_CPU_WIDE', 'NAMESPACES', 'CGROUP'} <= kinds, kinds


def recorded(path, *words):
    can_record()
    done = run('perf', 'record', '-q', '-o', path, *words)
    if done.status:
        skip('perf cannot record this here: ' + done.err[-200:])


def outputs(path, *words):
    """The lines of both; names of code that no symbol table names are perf's."""
    results = run('perf', 'script', '-f', '-i', path, *words), pace('script', '--no-unnamed-functions', '-i', path, *words)
    assert not any(result.status for result in results), (words, results[0].err[-300:], results[1].err[-300:])
    return [[re.sub(r'\S*@plt(\+0x\w+)?', '@plt', line) for line in result.out.splitlines()] for result in results]


@test
def samples_are_chosen_as_perf_chooses():
    perf_works()
    recorded('c.data', '-a', '-e', 'cpu-clock', '-e', 'sched:sched_switch', '-e', 'raw_syscalls:sys_enter', '--', 'ls', '-R', '/usr/share/doc/perl')
    with open('names', 'w', encoding='utf-8') as file:
        file.write('nobody\nls\n')
    events = ('--switch-on', 'sched:sched_switch', '--switch-off', 'raw_syscalls:sys_enter')
    for words in (['-c', 'ls'], ['-c', 'file://names'], ['-S', '__schedule'], ['-S', '__schedule,nothing'], ['--dsos', '[kernel.kallsyms]'], ['--dsos', 'libc.so.6'],
                  events, [*events, '--show-on-off-events'], ['--switch-on', 'sched:sched_switch'], ['--no-itrace'], ['--itrace'], ['-f', '-G'], ['-L'], ['--ns'],
                  ['--reltime'], ['-F', 'trace:time,cpu,trace'], ['-F', '+misc,-comm'], ['-F', '+synth']):
        theirs, ours = outputs('c.data', *words)
        assert theirs == ours and (theirs or 'libc.so.6' in words), (words, len(theirs), len(ours), next((p for p in zip(theirs, ours) if p[0] != p[1]), None))
    everything, chosen = outputs('c.data')[1], outputs('c.data', '-c', 'ls')[1]
    assert 0 < len(chosen) < len(everything)
    wrong = pace('script', '-i', 'c.data', '--switch-on', 'nothing')
    assert wrong.status == 2 and "has no event 'nothing'" in wrong.err, wrong


@test
def chains_end_where_they_are_told_to():
    perf_works()
    recorded('g.data', '-g', '-e', 'cpu-clock', '--', 'ls', '-R', '/usr/share/doc/perl')
    theirs, ours = outputs('g.data', '--no-inline', '--stop-bt', 'do_syscall_64', '-F', 'ip,sym')
    names = [[line.split()[1] for line in lines if line.startswith('\t') or line.startswith(' ')] for lines in (theirs, ours)]
    assert len(names[0]) == len(names[1]) and 'do_syscall_64' in names[1], (len(names[0]), len(names[1]))
    assert 'entry_SYSCALL_64_after_hwframe' not in names[1] and 'entry_SYSCALL_64_after_hwframe' in pace('script', '-i', 'g.data').out


@test
def events_have_files_of_their_own():
    perf_works()
    recorded('e.data', '-e', 'cpu-clock', '-e', 'task-clock', '--', 'ls', '-R', '/usr/share/doc/perl')
    written = []
    for tool in (['perf', 'script'], [PACE, 'script', '--no-unnamed-functions']):
        done = run(*tool, '-i', 'e.data', '-F', 'ip,event', '--per-event-dump')
        assert not done.status, done
        written.append([open(f'e.data.{event}.dump', encoding='utf-8').read() for event in ('cpu-clock', 'task-clock')])
        counts = re.findall(r'^\[ \w+ script: Wrote \d+\.\d{3} MB (\S+) \((\d+) samples\) \]$', done.out, re.M)
        assert [(name, str(text.count('\n'))) for name, text in zip(('e.data.cpu-clock.dump', 'e.data.task-clock.dump'), written[-1])] == counts, (counts, done)
    assert written[0] == written[1] and all(written[0])


@test
def places_of_page_faults_have_names():
    perf_works()
    recorded('f.data', '-d', '-e', 'page-faults', '-c', '1', '--', 'ls')
    for fields in ('addr,sym,dso', '+addr', '+addr,-symoff'):
        theirs, ours = outputs('f.data', '-F', fields)
        # Tables of perf's have symbols of sections, too.
        differing = [pair for pair in zip(theirs, ours) if pair[0] != pair[1] and '_DYNAMIC' not in pair[0]]
        assert len(theirs) == len(ours) > 20 and not differing, (fields, differing[:1])
        assert any(re.search(r'[0-9a-f]{9,} [A-Za-z_]\w+', line) for line in ours), ours[:3]


@test
def lines_of_source_follow_samples():
    perf_works()
    with open('lines.c', 'w', encoding='utf-8') as file:
        file.write('volatile long n;\nint main(void)\n{\n\tfor (long i = 0; i < 300000000; i++)\n\t\tn += i;\n}\n')
    recorded('l.data', '-e', 'cpu-clock:u', '--', build_c(os.path.abspath('lines.c'), 'lines', '-g', '-O0'))
    ours = pace('script', '-i', 'l.data', '-F', 'ip,sym,srccode', '--dsos', 'lines').out.splitlines()
    theirs = run('perf', 'script', '-i', 'l.data', '-F', 'ip,sym,srccode', '--dsos', 'lines').out.splitlines()
    assert ours == theirs and '|5        \t\tn += i;' in ours, next((p for p in zip(theirs, ours) if p[0] != p[1]), ours[:4])
    assert re.search(r'main \(\S+/lines\+0x[0-9a-f]+\)', pace('script', '-i', 'l.data', '-F', 'ip,sym,dsoff', '--dsos', 'lines').out)


@test
def what_is_not_to_be_had_is_refused_with_a_reason():
    handmade.write_memory('m.data')
    for words, why in ((['-F', 'metric'], 'stat -I'), (['--dlfilter', 'x.so'], 'cannot be loaded'), (['--graph-function', 'f'], 'instruction traces'), (['--xed'], '-F +insn')):
        result = pace('script', '-i', 'm.data', *words)
        assert result.status in (1, 2) and why in result.err and 'there is no option' not in result.err and not result.out, result
    for words in (['-F', 'synth,callindent,ip'], ['-F', 'synth:ip'], ['--insn-trace'], ['--call-trace'], ['--demangle-kernel'], ['--guest-code']):
        result = pace('script', '-i', 'm.data', *words)
        assert not result.status and result.out, (words, result)
    traced = glob.glob(os.path.join(SHARED, 'fixtures', '*', '*intel_pt*'))
    if traced:
        result = pace('script', '-i', traced[0], '--itrace=i100')
        assert result.status == 1 and '--itrace: instruction traces' in result.err, result


def program():
    """Its path, where it is mapped, and the instructions of its functions: name -> [(address, text)]."""
    needs('objdump', 'readelf')
    with open('made.c', 'w', encoding='utf-8') as file:
        file.write(SOURCE)
    path = build_c(os.path.abspath('made.c'), 'made', '-no-pie', '-fomit-frame-pointer')
    code, name = {}, None
    for line in run('objdump', '-d', '--no-show-raw-insn', path).out.splitlines():
        if title := re.match(r'[0-9a-f]+ <(\w+)>:', line):
            name = title.group(1)
        elif (instruction := re.match(r' +([0-9a-f]+):\t(.*)', line)) and name:
            code.setdefault(name, []).append((int(instruction.group(1), 16), instruction.group(2).strip()))
    offset, address, size = (int(text, 16) for text in
                             re.search(r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E', run('readelf', '-lW', path).out).groups())
    return (path, address, size + 0xfff & ~0xfff, offset), code


def write_branches(path):
    """Into inner and back: with all flags, with a branch out of what is known, backwards, and with none."""
    mapped, code = program()
    inner, outer = code['inner'], code['outer']
    call = next(address for address, text in outer if text.startswith('call'))
    behind = next(address for address, _ in outer if address > call)
    back = next(address for address, text in inner if text.startswith('ret'))
    jump, target = next((address, int(text.split()[1], 16)) for address, text in reversed(outer) if re.match(r'j\w+ ', text))

    def flags(is_missed, n, in_tx=0, abort=0):
        return (1 if is_missed else 2) | in_tx << 2 | abort << 3 | n << 4

    into = (call, inner[0][0], flags(0, 3))
    kernel = 0xffffffff81000000
    stacks = [[into, (jump, target, flags(1, 7)), (back, behind, flags(0, 2)), (call, inner[0][0], flags(0, 5, 1))], [into],
              [], [into, (kernel, behind, flags(0, 2)), (call, kernel, flags(0, 2)), (back, behind, flags(0, 4, 1, 1))],
              [into, (back, behind, 0), into, (0, 0, 0), (0, 0, 0)]]
    handmade.write(path, IP | TID | TIME | PERIOD | BRANCH_STACK,
                   [{'ip': inner[i % 3][0], 'branches': stack} for i, stack in enumerate(stacks)], branch_type=1 << 3, program=mapped)
    return code


@test
def branch_stacks_have_perfs_names_and_offsets():
    perf_works()
    needs_layout_of_perf('fields of samples')
    write_branches('b.data')
    check_same('b.data', 'ip,brstack', 'ip,brstacksym', 'ip,sym,dso,brstacksym', 'comm,tid,brstackoff', 'dso,brstackoff', 'brstacksym,brstackoff')


@test
def code_between_branches_is_perfs():
    perf_works()
    needs_layout_of_perf('fields of samples')
    write_branches('b.data')
    for fields in ('ip,brstackinsn', 'ip,sym,brstackinsn', 'ip,brstackinsn,brstackinsnlen', 'ip,sym,symoff,dso,srcline,brstackinsn'):
        theirs, ours = both('b.data', fields)
        # Where perf leaves a gap.
        said = [line for line in ours if 'no code from' in line]
        assert theirs == [line for line in ours if line not in said], (fields, theirs, ours)
        assert said == ['\t... no code from ffffffff81000000 to ffffffff81000000 ...'], said
        assert sum('insn: ' in line for line in ours) > 30 and any(line.endswith(' IPC') for line in ours), ours


@test
def branches_have_lines_and_are_in_json():
    write_branches('b.data')
    lined = pace('script', '-i', 'b.data', '-F', 'brstacksym,srcline').out.splitlines()
    assert lined[0].startswith(' ') or lined[0].startswith('outer+0x'), lined
    assert re.match(r'outer\+0x\w+\(made\.c:12\)/inner\+0x0\(made\.c:3\)/P/-/-/3/ ', lined[0]), lined[0]
    samples = [json.loads(line) for line in pace('script', '-i', 'b.data', '-F', '+srcline', '--json').out.splitlines()]
    text = [line.split() for line in pace('script', '-i', 'b.data', '-F', 'brstack').out.splitlines()]
    assert len(samples) == len(text) == 5
    for sample, entries in zip(samples, text):
        def flags(b):
            return '/'.join(('-' if 'mispredicted' not in b else 'M' if b['mispredicted'] else 'P', 'X' if b['in_transaction'] else '-',
                             'A' if b['abort'] else '-', str(b.get('cycles', 0))))
        assert [f"{b['from']['ip']}/{b['to']['ip']}/{flags(b)}/" for b in sample['branches']] == entries, (sample, entries)
    into = samples[0]['branches'][0]
    assert into['to']['function'] == 'inner' and into['to']['line'] == 3 and into['from']['line'] == 12, into


@test
def a_dump_shows_the_flags_and_cycles_of_branches():
    perf_works()
    write_branches('b.data')

    def entries(text):
        found = re.findall(r'^[ .]* (\d+): (\w{16}) -> (\w{16}) (\d+) cycles([MPATX ]*)', text, re.M)
        return [entry[:4] + (''.join(sorted(entry[4].replace('T', 'X').replace(' ', ''))),) for entry in found]

    theirs = entries(run('perf', 'script', '-f', '-i', 'b.data', '-D').out)
    ours = entries(pace('report', '-i', 'b.data', '-D').out)
    assert theirs == ours and len(ours) == 14 and ours[3][3:] == ('5', 'PX') and ours[1][3:] == ('7', 'M'), (theirs, ours)


@test
def instructions_are_those_that_perf_reads():
    perf_works()
    can_record()
    done = run('perf', 'record', '-q', '-e', 'cpu-clock:u', '-F', '20000', '-o', 'i.data', '--', 'ls', '-R', '/usr/bin')
    assert done.status == 0, done
    theirs, ours = both('i.data', 'ip,insn,insnlen')
    pairs = [pair for pair in zip(theirs, ours) if 'insn:' in pair[0]]
    assert len(theirs) == len(ours) and len(pairs) > len(ours) / 2 and all(a == b for a, b in pairs), (theirs, ours)


@test
def times_of_day_are_perfs():
    perf_works()
    can_record()
    for tool in ('perf', PACE):
        done = run(tool, 'record', '-q', '-k', 'CLOCK_MONOTONIC', '-e', 'cpu-clock', '-o', 't.data', '--', 'ls', '/usr/bin')
        assert done.status == 0, done
        check_same('t.data', 'tod,ip', 'comm,tod,time,ip')
        theirs, ours = both('t.data', 'tod,ip', '--ns')
        assert theirs == ours and re.match(r'20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9} ', ours[0]), ours[0]
    run('perf', 'record', '-q', '-e', 'cpu-clock', '-o', 'n.data', 'true')
    refused = pace('script', '-i', 'n.data', '-F', 'tod')
    assert refused.status == 2 and 'record with -k monotonic' in refused.err, refused


@test
def control_groups_have_their_names():
    can_record()
    needs_root()
    done = pace('record', '--all-cgroups', '-e', 'cpu-clock', '-o', 'c.data', 'ls', '/usr/bin')
    if done.status:
        skip('no control groups here: ' + done.err[:100])
    shown = {line.split()[0] for line in pace('script', '-i', 'c.data', '-F', 'cgroup,ip').out.splitlines()}
    known = {line.split()[1] for line in pace('report', '-i', 'c.data', '-s', 'cgroup', '--no-children').out.splitlines() if re.match(r' +\d', line)}
    assert shown and shown == known, (shown, known)


@test
def a_field_that_one_event_has_is_shown_of_that_event():
    can_record()
    done = pace('record', '-e', 'cpu-clock', '-e', 'task-clock/time=0/', '-F', '2000', '-o', 'two.data', 'sort', '--version')
    assert done.status == 0, done
    result = pace('script', '-i', 'two.data', '-F', 'comm,time,event')
    lines = result.out.splitlines()
    assert result.status == 0, result
    for event, has_time in (('cpu-clock', True), ('task-clock', False)):
        of_it = [line for line in lines if event in line]
        assert of_it and all(bool(re.search(r'\d+\.\d{6}: ', line)) == has_time for line in of_it), (event, of_it[:3])
    refused = pace('script', '-i', 'two.data', '-F', 'comm,phys_addr')
    assert refused.status == 2 and "no sample has a field 'phys_addr'" in refused.err, refused


main()
