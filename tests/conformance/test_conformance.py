#!/usr/bin/env python3
"""Programs whose names, lines, inlined functions and stacks are known from their sources."""
import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import answers as known  # noqa: E402
import stacks  # noqa: E402

PROGRAMS = os.path.join(TOP, 'tests/conformance/programs')
SOURCES = ['main.c', 'calls.c', 'signals.c', 'processes.c', 'jit.c', 'bare.c', 'rust.c', 'other.c', 'plug.c', 'classes.cc']
ANSWERS = known.Answers([f'{PROGRAMS}/{name}' for name in SOURCES])
C_FILES = [f'{PROGRAMS}/{name}' for name in [*SOURCES[:7], 'nocfi.S']]
RUST_ANSWERS = known.Answers([f'{PROGRAMS}/program.rs'])
CXX_FILES = [f'{PROGRAMS}/classes.cc']
FAR = '-Wl,--section-start=.far=0x8000000'

# How a program can be linked, each for some of the levels; what is special about its libraries.
LINKS = {
    'pie': (['-pie', '-Wl,-z,separate-code'], ['-Wl,-z,separate-code']),
    'no pie': (['-no-pie', '-Wl,-z,now', FAR], ['-Wl,-z,noseparate-code']),
    'static': (['-static', '-Wl,-Ttext-segment=0x10000000', '-Wl,--section-start=.far=0x18000000'], []),
    'static-pie': (['-static-pie', '-Wl,-z,noseparate-code'], []),
    'plt.sec': (['-pie', '-Wl,-z,ibtplt', '-Wl,-z,lazy', '-Wl,-z,max-page-size=0x200000'],
                ['-Wl,-z,max-page-size=0x200000', '-Wl,-Ttext-segment=0x7000000']),
}

def find_rustc():
    """The compiler itself: what stands in its place may need the user's home, which tests have not."""
    if not shutil.which('rustc'):
        return None
    return run('rustc', '--print', 'sysroot').out.strip() + '/bin/rustc'


RUSTC = find_rustc()

# Where programs, threads and coroutines start.
ROOTS = {'_start', '_dl_start_user', 'clone3', '__clone3', '__start_context'}


class Build:
    """A program in a folder of its own."""

    def __init__(self, compiler, level, link, has_frames, *flags):
        self.compiler, self.level, self.link, self.has_frames, self.flags = compiler, level, link, has_frames, flags
        self.is_static = link.startswith('static')
        words = [compiler, f'O{level}', link.replace(' ', '-'), 'fp' if has_frames else 'nofp'] + [f.strip('-') for f in flags]
        self.folder = os.path.abspath('-'.join(words))
        self.program = os.path.join(self.folder, 'scenes')
        self.perfmaps = []

    def run(self, *command):
        done = run(*command, cwd=self.folder)
        assert done.status == 0, (command, done)
        return done

    def make(self):
        os.makedirs(self.folder)
        frames = ['-fno-omit-frame-pointer', '-mno-omit-leaf-frame-pointer', '-DHAS_FRAMES'] if self.has_frames else ['-fomit-frame-pointer']
        flags = ['-g', f'-O{self.level}', *frames, *self.flags, '-w', '-D_GNU_SOURCE']
        pie = ['-fPIE'] if self.link != 'no pie' and self.link != 'static' else ['-fno-pie']
        cxx = {'gcc': 'g++', 'clang': 'clang++'}[self.compiler]
        link, library = LINKS[self.link]
        libraries = []
        if self.is_static:
            flags.append('-DIS_STATIC')
            self.run(self.compiler, *flags, *pie, '-c', f'{PROGRAMS}/other.c')
            libraries = ['other.o']
        else:
            self.run(self.compiler, *flags, '-fPIC', '-shared', *library, '-o', 'libother.so', f'{PROGRAMS}/other.c')
            for plug in 'ab':
                self.run(self.compiler, *flags, '-fPIC', '-shared', *library, f'-DPLUG={plug}', '-o', f'libplug_{plug}.so',
                         f'{PROGRAMS}/plug.c')
            libraries = ['-L.', '-lother', '-Wl,-rpath,$ORIGIN']
        self.run(self.compiler, *flags, *pie, '-c', *C_FILES)
        self.run(cxx, *flags, *pie, '-std=c++14', '-c', *CXX_FILES)
        objects = [os.path.basename(path).rsplit('.', 1)[0] + '.o' for path in C_FILES + CXX_FILES]
        self.run(cxx, *link, *([] if self.is_static else ['-rdynamic']), '-o', 'scenes', *objects, *libraries, '-lpthread', '-ldl')
        return self

    def facts(self, mode, out):
        """What the answers depend on: how it was built, what the program says of itself, which parts functions have."""
        names = run('nm', self.program).out
        facts = {'gcc': self.compiler == 'gcc', 'clang': self.compiler == 'clang', 'level': self.level,
                 'dwarf': mode != 'fp', 'frames': self.has_frames, 'inlines': True, 'lines': True, 'has_locals': True,
                 'is_static': self.is_static,
                 'is_split': bool(re.search(r' divided\.cold$', names, re.M)),
                 'is_caught_split': bool(re.search(r' scene_caught\.cold$', names, re.M))}
        for name, value in re.findall(r'^fact (\w+) (\d+)$', out, re.M):
            facts[name] = int(value)
        return facts


