#!/usr/bin/env python3
"""Flame graphs as pictures: their sums are those of report --json, they stay small, several viewers draw them, and names do nothing."""
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from browser import HOSTILE, MODULES, browse, browse_windows, needs_browser, needs_module  # noqa: E402
from harness import BUILD, PATIENCE, SHARED, TOP, can_record, main, needs, pace, run, skip, test  # noqa: E402

SCRIPT = os.path.join(TOP, 'src/view/svg/flamegraph.js')
SVG = '{http://www.w3.org/2000/svg}'
ROW = 18
# A million nodes take half a minute with sanitizers, most of it for the import.
NODES = int(os.environ.get('PACE_FLAME_NODES', '120000'))

# Recursion, threads, and names that a search tells apart by their capitals.
FOLDED = '''main;work;parse;read 10
main;work;parse 30
main;work;parse;parse;read 5
main;idle 40
other;work;Read 15
'''


class Box:
    def __init__(self, rect, depth, parent):
        self.name, self.where, *figures = rect.find(SVG + 'title').text.split('\n')
        self.figures, self.change = figures[0], figures[1] if len(figures) > 1 else ''
        self.value, self.fill, self.depth, self.parent = int(rect.get('data-v')), rect.get('fill'), depth, parent
        self.x, self.width = float(rect.get('x')), float(rect.get('width'))
        self.merged, self.sign = int(rect.get('data-n', 0)), rect.get('data-s')
        self.children = []

    @property
    def file(self):
        return self.where.split(': ', 1)[1] if ': ' in self.where else '[unknown]'

    @property
    def own(self):
        return self.value - sum(child.value for child in self.children)

    def path(self):
        return (self.parent.path() if self.parent and self.parent.parent else []) + [self.name]


class Picture:
    """What a picture has, read without a browser."""

    def __init__(self, text):
        assert len(text) <= 2_000_000, len(text)
        self.root = ElementTree.fromstring(text)
        elements = list(self.root.iter())
        assert len(elements) <= 10_000, len(elements)
        graph = self.root.find(f".//{SVG}g[@id='graph']")
        self.levels, self.boxes, above = int(graph.get('data-levels')), [], []
        for rect in graph.find(f"{SVG}g[@id='boxes']"):
            row = round(float(rect.get('y')) / ROW)
            depth = row if graph.get('data-way') == 'icicle' else self.levels - 1 - row
            del above[depth:]
            assert len(above) == depth
            box = Box(rect, depth, above[-1] if above else None)
            if above:
                above[-1].children.append(box)
            above.append(box)
            self.boxes.append(box)
        self.labels = [text.text for text in graph.find(f"{SVG}g[@id='labels']")]
        for box in self.boxes:
            assert box.own >= 0, box.path()
            assert not box.parent or box.x >= box.parent.x - 0.01 and box.x + box.width <= box.parent.x + box.parent.width + 0.53, box.path()

    def text_of(self, group):
        found = self.root.find(f".//{SVG}g[@id='{group}']")
        return '' if found is None else '\n'.join(' '.join(text.itertext()) for text in found.iter(SVG + 'text'))

    def by_path(self):
        return {';'.join(box.path()): box for box in self.boxes[1:]}


def draw(*words, text=FOLDED, name='x', files=None):
    """Draws folded stacks, or files."""
    if not files:
        with open(name + '.folded', 'w', encoding='utf-8') as file:
            file.write(text)
    result = pace('flame', '-o', name + '.svg', *words, *(files or [name + '.folded']))
    assert result.status == 0 and not result.out, result
    with open(name + '.svg', encoding='utf-8') as file:
        return Picture(file.read())


def record(name='x.data'):
    can_record()
    work = 'for i in $(seq 3); do find /usr/lib >/dev/null; seq 100000 | sort -n | md5sum; done'
    assert pace('record', '-g', '-F', '2000', '-o', name, '--', 'sh', '-c', work).status == 0


