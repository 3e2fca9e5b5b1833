#!/usr/bin/env python3
"""The chart of timechart: its intervals are those of the scheduler's records, its sums those of perf, and its size is bounded."""
import collections
import os
import re
import resource
import sys
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import handmade  # noqa: E402
from browser import MODULES, browse, needs_browser, needs_module  # noqa: E402
from handmade import Scheduler  # noqa: E402
from harness import NOBODY, PACE, TOP, build_c, can_record, main, needs, needs_root, needs_shared, pace, perf_works, run, skip, test  # noqa: E402

S, MS = 10**9, 10**6
STATES = {'r': 'running', 's': 'sleeping', 'w': 'waiting', 'b': 'blocked', 'i': 'idle', 'd': 'deeper', 'e': 'deepest'}
SVG = '{http://www.w3.org/2000/svg}'
PIECE = re.compile(r'([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?')


class Chart:
    """The picture, read back."""

    def __init__(self, path, level=None):
        self.root = ET.parse(path).getroot()
        self.begin, self.end, self.tick = (int(self.root.get(name)) for name in ('data-begin', 'data-end', 'data-tick'))
        self.lanes, self.lives = {}, {}
        if level is None and any(group.get('class') == 'fine' and group.find(SVG + 'g') is not None for group in self.root.iter(SVG + 'g')):
            level = 'fine'
        for group in self.root.iter(SVG + 'g'):
            for lane in group if level is None or group.get('class') == level else ():
                key = ('cpu', lane.get('data-cpu')) if lane.get('data-cpu') else ('task', lane.get('data-tid')) if lane.get('data-tid') else None
                if key:
                    self.lanes[key] = {state: self.intervals(lane, letter) for letter, state in STATES.items()}
                    self.lives[key] = int(lane.get('data-lives') or 1)

    def intervals(self, lane, letter):
        """(from, until) in ns since the beginning."""
        found = []
        for path in lane.findall(SVG + 'path'):
            x = 0
            for command, first, _ in PIECE.findall(path.get('d')) if path.get('class') == letter else ():
                if command == 'h':
                    found.append((x * self.tick, (x + int(first)) * self.tick))
                x = int(first) if command == 'M' else x + int(first)
        return found

    def texts(self):
        return [(text.text or '') + ''.join(child.tail or '' for child in text) for text in self.root.iter(SVG + 'text')]

    def total(self, key, state):
        return sum(until - start for start, until in self.lanes[key][state])


def draw(path, *options, output='output.svg'):
    result = pace('timechart', '-i', path, '-o', output, *options)
    assert result.status == 0, result
    assert re.search(rf'^Written \d+\.\d seconds of trace to {re.escape(output)}\.\n$', result.out), result
    if output.endswith('.svg'):
        needs('xmllint')
        assert run('xmllint', '--noout', output).status == 0
    return result


LINE = re.compile(r'^ *(.*?) +(-?\d+) \[(\d+)\] +(\d+)\.(\d{9}): +(\S+): (.*)$')


def events_of(path):
    """(ns, cpu, tid, event, fields) from the records themselves, as script prints them."""
    for line in pace('script', '--ns', '-F', 'comm,tid,cpu,time,event,trace', '-i', path).out.split('\n'):
        found = LINE.match(line)
        if found:
            fields = dict(re.findall(r'(\w+)=(.*?)(?= \w+=| ==> |$)', found[7]))
            yield int(found[4]) * S + int(found[5]), int(found[3]), int(found[2]), found[6], fields


def intervals_of(path, tids):
    """What the records say of tasks: another way than the chart's, which keeps whole lanes."""
    open_, found, end = {}, {tid: {state: [] for state in STATES.values()} for tid in tids}, 0

    def change(tid, time, state):
        if tid not in found:
            return
        before = open_.get(tid)
        if before and before[1] and before[0] < time:
            found[tid][before[1]].append((before[0], time))
        open_[tid] = (time, state)

    for time, _, _, event, fields in events_of(path):
        end = time
        if event == 'sched:sched_switch':
            letter = fields['prev_state'][0]
            whole = fields['prev_state']
            state = 'waiting' if letter == 'R' else None if letter in 'XZ' else 'blocked' if 'D' in whole else 'sleeping'
            change(int(fields['prev_pid']), time, state)
            change(int(fields['next_pid']), time, 'running')
        elif event in ('sched:sched_wakeup', 'sched:sched_wakeup_new'):
            tid = int(fields['pid'])
            if open_.get(tid, (0, None))[1] not in ('running', 'waiting'):
                change(tid, time, 'waiting')
    for tid in tids:
        change(tid, end, None)
    return found


def tids_of(path, names):
    """The tids that have these names at their end."""
    found = {}
    for _, _, _, event, fields in events_of(path):
        if event == 'sched:sched_switch' and fields['prev_comm'] in names:
            found[int(fields['prev_pid'])] = fields['prev_comm']
    return found


NAMES = ['computes', 'sleeps', 'blocks', 'shares-a', 'shares-b', 'pings', 'pongs']


def record_states(*options):
    needs_root()
    can_record()
    program = build_c('tests/live/programs/states.c', 'states')
    result = pace('timechart', 'record', *options, '-o', 'states.data', program)
    if 'tracefs' in result.err and result.status:
        skip('tracepoints cannot be read here: ' + result.err.strip()[:150])
    assert result.status == 0, result
    return 'states.data'