def record(build, mode, *program):
    """A recording of all scenes; what the program said."""
    data = os.path.join(build.folder, f'{mode}.data')
    options = {'fp': ['--call-graph', 'fp'], 'dwarf': ['--call-graph', 'dwarf'],
               'dumps': ['--call-graph', 'dwarf', '--keep-stacks']}[mode]
    done = pace('record', '-q', '-k', 'mono', '-e', 'cpu-clock', '-F', '4000', '-m', '4M', *options, '-o', data, build.program, *program,
                cwd=build.folder)
    for path in re.findall(r'^perfmap (.*)$', done.out, re.M):
        build.perfmaps.append(path)
    assert done.status == 0, done
    return data, done.out


class Verdict:
    """What is not as known: stacks of functions that the answers know, and others."""

    def __init__(self, text, facts, answers=ANSWERS):
        self.answers = answers
        self.wrong, self.rootless, self.n = [], [], 0
        self.chains = answers.chains_for(facts)
        self.seen, self.beside = {}, {}
        self.called_by_plt = set()  # what is right above hot_plt
        for stack in stacks.parse(text):
            if stack.frames:  # or it is the kernel's own
                self.n += 1
                self.judge(stack, facts)
        self.missing = [key for key in self.chains if not self.seen.get(key)]

    def judge(self, stack, facts):
        key = next((frame.name for frame in stack.frames if frame.name in self.answers.names), None)
        chains = self.chains.get(key)
        if not chains:
            if facts['dwarf'] and not is_root(stack.frames[-1]):
                self.rootless.append(stack)
            return
        leaf = stack.frames[0]
        is_beside = facts['lines'] and leaf.line != self.answers.lines.get(leaf.name, leaf.line)
        if leaf.name == key and is_beside:
            self.beside[key] = self.beside.get(key, 0) + 1
            # not in its loop: it may have no frame yet, or no longer, and frame pointers lead past its caller
            if not facts['dwarf']:
                return
        self.seen[key] = self.seen.get(key, 0) + 1
        if key == 'hot_plt':
            at = [frame.name for frame in stack.frames].index(key)
            self.called_by_plt |= {frame.name for frame in stack.frames[max(0, at - 1):at]}
        if not any(known.matches(chain.pattern(facts), stack.frames, self.answers, facts) for chain in chains):
            self.wrong.append((key, [chain.text for chain in chains], stack))

    def check(self, where):
        assert not self.wrong, (where, len(self.wrong), self.wrong[0])
        assert not self.missing, (where, 'no sample of these', self.missing)
        beside = {key: (n, self.seen[key]) for key, n in self.beside.items() if n > 3 + self.seen[key] // 50}
        assert not beside, (where, 'samples at other lines, of all', beside)
        # execve takes the memory of a stack away, and a page of it may not have been touched yet
        assert len(self.rootless) <= 8 + self.n // 100, (where, len(self.rootless), self.n, self.rootless[:3])
        # the stubs have no symbols; the first call of one goes through the dynamic linker
        called = {name for name in self.called_by_plt if not name.startswith('_dl_runtime_resolve')}
        assert called <= {'outside', 'outside@plt'}, (where, self.called_by_plt)


def is_root(frame):
    return frame.name in ROOTS or re.search(r'/libc\.so', frame.dso or '') and frame.name == '[unknown]'


def check_once_whole(where, judged):
    """Checks a verdict that has samples of all scenes: a busy machine loses some milliseconds of samples. What is wrong is wrong at once."""
    for _ in range(5):
        verdict = judged()
        if not verdict.missing or verdict.wrong:
            break
    verdict.check(where)


def check(build, mode, **others):
    """Records a program and compares all of it with the answers."""
    def judged():
        data, out = record(build, mode)
        said = pace('script', '-i', data, '-F', stacks.FIELDS, '--max-stack', '1000')
        assert said.status == 0, said
        return Verdict(said.out, {**build.facts(mode, out), **others})
    check_once_whole((build.folder, mode), judged)


def clean(builds):
    for build in builds:
        for path in build.perfmaps:
            if os.path.exists(path):
                os.unlink(path)


def all_of_level(compiler, level):
    needs(compiler, {'gcc': 'g++', 'clang': 'clang++'}[compiler])
    can_record()
    links = list(LINKS)
    builds = [Build(compiler, level, links[(2 * level + has_frames + 3 * (compiler == 'clang')) % len(links)], has_frames,
                    *(['-gdwarf-4'] if level == 1 else [])) for has_frames in (True, False)]
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(Build.make, builds))
        modes = ['dwarf', 'dumps'] if has_online() else ['dwarf', 'dwarf']
        check(builds[0], 'fp')
        check(builds[0], modes[level % 2])
        check(builds[1], modes[1 - level % 2])
    finally:
        clean(builds)


