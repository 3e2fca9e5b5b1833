#!/usr/bin/env python3
"""Transactions, counted on a Haswell that is not here: stat -T, their events, recording their aborts, and 'pace tsx' from end to end.

The numbers are made so that ratios are round: of 1,000,000 cycles 400,000 in transactions, 300,000 committed, 2000 transactions, 500 elisions."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'oracle'))
from tsxscene import instructions  # noqa: E402

COUNTS = {'cycles': 1_000_000, 'instructions': 1_500_000, 'cycles-t': 400_000, 'cycles-ct': 300_000, 'tx-start': 2000, 'el-start': 500}
RATIOS = {'cycles-t': '40.00% transactional cycles', 'cycles-ct': '10.00% aborted cycles', 'tx-start': '200 cycles / transaction', 'el-start': '800 cycles / elision'}


def lines_of(text):
    """event -> (count, ratio), as stat prints them; the event without its PMU and modifiers."""
    found = re.findall(r'^(?:S0-D0-C\d|CPU\d)?[ \d.]*? ([\d,.]+) +(?:msec )?(?:cpu/)?([\w-]+)[/:u]* *(?:# +(.*?) *)?$', text, re.M)
    return {event: (count.replace(',', ''), ratio) for count, event, ratio in found}


def ratios_of(text):
    return {event: ratio for event, (_, ratio) in lines_of(text).items() if event in RATIOS}


@test
def transaction_statistics_are_perfs():
    perf_works()
    with machine('haswell', COUNTS) as on:
        ours, theirs = on.pace('stat', '-T', 'true'), on.perf('stat', '-T', 'true')
        tried = [(o['type'], o['config'], o['group'] != -1) for o in on.openings() if not o['error']]
    assert not ours.status and ratios_of(ours.err) == RATIOS, ours
    mine, others = lines_of(ours.err), lines_of(theirs.err)
    assert list(mine) == list(others) == ['task-clock', 'instructions', 'cycles', 'cycles-t', 'tx-start', 'el-start', 'cycles-ct'], (ours, theirs)
    for event in COUNTS:
        assert mine[event][0] == others[event][0] == str(COUNTS[event]), (event, ours, theirs)
    # perf 6.1 prints a rate instead of the length of an RTM transaction.
    assert all(others[event][1] == RATIOS[event] for event in ('cycles-t', 'cycles-ct', 'el-start')), theirs
    # One group of all but the clock, of kernel and user space.
    assert sum(is_member for *_, is_member in tried) >= 5 and (4, 0x30000003c, True) in tried, tried


@test
def ratios_come_with_the_events_however_they_are_written():
    for text in ('cycles:u,cycles-t:u,cycles-ct:u,tx-start:u,el-start:u', 'cycles:u,cpu/cycles-t/u,cpu/cycles-ct/u,cpu/tx-start/u,cpu/el-start/u',
                 '{el-start,tx-start,cycles-ct,cycles-t,cycles}:u', 'cpu/cpu-cycles/u,cycles-t:u,cycles-ct:u,tx-start:u,el-start:u'):
        with machine('haswell', COUNTS) as on:
            result = on.pace('stat', '-e', text, 'true')
        assert ratios_of(result.err) == RATIOS, (text, result)
    with machine('haswell', COUNTS) as on:
        raw = on.pace('stat', '-e', 'r3c,cycles,r10000003c,r30000003c,r1c9,r1c8', 'true')
    for ratio in RATIOS.values():
        assert ratio in raw.err, raw
    # Of user space and of everything: two that do not see the same have no ratio.
    with machine('haswell', COUNTS) as on:
        result = on.pace('stat', '-e', 'cycles,cycles-t:u', 'true')
    assert 'transactional' not in result.err, result


@test
def transaction_statistics_have_all_forms():
    with machine('haswell', {**COUNTS, **{name: {'values': [n, n // 2, n // 4], 'every': 100} for name, n in COUNTS.items()}}) as on:
        intervals = on.pace('stat', '-T', '-I', '100', 'sleep', '0.25')
    assert intervals.err.count('40.00% transactional cycles') >= 2 and intervals.err.count('200 cycles / transaction') >= 2, intervals
    with machine('haswell', COUNTS) as on:
        rows = [json.loads(line) for line in on.pace('stat', '-T', '-j', 'true').err.splitlines()]
        values = {row['event']: (row['value'], row['metrics'][0]['value'], row['metrics'][0]['unit']) for row in rows if row['kind'] == 'count'}
        assert values['cpu/cycles-ct/'] == (300000, 10, 'aborted cycles') and values['cpu/tx-start/'] == (2000, 200, 'cycles / transaction'), values
        table = on.pace('stat', '-T', '-x', ',', 'true').err
        assert re.search(r'^,,1,cpu/cycles-t/,,counted,400000,,.*,40\.000000,% transactional cycles,$', table, re.M), table
        wide = on.pace('stat', '-T', '-a', '--per-core', 'true')
        assert len(re.findall(r'^S0-D0-C[01] +2 +800,000 +cpu/cycles-t/ +# +40\.00% transactional cycles$', wide.err, re.M)) == 2, wide
        each = on.pace('stat', '-T', '-A', '-a', 'true')
        assert len(re.findall(r'^CPU[0-3] .*500 +cpu/el-start/ +# +800 cycles / elision$', each.err, re.M)) == 4, each
        attached = on.pace('stat', '-T', '-p', str(os.getpid()), 'sleep', '0.1')
        assert '10.00% aborted cycles' in attached.err, attached
        assert re.search(r'[^\n]*% aborted cycles\n[^\n]* 10\.00', on.pace('stat', '-T', '--metric-only', 'true').err)
        both = lines_of(on.pace('stat', '-T', '-e', 'cycles:u', 'true').err)
        assert len(both) == 7, both


@test
def fewer_committed_than_counted_is_never_negative():
    """The two are read one after the other; perf takes the larger."""
    with machine('haswell', {**COUNTS, 'cycles-ct': 400_100}) as on:
        assert '0.00% aborted cycles' in on.pace('stat', '-T', 'true').err
    with machine('haswell', {**COUNTS, 'cycles-t': 0, 'cycles-ct': 0, 'tx-start': 0, 'el-start': 0}) as on:
        result = on.pace('stat', '-T', 'true')
    assert '0.00% transactional cycles' in result.err and 'cycles / transaction' not in result.err and 'nan' not in result.err, result


@test
def locks_are_counted_beside_the_transactions_that_elide_them():
    """10,000 atomic instructions and 2500 transactions: the page's comparison for locks that are missing."""
    with machine('haswell', {**COUNTS, 'r21d0': 10_000}) as on:
        for event in ('r21d0', 'mem_uops_retired.lock_loads'):
            result = on.pace('stat', '-e', f'{{{event},tx-start,el-start,cycles}}', 'true')
            assert re.search(rf'^ +10,000 +{event} +# +4\.0 locks / transaction$', result.err, re.M), result
        alone = on.pace('stat', '-e', 'r21d0,cycles', 'true')
        asked = on.pace('stat', '-M', 'locks_per_transaction', 'true')
    assert 'locks /' not in alone.err and re.search(r'# +4\.0 locks / transaction  locks_per_transaction', asked.err), (alone, asked)


