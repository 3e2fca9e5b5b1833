#!/usr/bin/env python3
"""'pace watch': minutes that survive whatever ends it, in a store that stays within its size; windows of it."""
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

HOT = 'tests/live/programs/hot.c'
MINUTES = os.path.join(BUILD, 'tests/minutes')
DAY = 86400


def watch(*args, store='store', prefix=()):
    can_record()
    with open('said', 'w') as said:
        return subprocess.Popen([*prefix, PACE, 'watch', '--store', store, '--every', '1s', '-v', *args],
                                stdin=subprocess.DEVNULL, stderr=said, start_new_session=True)


def end(process):
    """By SIGTERM; returns what it said."""
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0, open('said').read()[-2000:]
    return open('said').read()


def batches(store='store'):
    return [f'{store}/{name}' for name in sorted(os.listdir(store)) if name.endswith('.batches')]


def report(*args, **kwargs):
    result = pace('report', '--json', '-i', 'store', *args, **kwargs)
    assert result.status == 0, result
    return json.loads(result.out)


def samples(*args):
    return sum(event['samples'] for event in report(*args)['events'])


def status(store='store'):
    result = pace('watch', '--status', '--store', store)
    check_sane(result)
    return result


def wait_for_minutes(store='store', n=3):
    """Until so many were written by a watch that has just begun."""
    wait_for(lambda: os.path.isdir(store) and batches(store))
    for _ in range(n):
        size = sum(os.path.getsize(path) for path in batches(store))
        wait_for(lambda: sum(os.path.getsize(path) for path in batches(store)) > size)


def at(seconds):
    return time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(seconds))


def fill(first, n, seed, *words, store='store'):
    result = run(MINUTES, store, str(first), str(n), str(seed), *words)
    assert result.status == 0, result


@test
def what_is_busy_is_in_the_store_and_a_signal_writes_the_rest():
    program = start(build_c(HOT, 'hot'))
    began = time.time()
    w = watch('--label', 'zone=b')
    wait_for_minutes(n=4)
    said = end(w)
    stop(program)
    counted = sum(int(n) for n in re.findall(r': (\d+) samples, ', said))
    assert counted > 10, said
    assert samples('--at', '-1h..') == counted, said
    assert time.time() - began < 60
    rows = {row['symbol']: row for row in report('--at', '-1h..', '-s', 'symbol', '--no-children')['events'][0]['rows']}
    assert 'busy' in rows, rows.keys()
    labels = report('--at', '-1h..', '-s', 'service,zone,comm', '--no-children')['events'][0]['rows']
    assert {row['zone'] for row in labels} == {'b'} and 'hot' in {row['comm'] for row in labels}, labels
    head = pace('report', '--at', '-1h..', '-i', 'store', '-g', 'none')
    assert re.match(r"# the store 'store', \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\.[\d :-]+: a file of 'pace watch'\n", head.out), head
    for form in ('flame', 'export'):
        result = pace(form, *(['--format', 'ndjson'] if form == 'export' else []), '--at', '-1h..', '-i', 'store', '-o', 'out')
        assert result.status == 0 and 'busy' in open('out').read(), result
    page = pace('report', '--at', '-1h..', '-i', 'store', '--html', 'page.html')
    assert page.status == 0 and os.path.getsize('page.html') > 10000, page


@test
def kill_9_loses_a_minute_at_most_and_what_it_cut_off_is_healed():
    w = watch()
    wait_for_minutes(n=3)
    w.kill()
    w.wait()
    said = re.findall(r': (\d+) samples, ', open('said').read())
    kept = samples('--at', '-1h..')
    assert kept in (sum(map(int, said)), sum(map(int, said[:-1]))), (said, kept)
    path = batches()[-1]
    with open(path, 'ab') as f:
        f.write(b'pbc1' + bytes(30))
    time.sleep(2)
    w = watch()
    wait_for_minutes(n=3)
    assert 'was cut off when its writer ended' in end(w)
    ledger = pace('report', '--at', '-1h..', '-i', 'store', '--ledger', '-g', 'none')
    assert ledger.status == 0 and re.search(r'# [1-9]\d* seconds were not watched', ledger.out), ledger
    strict = pace('report', '--at', '-1h..', '-i', 'store', '--strict')
    assert strict.status == 3 and "--strict: 'the store 'store'," in strict.err and 'were not watched' in strict.err, strict


