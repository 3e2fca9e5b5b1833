#!/usr/bin/env python3
"""What happens when something is missing: rights, space, files, processes."""
import os
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'oracle'))
from harness import *  # noqa: E402,F403
import perftext  # noqa: E402

FAULTS = 'tests/live/programs/faults.c'
SYSCTL = '/proc/sys/kernel/perf_event_paranoid'


def as_nobody(*args, **kwargs):
    """pace as a user without rights, from a copy that this user can reach."""
    needs_root()
    needs('setpriv')
    rights_stay()
    shutil.copy(PACE, 'pace')
    os.chmod('.', 0o777)
    result = run(*NOBODY, os.path.abspath('pace'), *args, **kwargs)
    check_sane(result)
    return result


class paranoid:
    """The level while a block runs."""
    def __init__(self, level):
        needs_root()
        rights_stay(change=True)
        self.level = level

    def __enter__(self):
        self.before = open(SYSCTL).read()
        try:
            open(SYSCTL, 'w').write(str(self.level))
        except OSError:
            skip('perf_event_paranoid cannot be set here')

    def __exit__(self, *_):
        open(SYSCTL, 'w').write(self.before)


@test
def without_rights_an_own_program_is_measured_in_user_space_and_that_is_said():
    can_record()
    with paranoid(2):
        program = build_c('tests/live/programs/threads.c', 'threads', '-pthread')
        result = as_nobody('record', '-F', '2000', program, '0.2')
        assert result.status == 0, result
        assert 'only user space is measured: perf_event_paranoid is 2' in result.err, result
        assert 'CAP_PERFMON' in result.err and 'sysctl kernel.perf_event_paranoid=1' in result.err, result
        assert samples_said(result) > 0
        report = as_nobody('report', '-g', 'none')
        assert report.status == 0 and '[k]' not in report.out and re.search(r"event '[^']*:u'", report.out), report


@test
def without_rights_the_whole_system_is_refused_with_level_capability_and_command():
    can_record()
    with paranoid(2):
        for words in (('-a', 'true'), ('-C', '0', 'true')):
            result = as_nobody('record', *words)
            assert result.status == 1, result
            for part in ('perf_event_paranoid is 2', 'needs 0 or less', 'CAP_PERFMON', 'sudo sysctl kernel.perf_event_paranoid=0',
                         'your own programs can be measured now'):
                assert part in result.err, result
            assert not os.path.exists('perf.data') and result.err.count('\n') == 1, result


@test
def every_paranoid_level_allows_what_the_kernel_says_it_does():
    can_record()
    program = build_c(FAULTS, 'faults')
    for level, kernel, system in ((-1, True, True), (0, True, True), (1, True, False), (2, False, False)):
        with paranoid(level):
            own = as_nobody('record', '-e', 'cpu-clock', program, '20000')
            assert own.status == 0 and ('user space' not in own.err) == kernel, (level, own)
            everything = as_nobody('record', '-a', 'true')
            assert (everything.status == 0) == system, (level, everything)


@test
def another_users_process_is_refused_with_the_capability():
    can_record()
    with paranoid(1):
        target = start('sleep', '30')
        result = as_nobody('record', '-p', str(target.pid), 'true')
        stop(target)
        assert result.status == 1 and 'belongs to another user' in result.err and 'CAP_SYS_PTRACE' in result.err, result


@test
def another_users_process_is_what_is_refused_where_levels_above_2_mean_nothing():
    can_record()
    with paranoid(3):
        if as_nobody('record', '-e', 'cpu-clock', 'true').status:
            skip('to this kernel 3 means something')
        target = start('sleep', '30')
        for words in ('record', '-p', str(target.pid), 'true'), ('stat', '-p', str(target.pid), 'true'):
            result = as_nobody(*words)
            assert result.status == 1 and 'belongs to another user' in result.err and 'paranoid is 3' not in result.err, result
        stop(target)


