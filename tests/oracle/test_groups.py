#!/usr/bin/env python3
"""Several events in one table, `pace report` compared with `perf report`: rows, figures of each event, order, titles.

Not compared: a table whose first event has no samples, which perf leaves out although the others have some; trailing blanks."""
import csv
import io
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403

WORK = '''for i in 1 2; do seq 1 20000 | sort -R | md5sum; done
awk 'BEGIN { for (i = 0; i < 200000; i++) s = s + sqrt(i) }'
'''
CLOCK, FAULTS, SWITCHES = 'cpu-clock/freq=3000/', 'page-faults/period=5/', 'context-switches/period=2/'


def recording(path, *options):
    can_record()
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    for _ in range(8):
        result = run('perf', 'record', '-q', '-o', path, *options, 'sh', 'work.sh')
        assert result.status == 0, result
        # Heads of procedure linkage tables, which are seldom met, have a name in pace only.
        if '_dl_runtime_resolve@plt' not in pace('report', '-i', path, '-g', 'none', '-s', 'sym').out:
            return


def lines(result):
    """What was printed, without the remarks of either program and without the padding of the last column; rows of functions of the
    procedure linkage table, which have one name only in perf, are left out."""
    assert result.status == 0, result
    text = re.sub(r"(# Samples: \S+) +of", r'\1 of', result.out)
    text = re.sub(r"of events('[^,']*'\n)", r'of event\1', text.replace("of events '", "of events'")).replace("of events'", "of events '").replace("of event'", "of event '")
    kept = [line.rstrip() for line in text.split('\n') if not re.match(r'#(?! (Samples|Event count|.*(Overhead|Self)))', line) and '@plt' not in line]
    return [re.sub(r' {2,}(?=[A-Z]\w+ *[A-Z]|Symbol|Command|Shared)', '  ', line) if line.startswith('#') else line for line in kept if line]


def same(path, *options):
    """How many lines both print; fails where they differ in more than the order of rows that are equal in all figures."""
    ours = lines(pace('report', '--no-unnamed-functions', '-i', path, *options))
    theirs = lines(run('perf', 'report', '--stdio', '-f', '-i', path, *options))
    assert sorted(ours) == sorted(theirs), (options, sorted(set(ours) - set(theirs))[:10], sorted(set(theirs) - set(ours))[:10])
    return len(ours)


def figures(result):
    return [tuple(float(f) for f in re.findall(r'(\d+\.\d\d)%', line)) for line in result.out.split('\n') if re.match(r' +\d', line)]


WAYS = [
    ['-s', 'dso'],
    ['-s', 'comm,dso', '-n'],
    ['-s', 'comm,dso,sym', '--show-total-period'],
    ['-s', 'dso', '-F', 'overhead,overhead_sys,overhead_us,sample,period,dso'],
    # With the file: of two files that have no names at one address perf makes one row, and by its order of such rows among
    # those with names it sometimes does not find a row again and makes a second one.
    ['-s', 'dso,sym', '--percent-limit', '1', '-w', '0,24,48'],
    ['-s', 'comm,dso', '-c', 'sort,awk'],
    ['-s', 'dso,sym', '--group-sort-idx', '1'],
    ['-s', 'dso', '--group-sort-idx', '7'],
    ['-s', 'dso', '--no-group'],
    ['-q', '-s', 'dso,comm'],
]


@test
def groups_are_the_tables_of_perf():
    recording('g.data', '-e', f'{{{CLOCK},{FAULTS}}},{SWITCHES}')
    n = sum(same('g.data', '-g', 'none', *way) for way in WAYS)
    assert n > 150, n
    # The rows stand in the order of the event that was asked for, then of the other.
    for index, order in ((0, lambda f: f), (1, lambda f: (f[1], f[0]))):
        shown = figures(pace('report', '-q', '-i', 'g.data', '-s', 'dso', '--group-sort-idx', str(index)))
        shown = [f for f in shown if len(f) == 2]
        assert len(shown) > 4 and shown == sorted(shown, key=order, reverse=True), (index, shown)


@test
def groups_have_totals_of_callers_as_in_perf():
    recording('g.data', '-g', '-e', f'{{{CLOCK},{FAULTS}}},{SWITCHES}')
    # Of functions and files that a broken frame pointer leads to perf makes callers, where pace says that the stack is cut.
    assert sum(same('g.data', '-g', 'none', '-s', keys, '-n') for keys in ('comm', 'pid', 'pid,comm')) > 20


