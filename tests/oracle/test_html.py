#!/usr/bin/env python3
"""The page of report --html in a browser: its figures are those of report --json, it does what it says, and names do nothing."""
import glob
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import handmade  # noqa: E402
from browser import HOSTILE, MODULES, browse, browse_windows, needs_browser, needs_module  # noqa: E402
from firefox import Firefox
from harness import TOP, can_record, main, needs, pace, run, skip, test

with open(os.path.join(TOP, 'meson.build'), encoding='utf-8') as meson:
    SCRIPTS = [os.path.join(TOP, path) for path in re.findall(r"'(src/view/html/\w+\.js)'", meson.read())]

# What a reader of scripts gets wrong that does not know strings, templates and regular expressions.
TRICKY = r'''
const a = 'no // comment', b = "nor /* this */", c = `a  // template ${[1,  2].map(x => `<${x /* gone */ + 1}  >`).join(', ')} /* kept */
	and its	lines`; // gone }
const d = 'a//b/*c'.replace(/\/[/*]/g, '  /*x*/  ').split(/[`'"}]/); /* `gone
' */ let e = 8 /
 2 / 2
let f = (e) / 2 /* " */ + +e - -e - - e
const h = () => { return
[1] }, k = [3 - -e, 3 + +e, e++ + 1, e-- - 1, e
/ 2 / 1, 'a' in {a: 1}, ! e, a <e, a > e, 7 % 2 ** 2]
let m = e
++m
const n = e
? f :
8
function g(x) { return /[/\]'] \/* `/.test(x) ? 1 : .5 }
++f
;[a, b, c, d, e, f, h() === undefined, k, m, n, g("/'] /* `"), g(''), typeof /x /, { '}': `${'}'}${{a: `}`}.a}` }]'''

# Two events, threads, recursion; the sums are easily done by hand.
FOLDED = '''main;work;parse;read 10 1
main;work;parse 30 2
main;work;parse;parse;read 5 0
main;idle 40 9
other;work;Read 15 0
'''


def write_page(text=FOLDED, name='page'):
    with open(name + '.folded', 'w', encoding='utf-8') as file:
        file.write(text)
    result = pace('report', '-i', name + '.folded', '--html', name + '.html')
    assert result.status == 0 and not result.out, result
    return name + '.html'


@test
def functions_and_totals_of_the_page_are_those_of_json():
    needs_browser()
    can_record()
    work = 'for i in $(seq 3); do find /usr/lib >/dev/null; seq 100000 | sort -n | md5sum; done'
    assert pace('record', '-g', '-F', '2000', '-o', 'x.data', '--', 'sh', '-c', work).status == 0
    # Inlined functions are frames of their own in the page, and parts of functions in rows.
    assert pace('report', '-i', 'x.data', '--no-inline', '--html', 'x.html').status == 0
    event = json.loads(pace('report', '-i', 'x.data', '--no-inline', '--json', '-s', 'dso,symbol').out)['events'][0]
    answer = browse('x.html', '''
        await page.click('text=Functions');
        return page.evaluate(() => {
            const sums = sumFunctions(shown.tree), rows = {};
            data.names.forEach((name, i) => {
                const key = fileOf(i) + ' ' + name, row = rows[key] = rows[key] || [0, 0, 0];
                row[0] += sums.self[i];
                row[1] += sums.total[i];
                row[2]++;
            });
            return {rows, samples: data.about.events[0].samples, period: data.about.events[0].period, all: shown.tree.sum[shown.tree.n],
                first: [...document.querySelectorAll('.functions tbody tr:first-child td')].map(cell => cell.textContent)};
        });''')
    assert (answer['samples'], answer['period'], answer['all']) == (event['samples'], event['period'], event['period']), answer
    compared = 0
    for row in event['rows'][:50]:
        self, total, n = answer['rows'][f"{row['dso']} {row['symbol']}"]
        # A function that is inlined elsewhere has two rows here, whose totals may be of the same stacks.
        if n == 1:
            assert (self, total) == (row['period'], row['total_period']), (row['symbol'], self, total, row)
            compared += 1
    assert compared >= 5, compared
    first = max(event['rows'], key=lambda row: row['period'])
    assert answer['first'][5] == first['symbol'] and answer['first'][0] == f"{first['share']:.2f}%", (answer['first'], first)


