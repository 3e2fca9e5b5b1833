#!/usr/bin/env python3
"""Colours of text: those of perf where it has them, on terminals that know them, and never from what a recording says."""
import os
import pty
import re
import subprocess
import sys
import unicodedata

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402

FIELDS = handmade.IP | handmade.TID | handmade.TIME | handmade.CPU | handmade.PERIOD
COLOUR = re.compile('\x1b\\[[0-9;]*m')
USER = -512 & (1 << 64) - 1  # PERF_CONTEXT_USER
RED, GREEN, END = '\x1b[31m', '\x1b[32m', '\x1b[m'
# CPU -> its samples of 1000: at, above and below both thresholds
SHARES = [893, 50, 49, 1, 2, 5]


def write(path, **how):
    """A recording whose shares are known; SHARES by CPU, and half of each below one caller."""
    samples = []
    for cpu, n in enumerate(SHARES):
        for i in range(n):
            ip = handmade.TEXT + 0x100 + 16 * cpu
            samples.append({'ip': ip, 'cpu': (cpu, 0), 'chain': [USER, ip, handmade.TEXT + 0x800 + 0x100 * (i % 2)]})
    handmade.write(path, FIELDS | handmade.CALLCHAIN, samples, **how)


def write_accesses(path):
    """Loads of lines that were modified in another cache, in the same shares."""
    hit = handmade.data_src(op=2, level=0x42, snoop=0x10)
    handmade.write(path, FIELDS | handmade.ADDR | handmade.DATA_SRC,
                   [{'ip': handmade.TEXT, 'addr': 0x600000 + 64 * line, 'data_src': hit} for line, n in enumerate(SHARES) for _ in range(n)])


def show(*args):
    """What a command prints, with its colours."""
    result = run(PACE, *args)
    assert result.status == 0 and not result.err, result
    return result.out


def coloured(text):
    return re.findall('\x1b\\[3[0-9]m[^\x1b]*\x1b\\[m', text)


def on_terminal(*args, **env):
    """What a command prints on a terminal. None: the variable is not set."""
    ours, theirs = pty.openpty()
    variables = dict(os.environ, TERM='xterm', PACE_TUI='0')
    variables.pop('NO_COLOR', None)
    for name, value in env.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value
    text = b''
    with subprocess.Popen([PACE, *args], stdout=theirs, stderr=subprocess.DEVNULL, env=variables) as process:
        os.close(theirs)
        try:
            while True:
                text += os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0, text
    os.close(ours)
    return text.decode().replace('\r', '')


@test
def percentages_have_the_colours_of_perf():
    perf_works()
    write('c.data')
    for options in (['-g', 'none', '-s', 'cpu'], ['-g', 'none', '-s', 'cpu', '--no-children', '-F', 'overhead,overhead_us,sample,cpu'],
                    ['-g', 'none', '--no-children', '--hierarchy', '-s', 'comm,cpu'],
                    ['--no-children', '-s', 'cpu', '-g', 'graph,0,caller'], ['--no-children', '-s', 'cpu', '-g', 'fractal,0,caller'],
                    ['--no-children', '-s', 'cpu', '-g', 'flat,0,callee'], ['--no-children', '-s', 'cpu', '-g', 'folded,0,callee'],
                    ['--no-children', '-s', 'cpu', '-g', 'folded,0,callee,count']):
        words = ['report', '-i', 'c.data', '--stdio-color', 'always', *options]
        ours, theirs = coloured(show(*words)), coloured(run('perf', *words, '--stdio', '-f').out)
        assert len(ours) >= 3 and sorted(ours) == sorted(theirs), (options, ours, theirs)
        # Nothing else is another text.
        plain = pace('report', '-i', 'c.data', *options).out
        assert '\x1b' not in plain and COLOUR.sub('', show(*words)) == plain, plain


@test
def colours_begin_at_five_percent_and_above_half_a_percent():
    write('c.data')
    out = show('report', '-i', 'c.data', '-g', 'none', '--no-children', '-s', 'cpu', '--stdio-color')
    for line in (f'  {RED}  89.30%{END}  000', f'  {RED}   5.00%{END}  001', f'  {GREEN}   4.90%{END}  002', '     0.50%  005', '     0.20%  004'):
        assert f'\n{line}' in out, (line, out)
    write_accesses('m.data')
    out = show('c2c', 'report', '-i', 'm.data', '--stdio-color')
    for share in (f'{RED} 89.3%{END}  ', f'{RED}  5.0%{END}  ', f'{GREEN}  4.9%{END}  ', '  0.5%  ', '  0.2%  '):
        assert len(re.findall(rf'\n +\d+  0x[0-9a-f]+  {re.escape(share)}', out)) == 1, (share, out)
    assert out.count(f'  {RED}100.0%{END}  ') == len(SHARES), out  # of each line's only use


