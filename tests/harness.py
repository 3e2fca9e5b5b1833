"""What the tests that run whole programs share: a test is a function with a sentence for a name.

    @test
    def record_returns_what_the_command_returned():
        assert pace('record', 'sh', '-c', 'exit 7').status == 7

Each runs in a directory of its own. skip('why') skips. Run a file to run its tests; it prints TAP.
"""
import ctypes
import fcntl
import inspect
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get('PACE_BUILD', os.path.join(TOP, 'build-check')))
PACE = os.path.join(BUILD, 'pace')
SHARED = os.environ.get('PACE_SHARED', os.path.join(os.path.dirname(TOP), 'shared'))
NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

# How long anything may hang before it is called so, in seconds, and how long a whole test may take. Far longer than it takes on a
# machine that has much else to do: that something is quick is shown by what it did not wait for, or by the processor time it takes,
# not by a clock on the wall.
PATIENCE = 60
LIMIT = 180

# A file that gets what each test took: seconds, seconds of processors, its name.
TIMES = os.environ.get('PACE_TIMES')

# Leaks are the unit tests' affair; here they would only hide exit statuses.
os.environ['ASAN_OPTIONS'] = 'detect_leaks=0:abort_on_error=1'
os.environ['UBSAN_OPTIONS'] = 'halt_on_error=1:abort_on_error=1:print_stacktrace=1'

# Tests on terminals of their own are nobody who could leave a pager.
os.environ['PACE_PAGER'] = ''

# Who is started in the background ignores these, and so would all that is started here.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

tests = []


class Skip(Exception):
    pass


def test(function):
    tests.append(function)
    return function


def skip(reason):
    raise Skip(reason)


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            skip(f'{program} is not installed')


def needs_root():
    if os.geteuid():
        skip('needs root')


def needs_own_mounts():
    """Skips where nothing can be mounted apart from the others: in containers, and in a chroot whose root is no mount."""
    needs_root()
    needs('unshare', 'mount')
    probe = run('unshare', '-m', 'true')
    if probe.status:
        skip('there are no mounts of its own for a test: ' + probe.err.strip()[:100])


def needs_shared(path=''):
    where = os.path.join(SHARED, path)
    if not os.path.exists(where):
        skip('the folder of recordings by others is not here')
    return where


class Result:
    def __init__(self, process, out, err):
        self.status, self.out, self.err = process.returncode, out, err

    def __repr__(self):
        return f'status {self.status}\n--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}'


def run(*args, timeout=PATIENCE, **kwargs):
    """Runs a program to its end; a signal it died of is a negative status."""
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
                          stdin=subprocess.DEVNULL, **kwargs) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            # Only this one: others may run in other threads.
            end_tree(process.pid)
            process.communicate()
            if args[0] == 'perf':
                skip(f'{" ".join(args)[:200]} does not end here')
            raise AssertionError(f'{" ".join(args)[:200]} did not end within {timeout} s') from None
    if args[0] == 'perf' and 'assertion failed at util/' in err:
        # As in a chroot, when it comes back from another process' mounts.
        skip('perf dies here: ' + err[err.index('assertion failed'):].split('\n')[0])
    if args[0] == 'perf' and process.returncode in (-signal.SIGSEGV, -signal.SIGABRT):
        skip(f'perf {args[1]} dies here of signal {-process.returncode}')
    return Result(process, out, err)


def pace(*args, **kwargs):
    result = run(PACE, *args, **kwargs)
    check_sane(result)
    return result


def check_sane(result):
    """Whatever happens, it is no crash, and no sanitizer has anything to say."""
    assert result.status >= 0, f'ended by signal {-result.status}: {result}'
    assert 'runtime error' not in result.err and 'AddressSanitizer' not in result.err, result
    assert not re.search('[\x00-\x08\x0b-\x1f\x7f]', result.out + result.err), f'control bytes: {result!r}'


