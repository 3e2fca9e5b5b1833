#!/usr/bin/env python3
"""Names of the CPU's vendor: installed tables, libpfm's names, and what pace says of names that nobody knows."""
import json
import os
import random
import re
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403
sys.path.insert(1, os.path.join(TOP, 'tests', 'oracle'))
from tables import linux_tables, rows_of  # noqa: E402

HASWELL = [
    {'EventName': 'MEM_UOPS_RETIRED.STLB_MISS_LOADS', 'EventCode': '0xD0', 'UMask': '0x11', 'SampleAfterValue': '100003', 'PEBS': '1',
     'BriefDescription': 'Loads without a TLB entry', 'Counter': '0,1,2,3', 'Speculative': 'null'},
    {'MetricName': 'tlb_share', 'MetricExpr': 'MEM_UOPS_RETIRED.STLB_MISS_LOADS / cycles', 'MetricGroup': 'TLBs', 'BriefDescription': 'Share'},
]
MAP = 'Family-model,Version,Filename,EventType\nGenuineIntel-6-(3C|45|46),v1,haswell,core\nGenuineIntel-6-55-[01234],v1,skylakex,core\n'
NAME = 'mem_uops_retired.stlb_miss_loads'


def put(path, text):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'w') as file:
        file.write(text)


def sources():
    """A kernel's tree with tables of two CPUs."""
    arch = 'linux/tools/perf/pmu-events/arch'
    put(f'{arch}/x86/mapfile.csv', MAP)
    put(f'{arch}/x86/haswell/memory.json', json.dumps(HASWELL, indent=4))
    put(f'{arch}/x86/skylakex/memory.json', json.dumps([{'EventName': 'OTHER.CPU', 'EventCode': '0x1'}]))
    put(f'{arch}/arm64/mapfile.csv', '0x00000000410fd400,v1,neoverse,core\n')
    put(f'{arch}/arm64/common.json', json.dumps([{'EventName': 'SHARED', 'EventCode': '0x99'}]))
    put(f'{arch}/arm64/neoverse/core.json', json.dumps([{'ArchStdEvent': 'SHARED'}]))
    return 'linux'


def at_home():
    """No tables but the user's own, which are in the test's folder."""
    os.environ['XDG_DATA_HOME'] = os.path.abspath('data')
    return 'data/pace/events'


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(root, name), folder) for root, _, names in os.walk(folder) for name in names)


def config_of(on, name):
    """The (type, config) with which stat counts a name."""
    on.forget()
    result = on.pace('stat', '-e', name, 'true')
    counted = [(o['type'], o['config']) for o in on.openings() if o['format']]
    assert counted, result
    return counted[-1]


@test
def tables_of_this_cpu_are_installed_and_used_by_all_commands():
    home, tree = at_home(), sources()
    with machine('haswell', {'cpu/event=0xd0,umask=0x11/': 5, 'cycles': 10}, is_strict=False) as on:
        result = on.pace('list', '--install-tables', tree)
        assert not result.status and '1 files' in result.out and '1 events (0 are' in result.out, result
        assert files_of(home) == ['FROM', 'arch/x86/haswell/memory.json', 'arch/x86/mapfile.csv'], files_of(home)
        assert config_of(on, NAME) == (4, 0x11d0)
        assert 'Loads without a TLB entry' in on.pace('list', NAME).out
        assert 'tlb_share' in on.pace('list', 'metrics').out
        counted = on.pace('stat', '-M', 'tlb_share', 'true')
        assert re.search(r'0\.50* .*tlb_share', counted.err), counted
        assert NAME in on.pace('list', '--raw-dump', 'pmu').out.split()
    kept = open(f'{home}/arch/x86/haswell/memory.json').read()
    assert 'Counter' not in kept and 'Speculative' not in kept and '\n' not in kept, kept
    assert not [name for name in os.listdir('data/pace') if name != 'events']


@test
def an_installation_replaces_the_last_one_and_can_be_removed():
    home, tree = at_home(), sources()
    with machine('haswell', {}, is_strict=False) as on:
        done = on.pace('list', '--install-tables', tree)
        assert not done.status, done
        put(f'{home}/arch/x86/old.json', '[]')
        assert not on.pace('list', '--install-tables', tree, '--all-cpus').status
        assert files_of(home) == ['FROM', 'arch/arm64/common.json', 'arch/arm64/mapfile.csv', 'arch/arm64/neoverse/core.json',
                                  'arch/x86/haswell/memory.json', 'arch/x86/mapfile.csv', 'arch/x86/skylakex/memory.json'], files_of(home)
        assert config_of(on, NAME) == (4, 0x11d0)
        # A failure leaves what is there.
        before = files_of(home)
        failed = on.pace('list', '--install-tables', 'data')
        assert failed.status and files_of(home) == before, failed
        removed = on.pace('list', '--remove-tables')
        assert not removed.status and not os.path.exists(home), removed
        again = on.pace('list', '--remove-tables')
        assert again.status == 1 and 'no tables are installed' in again.err, again
    with machine('neoverse', {}, is_strict=False) as on:
        done = on.pace('list', '--install-tables', tree)
        assert not done.status, done
        assert 'arch/arm64/common.json' in files_of(home) and 'arch/x86/mapfile.csv' not in files_of(home), files_of(home)
        assert config_of(on, 'shared')[1] == 0x99