@test
def search_zoom_event_and_transforms_are_in_the_address():
    needs_browser()
    answer = browse(write_page(), '''
        const look = () => page.evaluate(() => ({
            hash: location.hash, zoom: flame.zoom < 0 ? '' : data.names[shown.tree.name[flame.zoom]], all: shown.tree.sum[shown.tree.n],
            status: ui.status.textContent, crumbs: [...ui.crumbs.querySelectorAll('button')].map(b => b.textContent)}));
        const settled = () => page.waitForTimeout(150), ret = {};

        await page.fill('input[aria-label=Search]', 'read');
        await settled();
        ret.any = (await look()).status;
        await page.fill('input[aria-label=Search]', 'Read');
        await settled();
        ret.capital = (await look()).status;
        await page.fill('input[aria-label=Search]', 'r.*d|idle');
        await settled();
        ret.either = (await look()).status;
        await page.fill('input[aria-label=Search]', 'parse');
        await page.keyboard.press('Escape');
        await settled();
        ret.nested = (await look()).status;
        await page.keyboard.press('n');
        ret.jumped = await page.evaluate(() => data.names[shown.tree.name[flame.cursor]]);
        await page.keyboard.press('Enter');
        ret.zoomed = await look();
        await reopen(ret.zoomed.hash);
        ret.zoomedAgain = await look();
        await page.selectOption('select[aria-label="What the search does"]', 'keep');
        await settled();
        ret.kept = (await look()).all;
        await page.selectOption('select[aria-label="What the search does"]', 'remove');
        await settled();
        ret.removed = (await look()).all;
        await page.click('text=Reset');
        await page.selectOption('select[aria-label=Event]', '1');
        await settled();
        ret.second = await look();
        await page.selectOption('select[aria-label=Event]', '0');
        await page.click('text=Functions');
        await page.click('.functions tbody tr:has-text("work")');
        await settled();
        ret.picked = await look();
        ret.pane = await page.evaluate(() => ui.picked.innerText);
        ret.interval = await page.evaluate(() => [...document.querySelectorAll('.functions tbody tr')].map(tr => tr.innerText.replace(/\s+/g, ' ')));
        await page.click('nav >> text=Summary');
        ret.first = await page.evaluate(() => [...ui.first.querySelectorAll('tbody tr')].map(tr => tr.innerText.replace(/\s+/g, ' ').trim()));
        await reopen(ret.picked.hash);
        ret.pickedAgain = [await look(), await page.evaluate(() => ui.picked.innerText)];
        await page.click('aside >> text=Only it');
        await settled();
        ret.only = await look();
        await page.evaluate(() => transform('m', data.names.indexOf('parse')));
        await settled();
        ret.merged = await page.evaluate(() => [...shown.tree.name].map((n, i) =>
            `${shown.tree.depth[i]} ${data.names[n]} ${shown.tree.sum[i + 1] - shown.tree.sum[i]}`));
        ret.steps = await look();
        await reopen(ret.steps.hash);
        ret.stepsAgain = await look();
        await page.keyboard.press('Escape');
        await settled();
        ret.back = (await look()).crumbs;
        await page.click('text=Reset');
        await settled();
        await page.keyboard.press('i');
        await settled();
        ret.inverted = await page.evaluate(() => { const t = shown.tree; return Object.fromEntries([...t.name].map((n, i) => [i, n])
            .filter(([i]) => t.depth[i] === 1).map(([i, n]) => [data.names[n], t.sum[t.end[i]] - t.sum[i]])); });
        ret.callers = await page.evaluate(() => { const t = transforms.b.of(wholeTree(data.sums[0]), data.names.indexOf('parse'));
            return [...t.name].map((n, i) => `${t.depth[i]} ${data.names[n]} ${t.sum[t.end[i]] - t.sum[i]}`); });
        ret.recursion = await page.evaluate(() => { const t = transforms.r.of(wholeTree(data.sums[0]), data.names.indexOf('parse'));
            return [...t.name].map((n, i) => `${t.depth[i]} ${data.names[n]} ${t.sum[t.end[i]] - t.sum[i]}`); });
        return ret;''')
    assert answer['any'].startswith('30.00% (30)') and answer['capital'].startswith('15.00% (15)'), answer
    assert answer['either'].startswith('70.00% (70)'), answer
    # The recursive call is counted once.
    assert answer['nested'].startswith('45.00% (45) in 1'), answer
    assert answer['jumped'] == answer['zoomed']['zoom'] == 'parse', answer
    assert [answer['zoomedAgain'][key] for key in ('hash', 'zoom', 'all')] == [answer['zoomed'][key] for key in ('hash', 'zoom', 'all')], answer
    assert (answer['kept'], answer['removed']) == (45, 55), answer
    assert answer['second']['all'] == 12 and 'e=1' in answer['second']['hash'], answer
    # The 95 % interval of 30 of 100 by Wilson's formula.
    assert any(re.search(r'^30.00% 30 45.00% 45 21.89–39.58% parse', row) for row in answer['interval']), answer['interval']
    # Two functions have their order by chance if their intervals overlap.
    lows, highs = zip(*(map(float, re.search(r' ([\d.]+)–([\d.]+)% ', row).groups()) for row in answer['first']))
    assert any(row.startswith('30.00% 21.89–39.58% parse ') for row in answer['first']), answer['first']
    for i, row in enumerate(answer['first'][:-1]):
        assert row.endswith('more than the next' if lows[i] > highs[i + 1] else 'may change places with the next'), answer['first']
    assert len(answer['first']) > 2 and 'next' not in answer['first'][-1], answer['first']
    pane = re.sub(r'\s+', ' ', answer['pane'])
    assert 'Called by 75.00% 45 thread main 25.00% 15 thread other' in pane and 'Calls 75.00% 45 parse 25.00% 15 Read' in pane, pane
    assert answer['pickedAgain'] == [answer['picked'], answer['pane']] and 'p=' in answer['picked']['hash'], answer
    assert answer['only']['all'] == 60 and answer['only']['crumbs'] == ['all', 'only work'], answer
    assert answer['merged'] == ['1 work 30', '2 Read 15', '2 read 15'], answer
    assert answer['steps'] == answer['stepsAgain'] and answer['steps']['crumbs'] == ['all', 'only work', 'merged parse'], answer
    assert answer['back'] == ['all', 'only work'], answer
    assert answer['inverted'] == {'parse': 30, 'read': 15, 'idle': 40, 'Read': 15}, answer
    assert answer['callers'] == ['1 parse 45', '2 work 45', '3 main 45'], answer
    assert [row for row in answer['recursion'] if 'parse' in row or ' read ' in row] == ['3 parse 45', '4 read 15'], answer