@test
def a_ratio_that_is_not_there_leaves_its_column_empty():
    with machine('haswell', {name: {'values': [n, 0, n], 'every': 100} if name in ('tx-start', 'el-start') else {'values': [n] * 3, 'every': 100} for name, n in COUNTS.items()}) as on:
        result = on.pace('stat', '-T', '--metric-only', '-I', '100', 'sleep', '0.28')
        wide = on.pace('stat', '-M', 'cycles_per_transaction', '-r', '2', 'true')
    rows = [line.split() for line in result.err.splitlines() if re.match(r' +0\.\d{9} ', line)]
    assert rows[0][5:] == ['200', '800', '10.00'] and any(row[5:8] == ['n/a', 'n/a', '10.00'] for row in rows), result
    assert 'cycles_per_transaction (' in wide.err, wide


@test
def models_without_hle_count_the_rest():
    events = ['file cpu/format/in_tx = config:32', 'file cpu/format/in_tx_cp = config:33', 'file cpu/events/tx-start = event=0xc9,umask=0x1',
              'file cpu/events/cycles-t = event=0x3c,in_tx=1', 'file cpu/events/cycles-ct = event=0x3c,in_tx=1,in_tx_cp=1']
    with machine('sapphirerapids', {name: n for name, n in COUNTS.items() if name != 'el-start'}, also=events) as on:
        result = on.pace('stat', '-T', 'true')
        refused = on.pace('stat', '-e', 'el-start', 'true')
    assert ratios_of(result.err) == {name: ratio for name, ratio in RATIOS.items() if name != 'el-start'}, result
    assert refused.status and 'this CPU counts transactions, but not these' in refused.err, refused


