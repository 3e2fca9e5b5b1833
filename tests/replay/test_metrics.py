#!/usr/bin/env python3
"""Metrics on machines that are not here: values that were computed by hand, and those that perf computes from the same counts."""
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403
sys.path.insert(1, os.path.join(TOP, 'tests', 'oracle'))
from tables import linux_tables  # noqa: E402

# No tables but those that a test names.
os.environ['XDG_DATA_HOME'] = '/nonexistent'

TABLE = [
    {'EventName': 'UOPS.ISSUED', 'EventCode': '0x0e', 'UMask': '0x01'},
    {'EventName': 'UOPS.RETIRED', 'EventCode': '0xc2', 'UMask': '0x02'},
    {'EventName': 'STALLS', 'EventCode': '0xa3', 'UMask': '0x04', 'CounterMask': '4'},
    {'MetricName': 'wasted', 'MetricExpr': '(UOPS.ISSUED - UOPS.RETIRED) / slots_of_core', 'ScaleUnit': '100%', 'MetricGroup': 'Top;Own',
     'MetricThreshold': 'wasted > 0.1 & stalled > 0.2', 'BriefDescription': 'Wasted'},
    {'MetricName': 'slots_of_core', 'MetricExpr': '4 * cycles / (2 if #SMT_on else 1)', 'MetricGroup': 'Info'},
    {'MetricName': 'stalled', 'MetricExpr': 'max(0, STALLS - 100) / cycles', 'MetricThreshold': 'stalled > 0.5', 'MetricGroup': 'Top'},
    {'MetricName': 'per_second', 'MetricExpr': 'UOPS.ISSUED / duration_time', 'MetricConstraint': 'NO_GROUP_EVENTS'},
    {'MetricName': 'loose', 'MetricExpr': 'UOPS.ISSUED / STALLS', 'MetricGroup': 'Big', 'MetricgroupNoGroup': 'Big'},
    {'MetricName': 'in_circles', 'MetricExpr': 'round + 1', 'MetricGroup': 'Bad'},
    {'MetricName': 'round', 'MetricExpr': 'in_circles + 1', 'MetricGroup': 'Bad'},
    {'MetricName': 'by_zero', 'MetricExpr': 'STALLS / (cycles - cycles)', 'MetricGroup': 'Odd'},
    {'MetricName': 'constant', 'MetricExpr': 'STALLS if #num_cpus < 1 else 7'},
    {'MetricName': 'needs_more', 'MetricExpr': 'UOPS.ISSUED / NO.SUCH_EVENT', 'MetricGroup': 'Odd'},
]
ISSUED, RETIRED, STALLS = 'cpu/event=0x0e,umask=0x1/', 'cpu/event=0xc2,umask=0x2/', 'cpu/event=0xa3,umask=0x4,cmask=4/'
COUNTS = {ISSUED: 900_000, RETIRED: 500_000, STALLS: 600_100, 'cycles': 1_000_000}


def table(rows=TABLE):
    os.makedirs('events', exist_ok=True)
    with open('events/own.json', 'w') as file:
        json.dump(rows, file)
    return ['--events-dir', 'events']


def metrics_in(text):
    """{name: (value, unit, error)} as stat printed them."""
    found = re.findall(r'# +([-\d.]+|n/a) +(?:([^\s(]+)  )?(\w+)(?:  \(\+- ([\d.]+)\))?$', text, re.M)
    return {name: (value, unit, error) for value, unit, name, error in found}


def groups_of(on):
    """The configs that were opened to be counted, group by group."""
    groups = []
    for event in on.openings():
        if not event['format'] or event['error']:
            continue
        if event['group'] < 0:
            groups.append([])
        groups[-1].append(event['config'])
    return groups


@test
def values_are_those_that_were_computed_by_hand():
    args = table()
    with machine('icelake', COUNTS) as on:
        smt = 2 if on.machine.threads > 1 else 1
        result = on.pace('stat', *args, '-M', 'Top', 'true')
    got = metrics_in(result.err)
    assert got == {'wasted': ('%.1f' % (100 * 400_000 / (4_000_000 / smt)), '%', ''), 'stalled': ('0.60', '', '')}, (got, result)