@test
def colours_are_for_terminals_that_know_them():
    write('c.data')
    can_record()
    assert pace('record', '-q', '-F', '2000', '-e', 'cpu-clock:u', '-o', 'a.data', 'sh', '-c', 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done').status == 0
    write_accesses('m.data')
    report = ['report', '-i', 'c.data', '-s', 'cpu']
    for words in (report, [*report, '--hierarchy', '--no-children'], [*report, '-w', '0,0'], ['diff', 'c.data', 'c.data', '-s', 'cpu'],
                  ['annotate', '-i', 'a.data', '--all'], ['c2c', 'report', '-i', 'm.data']):
        plain = on_terminal(*words, NO_COLOR='1')
        shown = on_terminal(*words)
        assert '\x1b' not in plain and RED in shown and COLOUR.sub('', shown) == plain, (words, shown, plain)
        assert on_terminal(*words, NO_COLOR='') == shown, words
        for variables in ({'TERM': 'dumb'}, {'TERM': None}):
            assert on_terminal(*words, **variables) == plain, (words, variables)
        assert '\x1b' not in pace(*words).out, words
        if words[0] != 'diff':
            assert on_terminal(*words, '--stdio-color', 'never') == plain
            assert on_terminal(*words, '--stdio-color', 'auto', TERM='dumb') == plain
            assert on_terminal(*words, '--stdio-color', 'always', NO_COLOR='1', TERM='dumb') == shown


@test
def data_have_no_colours():
    write('c.data')
    for options in (['--json'], ['--csv'], ['--md'], ['-t', ';'], ['--format', 'folded']):
        words = ['report', '-i', 'c.data', '-s', 'cpu', '-g', 'none', *options]
        assert on_terminal(*words, '--stdio-color', 'always') == pace(*words).out != '', words


@test
def names_bring_no_colours_of_their_own():
    write('evil.data', program=('/nowhere/\x1b[35mevil\x1b[0m\x9b36m', handmade.TEXT, 0x10000, handmade.TEXT))
    for words in (['report', '-i', 'evil.data', '-s', 'dso,cpu'], ['report', '-i', 'evil.data', '-s', 'dso,cpu', '--hierarchy', '--no-children'],
                  ['diff', 'evil.data', 'evil.data', '-s', 'dso,cpu']):
        shown = on_terminal(*words)
        assert 'evil' in shown and coloured(shown), shown
        assert set(COLOUR.findall(shown)) <= {RED, GREEN, END} and '\x1b' not in COLOUR.sub('', shown) and '\x9b' not in shown, shown


@test
def names_of_events_bring_none_either():
    can_record()
    assert pace('record', '-q', '-e', 'cpu-clock/name=evilname/', '-e', 'page-faults', '-o', 'e.data', 'ls').status == 0
    data = open('e.data', 'rb').read()
    assert b'evilname' in data
    open('e.data', 'wb').write(data.replace(b'evilname', b'\x1b[31mabc'))
    # check_sane() looks for control bytes.
    result = pace('report', '-i', 'e.data', '--fail-if', 'self(main) >= 0%')
    assert result.status == 4 and r'is true for \x1b[31mabc: ' in result.err, result
    for command in ('report', 'annotate', 'script', 'evlist', 'c2c'):
        pace(command, '-i', 'e.data')


def columns(text):
    """The columns that a terminal needs for it."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in text)


@test
def the_last_column_ends_at_the_edge_of_the_terminal():
    for name in ('n' * 300, '\u6f22\u5b57' * 60, 'a' + '\u6f22\u5b57' * 60, 'e\u0301' * 90):
        write('w.data', program=('/nowhere/' + name, handmade.TEXT, 0x10000, handmade.TEXT))
        words = ['report', '-i', 'w.data', '-g', 'none', '--no-children', '-s', 'cpu,dso']
        whole = pace(*words).out
        assert name in whole
        for locale, mark in (('C.UTF-8', '\u2026'), ('C', '...'), ('', '...')):
            shown = on_terminal(*words, NO_COLOR='1', LC_ALL=locale, LANG='')
            rows = [line for line in shown.splitlines() if '%' in line and not line.startswith('#')]
            assert len(rows) == len(SHARES), shown
            for row in rows:
                # Where a wide character does not fit a column stays empty.
                assert row.endswith(mark) and 79 <= columns(row) <= 80 and row[:-len(mark)] in whole, (locale, columns(row), row)
        assert on_terminal(*words, '-w', '0', NO_COLOR='1') == whole == pace(*words, '-w', '0').out
        # -w cuts without a mark, as perf does.
        assert '\u2026' not in on_terminal(*words, '-w', '0,0,20', NO_COLOR='1', LC_ALL='C.UTF-8')


@test
def an_unknown_word_is_refused():
    for command in ('report', 'annotate', 'c2c'):
        result = pace(command, '--stdio-color', 'sometimes')
        assert result.status == 2 and "'sometimes' is none of always, never, auto" in result.err, result


main()
