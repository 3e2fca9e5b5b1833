#!/usr/bin/env python3
"""report --tui in a terminal that others wrote (tmux): the text's numbers, sizes, colours, hostile names, and what is left behind."""
import os
import re
import shlex
import shutil
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'oracle'))
import handmade  # noqa: E402
from harness import *  # noqa: E402,F403
from window import Terminal, pid_of  # noqa: E402

BAR = 11  # the columns of the marker and the bar, in front of each row
HOSTILE = {'control': 'e\x1b[2J\x07\x0b\x7f', 'bidi': 'a\u202eb\u2066c', 'arabic': '\u0627\u0644\u0639', 'wide': '\u6f22\u5b57' * 3, 'marks': 'z' + '\u0301' * 50,
           'joiner': '\U0001f469\u200d\U0001f469\u200d\U0001f467', 'mark first': '\u0301x', 'variation': '\u2764\ufe0f\u2764\ufe0f', 'bytes': b'\xff\xc3(\xe6'}


def write_folded(path, stacks):
    with open(path, 'wb') as file:
        for stack, n in stacks:
            file.write((stack if isinstance(stack, bytes) else stack.encode()) + b' %d\n' % n)


def write_plain(path):
    write_folded(path, [(f'sh;main;walk;function_{i:02}', 100 - i) for i in range(40)] + [('sh;main', 7)])


def rows_of_text(*words):
    result = pace('report', '-g', 'none', *words)
    assert result.status == 0, result
    return [' '.join(line.split()) for line in result.out.splitlines() if line and not line.startswith('#')]


def squeezed(lines):
    """Rows without their markers and bars; where there is little room, there are no bars."""
    return [re.sub(r'^[ █▉▊▋▌▍▎▏]*', '', ' '.join(line[1:].split())) for line in lines]


@test
def a_terminal_gets_the_browser_unless_something_asks_for_text():
    write_plain('plain.folded')
    plain = pace('report', '-i', 'plain.folded').out
    terminal = Terminal(100, 50)
    terminal.opens('-i', 'plain.folded')
    terminal.types('q')
    terminal.waits(lambda: terminal.state() == '0 1 0 1')
    shell, recorded = shlex.quote(PACE), os.path.join(SHARED, 'fixtures', 'own/be-clock.data')
    for i, (line, opens) in enumerate((
            (f'{shell} report -i plain.folded </dev/null', False), (f'{shell} report -i - <plain.folded', False), (f'{shell} report -i plain.folded | cat', False),
            (f'PACE_TUI=0 {shell} report -i plain.folded', False), (f'PACE_TUI=off {shell} report -i plain.folded', False),
            (f'PACE_TUI=0 {shell} report -i plain.folded --tui', True), (f'PACE_TUI=1 {shell} report -i plain.folded', True),
            (f'{shell} --no-pager report -i plain.folded', True), (f'PACE_PAGER=cat {shell} -p report -i plain.folded', False),
            *((f'{shell} --no-pager report -i plain.folded {words}', False) for words in
              ('--stdio', '--no-tui', '-q', '--csv', '--json', '-t,', '--format text', '--hierarchy -s comm', '--budget 5',
               "--fail-if 'self(nobody) > 99%'", '--stdio-color', '-g folded', '-g flat')),
            *((f'{shell} --no-pager report -i {recorded} {words}', False) for words in ('--header', '--ledger', '--stats') if os.path.exists(recorded)),
            (f'{shell} report -i plain.folded -g caller -s comm,sym -n', True))):
        terminal.command(f'clear; {line} 2>&1; echo end {i} $?')
        if opens:
            terminal.waits(lambda: 'h: help' in terminal.text())
            terminal.types('q')
        # A browser that should not be there would wait for keys.
        terminal.waits(lambda: f'end {i} 0' in terminal.lines())
    terminal.command(f'{shell} report -i plain.folded >there 2>&1; echo written')
    terminal.waits(lambda: 'written' in terminal.lines())
    assert open('there', encoding='utf-8').read() == plain
    # A recording without samples: why is a text.
    write_folded('none.folded', [])
    terminal.command(f'clear; {shell} --no-pager report -i none.folded; echo end none')
    terminal.waits(lambda: 'end none' in terminal.lines())
    terminal.ends()


@test
def every_row_has_the_numbers_and_names_of_the_text():
    write_plain('plain.folded')
    files = [['-i', 'plain.folded']]
    for name in ('own/perf72-dwarf-zstd.data', 'own/be-group.data', 'own/be-clock.data'):
        path = os.path.join(SHARED, 'fixtures', name)
        if os.path.exists(path):
            files += [['-i', path], ['-i', path, '-s', 'comm,dso', '-n']]
    for i, words in enumerate(files):
        expected = rows_of_text(*words)
        for columns, rows in (80, 24), (200, 50):
            terminal = Terminal(columns, rows)
            terminal.opens('-g', 'none', *words)  # callers come first where there are graphs
            first = squeezed(terminal.rows())
            assert len(first) == min(rows - 3, len(expected)), (first, expected)
            terminal.types('End')
            terminal.waits(lambda: terminal.lines()[-1].startswith(f'{len(expected)} of {len(expected)} lines'))
            last = squeezed(terminal.rows())
            for ours, theirs in [*zip(first, expected), *zip(last, expected[-len(last):])]:
                assert ours and re.match(re.escape(ours).replace('…', '.*'), theirs) and ours.split()[0] == theirs.split()[0], (ours, theirs)
            terminal.types('P')
            terminal.waits(lambda: f"wrote {len(expected)} lines to 'pace.hist.0'" in terminal.text())
            with open('pace.hist.0', encoding='utf-8') as file:
                assert squeezed(file) == expected
            os.unlink('pace.hist.0')
            terminal.ends()