@test
def a_second_watch_is_refused_and_status_says_who_runs():
    w = watch()
    wait_for_minutes(n=2)
    second = pace('watch', '--store', 'store')
    assert second.status == 1 and f"another 'pace watch', with pid {w.pid}, writes to the store 'store'" in second.err, second
    running = status()
    assert running.status == 0 and f'watch: pid {w.pid}, since ' in running.out, running
    assert re.search(r'its own CPU time: [\d.]+ s, [\d.]+% of \d+ CPUs\nits memory: [\d.]+ MiB\n', running.out), running
    assert re.search(r'store: store, [\d.]+ KiB in 1 file\noldest: .*\nnewest: ', running.out), running
    end(w)
    ended = status()
    assert ended.status == 1 and 'watch: none is running\n' in ended.out, ended
    nowhere = status('elsewhere')
    assert nowhere.status == 1 and "there is no store 'elsewhere': 'pace watch' makes one" in nowhere.err, nowhere


@test
def a_full_disk_is_said_and_counting_goes_on():
    needs_root()
    os.mkdir('store')
    if run('mount', '-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', 'store').status:
        skip('mounting is not allowed here')
    try:
        busy = start('sh', '-c', 'while :; do ls -lR /usr/lib /etc >/dev/null; done')
        w = watch('-F', '499', '--max-overhead', '100')
        wait_for_minutes(n=2)
        with open('store/filler', 'wb', buffering=0) as f:
            try:
                while True:
                    f.write(bytes(4096))
            except OSError:
                pass
        # What is left of the file's last page takes some aggregates more.
        wait_for(lambda: 'counting goes on' in open('said').read())
        time.sleep(1.5)
        os.unlink('store/filler')
        wait_for_minutes(n=2)
        said = end(w)
        stop(busy)
        assert 'there is no room for the store' in said and 'counting goes on' in said, said
        assert re.search(r'the store is written to again; [1-9]\d* seconds are missing', said), said
        ledger = pace('report', '--at', '-1h..', '-i', 'store', '--ledger', '-g', 'none')
        assert re.search(r'# [1-9]\d* seconds were watched, but could not be written', ledger.out), ledger
    finally:
        run('umount', '-l', 'store')


@test
def an_odd_minute_becomes_a_recording():
    """Of one process, so that the machine's other work is not what is odd: a function that it calls from then on."""
    build_c('tests/live/programs/turning.c', 'turning')
    turning = subprocess.Popen(['./turning'], stdin=subprocess.DEVNULL)
    w = watch('-p', str(turning.pid), '-F', '499', '--max-overhead', '100')
    wait_for_minutes(n=14)
    assert not os.listdir('store/odd'), open('said').read()[-3000:]
    turning.send_signal(signal.SIGUSR1)
    wait_for(lambda: os.listdir('store/odd'))
    path = f'store/odd/{os.listdir("store/odd")[0]}'
    # Names and code are added by a process of their own.
    wait_for(lambda: 'contains names' in pace('report', '--header-only', '-i', path).out)
    said = end(w)
    turning.kill()
    turning.wait()
    assert re.search(r' was odd: \d+% of the samples are elsewhere than usual, most in turning: turned \(0\.0% -> \d', said), said[-3000:]
    lint = pace('data', 'lint', path)
    assert lint.status == 0 and 'This file is whole.' in lint.out, lint
    os.unlink('turning')
    shown = json.loads(pace('report', '--json', '-i', path, '-s', 'comm,symbol', '-g', 'none', '--no-children').out)
    rows = {row['symbol']: row['share'] for row in shown['events'][0]['rows']}
    assert rows['turned'] > 10 and rows['usual'] > 10, rows
    noted = pace('report', '--at', '-5m..', '-i', 'store', '-g', 'none')
    assert re.search(r"note: \S+ \S+ was odd: .*; all its samples: 'pace report -i .*/odd/.*\.data'", noted.err), noted
    assert f'; the newest: store/odd/{max(os.listdir("store/odd"))}\n' in status().out, status()
    assert stat.S_IMODE(os.stat('store/odd').st_mode) == 0o700 and stat.S_IMODE(os.stat(path).st_mode) == 0o600


@test
def odd_minutes_are_kept_only_if_they_are_wanted_and_within_their_size():
    said = pace('watch', '--odd', '200M', '--store', 'store')
    assert said.status == 2 and "at most half of the store's size" in said.err, said
    assert pace('watch', '--odd', 'much', '--store', 'store').status == 2
    w = watch('-F', '99', '--odd', '0')
    wait_for_minutes(n=2)
    end(w)
    assert 'odd' not in os.listdir('store')


