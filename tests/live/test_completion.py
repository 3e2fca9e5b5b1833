#!/usr/bin/env python3
"""Completion: what pace answers, and what bash, zsh and fish make of it."""
import os
import pty
import re
import select
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
from oracle import handmade  # noqa: E402

WORDCOUNT = os.path.join(TOP, 'tests/golden/data/wordcount.data')
GO = WORDCOUNT.replace('wordcount.data', 'go.pprof')
PATH = os.path.dirname(PACE) + ':' + os.environ['PATH']


def answer(*words):
    """The words that pace offers, and what else the shell shall do."""
    result = pace('completion', '--words', '--', *words)
    assert result.status == 0 and not result.err, result
    lines = result.out.splitlines()
    assert lines[-1].startswith(':') and all(line.count('\t') == 1 for line in lines[:-1]), lines
    return [line.split('\t')[0] for line in lines[:-1]], lines[-1]


def long_options(*words):
    return set(re.findall(r'(?<![\w-])--[a-z][\w-]*(?=[ =\[\n,])', re.sub(r'^ {20,}.*$', '', '\n'.join(
        line[:34] for line in pace(*words).out.splitlines() if re.match(r'^[* ] (-\S|    --)', line)) + '\n', flags=re.M)))


@test
def all_commands_and_all_their_options_are_offered():
    commands = re.findall(r'^  ([\w-]+) +\S', pace('help').out.split('First steps')[0], re.M)
    assert answer('')[0] == commands and 'completion' in commands
    assert answer('re') == (['record', 'report', 'readperf'], ':none')
    for command in commands:
        offered = set(answer(command, '--')[0])
        listed = long_options(command, '-h')
        assert listed <= offered, (command, listed - offered)
        assert len(listed) > 3 or command in ('completion', 'help', 'version', 'doctor', 'buildid-list', 'cache', 'timechart', 'kallsyms', 'check', 'config', 'archive', 'inject', 'buildid-cache', 'test'), (command, listed)
        # Every word is one that the command takes.
        for word in offered - listed - {'--help'}:
            result = pace(command, word, '-h')
            assert 'there is no option' not in result.err, (command, word, result)


@test
def functions_and_probes_are_offered_to_probe():
    program = build_c('tests/live/programs/probed.c', 'probed', '-g')
    listed = pace('probe', '-x', program, '-F').out.split()
    assert 'main' in listed and len(listed) > 2
    for words in (['-x', program], ['-x', program, '-a'], [f'--exec={program}', '-L'], ['-x', program, '-V']):
        offered, what = answer('probe', *words, '')
        assert set(listed) <= set(offered) and what == ':none', (words, offered)
        assert answer('probe', *words, 'mai')[0] == ['main'], words
    assert answer('probe', '-x', 'no-such-file', 'm') == ([], ':none')
    assert answer('probe', '') == ([], ':none')  # all functions of a kernel are too many
    needs_root()
    made = pace('probe', '-x', program, 'completed:here=main')
    if made.status:
        skip(f'no probes here: {made.err.strip()[:160]}')
    try:
        for option in ('-d', '-l', '--del'):
            words = ['probe', f'{option}completed:'] if option == '-l' else ['probe', option, 'completed:']
            assert [word.removeprefix('-l') for word in answer(*words)[0]] == ['completed:here'], option
    finally:
        assert pace('probe', '-d', 'completed:here').status == 0


