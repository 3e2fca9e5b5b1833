#!/usr/bin/env python3
"""Configuration files: what each key of perf's does here, where the options go, and what is said of keys without an effect."""
import os
import pty
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

# All keys of perf-config(1), 6.1, and those that later perfs have; "x" stands for any name.
PERFS = '''annotate.addr2line annotate.demangle annotate.demangle_kernel annotate.disassembler_style annotate.disassemblers annotate.hide_src_code
annotate.jump_arrows annotate.objdump annotate.offset_level annotate.show_linenr annotate.show_nr_jumps annotate.show_nr_samples annotate.show_total_period
annotate.use_offset auxtrace.dumpdir buildid-cache.debuginfod buildid.dir call-graph.dump-size call-graph.order call-graph.print-limit call-graph.print-type
call-graph.record-mode call-graph.sort-key call-graph.threshold colors.addr colors.jump_arrows colors.medium colors.normal colors.root colors.selected colors.top
convert.queue-size core.addr2line-timeout core.proc-map-timeout daemon.base diff.compute diff.order ftrace.tracer gtk.annotate gtk.report gtk.top help.autocorrect
help.format hist.percentage intel-pt.cache-divisor intel-pt.max-loops intel-pt.mispred-all itrace.debug-log-buffer-size kmem.default llvm.clang-bpf-cmd-template
llvm.clang-opt llvm.clang-path llvm.dump-obj llvm.kbuild-dir llvm.kbuild-opts llvm.opts man.viewer pager.report record.aio record.build-id record.call-graph
record.debuginfod report.children report.group report.percent-limit report.queue-size report.skip-empty report.sort_order samples.context scripts.x session-x.run
stat.big-num stat.no-csv-summary top.call-graph top.children trace.add_events trace.args_alignment trace.no_inherit trace.show_arg_names trace.show_duration
trace.show_prefix trace.show_timestamp trace.show_zeros trace.tracepoint_beautifiers tui.annotate tui.report tui.top ui.show-headers alias.x'''.split()

# What a value becomes: the words that stand before the user's own.
OPTIONS = [
    ('annotate.disassembler_style=intel', 'annotate', '--disassembler-style=intel'), ('annotate.hide_src_code=true', 'annotate', '--no-source'),
    ('annotate.hide_src_code=no', 'annotate', '--source'), ('annotate.objdump=/bin/objdump', 'annotate', '--objdump=/bin/objdump'),
    ('annotate.show_nr_samples=1', 'annotate', '--show-nr-samples'), ('annotate.show_total_period=on', 'annotate', '--show-total-period'),
    ('annotate.demangle=off', 'annotate', '--no-demangle'), ('annotate.demangle_kernel=yes', 'annotate', '--demangle-kernel'),
    ('call-graph.print-type=flat', 'report', '--call-graph=flat'), ('call-graph.order=caller', 'report', '--call-graph=caller'),
    ('call-graph.sort-key=function', 'report', '--call-graph=function'), ('call-graph.threshold=3.5', 'report', '--call-graph=3.5'),
    ('diff.compute=ratio', 'diff', '--compute=ratio'), ('diff.order=1', 'diff', '--order=1'), ('hist.percentage=relative', 'report', '--percentage=relative'),
    ('hist.percentage=relative', 'diff', '--percentage=relative'), ('hist.percentage=absolute', 'top', '--percentage=absolute'),
    ('record.build-id=no-cache', 'record', '--no-buildid-cache'), ('record.build-id=skip', 'record', '--no-buildid'),
    ('record.build-id=mmap', 'record', '--buildid-mmap'), ('record.build-id=cache', 'record', '--buildid-cache'), ('report.children=false', 'report', '--no-children'),
    ('report.group=true', 'report', '--group'), ('report.percent-limit=7', 'report', '--percent-limit=7'), ('report.skip-empty=0', 'report', '--no-skip-empty'),
    ('report.sort_order=sym', 'report', '--sort=sym'), ('stat.big-num=false', 'stat', '--no-big-num'), ('stat.big-num=false', 'stat record', '--no-big-num'),
    ('stat.big-num=false', 'stat report', '--no-big-num'), ('top.children=true', 'top', '--children'), ('tui.annotate=off', 'annotate', '--stdio'),
    ('tui.report=off', 'report', '--stdio'), ('tui.report=on', 'report', ''), ('tui.top=off', 'top', '--stdio'),
    ('report.children=false', 'top', ''), ('top.children=true', 'report', ''),
]

SUBCOMMANDS = {'stat': 'record report', 'c2c': 'record report', 'mem': 'record report', 'tsx': 'record report', 'timechart': 'record',
               'data': 'lint pack strip unpack cut anonymise merge convert', 'check': 'feature'}
NEED_THEM = {'c2c', 'mem', 'data', 'check'}


def config(text):
    with open('config', 'w', encoding='utf-8') as file:
        file.write(text)
    return dict(os.environ, PERF_CONFIG=os.path.abspath('config'))


def said(text, *words):
    """The options from the configuration, as a command says them that was called wrongly."""
    result = run(PACE, *words, '--no-such-option', env=config(text))
    assert result.status == 2, result
    found = re.search(r"^options from configuration files \('pace config -l'\):(.*)", result.err, re.M)
    return found[1].strip() if found else ''


