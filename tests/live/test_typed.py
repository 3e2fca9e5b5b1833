#!/usr/bin/env python3
"""What people type who come from perf, its books and its web pages: as it is printed there, and what they are told where it is not taken."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403


def check_refused(rows):
    """Each row: the command as one text for the shell, and what its message says."""
    for text, said in rows:
        result = run('sh', '-c', text.replace('pace ', f'{PACE} ', 1))
        check_sane(result)
        assert result.status in (1, 2) and said in result.err, (text, said, result)


@test
def a_mode_of_call_graphs_behind_g_is_no_command():
    can_record()
    attr = {}
    for words in ('-g dwarf', '--call-graph dwarf', '-gdwarf,4096', '--call-graph dwarf,4096', '-g fp', '--call-graph fp'):
        result = pace('record', '-vv', '-e', 'cpu-clock', *words.split(), 'true')
        attr[words] = re.findall(r'^cpu-clock: type: 1, .*', result.err, re.M)
        assert result.status == 0 and attr[words], result
    assert attr['-g dwarf'] == attr['--call-graph dwarf'] != attr['-g fp'] == attr['--call-graph fp'], attr
    assert attr['-gdwarf,4096'] == attr['--call-graph dwarf,4096'] != attr['-g dwarf'], attr


@test
def a_program_that_is_called_like_a_mode_of_call_graphs_is_run():
    can_record()
    os.mkdir('bin')
    shutil.copy('/bin/echo', 'bin/dwarf')
    result = run(PACE, 'record', '-e', 'cpu-clock', '-g', 'dwarf', 'it ran', env={**os.environ, 'PATH': os.path.abspath('bin')})
    assert result.status == 0 and result.out == 'it ran\n', result


@test
def options_of_perf_that_are_elsewhere_are_pointed_to():
    check_refused([
        ('pace record -M intel true', 'pace annotate -M STYLE'),
        ('pace report --branch--call-graph', '--branch-history'),
        ('pace stat --record-tpebs -e cs true', 'pace record -e EVENT -W'),
    ])


main()
