#!/usr/bin/env python3
"""The page's section about time, in a browser: ranges have what report --time has, all of it is in the address, and keys do it as well."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from browser import browse, browse_windows, needs_browser
from harness import BUILD, can_record, main, needs, pace, run, skip, test

# Two threads, one after the other; names of threads have 15 bytes at most.
WORK = r'''
import ctypes, threading, time

def work(name, seconds):
    ctypes.CDLL(None).prctl(15, name)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))

for name, seconds in ((b'<img src=x>', 0.4), (b"</script>\x1b[1m", 0.6), (b'a\nb 7 8 \xe2\x80\xae', 0.3)):
    one = threading.Thread(target=work, args=(name, seconds))
    one.start()
    one.join()
    time.sleep(0.1)
'''


def record():
    needs_browser()
    can_record()
    with open('work.py', 'w', encoding='utf-8') as file:
        file.write(WORK)
    result = pace('record', '-g', '-F', '1000', '-o', 'x.data', '--', sys.executable, 'work.py')
    assert result.status == 0, result
    # Inlined functions are frames of their own in the page, and parts of functions in rows.
    result = pace('report', '-i', 'x.data', '--no-inline', '--html', 'x.html')
    assert result.status == 0, result
    return 'x.html'


# What every test asks of the page.
LOOK = '''
    const settled = async () => {
        await page.waitForTimeout(300);
        await page.waitForFunction(() => !timeView.dragged);
        await page.waitForTimeout(150);
    };
    const look = () => page.evaluate(() => {
        const t = shown.tree, sums = sumFunctions(t), rows = {};
        data.names.forEach((name, i) => {
            const key = fileOf(i) + ' ' + name, row = rows[key] = rows[key] || [0, 0, 0];
            row[0] += sums.self[i];
            row[1] += sums.total[i];
            row[2]++;
        });
        return {hash: location.hash, all: t.sum[t.n], rows, text: ui.timeText.textContent, chips: [...ui.range.querySelectorAll('button')].map(b => b.textContent),
            range: chosenTime.range, base: chosenTime.base};
    });
    const drag = async (selector, from, to, key) => {
        const box = await page.locator(selector).boundingBox(), left = await page.evaluate(() => timeView.area());
        const x = share => box.x + left.left + share * left.width;
        if (key)
            await page.keyboard.down(key);
        await page.mouse.move(x(from), box.y + 60);
        await page.mouse.down();
        await page.mouse.move(x((from + to) / 2), box.y + 62);
        await page.mouse.move(x(to), box.y + 62);
        await page.mouse.up();
        if (key)
            await page.keyboard.up(key);
        await settled();
    };
'''


def check_range(text, answer, *options):
    """The page's rows are those of report --time with the range that the page says."""
    option = re.search(r'--time (\S+)', text)
    assert option, text
    event = json.loads(pace('report', '-i', 'x.data', '--no-inline', '--json', '-s', 'dso,symbol', '--time', option[1], *options).out)['events'][0]
    rows = event['rows']
    assert sum(row['period'] for row in rows) == answer['all'], (answer['all'], event['period'])
    compared = 0
    for row in rows:
        self, total, n = answer['rows'][f"{row['dso']} {row['symbol']}"]
        if n == 1:
            assert (self, total) == (row['period'], row['total_period']), (row, self, total)
            compared += 1
    assert compared >= 5, compared
    return event


