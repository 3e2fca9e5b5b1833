#!/usr/bin/env python3
"""libpace as a program outside of this tree sees it: installed, found by pkg-config, explained by pace(3)."""
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

WARNINGS = ['-Wall', '-Wextra', '-Werror', '-pedantic']
HEADER = os.path.join(TOP, 'include/pace.h')


def installed():
    """Installs the library below this test's directory; the environment of a program that is built and run with it."""
    needs('meson', 'pkg-config')
    if not os.path.exists(os.path.join(BUILD, 'libpace.so')):
        skip('libpace is not built here')
    done = run('meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', os.path.abspath('root'))
    assert done.status == 0, done
    where = os.path.dirname(glob.glob('root/**/libpace.so', recursive=True)[0])
    return dict(os.environ, PKG_CONFIG_PATH=os.path.abspath(f'{where}/pkgconfig'), PKG_CONFIG_SYSROOT_DIR=os.path.abspath('root'),
                LD_LIBRARY_PATH=os.path.abspath(where))


def flags(env, *words):
    result = run('pkg-config', *words, 'pace', env=env)
    assert result.status == 0, result
    return result.out.split()


def sanitizers():
    """A sanitized library needs a sanitized program."""
    return ['-fsanitize=address,undefined'] if 'asan' in run('ldd', os.path.join(BUILD, 'libpace.so')).out else []


def build_outside(env, source, name, *options, compiler='cc'):
    done = run(compiler, '-O1', '-g', *WARNINGS, *options, *sanitizers(), '-o', name, source, *flags(env, '--cflags', '--libs'), env=env)
    assert done.status == 0, done
    return os.path.abspath(name)


def example(env, name):
    return build_outside(env, os.path.join(TOP, f'examples/{name}.c'), name, '-std=gnu11')


def can_count(program, env, *prefix):
    """What the program says, if counting is allowed here."""
    result = run(*prefix, *program, env=env)
    if result.status and 'perf_event_paranoid' in result.err:
        skip('counting is not allowed here: ' + result.err.strip()[:200])
    check_sane(result)
    return result


def everybody(program, env):
    """As whoever runs the tests and, if that is root, as nobody."""
    yield can_count(program, env)
    if os.geteuid() == 0:
        needs('setpriv')
        rights_stay()
        os.chmod('.', 0o755)
        yield can_count(program, env, *NOBODY)


def declared():
    text = re.sub(r'/\*.*?\*/', '', open(HEADER).read(), flags=re.S)
    return set(re.findall(r'\b(pace_\w+)\(', text))


@test
def branch_read_prints_as_the_book_does():
    env = installed()
    program = example(env, 'branch-read')
    for result in everybody([program, '100'], env):
        assert result.status == 0, result
        first, second = result.out.splitlines()
        assert second == '50', result
        if 'counting page faults instead' in result.err:
            assert re.match(r"branch-read: opening 'branches:u': ", result.err) and re.fullmatch(r'\d+ / \d+ page faults were minor', first), result
        else:
            assert re.fullmatch(r'\d+ / \d+ branches mispredicted', first), result
    # Another maximum, other events, and what is no pair of them.
    assert can_count([program, '7'], env).out.endswith('\n3\n')
    result = can_count([program, '100', 'page-faults:u,minor-faults:u'], env)
    assert re.fullmatch(r'\d+ / \d+ \(minor-faults:u / page-faults:u\)\n50\n', result.out) and not result.err, result
    assert run(program, '100', 'page-faults:u', env=env).status == 1
    result = run(program, '100', 'rc4,rc5', env=env)
    assert result.status == 0 or "opening 'rc4'" in result.err, result


