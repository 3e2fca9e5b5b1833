#!/usr/bin/env python3
"""Where names come from: the same recording, while the program's symbols move from place to place.

The program is recorded once; its rows with everything in place are what all other places must give.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

HOT = '''
#include <time.h>
static volatile unsigned long sink;
static __attribute__((noinline)) void hot_local(void) { for (int i = 0; i < 200000; i++) sink += i; }
__attribute__((noinline)) void warm_global(void) { for (int i = 0; i < 100000; i++) sink ^= i; }
/* By time, not by rounds: machines differ by more than ten times. */
int main(int argc, char **argv)
{
	clock_t end = clock() + (argc > 1 ? 20 * CLOCKS_PER_SEC : CLOCKS_PER_SEC / 10);
	while (clock() < end) { hot_local(); warm_global(); }
	return 0;
}
'''


def recorded(*flags, options=()):
    """The program in app/prog with its symbols, its recording, and its rows."""
    os.makedirs('app', exist_ok=True)
    with open('hot.c', 'w', encoding='utf-8') as file:
        file.write(HOT)
    done = run('gcc', '-O1', '-g', '-Wl,--build-id', '-rdynamic', '-o', 'app/prog', 'hot.c', *flags)
    assert done.status == 0, done
    shutil.copy('app/prog', 'full')
    can_record()
    result = pace('record', '--no-embed', '-q', '-F', '2000', '-e', 'cpu-clock:u', *options, '-o', 'perf.data', 'app/prog')
    assert result.status == 0, result
    return rows()


def report(*options):
    return pace('report', '-i', 'perf.data', '-F', 'overhead,sample,symbol', *options)


def rows(*options):
    """Function -> samples."""
    result = report(*options)
    found = {}
    for line in result.out.split('\n'):
        match = re.match(r'\s+[\d.]+%\s+(\d+)\s+\[.\] (\S+)', line)
        if match:
            found[match.group(2)] = int(match.group(1))
    return found


def tool(*args):
    done = run(*args)
    assert done.status == 0, done
    return done.out


def build_id(path):
    return re.search(r'Build ID: (\w+)', tool('readelf', '-n', path)).group(1)


def strip_all():
    needs('objcopy', 'readelf', 'gcc')
    tool('objcopy', '--strip-all', 'full', 'app/prog')


def put(source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy(source, target)


@test
def files_names_of_a_stripped_program_come_by_its_debug_link():
    whole = recorded()
    assert whole['hot_local'] > whole['warm_global'] > 10, whole
    strip_all()
    thin = report()
    assert 'hot_local' not in thin.out and 'warm_global' in thin.out, thin
    assert 'is stripped: install the package with its debug symbols' in thin.out, thin
    tool('objcopy', '--only-keep-debug', 'full', 'prog.debug')
    tool('objcopy', '--strip-all', '--add-gnu-debuglink=prog.debug', 'full', 'app/prog')
    for place in 'app/prog.debug', 'app/.debug/prog.debug':
        put('prog.debug', place)
        assert rows() == whole, place
        # A byte more is another file.
        with open(place, 'ab') as file:
            file.write(b'x')
        refused = report('-v')
        assert 'hot_local' not in refused.out and 'its checksum is not' in refused.out, refused
        assert re.search(r'its checksum is not [0-9a-f]{8}', refused.err), refused
        os.unlink(place)


@test
def files_stripped_code_is_shown_by_function():
    needs('nm')
    whole = recorded()
    begins = {name: f'fun_{int(address, 16):x}' for address, _, name in re.findall(r'^(\w+) ([tT]) (\S+)$', tool('nm', 'full'), re.M)}
    strip_all()
    # What others may link to keeps its name.
    thin = rows()
    assert thin[begins['hot_local']] == whole['hot_local'] and thin['warm_global'] == whole['warm_global'], (thin, whole, begins)
    assert 'have no function name' in report().out, report()
    by_address = rows('--no-unnamed-functions')
    assert not any(name.startswith('fun_') for name in by_address), by_address
    assert sum(n for name, n in by_address.items() if name.startswith('0x')) == thin[begins['hot_local']], by_address
    # A recording that carries what it needs says the same where the program is not, and shows its code.
    packed = pace('data', 'pack', '-i', 'perf.data', '--in-place')
    assert packed.status == 0, packed
    os.unlink('app/prog')
    assert rows() == thin, rows()
    shown = pace('annotate', begins['hot_local'])
    assert shown.status == 0 and 'Percent' in shown.out and 'ret' in shown.out, shown


@test
def files_stripped_code_has_the_same_names_in_script():
    """What script says of samples is what it said before, with made-up names; and it counts by function as report does."""
    needs('nm')
    recorded(options=('-g',))
    begins = {name: f'fun_{int(address, 16):x}' for address, _, name in re.findall(r'^(\w+) ([tT]) (\S+)$', tool('nm', 'full'), re.M)}
    ways = [('-F', 'ip,sym'), ('-F', 'ip,sym,symoff,dso'), ('-G', '-F', 'comm,ip,sym,symoff'), ('--json',)]

    def text(way, *more):
        shown = pace('script', '-i', 'perf.data', *way, *more)
        assert shown.status == 0 and shown.out, shown
        return shown.out

    whole = [text(way) for way in ways]
    strip_all()
    for way, before in zip(ways, whole):
        now = text(way)
        assert re.search(rf'\b{begins["hot_local"]}\b', now), (way, now[:500])
        assert now == re.sub(r'\bhot_local\b', begins['hot_local'], before), (way, now[:500], before[:500])
        assert 'fun_' not in text(way, '--no-unnamed-functions'), way
    bare = [line.split()[1] for line in text(('-G', '-F', 'ip,sym')).splitlines()]
    assert bare.count(begins['hot_local']) == rows()[begins['hot_local']], rows()
    # A recording that carries what it needs says it where the program is not.
    now = [text(way) for way in ways]
    packed = pace('data', 'pack', '-i', 'perf.data', '--in-place')
    assert packed.status == 0, packed
    os.unlink('app/prog')
    assert [text(way) for way in ways] == now


@test
def files_stripped_programs_have_start_and_main():
    recorded('-Wl,--no-export-dynamic', options=('-g',))
    # The dynamic linker has a _start, too.
    of_program = ('--children', '--dsos', 'prog')
    whole = rows(*of_program)
    strip_all()
    thin = rows(*of_program)
    assert {'main', '_start'} <= set(thin) and thin['main'] == whole['main'] and thin['_start'] == whole['_start'], (thin, whole)
    by_address = rows(*of_program, '--no-unnamed-functions')
    assert sum(by_address.values()) == sum(whole.values()) and not {'main', '_start'} & set(by_address), (by_address, whole)
    packed = pace('data', 'pack', '-i', 'perf.data', '--in-place')
    assert packed.status == 0, packed
    os.unlink('app/prog')
    assert rows(*of_program) == thin, (rows(*of_program), thin)
    assert rows(*of_program, '--no-unnamed-functions') == by_address, by_address
    # With its own samples main is shown, too.
    with open('spin.c', 'w', encoding='utf-8') as file:
        file.write('#include <time.h>\nint main(void) { clock_t end = clock() + CLOCKS_PER_SEC / 10;\n'
                   'while (clock() < end) for (volatile int i = 0; i < 200000; i++); return 0; }\n')
    tool('gcc', '-O1', '-s', '-o', 'spin', 'spin.c')
    result = pace('record', '-q', '-F', '2000', '-e', 'cpu-clock:u', '-o', 'spin.data', './spin')
    assert result.status == 0, result
    shown = pace('annotate', '-i', 'spin.data', 'main')
    assert shown.status == 0 and '<main>:' in shown.out, shown


@test
def files_names_come_by_build_id_from_all_its_folders():
    whole = recorded()
    number = build_id('full')
    short = f'{number[:2]}/{number[2:]}'
    strip_all()
    tool('objcopy', '--only-keep-debug', 'full', 'prog.debug')
    here = os.getcwd()
    for place in f'.debug/.build-id/{short}/debug', f'.cache/debuginfod_client/{number}/debuginfo':
        put('prog.debug', place)
        assert rows() == whole, place
        shutil.rmtree(place.split('/')[0])
    put('app/prog', f'root{here}/app/prog')
    put('prog.debug', f'root/usr/lib/debug/.build-id/{short}.debug')
    ours = rows('--symfs', here + '/root')
    assert all(ours[name] == whole[name] for name in ('hot_local', 'warm_global')), ours
    # Another program's symbols under this number are refused, and that is said.
    tool('gcc', '-O2', '-Wl,--build-id=0x1234567890', '-o', 'other', 'hot.c')
    put('other', f'root/usr/lib/debug/.build-id/{short}.debug')
    refused = report('--symfs', here + '/root')
    assert 'hot_local' not in refused.out and 'is another build: build-id 1234567890' in refused.out, refused


@test
def files_lie_flat_in_a_folder_or_below_it_at_their_paths():
    whole = recorded()
    here = os.getcwd()
    os.unlink('app/prog')
    put('full', 'flat/prog')
    for words, is_found in ((['flat,flat'], True), (['flat'], False), (['flat,hierarchy'], False)):
        found = rows('--symfs', *words)
        assert (found.get('hot_local') == whole['hot_local']) == is_found, (words, found)
    put('full', f'tree{here}/app/prog')
    for folder, is_found in (('tree', True), ('tree,hierarchy', True), ('tree,flat', False)):
        assert (rows('--symfs', folder).get('hot_local') == whole['hot_local']) == is_found, folder
    # The debug file that a stripped program names lies there, too.
    tool('objcopy', '--only-keep-debug', 'full', 'flat/prog.debug')
    tool('strip', '-o', 'flat/prog', 'full')
    tool('objcopy', '--add-gnu-debuglink=flat/prog.debug', 'flat/prog')
    found = rows('--symfs', 'flat,flat')
    assert all(found.get(name) == whole[name] for name in ('hot_local', 'warm_global')), (found, whole)


@test
def files_an_image_that_is_gone_comes_from_perfs_cache():
    whole = recorded()
    number = build_id('full')
    os.unlink('app/prog')
    assert 'No such file' in report().out
    for place in 'elf', '':
        path = f'.debug/.build-id/{number[:2]}/{number[2:]}/{place}'.rstrip('/')
        put('full', path)
        assert rows() == whole, place
        shutil.rmtree('.debug')
    put('full', f'.cache/debuginfod_client/{number}/executable')
    assert rows() == whole
    shutil.rmtree('.cache')
    # perf lays the cache out itself.
    needs('perf')
    put('full', 'app/prog')
    tool('perf', 'buildid-cache', '-a', 'app/prog')
    os.unlink('app/prog')
    assert rows() == whole


@test
def files_of_another_build_are_refused_with_both_numbers():
    recorded()
    number = build_id('full')
    tool('gcc', '-O2', '-Wl,--build-id=0x1234567890', '-o', 'app/prog', 'hot.c')
    refused = report()
    assert 'hot_local' not in refused.out, refused
    assert f'is another build: build-id 1234567890, recorded was {number}' in refused.out, refused


@test
def files_names_come_from_gnu_debugdata():
    """As Fedora makes it: functions that are not in .dynsym, in an ELF file without anything else, packed with xz."""
    needs('nm', 'xz', 'objcopy', 'strip')
    whole = recorded()
    dynamic = set(tool('nm', '-D', '--format=posix', '--defined-only', 'full').split('\n'))
    dynamic = {line.split()[0] for line in dynamic if line}
    functions = {line.split()[0] for line in tool('nm', '--format=posix', '--defined-only', 'full').split('\n')
                 if line and line.split()[1] in 'TtDd'}
    with open('keep', 'w', encoding='utf-8') as file:
        file.write('\n'.join(sorted(functions - dynamic)))
    tool('objcopy', '--only-keep-debug', 'full', 'prog.debug')
    tool('objcopy', '-S', '--remove-section', '.gdb_index', '--remove-section', '.comment', '--keep-symbols=keep', 'prog.debug', 'mini')
    tool('xz', '-k', 'mini')
    tool('objcopy', '--strip-all', '--add-section', '.gnu_debugdata=mini.xz', 'full', 'app/prog')
    assert 'hot_local' not in tool('nm', '-D', 'app/prog')
    assert rows() == whole
    # Damaged: the names that are there, and the reason.
    with open('mini.xz', 'r+b') as file:
        file.seek(100)
        file.write(b'nonsense')
    tool('objcopy', '--strip-all', '--add-section', '.gnu_debugdata=mini.xz', 'full', 'app/prog')
    refused = report()
    assert 'warm_global' in refused.out and '.gnu_debugdata: its xz data is damaged' in refused.out, refused


@test
def files_packed_debug_sections_make_no_difference():
    whole = recorded()
    for form in 'zlib', 'zstd':
        done = run('objcopy', f'--compress-debug-sections={form}', 'full', 'app/prog')
        if done.status == 0:
            assert rows() == whole, form


def living(*command):
    """A program that runs until its end is asked for."""
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


@test
def files_deleted_and_replaced_while_it_runs_are_read_from_the_process():
    needs_root()
    recorded()
    process = living('app/prog', 'long')
    try:
        result = pace('record', '--no-embed', '-q', '-F', '5000', '-e', 'cpu-clock:u', '-o', 'perf.data', '-p', str(process.pid), 'sleep', '0.3')
        assert result.status == 0, result
        whole = rows()
        assert whole['hot_local'] > 5, whole
        os.unlink('app/prog')
        assert rows() == whole
        tool('gcc', '-O2', '-o', 'app/prog', 'hot.c')
        assert rows() == whole
        assert '/map_files/' in report('-v').err
        # Recorded after it was deleted: it still has its number.
        result = pace('record', '--no-embed', '-q', '-F', '5000', '-e', 'cpu-clock:u', '-o', 'perf.data', '-p', str(process.pid), 'sleep', '0.3')
        assert result.status == 0, result
        assert build_id('full') in pace('buildid-list', '-i', 'perf.data').out
        assert rows()['hot_local'] > 5, report('-v')
    finally:
        stop(process)
    assert 'hot_local' not in rows()


@test
def files_of_a_container_are_those_the_container_sees():
    """Another mount namespace has another program at the same path."""
    needs_own_mounts()
    recorded()
    os.makedirs('inside')
    os.rename('app/prog', 'inside/prog')
    tool('gcc', '-O2', '-Wl,--build-id=0x1234567890', '-o', 'app/prog', 'hot.c')
    path = os.getcwd()
    process = living('unshare', '-m', 'sh', '-c', f'mount --bind {path}/inside {path}/app && exec {path}/app/prog long')
    try:
        # Until the program is there.
        while process.poll() is None and os.path.basename(os.readlink(f'/proc/{process.pid}/exe')) != 'prog':
            time.sleep(0.02)
        if process.returncode is not None:
            skip('mounts are not allowed here')
        result = pace('record', '--no-embed', '-q', '-F', '5000', '-e', 'cpu-clock:u', '-o', 'perf.data', '-p', str(process.pid), 'sleep', '0.3')
        assert result.status == 0, result
        listed = pace('buildid-list', '-i', 'perf.data').out
        assert build_id('full') in listed and '1234567890' not in listed, listed
        assert rows()['hot_local'] > 5, report('-v')
    finally:
        stop(process)
    gone = report()
    if f" '{path}/app/prog'" not in gone.out and f'{path}/app/prog' in gone.out:
        skip('in this chroot the kernel tells the paths of new mounts from outside')
    assert 'hot_local' not in gone.out and 'is another build' in gone.out, gone


@test
def packages_of_missing_symbols_are_those_that_dpkg_knows():
    """Stripped files of the system: what brings their symbols is said by the package's name, in the recording itself too."""
    needs('dpkg', 'xz')
    can_record()
    with open('data', 'wb') as file:
        file.write(os.urandom(3 << 20))
    for options in ['--no-embed'], []:
        result = pace('record', *options, '-q', '-F', '2000', '-e', 'cpu-clock:u', '-o', 'perf.data', 'xz', '-k', '-f', '-T1', 'data')
        assert result.status == 0, result
        said = re.findall(r"in \S+ have no function name: '(\S+)' is stripped: (?:install the|it is of the) package '([^']+)'", report().out)
        if not said:
            skip('the symbols of xz are here, or no package has it')
        for path, package in said:
            owner = run('dpkg', '-S', path)
            if owner.status:
                owner = run('dpkg', '-S', path.replace('/usr/', '/', 1))
            owner = owner.out.split(':')[0]
            assert re.fullmatch(re.escape(owner) + '(-dbg|-dbgsym)?', package), (path, package, owner)