@test
def a_dragged_range_has_what_report_has_of_these_times():
    page = record()
    answer = browse(page, LOOK + '''
        const ret = {};
        await page.click('nav >> text=Time');
        await settled();
        ret.whole = await look();
        await drag('.tracks canvas', 0.1, 0.5);
        ret.range = await look();
        await reopen(ret.range.hash);
        ret.again = await look();
        await page.click('nav >> text=Functions');
        await settled();
        ret.first = await page.evaluate(() => [...document.querySelectorAll('.functions tbody tr:first-child td')].map(cell => cell.textContent));
        await page.click('nav >> text=Summary');
        ret.summary = await page.evaluate(() => ui.range.querySelector('span').textContent);
        await page.click('nav >> text=Time');
        await drag('.heat canvas', 0.6, 0.9);
        ret.cells = await look();
        await page.click('button:has-text("range")');
        await settled();
        ret.back = await look();
        return ret;''')
    whole, part = answer['whole'], answer['range']
    assert not whole['chips'] and part['chips'][0].startswith('range'), (whole['chips'], part['chips'])
    assert 0 < part['all'] < whole['all'], (part['all'], whole['all'])
    event = check_range(part['text'], part)
    # A whole range has everything, as if there were none.
    assert whole['all'] == answer['back']['all'] and 'r=' not in answer['back']['hash'], answer['back']
    for key in ('hash', 'all', 'rows', 'text', 'chips'):
        assert answer['again'][key] == part[key], (key, answer['again'][key], part[key])
    hottest = max(event['rows'], key=lambda row: row['period'])
    assert answer['first'][0] == f"{100 * hottest['period'] / part['all']:.2f}%", (answer['first'], hottest)
    assert f"{100 * part['all'] / whole['all']:.2f}% of the event" in answer['summary'], answer['summary']
    assert answer['cells']['range'] != part['range']
    check_range(answer['cells']['text'], answer['cells'])


@test
def keys_alone_choose_a_range_a_thread_and_a_baseline():
    page = record()
    answer = browse(page, LOOK + '''
        const ret = {};
        await page.click('nav >> text=Time');
        await settled();
        ret.keys = await page.evaluate(() => ui.help.textContent);
        await page.focus('.tracks');
        await page.keyboard.press('Home');
        for (let i = 0; i < 10; i++)
            await page.keyboard.press('ArrowRight');
        for (let i = 0; i < 80; i++)
            await page.keyboard.press('Shift+ArrowRight');
        await settled();
        ret.range = await look();
        await page.focus('.tracks');
        await page.keyboard.press('b');
        await page.keyboard.press('Home');
        for (let i = 0; i < 10; i++)
            await page.keyboard.press('Shift+ArrowRight');
        await settled();
        ret.both = await look();
        const rows = await page.evaluate(() => timeView.rows.map(who => when.threads[Number(who.slice(1))].name));
        for (let i = 0; i <= rows.indexOf('<img src=x>'); i++)
            await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await settled();
        ret.thread = await look();
        await page.keyboard.press('Enter');
        await page.keyboard.press('Escape');
        await page.keyboard.press('Escape');
        await settled();
        ret.none = await look();
        await page.focus('.heat');
        await page.keyboard.press('b');
        await page.keyboard.press('Home');
        await page.keyboard.press('ArrowDown');
        for (let i = 0; i < 20; i++)
            await page.keyboard.press('Shift+ArrowRight');
        await settled();
        ret.heat = await look();
        await page.keyboard.press('+');
        await page.keyboard.press(']');
        ret.zoomed = await look();
        ret.focus = await page.evaluate(() => document.activeElement.className);
        return ret;''')
    assert 'choose a range' in answer['keys'] and 'baselines' in answer['keys'], answer['keys']
    check_range(answer['range']['text'], answer['range'])
    assert answer['both']['range'] == answer['range']['range'] and answer['both']['base'], answer['both']
    assert answer['both']['all'] == answer['range']['all']
    assert 0 < answer['thread']['all'] <= answer['range']['all'], answer['thread']['hash']
    check_range(answer['thread']['text'], answer['thread'], '--comms', '<img src=x>')
    assert not answer['none']['chips'] and not answer['none']['range'] and not answer['none']['base'], answer['none']
    check_range(answer['heat']['text'], answer['heat'])
    assert 'x=' in answer['zoomed']['hash'] and 'hs=' in answer['zoomed']['hash'] and answer['focus'] == 'heat', answer['zoomed']['hash']