@test
def rings_without_room_for_one_sample_are_refused():
    can_record()
    result = pace('record', '-m', '1', '-e', 'cpu-clock', '--call-graph', 'dwarf,8192', 'true')
    assert result.status == 2 and re.search(r'rings of \d+ KiB have no room for samples with 8 KiB of stack', result.err), result
    result = pace('record', '-m', '1', '-e', 'cpu-clock', '--call-graph', 'dwarf,1024', 'sh', '-c', 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done')
    assert result.status == 0 and samples_said(result) > 0, result


@test
def rings_that_the_mlock_limit_forbids_are_explained():
    can_record()
    with paranoid(2):
        result = as_nobody('record', '-m', '64M', 'true')
        assert result.status == 1 and 'the limit of locked memory is reached' in result.err, result
        assert 'perf_event_mlock_kb' in result.err and 'ulimit -l' in result.err


@test
def another_users_recording_is_not_readable_and_that_is_said():
    needs_root()
    can_record()
    assert pace('record', '-q', 'true').status == 0
    result = as_nobody('report')
    assert result.status == 2 and "opening 'perf.data': Permission denied" in result.err, result


class tmpfs:
    """A small file system while a block runs."""
    def __init__(self, size):
        needs_root()
        self.size = size

    def __enter__(self):
        os.mkdir('small')
        if run('mount', '-t', 'tmpfs', '-o', f'size={self.size}', 'tmpfs', 'small').status:
            skip('mounting is not allowed here')
        return os.path.abspath('small')

    def __exit__(self, *_):
        run('umount', '-l', 'small')


@test
def a_full_disk_keeps_what_was_captured_and_both_tools_read_it():
    can_record()
    program = build_c(FAULTS, 'faults')
    for size in ('128k', '256k', '1m'):
        with tmpfs(size) as folder:
            result = pace('record', '-e', 'page-faults:u', '-c', '1', '-o', f'{folder}/perf.data', program, '200000')
            assert result.status == 1 and 'no space left on the device after' in result.err, result
            kept = samples_said(result)
            assert kept > 500, result
            report = pace('report', '-i', f'{folder}/perf.data', '-n', '-g', 'none')
            assert report.status == 0, report
            assert sum(int(row.cells[1]) for row in perftext.parse(report.out)[0][1]) == kept
            assert f'# hostname : {os.uname().nodename}' in pace('report', '--header-only', '-i', f'{folder}/perf.data').out
            if shutil.which('perf'):
                shutil.copy(f'{folder}/perf.data', 'copy.data')
                script = run('perf', 'script', '-f', '-i', 'copy.data', '-F', 'tid')
                assert script.status == 0 and script.out.count('\n') == kept, (kept, script.out.count('\n'), script.err[-500:])
        os.rmdir('small')


@test
def a_disk_without_any_room_is_refused_before_the_command_runs():
    can_record()
    with tmpfs('4k') as folder:
        result = pace('record', '-o', f'{folder}/perf.data', 'touch', 'was-run')
        assert result.status == 1 and 'no space left' in result.err, result
        assert not os.path.exists('was-run') and not os.listdir(folder)


@test
def a_limit_of_file_sizes_is_like_a_full_disk():
    can_record()
    program = build_c(FAULTS, 'faults')
    result = run('sh', '-c', f'ulimit -f 256; exec {PACE} record -e page-faults:u -c 1 {program} 100000')
    check_sane(result)
    assert result.status == 1 and 'ulimit -f' in result.err, result
    assert pace('report', '-g', 'none').status == 0


@test
def links_that_somebody_laid_are_not_followed():
    can_record()
    for kind in ('dangling', 'empty', 'full'):
        shutil.rmtree('box', ignore_errors=True)
        os.makedirs('box')
        victim = os.path.abspath('box/victim')
        if kind != 'dangling':
            open(victim, 'w').write('precious' if kind == 'full' else '')
        os.symlink(victim, 'box/perf.data')
        result = pace('record', '-q', '-o', 'box/perf.data', 'true')
        assert result.status == 0, (kind, result)
        assert not os.path.islink('box/perf.data') and os.path.getsize('box/perf.data') > 1000
        assert os.path.exists(victim) == (kind != 'dangling')
        if kind != 'dangling':
            assert open(victim).read() == ('precious' if kind == 'full' else '')


@test
def a_file_that_somebody_made_ready_does_not_get_the_recording():
    can_record()
    needs_root()
    open('perf.data', 'w').close()
    os.chown('perf.data', 65534, 65534)
    os.chmod('perf.data', 0o666)
    watched = open('perf.data')
    assert pace('record', '-q', 'true').status == 0
    made = os.stat('perf.data')
    assert made.st_uid == os.geteuid() and stat.S_IMODE(made.st_mode) == 0o600
    assert watched.read() == ''


@test
def fifos_and_directories_are_no_place_for_a_recording():
    can_record()
    os.mkfifo('pipe')
    os.mkdir('folder')
    for name, what in (('pipe', 'a FIFO'), ('folder', 'a directory')):
        result = pace('record', '-o', name, 'true')
        assert result.status == 2 and f"'{name}' is {what}" in result.err, result


@test
def dev_null_takes_a_recording():
    can_record()
    result = pace('record', '-o', '/dev/null', 'true')
    assert result.status == 0, result
    assert stat.S_ISCHR(os.stat('/dev/null').st_mode)


@test
def a_report_that_cannot_be_written_is_an_error():
    can_record()
    assert pace('record', '-q', 'true').status == 0
    result = run('sh', '-c', f'{PACE} report > /dev/full')
    check_sane(result)
    assert result.status == 1 and 'No space left on device' in result.err, result


@test
def processes_that_end_while_we_attach_are_errors_or_empty_recordings_never_crashes():
    can_record()
    for _ in range(10):
        target = subprocess.Popen(['sleep', '0.01'])
        result = pace('record', '-o', 'dying.data', '-p', str(target.pid))
        target.wait()
        assert result.status in (0, 1), result
        assert result.status == 0 or re.search(r'has ended|there is no process', result.err), result


@test
def a_busy_thread_factory_can_be_attached_to():
    can_record()
    with open('churn.c', 'w') as source:
        source.write('#include <pthread.h>\n#include <time.h>\nstatic void *s(void *p) { for (volatile int i = 0; i < 20000; i++) ; '
                     'return p; }\nint main(void) { time_t end = time(0) + 600; while (time(0) < end) { pthread_t t[8]; '
                     'for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, s, 0); for (int i = 0; i < 8; i++) '
                     'pthread_join(t[i], 0); } }\n')
    target = start(build_c(os.path.abspath('churn.c'), 'churn', '-pthread'))
    wait_for(lambda: len(os.listdir(f'/proc/{target.pid}/task')) > 1)
    try:
        for _ in range(5):
            result = pace('record', '-o', 'churn.data', '-p', str(target.pid), 'sleep', '0.1')
            assert result.status == 0, result
    finally:
        stop(target)
    assert pace('report', '-i', 'churn.data').status == 0


def times_by(tool, path):
    """Of the samples; None if there is nothing to be read: in the moment between the file's creation and its first record."""
    script = run(tool, 'script', '-i', path, '-F', 'time')
    if 'data size field is 0' in script.err:
        return None
    assert script.status in (0, 1) if tool == PACE else script.status == 0, script
    return [float(line.strip(' :')) for line in script.out.split('\n') if line.strip()]


def told_its_header(path):
    """A copy of a killed recorder's file whose header says where its last whole record ends."""
    with open(path, 'rb') as file:
        data = bytearray(file.read())
    at = start = struct.unpack_from('<Q', data, 40)[0]
    while at + 8 <= len(data):
        size = struct.unpack_from('<IHH', data, at)[2]
        if size < 8 or at + size > len(data):
            break
        at += size
    struct.pack_into('<Q', data, 48, at - start)
    with open(f'{path}.told', 'wb') as file:
        file.write(data)
    return f'{path}.told'


def read_by_both(path):
    """The times of its samples, by pace, and of those that perf has: all but those behind the end that the header says."""
    ours = times_by(PACE, path)
    if not shutil.which('perf'):
        return ours or [], ours or []
    theirs = times_by('perf', path)
    if theirs is None:
        assert not ours, (path, ours)
        return [], []
    assert theirs == ours[:len(theirs)] or sorted(theirs) == sorted(ours), (path, len(theirs), len(ours))
    if len(theirs) < len(ours):
        told = times_by('perf', told_its_header(path))
        assert len(told) == len(ours), (path, len(theirs), len(told), len(ours))
    return ours, theirs


def readable(path):
    return read_by_both(path)[0]


@test
def a_recorder_killed_at_any_moment_leaves_all_but_the_last_second():
    """PACE_KILLS=300 for the whole campaign."""
    can_record()
    n_kills = int(os.environ.get('PACE_KILLS', '20'))
    chance = random.Random(int(os.environ.get('PACE_SEED', '1')))
    program = build_c('tests/live/programs/threads.c', 'threads', '-pthread')
    modes = [[], ['-z'], ['-F', '99'], ['-g'], ['-F', '10000', '-m', '8'], ['--call-graph', 'dwarf'], ['--switch-output=1s']]
    n_samples = n_by_perf = 0
    missing, missing_by_perf = [], []  # seconds at the end
    for begin in range(0, n_kills, 4):
        running = []
        for n in range(begin, min(begin + 4, n_kills)):
            os.mkdir(f'k{n}')
            process = start(PACE, 'record', '-k', 'mono', '-e', 'cpu-clock', '-o', f'k{n}/perf.data', *modes[n % len(modes)], program, '60')
            running.append((n, process, time.monotonic() + chance.uniform(0.05, 3)))
        for n, process, when in sorted(running, key=lambda r: r[2]):
            waits = Waits(process.pid)
            waits.watch(when)
            killed = time.monotonic()
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            # As soon as there is a file at all it can be read.
            # But for the one that has no name yet.
            files = sorted(name for name in os.listdir(f'k{n}') if not re.search(r'\.\d{1,7}$', name))
            seen, theirs = [], []
            for name in files:
                times, by_perf = read_by_both(f'k{n}/{name}')
                seen += times
                theirs += by_perf
            n_by_perf += len(theirs)
            n_samples += len(seen)
            if seen:
                # A second, and what the recorder itself was kept waiting
                allowed = 1.5 + waits.of_last(2)
                missing.append(killed - max(seen))
                missing_by_perf.append(killed - max(theirs) if theirs else 0)
                assert killed - max(seen) < allowed, (n, modes[n % len(modes)], killed, allowed, max(seen))
            stop(process)
    print(f'# {n_kills} recorders killed: {n_samples} samples read, {n_by_perf} of them by perf; {len(missing)} had any')
    print(f'# the last of them came {sum(missing) / len(missing):.3f} s before the end, at most {max(missing):.3f} s; '
          f'by perf {sum(missing_by_perf) / len(missing):.3f} s, at most {max(missing_by_perf):.3f} s')
    assert n_samples > 10 * n_kills, n_samples


@test
def ten_thousand_short_processes_are_all_in_it():
    can_record()
    with open('forks.c', 'w') as source:
        source.write('#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint main(int argc, char **argv) { '
                     'for (int i = atoi(argv[1]); i > 0; i--) { if (!fork()) _exit(0); wait(0); } return argc - 2; }\n')
    result = pace('record', '-e', 'cpu-clock', '-F', '99', build_c(os.path.abspath('forks.c'), 'forks'), '10000')
    assert result.status == 0, result
    if 'were lost' in result.err:
        skip('this machine is too busy to record all')
    dump = run('perf', 'script', '-i', 'perf.data', '--show-task-events') if shutil.which('perf') else None
    if dump:
        assert dump.out.count('PERF_RECORD_FORK') >= 10000 and dump.out.count('PERF_RECORD_EXIT') >= 10000, dump.out[:500]
    assert pace('report', '-g', 'none').status == 0


@test
def five_thousand_threads_can_be_attached_to():
    can_record()
    with open('many.c', 'w') as source:
        source.write('#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\nstatic void *s(void *p) { pause(); return p; }\n'
                     'int main(void) { pthread_attr_t a; pthread_t t; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536); '
                     'int n = 0; while (n < 5000 && !pthread_create(&t, &a, s, 0)) n++; '
                     'printf("%d\\n", n); fflush(stdout); for (volatile long i = 0;; i++) ; }\n')
    program = build_c(os.path.abspath('many.c'), 'many', '-pthread')
    target = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        if target.stdout.readline().strip() != '5000':
            skip('so many threads are not allowed here')
        result = pace('record', '-e', 'cpu-clock', '-p', str(target.pid), 'sleep', '0.3')
    finally:
        stop(target)
    assert result.status == 0 and samples_said(result) > 0, result


@test
def a_low_limit_of_open_files_is_raised_and_that_is_said():
    can_record()
    with open('some.c', 'w') as source:
        source.write('#include <pthread.h>\n#include <unistd.h>\nstatic void *s(void *p) { for (volatile long i = 0;; i++) ; return p; }\n'
                     'int main(void) { pthread_t t; for (int i = 0; i < 100; i++) pthread_create(&t, 0, s, 0); sleep(600); }\n')
    target = start(build_c(os.path.abspath('some.c'), 'some', '-pthread'))
    wait_for(lambda: len(os.listdir(f'/proc/{target.pid}/task')) == 101)
    result = run('sh', '-c', f'ulimit -S -n 64; exec {PACE} record -e cpu-clock -p {target.pid} sh -c "ulimit -n; sleep 0.2"')
    stop(target)
    check_sane(result)
    assert result.status == 0 and 'pace raises its own limit, which was 64 (ulimit -n)' in result.err, result
    # The command has the limit that it was given.
    assert result.out == '64\n', result


@test
def a_setuid_program_runs_and_what_will_be_missing_is_said():
    can_record()
    needs('su')
    result = as_nobody('record', '-o', 'su.data', 'su', '--version')
    assert result.status == 0 and 'su from' in result.out, result
    assert 'the kernel takes the counters away from such a program' in result.err and 'root' in result.err, result
    assert 'ended too soon' not in result.err, result


@test
def a_target_that_ends_at_once_is_a_whole_recording():
    can_record()
    for words in (['true'], ['-g', 'true'], ['-D', '1000', 'true'], ['--overwrite', 'true'], ['--switch-output', 'true'], ['-a', 'true']):
        result = pace('record', '-e', 'cpu-clock', '-o', 'now.data', *words)
        assert result.status == 0, (words, result)
        name, = [n for n in os.listdir('.') if n.startswith('now.data') and not n.endswith('.old')]
        readable(name)
        os.unlink(name)


@test
def a_second_interrupt_ends_it_at_once_and_the_file_can_be_read():
    can_record()
    program = build_c('tests/live/programs/threads.c', 'threads', '-pthread')
    for pause in (0, 0.001, 0.01):
        name = f'two-{pause}.data'
        process = start(PACE, 'record', '-e', 'cpu-clock', '-F', '10000', '-o', name, program, '300')
        wait_for(lambda: has_grown(name, 30000))
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(pause)
        status = process.wait(PATIENCE)
        assert status in (-signal.SIGINT, 128 + signal.SIGINT), status
        assert len(readable(name)) > 100
        stop(process)


@test
def names_with_control_characters_do_not_reach_the_terminal():
    can_record()
    with open('evil.c', 'w') as source:
        source.write('#include <sys/prctl.h>\nint main(void) { prctl(PR_SET_NAME, "\\033[31mred\\nfake"); '
                     'for (volatile long i = 0; i < 100000000; i++) ; }\n')
    os.rename(build_c(os.path.abspath('evil.c'), 'plain'), 'e\033[2Jvil\n 99.00%  x')
    assert pace('record', '-q', './e\033[2Jvil\n 99.00%  x').status == 0
    for words in (('report',), ('report', '--header'), ('report', '-v'), ('report', '-s', 'dso')):
        result = pace(*words)  # pace() looks for raw control bytes
        assert result.status == 0, result
        assert not re.search(r'^ 99.00%  x', result.out, re.M), result
    assert r'\x1b[31mred\x0afake' in pace('report').out


@test
def options_that_make_no_sense_are_usage_errors():
    for words in (('-F', '-1'), ('-c', '0'), ('-m', '0'), ('-m', '3G'), ('-C', '0-99999999'), ('-p', 'x'), ('-F', '10', '-c', '10'),
                  ('-a', '-p', '1'), ('--call-graph', 'sideways'), ('-e', 'cycles:x')):
        result = pace('record', *words, 'true')
        assert result.status in (1, 2) and result.err.startswith('pace record: '), (words, result)
        assert not os.path.exists('perf.data')


def kept_by(tool, path):
    """How many samples that tool itself finds in what it left."""
    result = run(tool, 'script', '-i', path, '-F', 'tid')
    return sum(bool(line.strip()) for line in result.out.split('\n'))


@test
def whatever_signal_ends_it_what_was_captured_is_kept():
    """Each signal to both recorders, all at once, so that it does not take long: what was kept is printed, perf's beside it."""
    can_record()
    perf_works()
    program = build_c('tests/live/programs/threads.c', 'threads', '-pthread')
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM, signal.SIGQUIT, signal.SIGUSR1, signal.SIGXCPU, signal.SIGKILL]
    running = []
    for number in signals:
        for tool in (PACE, 'perf'):
            path = os.path.abspath(f'{os.path.basename(tool)}-{number.name}.data')
            running.append((number, tool, path, start(tool, 'record', '-e', 'cpu-clock', '-F', '999', '-o', path, program, str(2 * PATIENCE))))
    try:
        # Each has data by then, however slowly they all began.
        wait_for(lambda: all(os.path.exists(path) for _, _, path, _ in running))
        for _, tool, path, _ in running:
            if tool == PACE:
                wait_for(lambda: os.path.getsize(path) > 16 << 10)
        for number, tool, _, process in running:
            os.kill(process.pid, number)
            if number == signal.SIGPIPE and tool == PACE:
                # Whoever reads its stderr has left: no reason to end a recording that goes to a file.
                time.sleep(0.1)
                assert process.poll() is None
                os.kill(process.pid, signal.SIGINT)
            if number == signal.SIGUSR1 and tool != PACE:
                # perf tells itself by it that the command could not be run; then it waits for the command's end.
                with open(f'/proc/{process.pid}/task/{process.pid}/children', encoding='ascii') as children:
                    for child in children.read().split():
                        os.kill(int(child), signal.SIGKILL)
        kept = {}
        for number, tool, path, process in running:
            process.wait(PATIENCE)
            kept.setdefault(number.name, []).append(kept_by(tool, path))
    finally:
        for _, _, _, process in running:
            stop(process)
    for name, (ours, theirs) in kept.items():
        print(f'# {name}: pace kept {ours} samples, perf {theirs}')
        # Whatever it was, the file says who wrote it: what leaves no time for the end leaves what was known at the start.
        result = pace('data', 'lint', f'pace-{name}.data' if os.path.exists(f'pace-{name}.data') else f'{os.path.basename(PACE)}-{name}.data')
        assert 'CMDLINE' in result.out, (name, result)
    assert all(ours > 50 for ours, _ in kept.values()), kept