def torn(path):
    """The tids of which switches are missing, as happens on some machines: perf and pace guess differently then."""
    running, found = {}, set()
    for _, cpu, _, event, fields in events_of(path):
        if event == 'sched:sched_switch':
            prev = int(fields['prev_pid'])
            if running.get(cpu, prev) != prev:
                found |= {prev, running[cpu]}
            running[cpu] = int(fields['next_pid'])
    return found


@test
def known_states_are_drawn_interval_by_interval():
    path = record_states()
    draw(path, '-n', '1000')
    chart, tids = Chart('output.svg'), tids_of(path, NAMES)
    expected = intervals_of(path, tids)
    first = next(events_of(path))[0]
    seen, without = set(), torn(path)
    for tid, name in tids.items():
        key = ('task', str(tid))
        if key not in chart.lanes or chart.lives[key] != 1 or tid in without:
            continue
        seen.add(name)
        for state, intervals in expected[tid].items():
            drawn = chart.lanes[key][state]
            wanted = [(a - chart.begin, b - chart.begin) for a, b in intervals]
            assert len(drawn) == len(wanted), (name, state, drawn, wanted)
            for (a, b), (c, d) in zip(drawn, wanted):
                assert abs(a - c) <= chart.tick and abs(b - d) <= 2 * chart.tick, (name, state, a, b, c, d)
    assert chart.begin <= first and len(seen & set(NAMES)) >= 3, (seen, tids)

    def total(name, state):
        return max(sum(b - a for a, b in expected[tid][state]) for tid in tids if tids[tid] == name) / MS

    assert total('computes', 'running') > 95
    assert total('sleeps', 'sleeping') > 85 and total('sleeps', 'running') < 20
    assert total('blocks', 'blocked') > 55
    assert total('shares-a', 'waiting') + total('shares-b', 'waiting') > 60
    # Where switches are missing, what was seen of a task says little about what it did.
    assert any(tid in without or len(expected[tid]['sleeping']) >= 5 for tid in tids if tids[tid] == 'pings')


@test
def recordings_by_others_are_drawn_as_their_records_say():
    """One of the other byte order, one by perf 7.2."""
    for name in ('be-sched.data', 'perf72-timechart.data', 'perf72-sched.data'):
        path = os.path.join(needs_shared('fixtures/own'), name)
        draw(path, '-n', '1000')
        chart, without, n = Chart('output.svg'), torn(path), 0
        tids = {int(key[1]) for key, lives in chart.lives.items() if key[0] == 'task' and lives == 1} - without
        for tid, expected in intervals_of(path, tids).items():
            for state in ('running', 'waiting', 'blocked', 'sleeping'):
                drawn, wanted = chart.lanes['task', str(tid)][state], [(a - chart.begin, b - chart.begin) for a, b in expected[state]]
                assert len(drawn) == len(wanted), (name, tid, state, drawn, wanted)
                assert all(abs(a - c) <= chart.tick and abs(b - d) <= 2 * chart.tick for (a, b), (c, d) in zip(drawn, wanted)), (name, tid, state)
                n += len(drawn)
        assert n > 10, (name, n)


@test
def sums_are_those_of_perf():
    perf_works()
    path = record_states()
    draw(path, '-n', '1000')
    chart, tids = Chart('output.svg'), tids_of(path, NAMES)
    # Perf 6.12's summary has of tasks that ended only what they did after it had forgotten them: its lines have all.
    lines, theirs = run('perf', 'sched', 'timehist', '-i', path).out, collections.defaultdict(list)
    for tid, ms in re.findall(r'^ *[\d.]+ +\[\d+\] +\S+\[(\d+)(?:/\d+)?\] +[\d.]+ +[\d.]+ +([\d.]+) ', lines, re.M):
        theirs[int(tid)].append(float(ms))
    run('perf', 'timechart', '-n', '1000', '-i', path, '-o', 'perf.svg')
    with open('perf.svg', encoding='utf-8', errors='replace') as file:
        text = file.read()
    # A task that changes its name has a bar for each name, and what it was doing meanwhile is in neither.
    drawn = {(name, int(tid)): float(n) * {'s': 1000, 'm': 1, 'u': 0.001}[unit[0]]
             for name, tid, n, unit in re.findall(r'>(\S+):(\d+) \(([\d.]+) ?(s|ms|us)\)', text)}
    named, begun = {}, {}
    for time, _, _, event, fields in events_of(path):
        if event == 'sched:sched_switch':
            was, comes = (fields['prev_comm'], int(fields['prev_pid'])), (fields['next_comm'], int(fields['next_pid']))
            named[was] = named.get(was, 0) + (time - begun.pop(was) if was in begun else 0)
            begun[comes] = time
    n = m = 0
    without = torn(path)
    for tid in tids:
        key = ('task', str(tid))
        if key not in chart.lanes or chart.lives[key] != 1 or tid in without:
            continue
        ours = chart.total(key, 'running') / MS
        assert tid in theirs, (tids[tid], lines)
        assert abs(ours - sum(theirs[tid])) < 0.002 + 0.001 * len(theirs[tid]) + ours * 0.001, (tids[tid], ours, theirs[tid])
        if (tids[tid], tid) in drawn:
            ours = named[tids[tid], tid] / MS
            assert abs(ours - drawn[tids[tid], tid]) <= 0.06, (tids[tid], ours, drawn[tids[tid], tid])
            m += 1
        n += 1
    assert n >= 3 and m >= 3, (n, m, lines)


