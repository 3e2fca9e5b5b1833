#!/usr/bin/env python3
"""`pace stat --vs` on this kernel: real differences are found, everything else is noise, and failures are reported."""
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

FAULTS = 'tests/live/programs/faults.c'


def versus(*args, **kwargs):
    """The rows by their names, and what is said of all; from JSON."""
    result = pace('stat', '-j', *args, **kwargs)
    assert result.status == 0, result
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [line['kind'] for line in lines] == ['difference'] * (len(lines) - 1) + ['comparison'], result
    return {line['event']: line for line in lines[:-1]}, lines[-1]


def can_count():
    if pace('stat', '-e', 'page-faults:u', 'true').status:
        skip('counting is not allowed here')


@test
def a_sleep_of_twice_the_time_is_slower_and_one_of_the_same_is_not():
    # Where it takes long to start anything and to end it, longer ones tell.
    for s in (0.1, 0.5, 2):
        rows, whole = versus('-n', '-r', '12', '--vs', f'sleep {s}', f'sleep {2 * s}')
        time_row = rows['elapsed']
        if time_row['verdict'] == 'more' and time_row['ratio_low'] > 1.2 and time_row['ratio_high'] < 2.8:
            break
    assert time_row['verdict'] == 'more', rows
    assert 1.2 < time_row['ratio_low'] <= time_row['ratio'] <= time_row['ratio_high'] < 2.8, time_row
    assert time_row['a']['min'] >= s and time_row['b']['min'] >= 2 * s, time_row
    assert whole['pairs'] == 12 and whole['ended_by'] == 'repeat', whole
    # One in twenty may be called a difference; not three, and hardly ever a large one.
    verdicts = [versus('-n', '-r', '10', '--vs', 'sleep 0.01', 'sleep 0.01')[0]['elapsed'] for _ in range(3)]
    assert sum(v['verdict'] != 'noise' for v in verdicts) < 3, verdicts


@test
def pages_touched_are_told_exactly():
    can_count()
    program = build_c(FAULTS, 'faults', '-static')
    rows, _ = versus('-e', 'page-faults:u', '-r', '8', '--table', '--vs', f'{program} 1000', f'{program} 3000')
    faults = rows['page-faults:u']
    assert faults['verdict'] == 'more' and faults['state'] == 'counted', faults
    # A page more or less: where the stack and the libraries come to lie is random.
    assert abs(faults['difference'] - 2000) < 6 and faults['difference_low'] > 1990 and faults['difference_high'] < 2010, faults
    assert len(faults['a']['values']) == 8 and all(1000 <= v < 1100 for v in faults['a']['values']), faults
    rows, _ = versus('-n', '-r', '8', '--vs', f'{program} 9000', f'{program} 11000')
    memory = rows['max-rss']
    assert memory['verdict'] == 'more' and abs(memory['difference'] / 4096 - 2000) < 100, memory


@test
def memory_that_pace_had_itself_is_not_taken_for_the_command_s():
    program = build_c(FAULTS, 'faults', '-static')
    rows, _ = versus('-n', '-r', '6', '--vs', f'{program} 1', f'{program} 2')
    memory = rows['max-rss']
    assert memory['state'] == 'not counted' and memory['verdict'] is None and 'pace' in memory['reason'], memory


@test
def the_page_says_it_in_words():
    program = build_c(FAULTS, 'faults', '-static')
    result = pace('stat', '-n', '-r', '8', '--seed', '5', '--vs', f'{program} 9000', f'{program} 27000')
    assert result.status == 0, result
    assert f' A: {program} 9000\n B: {program} 27000\n' in result.out, result
    assert re.search(r'^ max-rss .* 2\.\d\d times as much', result.out, re.M), result
    assert '8 pairs in random order (seed 5), as many as -r asked for' in result.out, result
    assert max(len(line) for line in result.out.splitlines()) <= 110, result


@test
def the_same_seed_gives_the_same_order():
    def orders(seed):
        return versus('-n', '-r', '16', '--table', '--seed', seed, '--vs', 'true', 'true')[1]['orders']
    one, again, other = orders('7'), orders('7'), orders('8')
    assert one == again != other, (one, again, other)
    assert {'AB', 'BA'} == set(one), one


