#!/usr/bin/env python3
"""perf's smaller commands: the same answers, and files that both tools can use."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403


@test
def functions_of_the_kernel_are_where_perf_says():
    perf_works()
    needs_root()
    names = ['schedule', 'vfs_read', 'ksys_write', 'no_such_function']
    ours, theirs = pace('kallsyms', *names), run('perf', 'kallsyms', *names)
    assert ours.out == theirs.out and ours.status == theirs.status == 0 and 'not found' in ours.out, (ours, theirs)
    assert pace('kallsyms').status == 2



@test
def both_tools_read_what_either_writes_into_its_configuration():
    perf_works()
    env = dict(os.environ, PERF_CONFIG=os.path.abspath('config'))
    pairs = ['report.percent-limit=3', 'call-graph.record-mode=fp', 'report.sort_order=comm,dso', 'a-b.c=some words']
    for writer in (PACE, 'perf'):
        for pair in pairs:
            assert run(writer, 'config', pair, env=env).status == 0, (writer, pair)
        for words in ([], ['-l'], ['report.percent-limit'], ['a-b.c', 'not.there']):
            ours, theirs = (run(tool, 'config', *words, env=env) for tool in (PACE, 'perf'))
            assert ours.out == theirs.out and ours.status == theirs.status == 0, (words, ours, theirs)
        assert sorted(run(PACE, 'config', env=env).out.splitlines()) == sorted(pairs)
        os.remove('config')


@test
def settings_are_options_before_the_users_own():
    path = os.path.abspath('config')
    env = dict(os.environ, PERF_CONFIG=path)
    recorded = run(PACE, 'record', '-e', 'cpu-clock', '-o', 'x.data', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
    assert recorded.status == 0, recorded

    def titles(*words):
        return re.search(r'^# Overhead.*', run(PACE, 'report', '-i', 'x.data', *words, env=env).out, re.M)[0]

    def write(text):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    write('[report]\nsort_order = dso\n')
    assert 'Symbol' not in titles() and 'Shared Object' in titles()
    assert 'Command' in titles('-s', 'comm') and 'Shared' not in titles('-s', 'comm')
    write('[pace "report"]\noptions = -s "pid,sym"\n')
    assert 'Pid' in titles() and 'Symbol' in titles() and 'Shared' not in titles()
    write('[call-graph]\nrecord-mode = fp\n[pace "record"]\noptions = -F 777\n')
    assert run(PACE, 'record', '-g', '-e', 'cpu-clock', '-o', 'y.data', 'true', env=env).status == 0
    attr = pace('evlist', '-v', '-i', 'y.data').out
    assert 'CALLCHAIN' in attr and '777' in attr and 'STACK_USER' not in attr, attr
    write('[call-graph]\nrecord-mode = dwarf\ndump-size = 16384\n')
    assert run(PACE, 'record', '-g', '--keep-stacks', '-e', 'cpu-clock', '-o', 'z.data', 'true', env=env).status == 0
    attr = pace('evlist', '-v', '-i', 'z.data').out
    assert 'STACK_USER' in attr and '16384' in attr, attr


main()