SPIN = '''
static inline __attribute__((always_inline)) unsigned mix(unsigned x) { for (int i = 0; i < 50; i++) x = x * 1664525u + 1013904223u; return x; }
__attribute__((noinline)) unsigned spin(unsigned n) { volatile unsigned x = n; for (unsigned i = 0; i < n; i++) x = mix(x); return x; }
'''
MAIN = '''
unsigned spin(unsigned n);
__attribute__((noinline)) unsigned own(unsigned n) { volatile unsigned x = n; for (unsigned i = 0; i < n * 30; i++) x += i; return x; }
int main(void) { unsigned x = 0; for (int i = 0; i < 40; i++) x += spin(100000) + own(100000); return x == 1; }
'''


def record_spin():
    """A program of two source files, with an inlined function; recorded."""
    needs('cc')
    can_record()
    for name, text in (('spin.c', SPIN), ('start.c', MAIN)):
        with open(name, 'w', encoding='utf-8') as file:
            file.write(text)
    assert run('cc', '-g', '-O2', '-o', 'prog', 'spin.c', 'start.c').status == 0
    assert pace('record', '-g', '-e', 'cpu-clock', '-F', '2000', '-o', 'spin.data', '--', './prog').status == 0
    assert pace('report', '-i', 'spin.data', '--html', 'spin.html').status == 0
    return 'spin.html'


@test
def functions_are_found_by_the_files_that_they_are_written_in():
    needs_browser()
    answer = browse(record_spin(), '''
        const find = text => page.evaluate(text => data.names.filter((name, i) => searchNames(text).found[i]).sort(), text);
        return [await find('file:spin'), await find('file:^start'), await find('file:spin|^main$'), await find('file:nothing')];''')
    assert answer[0] == ['mix (inlined)', 'spin'] and answer[1] == ['main', 'own'] and answer[2] == ['main', 'mix (inlined)', 'spin'], answer
    assert answer[3] == [], answer


@test
def the_code_of_hot_functions_has_the_counts_of_annotate():
    needs_browser()
    page = record_spin()
    function = next(f for f in json.loads(pace('annotate', '-i', 'spin.data', '--json').out)['functions'] if f['name'] == 'spin')
    counted = {row['address']: row['counts'][0]['period'] for row in function['instructions'] if row.get('counts')}
    answer = browse(page, '''
        await page.click('nav >> text=Code');
        await page.waitForSelector('.listing tr');
        const look = () => page.evaluate(() => ({hash: location.hash, text: ui.assembly.innerText, source: ui.source.innerText,
            marked: [...document.querySelectorAll('.marked')].length, chosen: ui.codeOf.selectedOptions[0].textContent}));
        const ret = {first: await look()};
        const number = await page.evaluate(() => data.names.findIndex((name, i) => name === 'spin' && data.kinds[i] !== KIND_TASK));
        await page.selectOption('select[aria-label=Function]', String(number));
        await page.waitForTimeout(150);
        ret.spin = await look();
        await reopen(ret.spin.hash);
        await page.waitForSelector('.listing tr');
        ret.again = await look();
        ret.code = await page.evaluate(() => codes.shown.find(code => code.name === 'spin'));
        await page.click('.listing [data-line]:has-text("always_inline")');
        ret.marked = await page.evaluate(() => [...ui.assembly.querySelectorAll('.marked')].length);
        return ret;''')
    code = answer['code']
    assert {hex(int(code['start'], 16) + row[1]): row[8] for row in code['rows'] if len(row) > 6} == counted and counted, (code, counted)
    assert len(code['rows']) == len(function['instructions']) == code['n_rows'], code
    # What is inlined is named, the line that it is written in and the one that it is inlined into have samples.
    assert 'mix spin.c:2 < spin spin.c:3' in answer['spin']['text'], answer['spin']
    assert re.search(r'\d+\.\d\d%\s+2\s+static inline', answer['spin']['source']), answer['spin']['source']
    assert re.search(r'\+\d+\.\d\d%\s+3\s+__attribute__', answer['spin']['source']), answer['spin']['source']
    assert ' spin  [prog]' in answer['spin']['chosen'] and 'p=' in answer['spin']['hash'], answer['spin']
    assert answer['again'] == answer['spin'] and answer['marked'] > 3, answer