def sums_of(picture):
    """Own and total values of (file, function), recursion counted once."""
    sums = {}
    for box in picture.boxes[1:]:
        if box.where == 'thread':
            continue
        key = box.file, box.name
        above, at = False, box.parent
        while at:
            above = above or (at.file, at.name) == key
            at = at.parent
        own, total = sums.get(key, (0, 0))
        sums[key] = own + box.own, total + (0 if above else box.value)
    return sums


@test
def totals_are_those_of_json():
    record()
    event = json.loads(pace('report', '-i', 'x.data', '--no-inline', '--json', '-s', 'dso,symbol').out)['events'][0]
    picture = draw('--no-inline', files=['x.data'])
    assert not any(box.merged for box in picture.boxes), 'the recording is too large for this test'
    assert picture.boxes[0].value == event['period'] and f"{event['samples']:,} samples" in picture.text_of('head')
    sums, compared = sums_of(picture), 0
    for row in event['rows']:
        assert sums.get((row['dso'], row['symbol'])) == (row['period'], row['total_period']), (row, sums.get((row['dso'], row['symbol'])))
        compared += 1
    assert compared > 20, compared
    assert {box.where.split(':')[0] for box in picture.boxes} >= {'thread', 'program', 'library'}
    inlined = draw(files=['x.data'])
    assert inlined.boxes[0].value == event['period']
    # What was not found of a stack stands where it was lost.
    for box in picture.boxes:
        if box.name.startswith('[truncated'):
            assert box.where.startswith('truncated') and 'truncated' in picture.text_of('legend')


@test
def all_ways_to_a_picture_draw_the_same():
    record()
    whole = draw('-j', '1', files=['x.data'])
    text = open('x.svg').read()
    assert pace('report', '-i', 'x.data', '--flame', 'y.svg').status == 0
    assert open('y.svg').read() == text
    assert pace('export', '--format', 'svg', '-i', 'x.data', '-j', '2').out == text
    assert pace('flame', 'x.data').out == text
    paths = {path: box.value for path, box in whole.by_path().items()}
    # Through other programs' formats, too: folded stacks have numbers of samples, and no files.
    folded = run('sh', '-c', f'{BUILD}/pace report -i x.data --format folded | {BUILD}/pace flame - | cat')
    assert folded.status == 0, folded
    samples = json.loads(pace('report', '-i', 'x.data', '--json').out)['events'][0]['samples']
    other = Picture(folded.out)
    assert other.boxes[0].value == samples and set(other.by_path()) == set(paths), set(other.by_path()) ^ set(paths)
    assert pace('export', '--format', 'pprof', '-o', 'x.pb.gz', '-i', 'x.data').status == 0
    other = draw(files=['x.pb.gz'], name='other')
    assert other.boxes[0].value in (samples, whole.boxes[0].value), other.boxes[0].value


@test
def what_the_kernel_dropped_has_a_bar_of_its_own():
    for path, said, share in (('google__perf_data_converter/src__quipper__testdata__perf.data.lost_samples-4.4', '[lost] 2 samples, 1.04%', 1.04),
                              ('GrapheneOS__platform_system_extras/simpleperf__testdata__perf_g_fp.data', '[lost] 590 records, ', None)):
        path = os.path.join(SHARED, 'fixtures', path)
        if not os.path.exists(path):
            skip(f'{path} is not here')
        picture = draw(files=[path])
        assert said in picture.text_of('lost') and 'dropped by the kernel' in picture.text_of('lost'), picture.text_of('lost')
        bar = picture.root.find(f".//{SVG}g[@id='lost']/{SVG}rect")
        share = share or float(re.search(r', ([\d.]+)%', picture.text_of('lost')).group(1))
        assert abs(float(bar.get('width')) - 11.8 * share) < 0.1, bar.attrib
        # It is no part of the graph.
        assert '[lost]' not in {box.name for box in picture.boxes}