@test
def an_archive_is_unpacked_and_nothing_of_it_stays():
    home, tree = at_home(), sources()
    with tarfile.open('linux-source-9.9.tar.xz', 'w:xz') as archive:
        archive.add(tree, 'linux-source-9.9')
        archive.add(__file__, 'linux-source-9.9/MAINTAINERS')
    put('no.tar.xz', 'nothing')
    with machine('haswell', {}, is_strict=False) as on:
        result = on.pace('list', '--install-tables', 'linux-source-9.9.tar.xz')
        assert not result.status, result
        assert files_of(home) == ['FROM', 'arch/x86/haswell/memory.json', 'arch/x86/mapfile.csv'], files_of(home)
        assert config_of(on, NAME) == (4, 0x11d0)
        failed = on.pace('list', '--install-tables', 'no.tar.xz')
    assert failed.status == 1 and "finds no tools/perf/pmu-events/arch in 'no.tar.xz'" in failed.err, failed
    assert os.listdir('data/pace') == ['events'], os.listdir('data/pace')


@test
def perfmon_s_folder_is_taken_too():
    home = at_home()
    put('perfmon/mapfile.csv', 'Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name\n'
        'GenuineIntel-6-3C,V1,/HSW/events/haswell_core.json,core,,,\nGenuineIntel-6-55,V1,/SKX/events/skylakex_core.json,core,,,\n')
    put('perfmon/HSW/events/haswell_core.json', json.dumps({'Header': {'Copyright': 'x'}, 'Events': HASWELL[:1]}))
    with machine('haswell', {}, is_strict=False) as on:
        result = on.pace('list', '--install-tables', 'perfmon')
        assert not result.status, result
        assert files_of(home) == ['FROM', 'arch/perfmon/HSW/events/haswell_core.json', 'arch/perfmon/mapfile.csv'], files_of(home)
        assert config_of(on, NAME) == (4, 0x11d0)


@test
def what_others_made_is_not_replaced():
    home, tree = at_home(), sources()
    put(f'{home}/mine.json', '[]')
    with machine('haswell', {}, is_strict=False) as on:
        for args in (['--install-tables', tree], ['--remove-tables']):
            result = on.pace('list', *args)
            assert result.status and 'was not installed by pace' in result.err, result
    assert files_of(home) == ['mine.json']


@test
def a_cpu_that_no_map_names_installs_nothing():
    home, tree = at_home(), sources()
    with machine('zen4', {}, is_strict=False) as on:
        result = on.pace('list', '--install-tables', tree)
    assert result.status == 1 and 'names this CPU' in result.err and '--all-cpus' in result.err, result
    assert not os.path.exists(home)


@test
def names_that_no_table_has_are_libpfm_s():
    at_home()
    if 'pfm' not in run(PACE, 'version', '--build-options').out:
        skip('built without libpfm')
    env = {'LIBPFM_FORCE_PMU': 'hsw'}
    with machine('haswell', {}, is_strict=False) as on:
        for text in (NAME, NAME + ':u', NAME.replace('.', ':'), '{cycles,%s}' % NAME, NAME.replace('.', ':') + ':u'):
            on.forget()
            result = on.pace('stat', '-e', text, 'true', env=env)
            assert [o for o in on.openings() if o['config'] == 0x11d0 and o['type'] == 4], (text, result)
        # The tables come first, and are not asked for what sysfs names.
        done = on.pace('list', '--install-tables', sources())
        assert not done.status, done
        put('data/pace/events/arch/x86/haswell/memory.json', json.dumps([{**HASWELL[0], 'UMask': '0x77'}]))
        on.forget()
        on.pace('stat', '-e', NAME, 'true', env=env)
        assert [o for o in on.openings() if o['config'] == 0x77d0], (on.said(), files_of('data'))
        unknown = on.pace('stat', '-e', 'mem_uops_retired.nonsense', 'true', env=env)
        assert unknown.status and "no event 'mem_uops_retired.nonsense'" in unknown.err and '--install-tables' not in unknown.err, unknown


@test
def an_unknown_name_says_where_tables_come_from():
    at_home()
    with machine('haswell', {}, is_strict=False) as on:
        unknown = on.pace('stat', '-e', 'uops_retired.frobnicated', 'true', env={'LIBPFM_FORCE_PMU': 'none'})
        near = on.pace('stat', '-e', 'cycels', 'true')
    if not os.path.isdir('/usr/share/pace/events') and 'linux_source' not in unknown.err:
        assert "pace list --install-tables" in unknown.err, unknown
    assert "did you mean 'cycles'?" in near.err and '--install-tables' not in near.err, near


@test
def names_of_linux_tables_are_what_perf_counts():
    """Sixty names of Haswell's tables of Linux 6.1, and all under a period: the same type and config as perf's, which has them built in."""
    perf_works()
    needs('tar')
    if perf_version()[:2] != (6, 1):
        skip('the installed perf was built from other tables')
    at_home()
    folder = linux_tables((6, 1))
    names = sorted({row['EventName'].lower() for row in rows_of(f'{folder}/arch/x86/haswell')
                    if 'EventName' in row and 'Unit' not in row and not row.get('Deprecated')})
    with machine('haswell', {}, is_strict=False) as on:
        assert not on.pace('list', '--install-tables', folder).status
        for name in random.Random(20).sample(names, 60):
            ours = config_of(on, name)
            on.forget()
            result = on.perf('stat', '-e', name, 'true')
            theirs = [(o['type'], o['config']) for o in on.openings() if o['format']]
            assert theirs and theirs[-1] == ours, (name, ours, theirs, result)


main()