SERVER = '''
import http.server, os, sys, time
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        open('asked', 'a').write(self.path + chr(10))
        if os.path.exists('slow'):
            time.sleep(300)
        # What servers do wrong, by the name of a file that is there.
        if os.path.exists('elsewhere') and not self.path.startswith('/moved'):
            self.send_response(302)
            self.send_header('Location', '/moved' + self.path)
            self.end_headers()
        elif os.path.exists('broken'):
            self.send_error(500)
        elif any(map(os.path.exists, ('half', 'cut', 'stuck'))):
            with open(self.path[1:], 'rb') as file:
                whole = file.read()
            self.send_response(200)
            # One says how much there would be; of the other the end looks like an end.
            if not os.path.exists('cut'):
                self.send_header('Content-Length', str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[:len(whole) // 2])
            if os.path.exists('stuck'):
                time.sleep(300)
        else:
            self.path = self.path.removeprefix('/moved')
            super().do_GET()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
open('port.new', 'w').write(str(server.server_port))
os.rename('port.new', 'port')
server.serve_forever()
'''


def interrupted(env):
    """A report that gets a Ctrl-C as soon as the server was asked."""
    if os.path.exists('asked'):
        os.unlink('asked')
    with open('report.out', 'w+', encoding='utf-8') as out, open('report.err', 'w+', encoding='utf-8') as err:
        process = subprocess.Popen([PACE, 'report', '-i', 'perf.data', '-s', 'sym', '--debuginfod', '250'], env=env, stdout=out, stderr=err)
        wait_for(lambda: os.path.exists('asked'))
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        out.seek(0)
        err.seek(0)
        return Result(process, out.read(), err.read())