@test
def all_events_of_the_tsx_page_are_opened_as_it_says():
    """Names of sysfs, of the page, of Intel's manual, and raw: the same attr, and the count that was written for it."""
    codes = {'tx-start': 0x1c9, 'tx-commit': 0x2c9, 'tx-abort': 0x4c9, 'el-start': 0x1c8, 'el-commit': 0x2c8, 'el-abort': 0x4c8, 'tx-capacity': 0x254, 'el-capacity': 0x254,
             'tx-conflict': 0x154, 'el-conflict': 0x154, 'cycles-t': 0x10000003c, 'cycles-ct': 0x30000003c, 'tx-aborts-count': 0x4c9, 'el-aborts-count': 0x4c8,
             'rtm_retired.start': 0x1c9, 'hle_retired.commit': 0x2c8, 'mem_uops_retired.lock_loads': 0x21d0, 'tx_exec.misc4': 0x85d, 'tx_exec.misc3': 0x45d,
             'tx_mem.abort_hle_elision_buffer_full': 0x4054, 'tx_mem.abort_hle_elision_buffer_unsupported_alignment': 0x2054,
             'tx_mem.abort_hle_elision_buffer_mismatch': 0x1054, 'tx_mem.abort_hle_elision_buffer_not_empty': 0x854, 'tx_mem.abort_hle_store_to_elided_lock': 0x454,
             'cpu/instructions,in_tx=1/': 0x1000000c0, 'cpu/instructions,in_tx=1,in_tx_cp=1/': 0x3000000c0, 'cpu/event=0x12,umask=0x34,intx=1,intx_cp=1/': 0x300003412}
    for name, code in codes.items():
        with machine('haswell', {f'r{code:x}': 12345}) as on:
            result = on.pace('stat', '-e', name, '-e', f'r{code:x}', 'true')
            opened = [(o['type'], o['config']) for o in on.openings() if o['pid'] > 0]
        assert opened[-2:] == [(4, code)] * 2 and result.err.count('12,345') == 2, (name, opened, result)
    groups = '{r154,r254,r21d0},{r1c9,r1c8,r4c8,r4c9}'
    with machine('haswell', {f'r{code}': 7 for code in ('154', '254', '21d0', '1c9', '1c8', '4c8', '4c9')}) as on:
        result = on.pace('stat', '-e', groups, 'true')
    assert len(re.findall(r'^ +7 +r\w+', result.err, re.M)) == 7, result


# The machine has four CPUs, with a counter of the command on each: samples come four times.
ABORTS = [{'ip': 0x401000, 'weight': 100, 'transaction': 2 | 8 | 0x10 | 0x20, 'count': 6}, {'ip': 0x402000, 'weight': 300, 'transaction': 2 | 4, 'count': 3},
          {'ip': 0x403000, 'weight': 50, 'transaction': 2 | 4 | 0xff << 32, 'count': 2}]


