#!/usr/bin/env python3
"""The build-ids of real recordings by others (see the shared folder), compared with those that the installed perf prints and those
that were written down when they were recorded."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

# perf copies the vdso of old recordings to a file of its own and prints that name.
VDSO = re.compile(r'/tmp/perf-vdso\.so-\w+')
# Files perf gives up on, sometimes with status 0 and whatever it had by then.
REFUSED = re.compile(r'failed to process|incompatible')


def recordings():
    root = needs_shared('fixtures')
    return [path for path in sorted(glob.glob(f'{root}/*/*'))
            if not re.search(r'EXPECTED|ELFBINARY|\.(header|report|script)$|README|corpus', path)]


def lists_of(path, *words):
    """What both print; None where perf does not read the file."""
    ours, theirs = pace('buildid-list', '-i', path, *words), run('perf', 'buildid-list', '-f', '-i', path, *words)
    if theirs.status or REFUSED.search(theirs.err):
        return None
    return ours.out, VDSO.sub('[vdso]', theirs.out)


def has_table(path):
    return re.search(r'^  BUILD_ID +0x', pace('data', 'lint', path).out, re.M)


def has_callers(path):
    return 'CALLCHAIN' in pace('evlist', '-v', '-i', path).out


@test
def build_ids_are_those_of_perf():
    perf_works()
    compared = 0
    for path in recordings():
        lists = lists_of(path)
        if not lists:
            continue
        ours, theirs = (out.split('\n') for out in lists)
        # Without a table both ask the samples: there pace lists the files of callers too.
        if not has_table(path) and has_callers(path):
            ours = [line for line in ours if line in theirs]
        assert ours == theirs, (path, ours, theirs)
        compared += 1
    assert compared > 60, compared


@test
def with_hits_nothing_is_missing_that_perf_lists():
    """perf 6.1 leaves out the files that only callers lie in, so pace may have more, and only where there are callers."""
    perf_works()
    compared = 0
    for path in recordings():
        lists = lists_of(path, '-H')
        if not lists:
            continue
        ours, theirs = (out.split('\n') for out in lists)
        missing = [line for line in theirs if line not in ours]
        assert not missing, (path, missing)
        if len(ours) > len(theirs):
            assert has_callers(path), (path, *lists)
        compared += 1
    assert compared > 60, compared


@test
def build_ids_are_those_that_were_written_down():
    compared = 0
    for expected in sorted(glob.glob(needs_shared('fixtures') + '/*/*.buildids.EXPECTED')):
        path = expected[:-len('.buildids.EXPECTED')]
        if not os.path.exists(path):
            continue
        ours = pace('buildid-list', '-i', path)
        assert ours.status == 0 and ours.out == open(expected).read(), (path, ours)
        compared += 1
    assert compared >= 10, compared


@test
def build_ids_of_programs_and_the_kernel_are_those_of_perf():
    perf_works()
    for path in ('/bin/ls', '/bin/sh', sys.executable):
        assert pace('buildid-list', '-i', path).out == run('perf', 'buildid-list', '-i', path).out, path
    theirs = run('perf', 'buildid-list', '-k')
    if theirs.status == 0:
        assert pace('buildid-list', '-k').out == theirs.out


@test
def every_recording_is_explained():
    for path in recordings():
        result = pace('data', 'lint', path)
        assert result.status in (0, 1, 2), (path, result)
        if result.status == 2:
            assert result.err.startswith('pace data: ') and not result.out, (path, result)
            continue
        verdict = result.out.strip().split('\n')[-1]
        assert verdict.startswith('This file is whole.' if result.status == 0 else 'This file is damaged: '), (path, result)


main()
