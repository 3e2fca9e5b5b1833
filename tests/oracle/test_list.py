#!/usr/bin/env python3
"""`pace list` compared with `perf list`, and the vendors' tables with the output of Linux' own generator."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
from tables import linux_tables  # noqa: E402

# What perf counts itself in `perf stat`, without the kernel.
TOOL_EVENTS = {'duration_time', 'user_time', 'system_time'}
# Those of perf 7.2, which the installed one may not have yet.
TOOL_EVENTS |= {'num_cpus', 'num_cpus_online', 'num_cores', 'num_dies', 'num_packages', 'smt_on', 'system_tsc_freq', 'has_pmem', 'core_wide', 'target_cpu'}
# perf's forms; ours are written otherwise.
FORMS = re.compile(r'^(rNNN|cpu/t1=v1|mem:<addr>)')


def of_perf():
    """All names that perf lists, second spellings too."""
    result = run('perf', 'list', '--no-desc')
    names = set()
    for line in result.out.split('\n'):
        found = re.match(r'^  (\S.*?) +\[(?!Raw|Hardware breakpoint)[^]]*\]', line)
        if found and not FORMS.match(found.group(1)):
            names.update(found.group(1).split(' OR '))
    return names


def of_pace():
    result = pace('list', '--json')
    assert result.status == 0, result
    return [event for event in json.loads(result.out) if event['kind'] not in ('raw', 'breakpoint')]


@test
def every_event_that_perf_lists_is_listed():
    perf_works()
    ours = set()
    for event in of_pace():
        ours.update((event['name'], event['alias']))
    theirs = of_perf()
    assert len(theirs) > 10, theirs
    missing = theirs - ours - TOOL_EVENTS
    # perf hides what cannot be read by this user, and so do we; the rest is a fault.
    assert not missing, sorted(missing)[:20]


@test
def every_event_that_is_listed_is_one_of_perf_or_does_not_open_here():
    """perf leaves out generic hardware and cache events that this machine refuses; pace says that they do not open."""
    perf_works()
    theirs = of_perf()
    more = [event for event in of_pace() if event['name'] not in theirs and event['alias'] not in theirs]
    # Later perfs list what they count themselves apart, as metrics.
    unexplained = [event['name'] for event in more if event['name'] not in TOOL_EVENTS and
                   not (event['kind'] in ('hardware', 'cache') and event['opens'] is False)]
    assert not unexplained, unexplained[:20]


@test
def json_in_perfs_place_has_perfs_members():
    """perf writes -j since 6.2; perf 6.1 names the same events in text."""
    perf_works()
    plain = pace('--as-perf', 'list', '-j', 'sw')
    events = json.loads(plain.out)
    assert {'Unit': 'software', 'EventName': 'page-faults', 'EventAlias': 'faults', 'EventType': 'Software event'}.items() <= events[2].items(), events[:3]
    assert plain.out.startswith('[\n{\n\t"Unit": "software",\n\t"EventName": "cpu-clock",\n') and plain.out.endswith('\n}\n]\n'), plain.out[:200]
    names = {name for event in events for name in (event['EventName'], event.get('EventAlias'))}
    theirs = re.findall(r'^  (\S+)(?: OR (\S+))? +\[Software event\]$', run('perf', 'list', 'sw').out, re.M)
    assert len(theirs) > 8 and all(name in names for pair in theirs for name in pair if name), (theirs, names)
    kinds = {event['EventType'] for event in json.loads(pace('list', '-j', '--columns', 'perf').out)}
    assert {'Software event', 'Hardware event', 'Hardware cache event', 'Tool event', 'Kernel PMU event'} <= kinds, kinds
    whole = json.loads(pace('--as-perf', 'list', '-j', '--details', 'pmu').out)
    assert any(re.fullmatch(r'\w+/event=0x[0-9a-f]+/', event.get('Encoding', '')) for event in whole), whole[:3]
    assert 'kind' in json.loads(pace('--as-perf', 'list', '-j', '--columns', 'pace', 'sw').out)[0]
    assert pace('list', '-j', '--columns', 'both').status == 2


@test
def what_does_not_open_is_not_supported_by_perf_either():
    perf_works()
    events = {event['name']: event for event in of_pace() if event['kind'] in ('hardware', 'software', 'cache', 'pmu')}
    for name in ('cycles', 'cache-misses', 'L1-dcache-load-misses', 'LLC-loads', 'page-faults', 'context-switches', 'msr/tsc/'):
        if name not in events:
            continue
        result = run('perf', 'stat', '-x,', '-e', name, 'true')
        if result.status:
            skip('perf stat does not run here: ' + result.err.strip()[:80])
        assert ('<not supported>' in result.err) == (events[name]['opens'] is False), (name, result.err, events[name])


MODELS = {
    'x86': {'skylake': 'GenuineIntel-6-5E-3', 'skylakex': 'GenuineIntel-6-55-4', 'haswellx': 'GenuineIntel-6-3F-2',
            'knightslanding': 'GenuineIntel-6-57-1', 'alderlake': 'GenuineIntel-6-97-2', 'amdzen4': 'AuthenticAMD-25-61-2'},
    'arm64': {'arm_neoverse_n1': '0x00000000410fd0c0', 'hisilicon_hip08': '0x00000000480fd010', 'fujitsu_a64fx': '0x00000000460f0010'},
    'powerpc': {'power9': '0x004e1202'},
    's390': {'cf_z16': 'IBM,3931,1'},
    'riscv': {'sifive_u74': '0x489-0x8000000000000007-0x20181004'},
}
# Names of PMUs that are put together of two parts, and of those that a number follows.
PMUS = {'hisi_sccl_ddrc': 'hisi_sccl1_ddrc0', 'hisi_sccl_hha': 'hisi_sccl1_hha0', 'hisi_sccl_l3c': 'hisi_sccl1_l3c0',
        'hisi_sicl_cpa': 'hisi_sicl1_cpa0', 'default_core': 'cpu'}


def generated(path, arch):
    """(model, PMU) -> {name: terms}, out of the C file that jevents.py writes."""
    done = run(sys.executable, os.path.join(path, 'jevents.py'), arch, 'all', os.path.join(path, 'arch'), f'{arch}.c')
    assert done.status == 0, done
    text = open(f'{arch}.c', errors='replace').read()
    tables = {}
    for model in MODELS[arch]:
        for found in re.finditer(rf'compact_pmu_event pmu_events__{model}_(\w+)\[\] = \{{(.*?)\n\}};', text, re.S):
            rows = [row.split('\\000') for row in re.findall(r'/\* (.*?) \*/', found.group(2))]
            tables[model, PMUS.get(found.group(1), found.group(1))] = {row[0]: row[3] for row in rows}
    return tables


def numbers(terms):
    """{term: number}, without those that are zero: they say nothing."""
    pairs = (term.partition('=') for term in terms.split(','))
    return {name: value for name, value in ((name, int(text, 0) if text else 1) for name, _, text in pairs) if value}


@test
def tables_of_linux_become_what_its_own_generator_makes_of_them():
    path = linux_tables()
    if "'model'," not in open(os.path.join(path, 'jevents.py')).read():
        skip('the generator of this Linux (6.1) writes another form: package linux-source-6.12, or where PACE_LINUX_SOURCE says')
    compared = 0
    for arch, models in MODELS.items():
        tables = generated(path, arch)
        for model, cpuid in models.items():
            mine = {pmu: rows for (of_model, pmu), rows in tables.items() if of_model == model}
            assert mine, (arch, model)
            for pmu in mine:
                os.makedirs(f'{model}/bus/event_source/devices/{pmu}')
                open(f'{model}/bus/event_source/devices/{pmu}/type', 'w').write('9\n')
            result = pace('list', '--json', '--deprecated', '--sysfs', model, '--events-dir', path, 'table',
                          env=dict(os.environ, PACE_CPUID=cpuid))
            assert result.status == 0 and not result.err, (model, result)
            ours = {}
            for event in json.loads(result.out):
                ours.setdefault(event['pmu'], {})[event['name']] = event['terms']
            assert set(ours) == set(mine), (model, set(ours) ^ set(mine))
            for pmu, rows in mine.items():
                assert set(ours[pmu]) == set(rows), (model, pmu, sorted(set(ours[pmu]) ^ set(rows))[:10])
                wrong = [(name, terms, ours[pmu][name]) for name, terms in rows.items() if numbers(terms) != numbers(ours[pmu][name])]
                assert not wrong, (model, pmu, wrong[:5])
                compared += len(rows)
    assert compared > 5000, compared


main()
