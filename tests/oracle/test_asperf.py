#!/usr/bin/env python3
"""pace in perf's place: called by the name `perf`, it answers what callers parse as the installed perf does."""
import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
sys.path.insert(1, os.path.join(TOP, 'tests', 'replay'))
from replay import machine  # noqa: E402

WORK = 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done\n'
LINK = 'link/perf'


def link():
    os.makedirs('link', exist_ok=True)
    if not os.path.lexists(LINK):
        os.symlink(PACE, LINK)
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    return os.path.abspath(LINK)


def shape(text):
    """Lines with each number as its kind: how many digits stand behind the point, and whether it is 0."""
    text = re.sub(r'\d+\.(\d+)', lambda m: 'x.' + 'd' * len(m[1]), text)
    return re.sub(r'\b\d+\b', 'n', text)


# What runs a command, and what looks at the whole system for a moment.
PROGRAM = (['-x,', '-e', 'task-clock,page-faults,cycles'], ['-x;', '-e', 'task-clock:u'], ['-j', '-e', 'task-clock,page-faults,cycles'],
           ['-x,', '-r', '3', '-e', 'task-clock,page-faults,cycles'], ['-j', '-r', '2', '-e', 'task-clock,page-faults'])
SYSTEM = ('-a -A -x, -e cpu-clock', '-a --per-core -x, -e cpu-clock,cycles', '-a --per-socket -x; -e cpu-clock', '-a --per-die -x, -e cpu-clock',
          '-a -A -j -e cpu-clock', '-a --per-node -j -e cpu-clock', '-a --per-core -j -e cpu-clock', '-a -x, -e cpu-clock -G / -e page-faults -G /',
          '-a -j -e cpu-clock -G /', '-a -x, --summary -I 120 -e cpu-clock', '-a -x, --no-csv-summary --summary -I 120 -e cpu-clock',
          '-a -j -I 120 -e cpu-clock', '-x\\t -a -e cpu-clock')


@test
def counts_have_perfs_columns_and_members():
    perf_works()
    path = link()
    for words in PROGRAM:
        ours, theirs = (shape(run(tool, 'stat', *words, 'sh', 'work.sh').err) for tool in (path, 'perf'))
        assert ours == theirs and len(ours) > 30, (words, ours, theirs)
    needs_root()
    for words in SYSTEM:
        ours, theirs = (shape(run(tool, 'stat', *words.split(), 'sleep', '0.2').err) for tool in (path, 'perf'))
        # Units grow with the values.
        ours, theirs = (re.sub(r'[KM]?/sec', '/sec', text) for text in (ours, theirs))
        assert ours == theirs and len(ours) > 30, (words, ours, theirs)


@test
def further_metrics_are_rows_of_their_own():
    """Counts are scripted: both tools see the same ones."""
    counts = {'cycles': 2_000_000, 'instructions': 1_000_000, 'stalled-cycles-frontend': 600_000, 'branches': 1000, 'branch-misses': 200}
    events = 'cycles,instructions,stalled-cycles-frontend,branches,branch-misses'
    path = link()
    for words in (['-x,'], ['-x,', '-a', '--per-socket'], ['-x,', '-a', '-A'], ['-j'], ['-j', '-a', '-A']):
        with machine('zen4', counts) as on:
            ours = on.pace('--as-perf', 'stat', *words, '-e', events, 'sleep', '0.01').err
            theirs = on.perf('stat', *words, '-e', events, 'sleep', '0.01').err
        # How long they ran differs from run to run, by the clock of the replay. perf 6.1 writes units without values where there is no time.
        ours, theirs = (re.sub(r'(?<=[,:] )\d{7,9}(?=, "pcnt)|(?<=,)\d{7,9}(?=,100)', 'TIME', text) for text in (ours, theirs))
        ours, theirs = (re.sub(r'(?<=TIME,)(99|10\d)\.\d\d', '100.00', text) for text in (ours, theirs))
        theirs = re.sub(r'"metric-unit" : "(Ghz|\(null\))"', '"metric-unit" : ""', theirs)
        assert sorted(ours.splitlines()) == sorted(theirs.splitlines()) and '0.6' in ours, (words, ours, theirs)
        if '-A' not in words:
            assert ours == theirs, (words, ours, theirs)


@test
def the_mode_is_chosen_by_name_option_or_environment():
    path = link()
    plain = pace('version').out
    assert re.fullmatch(r'pace \S+\n', plain), plain
    as_perf = f'perf version 6.1.0 ({plain.strip()})\n'
    for words, env, out in (([path, 'version'], {}, as_perf), ([path, '--version'], {}, as_perf), ([PACE, '--as-perf', 'version'], {}, as_perf),
                            ([PACE, 'version'], {'PACE_AS_PERF': '1'}, as_perf), ([path, 'version'], {'PACE_AS_PERF': '0'}, plain),
                            ([PACE, 'version'], {'PACE_AS_PERF': ''}, plain)):
        result = run(*words, env=dict(os.environ, **env))
        assert result.out == out and result.status == 0, (words, env, result)
    result = run(path, 'version', '--build-options')
    assert re.search(r'^ +dwarf: \[ on  \]  # HAVE_DWARF_SUPPORT$', result.out, re.M), result
    commands = run(path, '--list-cmds').out.split()
    assert {'record', 'report', 'script', 'stat', 'annotate', 'diff'} <= set(commands), commands
    assert pace('--list-cmds').status == 2