def is_well(result):
    """Whether it ended well. Of recordings of the whole machine also if all that is missing are the names of code that programs of others
    made: they take the files of it with them, at any moment."""
    of_others = re.compile(r"(jit-\d+\.dump|/perf-\d+\.map)'")
    warnings = [line for line in result.err.split('\n') if line.startswith('warning: ')]
    return not result.status or (result.status == 1 and bool(warnings) and all(of_others.search(line) for line in warnings))


def samples_said(result):
    """The number of samples that record says it wrote."""
    found = re.search(r'\((\d+) samples\)', result.err)
    assert found, result
    return int(found.group(1))


def perf_version():
    """Of the installed perf, as (6, 1)."""
    found = re.search(r'version (\d+)\.(\d+)', run('perf', '--version').out)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def needs_layout_of_perf(what):
    """Skips where the installed perf lays out other than perf 6.1, whose layout is pace's: letters can be compared with that one only."""
    major, minor = perf_version()
    if (major, minor) > (6, 1):
        skip(f'perf {major}.{minor} prints {what} in another layout than 6.1')


def build_c(source, name, *flags):
    """Compiles a program in the test's directory; its path."""
    if not os.path.isabs(source):
        source = os.path.join(TOP, source)
    done = run('cc', '-O1', '-g', '-fno-omit-frame-pointer', '-o', name, source, *flags)
    assert done.status == 0, done
    return os.path.abspath(name)


# How V8 begins the name of an optimised function: until node 18, and since.
OPTIMISED = r'(?:LazyCompile|JS):\*'


def perf_works():
    needs('perf')
    probe = run('perf', '--version')
    if probe.status:
        skip('perf does not run here: ' + probe.err.strip()[:80])


def can_record():
    """Skips where the kernel refuses even an own program."""
    result = pace('record', '-q', '-o', 'probe.data', 'true')
    if result.status:
        skip('recording is not allowed here: ' + result.err.strip()[:200])


def wait_for(condition, seconds=PATIENCE):
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, f'nothing came of it in {seconds} s'
        time.sleep(0.02)


def threads_of(process, *names):
    """The numbers of a program's threads by their names, once these are there."""
    found = {}

    def are_there():
        for tid in os.listdir(f'/proc/{process.pid}/task'):
            with open(f'/proc/{process.pid}/task/{tid}/comm', encoding='utf-8') as comm:
                found[comm.read().strip()] = tid
        return set(names) <= set(found)
    wait_for(are_there)
    return found


def has_grown(path, size):
    """Whether a recording that is being written has so many bytes: that samples have come, however slowly."""
    return os.path.exists(path) and os.path.getsize(path) > size


def has_counted(path, size):
    """Whether its header says so much of what is written already, which it does each second: what a killed recorder leaves."""
    if not has_grown(path, 56):
        return False
    with open(path, 'rb') as f:
        return int.from_bytes(f.read(56)[48:], 'little') > size


# A command that works from the moment there is a file 'started' until there is one called 'over'.
UNTIL_OVER = ['sh', '-c', ': >started; until test -e over; do :; done']


def touch(path):
    with open(path, 'w', encoding='utf-8'):
        pass


class Waits:
    """How long processes waited for a processor, which is nobody's fault: asked again and again, so that it is known of the last moments."""

    def __init__(self, *pids):
        self.pids, self.seen = pids, []

    def note(self):
        waited = 0
        for pid in self.pids:
            try:
                with open(f'/proc/{pid}/schedstat', encoding='ascii') as stat:
                    waited += int(stat.read().split()[1]) / 1e9
            except (OSError, ValueError, IndexError):
                pass  # this kernel does not tell, or the process is over
        self.seen.append((time.monotonic(), waited))

    def watch(self, until):
        while time.monotonic() < until:
            self.note()
            time.sleep(min(0.05, max(0, until - time.monotonic())))
        self.note()

    def of_last(self, seconds):
        end, waited = self.seen[-1]
        before = [w for when, w in self.seen if when < end - seconds] or [0]
        return max(0, waited - before[-1])