@test
def who_has_no_rights_watches_own_processes():
    needs_root()
    os.chmod('.', 0o777)
    program = start(*NOBODY, build_c(HOT, 'hot'))
    w = watch(prefix=NOBODY)
    try:
        wait_for_minutes(n=3)
        said = end(w)
    finally:
        stop(w)
        stop(program)
    assert 'only your own processes are watched' in said and 'your own processes: an aggregate each 1 s' in said, said
    rows = report('--at', '-1h..', '-s', 'comm,symbol', '--no-children')['events'][0]['rows']
    assert {row['comm'] for row in rows} == {'hot'}, rows


@test
def a_watch_that_costs_too_much_lowers_the_rate_and_periods_stay_right():
    program = start(build_c(HOT, 'hot'))
    w = watch('-p', str(program.pid), '-F', '999', '--max-overhead', '0.02')
    try:
        wait_for(lambda: len(re.findall(r'sampled less often, by a factor of 0\.\d+', open('said').read())) > 3)
        said = end(w)
    finally:
        stop(w)
        stop(program)
    counts = [int(n) for n in re.findall(r': (\d+) samples, ', said)]
    assert min(counts[2:-1]) < max(counts) / 2, said
    # What a sample stands for grows as they become fewer: time is no more than there was.
    event = report('--at', '-1h..')['events'][0]
    seconds = len(counts) + 1
    assert 0.1 * seconds < event['period'] / 1e9 < 1.3 * seconds, (event['period'], seconds, said)


@test
def what_a_cgroup_runs_is_its_service():
    needs_root()
    mount = next((line.split()[1] for line in open('/proc/mounts') if line.split()[2] == 'cgroup2'), None)
    if not mount or not os.access(mount, os.W_OK):
        skip('no cgroup2 to write to')
    folder = f'{mount}/pace-test-{os.getpid()}.service'
    try:
        os.mkdir(folder)
    except OSError as e:
        skip(f'cgroups cannot be made here: {e}')
    try:
        program = start('sh', '-c', f'echo $$ >{folder}/cgroup.procs && exec {build_c(HOT, "hot")}')
        w = watch('-a')
        wait_for_minutes(n=3)
        said = end(w)
        stop(program)
        rows = report('--at', '-1h..', '-s', 'service,comm', '--no-children')['events'][0]['rows']
        ours = [row for row in rows if row['comm'] == 'hot']
        if 'sample cgroup' in said:
            skip('this kernel does not say which cgroup a sample is of')
        assert ours and {row['service'] for row in ours} == {f'pace-test-{os.getpid()}'}, rows
    finally:
        run('rmdir', folder)


@test
def options_that_cannot_be_are_refused():
    for words, message in (
            (['--every', '500ms'], "'500ms' is not between 1s and 1h"),
            (['--every', '2h'], "'2h' is not between 1s and 1h"),
            (['--size', '10K'], '--size 10K: a store has at least 1M'),
            (['--label', 'zone'], "--label 'zone': a label is KEY=VALUE"),
            (['--label', 'a b=c'], "a key has letters, digits and '_' only"),
            (['--label', 'comm=x'], "'comm' is there already"),
            (['--unit', 'no-such-unit'], "there is no cgroup"),
            (['--unit', 'nginx', '-p', '1'], '-G and --unit say whom to watch'),
            (['true'], "unexpected argument 'true'")):
        result = pace('watch', '--store', 'store', *words)
        assert result.status in (1, 2) and message in result.err, result
    os.mkdir('open', 0o777)
    os.chmod('open', 0o777)
    result = pace('watch', '--store', 'open')
    assert result.status == 1 and "others may write to the store 'open' (mode 777)" in result.err, result
    assert not os.listdir('open')