@test
def a_second_drag_is_the_baseline_and_differences_are_judged():
    page = record()
    answer = browse(page, LOOK + """
        const ret = {};
        const compared = () => page.evaluate(() => {
            const c = change.now, t = shown.tree, rows = {}, marks = [0, 0, 0];
            data.names.forEach((name, i) => {
                const row = rows[name] = rows[name] || [0, 0];
                row[0] += c.total[i];
                row[1] += c.self[i];
            });
            let wrong = 0;
            for (let i = 0; i < t.n; i++) {
                const points = (t.sum[t.end[i]] - t.sum[i]) / c.all - c.before[i] / c.allBefore;
                wrong += flame.change[i] && Math.sign(points) !== Math.sign(flame.change[i]) ? 1 : 0;
                marks[1 + Math.sign(flame.change[i])]++;
            }
            return {rows, marks, wrong, allBefore: c.allBefore, option: rangeOption(chosenTime.base), table: [...ui.change.querySelectorAll('tbody tr')].map(r => r.textContent),
                tree: c.allBefore, matched: t.depth.reduce((sum, depth, i) => sum + (depth === 1 ? c.before[i] : 0), 0)};
        });
        await page.click('nav >> text=Time');
        await settled();
        // The first thread's time, and the second's.
        const spans = await page.evaluate(() => when.threads.map((t, i) => {
            const ticks = timeView.moments.tick.filter((_, k) => timeView.moments.thread[k] === i), all = when.about.ticks;
            return {name: t.name, n: ticks.length, from: Math.min(...ticks) / all, to: Math.max(...ticks) / all};
        }));
        const first = spans.find(s => s.name.startsWith('<img')), second = spans.find(s => s.name.startsWith('</script>'));
        await drag('.tracks canvas', first.from, first.to);
        await drag('.tracks canvas', second.from, second.to, 'Control');
        ret.look = await look();
        ret.threads = await compared();
        await reopen(ret.look.hash);
        ret.again = await compared();
        // Both transformed alike: the same values at the same paths.
        await page.evaluate(() => { state.isHeavy = true; state.done = [['m', data.names.findIndex((n, i) => data.kinds[i] !== KIND_TASK && change.now.total[i])]]; return renew(); });
        await settled();
        ret.merged = await compared();
        await page.evaluate(() => { state.isHeavy = false; state.done = []; return renew(); });
        // Two halves of the same thread.
        const middle = (second.from + second.to) / 2;
        await page.click('nav >> text=Time');
        await drag('.tracks canvas', second.from, middle);
        await drag('.tracks canvas', middle, second.to, 'Shift');
        ret.halves = await compared();
        await page.click('nav >> text=Flame');
        await page.waitForTimeout(100);
        ret.legend = await page.evaluate(() => [ui.changes.hidden, ui.legend.hidden, ui.changes.textContent]);
        await page.click('button:has-text("baseline")');
        await settled();
        ret.none = await page.evaluate(() => [change.now, flame.change, ui.changes.hidden, location.hash]);
        return ret;""")
    threads = answer['threads']
    option = threads['option']
    rows = json.loads(pace('report', '-i', 'x.data', '--no-inline', '--json', '-s', 'symbol', '--time', option).out)['events'][0]['rows']
    assert sum(row['period'] for row in rows) == threads['allBefore'] == threads['tree'], (threads['allBefore'], rows)
    for row in rows:
        assert threads['rows'][row['symbol']][1] == row['period'], (row, threads['rows'][row['symbol']])
    # The one thread's stacks are more, the other's are not there; the root row of the second thread is less, but has no width.
    assert threads['marks'][2] > 0 and not threads['wrong'], threads
    assert answer['again'] == {**threads, 'table': answer['again']['table']}, (answer['again'], threads)
    assert not answer['merged']['wrong'] and answer['merged']['tree'] == threads['tree'], answer['merged']
    halves = answer['halves']
    changed = halves['marks'][0] + halves['marks'][2]
    assert not halves['wrong'] and changed <= halves['marks'][1] / 10, halves['marks']
    assert halves['table'] and any('within noise' in row for row in halves['table']), halves['table']
    assert answer['legend'][0] is False and answer['legend'][1] is True and 'within noise' in answer['legend'][2], answer['legend']
    assert answer['none'][:3] == [None, None, True] and 'b=' not in answer['none'][3], answer['none']