@test
def events_that_are_no_group_share_a_table_if_asked():
    recording('n.data', '-e', CLOCK, '-e', FAULTS, '-e', SWITCHES)
    result = pace('report', '-i', 'n.data', '-s', 'dso')
    assert len(re.findall('# Samples: ', result.out)) == 3, result
    result = pace('report', '-i', 'n.data', '-s', 'dso', '--group')
    assert f"of events '{CLOCK}, {FAULTS}, {SWITCHES}'" in result.out, result
    assert same('n.data', '-s', 'dso', '--group') > 5
    assert same('n.data', '-s', 'comm,dso,sym', '-n', '--group', '--show-total-period') > 30


@test
def samples_of_all_events_of_a_table_are_accounted_for():
    """What is in rows below the limit is said, whichever event it is of."""
    recording('g.data', '-e', f'{{{CLOCK},{FAULTS}}}')
    stats = pace('report', '--stats', '-i', 'g.data').out
    n = int(re.search(r'SAMPLE events: +(\d+)', stats).group(1))
    assert f'# {n:,} samples recorded, all shown.' in pace('report', '-i', 'g.data', '-s', 'dso').out
    result = pace('report', '-i', 'g.data', '-s', 'dso', '-n', '--percent-limit', '5')
    shown = sum(int(a) + int(b) for a, b in re.findall(r'^ +\S+% +\S+% +(\d+) +(\d+)  ', result.out, re.M))
    assert 0 < shown < n and re.search(rf'# {n:,} samples recorded: {shown:,} shown', result.out), (shown, result)


@test
def programs_read_each_event_of_a_group_on_its_own():
    recording('g.data', '-e', f'{{{CLOCK},{FAULTS}}}')
    answer = json.loads(pace('report', '--json', '-i', 'g.data', '-s', 'dso').out)
    assert [event['event'] for event in answer['events']] == [CLOCK, FAULTS], answer['events']
    for option in (['--budget', '9'], ['--md', '--node', '12345678'], ['--ci'], ['--hierarchy', '--json']):
        result = pace('report', '--group', '-i', 'g.data', *option)
        assert result.status == 2 and re.search('--group|--hierarchy', result.err) and not result.out, result


def separated(result):
    """Titles, headers and rows of -t, without the blanks that perf aligns cells by."""
    assert result.status == 0, result
    found = []
    for line in result.out.split('\n'):
        if re.match(r'# (Samples|Event count)', line):
            found.append(re.sub(' +', ' ', line))
        elif line.strip() and (line[0] != '#' or ';' in line) and '@plt' not in line and not re.match(r'(# )?\(Tip: ', line):
            found.append(';'.join(re.sub(' +', ' ', cell.strip()) for cell in line.lstrip('#').split(';')))
    return found


@test
def separated_cells_are_those_of_perf_with_one_event_and_with_several():
    recording('g.data', '-e', f'{{{CLOCK},{FAULTS}}},{SWITCHES}')
    for way in (['--group'], ['--no-group'], ['--group', '-q']):
        # Of rows that are equal in all figures the order is not compared.
        words = ['-i', 'g.data', '-t', ';', '-s', 'dso,comm', '-n', *way]
        ours, theirs = separated(pace('report', *words)), separated(run('perf', 'report', '--stdio', '-f', *words))
        if '--no-group' in way:
            theirs = [line.replace("of events '", "of event '") for line in theirs]
        assert sorted(ours) == sorted(theirs) and len(ours) > 8, (way, ours, theirs)
    # An event without samples has no table.
    recording('d.data', '-e', CLOCK, '-e', 'dummy')
    ours, theirs = (separated(result) for result in (pace('report', '-i', 'd.data', '-t', ';', '-s', 'comm'),
                                                     run('perf', 'report', '--stdio', '-f', '-i', 'd.data', '-t', ';', '-s', 'comm')))
    assert sorted(ours) == sorted(theirs) and 'dummy' not in ' '.join(ours), (ours, theirs)


