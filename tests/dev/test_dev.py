#!/usr/bin/env python3
"""The scripts that a new user runs first: what they print when something is missing."""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403


def machine_without(*missing, manager='apt-get'):
    """A PATH that has the usual tools, one package manager and not the missing programs."""
    os.mkdir('bin')
    for name in ('sh', 'awk', 'grep', 'printf', 'dirname', 'id', 'cc', 'meson', 'ninja', 'pkg-config', 'env', 'cat', 'python3',
                 'perf', 'sqlite3', 'xz', 'setpriv', 'g++', 'as', 'ld'):
        where = shutil.which(name)
        if where and name not in missing:
            os.symlink(os.path.realpath(where) if name != 'python3' else where, f'bin/{name}')
    with open(f'bin/{manager}', 'w') as fake:
        fake.write('#!/bin/sh\necho "$0 $*" >> installed\nexit 0\n')
    os.chmod(f'bin/{manager}', 0o755)
    return dict(os.environ, PATH=os.path.abspath('bin'))


def need(env, *words):
    return run('/bin/sh', os.path.join(TOP, 'dev/need'), *words, env=env)


@test
def nothing_is_said_when_nothing_is_missing():
    env = machine_without()
    result = need(env, 'build')
    assert result.status == 0 and not result.out and not result.err, result


@test
def the_one_command_is_printed_in_the_words_of_each_distribution():
    expected = {'apt-get': 'apt-get install -y --no-install-recommends meson ninja-build',
                'dnf': 'dnf install -y meson ninja-build',
                'pacman': 'pacman -S --noconfirm --needed meson ninja',
                'zypper': 'zypper install -y meson ninja',
                'apk': 'apk add meson samurai'}
    for manager, command in expected.items():
        shutil.rmtree('bin', ignore_errors=True)
        result = need(machine_without('meson', 'ninja', manager=manager), 'build')
        assert result.status == 1 and f'    {command}\n' in result.err.replace('sudo ', ''), (manager, result)
        assert not os.path.exists('installed')


@test
def a_missing_header_is_found_missing():
    env = machine_without('cc')
    with open('bin/cc', 'w') as fake:
        fake.write('#!/bin/sh\n! grep -q libiberty\n')
    os.chmod('bin/cc', 0o755)
    result = need(env, 'build')
    assert result.status == 1 and result.err.rstrip().endswith(' libiberty-dev'), result


@test
def a_system_that_is_too_old_is_told_so():
    """Debian 11 has meson 0.56; its libraries lack more than that."""
    def machine_at(version):
        shutil.rmtree('bin', ignore_errors=True)
        env = machine_without('meson', 'ninja')
        with open('bin/meson', 'w') as fake:
            fake.write(f'#!/bin/sh\necho {version}\n')
        os.chmod('bin/meson', 0o755)
        return env
    env = machine_at('0.56.2')
    for words in (['--age'], ['build'], ['--install', 'build']):
        result = need(env, *words)
        assert result.status == 1 and not result.out and 'its meson is 0.56.2, and 1.0 is needed' in result.err, (words, result)
        assert result.err.count('\n') == 1 and not os.path.exists('installed'), (words, result)
    assert need(machine_at('1.0.1'), '--age').status == 0


@test
def what_is_optional_is_named_and_not_refused():
    env = machine_without('cc')
    with open('bin/cc', 'w') as fake:
        fake.write('#!/bin/sh\n! grep -q -e pfmlib -e libdeflate\n')
    os.chmod('bin/cc', 0o755)
    assert need(env, 'build').status == 0
    result = need(env, '--wish', 'option')
    assert result.status == 0 and 'version --build-options' in result.err and result.err.rstrip().endswith(' libpfm4-dev libdeflate-dev'), result
    result = need(env, '--missing', 'option')
    assert result.status == 0 and result.out.split() == ['libpfm4-dev', 'libdeflate-dev'] and not result.err, result


@test
def what_failed_is_what_is_said_to_have_failed():
    """Installing, as root, where the lists of packages cannot be had."""
    needs_root()
    env = machine_without('meson')
    with open('bin/apt-get', 'w') as fake:
        fake.write(f'#!/bin/sh\necho "$1" >> {os.getcwd()}/calls\n[ "$1" != update ]\n')
    result = need(env, '--install', 'build')
    assert result.status == 1 and 'this failed, so nothing was installed: ' in result.err and 'apt-get update' in result.err, result
    assert open('calls').read() == 'update\n'


@test
def a_package_of_the_compilers_version_is_that_of_the_compiler_here():
    env = machine_without('cc')
    with open('bin/gcc', 'w') as fake:
        fake.write('#!/bin/sh\necho 14.2\n')
    os.chmod('bin/gcc', 0o755)
    with open('bin/cc', 'w') as fake:
        fake.write('#!/bin/sh\n\nfor word; do [ "$word" != -m32 ] || exit 1; done; exit 0\n')
    os.chmod('bin/cc', 0o755)
    for tool in ('cut', 'sed', 'head'):
        os.symlink(shutil.which(tool), f'bin/{tool}')
    assert 'gcc-14-multilib' in need(env, '--missing', 'test').out


@test
def every_row_of_the_table_names_a_package_for_every_manager():
    rows = [line for line in open(os.path.join(TOP, 'dev/packages')) if re.match(r'(build|option|test|bench|demo|guest) ', line)]
    assert len(rows) > 10
    for row in rows:
        cells = [cell.strip() for cell in row.split(' | ')]
        assert len(cells) >= 7 and all(cells[-5:]), row
        assert re.fullmatch(r'[a-z0-9.+@-]+', cells[-5]), row