def made(path='made.data'):
    """Two tasks, a file, and idle states: what happens is easily done by hand."""
    names = {100: b'alpha', 200: b'beta'}
    s = Scheduler(path, handmade.TRACEPOINTS)
    s.comm(100, 100, b'alpha')
    s.comm(200, 200, b'beta')
    s.switch(S, 0, 0, 0, 100, names)
    s.wakeup(S + 1 * MS, 0, 100, 200, names=names)
    s.switch(S + 2 * MS, 0, 100, 1, 200, names)
    s.event('syscalls:sys_enter_read', S + 3 * MS, 0, 200, 0, 0, 5)
    s.switch(S + 4 * MS, 0, 200, 2, 0, names)
    s.event('power:cpu_idle', S + 4 * MS + 1000, 0, 0, 2, 0)
    s.event('power:cpu_idle', S + 6 * MS, 0, 0, 0xffffffff, 0)
    s.event('power:cpu_idle', S + 6 * MS + 1000, 0, 0, 3, 0)
    s.event('power:cpu_idle', S + 8 * MS, 0, 0, 0xffffffff, 0)
    s.wakeup(S + 8 * MS, 0, 0, 200, flags=8, names=names)
    s.switch(S + 9 * MS, 0, 0, 0, 200, names)
    s.event('syscalls:sys_exit_read', S + 9 * MS + 100000, 0, 200, 0, 0, 4096)
    s.event('power:cpu_frequency', S + 9 * MS + 200000, 0, 200, 2400000, 0)
    s.event('power:cpu_frequency', S + 9 * MS + 900000, 0, 200, 1200000, 0)
    s.switch(S + 10 * MS, 0, 200, 0x10, 0, names)
    s.close()
    return path


@test
def all_seven_states_and_what_belongs_to_them_are_drawn():
    draw(made())
    chart = Chart('output.svg')
    assert chart.lanes['cpu', '0'] == {
        'running': [(0, 2 * MS), (2 * MS, 4 * MS), (9 * MS, 10 * MS)], 'idle': [(4 * MS, 4 * MS + 1000), (6 * MS, 6 * MS + 1000), (8 * MS, 9 * MS)],
        'deeper': [(4 * MS + 1000, 6 * MS)], 'deepest': [(6 * MS + 1000, 8 * MS)], 'sleeping': [], 'waiting': [], 'blocked': []}, chart.lanes
    beta = chart.lanes['task', '200']
    assert beta['waiting'] == [(1 * MS, 2 * MS), (8 * MS, 9 * MS)] and beta['blocked'] == [(4 * MS, 8 * MS)], beta
    assert beta['running'] == [(2 * MS, 4 * MS), (9 * MS, 10 * MS)], beta
    assert chart.lanes['task', '100']['sleeping'] == [(2 * MS, 10 * MS)]
    texts = chart.texts()
    for name in ('Running', 'Idle', 'Deeper Idle', 'Deepest Idle', 'Sleeping', 'Waiting for CPU', 'Blocked on IO'):
        assert texts.count(name) == 1, (name, texts)
    classes = [path.get('class') for path in chart.root.iter(SVG + 'path')]
    assert 'wake' in classes and 'disk' in classes and 'speed' in classes, classes
    assert any(text.startswith('alpha') for text in texts) and 'CPU 0' in texts


@test
def what_happened_while_events_were_lost_is_left_open():
    """A task that waits when its next switch is lost does not wait until the end."""
    s = Scheduler('lost.data')
    s.switch(S, 0, 0, 0, 100)
    s.switch(S, 1, 0, 0, 300)
    s.wakeup(S + 1 * MS, 0, 100, 200)
    s.wakeup(S + 1 * MS, 0, 100, 400)
    s.lost(S + 3 * MS, 0, 12345)
    s.switch(S + 5 * MS, 0, 100, 1, 200)
    s.switch(S + 9 * MS, 0, 200, 1, 0)
    s.switch(S + 10 * MS, 1, 300, 1, 0)
    s.close()
    result = pace('timechart', '-i', 'lost.data')
    assert result.status == 0 and '12,345 events were dropped by the kernel' in result.err, result
    chart = Chart('output.svg')
    assert any('12,345 events were dropped' in text for text in chart.texts()), chart.texts()
    assert chart.lanes['cpu', '0']['running'] == [(0, 3 * MS), (5 * MS, 9 * MS)], chart.lanes
    assert chart.lanes['task', '200']['waiting'] == chart.lanes['task', '400']['waiting'] == [(1 * MS, 3 * MS)], chart.lanes
    assert chart.lanes['task', '200']['running'] == [(5 * MS, 9 * MS)] and chart.lanes['task', '100']['running'] == [(0, 3 * MS)]
    assert chart.lanes['task', '300']['running'] == [(0, 10 * MS)], 'the other CPU lost nothing'


