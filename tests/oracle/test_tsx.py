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


def found(path, *options):
    result = pace('tsx', 'report', '--json', *options, path)
    assert result.status == 0, result
    return json.loads(result.out)


def causes(of):
    return {c['cause']: (c['samples'], c['cycles']) for c in of['causes']}


@test
def causes_of_aborts_sum_up_to_all_of_them():
    """The table of tsxscene.py."""
    Scene().write('a.data')
    said = found('a.data')
    total, sites = said['total'], {s['place']['function']: s for s in said['sites']}
    assert (total['samples'], total['aborts'], total['cycles'], total['elided'], total['retry']) == (12, 12000, 6 * 100 + 3 * 300 + 2 * 50 + 9000, 1, 6), total
    assert causes(total) == {'conflict': (6, 600), 'instruction': (3, 900), 'explicit': (2, 100), 'capacity_write': (1, 9000)}, total
    assert total['codes'] == [{'code': 0xff, 'samples': 2, 'means': 'the lock was busy'}], total
    assert {(s['status'], s['samples'], s['means']) for s in total['statuses']} == {
        ('0x6', 6, 'retry, conflict'), ('0x0', 3, 'none of the documented causes'), ('0xff000001', 2, 'explicit _xabort(0xff) (the lock was busy)')}, total
    assert [s['place']['function'] for s in said['sites']] == ['fill', 'work', 'bump', 'check']
    assert all(sum(s[key] for s in sites.values()) == total[key] for key in ('samples', 'cycles', 'aborts', 'elided', 'retry'))
    assert causes(sites['bump']) == {'conflict': (6, 600)} and sites['bump']['retry'] == 6 and not sites['bump']['codes']
    # The chain begins in the lock library: the critical section is its first caller elsewhere.
    assert all([(x['place']['function'], x['samples']) for x in s['sections']] == [('section', s['samples'])] for s in sites.values()), sites
    lines = {name: s['place']['line'] for name, s in sites.items()}
    source = {name: open(file, encoding='utf-8').read().splitlines() for name, file in (('section', 'section.c'), ('lock', 'lock.c'))}
    assert source['section'][lines['bump'] - 1] == '\tshared++;' and source['lock'][lines['check'] - 1] == '\treturn busy + i;', lines


def way(path):
    return [(b['from']['function'], b['to']['function'], b['times']) for b in path['branches']]


@test
def the_ways_into_an_abort_are_the_branches_of_its_transaction():
    scene = Scene()
    scene.write('a.data')
    sites = {s['place']['function']: s for s in found('a.data')['sites']}
    short, long = sites['bump']['paths']
    assert (short['samples'], short['cycles'], short['whole'], way(short)) == (4, 400, True, [('section', 'bump', 4)]), short
    assert (long['samples'], long['whole'], way(long)) == (2, True, [('section', 'work', 2), ('work', 'section', 2), ('section', 'bump', 2)]), long
    assert short['began_behind']['function'] == 'section' and short['began_behind']['offset'] == 0, short
    assert int(short['branches'][0]['from']['address'], 16) == scene.at('section', r'call.*<bump>') - scene.program_map[1] + scene.program_map[3]
    # All that the processor kept is of the transaction: 14 turns of a loop are one line.
    loop, = sites['work']['paths']
    assert not loop['whole'] and 'began_behind' not in loop and way(loop) == [('section', 'work', 3), ('work', 'work', 3 * 14)], loop
    none, = sites['check']['paths']
    assert none['whole'] and not none['branches'] and none['samples'] == 2, none
    assert sites['fill']['samples_with_branches'] == 0 and not sites['fill']['paths']
    # Of the last branch alone both ways are the same, but neither is whole... the short one is.
    last = {s['place']['function']: s for s in found('a.data', '--branches', '1')['sites']}['bump']
    assert [(p['samples'], p['whole'], way(p)) for p in last['paths']] == [(4, True, [('section', 'bump', 4)]), (2, False, [('section', 'bump', 2)])], last
    assert len({s['place']['function']: s for s in found('a.data', '--max-paths', '1')['sites']}['bump']['paths']) == 1
    assert len(found('a.data', '--max-sites', '2')['sites']) == 2