@test
def names_of_threads_do_nothing_but_appear():
    page = record()
    with open(page, encoding='utf-8') as file:
        html = file.read()
    assert '<img' not in html and not re.search('[\x00-\x08\x0b-\x1f\x7f\u202e]', html)
    names, marks = browse(page, LOOK + '''
        await page.click('nav >> text=Time');
        await settled();
        const box = await page.locator('.tracks canvas').boundingBox();
        for (let y = 25; y < 120; y += 22) {
            await page.mouse.move(box.x + 30, box.y + y);
            await page.waitForTimeout(30);
        }
        await page.mouse.click(box.x + 30, box.y + 30);
        await settled();
        return page.evaluate(() => [when.threads.map(t => t.name), document.querySelectorAll('img, b').length]);''')
    assert '<img src=x>' in names and marks == 0, (names, marks)
    assert any(name.startswith('</script>') for name in names) and any(name.startswith('a') and 'b 7 8' in name for name in names), names


@test
def states_of_threads_are_those_of_the_scheduler():
    needs_browser()
    can_record()
    with open('states.py', 'w', encoding='utf-8') as file:
        file.write("""
import threading, time

def sleep():
    for _ in range(20):
        time.sleep(0.05)
one = threading.Thread(target=sleep)
one.start()
end = time.monotonic() + 0.5
while time.monotonic() < end:
    sum(range(1000))
one.join()
""")
    result = pace('record', '--wall', '-g', '-o', 'wall.data', '--', sys.executable, 'states.py')
    assert result.status == 0, result
    assert pace('report', '-i', 'wall.data', '--html', 'wall.html').status == 0
    told = re.search(r'lived ([\d.]+) s in total = ([\d.]+)% cpu \+ ([\d.]+)% runnable \+ ([\d.]+)% blocked', pace('report', '-i', 'wall.data').out)
    lived, *shares = [float(number) for number in told.groups()]
    lanes, text, legend = browse('wall.html', LOOK + """
        await page.click('nav >> text=Time');
        await settled();
        return page.evaluate(() => {
            const lanes = {};
            for (const key of when.lanes.keys())
                if (key[0] === 't') {
                    const sums = lanes[key] = {};
                    eachPiece(when.lanes.get(key), wholeTime(), (from, to, state) => { sums[STATES[state][0]] = (sums[STATES[state][0]] || 0) + seconds(to - from); });
                }
            return [lanes, statesText('t0', wholeTime()), !ui.states.hidden];
        });""")
    assert legend and 'running' in text, (legend, text)
    total = {state: sum(lane.get(state, 0) for lane in lanes.values()) for state in ('running', 'waiting for a CPU', 'sleeping', 'blocked on I/O')}
    expected = [lived * share / 100 for share in shares]
    for mine, theirs in zip((total['running'], total['waiting for a CPU'], total['sleeping'] + total['blocked on I/O']), expected):
        assert abs(mine - theirs) < 0.05 * lived, (total, expected)
    # The thread that only slept: twenty times 50 ms.
    assert any(0.95 < lane.get('sleeping', 0) < 1.5 and lane.get('running', 0) < 0.2 for lane in lanes.values()), lanes
    # Without records of switches there are no states.
    assert pace('record', '-F', '500', '-o', 'plain.data', '--', sys.executable, '-c', 'sum(range(10000000))').status == 0
    assert pace('report', '-i', 'plain.data', '--html', 'plain.html').status == 0
    assert browse('plain.html', LOOK + """
        await page.click('nav >> text=Time');
        await settled();
        return page.evaluate(() => [when.hasStates, ui.states.hidden, when.lanes.size]);""") == [False, True, 0]