@contextlib.contextmanager
def debuginfod():
    """A server that has the debug file of the stripped program; an environment that names it, and the build-id."""
    if not any(os.path.exists(f'{folder}/libdebuginfod.so.1') for folder in ('/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib')):
        skip('libdebuginfod is not installed')
    recorded()
    number = build_id('full')
    strip_all()
    os.makedirs(f'buildid/{number}')
    tool('objcopy', '--only-keep-debug', 'full', f'buildid/{number}/debuginfo')
    server = living(sys.executable, '-c', SERVER)
    try:
        wait_for(lambda: os.path.exists('port'))
        with open('port', encoding='utf-8') as file:
            url = f'http://127.0.0.1:{file.read()}'
        env = {k: v for k, v in os.environ.items() if 'proxy' not in k.lower()}
        env.update(DEBUGINFOD_URLS=url, DEBUGINFOD_CACHE_PATH=os.getcwd() + '/fetched', HOME=os.getcwd())
        yield env, number
    finally:
        stop(server)


@test
def files_of_servers_that_fail_cost_names_only_and_are_told_apart():
    with debuginfod() as (env, number):
        def ask(how, seconds='100', **more):
            """What is reported if the server behaves so, of a clean cache."""
            shutil.rmtree('fetched', ignore_errors=True)
            open(how, 'w').close()
            result = pace('report', '-i', 'perf.data', '-s', 'sym', '--debuginfod', seconds, env={**env, **more})
            os.unlink(how)
            assert result.status == 0 and 'warm_global' in result.out, (how, result)
            assert ('hot_local' in result.out) == (how == 'elsewhere'), (how, result)
            return result

        # Who sends to another place is followed.
        ask('elsewhere')
        # The library knows of both only that there was nothing.
        for how in 'broken', 'half':
            result = ask(how)
            assert 'debuginfod has nothing for' in result.err and 'is stripped' in result.out, (how, result)
        # What arrives may be no whole file.
        result = ask('cut')
        assert f"fetched/{number}/debuginfo' is cut off at its end: delete it" in result.out, result
        again = pace('report', '-i', 'perf.data', '-s', 'sym', '--debuginfod', '0', env=env)
        assert 'is cut off at its end' in again.out and 'hot_local' not in again.out, again
        result = ask('stuck', '1.5')
        assert 'within 1.5 s: --debuginfod gives it more time' in result.out, result
        # Nobody is there; one of two is.
        result = ask('nobody', DEBUGINFOD_URLS='http://127.0.0.1:1')
        assert 'debuginfod could not be asked for' in result.err, result
        result = ask('elsewhere', DEBUGINFOD_URLS='http://127.0.0.1:1 ' + env['DEBUGINFOD_URLS'])
        # It sends another program's symbols.
        os.unlink('asked')
        tool('gcc', '-O2', '-Wl,--build-id=0x1234567890', '-o', f'buildid/{number}/debuginfo', 'hot.c')
        result = ask('other')
        assert 'is another build: build-id 1234567890' in result.out, result
        # Only what has a hundredth of the samples is asked for.
        dsos = pace('report', '-i', 'perf.data', '-s', 'dso', '-F', 'overhead,dso').out
        shares = {name: float(share) for share, name in re.findall(r'^ +([\d.]+)% +(\S+)', dsos, re.M)}
        listed = dict(line.split(' ', 1) for line in pace('buildid-list', '-i', 'perf.data').out.splitlines())
        with open('asked', encoding='utf-8') as file:
            asked = {line.split('/')[-2] for line in file}
        assert number in asked and all(shares[os.path.basename(listed[one])] >= 0.99 for one in asked), (asked, listed, shares)