@test
def order_direction_and_limits_are_those_that_were_asked_for():
    picture = draw()
    assert [';'.join(box.path()) for box in picture.boxes[1:]] == [
        'main', 'main;idle', 'main;work', 'main;work;parse', 'main;work;parse;parse', 'main;work;parse;parse;read', 'main;work;parse;read',
        'other', 'other;work', 'other;work;Read'], [box.path() for box in picture.boxes]
    assert picture.by_path()['main;work;parse'].figures == '45.00%, 45; itself 30.00%'
    assert picture.boxes[0].name == 'all' and picture.boxes[0].value == 100 and picture.boxes[0].width == 1179.5
    assert [box.path()[-1] for box in draw('--order', 'heaviest').boxes[1:4]] == ['main', 'work', 'parse']
    assert {';'.join(box.path()): box.value for box in draw('--icicle').boxes[1:]} == {path: box.value for path, box in picture.by_path().items()}
    inverted = {path: box.value for path, box in draw('-G').by_path().items()}
    assert inverted == {
        'Read': 15, 'Read;work': 15, 'Read;work;other': 15, 'idle': 40, 'idle;main': 40, 'parse': 30, 'parse;work': 30, 'parse;work;main': 30,
        'read': 15, 'read;parse': 15, 'read;parse;parse': 5, 'read;parse;parse;work': 5, 'read;parse;parse;work;main': 5,
        'read;parse;work': 10, 'read;parse;work;main': 10}, inverted
    limited = draw('--percent-limit', '20')
    assert {(';'.join(box.path()), box.value, box.merged) for box in limited.boxes[1:]} == {
        ('main', 85, 0), ('main;idle', 40, 0), ('main;work', 45, 0), ('main;work;parse', 45, 0), ('main;work;parse;2 functions', 15, 2),
        ('other', 15, 1)}, [(box.path(), box.value, box.merged) for box in limited.boxes]
    assert '2 dotted boxes stand for 3 functions that are too small to be drawn, with all that they call: 30.00%.' in limited.text_of('head')
    assert draw('--width', '400').root.get('width') == '400' and draw('--title', 'A <title>').text_of('head').startswith('A <title>')


@test
def wrong_words_are_refused_and_leave_nothing_behind():
    with open('x.folded', 'w') as file:
        file.write(FOLDED)
    with open('x.svg', 'w') as file:
        file.write('as it was')
    for words, reason in ((['-e', 'cycles', 'x.folded'], "'samples'"), (['--order', 'size', 'x.folded'], 'name and heaviest'),
                          (['x.folded', 'nothing'], 'nothing'), (['x.folded', '--'], 'both sides'), (['--normalise', 'run', 'x.folded'], 'this is one'),
                          (['--normalise', 'x', 'x.folded', 'x.folded'], 'level, total and run'), (['-i', 'x.folded', 'a', 'b'], 'for one recording'),
                          (['-e', 'cycles', 'x.folded', 'x.folded'], 'cycles'), (['--time', '1,2', 'x.folded'], '--time')):
        result = pace('flame', '-o', 'x.svg', *words)
        assert result.status == 2 and reason in result.err and not result.out, (words, result)
        assert open('x.svg').read() == 'as it was' and sorted(os.listdir('.')) == ['x.folded', 'x.svg'], os.listdir('.')
    result = pace('report', '-i', 'x.folded', '--flame', 'a.svg', '--html', 'a.html')
    assert result.status == 2 and 'choose one' in result.err and len(os.listdir('.')) == 2, result


@test
def a_picture_that_cannot_be_written_is_named_and_leaves_nothing_behind():
    with open('x.folded', 'w') as file:
        file.write(FOLDED)
    for words in ('x.folded', 'x.folded x.folded'):
        result = run('sh', '-c', f"trap '' XFSZ; ulimit -f 1; {os.path.join(BUILD, 'pace')} flame {words} -o x.svg")
        assert result.status == 1 and "writing 'x.svg': File too large" in result.err and os.listdir('.') == ['x.folded'], (words, result, os.listdir('.'))
        result = run('sh', '-c', f"{os.path.join(BUILD, 'pace')} flame {words} > /dev/full")
        assert result.status == 1 and result.err.count('No space left on device') == 1, (words, result)