@test
def options_choose_what_is_drawn():
    path = made()
    draw(path, '-P')
    assert set(Chart('output.svg').lanes) == {('cpu', '0')}
    draw(path, '-T')
    assert set(Chart('output.svg').lanes) == {('task', '100'), ('task', '200')}
    for word in ('beta', '200'):
        draw(path, '-T', '-p', word)
        assert set(Chart('output.svg').lanes) == {('task', '200')}
    draw(path, '-n', '0')
    chart = Chart('output.svg')
    assert set(chart.lanes) == {('cpu', '0')} and any('2 tasks' in text and '-n' in text for text in chart.texts()), chart.texts()
    draw(path, '-w', '2000')
    assert Chart('output.svg').root.get('width') == '2000'
    for word, n in (('alpha', 2), ('1500000', 3), ('99ms', 0)):
        draw(path, '--highlight', word)
        paths = [p.get('d') for p in Chart('output.svg').root.iter(SVG + 'path') if p.get('class') == 'h']
        assert sum(d.count('h') for d in paths) == n + (word == '1500000'), (word, paths)
    assert pace('timechart', '-i', path, '--io-min-time', '1 fortnight').status == 2
    assert pace('timechart', '-i', path, '-w', '3').status == 2
    # What would do nothing is refused.
    for words, part in ((['-P', '-T'], 'only one of -P and -T'), (['--html', 'a.html', '-o', 'b.svg'], 'a picture or a page'), (['--html', 'a.html', '-w', '800'], '-w is for'),
                        (['--html', 'a.html', '-n', '0'], '-n is for'), (['--html', 'a.html', '--highlight', 'x'], '--highlight is for'),
                        (['--html', 'a.html', '--io-min-time', '1ms'], '--io-min-time is for')):
        result = pace('timechart', '-i', path, *words)
        assert result.status == 2 and part in result.err and not os.path.exists('a.html'), (words, result)


@test
def the_standard_output_is_a_dash_and_links_to_it_stay():
    path = made()
    result = pace('timechart', '-i', path, '-o', '-')
    assert result.status == 0 and ET.fromstring(result.out).tag == SVG + 'svg', result
    os.symlink('/proc/self/fd/1', 'link')
    result = pace('timechart', '-i', path, '-o', 'link')
    assert result.status == 1 and 'is not a regular file' in result.err and os.path.islink('link'), result
    result = run('sh', '-c', f'{PACE} timechart -i {path} -o - > /dev/full')
    assert result.status == 1 and 'No space left on device' in result.err, result


