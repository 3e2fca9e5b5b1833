#!/usr/bin/env python3
"""Aborted transactions: what samples say of them, in all commands. No machine here has them: tsxscene.py writes them down."""
import json
import re
import sys
import os

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
from handmade import BRANCH_STACK, CALLCHAIN, TRANSACTION, WEIGHT_STRUCT  # noqa: E402
from tsxscene import MISC, Scene  # noqa: E402


@test
def perf_reads_the_scene_as_it_was_meant():
    perf_works()
    scene = Scene()
    scene.write('a.data')
    options = ('--stdio', '--no-branch-stack', '--no-children', '-g', 'none', '-s', 'sym,transaction,local_weight', '-t', ';')

    def rows(*command):
        text = run(*command, *options).out
        return sorted(re.sub(r' *; *| +$', ';', line.strip()) for line in text.splitlines() if line and not line.startswith('#'))

    theirs, ours = rows('perf', 'report', '-f', '-i', 'a.data'), rows(PACE, 'report', '-i', 'a.data')
    assert theirs == ours and '50.00%;[.] bump;TX ASYNC RETRY CON;100' in ours and len(ours) == 4, (theirs, ours)


@test
def reports_by_symbol_transaction_and_weight_are_as_written():
    scene = Scene()
    scene.write('a.data')
    rows = json.loads(pace('report', '-i', 'a.data', '--no-branch-stack', '--no-children', '-s', 'symbol,transaction,local_weight', '--json').out)['events'][0]['rows']
    assert sorted((r['symbol'], r['transaction'], int(r['local_weight']), r['samples']) for r in rows) == [
        ('bump', 'TX ASYNC RETRY CON', 100, 6), ('check', 'TX SYNC :ff', 50, 2), ('fill', 'EL SYNC CAP-WRITE', 9000, 1), ('work', 'TX SYNC', 300, 3)], rows


def graph_of(*args):
    text = pace('report', *args, '--stdio', '--no-children').out
    return [line for line in text.splitlines() if line and not line.startswith('#')]


@test
def callers_from_after_an_abort_are_shown_as_such():
    """The scene's chains begin in elide, where the abort leads to; no caller called bump."""
    scene = Scene()
    scene.write('a.data')
    stack = pace('report', '-i', 'a.data', '--no-branch-stack', '--format', 'folded').out.splitlines()
    assert sorted(line.rpartition(' ')[0].split(';')[-5:] for line in stack) == [
        ['main', 'section', 'elide', '[transaction aborted]', name] for name in ('bump', 'check', 'fill', 'work')], stack
    # Without the flags the event alone tells that its samples are of aborts; other events have no gaps.
    scene.write('plain.data', MISC | CALLCHAIN)
    assert pace('report', '-i', 'plain.data', '--format', 'folded').out.count('[transaction aborted]') == 4
    scene.write('other.data', MISC | CALLCHAIN, event=(0, 0))
    assert 'transaction aborted' not in pace('report', '-i', 'other.data', '--format', 'folded').out
    graph = '\n'.join(graph_of('-i', 'a.data', '--no-branch-stack', '-g', 'caller'))
    assert re.search(r'bump\n.*\n(?:.*\n)*?.*main\n.*section\n.*elide\n.*\[transaction aborted\]\n.*bump', graph), graph


@test
def script_shows_where_the_abort_was_and_what_ran_after_it():
    scene = Scene()
    scene.write('a.data')
    first = pace('script', '-i', 'a.data', '-F', 'ip,sym').out.split('\n\n')[0].splitlines()
    assert [line.split()[1:] for line in first if line.strip()] == [['bump'], ['[transaction', 'aborted]'], ['elide'], ['section'], ['main']], first
    scene.write('other.data', MISC | CALLCHAIN, event=(0, 0))
    plain = pace('script', '-i', 'other.data', '-F', 'ip,sym').out.split('\n\n')[0].splitlines()
    assert [line.split()[1:] for line in plain if line.strip()] == [['elide'], ['section'], ['main']], plain
    said = [line.split(' ', 1) for line in pace('script', '-i', 'a.data', '-F', 'transaction', '-G').out.splitlines()]
    assert [text.strip() for _, text in said] == ['TX ASYNC RETRY CON'] * 6 + ['TX SYNC'] * 3 + ['TX SYNC :ff (the lock was busy)'] * 2 + ['EL SYNC CAP-WRITE'], said
    samples = [json.loads(line) for line in pace('script', '-i', 'a.data', '--json').out.splitlines()]
    assert len(samples) == 12 and all(s['stack_aborted'] == 1 for s in samples)
    assert [f['function'] for f in samples[0]['stack']] == ['bump', 'elide', 'section', 'main'], samples[0]
    assert samples[9]['transaction'] == 'TX SYNC :ff' and samples[9]['abort_code'] == 255 and samples[9]['abort_code_means'] == 'the lock was busy', samples[9]
    assert 'abort_code' not in samples[0]


main()