@test
def a_recorder_that_is_killed_leaves_the_formats_of_its_tracepoints():
    can_record()
    if pace('record', '-q', '-a', '-o', 'try.data', '-e', 'sched:sched_switch', 'true').status:
        skip('no tracepoints here')
    process = start(PACE, 'record', '-a', '-e', 'sched:sched_switch', '-o', 'killed.data', 'sleep', str(PATIENCE))
    # Who ran before may fill the file for long; the samples come behind that.
    wait_for(lambda: os.path.exists('killed.data') and 'next_comm=' in pace('script', '-i', 'killed.data').out)
    child = children(process.pid)
    process.kill()
    process.wait()
    for pid in child:
        os.kill(pid, signal.SIGKILL)
    script = pace('script', '-i', 'killed.data')
    lines = script.out.splitlines()
    assert script.status == 0 and lines, script
    assert all('sched:sched_switch' in line and 'next_comm=' in line for line in lines), lines[:3]
    header = pace('report', '--header-only', '-i', 'killed.data').out
    assert 'cmdline : ' in header and os.uname().nodename in header, header


@test
def a_stream_whose_reader_leaves_ends_and_the_command_does_not():
    """It goes on to its end, its status is ours, and what came can be read."""
    can_record()
    program = build_c('tests/live/programs/threads.c', 'threads', '-pthread')
    for ends, status in (7, 7), (0, 1):
        result = run('sh', '-c', f'{{ {PACE} record -e cpu-clock -F 9999 -o - sh -c "{program} 3 >quiet 2>&1; echo over >over; exit {ends}"; '
                                 'echo "status $?" >&2; } | head -c 20000 >part.data')
        check_sane(result)
        assert f'status {status}\n' in result.err and 'Broken pipe: the process that read the recording has left' in result.err, result
        assert 'waiting for the command to end' in result.err and open('over').read() == 'over\n', result
        os.unlink('over')
        script = pace('script', '-i', 'part.data', '-F', 'time')
        assert script.status in (0, 1) and script.out.count('\n') > 100, script