@test
def advice_names_the_main_causes_and_their_places():
    Scene().write('a.data')
    said = found('a.data')['advice']
    assert len(said) == 4 and said[0].startswith('8.3% of the aborts (84.9% of the cycles that were lost): a critical section writes more'), said
    assert 'at fill+0x' in said[0] and '(section.c:' in said[0] and 'critical section of section+0x' in said[0], said
    assert said[1].startswith('25.0% of the aborts (8.5%') and 'system call' in said[1], said
    assert said[2].startswith('50.0% of the aborts (5.7%') and 'another one writes' in said[2], said
    assert said[3].startswith('16.7% of the aborts (0.9%') and 'does not elide' in said[3], said
    text = pace('tsx', 'report', 'a.data').out
    assert re.search(r'^ +6 +50\.0% +600 +5\.7%  conflict: ', text, re.M) and re.search(r'^ +2  _xabort\(0xff\): the lock was busy$', text, re.M), text
    assert re.search(r'section\+0x\w+ \(section\.c:\d+\) -> bump\+0x0 \(section\.c:\d+\)\n +bump\+0x\w+ \(section\.c:5\): aborted$', text, re.M), text
    assert re.search(r'work\+0x\w+ \(section\.c:\d+\)  x 14$', text, re.M) and '(it began before the branches that were kept)' in text, text
    assert all(len(line) <= 79 for line in text[text.index('# What to do'):].splitlines()), text


@test
def recordings_that_say_less_show_less():
    scene = Scene()
    scene.write('bare.data', MISC)
    said = found('bare.data')
    assert said['total']['samples'] == 12 and 'cycles' not in said['total'] and [c['cause'] for c in said['total']['causes']] == ['untold'], said
    assert len(said['sites']) == 4 and not any(s['paths'] or s['sections'] for s in said['sites'])
    scene.write('flags.data', MISC | TRANSACTION, event=(4, 0x4c8))
    assert {c['cause']: c['samples'] for c in found('flags.data')['total']['causes']} == {'conflict': 6, 'instruction': 3, 'explicit': 2, 'capacity_write': 1}
    # Without weights places are sorted by samples, and the text says how to get more.
    text = pace('tsx', 'report', 'flags.data').out
    assert '# Where, by samples; -b records' in text and re.search(r'^ +50\.0%  bump', text, re.M), text
    scene.write('other.data', MISC, event=(0, 0))
    result = pace('tsx', 'report', 'other.data')
    assert result.status == 2 and "'pace tsx record' does" in result.err, result
    result = pace('tsx', 'report', 'bare.data', 'flags.data')
    assert result.status == 2 and 'both recordings of samples' in result.err, result
    result = pace('tsx', 'report', 'missing.data')
    assert result.status == 2 and 'missing.data' in result.err, result


@test
def without_transactions_each_command_says_why():
    if os.path.exists('/sys/bus/event_source/devices/cpu/events/tx-start'):
        skip('this machine has transactions')
    for command in (('tsx', '--', 'true'), ('tsx', 'record', '--', 'true'), ('record', '-e', 'cpu/tx-abort/pp', '--', 'true'), ('stat', '-e', 'tx-start', 'true')):
        result = pace(*command)
        assert result.status and not result.out and len(result.err.splitlines()) == 1, result
        assert re.search('transactions', result.err) and 'no event' not in result.err, result
    steps = pace('tsx', '--dry-run', '-o', 'there', '-p', '12', '--', './prog', 'a b')
    assert steps.status == 0 and re.findall(r'\$ (.*)', steps.out) == [
        "pace stat record -T -o there/tsx-counts.data -p 12 -- ./prog 'a b'",
        "pace stat record -e '{r21d0,tx-start,el-start,cycles}' -o there/tsx-locks.data -p 12 -- ./prog 'a b'",
        "pace record -e cpu/tx-abort/pp --transaction -W -g -b --intr-regs=ax -o there/tsx-aborts.data -p 12 -- ./prog 'a b'",
        'pace tsx report there/tsx-counts.data there/tsx-locks.data there/tsx-aborts.data'], steps


main()
