#!/usr/bin/env python3
"""What event texts become here and in the installed perf: `perf stat -vv` prints each attr it opens, also where the kernel
then refuses. On this machine's sysfs, and (as root) on the described trees, mounted over it for perf alone."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

EVENTS = os.path.join(TOP, 'tests', 'events')
ATTRS = os.path.join(BUILD, 'tests', 'attrs')
DEVICES = '/sys/bus/event_source/devices'

# What makes an event what it is. The rest is the tool's affair: inherit, read_format, exclude_guest by default.
FIELDS = ['type', 'config', '{ bp_addr, config1 }', '{ bp_len, config2 }', 'bp_type', 'exclude_user', 'exclude_kernel',
          'exclude_hv', 'exclude_idle', 'precise_ip', 'pinned', 'exclusive']

GENERIC = '''cycles cpu-cycles instructions branches branch-instructions branch-misses cache-references cache-misses bus-cycles
ref-cycles stalled-cycles-frontend idle-cycles-frontend stalled-cycles-backend idle-cycles-backend cpu-clock task-clock
page-faults faults context-switches cs cpu-migrations migrations minor-faults major-faults alignment-faults emulation-faults
dummy bpf-output cgroup-switches L1-dcache-loads L1-dcache-load-misses L1-dcache-stores L1-dcache-prefetches
L1-icache-loads L1-icache-load-misses LLC-loads LLC-load-misses LLC-stores LLC-store-misses LLC-prefetches dTLB-loads
dTLB-load-misses dTLB-stores dTLB-store-misses iTLB-loads iTLB-load-misses branch-loads branch-load-misses node-loads
node-stores node-prefetch-misses l1d-read-miss LLC-write LLC-speculative-read-access'''.split()

MODIFIERS = 'u k h uk uh kh ukh p pp ppp up kpp D I e uD kI ue G H uG GH'.split()

HERE = '''r1a8 r0 r4c8:p r003C:k r100000000 rffffffffffffffff 1:3 4:0x1a8 0:1:u cycles/period=1000/ cs/name=x/u
instructions/freq=99/k r1a8/period=7/u software/config=2/ software/config=3/u msr/tsc/ msr/smi/ msr/event=0/ msr/event=4/
breakpoint/config1=0x1000,config2=4/ uprobe/config=1/ uprobe/retprobe/ uprobe/ref_ctr_offset=0x10/ mem:0x1000 mem:0x1000:r
mem:0x1000:w mem:0x1000:rw mem:0x1000:x mem:0x1000/1:w mem:0x1000/2:rw mem:0x1000/8:w mem:0x1000:u mem:0x1000:w:uk
mem:0x1000/8:rw:k {cs,faults} {cs,faults}:u {cs:u,task-clock:k}:D group:{cs,migrations}:e
sched:sched_switch sched:sched_switch:u sched:sched_wak* sched:sched_process_* syscalls:sys_*_futex raw_syscalls:*
sched:sched_process_[ef]* *:sched_switch syscalls:sys_enter_futex syscalls:sys_enter_openat:k'''.split()
# As books write lists.
HERE += ['{cs, faults}', '{cs:u, task-clock:k}:D', 'cs , faults', ' cs, {dummy:u, migrations} ']

# Texts of the trees where the two differ, and why.
DIFFER = {
    r'mem-loads,ldlat=|bus-cycles,umask=|mem-loads/ldlat|mtc=0|mtc_period=|mem_pass.*devid': 'perf 6.1 ors what is written to what the name stands for; '
                                                      'the manual means it instead',
    r'^cpu_(core|atom)/(cycles|ref-cycles|cache-misses)/': 'perf 6.1 opens the generic event, pace what sysfs says of it',
    r'^r[0-9a-f]+': 'perf 6.1 closes the first kind of core when the second fails',
    r'^(imc|cbox)_1/': 'perf 6.1 takes imc_1 for the beginning of imc_10',
    r'\*|\[': 'perf 6.1 has no globs in the names of PMUs but * at the end; its tracepoints are this machine\'s',
}
# Lines of a tree's list that perf 6.1 cannot be asked.
NEWER = re.compile(r'duration_time|user_time|system_time|tool/|config[34]|intx|call-graph|stack-size|max-stack|nr=|time=|inherit|'
                   r'overwrite|aux-|metric-id|precise=|:R$|R$|path=|^\{|@|sched:|sys\*|:\*|mem:[^:]*/|raw,period|0x1a8|percore')


def parse_perf(text):
    """The attrs, each once, as tuples of FIELDS."""
    found = []
    for block in re.findall(r'^perf_event_attr:\n(.*?)^-{60}', text, re.M | re.S):
        values = dict(re.findall(r'^  (\S+|\{.*?\})\s{2,}(\S+)(?: \([^)]*\))?$', block, re.M))
        attr = tuple(int(values.get(field, '0'), 0) for field in FIELDS)
        if attr not in found:
            found.append(attr)
    return found


def parse_pace(text):
    """For each text asked for its attrs, or its error."""
    found = {}
    for line in text.splitlines():
        if not line.startswith('\t'):
            current = found.setdefault(line, [])
        elif line.startswith('\terror: '):
            found[current_name(found)] = line[len('\terror: '):]
        else:
            values = dict(re.findall(r'(\w+|\{[^}]*\})=([^,]+)', line.split('\t')[2]))
            attr = tuple(int(values.get(field, '0'), 0) for field in FIELDS)
            if attr not in current:
                current.append(attr)
    return found


def current_name(found):
    return list(found)[-1]


def ours(sysfs, texts):
    result = run(ATTRS, sysfs, *texts)
    check_sane(result)
    return parse_pace(result.out)


def theirs(text, devices=None):
    """None if perf does not take the text."""
    command = ['perf', 'stat', '-vv', '-e', text, 'true']
    if devices:
        command = ['unshare', '-m', 'sh', '-c', f'mount --bind "$0" {DEVICES} && exec "$@"', devices, *command]
    result = run(*command)
    if 'event syntax error' in result.err or 'parser found nothing' in result.err:
        return None
    return parse_perf(result.err)


def compare(sysfs, texts, devices=None):
    """The number of texts that became the same; those that did not fail the test."""
    same, refused, is_later = 0, [], perf_version() > (6, 1)
    for text, mine in ours(sysfs, texts).items():
        perfs = theirs(text, devices)
        if perfs is None:
            refused.append(text)
            continue
        # perf 6.12 takes names of generic events for these before those that the PMU has.
        if is_later and re.match(r'\w+/', text) and all(attr[0] == 0 for attr in perfs):
            continue
        assert not isinstance(mine, str), f'{text}: perf takes it, here: {mine}'
        # perf 6.12 tries first whether the kernel tells kinds of cores apart; where it does not, as here, it leaves the kind out.
        if is_later and all(attr[0] in (0, 3) and attr[1] >> 32 for attr in mine):
            assert {(attr[0], attr[1] & 0xffffffff, *attr[2:]) for attr in mine} <= set(perfs), f'{text}:\n here {mine}\n perf {perfs}'
            same += 1
            continue
        # Retries of perf open the same event with less precision; what pace opens must be among them, first.
        assert set(mine) <= set(perfs), f'{text}:\n here {mine}\n perf {perfs}\n {FIELDS}'
        assert {attr[:5] for attr in mine} == {attr[:5] for attr in perfs}, f'{text}:\n here {mine}\n perf {perfs}'
        same += 1
    return same, refused


@test
def generic_events_are_the_same_attrs_as_perfs():
    perf_works()
    same, refused = compare('/sys', GENERIC)
    assert not refused and same == len(GENERIC), refused


@test
def modifiers_are_the_same_bits_as_perfs():
    perf_works()
    texts = [f'{event}:{mods}' for event in ('cs', 'instructions') for mods in MODIFIERS]
    same, refused = compare('/sys', texts)
    assert not refused and same == len(texts), refused


# Of a PMU its terms; of msr/smi/ what this machine lacks; and a subsystem of tracepoints that has no event of that name is an error to
# perf 6.1 if its folder happens to be listed first.
PERF_REFUSES = {'instructions/freq=99/k', 'msr/smi/', 'group:{cs,migrations}:e', '*:sched_switch'}


@test
def everything_this_machine_has_is_the_same_as_in_perf():
    perf_works()
    needs_root()
    have = set(os.listdir(DEVICES))
    texts = [text for text in HERE if not (text.split('/')[0] in ('msr', 'uprobe') and text.split('/')[0] not in have)]
    if not os.path.exists('/sys/kernel/tracing/events/sched'):
        texts = [text for text in texts if ':' not in text or not re.match(r'(\*|sched|syscalls|raw_syscalls):', text)]
    same, refused = compare('/sys', texts)
    assert set(refused) <= PERF_REFUSES and same >= 40, (same, refused)


def make_tree(path, root):
    """As tests/unit/test_event_trees.c does."""
    entries = {}
    for line in open(path):
        line = line.rstrip('\n')
        if ' < ' in line:
            new, old = line.split(' < ')
            entries.update({new + name[len(old):]: text for name, text in entries.items() if name.startswith(old + '/')})
        elif line and not line.startswith('#'):
            name, text = line.split(' = ', 1)
            entries[name] = text
    for name, text in entries.items():
        os.makedirs(os.path.dirname(f'{root}/{name}'), exist_ok=True)
        with open(f'{root}/{name}', 'w') as file:
            file.write(text + '\n')


def check_machine(name, at_least):
    perf_works()
    needs_own_mounts()
    devices = os.path.abspath('sys/bus/event_source/devices')
    make_tree(f'{EVENTS}/trees/{name}.tree', devices)
    probe = run('unshare', '-m', 'mount', '--bind', devices, DEVICES)
    if probe.status:
        skip('no mount namespaces here: ' + probe.err.strip()[:80])
    known = open(f'{EVENTS}/{name}.expect').read()
    cases = re.findall(r'^([^\t#\n].*)\n\t(?!error)', known, re.M)
    texts = [text for text in cases if not NEWER.search(text) and not any(re.search(r, text) for r in DIFFER)]
    same, refused = compare(os.path.abspath('sys'), texts, devices)
    print(f'# {name}: {same} the same, {len(refused)} that perf does not take: {" ".join(refused)}')
    assert same >= at_least, (same, refused)


@test
def events_of_intel_with_transactions_are_perfs():
    check_machine('intel_tsx', 70)


@test
def events_of_intel_with_topdown_are_perfs():
    check_machine('intel_topdown', 9)


@test
def events_of_intel_with_two_kinds_of_cores_are_perfs():
    check_machine('intel_hybrid', 12)


@test
def events_of_amd_are_perfs():
    check_machine('amd', 18)


@test
def events_of_arm_are_perfs():
    check_machine('arm', 15)


@test
def events_of_power_are_perfs():
    check_machine('powerpc', 4)


PROBED = """
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int probed(int x) { __asm__ volatile(""); return x + 1; }
int main(void)
{
    int n = 0, status = 0;
    for (int i = 0; i < 10; i++)
        n = probed(n);
    pid_t child = fork();
    if (!child)
        _exit(probed(3) != 4);
    return child < 0 || waitpid(child, &status, 0) != child || status || n != 10;
}
"""


@test
def uprobes_are_hit_as_often_as_their_function_and_programs_can_still_fork():
    """The binary's name ends in letters that are modifiers: u, p."""
    can_record()
    needs_root()
    needs('nm')
    if not os.path.exists(f'{DEVICES}/uprobe/type'):
        skip('this kernel has no uprobe PMU')
    with open('up.c', 'w') as file:
        file.write(PROBED)
    program = build_c(os.path.abspath('up.c'), 'up')
    offset = '0x' + re.search(r'^(\w+) T probed$', run('nm', program).out, re.M).group(1)
    for event in (f'uprobe/path={program},offset={offset}/', f'uprobe/offset={offset},path=./up/',
                  f'uprobe/path={program},offset={offset},retprobe/u'):
        recorded = pace('record', '-o', 'up.data', '-e', event, program)
        assert recorded.status == 0 and samples_said(recorded) == 10, (event, recorded)


main()