@test
def a_recording_goes_on_when_nobody_reads_what_its_command_prints():
    can_record()
    # The command is told by SIGPIPE as without us; which is its status, and the recording is whole.
    result = run('sh', '-c', f'{{ {PACE} record -e cpu-clock -o whole.data sh -c "sleep 0.3; while echo line; do :; done"; echo "status $?" >&2; }} | true')
    check_sane(result)
    assert f'status {128 + signal.SIGPIPE}\n' in result.err, result
    assert len(readable('whole.data')) > 0


@test
def an_output_that_is_full_is_an_error_of_every_command():
    can_record()
    assert pace('record', '-q', '-g', 'true').status == 0
    for command in ('report', 'script', 'annotate', 'evlist', 'buildid-list', 'data lint', 'diff perf.data perf.data'):
        result = run('sh', '-c', f'{PACE} {command} > /dev/full')
        check_sane(result)
        assert result.status == 1 and 'No space left on device' in result.err, (command, result)


@test
def targets_that_cannot_be_had_are_errors_that_name_them():
    can_record()
    open('plain', 'w').write('text')
    os.mkdir('folder')
    for words, part in ((['./missing'], "'./missing'"), (['./plain'], "'./plain'"), (['./folder'], "'./folder'"),
                        (['-p', '4194000'], '4194000'), (['-t', '4194000'], '4194000'), (['-u', 'nobody-at-all'], 'nobody-at-all')):
        result = pace('record', *words)
        assert result.status != 0 and part in result.err and 'pace record: ' in result.err, (words, result)
        assert not os.path.exists('perf.data'), words