@test
def branch_sample_prints_as_the_book_does():
    env = installed()
    program = example(env, 'branch-sample')
    for result in everybody([program, '60000000'], env):
        assert result.status == 0 and result.out.endswith('\n30000000\n'), result
        lines = result.out.splitlines()[:-1]
        n = expected = 0
        for line in lines:
            sample, branches = re.fullmatch(r'SAMPLE 0x[0-9a-f]+', line), re.fullmatch(r' (\d+) Branches in Stack', line)
            if sample:
                assert not expected, result
                n += 1
            elif branches:
                expected = int(branches.group(1))
            else:
                assert re.fullmatch(r' From: [0-9a-f]+ : (mispredicted|predicted|not known)', line), line
                expected -= 1
        assert n > 3 and not expected, result
        if 'sampling every ms instead' in result.err:
            assert ' 0 Branches in Stack' in lines, result
            # They are in the loop, which is smaller than a page.
            # Nearly all: between switching on and the loop, and behind it, lie a few instructions of libraries.
            places = sorted(int(line.split()[1], 16) for line in lines if line.startswith('SAMPLE'))
            middle = places[len(places) // 2]
            assert sum(abs(place - middle) < 4096 for place in places) > .8 * n or n < 10, places


@test
def region_says_what_a_call_costs():
    env = installed()
    program = example(env, 'region')
    for result in everybody([program, '5'], env):
        assert result.status == 0, result
        rows = dict((line.split()[0], [float(word) for word in line.split()[1:]]) for line in result.out.splitlines()[1:])
        empty, sort = rows['task-clock:u']
        assert 0 < empty < sort and sort > 100000, result
        assert rows['page-faults:u'][0] < 1, result


@test
def values_without_system_calls_are_those_of_the_kernel():
    env = installed()
    program = build_outside(env, os.path.join(TOP, 'tests/live/programs/userread.c'), 'userread', '-std=gnu11')
    for event in ('task-clock:u', 'page-faults:u', 'instructions:u'):
        result = run(program, event, '2000', env=env)
        check_sane(result)
        if result.status == 77:
            assert f"opening '{event}'" in result.out, result
            continue
        assert result.status == 0 and re.match(r'\d+ of 2000 values came without a system call', result.out), result
        if not event.startswith('instructions'):
            assert result.out.startswith('0 of'), result


@test
def every_example_of_the_manual_runs():
    env = installed()
    text = open(os.path.join(TOP, 'doc/pace.3')).read()
    blocks = re.findall(r'^\.EX\n(.*?)^\.EE', text, re.S | re.M)
    expected = [r'\d+ page faults for 1000000 bytes\n', r'(\d+) times ten page faults\n']
    assert len(blocks) == len(expected)
    for block, form in zip(blocks, expected):
        with open('example.c', 'w') as source:
            source.write(block.replace('\\-', '-').replace('\\e', '\\'))
        program = build_outside(env, 'example.c', 'example', '-std=gnu11')
        result = can_count([program], env)
        assert result.status == 0 and re.fullmatch(form, result.out), result
        assert int(re.match(r'\d+', result.out).group()) >= 20, result


@test
def the_header_is_cxx_and_old_c_too():
    env = installed()
    with open('one.c', 'w') as source:
        source.write('#include <pace.h>\n#include <pace.h>\nint main(void) { return pace_version() == 0; }\n')
    assert run(build_outside(env, 'one.c', 'one', '-std=c99'), env=env).status == 0
    needs('g++')
    for standard in ('c++11', 'c++17', 'c++20'):
        with open('two.cc', 'w') as source:
            source.write('#include <pace.h>\nint main() { pace_error e; pace_options o = {}; pace_value v; pace_group *g =\n'
                         'pace_group_open("page-faults:u", 0, -1, &o, &e); if (g) { pace_group_read(g, &v, 1, &e); pace_group_close(g); } }\n')
        assert run(build_outside(env, 'two.cc', 'two', f'-std={standard}', compiler='g++'), env=env).status == 0


@test
def pkg_config_knows_the_library():
    env = installed()
    assert '-lpace' in flags(env, '--libs')
    assert run('pkg-config', '--modversion', 'pace', env=env).out.strip() == pace('version').out.split()[1]
    assert glob.glob('root/**/man3/pace.3*', recursive=True)


@test
def programs_with_the_library_need_nothing_that_is_behind_it():
    """A machine has libzstd.so.1 and not libzstd.pc: only who links statically needs the latter."""
    env = installed()
    env['PKG_CONFIG_LIBDIR'] = env['PKG_CONFIG_PATH']
    assert run('pkg-config', '--exists', 'zlib', env=env).status, 'the .pc files of other libraries are still found'
    program = build_outside(env, os.path.join(TOP, 'examples/region.c'), 'region', '-std=gnu11')
    assert 'libpace.so' in run('ldd', program, env=env).out
    assert can_count([program, '2'], env).status == 0


STATIC = r'''
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <linux/perf_event.h>
#include <pace.h>
static int n_opened;
/* As a libc may have it some day: the library takes it. */
int perf_event_open(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags)
{
	n_opened++;
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, group, flags);
}
/* Names that the library has inside. */
int str_add(void);
int str_add(void) { return 1; }
int log_say(void);
int log_say(void) { return 2; }
int main(void)
{
	struct pace_error err;
	struct pace_counter *c = pace_counter_open("page-faults:u", 0, -1, &err);
	if (!c) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	pace_counter_close(c);
	printf("%d %d %d\n", n_opened, str_add(), log_say());
	return 0;
}
'''


@test
def the_static_library_is_whole_and_keeps_its_names_to_itself():
    env = installed()
    if not glob.glob('root/**/libpace.a', recursive=True):
        skip('there is no static library: objcopy is missing, or this is another machine')
    with open('static.c', 'w') as source:
        source.write(STATIC)
    words = flags(env, '--static', '--libs')
    at = words.index('-lpace')
    words[at:at + 1] = ['-Wl,-Bstatic', '-lpace', '-Wl,-Bdynamic']
    done = run('cc', '-O1', '-g', *WARNINGS, *sanitizers(), '-o', 'static', 'static.c', *flags(env, '--cflags'), *words, env=env)
    assert done.status == 0, done
    assert 'libpace' not in run('ldd', './static').out
    result = can_count([os.path.abspath('static')], dict(os.environ))
    assert result.out == '1 1 2\n', result
    needs('nm')
    library = glob.glob('root/**/libpace.a', recursive=True)[0]
    outside = {line.split()[-1] for line in run('nm', '-g', '--defined-only', library).out.splitlines() if len(line.split()) == 3}
    assert outside == declared() | {'perf_event_open'}, outside ^ declared()


@test
def examples_are_installed_where_the_manual_says():
    env = installed()
    folder = run('pkg-config', '--variable=examples', 'pace', env=env).out.strip()
    if not folder.startswith(os.path.abspath('root')):
        folder = os.path.abspath('root') + folder
    page = open(os.path.join(TOP, 'doc/pace.3')).read()
    named = set(re.findall(r'^\.I ([a-z-]+\.c)$', page, re.M))
    assert len(named) >= 5 and named == set(os.listdir(folder)), (named, os.listdir(folder))
    assert folder.endswith('/share/doc/pace/examples') and 'share/doc/pace/examples' in page
    for name in sorted(named):
        build_outside(env, f'{folder}/{name}', name[:-2], '-std=gnu11')


@test
def threads_samples_itself():
    env = installed()
    program = example(env, 'threads')
    for result in everybody([program, '60'], env):
        assert result.status == 0, result
        rows = [re.fullmatch(r' *([\d.]+)%  (.*)', line).groups() for line in result.out.splitlines()]
        paths = ' '.join(path for _, path in rows)
        assert 'add_much > add' in paths and 'compare' in paths and 'sort' in paths, result
        assert 50 < sum(float(share) for share, _ in rows) <= 100.1, result


DEEP = '''
static volatile unsigned sum;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 20000; i++) sum = sum + i; }
__attribute__((noinline)) void down(int depth) { if (depth) down(depth - 1); else leaf(); sum = sum + 1; }
int main(void) { for (int i = 0; i < 3000; i++) down(i % 5); return 0; }
'''


@test
def callers_of_a_recording_are_those_that_commands_show():
    """Out of copies of the stack, of chains that were walked while recording, and of frame pointers."""
    env = installed()
    program = build_outside(env, os.path.join(TOP, 'tests/live/programs/callers.c'), 'callers', '-std=gnu11')
    with open('deep.c', 'w') as source:
        source.write(DEEP)
    assert run('cc', '-O2', '-g', '-fno-optimize-sibling-calls', '-fcf-protection=none', '-o', 'deep', 'deep.c').status == 0
    for words in (['--call-graph', 'dwarf,2048', '--keep-stacks'], ['--call-graph', 'dwarf,2048'], ['--call-graph', 'fp']):
        recorded = pace('record', '-q', '-F', '4000', *words, '-o', 'deep.data', './deep')
        if recorded.status:
            skip(recorded.err.strip()[-200:])
        result = run(program, 'deep.data', env=env)
        check_sane(result)
        assert result.status == 0 and not result.err, result
        lines = result.out.splitlines()
        shown = [json.loads(line) for line in pace('script', '--json', '-i', 'deep.data').out.splitlines()]
        assert len(lines) == len(shown) > 10, (len(lines), len(shown))
        n_whole = 0
        for line, sample in zip(lines, shown):
            frames = ' '.join(f"{f['ip']}:{f['function'] or '?'}+{f.get('offset', 0)}" for f in sample['stack'])
            assert line.startswith(f"{sample['time_ns']} {sample['comm']} {frames} "), (words, line, sample)
            n_whole += line.endswith(' complete') and 'leaf' in line and 'main+' in line and '_start' in line
        # Where stacks are not only what the kernel says, nearly all of them are whole.
        assert words[1] == 'fp' or n_whole > len(lines) * .9, (words, n_whole, len(lines))


@test
def without_dpkg_the_library_goes_where_this_system_looks():
    needs('meson', 'pkg-config')
    multiarch = 'lib/' + os.uname().machine + '-linux-gnu'
    if not os.path.isdir('/usr/' + multiarch):
        skip('this system has no folders by architecture')
    done = run('meson', 'setup', 'plain', TOP, '--libdir=lib64', '--prefix=/opt/one')
    assert done.status == 0, done

    def places():
        return set(json.loads(run('meson', 'introspect', 'plain', '--installed').out).values())

    assert f'/opt/one/{multiarch}/libpace.so.0.1.0' in places() and f'/opt/one/{multiarch}/pkgconfig/pace.pc' in places(), places()
    assert not [place for place in places() if 'lib64' in place]
    # What `make install PREFIX=` does to a folder that was set up for another place.
    assert run('meson', 'configure', 'plain', '--prefix=/opt/other').status == 0
    assert run('meson', 'setup', '--reconfigure', 'plain', TOP).status == 0
    assert f'/opt/other/{multiarch}/libpace.so.0.1.0' in places(), places()
    assert '-L${prefix}' in open('plain/meson-private/pace.pc').read() and 'prefix=/opt/other' in open('plain/meson-private/pace.pc').read()


@test
def declared_mapped_exported_and_explained_are_the_same_functions():
    functions = declared()
    assert len(functions) > 30 and 'pace_version' in functions
    mapped = set(re.findall(r'^\t\t(pace_\w+);$', open(os.path.join(TOP, 'src/pace.map')).read(), re.M))
    assert functions == mapped, functions ^ mapped
    page = open(os.path.join(TOP, 'doc/pace.3')).read()
    explained = set(re.findall(r'\bpace_\w+', ''.join(re.findall(r'^\.BR? .*$', page, re.M))))
    assert functions <= explained, functions - explained
    needs('nm')
    library = os.path.join(BUILD, 'libpace.so')
    if not os.path.exists(library):
        skip('libpace is not built here')
    exported = {line.split()[-1].split('@')[0] for line in run('nm', '-D', '--defined-only', library).out.splitlines() if ' A ' not in line}
    assert functions == exported, functions ^ exported


main()