@test
def what_options_take_is_offered():
    assert answer('report', '--format', 'j') == (['json'], ':none')
    assert answer('report', '--format=j') == (['--format=json'], ':none')
    keys, what = answer('report', '--sort', 'comm,ds')
    assert 'comm,dso' in keys and 'comm,dso_size' in keys and what == ':list' and all(key.startswith('comm,ds') for key in keys), keys
    assert '-scomm' in answer('report', '-sco')[0]
    assert answer('report', '-i', '') == ([], ':files') and answer('report', '--symfs', '') == ([], ':folders')
    assert answer('mcp', '') == ([], ':folders')
    assert answer('report', '-ng', 'fra') == ([], ':files')  # the value may be left out, then it is attached
    assert answer('flame', '--order', '') == (['name', 'heaviest'], ':none')
    for words in (['record', '-e'], ['stat', '-e'], ['stat', '--event'], ['mem', 'record', '-e'], ['record', '-a', '-qe']):
        assert 'cpu-clock' in answer(*words, 'cpu-c')[0], words
        assert answer(*words, 'page-faults,cpu-cl') == (['page-faults,cpu-clock'], ':list'), words
        assert answer(*words, '{cpu-cl') == (['{cpu-clock'], ':list'), words
    assert answer('stat', '--event=cpu-cl') == (['--event=cpu-clock'], ':list')
    assert answer('stat', '-M', 'insn_per') == (['insn_per_cycle'], ':list') and 'Default2' in answer('stat', '-M', 'Def')[0]
    os.mkdir('tables')
    with open('tables/own.json', 'w') as file:
        file.write('[{"MetricName": "own_share", "MetricExpr": "page-faults / cs", "MetricGroup": "OwnGroup"}]')
    for tables in (['--events-dir', 'tables'], ['--events-dir=tables']):
        assert answer('stat', *tables, '-M', 'insn_per_cycle,own') == (['insn_per_cycle,own_share'], ':list')
        assert answer('stat', *tables, '-M', 'OwnG') == (['OwnGroup'], ':list')
    # Each word that is offered is one that the option takes.
    for command, option in (('report', '--stdio-color'), ('report', '--percentage'), ('diff', '--compute'), ('record', '--call-graph'),
                            ('report', '--call-graph'), ('annotate', '--disassembler-style'), ('mem record', '--type')):
        offered, _ = answer(*command.split(), f'{option}=')
        assert len(offered) >= 2, (command, option)
        for word in offered:
            more = {'diff': [WORDCOUNT, WORDCOUNT], 'record': ['-e', 'no-such-event', 'true'], 'mem record': ['--dry-run', 'true']}
            result = run(PACE, *command.split(), word, *more.get(command, ['-i', WORDCOUNT]))
            assert f"'{word.split('=')[1]}" not in result.err and result.status != 2 or 'no-such-event' in result.err, (word, result)


@test
def names_come_from_the_recording():
    # Functions of a recording are those of this machine's files; of a profile they are in it.
    for words in (['report', '-i', GO, '-S'], ['report', '--input', GO, '-S'], ['report', f'-i{GO}', '-S'], ['annotate', '-i', GO, '-s'],
                  ['annotate', GO]):
        names = answer(*words, 'runtime.')[0]
        assert names and all(name.startswith('runtime.') for name in names), (words, names)
    assert answer('report', '-i', WORDCOUNT, '-c', '') == (['wordcount'], ':list')
    assert 'libc.so.6' in answer('report', '-i', WORDCOUNT, '-d', '')[0]
    assert answer('report', '-S', '') == ([], ':list')  # there is no perf.data
    open('perf.data', 'wb').write(open(WORDCOUNT, 'rb').read())
    assert answer('report', '-c', 'wordcount,wo') == (['wordcount,wordcount'], ':list')
    open('perf.data', 'wb').write(b'nonsense')
    result = pace('completion', '--words', '--', 'report', '-c', '')
    assert result.status == 0 and result.out == ':list\n', result


@test
def names_of_several_events_are_offered_once():
    handmade.write_multiplexed('several.data')
    assert pace('report', '-q', '-i', 'several.data', '-s', 'comm').out.count('made') > 1
    assert answer('report', '-i', 'several.data', '-c', '') == (['made'], ':list')


@test
def names_of_a_long_recording_are_offered_at_once():
    handmade.write('long.data', handmade.IP | handmade.TID | handmade.TIME, [{'ip': handmade.TEXT}])
    sample = handmade.sample(handmade.IP | handmade.TID | handmade.TIME, ip=handmade.TEXT, who=(handmade.PID, handmade.PID), time=1)
    with open('long.data', 'r+b') as file:
        file.seek(48)  # the bytes of all records
        size, = struct.unpack('<Q', file.read(8))
        file.seek(-8, os.SEEK_CUR)
        file.write(struct.pack('<Q', size + 6000000 * len(sample)))
        file.seek(0, os.SEEK_END)
        for _ in range(60):
            file.write(100000 * sample)

    def seconds(*words):
        began = cpu_seconds()
        result = pace(*words)
        assert result.status == 0 and 'made' in result.out, result
        return cpu_seconds() - began, result.err
    whole, said = seconds('report', '-q', '-i', 'long.data', '-s', 'comm')
    assert not said, said
    # CPU time: on a busy machine it is no faster than that machine. Its threads stop after a tenth of a second in each of three stages.
    taken, said = seconds('completion', '--words', '--', 'report', '-i', 'long.data', '-c', '')
    # The shells' scripts do not show it.
    assert 'reading was stopped' in said, said
    print(f'# {taken:.2f} s of {whole:.2f} s')
    assert taken < max(0.6, whole / 2), (taken, whole)