@test
def aborts_are_recorded_with_their_weights_and_flags():
    with machine('haswell', {'tx-abort': 11}, samples={'tx-abort': ABORTS}) as on:
        result = on.pace('record', '--transaction', '--weight', '-e', 'cpu/tx-abort/pp', '-o', 'a.data', '--', 'sleep', '0.2')
        opened = [o for o in on.openings() if o['config'] == 0x4c9 and not o['error']]
    assert result.status == 0 and opened and 'aborts the transaction' not in result.err, (result, opened)
    rows = json.loads(pace('report', '-i', 'a.data', '-s', 'transaction,local_weight', '--json').out)['events'][0]['rows']
    assert sorted((r['transaction'], int(r['local_weight']), r['samples']) for r in rows) == [
        ('TX ASYNC RETRY CON', 100, 24), ('TX SYNC', 300, 12), ('TX SYNC :ff', 50, 8)], rows
    # Where the abort was, only PEBS with the instruction's address tells.
    with machine('haswell', {'r4c9': 11}, samples={'r4c9': ABORTS}) as on:
        result = on.pace('record', '--transaction', '--weight', '-g', '-e', 'r4c9:p', '-o', 'led.data', '--', 'sleep', '0.1')
    assert result.status == 0 and 'without callers: every call chain ends at the sample' in result.err and '-g records' not in result.err, result
    led, exact = pace('tsx', 'report', 'led.data').out, pace('tsx', 'report', 'a.data').out
    assert "places that aborts led to: only events with ':pp'" in led and 'aborts led to' not in exact, (led, exact)
    assert json.loads(pace('tsx', 'report', '--json', 'led.data').out)['where_aborts_led'] is True
    with machine('haswell', {'tx-abort': 11, 'el-abort': 0}, samples={'tx-abort': ABORTS}) as on:
        assert on.pace('tsx', 'record', '-o', 'own.data', '--', 'sleep', '0.1').status == 0
    assert pace('evlist', '-i', 'own.data').out.split() == ['cpu/tx-abort/pp', 'cpu/el-abort/pp'] and not os.path.exists('perf.data')
    attr = pace('evlist', '-v', '-i', 'a.data').out
    assert re.search(r'precise_ip: 2', attr) and re.search(r'sample_type: .*TRANSACTION', attr), attr
    for event, config, precise in (('r4c9:p', 0x4c9, 1), ('r4c8:p', 0x4c8, 1), ('r21d0:p', 0x21d0, 1), ('cpu/el-abort/pp', 0x4c8, 2), ('cpu/tx-abort,precise=2/', 0x4c9, 2)):
        with machine('haswell', {f'r{config:x}': 1}) as on:
            assert on.pace('record', '-e', event, '-o', 'b.data', '--', 'true').status == 0
        said = pace('evlist', '-v', '-i', 'b.data').out
        assert f'config: {config:#x}' in said and f'precise_ip: {precise}' in said, (event, said)


@test
def samples_of_cycles_are_said_to_abort_transactions():
    with machine('haswell', {'cycles': 0}) as on:
        plain = on.pace('record', '-e', 'cycles', '-o', 'c.data', '--', 'true')
        precise = on.pace('record', '-e', 'cycles:pp', '-o', 'c.data', '--', 'true')
    assert "a sample aborts the transaction that it falls into" in plain.err and "with ':pp'" in plain.err, plain
    assert "a sample aborts the transaction that it falls into" in precise.err and "with ':pp'" not in precise.err, precise
    with machine('haswell_without_tsx', {'cycles': 0}) as on:
        result = on.pace('record', '-e', 'cycles', '-o', 'c.data', '--', 'true')
    assert 'transaction' not in result.err, result


LOCKS = {**COUNTS, 'r21d0': 10_000, 'tx-abort': 11, 'el-abort': 0}