held = []


def rights_stay(change=False):
    """perf_event_paranoid is the whole machine's, and suites run side by side: until this test ends nobody changes it; with change, nobody
    else depends on it."""
    if not held:
        file = open(os.path.join(tempfile.gettempdir(), f'pace-rights-{os.geteuid()}.lock'), 'a', encoding='utf-8')
        fcntl.flock(file, fcntl.LOCK_EX if change else fcntl.LOCK_SH)
        held.append(file)


def start(*args, **kwargs):
    return subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                            start_new_session=True, **kwargs)


def what_it_said(process):
    """What a process that is about to end printed: a tuple as of communicate(). One that does not end is killed, and the test fails."""
    try:
        return process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        end_descendants()
        out, err = process.communicate()
        raise AssertionError(f'it did not end within {PATIENCE} s: {out}\n{err}') from None


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def cpu_seconds():
    """Of all processors, of this process and those it waited for."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def commands():
    """What runs on this machine: the words of each process by its number."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', encoding='utf-8', errors='replace') as words:
                found[int(pid)] = words.read().replace('\0', ' ').rstrip()
        except OSError:
            pass  # it ended meanwhile
    return found


def children(parent):
    """The processes whose parent this one is, zombies included."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as stat:
                if int(stat.read().rpartition(')')[2].split()[1]) == parent:
                    found.append(int(pid))
        except (OSError, IndexError, ValueError):
            pass  # it ended meanwhile
    return found


def end_tree(pid):
    """Kills a process and all that it started."""
    for child in children(pid):
        end_tree(child)
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def end_descendants():
    """Kills all that this process started and what these started: whoever loses its parent becomes a child of this process (see main())."""
    end = time.time() + 10
    while (left := children(os.getpid())) and time.time() < end:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError, PermissionError):
                pass


def main(limit=LIMIT):
    """Runs the tests that the arguments choose; none may take longer than limit seconds."""
    def give_up(*_):
        # First what it started: with a pipe open or a child to wait for, nothing that is raised here would ever arrive.
        end_descendants()
        raise AssertionError(f'the test did not end within {limit} s')

    def interrupted(number, _):
        # The same: what waits for a child goes on only when that is over. Who asks once more is not in a greater hurry.
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        end_descendants()
        raise KeyboardInterrupt(signal.Signals(number).name)

    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGALRM, give_up)
    # A shell's background jobs are begun with it ignored, and would hand that on.
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    chosen = [t for t in tests if not sys.argv[1:] or any(word in t.__name__ for word in sys.argv[1:])]
    failed = 0
    for number, function in enumerate(chosen, 1):
        home = os.getcwd()
        with tempfile.TemporaryDirectory(prefix='pace-') as folder:
            os.chdir(folder)
            os.chmod(folder, 0o755)
            os.environ['HOME'] = folder
            begin = (time.monotonic(), cpu_seconds())
            signal.alarm(limit)
            try:
                function()
                print(f'ok {number} - {function.__name__}', flush=True)
            except Skip as why:
                print(f'# SKIP {why}\nok {number} - {function.__name__} # SKIP', flush=True)
            except Exception as problem:
                failed += 1
                text = ''.join(traceback.format_exception(problem))
                print(''.join(f'# {line}\n' for line in text.split('\n')), end='')
                print(f'not ok {number} - {function.__name__}', flush=True)
            except KeyboardInterrupt as why:
                signal.alarm(0)
                end_descendants()
                sys.exit(f'{why}: given up in {function.__name__}')
            signal.alarm(0)
            end_descendants()
            os.chdir(home)
            if TIMES:
                with open(TIMES, 'a', encoding='utf-8') as times:
                    times.write(f'{time.monotonic() - begin[0]:8.2f} {cpu_seconds() - begin[1]:8.2f} {function.__name__}\n')
            while held:
                held.pop().close()
    print(f'1..{len(chosen)}')
    sys.exit(failed > 0)