@test
def what_can_be_read_once_is_left_for_the_command():
    os.mkfifo('pipe')
    end = os.open('pipe', os.O_RDWR)
    os.write(end, b'x')
    assert answer('report', '-i', 'pipe', '-S', '') == ([], ':list')
    assert os.read(end, 2) == b'x'
    os.close(end)


@test
def another_commands_words_are_its_own():
    assert answer('record', '-g', 'ls', '-') == ([], ':command 2')
    assert answer('--no-pager', 'record', 'l') == ([], ':command 2')
    assert answer('stat', '-e', 'cpu-clock', '--', 'ls', '--') == ([], ':command 4')
    assert answer('mem', 'record', 'ls', '') == ([], ':command 2')
    assert answer('stat', 're') == (['record', 'report'], ':command 1')
    assert answer('mem', '') == (['record', 'report'], ':none')
    assert '--mem-mode' in answer('mem', 'report', '--')[0] and '--mem-mode' not in answer('mem', 'record', '--')[0]
    assert answer('nonsense', '') == ([], ':none') and answer('nonsense', '--') == ([], ':none')


def bash(line, before='', broken=None):
    """The words that bash offers at the end of the line. broken: the words as bash breaks them; default at blanks."""
    words = broken or line.split(' ')
    script = f'''{before}
source <({PACE} completion bash)
COMP_LINE={quoted(line)} COMP_POINT={len(line)} COMP_CWORD={len(words) - 1}
COMP_WORDS=({' '.join(quoted(word) for word in words)})
_pace
printf '%s\\n' "${{COMPREPLY[@]}}"'''
    result = run('bash', '--norc', '-c', script, env=dict(os.environ, PATH=PATH))
    assert result.status == 0 and not result.err, result
    return result.out.split('\n')[:-1]


def quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"


@test
def bash_completes():
    needs('bash')
    os.mkdir('somewhere')
    open('some.data', 'w').close()
    assert bash('pace rep') == ['report']
    assert bash('pace report --so') == answer('report', '--so')[0]
    assert sorted(bash('pace report -i so')) == ['some.data', 'somewhere'] == sorted(bash('pace report so'))
    assert bash('pace report --symfs so') == ['somewhere']
    assert bash('pace report  --format js') == bash('pace report --format js') == ['json']
    # bash replaces what follows the last '=' or ':'.
    assert bash('pace report --format=js', broken=['pace', 'report', '--format', '=', 'js']) == ['json']
    assert 'speedscope' in bash('pace export --format=', broken=['pace', 'export', '--format', '='])
    assert bash('pace report --input=some.', broken=['pace', 'report', '--input', '=', 'some.']) == ['some.data']
    assert bash('pace record l') and 'ls' in bash('pace record l')
    assert bash('pace record cat so')[-1:] and 'some.data' in bash('pace record cat so')
    if any(word.startswith('sched:') for word in answer('record', '-e', 'sched:')[0]):
        assert 'sched_switch' in bash('pace record -e sched:sched_sw', broken=['pace', 'record', '-e', 'sched', ':', 'sched_sw'])
    assert run('bash', '-n', os.path.join(TOP, 'src/cmd/completion/pace.bash')).status == 0


@test
def bash_registers_it_for_pace():
    needs('bash')
    result = run('bash', '--norc', '-c', f'source <({PACE} completion bash); complete -p pace')
    assert result.out == 'complete -F _pace pace\n', result