@test
def a_thread_and_a_name_are_searched_in_the_same_stacks():
    """As words of a search they are about different nodes of a stack: what is found are those of the function in that thread alone."""
    needs_browser()
    needs('cc')
    can_record()
    with open('spin.c', 'w', encoding='utf-8') as file:
        file.write('__attribute__((noinline)) long spin(long n) { volatile long s = 0; while (n--) s += n; return s; }\n'
                   '__attribute__((noinline)) long turn(long n) { volatile long s = 0; while (n--) s += n; return s; }\n'
                   'int main(void) { for (int i = 0; i < 20; i++) { spin(10000000); turn(5000000); } return 0; }')
    for name in ('first', 'second'):
        assert run('cc', '-O1', '-o', name, 'spin.c').status == 0
    assert pace('record', '-g', '-e', 'cpu-clock:u', '-F', '500', '-o', 'both.data', '--', 'sh', '-c', './first; ./second; ./second').status == 0
    assert pace('report', '-i', 'both.data', '--html', 'both.html').status == 0
    told = json.loads(pace('report', '-i', 'both.data', '--no-children', '-s', 'comm,symbol', '--json').out)['events'][0]
    of = {(row['comm'], row['symbol']): row['period'] for row in told['rows']}
    answer = browse('both.html', """
        return page.evaluate(async () => {
            const answer = {};
            const look = async (search, use, isInverted) => {
                Object.assign(state, {search, use, isInverted});
                await renew();
                await frames();
                const marked = [...shown.tree.name].filter((_, i) => shown.marks[i]).map(i => data.names[i]);
                return {sum: shown.hits.sum, all: shown.tree.sum[shown.tree.n], names: [...new Set(marked)], status: ui.status.textContent};
            };
            const frames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            for (const use of ['highlight', 'keep', 'remove'])
                answer[use] = await look('thread:first spin', use, false);
            answer.inverted = await look('thread:first spin', 'highlight', true);
            answer.choice = await look('thread:first spin|turn', 'highlight', false);
            answer.nothing = await look('thread:first dso:nowhere', 'highlight', false);
            return answer;
        });""")
    spin, all_turns = of['first', 'spin'], of['first', 'turn'] + of['second', 'turn']
    assert 0 < spin < of['second', 'spin'], of
    whole = told['period']
    assert answer['highlight']['sum'] == spin and answer['highlight']['names'] == ['spin'] and 'in 1 matching names' in answer['highlight']['status'], (spin, answer)
    assert answer['keep']['all'] == spin and answer['remove']['all'] == whole - spin, (spin, whole, answer)
    assert answer['inverted']['sum'] == spin and len(answer['inverted']['names']) == 1 and 'first' in answer['inverted']['names'][0], (spin, answer)
    assert answer['choice']['sum'] == spin + all_turns and sorted(answer['choice']['names']) == ['spin', 'turn'], (spin, all_turns, answer)
    assert answer['nothing']['sum'] == 0 and answer['nothing']['status'] == 'nothing matches', answer


# A type within a type, a union, and more members than are shown where there are no samples.
ACCESSES = """
struct pos { long x, y; };
struct thing { struct pos at; union { long whole; int half[2]; } both; long many[2]; %s struct thing *next; };
static struct thing things[1000];
__attribute__((noinline)) long walk(struct thing *t) { long sum = 0; while (t) { sum += t->at.y; t->both.whole++; t = t->next; } return sum; }
int main(void) { long sum = 0; for (int i = 0; i < 999; i++) things[i].next = &things[i + 1]; for (int i = 0; i < 100000; i++) sum += walk(things); return sum == 1; }
""" % ''.join(f'long m{i}; ' for i in range(60))


@test
def data_types_have_the_counts_of_annotate_and_are_left_out_where_none_is_known():
    needs_browser()
    needs('cc')
    can_record()
    if os.uname().machine != 'x86_64':
        skip('the instructions are those of x86-64')
    with open('walk.c', 'w', encoding='utf-8') as file:
        file.write(ACCESSES)
    look = """
        await page.click('nav >> text=Code');
        await page.waitForSelector('.listing tr');
        await page.waitForTimeout(100);
        return page.evaluate(() => ({offers: !ui.toTypes.hidden, text: ui.types.innerText, titles: [...ui.types.querySelectorAll('summary')].map(e => e.textContent),
            rows: [...ui.types.querySelectorAll('tbody tr')].map(tr => [...tr.cells].map(td => td.textContent))}));"""
    for debug in ('-g', '-g0'):
        assert run('cc', debug, '-O2', '-static', '-no-pie', '-o', 'walk', 'walk.c').status == 0
        assert pace('record', '-g', '-e', 'cpu-clock:u', '-F', '2000', '-o', 'walk.data', '--', './walk').status == 0
        result = pace('report', '-i', 'walk.data', '--html', 'walk.html')
        assert result.status == 0 and 'have no known data type' not in result.err, result
        with open('walk.html', encoding='utf-8') as file:
            assert ('id="types"' in file.read()) == (debug == '-g')
        answer = browse('walk.html', look)
        assert answer['offers'] == bool(answer['text']) == (debug == '-g'), answer
        if debug == '-g':
            told, shown = json.loads(pace('annotate', '-i', 'walk.data', '--data-type', '--json').out), answer
    thing = next(t for t in told['types'] if t['name'] == 'struct thing')
    period = lambda line: sum(count['period'] for count in line['counts'])  # noqa: E731
    whole = period(thing['lines'][0])
    assert whole and f"{100 * whole / told['events'][0]['period']:.2f}%  struct thing ({thing['size']} bytes)" in shown['titles'], (shown, thing)
    assert 'its samples are late: the access is that of the instruction that ran before the sampled one' in shown['text'], shown['text']
    # Share, offset, size, member; what is far from all samples is summed up.
    members = {row[3].strip(): row for row in shown['rows'] if len(row) == 4}
    for line in thing['lines'][1:]:
        name = f"{line['type']} {line['name']}".replace('* ', '*').strip() + (' {' if line['kind'] != 'member' else ';')
        if period(line):
            assert members[name][:3] == [f'{100 * period(line) / whole:.2f}%', str(line['offset']), str(line['size'])], (name, members)
    assert sum(1 for line in thing['lines'][1:] if period(line)) >= 3 and 'long int m30;' not in members, members
    assert re.search('… 5[0-9] lines without samples', shown['text']) and members['long int many[2];'][0] == '', shown['text']


