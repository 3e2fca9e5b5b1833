#!/usr/bin/env python3
"""Every option of perf record that changes attrs or the contents of the file: pace and the installed perf get the same words, ask the
kernel for the same, and write records of the same kinds. For hardware that this machine does not have, the attrs that both try to open
(-vv) are compared."""
import concurrent.futures
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

ATTR_FIELDS = ['type', 'size', 'config', 'period', 'sample_type', 'read_format', 'flags', 'wakeup', 'bp_type', 'config1', 'config2',
               'branches', 'regs_user', 'stack_user', 'clockid', 'regs_intr', 'aux_watermark', 'max_stack', 'reserved_2', 'aux_size',
               'reserved_3', 'sig_data']
ATTR_FORMAT = '<IIQQQQQIIQQQQIiQIHHIIQ'
SIDE_BAND = {'mmap': 8, 'comm': 9, 'task': 13, 'mmap_data': 17, 'mmap2': 23, 'comm_exec': 24, 'context_switch': 26, 'namespaces': 28,
             'ksymbol': 29, 'bpf_event': 30, 'cgroup': 32, 'text_poke': 33, 'build_id': 34}
SIDE_MASK = sum(1 << bit for bit in SIDE_BAND.values())
ID, IDENTIFIER, EXCLUDE_GUEST, INHERIT = 1 << 6, 1 << 16, 1 << 20, 1 << 1
DUMMY = (1, 9)

# Forks, executes, touches memory, is switched, and works for a while: every kind of record has its reason.
WORK = ['sh', '-c', 'ls / > ls.txt; sleep 0.01; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done']
# So long that there is a sample of those that come each 10 ms, for both.
LONG_WORK = [*WORK[:2], WORK[2].replace('3000', '50000')]
SELDOM = {'-F 99', '-c 10000000 -P', '-e cpu-clock/freq=77/'}

# Later perfs do not have these any more.
GONE = {'--group -e page-faults'}

# What comes when it likes, or is nobody's choice: losses, throttling, other people's BPF programs.
BY_CHANCE = {2, 5, 6, 13, 17, 18, 20}

# The options, and of which events if not of cpu-clock. Each is asked of both.
OPENED = [
    '', '-F 99', '-F 1000', '-c 100000', '-c 10000000 -P', '-P', '-T', '--no-timestamp', '--no-period', '-i', '--no-inherit', '-n', '-d', '-d --no-data',
    '--phys-data', '--data-page-size', '--code-page-size', '-d --phys-data --data-page-size --code-page-size', '-W', '--weight -d',
    '--transaction', '-R', '--raw-samples -c 100000', '-I', '--intr-regs', '-Iax,bx', '--intr-regs=ip,sp,r15', '--user-regs',
    '--user-regs=ip,sp', '--namespaces', '--all-cgroups', '--switch-events', '--no-switch-events', '-k mono', '-k CLOCK_MONOTONIC_RAW',
    '--clockid boottime', '--sample-cpu', '--sample-identifier', '--running-time', '-s', '--stat', '--all-kernel', '--all-user',
    '--no-bpf-event', '--call-graph fp', '--call-graph fp -g', '-g --kernel-callchains', '--call-graph fp --user-callchains', '-a -g', '--kernel-callchains',
    '--no-buildid', '-B -N', '-q', '-C 0,1', '-C 0', '-a', '-a --namespaces --all-cgroups --switch-events', '-a -s', '-a -d',
    '--per-thread -T', '-a --sample-cpu', '-D 1', '-D 1-20,30-1000', '--delay 5 -a', '--overwrite', '--overwrite -a', '--tail-synthesize',
    '--no-buffering', '--buildid-mmap', '--buildid-all', '--timestamp-boundary', '--synth=no', '--synth=task', '--synth=mmap,cgroup',
    '--synth=no --all-cgroups -a', '-a --synth=task', '-m 16', '-m 64K --mmap-flush 4K', '-m 16,16', '--affinity=cpu', '--affinity=node', '-r 3', '--num-thread-synthesize=2',
    '--proc-map-timeout 500', '--group -e page-faults', '--max-size 100M', '-z', '-z3', '--aio', '--debuginfod', '-v',
    '-e page-faults', '-e page-faults -c 10', '-e cpu-clock,page-faults', '-e cpu-clock -e context-switches -c 5',
    '-e cpu-clock:u', '-e cpu-clock:k', '-e cpu-clock:u --all-kernel', '-e {cpu-clock,page-faults}', '-e {cpu-clock,page-faults}:S',
    '-e {cpu-clock,page-faults}:S --running-time', '-e cpu-clock/period=200000/', '-e cpu-clock/freq=77/', '-e cpu-clock/call-graph=fp/',
    '-e cpu-clock/call-graph=no/ --call-graph fp', '-e cpu-clock/call-graph=fp,stack-size=1024/', '-e cpu-clock/max-stack=7/ --call-graph fp', '-e cpu-clock/nr=5/',
    '-e cpu-clock/time=0/', '-e cpu-clock/no-inherit/', '--call-graph fp,9',
]
TRACEPOINTS = ['-e sched:sched_switch', '-e sched:sched_switch -c 3', '-e sched:sched_switch --exclude-perf',
               '-e sched:sched_switch --filter prev_pid!=0 --exclude-perf', '-e sched:sched_switch --call-graph fp', '-e sched:sched_switch -a']