def typed(shell, setup, line, until):
    """Types a line and a tab in an interactive shell; returns what it shows up to a pattern."""
    pid, fd = pty.fork()
    if not pid:
        variables = dict(os.environ, TERM='dumb', PATH=PATH, HOME=os.getcwd(), PS1='$ ', INPUTRC='/dev/null')
        os.execvpe(shell[0], shell, variables)
    shown, end, sent = '', time.monotonic() + PATIENCE, 0
    try:
        os.write(fd, (setup + '; echo rea""dy\n').encode())
        while not re.search(until, shown):
            assert select.select([fd], [], [], max(0, end - time.monotonic()))[0], f'{until!r} does not come: {shown!r}'
            shown += os.read(fd, 1 << 16).decode(errors='replace')
            if not sent and '\nready' in shown:
                sent, shown = 1, ''
                os.write(fd, (line + '\t').encode())
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(fd)
        os.waitpid(pid, 0)
    return shown


@test
def bash_completes_what_is_typed():
    needs('bash')
    setup = f'source <({PACE} completion bash)'
    typed(['bash', '--norc', '--noprofile', '-i'], setup, 'pace ann', 'pace annotate ')
    typed(['bash', '--norc', '--noprofile', '-i'], setup, 'pace export --format=speed', '--format=speedscope ')
    loaded = '/usr/share/bash-completion/bash_completion'
    if os.path.exists(loaded):
        open('unique.data', 'w').close()
        typed(['bash', '--norc', '--noprofile', '-i'], f'. {loaded}; {setup}', 'pace record -g cat uniq', 'cat unique.data')


@test
def zsh_completes_what_is_typed():
    needs('zsh')
    setup = f'autoload -U compinit; compinit -u -D; source <({PACE} completion zsh)'
    open('unique.data', 'w').close()
    for line, until in (('pace ann', 'pace annotate '), ('pace export --format speed', '--format speedscope'), ('pace report -i uniq', '-i unique.data'),
                        ('pace record -g cat uniq', 'cat unique.data'), ('pace report --symbol-f', '--symbol-filter'),
                        ('pace report --format=js', '--format=json'), ('pace report --input=uniq', '--input=unique.data')):
        typed(['zsh', '-f', '-i'], setup, line, re.escape(until))


@test
def zsh_finds_the_installed_script():
    needs('zsh')
    os.mkdir('functions')
    open('functions/_pace', 'w').write(open(os.path.join(TOP, 'src/cmd/completion/pace.zsh')).read())
    typed(['zsh', '-f', '-i'], 'fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D', 'pace ann', 'pace annotate ')


@test
def make_install_puts_the_scripts_where_shells_look():
    needs('meson')
    result = run('meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', os.path.abspath('root'))
    assert result.status == 0, result
    for shell, place in (('bash', 'bash-completion/completions/pace'), ('zsh', 'zsh/site-functions/_pace'), ('fish', 'fish/vendor_completions.d/pace.fish')):
        found = [os.path.join(folder, name) for folder, _, names in os.walk('root') for name in names
                 if os.path.join(folder, name).endswith('/share/' + place)]
        assert len(found) == 1, (place, found)
        lines = [line.strip() for line in open(found[0]) if line.strip()]
        assert lines == pace('completion', shell).out.splitlines(), place


@test
def fish_completes():
    needs('fish')
    os.mkdir('somewhere')
    open('some.data', 'w').close()

    def fish(line):
        result = run('fish', '--no-config', '-c', f'{PACE} completion fish | source; complete -C {quoted(line)}',
                     env=dict(os.environ, PATH=PATH, HOME=os.getcwd()))
        assert result.status == 0 and not result.err, result
        return [row.split('\t')[0] for row in result.out.splitlines()]

    assert fish('pace rep') == ['report']
    assert set(answer('report', '--so')[0]) == set(fish('pace report --so'))
    assert fish('pace report --format js') == ['json']
    assert fish('pace report --format=js') == ['--format=json']
    assert sorted(fish('pace report -i so')) == ['some.data', 'somewhere/']
    assert fish('pace report --input=some.') == ['--input=some.data']
    assert fish('pace report --symfs so') == ['somewhere/']
    assert 'some.data' in fish('pace record -g cat so')


main()