def has_online():
    """Whether stacks are walked while recording, unless the dumps are to be kept."""
    return '--keep-stacks' in pace('record', '-h').out


def test_of_level(compiler, level):
    def run_it():
        all_of_level(compiler, level)
    run_it.__name__ = f'stacks_are_as_known_of_{compiler}_at_O{level}'
    test(run_it)


def strip_debug(build):
    build.run('strip', '--strip-debug', 'scenes')


def strip_all(build):
    build.run('strip', 'scenes')


def move_symbols(build):
    """Names that .dynsym lacks go into .gnu_debugdata, as Fedora does it."""
    exported = set(build.run('nm', '-D', '--format=posix', '--defined-only', 'scenes').out.split('\n'))
    functions = [line for line in build.run('nm', '--format=posix', '--defined-only', 'scenes').out.split('\n')
                 if line not in exported and re.search(r' [Tt] ', line)]
    with open(f'{build.folder}/keep', 'w', encoding='utf-8') as f:
        f.writelines(line.split()[0] + '\n' for line in functions)
    build.run('objcopy', '--only-keep-debug', 'scenes', 'debug')
    build.run('objcopy', '-S', '--remove-section', '.comment', '--keep-symbols=keep', 'debug', 'mini')
    build.run('strip', 'scenes')
    build.run('xz', 'mini')
    build.run('objcopy', '--add-section', '.gnu_debugdata=mini.xz', 'scenes')


def move_debug(build):
    os.makedirs(f'{build.folder}/.debug')
    build.run('objcopy', '--only-keep-debug', 'scenes', '.debug/scenes.debug')
    build.run('strip', 'scenes')
    build.run('objcopy', '--add-gnu-debuglink=.debug/scenes.debug', 'scenes')


@test
def names_are_as_known_wherever_the_symbols_are():
    needs('gcc', 'g++', 'strip', 'objcopy', 'nm', 'xz')
    can_record()
    original = Build('gcc', 2, 'pie', False).make()
    without = {'inlines': False, 'lines': False}
    ways = [(strip_debug, without), (strip_all, {**without, 'has_locals': False}), (move_symbols, without), (move_debug, {})]
    builds = []
    try:
        for change, facts in ways:
            build = Build('gcc', 2, 'pie', False, change.__name__)
            shutil.copytree(original.folder, build.folder)
            facts = {**facts, **{name: value for name, value in original.facts('dwarf', '').items() if name.startswith('is_')}}
            change(build)
            builds.append(build)
            check(build, 'dwarf', **facts)
    finally:
        clean(builds)


@test
def roots_of_a_report_are_where_programs_and_threads_start():
    needs('gcc', 'g++')
    can_record()
    build = Build('gcc', 1, 'pie', True).make()
    try:
        data, out = record(build, 'dwarf')
        # one library after the other at the same place
        assert len(set(re.findall('^plugged (.*)$', out, re.M))) == 1 and out.count('plugged') == 3, out
        report = pace('report', '-i', data, '--no-children', '-G', '--no-inline', '-F', 'overhead,sym,dso', '--percent-limit', '0.2')
        assert report.status == 0, report
        rows = re.findall(r'^ {12}(?:---|\|--[\d.]+%--| --[\d.]+%--)(.*)$', report.out, re.M)
        assert len(rows) > 30 and '_start' in rows, report
        # of samples in the kernel only, what starts there
        false = {row for row in rows if row in ANSWERS.names - ROOTS}
        assert not false, (false, report)
        # as deep as is asked for, and not deeper
        for options, depth in (([], 127), (['--max-stack', '20'], 20)):
            said = pace('script', '-i', data, '-F', stacks.FIELDS, '--no-inline', *options)
            longest = max(len(stack.frames) for stack in stacks.parse(said.out) if 'hot_deep' in stack.frames[:1].__repr__())
            assert longest == depth, (options, longest)
    finally:
        clean([build])


