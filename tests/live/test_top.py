#!/usr/bin/env python3
"""What 'pace top' shows of this machine: busy programs first, as text, as JSON and on terminals; how it ends."""
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
from window import Terminal  # noqa: E402

HOT = 'tests/live/programs/hot.c'


class Hot:
    """A program that is busy in two functions, until it is stopped."""
    def __init__(self, prefix=()):
        can_record()
        self.path = build_c(HOT, 'hot')
        self.process = start(*prefix, self.path)
        wait_for(lambda: open(f'/proc/{self.process.pid}/comm', encoding='utf-8').read().strip() == 'hot')
        self.pid = str(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop(self.process)


def documents(*args, **kwargs):
    result = pace('top', '--json', *args, **kwargs)
    assert result.status == 0, result
    return [json.loads(line) for line in result.out.splitlines()]


def shares(document):
    return {row['symbol']: row['share'] for row in document['events'][0]['rows']}


@test
def a_busy_program_is_at_the_top_of_the_text():
    with Hot() as hot:
        result = pace('top', '--stdio', '-p', hot.pid, '-d', '0.5', '--refreshes', '3')
        assert result.status == 0, result
        shown = re.split(r'^# Samples: .*/s', result.out, flags=re.M)[1:]
        assert len(shown) == 3, result
        for text in shown[1:]:
            rows = [line.split() for line in text.splitlines()[1:] if line and not line.startswith('#')]
            assert rows[0][1:] == ['hot', '[.]', 'busy'] and 60 < float(rows[0][0][:-1]) < 98, text
            assert ['hot', '[.]', 'other'] in [row[1:] for row in rows], text


@test
def each_refresh_is_a_document_on_a_line():
    with Hot() as hot:
        before = 0
        for i, d in enumerate(documents('-p', hot.pid, '-d', '0.3', '--refreshes', '4')):
            assert d['version'] == 1 and d['refresh'] == i + 1 and d['span_ns'] > 2e8 and d['lost_so_far'] == 0, d
            assert d['time_ns'] > before and d['own_bytes'] > 1e6 and d['own_cpu_percent'] >= 0, d
            before = d['time_ns']
            event = d['events'][0]
            assert len(d['events']) == 1 and sum(row['samples'] for row in event['rows']) == event['samples'], d
            assert sum(row['period'] for row in event['rows']) == event['period'], d
            assert len({(row['dso'], row['symbol']) for row in event['rows']}) == len(event['rows']), d
        assert shares(d)['busy'] > 60, d


@test
def counts_fade_unless_they_are_zeroed():
    with Hot() as hot:
        faded, zeroed = (documents('-p', hot.pid, '-d', '0.3', '--refreshes', '8', *words) for words in ((), ('-z',)))
        # Older samples count, an eighth less each time: more than one interval's samples, less than all.
        assert faded[-1]['events'][0]['samples'] > 2.5 * faded[-1]['samples'], faded[-1]
        assert faded[-1]['events'][0]['samples'] < sum(d['samples'] for d in faded), faded
        for d in zeroed:
            assert d['events'][0]['samples'] + d['idle_samples'] == d['samples'], d


@test
def the_shares_are_those_of_perf_top():
    perf_works()
    with Hot() as hot:
        theirs = subprocess.Popen(['perf', 'top', '--stdio', '-d', '1', '-p', hot.pid], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  errors='replace')
        ours = shares(documents('-p', hot.pid, '-d', '1', '--refreshes', '6')[-1])
        # It reads keys, and 'q' is one.
        theirs.stdin.write('q\n')
        theirs.stdin.flush()
        text = what_it_said(theirs)[0]
        found = {name: float(share) for share, name in re.findall(r'([\d.]+)%\s+\S+\s+\[\.\] (busy|other)\b', text)}
        if len(found) < 2:
            skip('perf top shows nothing here')
        for name, share in found.items():
            assert abs(ours[name] - share) < 8, (ours, found)


@test
def a_command_is_measured_until_it_ends():
    can_record()
    hot = build_c(HOT, 'hot')
    found = documents('-d', '0.3', hot, '2')
    assert 3 <= len(found) and shares(found[-1])['busy'] > 60 and found[0]['measured'] == 'a command', found[-1]
    result = pace('top', '--stdio', '-d', '0.3', 'nothing-of-that-name')
    assert result.status == 1 and 'nothing-of-that-name' in result.err, result


@test
def callers_are_below_their_rows():
    with Hot() as hot:
        result = pace('top', '--stdio', '-g', '-p', hot.pid, '-d', '1', '--refreshes', '2', '-s', 'symbol')
        assert result.status == 0, result
        assert re.search(r'^ +(9\d|100)\.\d+% +\d\.\d+% +\[\.\] main$', result.out, re.M), result
        assert re.search(r'--[6-9]\d\.\d+%--(_start|busy|main)', result.out), result
        for d in documents('-g', '-p', hot.pid, '-d', '0.5', '--refreshes', '2'):
            assert d['lost_so_far'] == 0, d


@test
def everything_that_runs_is_shown_with_its_threads_names():
    needs_root()
    with Hot():
        found = documents('-a', '-s', 'comm,symbol', '-d', '1', '--refreshes', '3')[-1]
        rows = {(row['comm'], row['symbol']): row['share'] for row in found['events'][0]['rows']}
        assert found['measured'] == 'all processes' and rows['hot', 'busy'] > 5, found
        assert not any('halt' in symbol for _, symbol in rows), rows
        assert documents('-a', '--idle', '-d', '1', '--refreshes', '2')[-1]['idle_samples'] == 0


@test
def kernel_and_user_space_are_left_out_on_demand():
    needs_root()
    with Hot() as hot:
        for words, kernel in (('-K',), 0), (('-U',), 1):
            d = documents('-p', hot.pid, '-F', '10000', '-d', '1', '--refreshes', '2', '-s', 'symbol', *words)[-1]
            assert ('busy' in shares(d)) != kernel and (kernel or d['kernel_samples'] == 0), d
        d = documents('-p', hot.pid, '--symbols', 'busy', '--percentage', 'relative', '-d', '1', '--refreshes', '2')[-1]
        assert shares(d) == {'busy': 100}, d
        d = documents('-p', hot.pid, '-d', '1', '--refreshes', '2', '-E', '1')[-1]
        assert list(shares(d)) == ['busy'], d


@test
def who_may_not_see_all_sees_his_own_and_how_to_see_more():
    needs_root()
    needs('setpriv')
    rights_stay()
    if int(open('/proc/sys/kernel/perf_event_paranoid', encoding='utf-8').read()) < 1:
        skip('everybody may see all')
    os.chmod('.', 0o755)
    with Hot(prefix=NOBODY):
        result = run(*NOBODY, PACE, 'top', '--json', '-d', '0.5', '--refreshes', '3')
        check_sane(result)
        if result.status and 'perf_event_paranoid' in result.err:
            skip('nobody may see nothing')
        found = [json.loads(line) for line in result.out.splitlines()]
        assert found[-1]['measured'] == 'your own processes' and shares(found[-1])['busy'] > 5, result
        said = [line for line in result.err.splitlines() if 'only your own processes' in line]
        assert len(said) == 1 and 'perf_event_paranoid' in said[0] and 'sysctl' in said[0], result
        result = run(*NOBODY, PACE, 'top', '-a', '--json', '--refreshes', '1')
        assert result.status == 1 and 'perf_event_paranoid' in result.err and not result.out, result


class Waiting(Hot):
    """Threads that wait for different things, and one that is busy."""
    def __init__(self, prefix=()):
        can_record()
        self.path = build_c('tests/live/programs/waiting.c', 'waiting', '-pthread')
        self.process = start(*prefix, self.path)
        self.pid = str(self.process.pid)
        wait_for(lambda: sorted(self.names()) == ['busy', 'locked', 'reader', 'sleeper', 'waiting'])

    def names(self):
        tasks = f'/proc/{self.pid}/task'
        return [open(f'{tasks}/{tid}/comm', encoding='utf-8').read().strip() for tid in os.listdir(tasks)]


# Where threads wait, as the kernel or the C library calls it.
WAITS = {'reader': r'read|pipe_read', 'locked': r'lock|futex', 'sleeper': r'sleep', 'waiting': r'pause'}


def check_waits(document):
    """Everybody waits for what he waits for, for the whole time."""
    events = {e['event']: e for e in document['events']}
    assert list(events) == ['wall', 'wall:cpu', 'wall:runnable', 'wall:blocked', 'latency'], document
    span = document['span_ns']
    for name, function in WAITS.items():
        rows = [r for r in events['wall:blocked']['rows'] if r['comm'] == name]
        known = sum(r['period'] for r in rows if re.search(function, r['symbol'] or ''))
        assert 0.8 * span < known < 1.2 * span and known > 0.9 * sum(r['period'] for r in rows), (name, span, rows)
    busy = [r for r in events['wall']['rows'] if r['comm'] == 'busy']
    assert 0.8 * span < sum(r['period'] for r in busy) < 1.2 * span, (span, busy)
    assert not [r for r in events['wall:blocked']['rows'] if r['comm'] == 'busy' and r['period'] > 0.05 * span], document
    for state in 'cpu', 'runnable', 'blocked':
        assert events['wall:' + state]['period'] <= document[state + '_ns'], document
    told = document['cpu_ns'] + document['runnable_ns'] + document['blocked_ns'] - document['unseen_ns']
    assert events['wall']['period'] == told == sum(r['period'] for r in events['wall']['rows']), document
    assert document['threads'] == 5, document


@test
def wall_shows_what_threads_wait_for_though_they_waited_before():
    with Waiting() as program:
        check_waits(documents('--wall', '-p', program.pid, '-d', '1', '--refreshes', '3')[-1])
        result = pace('top', '--wall', '--stdio', '-p', program.pid, '-d', '1', '--refreshes', '2')
        assert result.status == 0, result
        assert re.search(r'blocked of 5 threads;', result.out) and re.search(r'^# +Wall +CPU ms +Runnable ms +Blocked ms +Command', result.out, re.M), result
        assert re.search(r'^ +\d+\.\d+% +0\.0 +0\.0 +\d{3,4}\.\d +locked ', result.out, re.M), result
        # By thread, and with shares of the elapsed time.
        result = pace('top', '--wall', '--stdio', '-p', program.pid, '-d', '1', '--refreshes', '2', '--fields', 'latency,wall_blocked,tid,symbol')
        assert result.status == 0 and 'Latency' in result.out, result


@test
def wall_without_rights_is_of_own_processes_and_says_so():
    needs_root()
    needs('setpriv')
    rights_stay()
    if int(open('/proc/sys/kernel/perf_event_paranoid', encoding='utf-8').read()) < 2:
        skip('everybody may see the kernel')
    os.chmod('.', 0o755)
    with Waiting(prefix=NOBODY):
        result = run(*NOBODY, PACE, 'top', '--wall', '--json', '-d', '1', '--refreshes', '3')
        check_sane(result)
        if result.status and 'perf_event_paranoid' in result.err:
            skip('nobody may see nothing')
        document = json.loads(result.out.splitlines()[-1])
        assert document['measured'] == 'your own processes', document
        names = {r['comm']: r['symbol'] for r in document['events'][3]['rows'] if r['period'] > 0.5 * document['span_ns']}
        for name, function in WAITS.items():
            assert re.search(function, names[name]), names
        assert 'looks up in /proc where threads block' in result.err, result


@test
def a_user_who_runs_nothing_else_is_told_what_to_name():
    if os.geteuid():
        skip('becoming another user is for root')
    os.chmod('.', 0o755)
    result = run('setpriv', '--reuid', '64321', '--clear-groups', PACE, 'top', '--stdio')
    if 'measuring at all' in result.err:
        skip('other users may see nothing')
    assert result.status == 1 and 'nothing else runs as user 64321' in result.err and "'pace top make'" in result.err, result
    assert '-u 64321' not in result.err, result
    # One who names a user is answered in the words of the option.
    result = run(PACE, 'top', '--stdio', '-u', '64321')
    assert result.status == 1 and '-u 64321: nothing runs as this user' in result.err, result


@test
def a_key_turns_to_time_off_cpus_and_back():
    with Waiting() as program:
        terminal = Terminal(110, 30)
        opens(terminal, '-p', program.pid)
        terminal.waits(lambda: 'Overhead' in terminal.lines()[1] and any('compute' in line for line in terminal.rows()))
        terminal.types('W')
        terminal.waits(lambda: 'Blocked ms' in terminal.lines()[1] and 'blocked of 5 threads' in terminal.lines()[0])
        for name in WAITS:
            assert [line for line in terminal.rows() if f' {name} ' in line], terminal.text()
        # Its callers are below a wait, though -g was not asked for.
        terminal.types('/')
        terminal.types('-l', 'nanosleep')
        terminal.types('Enter')
        terminal.waits(lambda: 'have /nanosleep' in terminal.lines()[-1])
        if os.geteuid() == 0:
            terminal.types('e')
            terminal.waits(lambda: any('entry_SYSCALL' in line or 'syscall' in line for line in terminal.rows()))
        terminal.types('Escape')
        terminal.types('p')
        terminal.waits(lambda: 'PAUSED' in terminal.lines()[-1])
        terminal.types('p')
        terminal.waits(lambda: 'PAUSED' not in terminal.lines()[-1])
        terminal.types('W')
        terminal.waits(lambda: 'Overhead' in terminal.lines()[1] and any('compute' in line for line in terminal.rows()))
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.ends()


@test
def lost_samples_are_said():
    with Hot() as hot:
        process = subprocess.Popen([PACE, 'top', '--json', '-p', hot.pid, '-m', '1', '-d', '0.3'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert json.loads(process.stdout.readline())['lost_so_far'] == 0
            process.send_signal(signal.SIGSTOP)
            # A page has room for a hundred samples.
            time.sleep(1)
            process.send_signal(signal.SIGCONT)
            found = [json.loads(process.stdout.readline()) for _ in range(6)]
        finally:
            process.send_signal(signal.SIGINT)
            what_it_said(process)
        assert found[-1]['lost_so_far'] > 100 and sum(d['lost'] for d in found) == found[-1]['lost_so_far'], found


@test
def signals_end_it_and_a_reader_that_leaves_does():
    with Hot() as hot:
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            process = subprocess.Popen([PACE, 'top', '--json', '-p', hot.pid, '-d', '0.2'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            process.stdout.readline()
            process.send_signal(number)
            _, err = what_it_said(process)
            assert process.returncode == 0 and 'error' not in err, (number, process.returncode, err)
        shell = run('sh', '-c', f'{shlex.quote(PACE)} top --json -d 0.2 -p {hot.pid} | head -n 1')
        assert shell.status == 0 and shell.out.count('\n') == 1, shell


@test
def options_that_contradict_each_other_are_refused():
    for words, said in ((('-K', '-U'), 'nothing to show'), (('--stdio', '--json'), 'choose one'), (('-s', 'nokey'), 'nokey'), (('-s', 'overhead'), 'a key to group by'),
                        (('-s', 'type'), 'needs a recording'), (('--children',), 'add -g'), (('-d', '0'), 'at least'), (('-b',), 'pace record -b'),
                        (('--call-graph', 'nonsense'), 'nonsense'), (('-c', '5', '-F', '5'), 'choose one'),
                        (('--wall', '-C', '0'), 'does not work with -C'), (('--fields', 'latency,symbol'), 'add --wall')):
        result = pace('top', *words)
        assert result.status in (1, 2) and said in result.err and not result.out, (words, result)


def has_ended(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rsplit(')', 1)[1].split()[0] == 'Z'
    except FileNotFoundError:
        return True


def opens(terminal, *words):
    terminal.opens('-d', '0.3', *words, command='top')


@test
def a_terminal_shows_it_and_keys_steer_it():
    with Hot() as hot:
        terminal = Terminal(100, 30)
        opens(terminal, '-p', hot.pid)
        terminal.waits(lambda: 'hot' in terminal.lines()[2] and terminal.lines()[2].split()[-1] == 'busy')
        assert re.search(r'\d/s, 0 lost; pace: \d', terminal.lines()[-1]), terminal.text()
        # Frozen: nothing moves any more.
        terminal.types('F')
        terminal.waits(lambda: 'frozen' in terminal.lines()[-1])
        frozen = terminal.lines()[:-1]
        time.sleep(1)
        assert terminal.lines()[:-1] == frozen
        terminal.types('F')
        terminal.waits(lambda: terminal.lines()[:-1] != frozen)
        terminal.types('p')
        terminal.waits(lambda: 'PAUSED' in terminal.lines()[-1])
        terminal.types('p', 'z')
        terminal.waits(lambda: 'zeroed' in terminal.lines()[-1])
        # Other keys and another event begin anew; one that does not exist leaves all as it was.
        terminal.types('s')
        terminal.waits(lambda: 'keys to group by' in terminal.lines()[-1])
        terminal.types('-l', 'comm,symbol')
        terminal.types('Enter')
        terminal.waits(lambda: 'Command' in terminal.lines()[1] and any('busy' in line for line in terminal.rows()))
        terminal.types('v')
        terminal.waits(lambda: 'event:' in terminal.lines()[-1])
        terminal.types('-l', 'nonsense')
        terminal.types('Enter')
        terminal.waits(lambda: "'nonsense'" in terminal.lines()[-1])
        terminal.types('v')
        terminal.types('-l', 'task-clock')
        terminal.types('Enter')
        terminal.waits(lambda: 'task-clock' in terminal.lines()[0] and any('busy' in line for line in terminal.rows()))
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.command('echo status $?')
        terminal.waits(lambda: 'status 0' in terminal.lines())
        terminal.ends()


@test
def the_cursor_stays_on_its_function_and_open_calls_stay_open():
    with Hot() as hot:
        terminal = Terminal(100, 30)
        opens(terminal, '-p', hot.pid, '-g', '-s', 'symbol')
        terminal.waits(lambda: any('main' in line for line in terminal.rows()))
        # The row of main, wherever it is, and what it calls.
        terminal.types('/')
        terminal.types('-l', 'main')
        terminal.types('Enter')
        terminal.waits(lambda: 'rows have /main' in terminal.lines()[-1])
        terminal.types('e', 'Escape')
        terminal.waits(lambda: 'rows have' not in terminal.lines()[-1])
        for _ in range(4):
            time.sleep(0.5)
            lines = terminal.rows()
            calls = [i for i, line in enumerate(lines) if re.search(r'[-+ ] (busy|other)$', line) and '[.]' not in line]
            assert len(calls) == 2, terminal.text()
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.ends()


@test
def the_code_of_a_line_is_that_of_a_moment_while_measuring_goes_on():
    with Hot() as hot:
        for words in (), ('-g',), ('-z',):
            terminal = Terminal(100, 40)
            opens(terminal, '-p', hot.pid, '-s', 'symbol', '--no-children' if words == ('-g',) else '--tui', *words)
            terminal.waits(lambda: 'busy' in terminal.lines()[2])
            terminal.types('a')
            terminal.waits(lambda: 'frozen at' in terminal.lines()[0] and any('add' in line for line in terminal.lines()))
            assert ' busy  hot ' in terminal.lines()[0], terminal.text()
            shares = [float(x) for x in re.findall(r'^ +(\d+\.\d\d) │', terminal.text(), re.M)]
            assert 95 < sum(shares) < 100.5, terminal.text()
            # It is the code that was sampled, and stays as it is.
            before = terminal.text()
            time.sleep(1)
            assert terminal.text() == before
            terminal.types('q')
            terminal.waits(lambda: '/s, 0 lost' in terminal.lines()[-1])
            early = terminal.lines()[0]
            terminal.waits(lambda: terminal.lines()[0] != early)
            if not words:
                # Paused, and after the end, there is still code.
                terminal.types('p')
                terminal.waits(lambda: 'PAUSED' in terminal.lines()[-1])
                terminal.types('a')
                terminal.waits(lambda: 'frozen at' in terminal.lines()[0])
                terminal.types('q')
                terminal.waits(lambda: 'PAUSED' in terminal.lines()[-1])
                terminal.types('p')
                terminal.types('W')
                terminal.waits(lambda: 'Blocked ms' in terminal.lines()[1])
                terminal.types('a')
                terminal.waits(lambda: 'W shows samples' in terminal.lines()[-1])
                terminal.types('W')
                terminal.waits(lambda: 'Overhead' in terminal.lines()[1] and any('busy' in line for line in terminal.rows()))
            terminal.types('q')
            terminal.waits(lambda: terminal.state() == '0 1 0 1')
            terminal.ends()
        terminal = Terminal(100, 40)
        opens(terminal, '-p', hot.pid, '-s', 'symbol')
        terminal.waits(lambda: 'busy' in terminal.lines()[2])
        stop(hot.process)
        terminal.waits(lambda: 'has ended' in terminal.lines()[-1])
        terminal.types('a')
        terminal.waits(lambda: 'frozen at' in terminal.lines()[0] and any('add' in line for line in terminal.lines()))
        terminal.types('q', 'q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.ends()


@test
def zooms_stay_while_rows_change_and_escape_takes_them_back():
    with Hot() as hot, Waiting() as waiting:
        terminal = Terminal(130, 30)

        def names():
            return {line.split()[-1] for line in terminal.rows() if '[.]' in line}

        opens(terminal, '-p', f'{hot.pid},{waiting.pid}', '-s', 'comm,dso,symbol')
        terminal.waits(lambda: {'busy', 'other', 'compute'} <= names())
        # The cursor on a row of the program hot.
        terminal.types('/')
        terminal.types('-l', 'other')
        terminal.types('Enter')
        terminal.waits(lambda: 'have /other' in terminal.lines()[-1])
        terminal.types('t')
        terminal.types('Escape')
        terminal.waits(lambda: 'thread hot' in terminal.lines()[0] and 'busy' in names() and 'compute' not in names())
        for _ in range(3):
            early = terminal.lines()[0]
            terminal.waits(lambda: terminal.lines()[0] != early)
            assert 'busy' in names() and 'compute' not in names(), terminal.text()
        terminal.types('d')
        terminal.waits(lambda: 'thread hot > file' in terminal.lines()[0])
        terminal.types('Escape')
        terminal.waits(lambda: 'thread hot;' in terminal.lines()[0])
        # Rows that are not by thread know nothing of the zoom.
        terminal.types('s')
        terminal.waits(lambda: 'keys to group by' in terminal.lines()[-1])
        terminal.types('-l', 'dso,symbol')
        terminal.types('Enter')
        terminal.waits(lambda: 'Command' not in terminal.lines()[1] and {'busy', 'compute'} <= names() and 'thread hot' not in terminal.lines()[0])
        terminal.types('t')
        terminal.waits(lambda: 'not by thread' in terminal.lines()[-1])
        terminal.types('d')
        terminal.waits(lambda: 'file' in terminal.lines()[0] and not {'busy', 'compute'} <= names())
        terminal.types('Escape')
        terminal.waits(lambda: {'busy', 'compute'} <= names())
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.ends()


@test
def text_on_a_terminal_where_that_is_the_default():
    with Hot() as hot:
        terminal = Terminal(100, 30)
        top = f'{shlex.quote(PACE)} top -p {hot.pid} -d 0.3'
        for before, words, has_screen in (('PACE_TUI=0', '', False), ('', '--no-tui', False), ('', '--stdio', False), ('TERM=dumb', '', False),
                                          ('PACE_TUI=0', '--tui', True), ('PACE_TUI=1', '', True)):
            terminal.command('clear')
            terminal.waits(lambda: '# Samples' not in terminal.text() and 'top -p' not in terminal.text())
            terminal.command(f'{before} {top} --refreshes 3 {words}')
            terminal.waits(lambda: ('h: help' if has_screen else '# Samples: ') in terminal.text())
            terminal.types('q' if has_screen else 'C-c')
            terminal.waits(lambda: terminal.state() == '0 1 0 1' and [line for line in terminal.lines() if line][-1].endswith('$'))
        terminal.ends()


@test
def other_sizes_signals_and_a_closed_terminal():
    with Hot() as hot:
        terminal = Terminal(80, 24)
        opens(terminal, '-p', hot.pid)
        for columns, rows in (160, 50), (40, 10), (80, 24):
            terminal.tmux('resize-window', '-x', str(columns), '-y', str(rows))
            terminal.waits(lambda: len(terminal.lines()) == rows and re.match(r'\d+ of \d+ lines', terminal.lines()[-1]))
        terminal.types('C-c')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        opens(terminal, '-p', hot.pid)
        shell = int(terminal.tmux('display-message', '-p', '#{pane_pid}'))
        child = children(shell)[0]
        terminal.types('C-z')
        terminal.waits(lambda: terminal.state() == '0 1 0 1' and 'Stopped' in terminal.text())
        terminal.command('fg')
        terminal.waits(lambda: 'h: help' in terminal.text())
        terminal.ends()
        wait_for(lambda: has_ended(child))


@test
def what_has_ended_is_said_and_still_there_to_be_read():
    with Hot() as hot:
        terminal = Terminal(100, 30)
        opens(terminal, '-p', hot.pid)
        terminal.waits(lambda: any('busy' in line for line in terminal.rows()))
        stop(hot.process)
        terminal.waits(lambda: 'has ended' in terminal.lines()[-1])
        assert any('busy' in line for line in terminal.rows())
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.ends()


def plain_rows(path, *words):
    result = pace('report', '--stdio', '-g', 'none', '-i', path, *words)
    assert result.status == 0, result
    return [' '.join(line.split()) for line in result.out.splitlines() if line and not line.startswith('#')]


@test
def report_shows_a_stream_while_it_is_recorded():
    with Hot() as hot:
        terminal = Terminal(100, 30)
        recorder = f'{shlex.quote(PACE)} record -q -g -o - -p {hot.pid}'
        terminal.command(f'{recorder} | {shlex.quote(PACE)} report -i -')
        terminal.waits(lambda: 'recording ...' in terminal.lines()[-1] and any('busy' in line for line in terminal.rows()))
        early = terminal.lines()[0]
        terminal.waits(lambda: terminal.lines()[0] != early)
        assert 'recording ...' in terminal.lines()[-1], terminal.text()
        # Leaving in the middle ends both.
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.command(f'clear; {recorder} | {shlex.quote(PACE)} report -i -')
        terminal.waits(lambda: 'recording ...' in terminal.lines()[-1])
        stop(hot.process)
        terminal.waits(lambda: 'the recording is complete, 0 lost' in terminal.lines()[-1])
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.ends()


@test
def a_stream_ends_with_the_rows_of_its_text():
    can_record()
    hot = build_c(HOT, 'hot')
    with open('stream.data', 'wb') as file:
        assert subprocess.run([PACE, 'record', '-q', '-g', '-o', '-', hot, '2'], stdout=file, check=False).returncode == 0
    for words in (['-s', 'comm,symbol'], ['-s', 'symbol', '--no-children', '-n'], ['--symbols', 'busy']):
        terminal = Terminal(160, 30)
        terminal.command(f'cat stream.data | {shlex.quote(PACE)} report -i - -g none {" ".join(words)}')
        terminal.waits(lambda: 'the recording is complete' in terminal.lines()[-1])
        terminal.types('P')
        terminal.waits(lambda: "to 'pace.hist.0'" in terminal.text())
        with open('pace.hist.0', encoding='utf-8') as file:
            rows = [' '.join(line[11:].split()) for line in file]
        os.unlink('pace.hist.0')
        assert rows == plain_rows('stream.data', *words), words
        terminal.ends()
    # Whatever asks for text gets it.
    terminal = Terminal(160, 30)
    for i, words in enumerate(('--stdio', '-q', '--no-tui', '--hierarchy')):
        terminal.command(f'clear; cat stream.data | {shlex.quote(PACE)} --no-pager report -i - {words} >there 2>&1; cat stream.data | PACE_TUI=0 {shlex.quote(PACE)} --no-pager report -i -;'
                         f' echo end {i}')
        terminal.waits(lambda: f'end {i}' in terminal.lines())
        assert 'busy' in open('there', encoding='utf-8').read(), words
    terminal.ends()


main()