@test
def call_chains_have_the_shares_of_the_text():
    write_folded('calls.folded', [('sh;main;a;b', 60), ('sh;main;a;c', 25), ('sh;main;d', 15)])
    graph = pace('report', '-i', 'calls.folded', '-g', 'caller').out.split("0.00%  main")[1].split("  0.00%")[0]
    terminal = Terminal()
    terminal.opens('-i', 'calls.folded', '-g', 'caller')
    terminal.types('e')
    terminal.waits(lambda: any('- ' in line[BAR:] for line in terminal.rows()))
    shown = dict(re.findall(r'^  \S+ +([\d.]+%) +[-+|]? *(\w)$', terminal.text(), re.M)[i][::-1] for i in range(4))
    drawn = {name: share for share, name in re.findall(r'--([\d.]+%)--(\w)\b', graph)}
    assert drawn and all(shown[name] == share for name, share in drawn.items()), (shown, drawn, graph)
    terminal.ends()


RECORDINGS = ('own/perf72-dwarf-zstd.data', 'own/be-clock.data', 'facebook__zstd/perf.data', 'frankandreace__cqf_implementation/flamegraph__perf.data', 'KDAB__perfparser/tests__auto__perfdata__vector_static_gcc__perf.data')


def recordings():
    found = [path for path in (os.path.join(SHARED, 'fixtures', name) for name in RECORDINGS) if os.path.exists(path)]
    return found or skip('there are no recordings')


def shown_rows(terminal):
    """All rows that the browser has, as its snapshot has them."""
    terminal.types('P')
    terminal.waits(lambda: "to 'pace.hist.0'" in terminal.text())
    with open('pace.hist.0', encoding='utf-8') as file:
        rows = squeezed(file)
    os.unlink('pace.hist.0')
    return rows


def options_of(words, key, row):
    """The words that choose by text what the key zooms into, on this row of the default columns; None: no text can."""
    fields = pace('report', '--stdio', '-g', 'none', '-t', '|', *words)
    line = [line for line in fields.out.splitlines() if line and not line.startswith('#')][row].split('|')
    values = dict(zip(('comm', 'dso'), (field.strip() for field in line[-3:-1])))
    value = values['comm' if key == 't' else 'dso']
    return None if ',' in value or not value else [{'t': '-c', 'd': '-d'}[key], value]


