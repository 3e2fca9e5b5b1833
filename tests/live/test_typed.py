#!/usr/bin/env python3
"""What users of perf, its books and its web pages type: commands as printed there, and the messages for those that pace does not take."""
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
def what_is_wrong_with_a_command_line_is_no_output():
    named = re.findall(r'^  ([\w-]+) +\S', pace('help').out.split('First steps')[0], re.M)
    assert 'data' in named
    for command in [''] + named:
        for words in ([], ['nonsense'], ['--no-such-option']):
            if not words and command in ('list', 'stat', 'top', 'watch', 'help', 'version', 'doctor', 'cache', 'events', 'config', 'mcp', 'test'):
                continue  # these do their work
            if words == ['nonsense'] and command in ('stat', 'record', 'version', 'kallsyms'):
                continue
            result = run(PACE, *[command][:bool(command)], *words)
            assert result.status in (1, 2, 3) and not result.out and result.err, (command, words, result)


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
        ('pace record -e cycles:R true', 'pace stat --record-tpebs'),
    ])


# Commands as books and the TSX page have them (PROGRAM is theirs), which run on every machine that can be measured: without
# counters, a clock stands in for cycles.
RUN = [
    'pace stat -e cycles -e r003C ls', 'pace stat -e cycles:u -e cycles:k -e r003c:uk ls', 'pace stat ls',
    'pace stat --repeat 2 -e "{cycles:u, instructions:u}" PROGRAM', "pace stat -e '{r154,r254,r21d0},{r1c9,r1c8,r4c8,r4c9}' PROGRAM",
    'pace record -e cycles -g PROGRAM', 'pace record -e cycles:pp -g PROGRAM', 'pace report', 'pace report -n -Caddr2line -i perf.data',
    'pace report > file', 'pace report -D', 'pace annotate leaf', 'pace record -g dwarf PROGRAM', 'pace record -c 100000 PROGRAM', 'pace list', 'pace report -h',
    'pace record -W -e cpu-clock PROGRAM', 'pace stat -x, -e cpu-clock,page-faults PROGRAM', 'pace readperf perf.data',
]


@test
def commands_run_as_they_are_printed():
    can_record()
    program = build_c('tests/live/programs/branching.c', 'printed')
    for text in RUN:
        text = text.replace('PROGRAM', program)
        result = run('sh', '-c', text.replace('pace ', f'{PACE} ', 1))
        check_sane(result)
        assert result.status == 0, (text, result)


@test
def printed_dashes_quotes_and_blanks_are_explained():
    dashed = "which is not the '-' of a keyboard: type "
    check_refused([
        ('pace stat \u2212e cycles \u2212e r003C ls', dashed + "'-e'"),
        ('pace stat \u2212\u2212repeat 20 -e cycles true', dashed + "'--repeat'"),
        ('pace record \u2014T true', dashed + "'-T'"),
        ('pace record -a \u2013g', dashed + "'-g'"),
        ('pace stat -e \u201d{cycles:u, instructions:u}\u201d gzip', 'of printed text: type "'),
        ('pace stat -e cycles, instructions true', 'put a list with blanks in quotes'),
        ('pace stat -e 4c8 true', "did you mean the raw event 'r4c8'?"),
    ])


@test
def commands_of_perf_are_answered_with_what_does_their_work():
    perf_works()
    ours = set(re.findall(r'^  (\S+) ', pace('help').out, re.M))
    theirs = re.findall(r'^   ([a-z0-9-]+)  ', run('perf', '--help').out, re.M)
    assert {'top', 'timechart', 'record', 'sched', 'trace'} <= set(theirs), theirs
    pages = {command: pace(command, '-h').out for command in ours - {'help'}}
    for command in sorted(set(theirs) - ours | {'kwork', 'daemon'}):
        result = pace(command, '--any', 'word')
        assert result.status == 2 and result.err.startswith(f"pace: there is no command '{command}': "), result
        assert pace('help', command).err == result.err, command
        # What it tells people to type is there.
        for text in re.findall(r"'pace ([^']*)'", result.err):
            words = text.split()
            assert words[0] in ours, (command, text)
            for option in (word for word in words[1:] if word.startswith('-')):
                assert re.search(r'[ ,]' + re.escape(option) + r'[ ,=\[\n]', pages[words[0]]), (command, text, option)


# How a library that is linked or loaded is called.
LINKED = {'libelf': 'libelf.so', 'libdw': 'libdw.so', 'libtraceevent': 'libtraceevent.so', 'libzstd': 'libzstd.so', 'zlib': 'libz.so',
          'libcjson': 'libcjson.so', 'liblzma': 'liblzma.so', 'libdeflate': 'libdeflate.so'}
LOADED = {'libdebuginfod': r'libdebuginfod\.so\.1$', 'libLLVM': r'libLLVM(-\d+)?\.so'}


@test
def the_version_tells_the_libraries_that_the_program_has():
    needs('readelf', 'ldconfig')
    said = dict(re.findall(r'^ *(\S+): \[ (on|OFF) *\]  # \S', pace('version', '--build-options').out, re.M))
    linked, installed = run('readelf', '-d', PACE).out, re.findall(r'^\t(\S+) ', run('ldconfig', '-p').out, re.M)
    for library, file in LINKED.items():
        assert (said.pop(library) == 'on') == (f'[{file}.' in linked), (library, linked)
    for library, pattern in LOADED.items():
        assert (said.pop(library) == 'on') == any(re.match(pattern, name) for name in installed), (library, installed)
    assert set(said) == {'libiberty', 'threads', 'libpfm', 'libsqlite3', 'libncursesw'}, said


@test
def no_clock_stands_in_for_latencies_of_retirement():
    result = pace('stat', '--record-tpebs', '-e', 'cycles:R', 'true')
    assert ' samples instead' not in result.err and 'cycles:R' in result.err, result


main()