@test
def a_terminal_gets_no_picture_but_a_line():
    with open('x.folded', 'w') as file:
        file.write(FOLDED)
    for words in (['x.folded'], ['x.folded', 'x.folded']):
        ours, theirs = os.openpty()
        done = subprocess.run([os.path.join(BUILD, 'pace'), 'flame', *words], stdout=theirs, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        os.close(theirs)
        os.close(ours)
        assert done.returncode == 0 and re.fullmatch(r"\[ pace flame: wrote 'flame.svg' \(0\.\d+ MB\): 11 boxes \]\n", done.stderr), done
        with open('flame.svg') as file:
            text = file.read()
        assert pace('flame', *words).out == text == pace('flame', '-o', '-', *words).out
        os.remove('flame.svg')


def trie(file, n, n_names, rng):
    """A made-up call tree of n nodes, most with stacks that end in them."""
    stacks = ['thread']
    for i in range(1, n):
        parent = max(0, i - 1 - int(rng.expovariate(1 / 30))) if rng.random() < 0.8 else rng.randrange(max(0, i - 20000), i)
        parent = 0 if stacks[parent].count(';') > 80 else parent
        stacks.append(f'{stacks[parent]};f{rng.randrange(n_names)}::work<int>')
        if rng.random() < 0.74:
            file.write(f'{stacks[-1]} {1 + int(rng.paretovariate(1.2))}\n')


@test
def a_picture_stays_small_whatever_the_input():
    with open('big.folded', 'w') as file:
        trie(file, NODES, 5000, random.Random(1))
    whole = sum(int(line.rsplit(' ', 1)[1]) for line in open('big.folded'))
    for words in ([], ['-G']):
        picture = draw(*words, files=['big.folded'])
        assert picture.boxes[0].value == whole and len(picture.boxes) > 3000, len(picture.boxes)
        # Nothing is dropped: what has no box of its own is in one that says so, and only stacks that end there have none.
        assert sum(box.own for box in picture.boxes) == whole
        rests = [box for box in picture.boxes if box.merged]
        share = 100 * sum(box.value for box in rests) / whole
        assert f'{len(rests):,} dotted boxes stand for {sum(box.merged for box in rests):,} functions' in picture.text_of('head')
        assert f'they call: {share:.2f}%.' in picture.text_of('head'), (share, picture.text_of('head'))
        # The largest are drawn: no rest of one is larger than any box.
        least = min(box.value for box in picture.boxes if not box.merged)
        assert all(box.value <= least for box in rests if box.merged == 1), least
    # Names of nothing but markup, as long as names get, and a stack that is deeper than a screen is high.
    name = '<&>"' * 100
    picture = draw(text=''.join(f'main;{name}{i};{name}{i + 1} {i + 1}\n' for i in range(9000)))
    assert picture.boxes[0].value == 9000 * 9001 // 2 and len(picture.boxes) > 500
    picture = draw(text=';'.join(f'f{i}' for i in range(8000)) + ' 7\n')
    assert picture.boxes[0].value == picture.boxes[-1].value == 7 and picture.levels > 2000


@test
def a_long_command_takes_no_more_room_than_a_long_name():
    picture = draw('--title', ' '.join(f'argument{i}' for i in range(5000)))
    assert 'argument0' in picture.text_of('head') and 'argument4999' in picture.text_of('head') and ' characters)' in picture.text_of('head')
    assert os.path.getsize('x.svg') < 40000 and float(picture.root.get('height')) < 400, (os.path.getsize('x.svg'), picture.root.get('height'))


@test
def hostile_names_do_nothing_but_appear():
    text = ''.join(f'{name};{below} {i + 1}\n' for i, name in enumerate(HOSTILE + ['\ufffe\uffff', '\u65e5\u672c' * 200])
                   for below in ('main', HOSTILE[(i + 3) % len(HOSTILE)]))
    picture = draw(text=text)
    with open('x.svg', encoding='utf-8') as file:
        svg = file.read()
    assert not re.search('[\x00-\x08\x0b-\x1f\x7f\u202e\ufffe\uffff]', svg)
    names = {box.name for box in picture.boxes}
    assert {'<script>alert(1)</script>', ']]>', '__proto__', 'a\\xe2\\x80\\xaeb', '\\ufffe\\uffff'} <= names, names
    cut = next(name for name in names if name.startswith('xxx'))
    assert len(cut) < 350 and cut.endswith('x (65,536 characters)') and 'names of more than 300 characters are cut.' in picture.text_of('head'), cut
    assert svg.count('<script') == 1 and svg.count(']]>') == 1
    needs_browser()
    answer = browse('x.svg', '''
        await page.fill('input[aria-label=Search]', '<script>');
        await page.mouse.move(300, 300);
        await page.keyboard.press('Escape');
        for (const key of ['n', 'Enter', 'o', 'i', '?'])
            await page.keyboard.press(key);
        return page.evaluate(() => [document.querySelectorAll('img, u, b').length, document.querySelectorAll('script').length,
            [...document.querySelectorAll('#labels text')].filter(t => t.textContent.includes('<script>')).length]);''')
    assert answer[0] == 0 and answer[1] == 1 and answer[2] > 0, answer


LOOK = '''
    const look = () => page.evaluate(() => ({hash: location.hash, said: document.querySelector('output').textContent,
        shown: [...document.querySelectorAll('#boxes rect')].filter(r => r.getAttribute('display') !== 'none' && +r.getAttribute('opacity') === 1)
            .map(r => r.querySelector('title').textContent.split('\\n')[0]).join(' '),
        labels: [...document.querySelectorAll('#labels text')].map(t => t.textContent),
        widths: [...document.querySelectorAll('#boxes rect')].filter(r => r.getAttribute('display') !== 'none').map(r => Math.round(100 * r.getAttribute('width') / (innerWidth - 20)))}));
    const box = (name, nth = 0) => page.locator('#boxes rect', {has: page.locator(`xpath=self::*[starts-with(*[local-name()="title"], "${name}\\n")]`)}).nth(nth);
    const search = text => page.fill('input[aria-label=Search]', text);
    const ret = {};
'''


@test
def search_zoom_order_and_direction_are_in_the_address():
    needs_browser()
    draw()
    answer = browse('x.svg', LOOK + '''
        for (const [key, text] of Object.entries({any: 'read', capital: 'Read', either: 'r.*d|idle', nested: 'parse', both: 're ad', none: 'zzz', bad: '(',
                thread: 'main', named: 'thread:main|Read', words: 'pa se|idle', group: '(par|id)(se|le)', file: 'dso:main'})) {
            await search(text);
            ret[key] = (await look()).said;
        }
        await search('');
        ret.start = await look();
        await page.evaluate(() => document.querySelectorAll('#boxes rect')[3].dispatchEvent(new MouseEvent('click', {bubbles: true})));
        ret.zoomed = await look();
        await reopen(ret.zoomed.hash);
        ret.again = await look();
        await search('read');
        await page.keyboard.press('Enter');
        ret.jumped = await look();
        await page.keyboard.press('n');
        ret.second = await look();
        await page.click('text=Order');
        await page.keyboard.press('i');
        ret.all = await look();
        await reopen(ret.all.hash);
        ret.allAgain = await look();
        await page.click('text=Reset');
        ret.reset = await look();
        await page.goBack();
        ret.back = await look();
        await page.evaluate(() => document.querySelectorAll('#boxes rect')[0].dispatchEvent(new MouseEvent('click', {bubbles: true})));
        ret.out = await look();
        await page.keyboard.press('Escape');
        for (const key of ['ArrowUp', 'ArrowUp', 'ArrowRight'])
            await page.keyboard.press(key);
        ret.walked = (await look()).said;
        return ret;''')
    assert answer['any'] == '30.00% in 3 boxes' and answer['capital'] == '15.00% in 1 box' and answer['either'] == '70.00% in 4 boxes', answer
    # Recursion is counted once; a thread's name covers all of it.
    assert answer['nested'] == '45.00% in 2 boxes' and answer['both'] == '30.00% in 3 boxes' and answer['thread'] == '85.00% in 1 box', answer
    assert answer['none'] == '0.00% in 0 boxes' and answer['bad'] == '0.00% in 0 boxes', answer
    assert answer['named'] == '100.00% in 2 boxes' and answer['words'] == '85.00% in 3 boxes' == answer['group'], answer
    assert answer['file'] == '0.00% in 0 boxes', answer
    assert answer['start']['shown'].startswith('all main idle work parse parse read read other'), answer['start']
    assert answer['zoomed']['shown'] == 'work parse parse read read' and answer['zoomed']['said'] == 'all \u203a main \u203a work', answer['zoomed']
    assert answer['zoomed']['widths'] == [100, 100, 100, 100, 11, 11, 22] and answer['zoomed']['hash'] == '#z=3', answer['zoomed']
    assert answer['zoomed'] == answer['again'], answer
    assert answer['jumped']['said'].startswith('read \u00b7') and answer['second']['said'].startswith('read \u00b7'), answer
    assert answer['jumped']['said'] != answer['second']['said'], answer
    assert answer['all']['hash'] == '#z=3&s=read&o=heaviest&w=icicle', answer['all']
    assert {key: answer['allAgain'][key] for key in ('hash', 'shown', 'labels', 'widths')} == \
        {key: answer['all'][key] for key in ('hash', 'shown', 'labels', 'widths')}, answer
    assert answer['reset']['hash'] in ('', '#') and answer['reset']['shown'] == answer['start']['shown'], answer['reset']
    assert answer['back']['hash'] == answer['all']['hash'] and answer['back']['shown'] == answer['all']['shown'], answer
    assert answer['out']['shown'].count('read') == 3 - 1 and 'z=' not in answer['out']['hash'], answer['out']
    assert answer['walked'].startswith('other'), answer['walked']


@test
def what_is_merged_is_told_by_the_search():
    needs_browser()
    draw('--percent-limit', '20')
    said = browse('x.svg', '''await page.fill('input[aria-label=Search]', 'read'); return page.textContent('output');''')
    # 'other' has a box, which does not say what is below it.
    assert said == '0.00% in 0 boxes; what is merged may have up to 30.00% more', said


@test
def it_fits_wide_and_narrow_windows_in_light_and_dark_and_no_label_leaves_its_box():
    needs_browser()
    names = ['a', 'quite_a_long_name_of_a_function', '\u65e5\u672c\u8a9e\u306e\u95a2\u6570', 'mmmmmmmmmmmm', 'WWWW::WWWWWWWW']
    text = ''.join(f'main;{a};{b};{c} {1 + 7 * i}\n' for i, (a, b, c) in enumerate((a, b, c) for a in names for b in names for c in names))
    draw('--title', 'a rather long title that has to be broken into lines when the window is narrow ' * 2, text=text)
    rows = browse_windows('x.svg', '''
        return page.evaluate(() => {
            const rects = [...document.querySelectorAll('#boxes rect')].map(r => [r, r.getBoundingClientRect()]);
            const outside = [...document.querySelectorAll('#labels text')].filter(text => {
                const t = text.getBoundingClientRect();
                return !rects.some(([, r]) => r.left <= t.left && r.right >= t.right - 1 && r.top <= t.top + 2 && r.bottom >= t.bottom - 2);
            }).map(text => text.textContent);
            const head = [...document.querySelectorAll('#head tspan, #foot tspan, #legend g')].map(line => line.getBoundingClientRect().right);
            return [document.documentElement.scrollWidth, outside, getComputedStyle(document.querySelector('#paper')).fill, Math.max(...head)];
        });''')
    assert len(rows) == 4, rows
    for width, scheme, (wide, outside, paper, lines) in rows:
        assert wide <= width and lines <= width and not outside, (width, scheme, wide, lines, outside)
        assert (paper == 'rgb(255, 255, 255)') == (scheme == 'light'), paper


@test
def it_needs_nothing_that_a_strict_page_forbids():
    picture = draw('--percent-limit', '10')
    text = open('x.svg').read()
    # Colours are attributes, so that they stay where styles are forbidden; and nothing is asked of anybody.
    assert all(box.fill for box in picture.boxes) and not re.search(r'\s(style|on\w+|href|xlink:\w+)=', text.split('<script>')[0])
    assert re.findall(r'\w+://[^"\s]+', text.split('<script>')[0]) == ['http://www.w3.org/2000/svg']
    assert not re.search(r'eval|Function\(|innerHTML|setTimeout\(.[\'"]|import\(|fetch', text)


@test
def viewers_without_scripts_draw_it():
    draw('--title', 'three viewers')
    needs('xmllint', 'rsvg-convert')
    assert run('xmllint', '--noout', 'x.svg').status == 0
    paged = run('rsvg-convert', '-f', 'pdf', '-o', 'x.pdf', 'x.svg')
    with open('x.pdf', 'rb') as file:
        assert paged.status == 0 and file.read(5) == b'%PDF-', paged
    drawn = run('rsvg-convert', '-o', 'x.png', 'x.svg')
    assert drawn.status == 0 and not drawn.err, drawn
    with open('x.png', 'rb') as file:
        data = file.read()
    assert data[12:16] == b'IHDR' and int.from_bytes(data[16:20], 'big') == 1200 and len(data) > 3000, len(data)


def changes(picture):
    return {';'.join(box.path()): (box.sign, re.sub(r'url\(#(\w+)\d\)', r'\1', box.fill)) for box in picture.boxes[1:]}


def sides(**values):
    return ''.join(f'main;{name} {value}\n' for name, value in values.items())


@test
def what_changed_has_a_sign_a_pattern_and_words():
    old = dict(same1=1000, same2=2000, same3=1500, same4=900, same5=3000, same6=1100, more=1000, less=1000, noise=400, gone=300)
    new = dict(old, more=2000, less=500, noise=420, new=100)
    del new['gone']
    draw(text=sides(**old), name='old')
    draw(text=sides(**new), name='new')
    picture = draw(files=['old.folded', 'new.folded'])
    found = changes(picture)
    assert found['main;more'] == ('+100%', 'more') and found['main;less'] == ('-50%', 'less'), found
    assert found['main;noise'] == (None, '#d9d9d9') and found['main;same1'] == (None, '#d9d9d9'), found
    assert found['main;new'] == ('new', 'more') and 'main;gone' not in found, found
    assert '+100% more' in picture.labels and '-50%\u2026' in picture.labels, picture.labels
    boxes = picture.by_path()
    assert boxes['main;more'].change.startswith('100% more than before (+- ') and boxes['main;less'].change.startswith('50% less than before'), boxes['main;more'].change
    assert 'within chance' in boxes['main;noise'].change and 'not in the old one' in boxes['main;new'].change, boxes['main;noise'].change
    assert boxes['main;more'].value == 2000 and picture.boxes[0].value == sum(new.values())
    head = picture.text_of('head')
    assert re.search(r'Not in the new recording, and so without a box: 2.46% of the old one, in gone \(2.46%\)', head.replace('\n', ' ')), head
    # The other way round.
    back = changes(draw(files=['new.folded', 'old.folded']))
    assert back['main;more'] == ('-50%', 'less') and back['main;less'] == ('+100%', 'more') and back['main;gone'] == ('new', 'more'), back
    # A recording compared with itself did not change.
    assert {fill for _, fill in changes(draw(files=['old.folded', 'old.folded'])).values()} == {'#d9d9d9'}


@test
def another_build_of_a_program_may_have_other_names():
    draw(text='old-build;main;parse 1000\nold-build;main;run.isra.0 3000\npool;work 500\n', name='old')
    draw(text='new-build;main;parse.constprop.0 1000\nnew-build;main;run 1500\npool;work 500\n', name='new')
    picture = draw(files=['old.folded', 'new.folded'])
    assert changes(picture)['old-build;main;run'] == ('-50%', 'less') and changes(picture)['pool;work'] == (None, '#d9d9d9'), changes(picture)
    assert "Threads called 'new-build' are compared with those called 'old-build'." in picture.text_of('head')
    assert 'Not in the new recording' not in picture.text_of('head'), picture.text_of('head')
    # The same program, compiled in two ways: what one inlined stays where it was called.
    can_record()
    needs('cc')
    source = os.path.join(TOP, 'examples/wordcount.c')
    for name, flags in (('plain', ('-O1', '-fno-inline')), ('inlined', ('-O2',))):
        assert run('cc', '-g', *flags, '-o', name, source).status == 0
        assert pace('record', '-q', '-g', '-F', '500', '-o', name + '.data', './' + name).status == 0
    inside = draw(files=['inlined.data']).by_path()
    assert any('(inlined)' in path for path in inside), sorted(inside)[:9]
    found = draw(files=['plain.data', 'inlined.data']).by_path()
    path = next(path for path in found if path.endswith('main;count_words'))
    assert path.startswith('plain;') and 'of the old recording' in found[path].change, (path, found[path].change)


@test
def a_busier_machine_is_not_a_change_of_every_function():
    old = {f'f{i}': 1000 + 100 * i for i in range(10)}
    new = {name: value * 3 // 2 for name, value in old.items()}
    new['f3'] = old['f3'] * 3
    for name, values in (('old', old), ('new', new)):
        draw(text=sides(**values), name=name)
    found = changes(draw(files=['old.folded', 'new.folded']))
    assert found['main;f3'] == ('+100%', 'more') and found['main;f4'][1] == '#d9d9d9', found
    found = changes(draw('--normalise', 'run', files=['old.folded', 'new.folded']))
    assert found['main;f3'] == ('+200%', 'more') and found['main;f4'] == ('+50%', 'more'), found


@test
def several_recordings_on_each_side_tell_changes_from_chance():
    rng = random.Random(3)
    files = {'a': [], 'b': []}
    for side, names in files.items():
        for i in range(5):
            # Runs differ by a tenth, which numbers of samples alone would call a change.
            values = {f'f{k}': int((4000 + 500 * k) * rng.gauss(1, 0.08)) for k in range(12)}
            values['f3'] = int(values['f3'] * (1.8 if side == 'b' else 1))
            names.append(f'{side}{i}.folded')
            draw(text=sides(**values), name=f'{side}{i}')
    picture = draw(files=[*files['a'], '--', *files['b']])
    found = changes(picture)
    assert found['main;f3'][1] == 'more', found
    assert sum(fill != '#d9d9d9' for path, (_, fill) in found.items() if path.startswith('main;') and path != 'main;f3') <= 1, found
    assert 'by the spread among the recordings' in picture.text_of('head')
    assert picture.boxes[0].value == sum(int(line.rsplit(' ', 1)[1]) for name in files['b'] for line in open(name))


@test
def colours_are_those_of_the_page_and_do_not_change():
    with open(os.path.join(TOP, 'src/view/html/flame.js'), encoding='utf-8') as file:
        kinds = re.findall(r"^\t'?(.)'?: \[(\d+), (\d+), '([\w ]+)'\],$", file.read(), re.M)
    with open(os.path.join(TOP, 'src/view/svg/paint.c'), encoding='utf-8') as file:
        own = re.findall(r'\{CODEKIND_\w+, (\d+), (\d+), "([\w ]+)"\}', file.read())
    assert len(kinds) == 8 and [kind[1:] for kind in kinds] == own, (kinds, own)
    picture = draw(text='main;work 3\nother;work 2\n')
    assert len({box.fill for box in picture.boxes if box.name == 'work'}) == 1


@test
def the_script_is_small_and_its_types_hold():
    assert os.path.getsize(SCRIPT) < 20_000
    needs_module('typescript', '7.0.2')
    checked = run(os.path.join(MODULES, 'node_modules/.bin/tsc'), '--checkJs', '--allowJs', '--noEmit', '--strict', '--target', 'es2023',
                  '--lib', 'es2023,dom,dom.iterable', SCRIPT)
    assert checked.status == 0, checked


if __name__ == '__main__':
    main()