@test
def without_a_number_it_runs_until_it_is_precise_or_the_time_is_up():
    for s in (0.02, 0.1, 0.4):
        rows, whole = versus('-n', '--vs', f'sleep {s}', f'sleep {10 * s}')
        if whole['ended_by'] == 'precision':
            break
    assert whole['ended_by'] == 'precision' and 10 <= whole['pairs'] < 1000, whole
    began = time.monotonic()
    _, whole = versus('-n', '--timeout', '4000', '--vs', 'sleep 0.3', 'sleep 0.3')
    assert whole['ended_by'] == 'timeout' and 1 <= whole['pairs'] <= 7 and time.monotonic() - began < 100, whole


@test
def csv_has_one_header_and_the_same_columns_in_each_row():
    result = pace('stat', '-x,', '-n', '-r', '2', '--vs', 'true', 'sh -c "exit 0"')
    rows = list(csv.reader(io.StringIO(result.out), strict=True))
    assert rows[0][:5] == ['event', 'state', 'unit', 'pairs', 'a'] and rows[0][-2:] == ['verdict', 'reason'], rows
    assert [row[0] for row in rows[1:]] == ['elapsed', 'user+sys', 'max-rss'], rows
    assert all(len(row) == len(rows[0]) for row in rows), rows


@test
def a_command_that_fails_is_an_error_that_names_it():
    result = pace('stat', '-n', '-r', '2', '--vs', 'true', 'false')
    assert result.status == 1 and not result.out, result
    assert "B, 'false', ended with status 1" in result.err and '--ignore-failure' in result.err, result
    rows, whole = versus('-n', '-r', '2', '--ignore-failure', '--vs', 'true', 'false')
    assert whole['failures_a'] == 0 and whole['failures_b'] == 2, whole
    result = pace('stat', '-n', '-r', '2', '--vs', 'true', './nothing-here')
    assert result.status == 1 and "B: running './nothing-here': No such file" in result.err, result
    result = pace('stat', '-n', '-r', '2', '--vs', "sh -c 'kill -9 $$'", 'true')
    assert result.status == 1 and 'ended with status 137, by SIGKILL' in result.err, result
    result = pace('stat', '-n', '-r', '2', '--vs', "sh -c 'exit 255'", 'true')
    assert result.status == 1 and 'ended with status 255: ' in result.err, result


@test
def what_is_not_two_commands_is_wrong_usage():
    for words, said in ((['true'], 'compares two commands'), (['true', 'true', 'true'], 'there are 3'),
                        (["a 'b", 'true'], 'quote'), (['', 'true'], 'no command')):
        result = pace('stat', '--vs', *words)
        assert result.status in (1, 2) and said in result.err, result
    for option in (['-I', '100'], ['-p', '1'], ['--per-core', '-a'], ['--metric-only']):
        result = pace('stat', *option, '--vs', 'true', 'true')
        assert result.status == 2 and '--vs' in result.err, result
    assert pace('stat', '--seed', '3', 'true').status == 2


@test
def a_shell_is_started_only_where_one_is_needed_and_then_for_both():
    result = pace('stat', '-n', '-r', '1', '--vs', 'sleep 0', 'true')
    assert 'sh -c' not in result.err, result
    result = pace('stat', '-n', '-r', '1', '--vs', 'echo x | cat', 'true')
    assert "A needs a shell: A and B both run through 'sh -c'" in result.err, result
    assert versus('-n', '-r', '1', '--vs', 'true', 'true; true')[1]['uses_shell'] is True


@test
def what_commands_print_is_dropped_unless_asked_for():
    result = pace('stat', '-n', '-q', '-r', '1', '--vs', 'echo one', "sh -c 'echo two; echo three >&2'")
    assert result.out == '' and result.err == 'three\n', result
    result = pace('stat', '-n', '-q', '-r', '1', '--show-output', '--vs', 'echo one', 'echo two')
    assert sorted(result.out.split()) == ['one', 'one', 'two', 'two'], result
    # What is read is empty, whatever pace could read.
    assert versus('-n', '-r', '1', '--vs', 'cat', 'cat')[1]['pairs'] == 1


