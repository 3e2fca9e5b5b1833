#!/usr/bin/env python3
"""Python scripts for perf, run by `pace script -s`: what they are given is what perf gives them, and what they do is survived."""
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402
from handmade import BRANCH_STACK, IP, PERIOD, TEXT, TID, TIME  # noqa: E402

# What perf 6.1 does not give, and what tables of symbols say differently; perf does not name code of procedure linkage tables.
EVERYTHING = '''
import sys
import perf_trace_context as context_module
SKIPPED = {'id', 'stream_id', 'ins_lat', 'sym_off', 'dso_bid', 'dso_map_start', 'dso_map_end', 'binding', 'attr', 'start', 'end'}
def less(x):
    if isinstance(x, dict):
        return {k: less(x[k]) for k in sorted(x) if k not in SKIPPED and '@plt' not in str(x[k])}
    return [less(v) for v in x] if isinstance(x, list) else x
def trace_begin():
    print('begin', sys.argv, __name__)
def trace_end():
    print('end')
def process_event(sample):
    for key, value in sorted(less(sample).items()):
        print(' ', key, value)
    print(' ', type(sample['raw_buf']), len(sample['attr']) >= 64)
def sched__sched_switch(name, context, cpu, secs, nsecs, pid, comm, callchain, prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio, sample):
    print(name, cpu, secs, nsecs, pid, comm, less(callchain), prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio)
    print(' ', less(sample), context_module.common_pc(context), context_module.common_flags(context))
def trace_unhandled(name, context, fields):
    print(name, sorted(less(fields).items(), key=lambda item: item[0]))
def context_switch(*words):
    print('switch', words)
def throttle(*words):
    print('throttle', words)
def unthrottle(*words):
    print('unthrottle', words)
'''


def write(name, text):
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)
    return name


def perf_has_python():
    perf_works()
    if not re.search(r'libpython: \[ on', run('perf', 'version', '--build-options').out):
        skip('the installed perf runs no Python scripts')


def scripts():
    folders = [folder for folder in glob.glob('/usr/lib*/perf-core/scripts/python') + glob.glob('/usr/libexec/perf-core/scripts/python')]
    if not folders:
        skip("perf's scripts are not installed (linux-perf)")
    return folders[0]


def both(*words):
    """What perf and pace print, run with the same words."""
    env = dict(os.environ, PYTHONHASHSEED='0')
    theirs = run('perf', 'script', *words, env=env)
    ours = pace('script', '--no-unnamed-functions', *words, env=env)
    return theirs, ours


def check_same(*words):
    theirs, ours = both(*words)
    assert not theirs.status and not ours.status, (words, theirs.err[-500:], ours.err[-500:])
    # perf 6.1 adds modifiers to names of events that files do not name.
    # Its tuples of values have a hole where no counter was read.
    lines = [re.sub(r'^(  ev_name cycles):\w+$|, <NULL>', r'\1', result.out, flags=re.M).splitlines() for result in (theirs, ours)]
    differing = [pair for pair in zip(*lines) if pair[0] != pair[1]]
    assert len(lines[0]) == len(lines[1]) and lines[0] and not differing, (words, len(lines[0]), len(lines[1]), differing[:1])
    return ours.out


def record(path, *words):
    can_record()
    done = run('perf', 'record', '-q', '-o', path, *words)
    if done.status:
        skip('perf cannot record this here: ' + done.err[-200:])


@test
def a_script_gets_what_perf_gives_it():
    perf_has_python()
    write('everything.py', EVERYTHING)
    record('t.data', '-a', '-e', 'cpu-clock', '-e', 'sched:sched_switch', '-e', 'sched:sched_wakeup', '-e', 'raw_syscalls:sys_enter', '--switch-events', '-F', '1999', '--',
           'ls', '-R', '/usr/share/doc/perl')
    said = check_same('-i', 't.data', '-s', 'everything.py', 'a', '--b')
    assert said.startswith("begin ['everything.py', 'a', '--b'] __main__\n") and said.endswith('end\n'), said[:200]
    for word in ('sched__sched_switch ', 'switch (', 'sched__sched_wakeup [', 'raw_syscalls__sys_enter [', "  ev_name cpu-clock"):
        assert word in said, word