@test
def io_is_merged_stretched_and_left_out_as_asked():
    s = Scheduler('io.data', handmade.TRACEPOINTS)
    for i, result in enumerate((100, 200, -11)):
        at = S + i * 10 * MS
        s.event('syscalls:sys_enter_read', at, 0, 7, 0, 0, 3)
        s.event('syscalls:sys_exit_read', at + 1000, 0, 7, 0, 0, result)
    s.event('syscalls:sys_enter_read', S + 50 * MS, 0, 7, 0, 0, 3)
    s.event('syscalls:sys_exit_read', S + 60 * MS, 0, 7, 0, 0, 1)
    s.close()

    def drawn(*options):
        draw('io.data', *options)
        chart = Chart('output.svg')
        lane = next(g for g in chart.root.iter(SVG + 'g') if g.get('id') == 'io')
        return [(letter, a // 1000, b // 1000) for letter in ('disk', 'error') for a, b in chart.intervals(lane, letter)]

    assert drawn() == [('disk', 0, 1000), ('disk', 10000, 11000), ('disk', 50000, 60000), ('error', 20000, 21000)], drawn()
    assert drawn('--io-min-time', '1us') == [('disk', 0, 1), ('disk', 10000, 10001), ('disk', 50000, 60000), ('error', 20000, 20001)]
    assert drawn('--io-skip-eagain', '--io-min-time=1') == [('disk', 0, 1), ('disk', 10000, 10001), ('disk', 50000, 60000)]
    assert drawn('--io-skip-eagain', '--io-min-time=1', '--io-merge-dist', '10ms') == [('disk', 0, 10001), ('disk', 50000, 60000)]


def write_busy(path, seconds, per_second):
    """Tasks that take turns, and short ones that come and go; returns how long each of them ran, by name."""
    s, ran = Scheduler(path), {}
    time, running, tid = S, [0, 0], 1000
    since = [S, S]
    s.switch(time, 0, 0, 0, 1, {})
    s.switch(time, 1, 0, 0, 2, {})
    running = [1, 2]
    for i in range(seconds * per_second):
        cpu, time = i % 2, time + S // per_second
        following = 3 + i * 7 % 40 * 2 + cpu
        if i % 50 == 49:
            tid += 1
            following = tid
            s.fork(tid, tid, running[cpu], time)
        prev = running[cpu]
        name = 'task%d' % prev
        ran[name] = ran.get(name, 0) + time - since[cpu]
        s.switch(time, cpu, prev, 0x10 if prev > 1000 else 1, following)
        running[cpu], since[cpu] = following, time
    s.close()
    return ran


@test
def long_recordings_are_merged_into_a_bounded_picture_whose_sums_are_exact():
    ran = write_busy('busy.data', 60, 6400)
    draw('busy.data')
    size = os.path.getsize('output.svg')
    assert size < 20e6, size
    levels = {level: Chart('output.svg', level) for level in ('fine', 'coarse')}
    for level, chart in levels.items():
        assert len(chart.lanes) > 20, level
        n = sum(len(intervals) for lane in chart.lanes.values() for intervals in lane.values())
        assert n <= {'fine': 250000, 'coarse': 60000}[level], (level, n)
        alone = [int(key[1]) for key in chart.lanes if key[0] == 'task' and int(key[1]) < 1000]
        assert len(alone) > 20, alone
        for tid in alone:
            ours, theirs = chart.total(('task', str(tid)), 'running'), ran['task%d' % tid]
            assert abs(ours - theirs) < 0.001 * theirs + 100 * MS / 10, (level, tid, ours, theirs)
    assert any('are merged' in text for text in levels['fine'].texts()), levels['fine'].texts()


@test
def a_thousand_tasks_of_a_name_share_rows():
    s = Scheduler('many.data')
    for i in range(1000):
        tid, at = 5000 + i, S + i * MS
        s.fork(tid, tid, 1, at)
        s.switch(at, 0, 0, 0, tid, {tid: b'short'})
        s.switch(at + MS // 2, 0, tid, 0x10, 0, {tid: b'short'})
    s.close()
    draw('many.data')
    chart = Chart('output.svg')
    rows = [key for key in chart.lanes if key[0] == 'task']
    assert len(rows) == 1 and chart.lives[rows[0]] == 1000, chart.lives
    assert abs(chart.total(rows[0], 'running') - 500 * MS) < 1000 * chart.tick
    assert any('\u00d71000' in text for text in chart.texts())


@test
def hostile_names_do_nothing_but_appear():
    names = {10: b'<script>alert(1)', 11: b'a\x1b[31mb', 12: b'\xe2\x80\xaeright', 13: b']]></style>', 14: b'\xff\xfe\x01', 15: b'"\'&lt;', 16: b'\xef\xbf\xbf'}
    s = Scheduler('hostile.data')
    for i, tid in enumerate(names):
        s.switch(S + i * MS, 0, list(names)[i - 1] if i else 0, 1, tid, names)
    s.switch(S + 9 * MS, 0, 16, 1, 0, names)
    s.close()
    needs_browser()
    draw('hostile.data')
    with open('output.svg', encoding='utf-8') as file:
        text = file.read()
    assert '<script>alert' not in text and '\u202e' not in text and '\x1b' not in text
    chart = Chart('output.svg')
    assert any(t.startswith('<script>alert(1):10') or '<script>alert(1)' in t for t in chart.texts()), chart.texts()
    draw('hostile.data', '--html', 'page.html', output='page.html')
    said = browse('page.html', 'return page.evaluate(() => lanes.map(laneName))')
    assert '<script>alert(1):10' in said and 'a\\x1b[31mb:11' in said, said
    assert browse('output.svg', 'return page.evaluate(() => document.documentElement.tagName)') == 'svg'


@test
def the_page_has_the_same_intervals_and_says_who_woke_whom():
    needs_browser()
    draw(made(), '--html', 'page.html', output='page.html')
    answer = browse('page.html', '''
        const at = (lane, time) => page.evaluate(([lane, time]) => { select(lane, time); return document.querySelector('.detail').innerText; }, [lane, time]);
        return {lanes: await page.evaluate(() => Object.fromEntries(lanes.filter(lane => !ioLane(lane)).map(lane => [laneName(lane), Array.from({length: chart.starts[lane + 1] - chart.starts[lane]},
                (_, i) => chart.starts[lane] + i).map(i => [STATE_NAMES[chart.state[i] >> 2], chart.from[i], endOf(lane, i)])]))),
            woken: await at(2, 1500000), running: await at(2, 2500000), interrupted: await at(2, 8500000), cpu: await at(0, 500000),
            sums: await page.evaluate(() => { view.range = [1500000, 5000000]; showSums(); return document.querySelector('.sums tbody').innerText; })};''')
    assert answer['lanes'] == {
        'CPU 0': [['Running', 0, 2 * MS], ['Running', 2 * MS, 4 * MS], ['Idle', 4 * MS, 4 * MS + 1000], ['Deeper Idle', 4 * MS + 1000, 6 * MS],
                  ['Idle', 6 * MS, 6 * MS + 1000], ['Deepest Idle', 6 * MS + 1000, 8 * MS], ['Idle', 8 * MS, 9 * MS], ['Running', 9 * MS, 10 * MS], ['Idle', 10 * MS, 10 * MS]],
        'alpha:100': [['Running', 0, 2 * MS], ['Sleeping', 2 * MS, 10 * MS], ['Nothing', 10 * MS, 10 * MS]],
        'beta:200': [['Waiting for CPU', 1 * MS, 2 * MS], ['Running', 2 * MS, 4 * MS], ['Blocked on IO', 4 * MS, 8 * MS], ['Waiting for CPU', 8 * MS, 9 * MS],
                     ['Running', 9 * MS, 10 * MS], ['Nothing', 10 * MS, 10 * MS]]}, answer['lanes']
    assert 'beta:200 was woken at 1 ms by alpha:100, which had run since 0 (1 ms)' in answer['woken'], answer['woken']
    assert 'beta:200 Running on CPU 0 for 2 ms, from 2 ms to 4 ms' in answer['running'] and 'woken at 1 ms by alpha' in answer['running'], answer['running']
    assert 'beta:200 was woken at 8 ms by an interrupt' in answer['interrupted'], answer['interrupted']
    assert answer['cpu'].startswith('CPU 0: alpha:100 Running for 2 ms'), answer['cpu']
    # beta: waiting 0.5, running 2, blocked 1; alpha: running 0.5, sleeping 3.
    assert [row.split() for row in answer['sums'].split('\n')] == [['2', 'ms', '500', 'us', '1', 'ms', 'beta:200'], ['500', 'us', '3', 'ms', 'alpha:100']], answer['sums']


@test
def the_page_has_lanes_of_io_and_frequencies_as_the_picture_has():
    needs_browser()
    draw(made(), '--html', 'page.html', output='page.html')
    answer = browse('page.html', """
        return page.evaluate(() => {
            const disk = lanes.find(ioLane), place = lanes.indexOf(disk), says = (lane, time) => { select(lane, time); return detail.innerText; };
            draw();
            // In the lane, at a time: which halves have its colour.
            const halves = time => [.25, .75].map(part => layer.pixels[Math.round((AXIS + place * ROW + part * BAR) * devicePixelRatio) * layer.width
                + Math.floor(time / chart.about.span * layer.width)] === pixelOf(IO_LIGHT[0]));
            view.range = [2e6, 8e6];
            showSums();
            return {names: lanes.map(laneName), halves: [1e6, 5e6, 9.5e6].map(halves), read: says(disk, 5e6), nothing: says(disk, 1e6),
                slow: says(0, 9.1e6), fast: says(0, 9.5e6), slower: says(0, 9.95e6), sums: document.querySelector('.ios tbody').innerText,
                legend: document.querySelector('.legend').innerText};
        });""")
    assert answer['names'] == ['CPU 0', 'alpha:100', 'beta:200', 'disk'], answer
    # What is read is in the upper half, from 3 to 9.1 ms.
    assert answer['halves'] == [[False, False], [True, False], [False, False]], answer
    assert answer['read'] == 'beta:200 read 4,096 bytes (file 5) for 6.1 ms, from 3 ms to 9.1 ms' and answer['nothing'] == '', answer
    assert 'MHz' not in answer['slow'] and answer['fast'].split('\n')[0].endswith(', at 2400 MHz') and ', at 1200 MHz' in answer['slower'], answer
    assert answer['sums'].split() == ['5', 'ms', '1', '4,096', 'beta:200', 'disk'] and 'disk' in answer['legend'] and 'frequency' in answer['legend'], answer
    s = Scheduler('io.data', handmade.TRACEPOINTS)
    for i, result in enumerate((100, -11)):
        s.event('syscalls:sys_enter_read', S + i * 10 * MS, 0, 7, 0, 0, 3)
        s.event('syscalls:sys_exit_read', S + i * 10 * MS + 1000, 0, 7, 0, 0, result)
    s.close()
    for options, texts in (((), [':7:7 read 100 bytes (file 3) for 1 us, from 0 to 1 us', ':7:7 read (file 3) for 1 us, from 10 ms to 10.001 ms: failed with error 11']),
                           (('--io-skip-eagain',), [':7:7 read 100 bytes (file 3) for 1 us, from 0 to 1 us'])):
        draw('io.data', '--html', 'io.html', *options, output='io.html')
        told = browse('io.html', 'return page.evaluate(() => [500, 10000500].flatMap(time => ioTexts(lanes.find(ioLane), time)))')
        assert told == texts, (options, told)


CHAIN = re.compile(r'^\s+[0-9a-f]+ (.*)$')


def chains_of(path):
    """(ns, tid, event, fields, functions from the innermost on), as script prints them."""
    text = pace('script', '--ns', '--no-inline', '-F', 'tid,time,event,trace,ip,sym', '-i', path).out
    for block in text.split('\n\n'):
        head, *rest = block.strip('\n').split('\n')
        found = re.match(r'^ *(-?\d+) +(\d+)\.(\d{9}): +(\S+): (.*)$', head)
        if found:
            yield (int(found[2]) * S + int(found[3]), int(found[1]), found[4], dict(re.findall(r'(\w+)=(.*?)(?= \w+=| ==> |$)', found[5])),
                   [CHAIN.match(line)[1] for line in rest if CHAIN.match(line)])


@test
def the_page_shows_where_wakers_were_and_where_tasks_waited():
    needs_browser()
    perf_works()
    path = record_states('-g')
    draw(path, '--html', 'page.html', output='page.html')
    tids, without, events = tids_of(path, NAMES), torn(path), list(chains_of(path))
    pongs = next(tid for tid, name in tids.items() if name == 'pongs')
    answer = browse('page.html', """
        return page.evaluate(() => {
            const lane = lanes.find(lane => laneName(lane) === 'pongs:%d'), row = lane - chart.about.cpus.length, ret = {chains: [], waits: {}, begin: chart.about.begin};
            const pieces = Array.from({length: chart.starts[lane + 1] - chart.starts[lane]}, (_, i) => chart.starts[lane] + i);
            for (const i of pieces.filter(i => chart.state[i] >> 2 === RUNNING)) {
                const wake = wakeBefore(lifeAt(row, chart.from[i]), chart.from[i]);
                ret.chains.push([chart.wakeAt[wake], ...chainOf(lifeAt(row, chart.from[i]), chart.from[i]).slice(0, 3).map(({text, stack}) => [text, framesOf(stack)])]);
            }
            view.range = [0, chart.about.span];
            showSums();
            // What each task waited, over all states; and below which functions.
            const t = rangeTree(0, chart.about.span);
            for (let i = 0; i < t.n; i++)
                if (t.depth[i] === 2) {
                    const task = data.names[t.name[i]], sums = ret.waits[task] = ret.waits[task] || {ns: 0, states: {}, below: []};
                    sums.ns += t.sum[t.end[i]] - t.sum[i];
                    for (let k = i + 1; k < t.end[i]; k++)
                        sums.below.push(data.names[t.name[k]]);
                }
            ret.half = (f => f.sum[f.n])(rangeTree(0, chart.about.span / 2)) + (f => f.sum[f.n])(rangeTree(chart.about.span / 2, chart.about.span)) - t.sum[t.n];
            select(lane, chart.from[pieces.find(i => chart.state[i] >> 2 === RUNNING && i > chart.starts[lane] + 5)] + 1);
            ret.text = detail.innerText;
            ret.stacks = detail.querySelectorAll('details').length;
            ret.flame = !!sums.querySelector('canvas');
            return ret;
        });""" % pongs)
    # Where the waker was is what script says of the same event.
    wakings = {}
    for time, tid, event, fields, chain in events:
        if event == 'sched:sched_waking' and int(fields['pid']) == pongs:
            waking = tid, chain
        if event == 'sched:sched_wakeup' and int(fields['pid']) == pongs:
            wakings[time - answer['begin']] = waking
        if event == 'sched:sched_wakeup_new' and int(fields['pid']) == pongs:
            wakings[time - answer['begin']] = tid, chain
    compared = 0
    for at, (text, frames), *_ in answer['chains']:
        waker, chain = wakings[at]
        if ' by an interrupt' in text:
            continue
        assert f':{waker}' in text, (text, waker)
        assert frames == chain and chain, (text, frames, chain)
        compared += 1
    assert compared >= 5 and answer['stacks'] >= 2 and 'was woken at' in answer['text'] and answer['flame'], answer['text']
    # Of those that wake each other, the chain goes back and forth.
    assert any([re.match(r'(\w+):', item[0])[1] for item in chain[1:]] == ['pongs', 'pings', 'pongs'] for chain in answer['chains']), answer['chains'][:3]
    assert abs(answer['half']) < 1e-3, answer['half']
    theirs = {}
    for tid, ms in re.findall(r'^ *[\d.]+ \[\d+\] +\S+\[(\d+)(?:/\d+)?\] +([\d.]+) ', run('perf', 'sched', 'timehist', '-i', path).out, re.M):
        theirs.setdefault(int(tid), []).append(float(ms))
    n = 0
    for tid, name in tids.items():
        task = answer['waits'].get(f'{name}:{tid}')
        out, ns = None, 0
        for time, _, event, fields, chain in events:
            if event == 'sched:sched_switch' and int(fields['next_pid']) == tid and out is not None:
                ns, out = ns + time - out, None
            if event == 'sched:sched_switch' and int(fields['prev_pid']) == tid and fields['prev_state'][0] not in 'XZ':
                out = time
        if not task or tid in without:
            continue
        assert task['ns'] == ns and '__schedule' in task['below'], (name, task['ns'], ns)
        assert abs(ns / MS - sum(theirs[tid])) < 0.001 * len(theirs[tid]) + 0.001, (name, ns, theirs[tid])
        n += 1
    assert n >= 3, (n, answer['waits'].keys(), tids)


@test
def the_page_zooms_searches_and_keeps_its_state_in_the_address():
    needs_browser()
    draw(made(), '--html', 'page.html', output='page.html')
    answer = browse('page.html', '''
        const state = () => page.evaluate(() => [Math.round(view.from), Math.round(view.to), lanes.length, location.hash]);
        const ret = {before: await state()};
        await page.keyboard.press('w');
        ret.zoomed = await state();
        await page.keyboard.press('d');
        ret.moved = await state();
        await page.keyboard.press('/');
        await page.keyboard.type('BETA|^al');
        ret.found = await state();
        await page.fill('input[type=search]', 'al(');
        ret.wrong = await page.textContent('.status');
        await page.fill('input[type=search]', 'beta');
        await page.keyboard.press('Escape');
        await page.keyboard.down('Shift');
        const box = await page.locator('canvas').boundingBox();
        await page.mouse.move(box.x + 300, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + 600, box.y + 60, {steps: 4});
        await page.mouse.up();
        await page.keyboard.up('Shift');
        ret.range = await page.evaluate(() => view.range.map(Math.round));
        ret.link = await state();
        await reopen(ret.link[3]);
        ret.again = await state();
        ret.rangeAgain = await page.evaluate(() => view.range);
        await page.keyboard.press('0');
        ret.all = await state();
        return ret;''')
    assert answer['before'][:3] == [0, 10 * MS, 4] and answer['zoomed'][:2] == [2500000, 7500000] and answer['moved'][:2] == [3500000, 8500000], answer
    assert answer['found'][2] == 2 and 'no regular expression' in answer['wrong'], answer
    assert answer['link'][2] == 3 and answer['again'] == answer['link'] and answer['range'] == answer['rangeAgain'], answer
    assert answer['all'][:2] == [0, 10 * MS], answer


@test
def pages_fit_windows_and_their_scripts_hold():
    needs_browser()
    needs_module('typescript', '7.0.2')
    sources = [os.path.join(TOP, 'src/view', path) for path in ('html/chunks.js', 'html/data.js', 'html/elements.js', 'html/tree.js', 'html/flame.js', 'chart/chartio.js', 'chart/chartflame.js', 'chart/chartpage.js')]
    checked = run(os.path.join(MODULES, 'node_modules/.bin/tsc'), '--checkJs', '--allowJs', '--noEmit', '--strict', '--target', 'es2023',
                  '--lib', 'es2023,dom,dom.iterable', *sources)
    assert checked.status == 0, checked
    draw(made(), '--html', 'page.html', output='page.html')
    for width in (390, 1280):
        wide = browse('page.html', 'return page.evaluate(() => [document.documentElement.scrollWidth, innerWidth, document.querySelector(".pane").clientHeight]);',
                      width, 'dark')
        assert wide[0] <= wide[1] and wide[2] > 200, wide
    with open('page.html', encoding='utf-8') as file:
        text = file.read()
    static = text[text.index('<noscript>'):text.index('</noscript>')]
    assert 'beta' in static and '3.000' in static and "default-src 'none'" in text


@test
def recordings_without_the_scheduler_are_refused_with_the_remedy():
    can_record()
    pace('record', '-o', 'plain.data', 'true')
    result = pace('timechart', '-i', 'plain.data')
    assert result.status == 1 and "'plain.data' has no records of the scheduler" in result.err and "'pace timechart record COMMAND'" in result.err, result
    assert not os.path.exists('output.svg')
    assert pace('timechart', '-i', 'nowhere.data').status == 2


@test
def damaged_recordings_end_without_a_crash():
    path = made()
    with open(path, 'rb') as file:
        data = file.read()
    for i in range(0, len(data), 97):
        with open('bad.data', 'wb') as file:
            file.write(data[:i] + bytes([data[i] ^ 0xff]) + data[i + 1:])
        result = pace('timechart', '-i', 'bad.data', '-o', 'bad.svg')
        assert result.status in (0, 1, 2), (i, result)
        if result.status == 0:
            ET.parse('bad.svg')


@test
def many_losses_among_many_tasks_take_no_longer_than_their_records():
    n, seconds = 40000, {}
    for path, losses in (('few.data', 1), ('many.data', n)):
        s = Scheduler(path, handmade.TRACEPOINTS)
        s.switch(S, 0, 0, 0, 5)
        for i in range(n):
            s.fork(1000 + i, 1000 + i, 1, S + i)
        for i in range(losses):
            s.lost(S + n + i, 0, 1)
        s.close()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        draw(path)
        seconds[path] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert seconds['many.data'] < 2 * seconds['few.data'] + 1, seconds


@test
def recordings_whose_times_are_far_apart_end_in_bounded_files():
    for first, last in ((1, 2**64 - 1), (0, 2**64 - 1), (1, 2**63 + 5), (2**64 - 2, 2**64 - 1), (0, 0)):
        s = Scheduler('far.data', handmade.TRACEPOINTS)
        s.switch(first, 0, 0, 0, 100)
        s.event('syscalls:sys_enter_read', first, 0, 100, 0, 0, 5)
        s.event('syscalls:sys_exit_read', last, 0, 100, 0, 0, 4096)
        s.event('power:cpu_frequency', last, 0, 100, 1200000, 0)
        s.switch(last, 0, 100, 1, 0)
        s.close()
        for words in (['timechart', '-i', 'far.data', '-o', 'far.out'], ['timechart', '-i', 'far.data', '--html', 'far.out'],
                      ['export', '--format', 'chrome', '-i', 'far.data', '-o', 'far.out'], ['report', '-i', 'far.data', '--html', 'far.out']):
            result = pace(*words)
            assert result.status == 0 and os.path.getsize('far.out') < 1 << 20, (first, last, words, result)


@test
def tasks_that_a_command_wakes_are_not_drawn_where_their_switches_are_not_recorded():
    """They would wait for a CPU until the end."""
    needs_root()
    can_record()
    result = pace('record', '--wall', '-q', '-o', 'wall.data', 'sh', '-c', 'for i in 1 2 3; do sleep 0.1; done')
    assert result.status == 0, result
    if 'sched:sched_wakeup' not in pace('evlist', '-i', 'wall.data').out:
        skip('wake-ups are not recorded here')
    draw('wall.data', '-n', '1000')
    names = {text.split(':')[0].split(' ')[0] for text in Chart('output.svg').texts() if re.match(r'\S+:\d+$|\S+ \u00d7\d+$', text)}
    assert 'sh' in names and names <= {'sh', 'sleep', 'pace'}, names


@test
def users_without_rights_get_their_own_tasks():
    needs_root()
    needs('setpriv')
    can_record()
    if int(open('/proc/sys/kernel/perf_event_paranoid', encoding='utf-8').read()) not in (1, 2):
        skip('perf_event_paranoid is not what most machines have')
    os.chmod('.', 0o777)
    result = pace_as_nobody('timechart', 'record', '-o', 'mine.data', 'sh', '-c', 'sleep .2; seq 30000 | sort >/dev/null')
    assert result.status == 0 and 'perf_event_paranoid is' in result.err and 'own tasks' in result.err, result
    draw('mine.data')
    chart = Chart('output.svg')
    texts = chart.texts()
    assert any(text.startswith('sleep:') for text in texts) and any('context switches only' in text for text in texts), texts
    sleeper = next(text for text in texts if text.startswith('sleep:'))
    assert chart.total(('task', sleeper.split(':')[1].split()[0]), 'sleeping') > 190 * MS
    for word in ('-P', '-I'):
        result = pace_as_nobody('timechart', 'record', word, 'true')
        assert result.status == 1 and f'{word} needs tracepoints' in result.err and 'perf_event_paranoid' in result.err, result


def pace_as_nobody(*args):
    from harness import PACE, check_sane
    result = run(*NOBODY, PACE, *args)
    check_sane(result)
    return result


@test
def recording_chooses_events_as_perf_does():
    needs_root()
    can_record()
    for word, has, has_not in (('-T', 'sched:sched_switch', 'power:cpu_idle'), ('-P', 'power:cpu_idle', 'sched:sched_switch'),
                               ('-I', 'syscalls:sys_enter_read', 'sched:sched_switch')):
        result = pace('timechart', 'record', word, '-o', 'x.data', 'sleep', '0.1')
        if result.status:
            skip('tracepoints cannot be read here: ' + result.err.strip()[:150])
        events = pace('evlist', '-i', 'x.data').out.split()
        assert has in events and has_not not in events, (word, events)
    assert pace('timechart', 'record', '-P', '-I', 'true').status == 2


if __name__ == '__main__':
    main()