@test
def a_zoom_has_the_rows_of_the_text_with_that_filter_and_escape_goes_back():
    n = 0
    for path in recordings():
        words = ['-i', path, '-g', 'none']
        whole = rows_of_text(*words)
        terminal = Terminal(160, 40)
        terminal.opens(*words)
        for row in {0, min(3, len(whole) - 1), min(20, len(whole) - 1)}:
            more = []
            terminal.types('Home', *['Down'] * row)
            for depth, key in enumerate('td'):
                chosen = options_of(words + more, key, row if not depth else 0)
                if not chosen:
                    break
                more += chosen
                terminal.types(key)
                terminal.waits(lambda: terminal.lines()[0].count(' > ') == depth + 1)
                assert shown_rows(terminal) == rows_of_text(*words, *more), (path, more)
                n += 1
            for left in range(len(more) // 2, 0, -1):
                terminal.types('Escape')
                terminal.waits(lambda: terminal.lines()[0].count(' > ') == left - 1)
            assert shown_rows(terminal) == whole, path
        terminal.ends()
    assert n > 10, n


@test
def zooms_follow_the_columns_and_what_is_read_again():
    write_folded('threads.folded', [('sh;main;a;b', 60), ('sh;main;c', 25), ('cc;main;a;d', 15), ('cc;d', 7)])
    for path in recordings()[:3]:
        words = ['-i', path, '-g', 'none', '-s', 'tid,sym']
        tid = pace('report', '--stdio', '-t', '|', *words).out.splitlines()[-1].split('|')[-2].strip().split(':')[0]
        terminal = Terminal(160, 40)
        terminal.opens(*words)
        terminal.types('End', 't')
        terminal.waits(lambda: f' > thread {tid}' in terminal.lines()[0])
        assert shown_rows(terminal) == rows_of_text(*words, '--tid', tid), (path, tid)
        terminal.types('c')
        terminal.waits(lambda: ' > intervals' in terminal.lines()[0])
        assert shown_rows(terminal) == rows_of_text(*words, '--tid', tid, '--ci'), (path, tid)
        terminal.types('Escape', 'Escape')
        terminal.waits(lambda: ' > ' not in terminal.lines()[0])
        assert shown_rows(terminal) == rows_of_text(*words)
        terminal.ends()
    branches = os.path.join(SHARED, 'fixtures/google__autofdo/testdata__hierarchical_discriminator_test.x86_64.perf.data')
    if os.path.exists(branches):
        terminal = Terminal(200, 40)
        terminal.opens('-i', branches, '-g', 'none', '--no-branch-stack')
        terminal.types('b')
        terminal.waits(lambda: ' > branches' in terminal.lines()[0])
        assert shown_rows(terminal) == rows_of_text('-i', branches, '-g', 'none', '-b')
        terminal.types('b')
        terminal.waits(lambda: ' > ' not in terminal.lines()[0])
        assert shown_rows(terminal) == rows_of_text('-i', branches, '-g', 'none', '--no-branch-stack')
        terminal.ends()
    # Samples with a function in their stacks: those of the lines that have it, as shares of all.
    terminal = Terminal(100, 30)
    terminal.opens('-i', 'threads.folded', '-g', 'none', '-s', 'comm,sym')
    terminal.command('/^a$')
    terminal.waits(lambda: '2 of' in terminal.lines()[-1])
    terminal.types('z', 'Escape')
    terminal.waits(lambda: 'through a' in terminal.lines()[0] and 'of 6 lines' in terminal.lines()[-1])
    write_folded('part.folded', [('sh;main;a;b', 60), ('cc;main;a;d', 15)])
    counts = [row.split()[2:] for row in shown_rows(terminal)]
    assert sorted(counts) == sorted(row.split()[2:] for row in rows_of_text('-i', 'part.folded', '-s', 'comm,sym')), counts
    assert [row.split()[0] for row in shown_rows(terminal)][0] == f'{6000 / 107:.2f}%'
    terminal.types('b')
    terminal.waits(lambda: '-b needs branches' in terminal.lines()[-1])
    terminal.ends()


def sort_keys():
    """All keys, with whether each is a figure, or a word of -F, as the help lists them."""
    found, heading = [], ''
    for line in pace('report', '-h').out.split('\nKeys: ', 1)[1].splitlines():
        heading = line if line.startswith('Keys: ') or not found and 'figures' in line else heading
        name = re.match(r'  (\w+)', line)
        if name:
            found.append((name.group(1), 'figures' in heading, '-F only' in heading))
    return found


@test
def rows_by_every_key_have_the_numbers_of_the_text_and_what_is_lacking_is_said():
    path = next((path for path in recordings() if 'perf72-dwarf' in path), recordings()[0])
    words = ['-i', path, '-g', 'none']
    keys = sort_keys()
    assert len(keys) > 70, keys
    terminal = Terminal(250, 120)
    terminal.opens(*words)
    columns = terminal.lines()[1].split()
    shown = refused = 0
    for key, is_figure, is_field in keys:
        if key in ('overhead', 'overhead_children'):
            assert {'overhead': 'Self', 'overhead_children': 'Children'}[key] in columns
            continue
        option = ['-F', f'+{key}'] if is_field else ['-s', f'comm,dso,symbol,{key}' if is_figure else key]
        entry = rf'-F \.\.\.,{key} ' if is_field else rf'-s (\.\.\.,)?{key} '
        terminal.types('r', 'Home')
        terminal.waits(lambda: 'Sort rows by' in terminal.lines()[0] and any(re.match(' +' + entry, line) for line in terminal.lines()))
        menu = [line.strip() for line in terminal.lines()[2:-1]]
        line = next(i for i, text in enumerate(menu) if re.match(entry, text))
        terminal.types(*['Down'] * line, 'Enter')
        expected = pace('report', '--stdio', *words, *option)
        if expected.status:
            why = expected.err.strip().replace('pace report: ', '', 1).replace(f"key '{key}': ", '', 1).replace('--fields: ', '', 1)
            terminal.waits(lambda: terminal.lines()[-1].strip() == why[:250].strip())
            assert why[:200] in menu[line], (menu[line], why)
            terminal.types('q')
            refused += 1
        else:
            terminal.waits(lambda: f' > by {key}' in terminal.lines()[0] and 'Sort rows by' not in terminal.text())
            terminal.waits(lambda: 'h: help' in terminal.lines()[-1] or terminal.lines()[-1].strip() and 'reading' not in terminal.lines()[-1])
            ours, theirs = shown_rows(terminal), rows_of_text(*words, *option)
            assert (sorted(ours) == sorted(theirs)) if is_figure else ours == theirs, (key, ours[:5], theirs[:5])
            terminal.types('Escape')
            shown += 1
        terminal.waits(lambda: ' > by' not in terminal.lines()[0] and 'Sort rows by' not in terminal.text())
    assert shown > 20 and refused > 20, (shown, refused)
    terminal.ends()


@test
def parts_of_accesses_stand_side_by_side_as_in_the_text():
    handmade.write_memory('m.data')
    words = ['-i', 'm.data', '--mem-mode', '-g', 'none', '-s', 'symbol']
    terminal = Terminal(200, 50)
    terminal.opens(*words, '-F', 'overhead,op,dtlb')
    assert re.search(r'Overhead +Mem Op: Load +Store +Other +D-TLB: L1-Hit +L\?-Hit +Miss +Other +Symbol', terminal.lines()[1]), terminal.lines()[1]
    assert shown_rows(terminal) == rows_of_text(*words, '-F', 'overhead,op,dtlb')
    terminal.ends()


@test
def the_screen_goes_on_while_a_recording_is_read_again_and_escape_gives_it_up():
    scale = os.path.join(BUILD, 'tests/scale')
    if not os.path.exists(scale):
        skip('tests/scale is not built')
    assert run(scale, 'large.data', os.path.realpath('/bin/sh'), '0x5000', '0x8000', '400000', '20').status == 0
    os.mkdir('alone')
    os.rename('large.data', 'alone/large.data')
    shutil.copyfile(recordings()[0], 'alone/other.data')
    terminal = Terminal(160, 30)
    terminal.opens('-i', 'alone/large.data', '--no-children', '-s', 'dso,sym')
    before = terminal.rows()
    for keys in ('c',), ('T',), ('r', 'Home', *['Down'] * 4, 'Enter'), ('D', 'Enter'):
        terminal.types(*keys)
        terminal.waits(lambda: terminal.lines()[-1].startswith('Esc: give it up   reading'))
        assert terminal.rows() == before and 'Ctrl-C' not in terminal.text(), keys
        terminal.types('Escape')
        terminal.waits(lambda: 'given up' in terminal.lines()[-1])
        assert terminal.rows() == before and ' > ' not in terminal.lines()[0], keys
    # What is typed meanwhile is for what is shown then; its size is that of the terminal at the end.
    terminal.types('c', 'Down', '/')
    terminal.waits(lambda: 'Esc: give it up' in terminal.lines()[-1])
    terminal.tmux('resize-window', '-x', '120', '-y', '20')
    terminal.types('-l', 'sh')
    terminal.waits(lambda: ' > intervals' in terminal.lines()[0] and terminal.lines()[-1].startswith('/sh'))
    assert len(terminal.lines()) == 20
    terminal.types('Escape', 'q')
    terminal.waits(lambda: terminal.state() == '0 1 0 1')
    # Without a terminal there is nobody to give it up: it ends.
    terminal.opens('-i', 'alone/large.data', '--no-children')
    pid = pid_of(terminal)
    terminal.types('c')
    terminal.waits(lambda: 'Esc: give it up' in terminal.lines()[-1])
    terminal.ends()
    wait_for(lambda: 'report' not in commands().get(pid, ''))


@test
def what_the_samples_have_already_is_shown_without_reading_them_again():
    source = next((path for path in recordings() if 'perf72-dwarf' in path), recordings()[0])
    shutil.copyfile(source, 'gone.data')
    by = {key: rows_of_text('-i', 'gone.data', '-s', key) for key in ('comm', 'dso', 'symbol', 'comm,dso,symbol,sample')}
    by_thread = rows_of_text('-i', 'gone.data', '-s', 'dso', '-c', by['comm'][0].split()[-1])
    terminal = Terminal(200, 60)
    terminal.opens('-i', 'gone.data')
    os.unlink('gone.data')

    def place_of(key):
        return next((i for i, text in enumerate(terminal.lines()[2:]) if re.match(rf' *-s (\.\.\.,)?{key} ', text)), None)

    def choose(key):
        terminal.types('r', 'Home')
        terminal.waits(lambda: 'Sort rows by' in terminal.lines()[0] and place_of(key) is not None)
        line = place_of(key)
        terminal.types(*['Down'] * line, 'Enter')
        terminal.waits(lambda: f' > by {key}' in terminal.lines()[0])

    for key in 'comm', 'dso', 'symbol':
        choose(key)
        assert sorted(shown_rows(terminal)) == sorted(by[key]), key
        terminal.types('Escape')
        terminal.waits(lambda: ' > ' not in terminal.lines()[0])
    choose('sample')
    assert sorted(shown_rows(terminal)) == sorted(by['comm,dso,symbol,sample'])
    # Callers, on top of that; then a zoom, and other rows in it.
    terminal.types('C')
    terminal.waits(lambda: re.search(' > by sample > call', terminal.lines()[0]))
    assert sorted(shown_rows(terminal)) == sorted(by['comm,dso,symbol,sample'])
    terminal.types('Escape', 'Escape')
    terminal.waits(lambda: ' > ' not in terminal.lines()[0])
    choose('comm')
    terminal.types('Home', 't')
    terminal.waits(lambda: ' > by comm > thread ' in terminal.lines()[0])
    choose('dso')
    assert sorted(shown_rows(terminal)) == sorted(by_thread)
    # What needs more is read, which cannot be any more; the rows stay.
    terminal.types('c')
    terminal.waits(lambda: 'gone.data' in terminal.lines()[-1])
    assert sorted(shown_rows(terminal)) == sorted(by_thread)
    terminal.types(*['Escape'] * 3)
    terminal.waits(lambda: ' > ' not in terminal.lines()[0])
    terminal.ends()


@test
def events_are_side_by_side_as_in_the_text_and_sorted_by_each_of_them():
    can_record()
    program = ('sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; ls /usr/bin >there; sort there >sorted')
    for name, events in ('three.data', 'cpu-clock:u,task-clock:u,page-faults:u'), ('group.data', '{cpu-clock:u,page-faults:u}'):
        assert pace('record', '-q', '-g', '-e', events, '-o', name, *program).status == 0
    words = ['-i', 'three.data', '-g', 'none']
    single = [rows_of_text(*words, '--no-group')]
    terminal = Terminal(200, 50)
    terminal.opens(*words)
    terminal.types('v')
    terminal.waits(lambda: 'Which event' in terminal.lines()[0])
    samples = [int(line.split()[-2].replace(',', '')) for line in terminal.lines()[2:5]]
    counted = re.findall(r"'(\S+)'\n.*\n", pace('report', '--stdio', *words).out)
    assert [line.split()[0] for line in terminal.lines()[2:5]] == counted and min(samples) > 3, terminal.text()
    terminal.types('Down', 'Down', 'Enter')
    terminal.waits(lambda: 'event page-faults:u' in terminal.lines()[0])
    terminal.types('v', 'End', 'Enter')
    terminal.waits(lambda: '> side by side' in terminal.lines()[0] and 'events cpu-clock:u, task-clock:u, page-faults:u' in terminal.lines()[0])
    assert shown_rows(terminal) == rows_of_text(*words, '--group')
    for event, name in (1, 'task-clock:u'), (2, 'page-faults:u'), (0, 'cpu-clock:u'):
        terminal.types('o')
        terminal.waits(lambda: f'sorted by {name}' in terminal.lines()[-1])
        ours, theirs = shown_rows(terminal), rows_of_text(*words, '--group', '--group-sort-idx', str(event))
        # Equal shares have another order in the text: by the shares of other events.
        assert sorted(ours) == sorted(theirs) and [row.split()[event] for row in ours] == [row.split()[event] for row in theirs], (event, ours[:9], theirs[:9])
    # A zoom keeps them, and Esc goes back to single events.
    terminal.types('Home', 't')
    terminal.waits(lambda: ' > side by side > thread ' in terminal.lines()[0])
    comm = re.search('thread (.*)$', terminal.lines()[0]).group(1)
    assert shown_rows(terminal) == rows_of_text(*words, '--group', '-c', comm)
    terminal.types('Escape')
    terminal.waits(lambda: '> thread' not in terminal.lines()[0])
    terminal.types('c')
    terminal.waits(lambda: '--group' in terminal.lines()[-1])
    terminal.types('g')
    terminal.waits(lambda: ' > ' not in terminal.lines()[0])
    assert f'{single[0][0]}' in shown_rows(terminal)
    terminal.types('q')
    terminal.waits(lambda: terminal.state() == '0 1 0 1')
    words[1] = 'group.data'
    terminal.opens(*words)
    assert 'anon group' in terminal.lines()[0] and shown_rows(terminal) == rows_of_text(*words)
    terminal.types('g')
    terminal.waits(lambda: '> single events' in terminal.lines()[0] and '[1 of 2: Tab]' in terminal.lines()[0])
    terminal.ends()


@test
def flames_have_the_numbers_of_the_stacks():
    for path in recordings():
        sums = {}
        for line in pace('report', '-i', path, '--format', 'folded').out.splitlines():
            stack, n = line.rsplit(' ', 1)
            frames = stack.split(';')
            for i in range(len(frames) + 1):
                own = sums.setdefault(tuple(frames[:i]), [0, 0])
                own[0] += int(n)
                own[1] += int(n) * (i == len(frames))
        terminal = Terminal(200, 50)
        terminal.opens('-i', path)
        terminal.types('w')
        terminal.waits(lambda: 'Flame view' in terminal.lines()[0] and 'of all' in terminal.text())
        at, seen = (), 0
        for _ in range(12):
            share, own, n, name = re.match(r'([\d.]+)% of all, ([\d.]+)% own, (\d+) samples  (.*)', terminal.lines()[-2]).groups()
            at += (name,) if name != 'all' else ()
            assert at in sums and sums[at][0] == int(n), (path, at, n)
            # Shares are of periods, which rows by function have, too.
            assert not sums[at][1] or float(own) > 0 or int(n) < 5, (path, at, own)
            seen += 1
            if not any(len(stack) == len(at) + 1 and stack[:len(at)] == at for stack in sums):
                assert share == own, (path, at)
                break
            before = terminal.lines()[-2]
            terminal.types('Down')
            terminal.waits(lambda: terminal.lines()[-2] != before)
        assert seen > 1, path
        terminal.types('q')
        terminal.waits(lambda: 'h: help' in terminal.lines()[-1] and 'Flame view' not in terminal.text())
        terminal.ends()


@test
def a_range_of_time_has_the_rows_of_the_text_with_that_time():
    n = 0
    for path in recordings():
        words = ['-i', path, '-g', 'none']
        if not re.search(r'^ *[0-9.]+ *$', pace('script', '-i', path, '-F', 'time').out.replace(':', ''), re.M):
            continue
        terminal = Terminal(160, 40)
        terminal.opens(*words)
        for keys, more in (((), []), (('Home', 't'), options_of(words, 't', 0))):
            if more is None:
                continue
            terminal.types(*keys)
            terminal.waits(lambda: terminal.lines()[0].count(' > ') == bool(keys))
            terminal.types('T')
            terminal.waits(lambda: 'Samples over time' in terminal.lines()[0])
            terminal.types('PageDown', 'Space', *['PageDown'] * 9)
            terminal.waits(lambda: terminal.text().count('\u2501') == 91)
            shown = int(re.search(r': (\d+) samples$', terminal.lines()[-2]).group(1))
            terminal.types('Enter')
            terminal.waits(lambda: ' > time ' in terminal.lines()[0] or 'no samples' in terminal.lines()[-1])
            time = re.search(r' > time ([0-9.,]+)', terminal.lines()[0]).group(1)
            expected = rows_of_text(*words, '--time', time, *more)
            counted = pace('report', '-i', path, '-g', 'none', '-n', '-t', '|', '--time', time, *more, '--no-children').out
            assert shown == sum(int(line.split('|')[1]) for line in counted.splitlines() if line and line[0] != '#'), (path, time, shown)
            if expected:
                assert shown_rows(terminal) == expected, (path, time, more)
                n += 1
            terminal.types('Escape')
            terminal.waits(lambda: ' > time ' not in terminal.lines()[0])
        terminal.ends()
    assert n > 2, n


NOW = slice(BAR + 8, BAR + 18)  # the column that the text of diff does not have, behind the baseline's


def compared_rows(terminal):
    terminal.types('P')
    terminal.waits(lambda: "to 'pace.hist.0'" in terminal.text())
    with open('pace.hist.0', encoding='utf-8') as file:
        lines = file.read().splitlines()
    os.unlink('pace.hist.0')
    for line in lines:
        then, now, delta = (float(field.strip(' %') or 0) for field in (line[BAR:NOW.start], line[NOW], line[NOW.stop + 2:NOW.stop + 11]))
        assert abs(then + delta - now) < 0.016, line
    return [' '.join((line[BAR:NOW.start] + line[NOW.stop:]).split()) for line in lines]


def check_comparison(terminal, old, new):
    """The browser shows 'pace diff OLD -- NEW', its first event."""
    terminal.waits(lambda: ' -> ' in terminal.lines()[0] and 'q: back' in terminal.lines()[-1])
    assert terminal.lines()[1].split() == ['Baseline', 'Now', 'Delta', 'Abs', 'Change', 'Shared', 'Object', 'Symbol'], terminal.text()
    first = pace('diff', old, '--', new).out.split("\n# Event '")[0]
    expected = [' '.join(line.split()) for line in first.splitlines() if line and line[0] != '#']
    rows = compared_rows(terminal)
    assert expected and rows == expected, (rows[:5], expected[:5])
    # Sorted by what changed, by the symbol, and back.
    terminal.types('r', 'Home', 'Down', 'Down', 'Enter')
    terminal.waits(lambda: '1 of' in terminal.lines()[-1] and 'Sort rows' not in terminal.text())
    by_delta = compared_rows(terminal)
    deltas = [float(re.search(r'[+-][\d.]+(?=%)', row).group()) for row in by_delta]
    assert sorted(by_delta) == sorted(rows) and deltas == sorted(deltas, reverse=True), deltas[:9]
    terminal.types('r', 'Home', 'Down', 'Down', 'Down', 'Enter')
    terminal.waits(lambda: '1 of' in terminal.lines()[-1] and 'Sort rows' not in terminal.text())
    changes = [row.split()[2] for row in compared_rows(terminal) if re.match(r'[\d.]+% [+-][\d.]+% [+-][\d.]+%', row)]
    assert changes == sorted(changes, key=lambda text: -float(text.rstrip('%'))), changes[:9]
    # Searching finds and keeps rows by name.
    name = next(row.split()[-1] for row in rows if re.match(r'[a-z_]\w*$', row.split()[-1]))
    terminal.command(f'/^{re.escape(name)}$')
    terminal.waits(lambda: 'rows have /' in terminal.lines()[-1])
    assert all(line.split()[-1] == name for line in terminal.rows()), terminal.text()
    terminal.types('f')
    terminal.waits(lambda: 'all rows' in terminal.lines()[-1])
    terminal.types('Escape', 'i')
    terminal.waits(lambda: 'What was compared' in terminal.lines()[0] and 'In all: A' in terminal.text())
    terminal.types('q')
    terminal.waits(lambda: 'q: back' in terminal.lines()[-1] and ' -> ' in terminal.lines()[0])


@test
def other_recordings_of_the_folder_are_shown_and_compared():
    first, second, *_ = recordings()
    os.mkdir('folder')
    for name, path in (('-first.data', first), ('second.data', second)):
        shutil.copyfile(path, f'folder/{name}')
    with open('folder/no recording', 'w', encoding='utf-8') as file:
        file.write('PERFILE')
    os.chdir('folder')
    terminal = Terminal(200, 50)
    terminal.opens('-i', 'second.data', '-g', 'none')
    terminal.types('d', 's')
    terminal.waits(lambda: 'Show this recording' in terminal.lines()[0])
    assert [line.split()[0] for line in terminal.lines()[1:-1] if line.strip()] == ['-first.data'], terminal.text()
    terminal.types('Enter')
    terminal.waits(lambda: '-first.data' in terminal.lines()[0] and ' > ' not in terminal.lines()[0])
    assert shown_rows(terminal) == rows_of_text('-i', './-first.data', '-g', 'none')
    terminal.types('D')
    terminal.waits(lambda: 'What changed since' in terminal.lines()[0])
    terminal.types('Enter')
    check_comparison(terminal, 'second.data', './-first.data')
    terminal.types('q')
    terminal.waits(lambda: 'h: help' in terminal.lines()[-1])
    terminal.types('Escape', 'Escape')
    terminal.waits(lambda: 'second.data' in terminal.lines()[0] and ' > ' not in terminal.lines()[0])
    assert shown_rows(terminal) == rows_of_text('-i', 'second.data', '-g', 'none')
    os.unlink('-first.data')
    terminal.types('s')
    terminal.waits(lambda: 'no other recording' in terminal.lines()[-1])
    terminal.types('q')
    terminal.waits(lambda: terminal.state() == '0 1 0 1')
    terminal.ends()
    os.chdir('..')


@test
def the_source_of_a_function_opens_in_the_editor():
    can_record()
    with open('spin.c', 'w', encoding='utf-8') as file:
        file.write('volatile long n;\n\n__attribute__((noinline)) void spin(void)\n{\n\tfor (long i = 0; i < 200000000; i++)\n\t\tn += i;\n}\n'
                   'int main(void)\n{\n\tspin();\n\treturn 0;\n}\n')
    assert run('cc', '-O1', '-g', '-o', 'spin', 'spin.c').status == 0
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-o', 'spin.data', './spin').status == 0
    with open('editor', 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\necho "$@" >opened\necho this is the editor\nread answer\nexit "$answer"\n')
    os.chmod('editor', 0o755)
    terminal = Terminal(120, 30, EDITOR=os.path.abspath('editor'))
    terminal.opens('-i', 'spin.data', '-s', 'sym')
    terminal.waits(lambda: '[.] spin' in terminal.text())
    terminal.command('/^spin$')
    for status in '0', '3':
        terminal.types('O')
        terminal.waits(lambda: 'this is the editor' in terminal.text())
        assert terminal.state() == '0 1 0 1'
        with open('opened', encoding='utf-8') as file:
            line, path = file.read().split()
        assert int(line[1:]) in (3, 4, 5) and os.path.samefile(path, 'spin.c'), (line, path)
        terminal.command(status)
        terminal.waits(lambda: terminal.state() == '1 0 1 0' and '[.] spin' in terminal.text())
    assert 'the editor failed' in terminal.lines()[-1]
    os.unlink('spin.c')
    terminal.types('O')
    terminal.waits(lambda: "spin.c'" in terminal.lines()[-1])
    terminal.types('q')
    terminal.waits(lambda: terminal.state() == '0 1 0 1')
    terminal.ends()


# What each action shows, of the first row of a recording.
ACTIONS = {'a': 'this function itself|Percent|no function', 'd': ' > file |only in what it called', 't': ' > thread ', 'z': ' > through |no function',
           '*': 'rows have /|no function', 'w': 'Flame view', 'T': 'Samples over time', 'c': ' > intervals', 'C': ' > calle?r?s', 'b': '-b: the recording has no',
           'v': 'there is one table', 'g': 'the recording has one event',
           's': 'no other recording|Show this recording', 'D': 'no other recording|What changed since', 'O': "no debug information|': |no function"}


@test
def keys_typed_ahead_are_for_the_view_below_and_then_for_the_shell():
    path = recordings()[0]
    for end in 'ncurses', 'ansi':
        terminal = Terminal(120, 30, PACE_SCREEN=end)
        terminal.opens('-i', path)
        # Flames, back; time, back; help, back; the end of a search that finds nothing; and out.
        terminal.types('-l', 'wqTqhq/nobody\rnq' + f'echo after the {end} end\r')
        terminal.waits(lambda: f'after the {end} end' in terminal.lines())
        assert terminal.state() == '0 1 0 1'
        # What is typed before there is a screen is for the screen, too.
        terminal.types('-l', f'clear; {shlex.quote(PACE)} report -i {path}\rwqqecho then the shell\r')
        terminal.waits(lambda: 'then the shell' in terminal.lines())
        terminal.ends()


@test
def every_action_has_its_key_and_its_row_in_the_menu():
    with open(os.path.join(TOP, 'src/cmd/report/report_actions.c'), encoding='utf-8') as file:
        table = file.read().split('report_actions[] = {')[1].split('};')[0]
    keys = re.findall(r'^\t\{[^"]+ "([^"]+)",', table, re.M)
    assert set(keys) == set(ACTIONS), set(keys) ^ set(ACTIONS)
    path = recordings()[0]
    terminal = Terminal(120, 30)
    terminal.opens('-i', path, '--no-children')
    terminal.types('m')
    terminal.waits(lambda: 'What to do' in terminal.lines()[0])
    menu = terminal.text()
    assert sum(f'[{key}]' in menu for key in keys) > 6, menu
    terminal.types('q')
    for key in keys:
        terminal.waits(lambda: 'h: help' in terminal.lines()[-1])
        terminal.types(key)
        terminal.waits(lambda: re.search(ACTIONS[key], terminal.text()))
        if re.search(' > |rows have /', terminal.text()):
            terminal.types('Escape')
        elif re.search('Flame view|Samples over time|What changed|Show this|Percent', terminal.text()):
            terminal.types('q')
        else:
            terminal.types('Down', 'Up')
        terminal.waits(lambda: 'h: help' in terminal.lines()[-1] and ' > ' not in terminal.lines()[0])
    terminal.types('q')
    terminal.waits(lambda: terminal.state() == '0 1 0 1')
    terminal.ends()


@test
def callers_stand_below_rows_as_in_the_text():
    write_folded('calls.folded', [('sh;main;a;b', 60), ('sh;main;c;b', 25), ('sh;main;d', 15)])
    graph = pace('report', '-i', 'calls.folded', '-g', 'callee').out.split('%  b\n')[1].split('  0.00%')[0]
    drawn = re.findall(r'--([\d.]+%)--(\w+)\b', graph)
    terminal = Terminal()
    terminal.opens('-i', 'calls.folded')
    terminal.types('C')
    terminal.waits(lambda: ' > callers' in terminal.lines()[0])
    terminal.command('/^b$')
    terminal.waits(lambda: '1 of 1 lines' in terminal.lines()[-1])
    terminal.types('e')
    terminal.waits(lambda: len(terminal.rows()) > 3)
    shown = dict(line.split()[-1:] + [next(word for word in line.split() if '%' in word)] for line in terminal.rows()[1:])
    assert len(drawn) == 2 and all(shown[name] == share for share, name in drawn) and shown['main'], (shown, drawn, graph)
    terminal.ends()


@test
def the_screen_follows_the_size_of_the_window():
    write_plain('plain.folded')
    terminal = Terminal(80, 24)
    terminal.opens('-i', 'plain.folded')
    for columns, rows in (200, 50), (40, 10), (120, 30), (12, 3), (80, 24):
        terminal.tmux('resize-window', '-x', str(columns), '-y', str(rows))
        if rows <= 3:
            terminal.waits(lambda: 'too small' in terminal.text())
            continue
        terminal.waits(lambda: len(terminal.lines()) == rows and terminal.lines()[-1].startswith('1 of 43 lines') and
                       len(terminal.rows()) == min(rows - 3, 43) and terminal.lines()[0].startswith(' event'))
        assert all(len(line) <= columns for line in terminal.lines())
    terminal.ends()


@test
def the_terminal_is_as_it_was_whatever_ends_the_browser():
    write_plain('plain.folded')
    for how in ('q', 'Escape', 'C-c', signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT):
        terminal = Terminal()
        terminal.command('stty -g >before; echo this was there')
        terminal.waits(lambda: os.path.exists('before') and 'this was there' in terminal.lines())
        before = terminal.state()
        terminal.opens('-i', 'plain.folded')
        assert terminal.state() == '1 0 1 0' and before == '0 1 0 1', (terminal.state(), before)
        assert 'this was there' not in terminal.text()
        if isinstance(how, str):
            terminal.types(how)
        else:
            os.kill(pid_of(terminal), how)
        terminal.waits(lambda: terminal.state() == before)
        terminal.command('echo status $?; stty -g >later; mv later after')
        terminal.waits(lambda: os.path.exists('after') and re.search(r'^status \d+$', terminal.text('-S', '-100'), re.M))
        status = int(re.search(r'^status (\d+)$', terminal.text('-S', '-100'), re.M).group(1))
        # The sanitizers end by SIGABRT where the kernel would by SIGSEGV.
        ends = {'q': [0], 'Escape': [0], 'C-c': [130]}.get(how) or [128 + how, 128 + signal.SIGABRT]
        assert status in ends, (how, status)
        with open('before', encoding='utf-8') as first, open('after', encoding='utf-8') as second:
            assert first.read() == second.read(), how
        assert 'this was there' in terminal.text('-S', '-100')
        for name in ('before', 'after'):
            os.unlink(name)
        terminal.ends()


@test
def a_stopped_browser_gives_the_terminal_back_and_goes_on_with_fg():
    write_plain('plain.folded')
    for stops in (lambda t: t.types('C-z'), lambda t: os.kill(pid_of(t), signal.SIGTSTP)):
        terminal = Terminal()
        terminal.opens('-i', 'plain.folded')
        terminal.types('Down', 'Down')
        terminal.waits(lambda: terminal.lines()[-1].startswith('3 of 43'))
        screen = terminal.text('-e')
        stops(terminal)
        terminal.waits(lambda: terminal.state() == '0 1 0 1' and 'Stopped' in terminal.text())
        terminal.command('echo another screen; fg')
        terminal.waits(lambda: terminal.state() == '1 0 1 0' and terminal.text('-e') == screen)
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.ends()


@test
def a_terminal_that_is_closed_ends_the_browser():
    write_plain('plain.folded')
    terminal = Terminal()
    terminal.opens('-i', 'plain.folded')
    pid = pid_of(terminal)
    assert 'report' in commands()[pid]
    terminal.ends()
    wait_for(lambda: 'report' not in commands().get(pid, ''))


@test
def colours_are_those_that_the_terminal_has():
    write_plain('plain.folded')
    for env, has, lacks in (({'COLORTERM': 'truecolor'}, '[34]8;2;', None), ({}, '38;5;', '38;2;'), ({'TERM': 'xterm'}, r'\x1b\[3[1-7]m', '38;'),
                            ({'NO_COLOR': '1', 'COLORTERM': 'truecolor'}, None, r'\x1b\[([34][0-7]|[34]8)')):
        terminal = Terminal(**env)
        terminal.opens('-i', 'plain.folded')
        text = '\n'.join(terminal.text('-e').splitlines()[1:])
        assert (not has or re.search(has, text)) and (not lacks or not re.search(lacks, text)), (env, text)
        terminal.ends()


@test
def a_hostile_name_changes_nothing_but_its_own_cell():
    def shown(name):
        write_folded('names.folded', [('sh;main;first', 30), (b'sh;main;' + (name if isinstance(name, bytes) else name.encode()), 20), ('sh;main;last', 10)])
        terminal = Terminal(100, 12)
        terminal.opens('-i', 'names.folded', '-s', 'symbol,comm')
        lines = terminal.text().split('\n')
        terminal.types('>')
        terminal.waits(lambda: terminal.lines()[-1].startswith('4 of 4'))
        moved = terminal.text().split('\n')
        assert moved[:-2] == lines[:-2], (name, lines, moved)
        terminal.ends()
        return lines
    plain = shown('plain')
    row = next(i for i, line in enumerate(plain) if 'plain' in line)
    for what, name in HOSTILE.items():
        lines = shown(name)
        assert len(lines) == len(plain), what
        for i, (ours, theirs) in enumerate(zip(lines, plain)):
            # A longer name makes its column wider, and moves those behind it, which is the same in all rows.
            assert ours.split() == theirs.split() if i not in (0, row) else i == 0 or ours.split()[:3] == theirs.split()[:3], (what, ours, theirs)
        assert lines[row].rstrip().endswith('sh'), (what, lines[row])
        starts = {line.rindex('sh') for i, line in enumerate(lines) if line.rstrip().endswith('sh') and i != row}
        assert len(starts) == 1, (what, lines)


@test
def without_a_terminal_or_a_cursor_it_is_plain_text():
    write_plain('plain.folded')
    plain = pace('report', '-i', 'plain.folded')
    result = pace('report', '--tui', '-i', 'plain.folded')
    assert result.status == 0 and result.out == plain.out and '--tui needs a terminal' in result.err, result
    result = pace('report', '--tui', '--stdio', '-i', 'plain.folded')
    assert result.status == 0 and (result.out, result.err) == (plain.out, plain.err), result
    terminal = Terminal(200, 50, TERM='dumb')
    terminal.command(f'{shlex.quote(PACE)} report --tui -i plain.folded 2>said; echo done')
    terminal.waits(lambda: 'done' in terminal.lines())
    assert terminal.state() == '0 1 0 1' and '--tui needs a terminal' in open('said', encoding='utf-8').read()
    terminal.ends()
    for words in (['--json'], ['--hierarchy'], ['--budget', '10'], ['-D'], ['--html', 'x.html'], ['--format', 'csv']):
        result = pace('report', '--tui', '-i', 'plain.folded', *words)
        assert result.status == 2 and '--tui' in result.err and not result.out and not os.path.exists('x.html'), (words, result)


main()
