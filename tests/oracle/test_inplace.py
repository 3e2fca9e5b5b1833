#!/usr/bin/env python3
"""Programs that call perf, or parse what it prints, with pace called `perf` in its place: they make the same of it."""
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
import handmade  # noqa: E402

HOT = '''
static volatile unsigned sink;

__attribute__((noinline)) unsigned leaf(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += sink ^ i;
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 1000; i++)
		sink += leaf(100 * argc);
	return 0;
}
'''
# What a CPU with last branch records keeps of a run: how many branches.
KEPT = 16
MMAP2 = 10


def in_place(tool):
    """An environment in which `perf` is the tool."""
    folder = os.path.abspath('as-' + tool)
    os.makedirs(folder, exist_ok=True)
    if not os.path.lexists(f'{folder}/perf'):
        os.symlink(PACE if tool == 'pace' else shutil.which('perf'), f'{folder}/perf')
    return dict(os.environ, PATH=f'{folder}:{os.environ["PATH"]}')


def of_llvm(name):
    """A program of LLVM. Debian has some in a folder of its own only, or with the number of its LLVM."""
    for path in filter(None, map(shutil.which, [name] + [f'/usr/lib/llvm-{n}/bin/{name}' for n in range(25, 11, -1)])):
        return path
    return skip(f'{name} is not installed')


def instructions(program):
    """Function -> [(address, what it does, where it goes to)]."""
    found, at = {}, None
    for line in run('objdump', '-d', '--no-show-raw-insn', program).out.split('\n'):
        begin = re.match(r'[0-9a-f]+ <(\w+)>:', line)
        one = re.match(r'\s*([0-9a-f]+):\s+(\S+)\s*(\S*)', line)
        if begin:
            at = found.setdefault(begin[1], [])
        elif one and at is not None:
            at.append((int(one[1], 16), one[2], one[3]))
    return found


def branches_of(program):
    """The taken branches of a run of HOT in which leaf() goes round three times: (from, to), the oldest first."""
    code = instructions(program)
    leaf, main_ = code['leaf'], code['main']

    def back(body):
        return next((at, int(to, 16)) for at, what, to in body if what in ('jne', 'jb') and body[0][0] <= int(to, 16) < at)
    call = next(i for i, (_, what, _) in enumerate(main_) if what.startswith('call'))
    ret = next(at for at, what, _ in leaf if what.startswith('ret') and at > back(leaf)[0])
    once = [(main_[call][0], leaf[0][0]), back(leaf), back(leaf), (ret, main_[call + 1][0]), back(main_)]
    return once * 40


def write_branches(path, program):
    """A recording of cycles with branch stacks, of a CPU that has them: the newest branch first."""
    run_, samples = branches_of(program), b''
    kind = handmade.IP | handmade.TID | handmade.TIME | handmade.PERIOD | handmade.BRANCH_STACK
    who = (handmade.PID, handmade.PID)
    for i in range(KEPT, len(run_)):
        stack = [(start, to, 1 << 1) for start, to in reversed(run_[i - KEPT:i])]
        samples += handmade.sample(kind, ip=stack[0][1], who=who, time=1000 + i, period=1000, branches=stack)
    header = next(line.split() for line in run('readelf', '-lW', program).out.split('\n') if re.match(r'\s+LOAD .* R E ', line))
    offset, start, size = int(header[1], 16), int(header[2], 16), int(header[5], 16) + 0xfff & ~0xfff
    data = b''
    for what, misc, body in ((handmade.COMM, 1 << 13, struct.pack('<2I', *who) + b'hot\0'),
                             (MMAP2, handmade.USER, struct.pack('<2I3Q2I2Q2I', *who, start, size, offset, 8, 1, 1234, 0, 5, 2) + program.encode() + b'\0')):
        data += handmade.record(what, misc, body + b'\0' * (-len(body) % 8) + struct.pack('<2IQ', *who, 1))
    attr = struct.pack('<2I5Q2I3Q', 0, handmade.ATTR, 0, 1000, kind, 0, 1 | handmade.ID_ALL | 1 << 23, 0, 0, 0, 0, 1 << 3).ljust(handmade.ATTR, b'\0')
    begin = handmade.HEADER + handmade.ATTR + 16
    with open(path, 'wb') as file:
        file.write(b'PERFILE2' + struct.pack('<2Q', handmade.HEADER, handmade.ATTR + 16) +
                   struct.pack('<6Q', handmade.HEADER, handmade.ATTR + 16, begin, len(data + samples), 0, 0) +
                   struct.pack('<4Q', 1 << handmade.FEATURE_BRANCH_STACK, 0, 0, 0))
        file.write(attr + struct.pack('<2Q', 0, 0) + data + samples + struct.pack('<2Q', begin + len(data + samples) + 16, 0))