@test
def hooks_surround_each_run_and_a_failing_one_ends_it():
    result = pace('stat', '-n', '-q', '-r', '2', '--pre', 'echo pre >>log', '--post', 'echo post >>log', '--vs', 'true', 'true')
    assert result.status == 0, result
    assert open('log').read().split() == ['pre', 'post'] * 6
    result = pace('stat', '-n', '-r', '2', '--pre', 'false', '--vs', 'true', 'true')
    assert result.status == 1 and "--pre 'false' ended with status 1" in result.err, result


@test
def ctrl_c_prints_what_there_is_and_leaves_nothing_running():
    # Words that nobody else on this machine says
    mine = f'0.03{os.getpid()}'

    def is_running():
        return any(command.startswith(f'sleep {mine}') for command in commands().values())

    with subprocess.Popen([PACE, 'stat', '-j', '-n', '-r', '0', '--post', 'echo >>log', '--vs', f'sleep {mine}1', f'sleep {mine}2'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        wait_for(lambda: has_grown('log', 10))
        process.send_signal(signal.SIGINT)
        out, err = what_it_said(process)
    whole = json.loads(out.splitlines()[-1])
    assert process.returncode == 130, (process.returncode, out, err)
    assert whole['ended_by'] == 'SIGINT' and whole['is_complete'] is False and whole['pairs'] > 0, whole
    assert not is_running()
    mine = f'7{os.getpid()}.3'
    with subprocess.Popen([PACE, 'stat', '-n', '--vs', f'sleep {mine}1', 'true'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True) as process:
        wait_for(lambda: any(commands()[pid].startswith('sleep ') for pid in children(process.pid) if pid in commands()))
        process.send_signal(signal.SIGTERM)
        out, err = what_it_said(process)
    assert process.returncode == 143 and out == '' and 'SIGTERM came before the first pair was complete' in err, (out, err)
    assert not is_running()


@test
def a_signal_that_comes_while_a_hook_runs_is_not_lost():
    """The hook gets it too, and ends; then the measurement ends as at any other moment."""
    for number, name in ((signal.SIGINT, 'SIGINT'), (signal.SIGTERM, 'SIGTERM')):
        for hook in '--pre', '--post':
            with subprocess.Popen([PACE, 'stat', '-n', '-j', '-r', '0', hook, 'echo >>log; test $(wc -l <log) -lt 8 || { : >here; exec sleep 1000; }', '--vs', 'true', 'true'],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
                wait_for(lambda: os.path.exists('here'))
                process.send_signal(number)
                out, err = what_it_said(process)
            assert process.returncode == 128 + number, (process.returncode, out, err)
            assert json.loads(out.splitlines()[-1])['ended_by'] == name, (hook, out, err)
            for path in ('log', 'here'):
                os.unlink(path)
    # One that ends by itself is still an error.
    result = pace('stat', '-n', '-r', '2', '--post', 'kill -TERM $$', '--vs', 'true', 'true')
    assert result.status == 1 and "--post 'kill -TERM $$' ended with status 143" in result.err, result
    result = pace('stat', '-n', '-r', '2', '--pre', 'exit 130', 'true')
    assert result.status == 1 and "--pre 'exit 130' ended with status 130" in result.err, result


@test
def an_event_that_is_asked_for_and_not_there_has_its_reason():
    can_count()
    rows, _ = versus('-e', 'page-faults:u,cycles', '-r', '2', '--vs', 'true', 'true')
    assert rows['page-faults:u']['state'] == 'counted', rows
    if rows[[name for name in rows if name.startswith('cycles')][0]]['state'] == 'counted':
        skip('this machine counts cycles')
    assert rows['cycles']['state'] == 'not supported' and rows['cycles']['reason'] and rows['cycles']['ratio'] is None, rows


@test
def without_rights_the_same_is_compared_in_user_space():
    needs_root()
    needs('setpriv')
    program = build_c(FAULTS, 'faults', '-static')
    rights_stay()
    shutil.copy(PACE, 'pace')
    os.chmod('.', 0o755)
    result = run(*NOBODY, os.path.abspath('pace'), 'stat', '-j', '-r', '6', '--vs', f'{program} 500', f'{program} 1500')
    check_sane(result)
    assert result.status == 0, result
    rows = {row['event']: row for row in map(json.loads, result.out.splitlines()[:-1])}
    faults = [row for name, row in rows.items() if name.startswith('page-faults')]
    assert faults and abs(faults[0]['difference'] - 1000) < 6, rows


if __name__ == '__main__':
    main()