@test
def intervals_take_phases_into_account_as_report_does():
    needs_browser()
    needs('cc')
    can_record()
    # Long phases: a few of them are all that is known, however many samples there are.
    with open('phases.c', 'w', encoding='utf-8') as file:
        file.write('static volatile unsigned x;\n' + ''.join(
            f'__attribute__((noinline)) void {name}(unsigned n) {{ for (unsigned i = 0; i < n * 1000; i++) x += i * {k}; }}\n' for k, name in enumerate(('one', 'two'), 3))
            + 'int main(void) { unsigned r = 7; for (int i = 0; i < 12; i++) { r = r * 1103515245 + 12345; one(10000 + r / 65536 % 60000); two(30000); } return 0; }\n')
    assert run('cc', '-O1', '-o', 'phases', 'phases.c').status == 0
    assert pace('record', '-g', '-e', 'cpu-clock', '-F', '2000', '-o', 'phases.data', '--', './phases').status == 0
    assert pace('report', '-i', 'phases.data', '--html', 'phases.html').status == 0
    told = {row['symbol']: row for row in json.loads(pace('report', '-i', 'phases.data', '--ci', '--json', '-s', 'symbol').out)['events'][0]['rows']}
    for name, (low, high), times in browse('phases.html', '''
        await page.click('nav >> text=Functions');
        await page.waitForFunction(() => dependences[0]);
        return page.evaluate(() => ['one', 'two'].map(text => {
            const name = data.names.indexOf(text), sums = sumFunctions(shown.tree), d = dependences[0];
            return [text, intervalOf(sums.total[name] / shown.tree.sum[shown.tree.n], samplesShown(), d.total[name], d.t), d.total[name]];
        }));'''):
        theirs = told[name]['total_share_high'] - told[name]['total_share_low']
        # Blocks begin at other moments: the widths are not the same.
        assert times > 3 and 0.5 < (high - low) * 100 / theirs < 2, (name, low, high, times, told[name])


@test
def events_are_said_with_their_settings_groups_and_losses():
    needs_browser()
    record_spin()
    assert pace('record', '-g', '-e', '{cpu-clock,page-faults}', '-c', '100000', '-o', 'group.data', '--', './prog').status == 0
    assert pace('report', '-i', 'group.data', '--html', 'group.html').status == 0
    samples = {event['event']: event['samples'] for event in json.loads(pace('report', '-i', 'group.data', '--json').out)['events']}
    text, hash = browse('group.html', '''
        await page.click('nav >> text=Events');
        await page.waitForSelector('.events tbody tr');
        const text = await page.evaluate(() => document.querySelector('.events').innerText + ui.eventRows.lastChild.innerText);
        await page.click('.events >> text=cpu-clock');
        await page.waitForTimeout(150);
        return [text, await page.evaluate(() => location.hash)];''')
    words = re.sub(r'\s+', ' ', text)
    assert f"cpu-clock {samples['cpu-clock']:,} " in words and 'every 100,000 leads a group of 2' in words, words
    assert 'in the group of cpu-clock' in words and '0 samples were lost' in words, words


@test
def events_say_how_much_of_their_time_they_had_a_counter():
    needs_browser()
    handmade.write_multiplexed('turns.data')
    assert pace('report', '-i', 'turns.data', '--html', 'turns.html').status == 0
    rows = browse('turns.html', """
        await page.click('nav >> text=Events');
        await page.waitForSelector('.events tbody tr');
        return page.evaluate(() => [...document.querySelectorAll('.events summary')].map(e => e.textContent));""")
    part = "its samples and their sum are of that part and not scaled to the whole"
    assert rows == [f'1 counters, multiplexed: on a counter 25.00% of its time (1.000 of 4.000 s), {part}',
                    f'1 counters, multiplexed: on a counter 37.50% of its time (1.500 of 4.000 s), {part}',
                    '2 counters, on a counter all the time', '2 counters'], rows
    # Without times nothing is said.
    record_spin()
    assert browse('spin.html', """
        await page.click('nav >> text=Events');
        await page.waitForSelector('.events tbody tr');
        return page.evaluate(() => /counter all the time|multiplexed/.test(document.querySelector('.events').textContent));""") is False