# With hardware that is absent here.
TRIED = [
    '-e cycles', '-e cycles -b', '-e cycles --branch-any', '-e cycles:u -b', '-e cycles -j any,u', '-e cycles -j any_call,u,k', '-e cycles -j ind_call',
    '-e cycles -j any,save_type', '-e cycles -j any,priv,k', '-e cycles -j stack,u',
    '-e cycles -j any_call,any_ret,ind_call,ind_jmp,call,cond,abort_tx,in_tx,no_tx,hv', '-e cycles --branch-filter any_ret,u',
    '-e cycles --call-graph lbr', '-e cycles/call-graph=lbr/', '-e cycles -b --call-graph fp', '-e cycles:pp -W -d', '-e cycles:ppp -I', '-e cycles -s -R',
    '-e instructions -c 1000003 -b', '-e cache-misses -d --phys-data', '-e r1a8:u --all-kernel', '-e branches:u -j cond,u -c 10007',
]


class File:
    """Attrs and types of records of a perf.data file, read with nothing but the format's description."""
    def __init__(self, path):
        data = open(path, 'rb').read()
        magic, _, attr_size, attrs_at, attrs_size, data_at, data_size = struct.unpack_from('<8s6Q', data)
        assert magic == b'PERFILE2', path
        self.attrs = []
        for at in range(attrs_at, attrs_at + attrs_size, attr_size):
            raw = data[at:at + attr_size - 16].ljust(struct.calcsize(ATTR_FORMAT), b'\0')
            self.attrs.append(dict(zip(ATTR_FIELDS, struct.unpack_from(ATTR_FORMAT, raw))))
        self.types, at = set(), data_at
        while at < data_at + data_size:
            kind, _, size = struct.unpack_from('<IHH', data, at)
            assert size >= 8, (path, at)
            self.types.add(kind)
            at += size


def reduced(attrs, words):
    """Who carries the side-band records is the tool's affair, and by what field a sample names its event."""
    side, events = 0, []
    for attr in attrs:
        side |= attr['flags'] & SIDE_MASK
        if (attr['type'], attr['config']) == DUMMY and 'dummy' not in words:
            continue
        own = dict(attr, flags=attr['flags'] & ~SIDE_MASK)
        # How many fields an attr has depends on the header that a perf was built with.
        del own['size']
        if '--sample-identifier' not in words:
            own['sample_type'] &= ~(ID | IDENTIFIER)
        # Guests are left out unless somebody asks for them; perf 6.1 forgets that where :k is said, not where :u is.
        if any(word.endswith(':k') for word in words):
            own['flags'] &= ~EXCLUDE_GUEST
        # Children's values of such groups can be told apart since Linux 6.12: perf 6.1 leaves them out.
        if any(word.endswith('}:S') for word in words):
            own['flags'] &= ~INHERIT
        # -g walks stacks while it records: what it has walked is said there.
        if '-g' in words:
            own['stack_user'] = 0
        events.append(own)
    return {name for name, bit in SIDE_BAND.items() if side >> bit & 1}, events


def words_of(options):
    words = options.split()
    return words if '-e' in words else ['-e', 'cpu-clock'] + words


def each(check, rows):
    """perf 6.1 waits a second at the end of every recording: several at once. Where it hangs, the other rows are compared all the same."""
    hung = None
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(check, n, row) for n, row in enumerate(rows)]:
            try:
                done.result()
            except Skip as why:
                hung = why
    if hung:
        raise hung