@test
def events_of_a_metric_are_one_group_which_smaller_metrics_share():
    args = table()
    configs = {ISSUED: 0x10e, RETIRED: 0x2c2, STALLS: 0x40004a3, 'cycles': 0}
    with machine('icelake', COUNTS) as on:
        on.pace('stat', *args, '-M', 'stalled,wasted', 'true')
        groups = groups_of(on)
    # The threshold of 'wasted' needs 'stalled': its group has all.
    assert [sorted(g) for g in groups] == [sorted(configs.values())], groups
    for options, sizes in ((['--metric-no-merge'], [2, 4]), (['--metric-no-group'], [1, 1, 1, 1]), (['--metric-no-threshold'], [2, 3])):
        with machine('icelake', COUNTS) as on:
            on.pace('stat', *args, *options, '-M', 'stalled,wasted', 'true')
            assert sorted(map(len, groups_of(on))) == sizes, (options, groups_of(on))


@test
def metrics_that_ask_for_it_have_no_groups():
    args = table()
    with machine('icelake', COUNTS) as on:
        on.pace('stat', *args, '-M', 'per_second', 'true')
        assert groups_of(on) == [[0x10e]], groups_of(on)
    for word, sizes in (('loose', [2]), ('Big', [1, 1])):
        with machine('icelake', COUNTS) as on:
            on.pace('stat', *args, '-M', word, 'true')
            assert [len(g) for g in groups_of(on)] == sizes, (word, groups_of(on))


@test
def values_of_shared_counters_have_an_error():
    args = table()
    with machine('icelake', {ISSUED: {'values': 300, 'running': 50}, STALLS: {'values': 100, 'running': 80}}) as on:
        result = on.pace('stat', *args, '--metric-no-group', '-M', 'loose', '-j', 'true')
        only = on.pace('stat', *args, '--metric-no-group', '-M', 'loose', '--metric-only', 'true')
        text = on.pace('stat', *args, '--metric-no-group', '-M', 'loose', 'true')
    metric = next(m for line in result.err.splitlines() if line.startswith('{') for m in json.loads(line).get('metrics', ()) if m.get('name') == 'loose')
    # Scaled counts of 600 and 125, of which 50% and 20% were not seen.
    value, errors = 600 / 125, (600 * .5 / 125, 600 / (125 * .8) - 600 / 125)
    assert re.search(r'^ +4\.80 \+- 2\.68$', only.err, re.M) and re.search(r'# +4\.80 loose  \(\+- 2\.68\) +\(50\.00%\)$', text.err, re.M), (only, text)
    assert abs(metric['value'] - value) < 1e-4 and abs(metric['error'] - (errors[0]**2 + errors[1]**2)**.5) < 1e-2, (metric, value, errors)


@test
def thresholds_are_colours_on_a_terminal_and_words_for_programs():
    args = table()
    for stalls, verdict in ((600_100, 'notable'), (200_100, 'unremarkable')):
        with machine('icelake', {**COUNTS, STALLS: stalls}) as on:
            result = on.pace('stat', *args, '-x,', '-M', 'stalled', 'true')
        rows = [line.split(',') for line in result.err.splitlines()]
        head = next(row for row in rows if 'metric_verdict' in row)
        row = next(dict(zip(head, row)) for row in rows if 'stalled' in row)
        assert row['metric_verdict'] == verdict and row['metric_error'] == '0.000000' and row['event'] == 'STALLS', row