def with_branches():
    needs('clang', 'objdump', 'readelf')
    with open('hot.c', 'w', encoding='utf-8') as file:
        file.write(HOT)
    # autofdo knows no later DWARF.
    done = run('clang', '-O1', '-gdwarf-4', '-fdebug-info-for-profiling', '-no-pie', '-Wl,--emit-relocs,--build-id', '-o', 'hot', 'hot.c')
    assert done.status == 0, done
    write_branches('lbr.data', os.path.abspath('hot'))
    return os.path.abspath('hot')


def text_of(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return file.read()


@test
def llvm_profgen_makes_the_same_profile():
    perf_works()
    profgen, program = of_llvm('llvm-profgen'), with_branches()
    profiles = {}
    for tool in ('perf', 'pace'):
        done = run(profgen, '--perfdata=lbr.data', f'--binary={program}', f'--output={tool}.prof', '--format=text', env=in_place(tool))
        assert done.status == 0, (tool, done)
        profiles[tool] = text_of(f'{tool}.prof')
    assert profiles['perf'] == profiles['pace'] and re.search(r'^leaf:\d+:', profiles['pace'], re.M), profiles


@test
def perf2bolt_makes_the_same_profile():
    perf_works()
    bolt, program = of_llvm('perf2bolt'), with_branches()
    profiles = {}
    for tool in ('perf', 'pace'):
        done = run(bolt, '-p', 'lbr.data', '-o', f'{tool}.fdata', program, env=in_place(tool))
        assert done.status == 0, (tool, done)
        profiles[tool] = text_of(f'{tool}.fdata')
        assert 'PERF2BOLT: ' in done.out + done.err, done
    assert profiles['perf'] == profiles['pace'] and ' leaf ' in profiles['pace'], profiles
    # Without branches it counts samples, of a recording of either.
    can_record()
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-F', '5000', '-o', 'plain.data', program, *'x' * 300).status == 0
    for tool in ('perf', 'pace'):
        done = run(bolt, '-nl', '-p', 'plain.data', '-o', f'{tool}.fdata', program, env=in_place(tool))
        assert done.status == 0, (tool, done)
        profiles[tool] = text_of(f'{tool}.fdata')
    assert profiles['perf'] == profiles['pace'], profiles


@test
def autofdo_reads_what_pace_rewrites():
    needs('create_llvm_prof', 'create_gcov')
    program = with_branches()
    for words in (['cut', '--time', '0,1', 'lbr.data', '-o', 'cut.data'], ['pack', 'lbr.data', '-o', 'pack.data'],
                  ['merge', 'lbr.data', 'lbr.data', '-o', 'merge.data']):
        done = pace('data', *words)
        assert done.status == 0, done
    found = {}
    for name in ('lbr', 'cut', 'pack', 'merge'):
        done = run('create_llvm_prof', f'--binary={program}', f'--profile={name}.data', f'--out={name}.prof', '--format=text')
        assert done.status == 0, (name, done)
        found[name] = text_of(f'{name}.prof')
        done = run('create_gcov', f'--binary={program}', f'--profile={name}.data', f'--gcov={name}.afdo', '-gcov_version=2')
        assert done.status == 0 and os.path.getsize(f'{name}.afdo') > 40, (name, done)
    assert 'leaf' in found['lbr'] and found['lbr'] == found['cut'] == found['pack'], found
    once, twice = ({f: int(n) for f, n in re.findall(r'^(\w+):(\d+):', found[name], re.M)} for name in ('lbr', 'merge'))
    assert twice == {name: 2 * n for name, n in once.items()}, (once, twice)


# ---- stacks as text ----

DEEP = '''
#include <stdlib.h>
#include <time.h>

static volatile unsigned sink;

__attribute__((noinline)) static void leaf(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

__attribute__((noinline)) static void odd(int depth);

__attribute__((noinline)) static void even(int depth)
{
	leaf();
	if (depth)
		odd(depth - 1);
	sink++;
}

__attribute__((noinline)) static void odd(int depth)
{
	if (depth)
		even(depth - 1);
	leaf();
	sink++;
}

int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 4;

	while (clock() < end)
		even(4);
	return 0;
}
'''


def collapsed(text):
    """Stacks of `script`'s text as flame graphs have them: 'thread;outermost;...;innermost' -> samples. A line that is neither the head of a
    sample nor a frame is an error: what reads this text would take it for something."""
    stacks, stack, head = {}, None, re.compile(r'(\S.*?)\s+(\d+)(?:/(\d+))?\s+(?:\[\d+\] )?(\d+\.\d+): +(?:\d+ +)?(\S+): *$')
    for line in text.split('\n') + ['']:
        frame = re.fullmatch(r'\s+[0-9a-f]+ (.+) \((.*)\)', line)
        if line.startswith('#'):
            continue
        if not line:
            if stack:
                key = ';'.join([stack[0], *reversed(stack[1:])])
                stacks[key] = stacks.get(key, 0) + 1
            stack = None
        elif frame and stack:
            # Inlined functions have no offset.
            stack.append(re.sub(r'\+0x[0-9a-f]+$', '', frame[1]))
        else:
            begin = head.fullmatch(line)
            assert begin and stack is None, line
            stack = [begin[1]]
    return stacks


def of_program(stacks):
    found = {}
    for key, n in stacks.items():
        part = re.search(r'(?<=;)main(;(even|odd|leaf))*(?=;|$)', key)
        if part:
            found[part[0]] = found.get(part[0], 0) + n
    return found


@test
def stacks_of_flamegraph_tools_are_the_same():
    """The command lines of cargo-flamegraph and inferno, and of the README of FlameGraph; recorded by either, printed by either."""
    can_record()
    perf_works()
    with open('deep.c', 'w', encoding='utf-8') as file:
        file.write(DEEP)
    program = build_c(os.path.abspath('deep.c'), 'deep')
    for recorder in ('pace', 'perf'):
        for name, words in (('cargo', ['record', '-F', '997', '--call-graph', 'dwarf,64000', '-g', '-o']), ('readme', ['record', '-F', '99', '-g', '-o'])):
            data = f'{recorder}.{name}.data'
            done = run('perf', *words, data, program, env=in_place(recorder))
            if done.status:
                skip(done.err.strip()[:200])
            stacks = {}
            for tool in ('pace', 'perf'):
                for options in ([], ['--no-inline']) if tool == 'pace' or name == 'readme' else (['--no-inline'],):
                    done = run('perf', 'script', '--force', *options, '-i', data, env=in_place(tool))
                    assert done.status == 0, (recorder, tool, done)
                    stacks[tool, bool(options)] = collapsed(done.out)
            ours, theirs = (stacks[tool, True] for tool in ('pace', 'perf'))
            assert sum(ours.values()) == sum(theirs.values()) > 10, (ours, theirs)
            # The program's part. Functions of the C library have several names at one address, and those of the vdso none in perf.
            ours, theirs, full = (of_program(found) for found in (ours, theirs, stacks['pace', False]))
            assert ours == theirs and 'main;even;odd;even;leaf' in ours, (recorder, name, ours, theirs)
            # What the program has inlined is nothing here.
            assert full == ours, (full, ours)


# ---- counts ----

def stat(*words):
    done = run('perf', 'stat', *words, env=in_place('pace'))
    assert done.status == 0, done
    return done.err


@test
def scripts_that_parse_counts_find_what_they_look_for():
    """Five ways in which public scripts take the columns of `stat -x` apart, each written anew: by position, with intervals, by CPU, with runs,
    and as JSON."""
    # A dictionary of the third column and the first; what starts with < was not counted.
    values = {}
    for line in stat('-x,', '-e', 'task-clock,page-faults,context-switches,cycles', 'true').strip().split('\n'):
        columns = line.split(',')
        values[columns[2].split(':')[0]] = None if columns[0].startswith('<') else float(columns[0])
    assert set(values) == {'task-clock', 'page-faults', 'context-switches', 'cycles'} and values['page-faults'] > 10, values
    # All columns: value, unit, event, deviation?, ns it ran, percent of time, metric, its unit. Without runs there is no deviation.
    for line in stat('-x;', '-e', 'task-clock,page-faults', 'true').strip().split('\n'):
        value, unit, event, ran_ns, percent, *metric = line.split(';')
        assert float(value) and unit == ('msec' if event == 'task-clock' else '') and int(ran_ns) > 0 and float(percent) == 100, line
        assert len(metric) == 2 and float(metric[0]) >= 0, line
    # With runs a deviation stands behind the event.
    for line in stat('-x,', '-r', '3', '-e', 'task-clock,page-faults', 'true').strip().split('\n'):
        columns = line.split(',')
        assert re.fullmatch(r'\d+\.\d+%', columns[3]) and int(columns[4]) > 0 and len(columns) == 8, line
    # As monitors read intervals: time first, then as before; lines come while it runs.
    seconds = set()
    for line in stat('-x,', '-I', '50', '-e', 'task-clock,page-faults', 'sleep', '0.2').strip().split('\n'):
        columns = line.split(',')
        seconds.add(float(columns[0]))
        assert columns[3] in ('task-clock', 'page-faults') and float(columns[1]) >= 0, line
    assert len(seconds) >= 3 and all(b > a for a, b in zip(sorted(seconds), sorted(seconds)[1:])), seconds
    members = [json.loads(line) for line in stat('-j', '-e', 'task-clock,page-faults', 'true').strip().split('\n')]
    assert [(m['event'], float(m['counter-value']) > 0) for m in members] == [('task-clock', True), ('page-faults', True)], members
    needs_root()
    # awk -F, by CPU: $1 is the CPU, $2 the value, $4 the event.
    cpus = {}
    for line in stat('-x,', '-a', '-A', '-e', 'cpu-clock', 'sleep', '0.1').strip().split('\n'):
        columns = line.split(',')
        cpus[columns[0]] = float(columns[1])
        assert columns[3] == 'cpu-clock', line
    assert len(cpus) == os.sysconf('SC_NPROCESSORS_ONLN') and all(re.fullmatch(r'CPU\d+', cpu) for cpu in cpus), cpus


main()