@test
def make_install_goes_where_it_is_told_to_also_after_make():
    """`make`, then `make install PREFIX=/elsewhere`: what was set up for one place is told of the other."""
    needs('make')
    shutil.copytree(os.path.join(TOP, 'dev'), 'dev')
    shutil.copy(os.path.join(TOP, 'Makefile'), '.')
    os.mkdir('fake')
    for name in ('meson', 'ninja'):
        with open(f'fake/{name}', 'w') as fake:
            fake.write(f'#!/bin/sh\necho "{name} $*" >> said\n[ "$1" != setup ] || {{ mkdir -p build; : >build/build.ninja; }}\n')
        os.chmod(f'fake/{name}', 0o755)
    env = dict(os.environ, PATH=os.path.abspath('fake') + ':' + os.environ['PATH'])
    env.pop('PREFIX', None)

    def said(*words, versions=0):
        if os.path.exists('said'):
            os.remove('said')
        result = run('make', *words, env=env)
        assert result.status == 0, result
        lines = [line.strip() for line in open('said') if 'ninja' not in line]
        # Python takes 0.2 s to start: it is not asked when nothing is made anew.
        assert lines.count('meson --version') == versions, lines
        return [line for line in lines if '--version' not in line]

    assert said(versions=1) == ['meson setup build --prefix=/usr/local']
    assert said('install') == ['meson install -C build']
    assert said('install', 'PREFIX=/elsewhere') == ['meson configure build --prefix=/elsewhere', 'meson install -C build']


@test
def make_says_what_is_missing_and_fails():
    needs('make')
    env = machine_without('meson')
    os.symlink(shutil.which('make'), 'bin/make')
    result = run('make', '-C', TOP, 'build/pace', env=dict(env, MAKEFLAGS=''))
    assert result.status != 0 and 'apt-get install -y --no-install-recommends meson' in result.err, result


@test
def golden_files_are_not_renewed_without_a_program():
    os.makedirs('tests/golden')
    shutil.copy(os.path.join(TOP, 'tests/harness.py'), 'tests')
    shutil.copy(os.path.join(TOP, 'tests/golden/run.py'), 'tests/golden')
    shutil.copytree(os.path.join(TOP, 'tests/golden/version'), 'tests/golden/version')
    before = {path: open(path).read() for path in glob.glob('tests/golden/version/*/*')}
    os.mkdir('build')
    for program in (None, '#!/bin/sh\nexit 127\n'):
        if program:
            with open('build/pace', 'w') as file:
                file.write(program)
            os.chmod('build/pace', 0o755)
        for words in (['--renew'], []):
            result = run('python3', 'tests/golden/run.py', *words, 'version', env=dict(os.environ, PACE_BUILD=os.path.abspath('build')))
            assert result.status == 1 and 'does not run: build it first' in result.err and not result.out, result
            assert {path: open(path).read() for path in glob.glob('tests/golden/version/*/*')} == before != {}, before


ENDLESS = """
import os, subprocess, sys
sys.path.insert(0, %r)
from harness import *

@test
def never_ends():
    start('sh', '-c', 'sleep 4711 & setsid sleep 4711 & wait')
    with open(os.environ['STARTED'], 'w') as file:
        file.write(os.getcwd())
    with subprocess.Popen(['sleep', '4711'], start_new_session=True):
        pass

@test
def is_not_begun():
    touch(os.environ['STARTED'] + '.too')

main()
""" % os.path.join(TOP, 'tests')


def sleeping():
    return [pid for pid, words in commands().items() if words == 'sleep 4711']


@test
def an_interrupted_test_leaves_nothing_behind():
    """Neither processes, in whatever session, nor its folder; with Ctrl-C for one suite, and for the program that runs suites."""
    with open('test_endless.py', 'w', encoding='utf-8') as file:
        file.write(ENDLESS)
    with open(os.path.join(TOP, 'tests/run.py'), encoding='utf-8') as file:
        runner = re.sub(r"SUITES = \[.*?\n\]\n", "SUITES = [('a', [sys.executable, 'test_endless.py'])]\n", file.read(), count=1, flags=re.S)
    runner = runner.replace('where = BUILD if', f'where = {os.getcwd()!r} if True or')
    with open('run.py', 'w', encoding='utf-8') as file:
        file.write(runner)
    for script, number, status in (('test_endless.py', signal.SIGINT, 1), ('test_endless.py', signal.SIGTERM, 1), ('run.py', signal.SIGINT, 130)):
        env = dict(os.environ, STARTED=os.path.abspath('started'))
        with subprocess.Popen([sys.executable, script], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            wait_for(lambda: has_grown('started', 0) and len(sleeping()) == 3)
            process.send_signal(number)
            said = what_it_said(process)
        with open('started', encoding='utf-8') as file:
            folder = file.read()
        assert process.returncode == status, (script, process.returncode, said)
        assert not sleeping() and not os.path.exists(folder) and not os.path.exists('started.too'), (script, sleeping(), folder, said)
        os.remove('started')


@test
def c_files_are_laid_out_as_clang_format_14_says():
    needs('clang-format', 'git')
    if 'version 14.' not in run('clang-format', '--version').out or not os.path.isdir(os.path.join(TOP, '.git')):
        skip('other versions of clang-format lay out a little differently')
    result = run(os.path.join(TOP, 'dev/format'), '--check')
    assert result.status == 0, result


main()