@test
def functions_of_rust_are_as_known_with_both_kinds_of_names():
    if not RUSTC:
        skip('rustc is not installed')
    can_record()
    for is_v0, level in ((True, '0'), (False, '3')):
        mangling = ['-C', 'symbol-mangling-version=v0'] if is_v0 else []
        done = run(RUSTC, '--edition', '2021', '-g', '-C', 'opt-level=' + level, '-C', 'overflow-checks=off', *mangling, '-o',
                   'program', f'{PROGRAMS}/program.rs')
        if done.status:
            skip('rustc makes no program here: ' + done.err.strip().split('\n')[-1])
        facts = {'v0': is_v0, 'rust': True, 'dwarf': True, 'inlines': True, 'lines': True}

        def judged():
            assert pace('record', '-q', '-e', 'cpu-clock', '-F', '2000', '--call-graph', 'dwarf', './program').status == 0
            return Verdict(pace('script', '-F', stacks.FIELDS).out, facts, RUST_ANSWERS)
        check_once_whole(('rust', is_v0, level), judged)


@test
def a_program_without_a_file_has_no_false_names():
    needs('gcc', 'g++')
    can_record()
    build = Build('gcc', 2, 'no pie', True).make()
    launcher = build_c('tests/conformance/programs/hidden.c', 'hidden', '-D_GNU_SOURCE')
    for way, name in (('memfd', '/memfd:hidden'), ('deleted', '/gone')):
        done = pace('record', '-q', '-e', 'cpu-clock', '-F', '4000', '--call-graph', 'dwarf', launcher, way, build.program, 'plain',
                    env={**os.environ, 'LD_LIBRARY_PATH': build.folder})
        assert done.status == 0, done
        facts = build.facts('dwarf', '')
        chains = ANSWERS.chains_for(facts)['hot_plain']
        inside = [stack for stack in stacks.parse(pace('script', '-F', stacks.FIELDS).out)
                  if stack.frames and name in (stack.frames[0].dso or '')]
        assert len(inside) > 20, (way, len(inside))
        nameless = 0
        for stack in inside:
            if all(frame.name == '[unknown]' for frame in stack.frames if name in (frame.dso or '')):
                nameless += 1
            elif stack.frames[0].name == 'hot_plain':
                assert any(known.matches(chain.pattern(facts), stack.frames, ANSWERS, facts) for chain in chains), stack
        report = pace('report', '--ledger')
        assert not nameless or re.search(rf'in \S*{name[1:]} \(deleted\) have no function name', report.out), report


@test
def i386_programs_are_as_known():
    needs('gcc')
    with open('probe.c', 'w', encoding='utf-8') as f:
        f.write('int main(void) { return 0; }\n')
    if run('gcc', '-m32', '-o', 'probe', 'probe.c').status or run('./probe').status:
        skip('gcc makes no 32-bit programs that run here (gcc-multilib)')
    can_record()
    done = run('gcc', '-m32', '-O2', '-g', '-w', '-D_GNU_SOURCE', '-I', PROGRAMS, '-o', 'program', f'{PROGRAMS}/narrow.c')
    assert done.status == 0, done
    facts = {'dwarf': True, 'inlines': True, 'lines': True}

    def judged():
        assert pace('record', '-q', '-e', 'cpu-clock', '-F', '4000', '--call-graph', 'dwarf', './program').status == 0
        return Verdict(pace('script', '-F', stacks.FIELDS).out, facts, known.Answers([f'{PROGRAMS}/narrow.c']))
    check_once_whole('i386', judged)


def said_truth(out):
    return {name: [int(word, 16) for word in words.split()] for name, words in re.findall(r'^truth (\w+) (.*)$', out, re.M)}


@test
def addresses_are_those_that_the_program_says_of_itself():
    needs('gcc')
    can_record()
    for flags in (['-O0'], ['-O2'], ['-O2', '-fno-omit-frame-pointer', '-static']):
        done = run('gcc', '-w', *flags, '-o', 'truth', f'{PROGRAMS}/truth.c')
        assert done.status == 0, done
        done = pace('record', '-q', '-e', 'cpu-clock:u', '-F', '4000', '--call-graph', 'dwarf', './truth')
        assert done.status == 0, done
        callers, (begin, end) = said_truth(done.out)['callers'], said_truth(done.out)['loop']
        found = 0
        for line in pace('script', '--json').out.splitlines():
            stack = [int(frame['ip'], 16) for frame in json.loads(line)['stack']]
            if begin <= stack[0] < end:
                assert stack[1:1 + len(callers)] == callers, (flags, list(map(hex, stack)), list(map(hex, callers)))
                found += 1
        assert found > 20, (flags, found)


for compiler in ('gcc', 'clang'):
    for level in range(4):
        test_of_level(compiler, level)


if __name__ == '__main__':
    main()