@test
def what_has_no_value_says_why():
    args = table()
    with machine('icelake', COUNTS) as on:
        result = on.pace('stat', *args, '-M', 'Odd', 'true')
    assert re.search('n/a by_zero', result.err) and "1 of the 2 metrics of 'Odd' cannot be counted here (-v: which); metric 'needs_more'" in result.err and 'NO.SUCH_EVENT' in result.err, result
    with machine('icelake') as on:
        for word, part in (('needs_more', "'NO.SUCH_EVENT'"), ('constant', "'constant' depends on no count"), ('Bad', "'in_circles' is made of itself: in_circles -> round -> in_circles"), ('slots_of_cores', "did you mean 'slots_of_core'?"),
                           ('', '-M')):
            result = on.pace('stat', *args, '-M', word, 'true')
            assert result.status and part in result.err, (word, result)


@test
def intervals_and_cpus_have_their_own_values():
    args = table()
    with machine('icelake', {STALLS: [300, 500, 700, 900, 1100], 'cycles': [1000] * 5}) as on:
        result = on.pace('stat', *args, '-M', 'stalled', '-I', '200', 'sleep', '0.5')
    assert re.findall(r'# +([\d.]+) stalled', result.err)[:2] == ['0.20', '0.40'], result
    with machine('icelake', {STALLS: 600, STALLS + '@2': 1100, 'cycles': 1000}) as on:
        result = on.pace('stat', *args, '-a', '-A', '-M', 'stalled', 'true')
        only = on.pace('stat', *args, '-a', '-A', '--metric-only', '-M', 'stalled', 'true')
    assert re.findall(r'^CPU(\d) .* ([\d.]+) stalled$', result.err, re.M) == [('0', '0.50'), ('1', '0.50'), ('2', '1.00'), ('3', '0.50')], result
    assert re.findall(r'^CPU(\d) +([\d.]+)$', only.err, re.M) == [('0', '0.50'), ('1', '0.50'), ('2', '1.00'), ('3', '0.50')], only


@test
def ratios_stand_beside_counts_whatever_they_were_counted_for():
    with machine('haswell', {'cycles': 1000, 'instructions': 2500, 'tx-start': 7}) as on:
        result = on.pace('stat', '-e', 'cycles,instructions,tx-start:u', 'true')
    assert re.search(r'2,500 +instructions +# +2\.50  insn per cycle', result.err), result


# ---- parts of slots ----

def slots_table(more=0, unit=None):
    """Level 1 as Linux 6.12 has it (no groups), and a metric with so many events more."""
    share = 'topdown\\-be\\-bound / (topdown\\-fe\\-bound + topdown\\-bad\\-spec + topdown\\-retiring + topdown\\-be\\-bound) + 0 * TOPDOWN.SLOTS'
    rows = [{'EventName': 'TOPDOWN.SLOTS', 'EventCode': '0x00', 'UMask': '0x4'},
            {'MetricName': 'backend', 'MetricExpr': share, 'MetricGroup': 'TopdownL1', 'MetricgroupNoGroup': 'TopdownL1', 'ScaleUnit': '100%'},
            {'MetricName': 'retired', 'MetricExpr': share.replace('be', 'retiring', 1).replace('retiring\\-bound', 'retiring', 1), 'MetricGroup': 'TopdownL1',
             'MetricgroupNoGroup': 'TopdownL1', 'ScaleUnit': '100%'}]
    rows += [{'EventName': f'E{i}', 'EventCode': '0xa6', 'UMask': hex(1 + i)} for i in range(more)]
    wide = ' + '.join(f'E{i}' for i in range(more))
    rows += [{'MetricName': 'wide', 'MetricExpr': f'backend * TOPDOWN.SLOTS / ({wide})'}] if more else []
    return table([{**row, 'Unit': unit} for row in rows] if unit else rows), {f'cpu/event=0xa6,umask={1 + i:#x}/': 100 for i in range(more)}


SLOTS = {'slots': 8000, 'topdown-retiring': 2000, 'topdown-bad-spec': 1000, 'topdown-fe-bound': 1500, 'topdown-be-bound': 3500}