@test
def a_table_for_issues_has_the_events_of_a_group():
    recording('g.data', '-e', f'{{{CLOCK},{FAULTS}}},{SWITCHES}')
    text = pace('report', '-i', 'g.data', '-s', 'dso,comm', '-t', ';', '--group').out
    groups = [line.replace(' ', ';').split(';') for line in text.split('\n') if re.match(r'[\d.]+% [\d.]+%;', line)]
    for budget in ('5', '100'):
        out = pace('report', '-i', 'g.data', '-s', 'dso,comm', '--md', '--group', '--budget', budget).out
        assert f'| Self of `{CLOCK}` | Self of `{FAULTS}` | Shared Object | Command |\n|---:|---:|---|---|\n' in out, out
        table = out.split('\n\n')[1]
        rows = [re.sub('[`|]', ' ', line).split() for line in table.split('\n')[2:]]
        shown = [row for row in rows if row[-1] != 'more*']
        assert shown == groups[:len(shown)] and len(rows) == min(int(budget), len(groups)), (rows, groups)
        for event in range(2):
            whole = sum(float(row[event][:-1]) for row in rows)
            assert abs(whole - 100) < 0.01 * len(rows), (event, rows)
        assert '<details>' not in out and f'**{SWITCHES}**: ' in out and out.count('# Samples') == 0, out


def nested(result):
    """Rows with the names of those above them -> figures."""
    assert result.status == 0, result
    found, path = [], []
    for line in result.out.split('\n'):
        row = re.match(r'( +)([\d.]+%[ \d.%]*?) {2,}(\S.*)', line)
        if row and '@plt' not in row[3]:
            level = max((len(row[1]) - 4 + 1) // 3, 0)
            path = path[:level] + [row[3].strip()]
            found.append((*path, *row[2].split()))
    return sorted(found)


@test
def rows_below_rows_have_all_events_of_a_group():
    recording('g.data', '-e', f'{{{CLOCK},{FAULTS}}},{SWITCHES}')
    for way in (['-s', 'comm,dso', '-n'], ['-s', 'dso,comm,sym', '--percent-limit', '2'], ['-s', 'comm,dso', '--group-sort-idx', '1'], ['-s', 'dso,sym', '--no-group']):
        ours = nested(pace('report', '--no-unnamed-functions', '-i', 'g.data', '--hierarchy', *way))
        theirs = nested(run('perf', 'report', '--stdio', '-i', 'g.data', '--hierarchy', '-g', 'none', *way))
        assert ours == theirs and len(ours) > 8, (way, [row for row in ours if row not in theirs][:5], [row for row in theirs if row not in ours][:5])
    # Of rows below one, those come first that have most of the event that was asked for.
    out = pace('report', '-q', '-i', 'g.data', '--hierarchy', '-s', 'comm,dso', '--group-sort-idx', '1').out
    second = [float(line.split('%')[1]) for line in out.split('\n') if re.match(r' {4,5}\S+% +\S+%', line)]
    assert len(second) > 2 and second == sorted(second, reverse=True), out


@test
def programs_read_the_events_of_a_group_together_if_they_ask():
    recording('g.data', '-e', f'{{{CLOCK},{FAULTS}}},{SWITCHES}')
    document = json.loads(pace('report', '--group', '--json', '-i', 'g.data', '-s', 'dso,comm').out)
    groups = document['groups']
    assert [[event['event'] for event in group['events']] for group in groups] == [[CLOCK, FAULTS], [SWITCHES]] and 'events' not in document
    single = {event['event']: event for event in json.loads(pace('report', '--json', '-i', 'g.data', '-s', 'dso,comm').out)['events']}
    for group in groups:
        for k, event in enumerate(group['events']):
            alone = single[event['event']]
            assert event == {key: alone[key] for key in ('event', 'samples', 'period', 'lost')}, (event, alone)
            rows = {(row['dso'], row['comm']): row['values'][k] for row in group['rows'] if row['values'][k]['samples']}
            assert rows == {(row['dso'], row['comm']): {key: row[key] for key in ('samples', 'period', 'share')} for row in alone['rows']}
    table = list(csv.DictReader(io.StringIO(pace('report', '--group', '--csv', '-i', 'g.data', '-s', 'dso,comm').out)))
    flat = [{'dso': row['dso'], 'comm': row['comm'], **{f'{key}_{k + 1}': str(value[key]) if key != 'share' else '%.4f' % value[key] for k, value in enumerate(row['values']) for key in value},
             **{f'event_{k + 1}': group['events'][k]['event'] for k in range(len(row['values']))}} for group in groups for row in group['rows']]
    assert [{key: text for key, text in row.items() if text} for row in table] == flat and len(flat) > 8, (table[:3], flat[:3])
    sums = csv.DictReader(io.StringIO(pace('report', '--group', '--csv', '-i', 'g.data', '-F', 'cost,comm').out))
    assert sums.fieldnames == [f'{key}_{k}' for k in (1, 2) for key in ('event', 'samples', 'period', 'share', 'cost')] + ['comm'], sums.fieldnames


if __name__ == '__main__':
    main()