def compare(n, options):
    words = words_of(options)
    our_name, perfs_name = f'ours{n}.data', f'perfs{n}.data'
    work = LONG_WORK if options in SELDOM else WORK
    # Whole stacks are compressed: their records are looked at as they are.
    packed = ['-z0'] if '-g' in words else []
    ours = pace('record', '-o', our_name, *packed, *words, *work)
    perfs = run('perf', 'record', '-o', perfs_name, *words, '--', *work)
    assert ours.status == 0, (options, ours)
    # perf 6.1 corrupts its heap with --affinity now and then.
    if perfs.status < 0 and '--affinity' in options:
        return
    # It prints its usage.
    if perfs.status == 129 and options in GONE:
        return
    assert perfs.status == 0, (options, perfs)
    mine, theirs = File(our_name), File(perfs_name)
    assert reduced(mine.attrs, words) == reduced(theirs.attrs, words), \
        f'{options}:\n here {reduced(mine.attrs, words)}\n perf {reduced(theirs.attrs, words)}'
    # A command may be anywhere when it ends.
    chance = BY_CHANCE | ({3, 4, 7, 9, 10} if words[-2:] == ['-C', '0'] else set())
    # Nor does anybody know on a busy machine how much of it there is while events are on.
    chance |= {9} if {'-D', '--delay'} & set(words) else set()
    if '-z' in options:
        return
    kinds = [{kind for kind in f.types if kind < 64} - chance for f in (mine, theirs)]
    assert options not in SELDOM or 9 in kinds[0], f'{options}: no samples'
    assert kinds[0] == kinds[1], f'{options}: records here {sorted(kinds[0])}, of perf {sorted(kinds[1])}'
    # And perf reads what is in the file.
    assert run('perf', 'script', '-i', our_name, '-D').status == 0, options


def compare_third(n):
    """Two recordings for each: in thirds, so that no test takes long."""
    perf_works()
    needs_root()
    can_record()
    each(compare, OPENED[n::3])


@test
def options_ask_for_the_same_attrs_and_records_as_perfs():
    compare_third(0)


@test
def other_options_ask_for_the_same_attrs_and_records_as_perfs():
    compare_third(1)


@test
def further_options_ask_for_the_same_attrs_and_records_as_perfs():
    compare_third(2)


@test
def options_of_tracepoints_ask_for_the_same_as_perfs():
    perf_works()
    needs_root()
    if not os.path.exists('/sys/kernel/tracing/events/sched'):
        skip('tracefs is not mounted')
    each(compare, TRACEPOINTS)


def told(pairs):
    """How many fields an attr has depends on the header that a perf was built with; later ones print fields that are 0, too."""
    return {field: value for field, value in pairs if field != 'size' and value != '0'}


def by_perf(words, name='perfs.data'):
    """The first attr that perf tries; it says what it asks for before it asks."""
    text = run('perf', 'record', '-vv', '-o', name, *words, '--', 'true').err
    block = re.search(r'^perf_event_attr:\n(.*?)^-{60}', text, re.M | re.S)
    assert block, (words, text)
    return told(re.findall(r'^  (\S+|\{.*?\})\s{2,}(\S+)(?: \([^)]*\))?$', block.group(1), re.M))


def by_pace(words, name='ours.data'):
    text = pace('record', '-vv', '-o', name, *words, 'true').err
    line = re.search(r'^\S+: ((?:type|size): .*)$', text, re.M)
    assert line, (words, text)
    return told(re.findall(r'(\w+|\{[^}]*\}): ([^,]+)', line.group(1)))


@test
def options_for_absent_hardware_try_the_same_attrs_as_perfs():
    perf_works()
    needs_root()

    def try_both(n, options):
        words = words_of(options)
        mine, theirs = by_pace(words, f'ours{n}.data'), by_perf(words, f'perfs{n}.data')
        assert mine == theirs, f'{options}:\n here {mine}\n perf {theirs}'

    each(try_both, TRIED)


@test
def only_levels_of_branches_still_mean_any_branch_of_these():
    """perf 6.1 forgets the levels: -j u becomes any branch of any level."""
    perf_works()
    needs_root()
    assert by_pace(['-e', 'cycles', '-j', 'u'])['branch_sample_type'] == 'USER|ANY'
    assert by_perf(['-e', 'cycles', '-j', 'u'])['branch_sample_type'] == 'ANY'