@test
def files_missing_symbols_are_fetched_from_debuginfod_within_a_deadline():
    with debuginfod() as (env, number):

        def ask(*options):
            return pace('report', '-i', 'perf.data', '-s', 'sym', *options, env=env)

        # Nobody is asked without a server's name, or without time.
        report()
        ask('--debuginfod', '0')
        assert not os.path.exists('asked')
        open('slow', 'w').close()
        began = time.monotonic()
        late = ask('--debuginfod', '1.5')
        # The server does not answer for 300 s.
        assert time.monotonic() - began < 100, 'the deadline did not hold'
        assert 'hot_local' not in late.out and 'within 1.5 s: --debuginfod gives it more time' in late.out, late
        # Who does not want to wait, does not have to.
        shutil.rmtree('fetched', ignore_errors=True)
        began = time.monotonic()
        result = interrupted(env)
        assert time.monotonic() - began < 100 and result.status in (0, 1), result
        assert 'warm_global' in result.out and 'hot_local' not in result.out, result
        assert 'pace no longer waits for debuginfod' in result.err, result
        os.unlink('slow')
        shutil.rmtree('fetched', ignore_errors=True)
        found = ask('--debuginfod', '100')
        assert 'hot_local' in found.out, found
        assert 'asking debuginfod (DEBUGINFOD_URLS) for' in found.err, found
        with open('asked', encoding='utf-8') as file:
            asked = file.read()
        assert f'/buildid/{number}/debuginfo' in asked, asked
        # The second time it is here.
        os.unlink('asked')
        assert 'hot_local' in ask().out and not os.path.exists('asked')
        # Every command that names functions asks.
        for words in (['annotate', '--debuginfod', '100', '-i', 'perf.data'], ['diff', '--debuginfod', '100', 'perf.data', 'perf.data']):
            shutil.rmtree('fetched', ignore_errors=True)
            found = pace(*words, env=env)
            assert 'hot_local' in found.out and os.path.exists('asked'), (words, found)
            os.unlink('asked')