@test
def pages_of_wall_clock_time_have_the_figures_of_the_text_in_all_sections():
    needs_browser()
    record_spin()
    work = './prog & (sleep 0.2; find /usr/lib/python3 -name "*.py" | head -300 | xargs cat | md5sum); ./prog; wait'
    result = pace('record', '--wall', '-g', '-o', 'wall.data', '--', 'sh', '-c', work)
    assert result.status == 0, result
    assert pace('report', '-i', 'wall.data', '--no-inline', '--html', 'wall.html').status == 0
    told = json.loads(pace('report', '-i', 'wall.data', '--no-inline', '--json', '-s', 'dso,symbol').out)['events']
    answer = browse('wall.html', """
        const ret = {events: await page.evaluate(() => data.about.events.map(e => [e.name, e.samples, e.period])), sections: {}};
        for (let e = 0; e < ret.events.length; e++) {
            await page.selectOption('select[aria-label=Event]', String(e));
            await page.click('nav >> text=Code');
            await page.waitForTimeout(200);
            ret.sections[ret.events[e][0]] = await page.evaluate(e => {
                const sums = sumFunctions(shown.tree), functions = {}, code = {};
                data.names.forEach((name, i) => data.kinds[i] !== KIND_TASK && sums.self[i] && (functions[fileOf(i) + ' ' + name] = sums.self[i]));
                codes.shown.forEach(c => code[c.dso + ' ' + c.name] = [c.counts[2 * e + 1], c.rows.reduce((sum, row) => sum + countOf(row, e), 0)]);
                showFunctions();
                return {functions, code, all: shown.tree.sum[shown.tree.n], first: [...document.querySelectorAll('.functions tbody tr:first-child td')].map(td => td.textContent)};
            }, e);
        }
        await page.click('nav >> text=Summary');
        ret.summary = await page.evaluate(() => ui.summary.innerText);
        await page.click('nav >> text=Events');
        await page.waitForSelector('.events tbody tr');
        ret.recorded = await page.evaluate(() => ui.eventRows.innerText);
        return ret;""")
    assert answer['events'] == [[e['event'], e['samples'], e['period']] for e in told] and len(told) == 5, answer['events']
    for event in told:
        section, wanted = answer['sections'][event['event']], {}
        for row in event['rows']:
            if row['period']:
                key = f"{row['dso']} {row['symbol']}"
                wanted[key] = wanted.get(key, 0) + row['period']
        assert section['functions'] == wanted and section['all'] == event['period'], (event['event'], section['functions'], wanted)
        most = max(wanted, key=wanted.get)
        assert section['first'][0] == f"{100 * wanted[most] / event['period']:.2f}%" and most.endswith(' ' + section['first'][5]), (section['first'], most)
        # Where there is code, its instructions have all of it.
        assert section['code'] and all(whole == wanted.get(key, 0) and sum in (0, whole) for key, (whole, sum) in section['code'].items()), section['code']
        assert f"{event['event']}\t{event['samples']:,}\t{event['period'] / 1e9:.3f} s" in answer['summary'], answer['summary']
    assert any(sum for section in answer['sections'].values() for _, sum in section['code'].values())
    # The text has a column for each state.
    states = [answer['sections'][f'wall:{state}']['functions'] for state in ('cpu', 'runnable', 'blocked')]
    rows = re.findall(r'^ +[\d.]+% +([\d.]+) +([\d.]+) +([\d.]+) +(\S+) +\[.\] (\S.*?) *$', pace('report', '-i', 'wall.data', '--no-inline', '-g', 'none', '-s', 'dso,symbol').out, re.M)
    # Addresses of code without a name have all their digits in the text.
    rows = [row for row in rows if not row[4].startswith('0x')]
    for *ms, dso, symbol in rows:
        assert all(abs(float(n) - state.get(f'{dso} {symbol}', 0) / 1e6) < 0.0501 for n, state in zip(ms, states)), (dso, symbol, ms)
    assert len(rows) > 10, rows
    assert 'cpu-clock\t\t\t' in answer['recorded'] and 'by what these did then: wall, wall:cpu, wall:runnable, wall:blocked, latency.' in answer['recorded'], answer['recorded']


@test
def two_recordings_are_one_page_that_says_what_changed():
    needs_browser()
    for name, stacks in (('old', 'main;work;fast 500\nmain;work;slow 400\nmain;steady 100\nmain;gone 60\n'),
                         ('new', 'main;work;fast 100\nmain;work;slow 800\nmain;steady 100\nmain;<b>come</b> 60\n')):
        with open(name + '.folded', 'w', encoding='utf-8') as file:
            file.write(stacks)
    assert pace('diff', '--html', 'diff.html', 'old.folded', 'new.folded').status == 0
    answer = browse('diff.html', '''
        const look = () => page.evaluate(() => {
            const t = shown.tree;
            return [location.hash, t.sum[t.n], Object.fromEntries([...t.name].map((n, i) => [data.names[n], [t.sum[t.end[i]] - t.sum[i], flame.change[i], describe(i).split(';')[1]]]))];
        });
        const ret = {after: await look()};
        await page.selectOption('select[aria-label=Event]', '1');
        await page.waitForTimeout(150);
        ret.before = await look();
        await reopen(ret.before[0]);
        ret.again = await look();
        await page.click('nav >> text=Change');
        ret.change = await page.evaluate(() => ui.change.innerText);
        await page.click('nav >> text=Functions');
        ret.functions = await page.evaluate(() => ui.functions.innerText);
        return ret;''')
    after, before = answer['after'], answer['before']
    assert (after[1], before[1]) == (1060, 1060) and answer['again'] == before and 'e=1' in before[0], answer
    for key in ('fast', 'slow', 'steady', 'work'):  # the same is said of both sides, whose widths differ
        assert after[2][key][1:] == before[2][key][1:], key
    assert after[2]['fast'][:2] == [100, -3] and before[2]['fast'][:2] == [500, -3] and 'less than before' in after[2]['fast'][2], answer
    assert after[2]['slow'][:2] == [800, 2] and after[2]['steady'][:2] == [100, 0] and after[2]['<b>come</b>'][:2] == [60, 3], answer
    assert before[2]['gone'][:2] == [60, -3] and 'within noise' in after[2]['steady'][2], answer
    assert 'baseline 47.17%, after 9.43%: \u25bc \u221237.74 points' in after[2]['fast'][2], answer
    assert re.search('gone', answer['change']) and 'one recording on each side' in answer['change'] and '<b>come</b>' in answer['change'], answer
    assert '37.74% \u2192 75.47% \u25b2 +37.74' in answer['functions'], answer['functions']


@test
def hostile_source_does_nothing_but_appear():
    needs_browser()
    needs('cc')
    can_record()
    with open('odd.c', 'w', encoding='utf-8') as file:
        file.write('int main(void) { volatile unsigned x = 0;\n'
                   'for (unsigned i = 0; i < 300000000; i++) /* </script><img src=x onerror=alert(1)> a\u202eb \x01 ]]> <!-- */ x += i;\nreturn 0; }\n')
    assert run('cc', '-g', '-O1', '-o', 'odd', 'odd.c').status == 0
    assert pace('record', '-g', '-e', 'cpu-clock', '-o', 'odd.data', '--', './odd').status == 0
    assert pace('report', '-i', 'odd.data', '--html', 'odd.html').status == 0
    with open('odd.html', encoding='utf-8') as file:
        assert '<img' not in file.read()
    text, images = browse('odd.html', '''
        await page.click('nav >> text=Code');
        await page.waitForSelector('.listing tr');
        return page.evaluate(() => [ui.source.textContent, document.querySelectorAll('img').length]);''')
    assert '</script><img src=x onerror=alert(1)> a\\u{202e}b \\u{1} ]]> <!--' in text and not images, text