@test
def registers_have_perfs_names():
    perf_works()
    for option in ('-I?', '--intr-regs=?', '--user-regs=?'):
        names = re.search(r'available registers: (.*)', run('perf', 'record', option).err + run('perf', 'record', option).out)
        mine = pace('record', option)
        assert mine.status == 0 and mine.out.split('\n')[0] == names.group(0).strip(), (mine, names)


# Forms of values, in perf's words. Both take the first and refuse the others.
TAKEN = ['--threads', '--threads=cpu', '--threads=core', '--threads=package', '--threads=numa', '--threads=0/0', '--threads=0/0:',
         '--synth=task,mmap,cgroup', '--synth=no,task', '--synth=TASK', '--mmap-flush=0', '--mmap-flush=4K', '--mmap-flush=100M', '--aio=1', '--aio=9',
         '-D -1', '-D 5-10,20-30', '--switch-output=signal', '--switch-output=10B', '--switch-output=1G', '--switch-output=1d',
         '-k MONO', '-k raw', '-k clock_boottime', '-k real', '-k tai', '-k 1', '-k 7', '-F MAX', '-m ,16', '-m 1M,3', '-m 1B',
         '-z22', '-IAX', '--call-graph fp,16', '--call-graph dwarf,1023', '--no-no-buffering', '-u root --dry-run', '--control=fd:1,1']
REFUSED = ['--threads=0', '--threads=0/', '--threads=/0', '--threads=nonsense', '--threads=0/0:0/1', '--threads=0/0:1/0', '--threads=999/999',
           '--threads -o -', '--synth=', '--synth=task,', '--synth=nonsense', '-D -2', '-D 10-5', '-D 5-10,8-20', '-D 5-10,20', '-D 5-5',
           '-D 5-', '-D 1.5', '--switch-output=10', '--switch-output=10X', '--switch-output=SIGNAL', '--switch-output=1.5M',
           '--control=fd:', '--control=fd:0,', '--control=fd:1,2,3', '--control=fifo:', '--control=fifo:nowhere', '--control=nonsense', '--control=FD:1',
           '-k mono_raw', '-k -1', '-k 99', '-k process', '--clockid=', '-Iax,', '-Iax,,bx', '--user-regs=ax,xmm0', '-m x', '-m 16,x', '-m 1T',
           '-r x', '-r 100', '--num-thread-synthesize=x', '--proc-map-timeout=x', '--call-graph fp --call-graph=no', '--call-graph=FP',
           '--call-graph=dwarf,0', '--call-graph=dwarf,65536', '--call-graph=lbr,5', '-j any,,u', '-p 1,x', '-p -1', '-t x', '-t 0', '-S', '--aux-sample',
           '--setup-filter=x', '-C 1-0', '-C x', '-F 99999999 --strict-freq']


@test
def forms_of_values_are_taken_and_refused_as_by_perf():
    perf_works()
    needs_root()
    can_record()

    def try_both(n, options, is_taken):
        words = options.split()
        for tool in (PACE,), ('perf',):
            name = ['-o', f'{os.path.basename(tool[0])}{n}.data'] if '-o' not in words else []
            done = run(*tool, 'record', '-e', 'cpu-clock', *name, *words, 'true')
            # perf 6.1 corrupts its heap now and then.
            assert (done.status == 0) == is_taken or (done.status < 0 and tool == ('perf',)), (tool, options, done)
            if tool == (PACE,) and not is_taken:
                assert done.status in (1, 2) and done.err.startswith('pace record: ') and done.err.count('\n') <= 3, (options, done)

    rows = [(row, True) for row in TAKEN] + [(row, False) for row in REFUSED]
    each(lambda n, row: try_both(n, *row), rows)


@test
def options_that_exclude_each_other_are_refused_as_by_perf():
    perf_works()
    for words in ('-b -j any', '--all-user --all-kernel', '-F 99 -c 5', '-j nonsense', '-Inonsense', '-k nonsense',
                  '--call-graph nonsense', '-u nobody-of-this-name'):
        assert pace('record', *words.split(), 'true').status == (1 if '-u' in words.split() else 2), words
        # perf takes -F and -c on some events, and only warns of an unknown user.
        if words != '-F 99 -c 5' and '-u' not in words.split():
            assert run('perf', 'record', '-o', 'p.data', *words.split(), '--', 'true').status, words


main()