@test
def files_that_are_damaged_cost_their_own_names_only():
    """Mutants of the program, by PACE_MUTANTS=N: nothing crashes, hangs or grows, and all samples are shown, with a reason if
    the program's have no names."""
    tool_path = needs_shared('tools/mutate_elf.py')
    whole = recorded()
    n_samples = sum(whole.values())
    n_mutants = int(os.environ.get('PACE_MUTANTS', '100'))
    tool(sys.executable, tool_path, 'full', 'mutants', str(n_mutants), '1')
    for name in sorted(os.listdir('mutants')):
        if name == 'manifest.tsv':
            continue
        os.replace(f'mutants/{name}', 'app/prog')
        shown = pace('report', '-i', 'perf.data', '-F', 'overhead,sample,dso,symbol')
        assert shown.status == 0, (name, shown)
        counts = [int(m) for m in re.findall(r'^ +[\d.]+% +(\d+)  ', shown.out, re.M)]
        assert sum(counts) == n_samples, (name, counts, n_samples, shown)
        if 'hot_local' not in shown.out and re.search(r'  prog +\[.\] 0x', shown.out):
            assert re.search(r'# .*samples.* in prog have no function name', shown.out), (name, shown)
        listed = pace('script', '-i', 'perf.data', '-F', 'ip,sym')
        assert listed.status == 0 and listed.out.count('\n') == n_samples, (name, listed.err)


if __name__ == '__main__':
    main()