@test
def the_whole_way_is_one_command_and_ends_in_advice():
    with machine('haswell', LOCKS, samples={'tx-abort': ABORTS, 'r21d0': [{'ip': 0x405000, 'count': 9}]}) as on:
        result = on.pace('tsx', '--', 'sleep', '0.2')
    assert result.status == 0, result
    assert re.findall(r'^ +\$ (.*)', result.out, re.M) == [
        'pace stat record -T -o ./tsx-counts.data -- sleep 0.2', "pace stat record -e '{r21d0,tx-start,el-start,cycles}' -o ./tsx-locks.data -- sleep 0.2",
        'pace record -g -e r21d0:p -o ./tsx-lock-samples.data -- sleep 0.2',
        'pace --no-pager report -i ./tsx-lock-samples.data --stdio --no-children -g none -s symbol,dso --percent-limit 5',
        'pace record -e cpu/tx-abort/pp,cpu/el-abort/pp --transaction -W -g -b --intr-regs=ax -o ./tsx-aborts.data -- sleep 0.2',
        'pace tsx report ./tsx-counts.data ./tsx-locks.data ./tsx-aborts.data'], result
    assert re.search(r'^ +400000 +cycles in transactions +40\.00% of cycles$', result.out, re.M) and re.search(r'^ +100000 +cycles that were aborted +10\.00% of cycles$', result.out, re.M), result
    assert re.search(r'^ +100\.00% +\[\.\] 0x0*405000 ', result.out, re.M), result
    # 400,000 cycles of 2500 transactions; 10,000 atomic instructions.
    assert re.search(r'^ +160 +cycles each', result.out, re.M) and re.search(r'^ +4\.0 +for each transaction$', result.out, re.M), result
    advice = re.sub(r'\s+', ' ', result.out.split('# What to do')[1])
    assert 'There are 4.0 atomic instructions for each transaction' in advice and '10.00% of the cycles were spent in transactions that were aborted.' in advice, advice
    assert '54.5% of the aborts' in advice and '27.3% of the aborts' in advice, advice
    # The files say the same again, here and on any other machine.
    again = pace('tsx', 'report', 'tsx-counts.data', 'tsx-locks.data', 'tsx-aborts.data')
    assert again.out == result.out[result.out.rindex('tsx-aborts.data\n') + len('tsx-aborts.data\n\n'):], (again.out, result.out)
    said = json.loads(pace('tsx', 'report', '--json', 'tsx-counts.data', 'tsx-locks.data', 'tsx-aborts.data').out)
    assert said['counts'] == {'cycles': 1000000, 'cycles_t': 400000, 'cycles_ct': 300000, 'tx_start': 2000, 'el_start': 500, 'lock_loads': 10000,
                              'share_in_transactions': 0.4, 'share_aborted': 0.1, 'cycles_each': 160, 'lock_loads_each': 4}, said['counts']
    assert said['total']['samples'] == 44 and said['total']['cycles'] == 4 * (6 * 100 + 3 * 300 + 2 * 50)


PROGRAM = """#include <unistd.h>
int shared, table[64], busy;
__attribute__((noinline)) void bump(int i)
{
	table[i & 63]++;
	shared++;
}
__attribute__((noinline)) int section(int i)
{
	bump(i);
	return table[i & 31] + i;
}
__attribute__((noinline)) int elide(int i)
{
	return section(i) * 2;
}
__attribute__((noinline)) int fall_back(int i)
{
	busy++;
	return i + 1;
}
int main(int argc, char **argv)
{
	(void)argv;
	write(1, "ready\\n", 6);
	while (pause())
		busy += elide(argc) + fall_back(argc);
	return busy;
}
"""