@test
def a_hard_limit_of_open_files_is_an_error_that_says_so():
    can_record()
    with open('some.c', 'w') as source:
        source.write('#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\nstatic void *s(void *p) { pause(); return p; }\n'
                     'int main(void) { pthread_t t; for (int i = 0; i < 200; i++) pthread_create(&t, 0, s, 0); puts("all"); fflush(stdout); sleep(60); }\n')
    program = build_c(os.path.abspath('some.c'), 'some', '-pthread')
    target = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert target.stdout.readline() == 'all\n'
        result = run('sh', '-c', f'ulimit -n 64; exec {PACE} record -e cpu-clock -p {target.pid} sleep 0.1')
    finally:
        stop(target)
    check_sane(result)
    assert result.status == 1 and 'the hard limit is 64' in result.err and 'ulimit -Hn' in result.err and not os.path.exists('perf.data'), result


@test
def two_recorders_in_one_folder_leave_two_whole_recordings():
    can_record()
    program = build_c(FAULTS, 'faults')
    first = start(PACE, 'record', '-e', 'page-faults:u', '-c', '1', 'sh', '-c', f'until test -e go; do sleep 0.05; done; {program} 2000')
    wait_for(lambda: os.path.exists('perf.data') and os.path.getsize('perf.data'))
    second = start(PACE, 'record', '-e', 'page-faults:u', '-c', '1', 'sh', '-c', f'touch go; {program} 2000')
    assert [process.wait(PATIENCE) for process in (first, second)] == [0, 0]
    for name in ('perf.data', 'perf.data.old'):
        assert len(readable(name)) >= 2000, name


@test
def recorders_that_begin_at_the_same_time_both_keep_their_recordings():
    can_record()
    for _ in range(12):
        both = [start(PACE, 'record', '-q', '-e', 'page-faults:u', '-c', '1', '-o', 'same.data', 'true') for _ in range(2)]
        assert [process.wait(PATIENCE) for process in both] == [0, 0]
        for name in ('same.data', 'same.data.old'):
            assert readable(name), name
            os.unlink(name)
        left = [name for name in os.listdir('.') if name.startswith('same.data')]
        assert not left, left


main()