@test
def no_key_of_perfs_is_unknown():
    env = config('')
    for key in PERFS:
        assert run(PACE, 'config', f'{key}=1', env=env).status == 0, key
    lines = dict(line.split('=', 1) for line in run(PACE, 'config', '-v', env=env).out.splitlines())
    assert sorted(lines) == sorted(PERFS)
    assert not [key for key, text in lines.items() if 'no such key' in text or not re.search(r'# .*config:\d+(: no effect: \S.*)?$', text)], lines
    # Those with an effect are those that are tested below.
    effective = {key for key, text in lines.items() if 'no effect' not in text}
    tested = {pair.split('=')[0] for pair, _, _ in OPTIONS}
    assert effective == tested | {'buildid.dir', 'buildid-cache.debuginfod', 'record.debuginfod', 'call-graph.record-mode', 'call-graph.dump-size',
                                  'record.call-graph', 'pager.report'}, effective ^ tested
    for key in ('c2c.x', 'lock.x', 'report.no-such', 'a-b.c'):
        result = run(PACE, 'config', f'{key}=1', env=env)
        assert result.status == 0 and f'{key} has no effect in pace: pace has no such key' in result.err, result
    assert not run(PACE, 'config', 'report.group=1', env=env).err


@test
def keys_are_options_of_their_commands():
    for pair, command, expected in OPTIONS:
        key, value = pair.split('=')
        section, name = key.rsplit('.', 1)
        assert said(f'[{section}]\n{name} = {value}\n', *command.split()) == expected, (pair, command)


@test
def options_of_subcommands_stand_behind_their_names():
    for command, subs in SUBCOMMANDS.items():
        for sub in subs.split():
            assert not said(f'[pace "{command}"]\noptions = --of-another\n', command, sub), (command, sub)
            text = f'[pace "{command} {sub}"]\noptions = --of-this \\"with blank\\"\n'
            result = run(PACE, command, sub, env=config(text))
            assert result.status == 2 and "'--of-this'" in result.err, (command, sub, result)
            assert "--of-this 'with blank'" in result.err.replace('"', "'"), result
            listed = run(PACE, 'config', '-v', env=config(text)).out
            assert listed.startswith(f'pace.{command} {sub}.options=') and 'no effect' not in listed, listed
        listed = run(PACE, 'config', '-v', env=config(f'[pace "{command}"]\noptions = -x\n')).out
        assert ('no effect: there is no such command' in listed) == (command in NEED_THEM), listed
    assert 'no such command' in run(PACE, 'config', '-v', env=config('[pace "reports"]\noptions = -x\n[pace "rep"]\noptions = -x\n')).out
    # A subcommand works with settings as without.
    can_record()
    env = config('[pace "timechart record"]\noptions = -g\n[pace "stat record"]\noptions = -e task-clock\n[stat]\nbig-num = false\n')
    assert run(PACE, 'stat', 'record', '-o', 's.data', 'true', env=env).status == 0
    result = run(PACE, 'stat', 'report', '-i', 's.data', env=env)
    assert result.status == 0 and 'task-clock' in result.out + result.err and 'page-faults' not in result.out + result.err, result
    # In perf's place, too, whose own words stand before a subcommand.
    assert run(PACE, '--as-perf', 'stat', 'report', '-i', 's.data', env=env).status == 0
    assert run(PACE, '--as-perf', 'stat', 'record', '-o', 't.data', 'true', env=env).status == 0


@test
def variables_are_set_unless_the_user_did():
    can_record()

    def variable(name, text, **more):
        environment = {k: v for k, v in config(text).items() if k != name}
        result = run(PACE, 'record', '-q', '-e', 'task-clock', '-o', 'v.data', 'sh', '-c', f'echo ${name}', env={**environment, **more})
        assert result.status == 0, result
        return result.out.strip()

    assert variable('PERF_BUILDID_DIR', '[buildid]\ndir = /else/where\n') == '/else/where'
    assert variable('PERF_BUILDID_DIR', '[buildid]\ndir = /else/where\n', PERF_BUILDID_DIR='/mine') == '/mine'
    for key in ('[record]\ndebuginfod', '[buildid-cache]\ndebuginfod', '[debuginfod]\nurls', '[core]\ndebuginfod'):
        assert variable('DEBUGINFOD_URLS', f'{key} = http://127.0.0.1:1\n') == 'http://127.0.0.1:1', key
    assert variable('DEBUGINFOD_URLS', '[record]\ndebuginfod = system\n') == ''


def on_terminal(env, *words):
    """What a command prints on a terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen([PACE, *words], stdin=subprocess.DEVNULL, stdout=follower, stderr=subprocess.DEVNULL, env=env) as process:
        os.close(follower)
        text = b''
        try:
            while part := os.read(leader, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
        process.wait(PATIENCE)
    os.close(leader)
    return text.decode(errors='replace')


@test
def a_pager_is_chosen_command_by_command():
    pager = {'PACE_PAGER': 'sed s/^/asked:/', 'TERM': 'xterm'}
    plain = {k: v for k, v in config('').items() if k not in ('PACE_PAGER', 'PAGER', 'TERM')}
    # version is not paged by itself, check is.
    assert 'asked:' not in on_terminal({**plain, **pager}, 'version')
    config('[pager]\nversion = true\nhelp = no\n')
    assert on_terminal({**plain, **pager}, 'version').startswith('asked:')
    assert 'asked:' in on_terminal({**plain, **pager}, 'c2c', '-h')
    config('[pager]\nversion = sed s/^/named:/\nevlist = off\n')
    assert on_terminal({**plain, 'TERM': 'xterm'}, 'version').startswith('named:')
    # The command line has the last word.
    assert ':' not in on_terminal({**plain, 'TERM': 'xterm'}, '--no-pager', 'version').split()[0]


if __name__ == '__main__':
    main()