@test
def parts_of_slots_stay_behind_slots_in_metrics_that_want_no_group():
    for name, pmu in (('icelake', 'cpu'), ('sapphirerapids', 'cpu'), ('lunarlake', 'cpu_core')):
        args, _ = slots_table(unit=pmu if pmu != 'cpu' else None)
        with machine(name, {f'{pmu}/{event}/': n for event, n in SLOTS.items()}) as on:
            for options in ([], ['--metric-no-merge'], ['--metric-no-group']):
                result = on.pace('stat', *args, *options, '-M', 'TopdownL1', 'true')
                got = metrics_in(result.err)
                assert got['backend'][0] == '43.8' and got['retired'][0] == '25.0' and 'not supported' not in result.err, result
                assert sorted(map(len, groups_of(on))) == [5] and groups_of(on)[0][0] == 0x400, (options, groups_of(on))
                on.forget()


@test
def a_group_that_is_too_large_leaves_the_parts_of_slots_together():
    args, counts = slots_table(more=12)
    with machine('icelake', {**SLOTS, **counts}) as on:
        result = on.pace('stat', *args, '-M', 'wide', 'true')
    assert metrics_in(result.err)['wide'][0] == '%.2f' % (0.4375 * 8000 / 1200) and 'not supported' not in result.err, result
    assert "beside it and its TopDown metrics 12 events count one by one" in result.err, result


@test
def an_event_is_counted_once_however_it_is_written():
    rows = [{'EventName': 'OP_RETIRED', 'EventCode': '0x3a'}, {'EventName': 'OP_SPEC', 'EventCode': '0x3b'},
            {'MetricName': 'kept', 'MetricExpr': 'OP_RETIRED / OP_SPEC', 'MetricGroup': 'Ops', 'BriefDescription': 'Operations\nthat retire.\tAll.'},
            {'MetricName': 'lost', 'MetricExpr': '1 - op_retired / op_spec', 'MetricGroup': 'Ops'}]
    args = table(rows)
    with machine('neoverse', {'r3a': 900, 'r3b': 1000}) as on:
        result = on.pace('stat', *args, '-M', 'Ops', 'true')
        assert groups_of(on) == [[0x3a, 0x3b]] and metrics_in(result.err) == {'kept': ('0.90', '', ''), 'lost': ('0.10', '', '')}, (groups_of(on), result)
        assert 'Operations that retire. All.' in on.pace('list', 'metrics', 'kept', *args).out


@test
def an_event_that_several_metrics_lack_is_named_once():
    with machine('icelake', is_strict=False) as on:
        result = on.pace('stat', '-M', 'frontend_cycles_idle,stalled_cycles_per_instruction', '--metric-no-merge', 'true')
    reasons = [line for line in result.err.splitlines() if 'no such hardware counter' in line]
    assert len(reasons) == 1 and reasons[0].count('stalled-cycles-frontend') == 1, result


@test
def topdown_without_a_table_leads_to_what_needs_none():
    with machine('icelake', is_strict=False) as on:
        for word in ('TopdownL1', 'tma_retiring'):
            result = on.pace('stat', '-M', word, 'true')
            assert result.status and result.err.rstrip().endswith("'pace stat --topdown' needs none"), result
        assert '--topdown' not in on.pace('stat', '-M', 'IPCs', 'true').err


@test
def latencies_in_formulas_are_understood_wherever_metrics_are_read():
    rows = [{'EventName': 'LOADS', 'EventCode': '0xd1', 'UMask': '0x2', 'RetirementLatencyMean': 11.5},
            {'MetricName': 'waiting', 'MetricExpr': 'LOADS * min(LOADS:R, 20) / cycles'}]
    args = table(rows)
    with machine('graniterapids', is_strict=False) as on:
        listed = json.loads(on.pace('list', 'metrics', '--json', *args).out)
    metric = next(metric for metric in listed if metric['name'] == 'waiting')
    assert metric['events'] and 'LOADS:R' in metric['events'] and not metric.get('reason'), metric


# ---- perf, with the tables that are built into it ----