@test
def the_way_through_a_running_program_names_lines_and_the_branches_in_its_transactions():
    """All six steps by -p: the program's own code, and aborts in it as PEBS and the last branch records tell them."""
    needs('objdump', 'cc')
    with open('prog.c', 'w', encoding='ascii') as file:
        file.write(PROGRAM)
    code = instructions(build_c(os.path.abspath('prog.c'), 'prog', '-no-pie', '-fomit-frame-pointer'))

    def at(function, pattern='', which=0):
        return [address for address, text in code[function] if re.match(pattern, text)][which]

    aborted, landed, call, begun = at('bump', which=-2), at('elide', which=-2), at('section', 'call'), at('elide', 'call')
    chain = (-512 & (1 << 64) - 1, landed, at('main', 'call.*elide'))
    branches = ((at('fall_back', 'ret'), landed, 2), (aborted, landed, 2 | 4 | 8), (call, at('bump'), 2 | 4), (begun, at('section'), 2 | 4), (at('main', 'call.*elide'), at('elide'), 2))
    samples = [{'ip': aborted, 'weight': 100, 'transaction': 2 | 8 | 0x10 | 0x20, 'ax': 6, 'chain': chain, 'branches': branches, 'count': 6},
               {'ip': call, 'weight': 40, 'transaction': 2 | 4 | 0xff << 32, 'ax': 0xff000001, 'chain': chain, 'branches': branches[:2], 'count': 1}]
    with subprocess.Popen(['./prog'], stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout.readline()
            with machine('haswell', {**LOCKS, 'el-start': 0}, samples={'tx-abort': samples, 'r21d0': [{'ip': at('fall_back'), 'count': 3}]}) as on:
                result = on.pace('tsx', '-p', str(program.pid), '--', 'sleep', '0.2')
        finally:
            program.kill()
    assert result.status == 0 and 'el-abort' not in result.out and f'-p {program.pid} -- sleep 0.2' in result.out, result
    line = {text: f'prog.c:{n}' for n, text in enumerate(PROGRAM.replace('\\\\', '\\').splitlines(), 1)}
    assert re.search(r'^ +100\.00% +\[\.\] fall_back +prog', result.out, re.M), result
    for expected in (rf'\({line["	shared++;"]}\)\n +24 samples, 2400 cycles, 100 each: conflict; 24 may succeed if tried again\n',
                     r'critical section of elide\+0x\w+ ', r'the transaction began behind elide\+0x0 ',
                     rf' section\+0x\w+ \({line["	bump(i);"]}\) -> bump\+0x0 ', r'bump\+0x\w+ \(prog\.c:6\): aborted', r'_xabort\(0xff\): the lock was busy', 'retry, conflict'):
        assert re.search(expected, result.out), (expected, result)
    # One sample after the other, as 'report -D' and addr2line were needed for; and the stack that ran after the abort.
    said = [json.loads(text) for text in pace('script', '-i', 'tsx-aborts.data', '--json').out.splitlines()]
    first = next(s for s in said if s['transaction'] == 'TX ASYNC RETRY CON')
    inside = [(b['from']['function'], b['to']['function']) for b in first['branches'] if b.get('in_transaction') and not b.get('aborted')]
    assert len(said) == 28 and [f['function'] for f in first['stack']][:2] == ['bump', 'elide'], first
    assert ('section', 'bump') in inside and ('elide', 'section') in inside, first
    options = ('-i', 'tsx-aborts.data', '--stdio', '--no-branch-stack', '--no-children', '-g', 'none', '-s', 'sym,transaction,local_weight', '-t', ';')
    mine, theirs = ([re.sub(r' *; *| +$', ';', row.strip()) for row in text.splitlines() if row and not row.startswith('#')]
                    for text in (pace('report', *options).out, run('perf', 'report', '-f', *options).out if shutil.which('perf') else ''))
    assert mine == ['85.71%;[.] bump;TX ASYNC RETRY CON;100', '14.29%;[.] section;TX SYNC :ff;40'] and (not theirs or mine == theirs), (mine, theirs)


@test
def the_printed_commands_are_as_a_shell_reads_them():
    with machine('haswell', {**LOCKS, 'r21d0': 3, 'tx-abort': 0, 'el-abort': 0}) as on:
        result = on.pace('tsx', '--', 'sh', '-c', "echo 'a  b'")
        failed = on.pace('tsx', '-o', 'there', '--', 'true')
        wrong = [on.pace('tsx', *words) for words in (('--json', '--', 'true'), ('-p', '12'), ('-a',), ())]
    for one, reason in zip(wrong, ("--json and --format are for 'pace tsx report'", "'pace tsx -p 12 -- sleep 10'", "'pace tsx -a -- sleep 10'", 'give a command to measure')):
        assert one.status == 2 and reason in one.err and not one.out, one
    steps = re.findall(r"^ +\$ (.*) -o \S+ -- (.*)$", result.out, re.M)
    assert len(steps) == 3 and all(run('sh', '-c', 'set -- ' + words + '; printf "<%s>" "$@"').out == "<sh><-c><echo 'a  b'>" for _, words in steps), result
    # A step that fails says why, once.
    assert failed.status == 1 and failed.err.count('\n') == 1 and "creating 'there/tsx-counts.data'" in failed.err, failed


@test
def a_program_without_transactions_is_told_so():
    with machine('haswell', {**LOCKS, 'cycles-t': 0, 'cycles-ct': 0, 'tx-start': 0, 'el-start': 0}) as on:
        result = on.pace('tsx', '-o', '.', '--', 'true')
    assert result.status == 0 and 'tsx-aborts' not in result.out and not os.path.exists('tsx-aborts.data'), result
    assert 'No transaction was begun: the locks do not elide.' in re.sub(r'\s+', ' ', result.out), result
    with machine('haswell', {**LOCKS, 'r21d0': 3, 'tx-abort': 0}) as on:
        enough = on.pace('tsx', '--', 'true')
    assert enough.status == 0 and 'lock-samples' not in enough.out, enough


@test
def recordings_of_perf_are_read_as_well():
    perf_works()
    with machine('haswell', LOCKS) as on:
        done = on.perf('stat', 'record', '-T', '-o', 'p.data', 'true')
    assert done.status == 0, done
    said = json.loads(pace('tsx', 'report', '--json', 'p.data').out)['counts']
    assert (said['cycles_t'], said['share_in_transactions'], said['share_aborted'], said['cycles_each']) == (400000, 0.4, 0.1, 160), said


@test
def where_transactions_are_turned_off_every_command_says_so():
    with machine('haswell', {'tx-abort': 11}, samples={'tx-abort': ABORTS}) as on:
        assert on.pace('record', '--transaction', '-W', '-e', 'cpu/tx-abort/pp', '-o', 'aborts.data', '--', 'sleep', '0.1').status == 0
    with machine('haswell_without_tsx', {name: 0 for name in ('cycles', 'r154', 'r254', 'r21d0', 'r1c9', 'r1c8', 'r4c8', 'r4c9')}) as on:
        for command in (('tsx', '--', 'true'), ('tsx', 'record', '--', 'true'), ('stat', '-T', 'true'), ('stat', '-e', 'tx-start', 'true'), ('record', '-e', 'cpu/tx-abort/pp', 'true')):
            result = on.pace(*command)
            assert result.status and "this CPU's model has transactions, but they are turned off" in result.err and len(result.err.splitlines()) == 1, result
        # Linux ignores these bits, and counts everything.
        for event in ('r10000003c', 'cpu/config=0x30000003c/u', 'cpu/instructions,in_tx=1/', 'cpu/event=0x12,umask=0x34,intx=1,intx_cp=1/'):
            result = on.pace('stat', '-e', 'cycles,' + event, 'true')
            assert result.status and "they are turned off" in result.err and len(result.err.splitlines()) == 1, result
        # Raw codes of transactions are counted, and are 0: said once.
        for command in (('stat', '-e', '{r154,r254,r21d0},{r1c9,r1c8,r4c8,r4c9}', 'true'), ('record', '-e', 'r4c9:p', '-o', 'raw.data', 'true')):
            result = on.pace(*command)
            assert result.status == 0 and result.err.count("counts transactions, and there are none: this CPU's model has") == 1, result
        assert 'transactions' not in on.pace('stat', '-e', 'r21d0,r3c,cycles', 'true').err
        assert "'tx-start' counts transactions: this CPU's model has" in on.pace('list', 'tx-start').err
        assert on.pace('stat', '-T', '--', 'true').out == ''
    off = 'devices/system/cpu/vulnerabilities/tsx_async_abort = Mitigation: TSX disabled'
    for name, also, reason in (('haswell_without_tsx', ['flags rtm_always_abort'], "this CPU's microcode aborts every transaction"),
                               ('haswell_without_tsx', ['sys ' + off], "Linux has turned this CPU's transactions off: the kernel option tsx=on"),
                               ('haswell_without_tsx', ['flags hypervisor'], 'the hypervisor of this virtual machine hides transactions'),
                               ('haswell_without_tsx', ['flags rtm'], 'programs can run transactions here, but no PMU counts them'),
                               ('icelake', [], "this CPU's model has transactions, but they are turned off"),
                               ('zen4', [], 'this CPU has no transactions (Intel TSX)'), ('neoverse', [], 'this CPU has no transactions (Intel TSX)'),
                               ('lunarlake', [], 'this CPU has no transactions (Intel TSX)')):
        with machine(name, {}, also=also) as on:
            for command in (('stat', '-T', 'true'), ('tsx', '--', 'true'), ('tsx', 'record', '--', 'true'), ('stat', '-e', 'tx-start', 'true')):
                result = on.pace(*command)
                assert result.status == 1 and reason in result.err and len(result.err.splitlines()) == 1, (name, also, result)
            # What was recorded elsewhere is analysed.
            assert 'aborts' in on.pace('tsx', 'report', 'aborts.data').out


main()