@test
def transforms_do_on_any_tree_what_they_do_to_each_stack():
    needs_browser()
    chance = random.Random(17)
    # The first of each is the thread.
    text = ''.join(f'{chance.choice("xyz")};' + ';'.join(chance.choice('abcdef') for _ in range(chance.randint(1, 9))) + f' {chance.randint(1, 9)}\n' for _ in range(400))
    wrong = browse(write_page(text, 'random'), '''
        return page.evaluate(() => {
            const t = wholeTree(data.sums[0]), wrong = [];
            // All stacks with what ends there; and what each transform makes of one.
            const stacks = t => {
                const path = [], ret = {};
                for (let i = 0; i < t.n; i++) {
                    path.length = t.depth[i] - 1;
                    path.push(data.names[t.name[i]]);
                    const own = t.sum[i + 1] - t.sum[i], key = path.join(' ');
                    if (t.end[i] <= i || t.end[i] > t.n || (i + 1 < t.end[i]) !== (t.depth[i + 1] === t.depth[i] + 1 && i + 1 < t.n))
                        wrong.push(`end of ${key}`);
                    if (own && key in ret)
                        wrong.push(`${key} is there twice`);
                    if (own)
                        ret[key] = own;
                }
                return ret;
            };
            const of = {
                f: (s, x) => s.includes(x) ? s.slice(s.indexOf(x)) : null,
                m: (s, x) => s.filter(name => name !== x),
                d: (s, x) => s.includes(x) ? null : s,
                c: s => s.slice(0, 2),
                r: (s, x) => s.includes(x) ? [...s.slice(0, s.indexOf(x) + 1), ...s.slice(s.lastIndexOf(x) + 1)] : s,
                b: (s, x) => s.includes(x) ? s.slice(0, s.indexOf(x) + 1).reverse() : null,
                i: s => [...s].reverse(),
            };
            const ordered = o => JSON.stringify(Object.entries(o).sort());
            for (const [key, change] of Object.entries(of))
                for (let name = 0; name < data.names.length; name++) {
                    if (key === 'c' && data.kinds[name] === KIND_TASK)
                        continue;
                    const expected = {}, got = key === 'i' ? invertTree(t) : transforms[key].of(t, name), told = stacks(got);
                    for (const [stack, own] of Object.entries(stacks(t))) {
                        const to = change(stack.split(' '), data.names[name]);
                        if (to && to.length)
                            expected[to.join(' ')] = (expected[to.join(' ')] || 0) + own;
                    }
                    // Callers whose function is too small to be seen are left out.
                    if ('bi'.includes(key) ? got.sum[got.n] !== Object.values(expected).reduce((a, b) => a + b) : ordered(told) !== ordered(expected))
                        wrong.push(`${key} ${data.names[name]}`);
                    if ('bi'.includes(key) && got.sum[got.n] < 4000 && ordered(told) !== ordered(expected))
                        wrong.push(`${key} ${data.names[name]}`);
                    const heavy = heavyFirst(got);
                    if (ordered(stacks(heavy)) !== ordered(told))
                        wrong.push(`heavy ${key}`);
                    for (const tree of [got, heavy])
                        for (let i = 0; i < tree.n; i++) {
                            const next = tree.end[i], total = k => tree.sum[tree.end[k]] - tree.sum[k];
                            if (next < tree.n && tree.depth[next] === tree.depth[i] && (tree === heavy ? total(next) > total(i)
                                : data.names[tree.name[next]] < data.names[tree.name[i]]))
                                wrong.push(`order ${key}`);
                        }
                }
            return [wrong.slice(0, 9), t.n];
        });''')
    assert wrong[0] == [] and wrong[1] > 800, wrong


@test
def the_page_fits_wide_and_narrow_windows_in_light_and_dark():
    needs_browser()
    page = write_page()
    rows = browse_windows(page, '''
        const looks = {};
        for (const view of ['summary', 'flame', 'functions']) {
            await reopen('#v=' + view);
            await page.waitForTimeout(100);
            looks[view] = await page.evaluate(() => [document.documentElement.scrollWidth, matchMedia('(prefers-color-scheme: dark)').matches,
                flame.context.getImageData(0, 0, flame.canvas.width, flame.canvas.height).data.some(byte => byte)]);
        }
        return looks;''')
    assert len(rows) == 4, rows
    for width, scheme, looks in rows:
        assert len(looks) == 3, looks
        for view, (wide, is_dark, drawn) in looks.items():
            assert wide <= width and drawn == (view == 'flame') and is_dark == (scheme == 'dark'), (width, scheme, view, wide, drawn, is_dark)