def terms_of(name, known):
    """An event of a formula as terms of the core's PMU; None: it is of another PMU, or of more than one register."""
    pmu, slash, inner = name.rstrip('/').partition('/')
    parts = []
    for item in inner.split(',') if slash else [name]:
        if item.lower() in known:
            if known[item.lower()]['pmu'] != 'cpu':
                return None
            item = known[item.lower()]['terms']
        parts += [term for term in item.split(',') if not term.startswith('period=')]
    if (slash and pmu != 'cpu') or any(re.match('offcore_rsp|ldlat|frontend', term) for term in parts) or not all('=' in p for p in parts):
        return None
    # "EVENT,umask=0x80" has another umask in pace; perf mixes it with the event's own.
    if len({part.split('=')[0] for part in parts}) < len(parts):
        return None
    return f'cpu/{",".join(parts)}/'


def countable(on, folder):
    """{metric: its events as terms} of those whose events are all the core's."""
    listed = on.pace('list', 'metrics', '--json', '--events-dir', folder)
    events = on.pace('list', 'table', '--json', '--events-dir', folder)
    assert not listed.status and not events.status, (listed.err, events.err)
    known = {event['name']: event for event in json.loads(events.out)}
    found = {}
    for metric in json.loads(listed.out):
        if metric['topic'] == 'pace' or not metric['events']:
            continue
        terms = [terms_of(name, known) for name in metric['events'].split(' ')]
        if all(terms):
            found[metric['name']] = terms
    return found


@test
def columns_of_metrics_are_perfs_in_its_place():
    perf_works()
    folder = linux_tables((6, 1))
    # Of counts that go on, so that no interval is empty.
    counts = {'cycles': {'rate': 3000000}, 'instructions': {'rate': 4000000}}
    with machine('icelake', counts, is_strict=False) as on:
        for scope in ([], ['-A'], ['--per-core'], ['-A', '-I', '100'], ['-I', '100'], ['--per-core', '-I', '100']):
            args = ['stat', '-a', '-M', 'IPC,CPI', '--metric-only', '-x,', *scope]
            theirs = re.sub(r'\d+\.\d{9}', 'T', on.perf(*args, 'sleep', '0.15').err)
            ours = re.sub(r'\d+\.\d{9}', 'T', on.pace(*args, '--columns', 'perf', '--events-dir', folder, 'sleep', '0.15').err)
            assert ours == theirs and '1.33,0.75,' in ours, (scope, ours, theirs)
        result = on.pace('stat', '-a', '-M', 'IPC', '--metric-only', '-j', '--per-core', '-I', '100', '--columns', 'perf', '--events-dir', folder, 'sleep', '0.05')
    rows = [json.loads(line) for line in result.err.splitlines()]
    assert [(row['core'], row['aggregate-number'], row['IPC']) for row in rows] == [('S0-D0-C0', 2, '1.33'), ('S0-D0-C1', 2, '1.33')], result
    assert all(isinstance(row['interval'], float) for row in rows), rows


@test
def values_are_perfs():
    perf_works()
    # Those that Debian 12's perf has built in.
    folder = linux_tables((6, 1))
    chance = random.Random(586)
    n = 0
    for name in ('haswell', 'icelake', 'zen4'):
        with machine(name, is_strict=False) as on:
            metrics = countable(on, folder)
        chosen = chance.sample(sorted(metrics), min(24, len(metrics)))
        counts = {terms: chance.randrange(1, 10**9) for metric in chosen for terms in metrics[metric]}
        with machine(name, counts, is_strict=False) as on:
            for metric in chosen:
                theirs = on.perf('stat', '-M', metric, 'true')
                found = re.search(rf'# +([-\d.]+) +(?:\S+  )?{re.escape(metric)}\b', theirs.err)
                # What this perf cannot, or has other tables for.
                if theirs.status or not found:
                    continue
                ours = metrics_in(on.pace('stat', '-M', metric, '--events-dir', folder, 'true').err)
                assert metric in ours and ours[metric][0] == found[1], (name, metric, ours, theirs.err)
                n += 1
    print(f'# {n} values')
    assert n > 30, n


main()