@test
def windows_add_up_to_the_whole():
    first = int(time.time()) // 3600 * 3600 - 5 * 3600
    fill(first, 240, 1, 'parse=40', 'emit=20')
    whole = samples('--at', f'{at(first)}..{at(first + 240 * 60)}')
    assert whole > 240 * 50
    for step in (60, 300, 1740, 3600):
        parts = [samples('--at', f'{at(t)}..+{step}s') for t in range(first, first + 240 * 60, step)]
        assert sum(parts) == whole, (step, parts)
    gone = pace('report', '-i', 'store', '--at', f'{at(first - 7200)}..{at(first - 3600)}')
    assert gone.status == 2 and 'nothing was kept of that time; the store has' in gone.err, gone
    # The window begins an hour before the store does.
    ledger = pace('report', '-i', 'store', '--at', f'{at(first - 3600)}..{at(first + 3600)}', '--ledger', '-g', 'none')
    assert '# 3,600 seconds were not watched' in ledger.out, ledger
    strict = pace('report', '-i', 'store', '--at', f'{at(first)}..{at(first + 3600)}', '--strict')
    assert strict.status == 0, strict
    untimed = pace('report', '-i', 'store')
    assert untimed.status == 2 and "'store' is a store of 'pace watch': choose a time with --at" in untimed.err, untimed
    wrong = pace('report', '-i', 'store', '--at', '14:30-14:35')
    assert wrong.status == 2 and "--at: '14:30-14:35': something is behind the time; write times like" in wrong.err, wrong


@test
def two_windows_are_compared_and_one_with_what_is_usual():
    now = int(time.time()) // 3600 * 3600 - 2 * 3600
    for day in range(7, 0, -1):
        fill(now - day * DAY, 10, day, 'parse=400', 'emit=200', 'sort=300', 'hash=250', 'read=150')
    fill(now, 10, 99, 'parse=400', 'emit=200', 'sort=420', 'hash=250', 'read=150')
    window = f'{at(now)}..+10m'
    usual = pace('diff', '-i', 'store', '--usual', '--at', window)
    assert usual.status == 0, usual
    words = [line for line in usual.out.splitlines() if line.startswith('#')]
    slower = [line for line in words if re.search(r'\bsort\b', line)]
    assert slower and not [line for line in words if re.search(r'\b(parse|hash|read|emit)\b', line)], usual
    same = pace('diff', '-i', 'store', '--usual', '--at', f'{at(now - DAY)}..+10m')
    assert same.status == 0 and 'No row differs by more than chance explains' in same.out, same
    two = pace('diff', '-i', 'store', '--at', f'{at(now - DAY)}..+10m', '--at', window, '--json')
    assert two.status == 0 and 'sort' in two.out, two
    partly = pace('diff', '-i', 'store', '--at', f'{at(now - DAY)}..+40m', '--at', window)
    assert '1,800 seconds were not watched' in partly.err, partly
    few = pace('diff', '-i', 'store', '--usual', '--at', f'{at(now - 6 * DAY)}..+10m')
    assert few.status == 0 and 'Fewer than three other days' in few.out, few
    for words, message in ((['--usual'], '--usual is about windows of a store'), (['--at', window], 'a second window is missing'),
                           (['--usual', '--at', f'{at(now - 7 * DAY)}..+10m'], 'the store has nothing of this time of other days'),
                           (['--at', window, '--at', window, 'perf.data'], "and 'perf.data' is a file")):
        result = pace('diff', *([] if words == ['--usual'] else ['-i', 'store']), *words)
        assert result.status == 2 and message in result.err, result


@test
def files_that_are_not_a_stores_do_no_harm():
    now = int(time.time()) // 3600 * 3600 - 4 * 3600
    fill(now, 120, 1, 'parse=40')
    whole = samples('--at', '-1d..')
    first, second = batches()
    data = open(first, 'rb').read()
    os.symlink('/dev/zero', 'store/2026-01-01T00.batches')
    os.mkfifo('store/2026-01-01T01.batches')
    os.mkdir('store/2026-01-01T02.batches')
    open('store/2026-01-01T03-99999999999999999999.batches', 'w').close()
    open('store/2026-99-01T03.batches', 'w').close()
    assert samples('--at', '..') == whole
    for cut in (0, 4, 8, 20, 48, len(data) // 2, len(data) - 1):
        with open(first, 'wb') as f:
            f.write(data[:cut])
        result = pace('report', '--json', '-i', 'store', '--at', '..')
        check_sane(result)
        assert result.status in (0, 1), result
        if cut > 8:
            assert first in result.err and 'damaged' in result.err, result
    for byte in range(9, len(data), 97):
        broken = bytearray(data)
        broken[byte] ^= 0x5a
        with open(first, 'wb') as f:
            f.write(broken)
        result = pace('report', '--json', '-i', 'store', '--at', '..')
        check_sane(result)
        assert result.status in (0, 1), result


main()