@test
def of_too_many_samples_times_are_thinned_which_is_said_and_totals_are_whole():
    needs_browser()
    needs('cc', 'readelf')
    scale = os.path.join(BUILD, 'tests', 'scale')
    if not os.path.exists(scale):
        skip('needs tests/scale')
    with open('spin.c', 'w', encoding='utf-8') as file:
        file.writelines(f'__attribute__((noinline)) int f{i}(int x) {{ int t = x; for (int k = 0; k < x; k++) t += k * {i} ^ (t >> {i % 7 + 1}); return t; }}\n' for i in range(30))
        file.write('int main(int c, char **v) { (void)v; return f0(c); }\n')
    assert run('cc', '-O1', '-o', 'spin', 'spin.c').status == 0
    text = re.search(r'\s\.text\s+\w+\s+\w+\s+(\w+)\s+(\w+)', run('readelf', '-SW', 'spin').out)
    n = 2_100_000
    assert run(scale, 'big.data', os.path.abspath('spin'), '0x' + text[1], f'{int(text[2], 16) & ~0xff:#x}', str(n), '0').status == 0
    result = pace('report', '-i', 'big.data', '--html', 'big.html')
    assert result.status == 0 and 'there are more samples than html takes one by one: one of 2 stands for the others' in result.err, result
    event = json.loads(pace('report', '-i', 'big.data', '--json', '-s', 'dso,symbol').out)['events'][0]
    answer = browse('big.html', LOOK + """
        await page.click('nav >> text=Time');
        await settled();
        const ret = {whole: await look(), samples: await page.evaluate(() => data.about.events[0].samples), kept: await page.evaluate(() => when.about.parts[0].samples),
            said: await page.evaluate(() => ui.time.innerText)};
        await drag('.tracks canvas', 0.2, 0.6);
        ret.range = await look();
        return ret;""")
    said = ' '.join(answer['said'].split())
    assert 'One of 2 samples is in this file and stands for the others: sums of ranges are estimates, those without a range have all samples.' in said, said
    assert n / 2.1 < answer['kept'] < n / 1.9 and answer['samples'] == event['samples'] == n, answer
    assert answer['whole']['all'] == event['period'] == sum(row['period'] for row in event['rows'])
    compared = 0
    for row in event['rows']:
        self, _, k = answer['whole']['rows'][f"{row['dso']} {row['symbol']}"]
        if k == 1:
            assert self == row['period'], row
            compared += 1
    assert compared >= 20, compared
    # A range's sum is an estimate of what report has of it, within a hundredth.
    told = re.search(r'--time (\S+)', answer['range']['text'])[1]
    exact = sum(row['period'] for row in json.loads(pace('report', '-i', 'big.data', '--json', '-s', 'dso,symbol', '--time', told).out)['events'][0]['rows'])
    assert answer['range']['all'] != exact and abs(answer['range']['all'] - exact) < 0.01 * exact, (answer['range']['all'], exact)


@test
def the_section_fits_and_is_absent_where_there_are_no_times():
    page = record()
    rows = browse_windows(page, LOOK + '''
        await reopen('#v=time&r=100000-300000&b=500000-900000');
        await settled();
        return page.evaluate(() => {
            const drawn = canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(byte => byte);
            return [document.documentElement.scrollWidth, drawn(timeView.tracks), drawn(timeView.heat)];
        });''')
    assert len(rows) == 4, rows
    for width, scheme, (wide, drawn, heat) in rows:
        assert wide <= width and drawn and heat, (width, scheme, wide, drawn, heat)
    with open('x.folded', 'w', encoding='utf-8') as file:
        file.write('main;work 3\n')
    assert pace('report', '-i', 'x.folded', '--html', 'y.html').status == 0
    answer = browse('y.html', '''
        await reopen('#v=time&r=1-2&b=2-3&w=t1');
        await page.keyboard.press('4');
        return page.evaluate(() => [document.querySelector('nav').textContent, state.view, shown.tree.sum[shown.tree.n], ui.summary.textContent]);''')
    assert 'Time' not in answer[0] and answer[1] == 'flame' and answer[2] == 3, answer
    assert 'no times of samples are known' in answer[3], answer


if __name__ == '__main__':
    main()