@test
def messages_of_record_are_perfs():
    can_record()
    perf_works()
    path = link()
    ours, theirs = (shape(run(tool, 'record', '-e', 'cpu-clock', '-o', 'r.data', 'sh', 'work.sh').err) for tool in (path, 'perf'))
    assert ours == theirs and ours.startswith('[ perf record: Woken up n times'), (ours, theirs)
    result = run(path, 'record', '-e', 'no-such-event', 'true')
    assert result.status and result.err.startswith('perf record: '), result


@test
def notes_are_left_out_and_come_back_with_v():
    can_record()
    path = link()
    assert pace('record', '-q', '-g', '-e', 'cpu-clock', '-o', 'n.data', 'sh', 'work.sh').status == 0
    words = ('report', '-i', 'n.data', '--stdio', '--symbols', 'no_such_function')
    plain, mode, verbose = (run(tool, *words, *more).err for tool, more in ((PACE, []), (path, []), (path, ['-v'])))
    assert 'note: no sampled function' in plain and 'note: no sampled function' in verbose and 'note: ' not in mode, (plain, mode, verbose)


@test
def what_the_mode_adds_can_be_taken_back_and_works_without_it():
    path = link()
    result = run(path, 'stat', '--columns', 'pace', '-j', '-e', 'task-clock', 'true')
    assert json.loads(result.err.splitlines()[0])['kind'] == 'count', result
    result = pace('stat', '--columns', 'perf', '-j', '-e', 'task-clock', 'true')
    assert 'counter-value' in json.loads(result.err.splitlines()[0]), result
    result = pace('stat', '--columns', 'both', '-j', 'true')
    assert result.status == 2 and 'perf7 or pace' in result.err, result
    # Options of configuration files stand beside those of the mode, also where the command has a subcommand.
    with open('config', 'w', encoding='utf-8') as file:
        file.write('[stat]\nbig-num = false\n')
    assert run(path, 'stat', 'record', '-o', 's.data', '-e', 'task-clock', 'true').status == 0
    result = run(path, 'stat', 'report', '-x,', '-i', 's.data', env=dict(os.environ, PERF_CONFIG='config'))
    assert re.fullmatch(r'[\d.]+,msec,task-clock,\d+,100\.00,[\d.]+,CPUs utilized\n', result.out), result
    # Text for people has no columns of either kind.
    ours, mode = (shape(run(tool, 'stat', '-e', 'task-clock', 'true').err) for tool in (PACE, path))
    assert ours == mode, (ours, mode)


# `perf data -h` lists what only its subcommand takes, which has rows of its own here.
LEFT_OUT = {f'data {option}' for option in ('--all', '--to-ctf', '--to-json', '--tod', '--force', '-f')}


def options_of_perf():
    """(words of the command, option, whether it has a value) by both versions of perf."""
    for line in open(os.path.join(TOP, 'tests/oracle/perf_options.tsv'), encoding='utf-8'):
        if not line.startswith('#'):
            command, short, long, value, _ = line.rstrip('\n').split('\t')
            for option in filter(None, (long and f'--{long}', short and f'-{short}')):
                yield command.split(), option, bool(value)


# What cannot be done, so that no command does much: an option that is refused is so before that is tried.
NOWHERE = {'record': ['-p', '999999999'], 'stat': ['-p', '999999999'], 'top': ['-p', '999999999'], 'list': ['--sysfs', '/nonexistent'],
           'diff': ['/nonexistent', '/nonexistent']}


def answer_to(row):
    """"taken", "refused" (with a sentence) or "unknown"."""
    command, option, has_value = row
    words = [option] if not has_value else [f'{option}=1'] if option.startswith('--') else [option, '1']
    result = pace(*command, *words, *NOWHERE.get(command[0], ['-i', '/nonexistent']))
    if f"no option '{option}" in result.err:
        return 'unknown'
    sentences = [line for line in result.err.splitlines() if not line.startswith(('note: ', 'warning: '))]
    is_refused = result.status == 1 and re.match(r'pace \S+: (--|-\w\b)', sentences[-1]) and not re.search('999999999|nonexistent', sentences[-1])
    return 'refused' if is_refused else 'taken'


@test
def every_option_of_perf_is_taken_or_refused_in_a_sentence():
    commands = set(run(link(), '--list-cmds').out.split())
    rows = [row for row in options_of_perf() if row[0][0] in commands]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        answers = dict(zip(((*row[0], row[1]) for row in rows), pool.map(answer_to, rows)))
    unknown = [' '.join(row) for row, answer in answers.items() if answer == 'unknown' and ' '.join(row) not in LEFT_OUT]
    print(f"# of {len(rows)} options {list(answers.values()).count('taken')} are taken, refused: {[' '.join(row) for row, answer in answers.items() if answer == 'refused']}")
    assert not unknown, unknown
    for name in sorted({row[0][0] for row in options_of_perf()} - commands):
        result = pace(name)
        assert result.status == 2 and f"there is no command '{name}': " in result.err and 'did you mean' not in result.err, result


main()