@test
def branches_and_accesses_reach_scripts():
    perf_has_python()
    write('everything.py', EVERYTHING)
    handmade.write_branches('b.data')
    said = check_same('-i', 'b.data', '-f', '-s', 'everything.py')
    assert said.count('brstacksym [{') == 24 and "'mispred': True" in said and "'cycles': 3" in said, said[:1000]
    handmade.write_memory('m.data')
    said = check_same('-i', 'm.data', '-f', '-s', 'everything.py')
    assert 'OP LOAD|LVL L1 hit' in said and "'weight': 12" in said, said[:1000]


@test
def call_chains_reach_scripts():
    perf_has_python()
    write('everything.py', EVERYTHING)
    record('g.data', '-g', '-e', 'cpu-clock', '--', 'sh', '-c', 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done')
    theirs, ours = both('-i', 'g.data', '--no-inline', '-s', 'everything.py')
    frames = [re.findall(r"'ip': (\d+)", result.out) for result in (theirs, ours)]
    assert frames[0] == frames[1] and len(frames[0]) > 50, (len(frames[0]), len(frames[1]))
    names = [set(re.findall(r"'ip': (\d+), 'sym': {'name': '(\w+)'}", result.out)) for result in (theirs, ours)]
    assert len(names[0] & names[1]) > 0.9 * len(names[0]) > 10, (names[0] - names[1], names[1] - names[0])


@test
def scripts_of_perf_print_the_same():
    perf_has_python()
    folder = scripts()
    env = {'PERF_EXEC_PATH': os.path.dirname(os.path.dirname(folder))}
    os.environ.update(env)
    record('s.data', '-a', '-e', 'sched:*', '-e', 'raw_syscalls:sys_enter', '-e', 'raw_syscalls:sys_exit', '-e', 'irq:*', '--', 'ls', '-R', '/usr/share/doc/perl')
    record('g.data', '-g', '-e', 'cpu-clock', '--', 'ls', '-R', '/usr/share/doc/perl')
    for name, data in (('check-perf-trace', 's.data'), ('compaction-times', 's.data'), ('mem-phys-addr', 'g.data')):
        check_same('-i', data, '-s', f'{folder}/{name}.py')
    # perf's module for names of system calls wants a package that Debian has no more: numbers of perf's, names of pace's.
    for name in ('syscall-counts', 'syscall-counts-by-pid', 'failed-syscalls-by-pid'):
        counts = []
        for result in both('-i', 's.data', '-s', f'{folder}/{name}.py'):
            assert not result.status, result
            counts.append(sorted(re.findall(r'\s(\d+)$', result.out, re.M)))
        assert counts[0] == counts[1] and len(counts[0]) > 3, (name, counts)
    assert re.search(r'^openat +\d+$', pace('script', '-i', 's.data', '-s', f'{folder}/syscall-counts.py').out, re.M) or \
        not glob.glob('/usr/include/*/asm/unistd_64.h')


# What sends packets to itself and has threads that wait for each other, for the tracepoints of both.
BUSY = '''import socket, threading
lock = threading.Lock()
def work():
    for _ in range(300):
        with lock:
            pass
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.bind(('127.0.0.1', 0))
    for _ in range(20):
        sender.sendto(b'x', sender.getsockname())
        sender.recv(10)
for thread in threads:
    thread.join()
'''
NETWORK = ('irq:irq_handler_entry', 'irq:irq_handler_exit', 'irq:softirq_entry', 'irq:softirq_exit', 'irq:softirq_raise', 'napi:napi_poll',
           'net:netif_receive_skb', 'net:net_dev_queue', 'net:net_dev_xmit')


@test
def scripts_that_linux_ships_print_the_same_of_networks_locks_and_stacks():
    """Those that need names of system calls ask for a module that is not packaged; pace has the names, perf says where to get it."""
    perf_has_python()
    needs_root()
    folder = scripts()
    os.environ['PERF_EXEC_PATH'] = os.path.dirname(os.path.dirname(folder))
    write('busy.py', BUSY)
    record('n.data', '-a', *[word for event in NETWORK for word in ('-e', event)], '-e', 'syscalls:sys_enter_futex', '-e', 'syscalls:sys_exit_futex', '--',
           sys.executable, 'busy.py')
    record('g.data', '-g', '-e', 'cpu-clock', '--', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
    for name, data, words, least in (('netdev-times', 'n.data', ('tx',), 1), ('futex-contention', 'n.data', (), 1),
                                     ('net_dropmonitor', 'n.data', (), 1), ('stackcollapse', 'g.data', (), 5), ('event_analyzing_sample', 'g.data', (), 10)):
        printed = []
        for tool in (['perf', 'script'], [PACE, '--as-perf', 'script']):
            # event_analyzing_sample keeps what it has seen in a database.
            if os.path.exists('/dev/shm/perf.db'):
                os.remove('/dev/shm/perf.db')
            done = run(*tool, '-f', '-i', data, '-s', f'{folder}/{name}.py', *words, env=dict(os.environ, PYTHONHASHSEED='0'))
            assert not done.status, (name, done)
            printed.append(re.sub(r'(?s)^Install the audit-libs-python.*?etc\.\n\n', '', done.out))
        # The callers of calls that do not return are named by what follows the call.
        # perf 6.1 does not always know whose PLT entry it is.
        same = [re.sub(r'_dl_start_user|\b_start\b', 'start', re.sub(r'\w*@plt', '@plt', text)) for text in printed]
        if name == 'stackcollapse':
            # In the order of the names.
            same = ['\n'.join(sorted(text.split('\n'))) for text in same]
        assert same[0] == same[1] and same[0].count('\n') >= least, (name, words, printed)
    if os.path.exists('/dev/shm/perf.db'):
        os.remove('/dev/shm/perf.db')


@test
def flame_graphs_of_perfs_script_are_the_same():
    perf_has_python()
    folder = scripts()
    record('g.data', '-g', '-e', 'cpu-clock', '--', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
    written = []
    for tool in (['perf', 'script'], [PACE, 'script', '--no-unnamed-functions']):
        done = run(*tool, '-i', 'g.data', '--no-inline', '-s', f'{folder}/flamegraph.py', '--', '--format', 'json', '-o', 'flame.json')
        assert not done.status, done
        with open('flame.json', encoding='utf-8') as file:
            written.append(re.findall(r'"n": "([^"]*)", "l": "[^"]*", "v": (\d+)', file.read()))
    assert written[0][:2] == written[1][:2] and written[0], written


@test
def what_scripts_ask_for_is_looked_up():
    code = build_c(os.path.abspath(write('main.c', 'volatile long n;\nint main(void) {\n\tfor (long i = 0; i < 300000000; i++)\n\t\tn += i;\n}\n')), 'main', '-g')
    can_record()
    done = pace('record', '-q', '-e', 'cpu-clock:u', '-o', 'c.data', code)
    assert not done.status, done
    write('ask.py', '''
from perf_trace_context import *
def process_event(sample):
    if sample.get('symbol') == 'main':
        print(len(perf_sample_insn(perf_script_context)), perf_sample_srcline(perf_script_context)[1], perf_sample_srccode(perf_script_context)[2].strip())
''')
    lines = pace('script', '-i', 'c.data', '-s', 'ask.py').out.splitlines()
    assert len(lines) > 20 and {line.split(' ', 2)[1] for line in lines} <= {'3', '4'}, lines[:3]
    assert any(line.endswith(' n += i;') for line in lines) and all(1 <= int(line.split()[0]) <= 15 for line in lines), lines[:3]


def write_plain(path, n=10):
    handmade.write(path, IP | TID | TIME | PERIOD, [{'ip': TEXT + i % 0x1000} for i in range(n)])


@test
def what_goes_wrong_in_a_script_is_said():
    write_plain('p.data')
    for text, status, words in (('def process_event(s): 1 / 0', 1, ('ZeroDivisionError', "ended with status 1")),
                                ('def process_event(s): import sys; sys.exit(7)', 7, ('ended with status 7',)),
                                ('def trace_begin(): import sys; sys.exit(0)', 0, ()),
                                ('import os; os._exit(0)', 0, ()),
                                ('def process_event(s): import os; os.kill(os.getpid(), 9)', 137, ('ended by signal 9',)),
                                ('nonsense(', 1, ('SyntaxError',))):
        result = pace('script', '-i', 'p.data', '-s', write('wrong.py', text))
        assert result.status == status and all(word in result.err for word in words) and '<pace>' not in result.err, (text, result)
    result = pace('script', '-i', 'p.data', '-s', 'missing.py')
    assert result.status == 2 and "there is no script 'missing.py'" in result.err, result
    result = pace('script', '-i', 'p.data', '-s', write('x.pl', ''))
    assert result.status == 2 and 'Perl' in result.err, result
    os.makedirs('nothing', exist_ok=True)
    result = pace('script', '-i', 'p.data', '-s', write('fine.py', ''), env=dict(os.environ, PATH=os.path.abspath('nothing')))
    assert result.status == 1 and 'no python3' in result.err, result


@test
def a_script_that_stops_early_is_no_error():
    write_plain('long.data', 20000)
    write('lines.py', 'def process_event(s):\n    print(s["sample"]["ip"])\n')
    done = subprocess.run(['sh', '-c', f'{PACE} script -i long.data -s lines.py 2>err | head -n 2; cat err'], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(TEXT), str(TEXT + 1)], done
    write('early.py', 'import os\nn = 0\ndef process_event(s):\n    global n\n    n += 1\n    if n == 3:\n        os._exit(0)\n')
    result = pace('script', '-i', 'long.data', '-s', 'early.py')
    assert result.status == 0 and not result.err, result


@test
def interrupting_ends_the_script_with_its_summary():
    write_plain('long.data', 60000)
    write('slow.py', 'import time\nn = 0\ndef process_event(s):\n    global n\n    n += 1\n    if n == 1:\n        print("on", flush=True)\n        time.sleep(0.5)\n'
                     'def trace_end():\n    print("end", n)\n')
    child = subprocess.Popen([PACE, 'script', '-i', 'long.data', '-s', 'slow.py'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert child.stdout.readline() == 'on\n'
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert re.fullmatch(r'end \d+\n', out) and int(out.split()[1]) < 60000 and child.returncode == 0, (out, err, child.returncode)
    write('stuck.py', 'def process_event(s):\n    print("on", flush=True)\n    while True:\n        pass\n')
    child = subprocess.Popen([PACE, 'script', '-i', 'long.data', '-s', 'stuck.py'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert child.stdout.readline() == 'on\n'
    for _ in range(2):
        os.killpg(child.pid, signal.SIGINT)
        time.sleep(0.5)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130 and 'signal 2' in err, (child.returncode, err)


@test
def scripts_of_a_library_are_listed_and_run():
    os.makedirs('lib/scripts/python/bin', exist_ok=True)
    write('lib/scripts/python/count.py', 'import sys\nn = 0\ndef process_event(s):\n    global n\n    n += 1\ndef trace_end():\n    print("counted", n, sys.argv[1:])\n')
    write('lib/scripts/python/bin/count-report', '#!/bin/bash\n# description: counts\n# args: [what]\nperf script -s "$PERF_EXEC_PATH"/scripts/python/count.py -- "$@"\n')
    write('lib/scripts/python/bin/count-record', '#!/bin/bash\nperf record -e cpu-clock:u $@\n')
    env = dict(os.environ, PERF_EXEC_PATH=os.path.abspath('lib'))
    listed = pace('script', '-l', env=env).out.splitlines()
    assert listed[0] == 'List of available trace scripts:' and '  count [what]                         counts' in listed, listed
    write_plain('perf.data', 12)
    result = pace('script', 'report', 'count', 'a', 'b', env=env)
    assert result.out == "counted 12 ['a', 'b']\n" and not result.status, result
    assert pace('script', '-i', 'perf.data', '-s', 'count', env=env).out == 'counted 12 []\n'
    result = pace('script', 'report', 'nothing', env=env)
    assert result.status == 2 and "no script 'nothing-report'" in result.err, result
    can_record()
    result = pace('script', 'record', 'count', '-o', 'r.data', 'true', env=env)
    assert not result.status and os.path.getsize('r.data') > 100, result
    assert not glob.glob('/tmp/pace-perf-*/perf'), glob.glob('/tmp/pace-perf-*/perf')


@test
def a_script_to_begin_with_runs():
    record('t.data', '-a', '-e', 'cpu-clock', '-e', 'sched:sched_switch', '--', 'true')
    for name in ('perf-script.py',):
        if os.path.exists(name):
            os.remove(name)
    made = pace('script', '-i', 't.data', '-g', 'python')
    assert made.out == 'generated Python script: perf-script.py\n' and not made.status, made
    said = pace('script', '-i', 't.data', '-s', 'perf-script.py')
    assert re.search(r'^sched__sched_switch \d+ \d+\.\d{9} \d+ \S.* prev_comm=\S.* next_prio=\d+$', said.out, re.M) and not said.status, said
    again = pace('script', '-i', 't.data', '-g', 'python')
    assert again.status == 1 and 'File exists' in again.err, again
    assert pace('script', '-i', 't.data', '-g', 'perl').status == 1


main()