@test
def hostile_names_do_nothing_but_appear():
    needs_browser()
    text = ''.join(f'{name};{below} {i + 1}\n' for i, name in enumerate(HOSTILE) for below in ('main', HOSTILE[(i + 3) % len(HOSTILE)]))
    page = write_page(text, 'hostile')
    with open(page, encoding='utf-8') as file:
        html = file.read()
    assert not re.search('[\x00-\x08\x0b-\x1f\x7f\u202e]', html)
    # Nothing of names is markup, not even where scripts are off.
    assert '<img' not in html and '<u>' not in html and '<b>' not in html and 'alert(1)</script>' not in html
    answer = browse(page, '''
        for (const view of ['Summary', 'Functions', 'Flame graph'])
            await page.click(`nav >> text=${view}`);
        await page.mouse.move(400, 250);
        await page.fill('input[aria-label=Search]', '<script>');
        return page.evaluate(() => [document.querySelectorAll('img, u, b').length, data.names.filter(n => n.includes('<script>')).length,
            Math.max(...data.names.map(n => n.length)), ui.status.textContent]);''')
    assert answer[0] == 0 and answer[1] == 2 and answer[2] >= 65536 and '%' in answer[3], answer


@test
def firefox_shows_the_same():
    page = write_page(FOLDED + ''.join(f'{name};main 1 0\n' for name in HOSTILE))
    with Firefox() as firefox:
        firefox.open(page, '#s=parse')
        # Declarations of scripts are not properties of the window: the page is asked by a script of its own.
        sums = firefox.run('''
            const script = document.createElement('script'), out = document.createElement('pre');
            out.id = 'told';
            document.body.append(out);
            script.textContent = `(async () => {
                const image = flame.context.getImageData(0, 0, flame.canvas.width, flame.canvas.height).data;
                const inverted = invertTree(shown.tree);
                document.getElementById('told').textContent = JSON.stringify([shown.tree.sum[shown.tree.n], shown.hits.sum, ui.status.textContent,
                    image.some(byte => byte), inverted.sum[inverted.n], ui.rows.rows.length]);
            })()`;
            document.body.append(script);
            return out.textContent;''')
        all_of, found, status, is_drawn, inverted, _ = json.loads(sums)
        assert (all_of, found, inverted) == (100 + len(HOSTILE), 45, all_of) and is_drawn and '%' in status, sums
        for view in ('summary', 'functions', 'flame'):
            firefox.open(page, f'#v={view}')
            assert firefox.run('return [...document.querySelectorAll("section")].filter(s => !s.hidden).length') == 1
            assert firefox.run('return document.documentElement.scrollWidth <= innerWidth')
        firefox.open(page, '#v=functions')
        text = firefox.run('return document.querySelector(".functions tbody").textContent')
        assert 'parse' in text and firefox.run('return document.querySelectorAll("img, u, b").length') == 0, text[:500]


@test
def the_page_is_readable_without_scripts_and_asks_nobody():
    page = write_page()
    result = pace('report', '-i', 'page.folded', '--format', 'html')
    assert result.status == 0, result
    assert "default-src 'none'" in result.out and '://' not in re.sub('<script.*?</script>', '', result.out, flags=re.S)
    static = result.out[result.out.index('<noscript>'):result.out.index('</noscript>')]
    assert re.search(r'<td class="number">40.00%</td><td class="number">40.00%</td><td>idle</td>', static), static
    assert re.search(r'<td class="number">30.00%</td><td class="number">45.00%</td><td>parse</td>', static), static
    with open(page, encoding='utf-8') as file:
        assert file.read() == result.out


@test
def a_page_is_whole_or_not_there():
    write_page()
    os.mkdir('folder')
    result = pace('report', '-i', 'page.folded', '--html', 'folder')
    assert result.status != 0 and 'folder' in result.err, result
    result = pace('report', '-i', 'nothing.data', '--html', 'other.html')
    assert result.status != 0 and not glob.glob('other*'), result


@test
def scripts_lose_their_comments_and_nothing_else():
    needs('node')
    with open('tricky.js', 'w', encoding='utf-8') as file:
        file.write(TRICKY)
    stripped = run(os.path.join(TOP, 'dev/textarray'), '--strip', 'tricky.js')
    assert stripped.status == 0 and 'gone' not in stripped.out, stripped
    told = [run('node', '-p', f'JSON.stringify(eval({json.dumps(text)}))') for text in (TRICKY, stripped.out)]
    assert told[0].status == 0 and len(told[0].out) > 100 and told[0].out == told[1].out, told


@test
def scripts_are_small_and_their_types_hold():
    named = []
    for path in SCRIPTS:
        with open(path, encoding='utf-8') as file:
            named += re.findall(r'^(?:async )?(?:function\*?|class|const|let) (\w+)', file.read(), re.M)
    # One page has them all: of two functions with one name, the second would be both, and tsc does not mind.
    assert len(named) > 100 and {name for name in named if named.count(name) > 1} == set(), sorted(n for n in named if named.count(n) > 1)
    shipped = [run(os.path.join(TOP, 'dev/textarray'), '--strip', path) for path in SCRIPTS]
    assert len(SCRIPTS) > 3 and not any(result.status for result in shipped), shipped
    assert sum(len(result.out.encode()) for result in shipped) < 100_000
    with open(write_page(), encoding='utf-8') as file:
        text = file.read()
    # Packed, but for the first one.
    code = text[text.index('<script type="application/octet-stream" id="script">'):]
    assert shipped[0].out in code and len(code) < 45_000, len(code)
    needs_module('typescript', '7.0.2')
    checked = run(os.path.join(MODULES, 'node_modules/.bin/tsc'), '--checkJs', '--allowJs', '--noEmit', '--strict', '--target', 'es2023',
                  '--lib', 'es2023,dom,dom.iterable', *SCRIPTS)
    assert checked.status == 0, checked


if __name__ == '__main__':
    main()
