#!/usr/bin/env python3
"""annotate in terminals that others wrote (tmux, xterm.js): the text's figures, keys, sizes, colours, and what is left behind; with each back end."""
import os
import re
import shlex
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
import window  # noqa: E402
from window import pid_of  # noqa: E402
from xterm import Pty, Xterm  # noqa: E402

# The back ends that this pace has here.
ENDS = ['ansi'] + ['ncurses'] * bool(re.search(r'libncursesw: \[ on', pace('version', '--build-options').out))
PROGRAM = r'''
#include <stdlib.h>
struct node { long key; struct node *next; double weight; };
static struct node *list;
__attribute__((noinline)) long walk(struct node *n, long limit)
{
	long sum = 0;
	for (; n; n = n->next) {
		if (n->key > limit)
			sum += n->key;
		else
			sum -= (long)(n->weight * 2);
	}
	return sum;
}
__attribute__((noinline)) int cold(int x) { return x * 3; }
static inline long twice(long x) { return walk(list, x) * 2; }
__attribute__((noinline)) long middle(int i)
{
	for (volatile int wait = 0; wait < 500; wait++)
		;
	return twice(i % 1000) + cold(i);
}
int main(void)
{
	volatile long total = 0;
	for (int i = 0; i < 2000; i++) {
		struct node *x = malloc(sizeof(*x));
		*x = (struct node){i * 7919 % 1000, list, i};
		list = x;
	}
	for (int i = 0; i < 40000; i++)
		total += middle(i);
	return 0;
}
'''
# "   12.50 :   1a2b:   ,-> movq" of the text; "   12.50 | 1a2b:" of the screen.
TEXT_ROW = re.compile(r'^((?: +[\d.]+)+) : +([0-9a-f]+): +(.*)$', re.M)
SCREEN_ROW = re.compile('^([ \\d.]*?) \u2502 ([0-9a-f]+):(.*)$', re.M)


def recording(name='two.data', *events):
    """Of walk(), which is called by middle(), which is called by main(): two events, call chains."""
    can_record()
    if not os.path.exists('prog'):
        with open('prog.c', 'w', encoding='utf-8') as file:
            file.write(PROGRAM)
        build_c(os.path.abspath('prog.c'), 'prog', '-O2')
    result = pace('record', '-q', '-g', '-F', '2000', '-e', ','.join(events or ('cpu-clock:u', 'task-clock:u')), '-o', name, './prog')
    assert result.status == 0, result
    if 'there is no disassembler' in pace('annotate', '--stdio', '-i', name).out:
        skip('there is no disassembler')
    return name


def figures_of_text(*words):
    text = pace('annotate', '--stdio', *words)
    assert text.status == 0, text
    return {address: [float(figure) for figure in figures.split()] for figures, address, _ in TEXT_ROW.findall(text.out)}


def figures_on_screen(text, width=8):
    """Of the rows that are shown: address to figures; nothing stands for 0."""
    shown = {}
    for figures, address, _ in SCREEN_ROW.findall(text):
        columns = [figures.ljust(2 * width)[i * width:(i + 1) * width] for i in range(2)]
        shown[address] = [float(column.strip() or 0) for column in columns]
    return shown


class Terminal(window.Terminal):
    def opens(self, *words, command='annotate'):
        # What is typed before the last view has ended is that one's.
        self.waits(lambda: self.state() == '0 1 0 1')
        super().opens(*words, command=command)

    def presses(self, key, until):
        self.types(key)
        self.waits(lambda: until(self.text()))

    def cursor(self):
        """The line that is drawn reversed."""
        lines = self.text('-e').splitlines()[1:]
        return next((re.sub('\x1b\\[[0-9;]*m', '', line) for line in lines if '\x1b[7m' in line), '')


@test
def annotate_opens_on_terminals_and_prints_text_elsewhere():
    data = recording()
    text = pace('annotate', '-i', data, 'walk')
    assert text.status == 0 and 'walk' in text.out and text.out == pace('annotate', '--stdio', '-i', data, 'walk').out
    assert pace('annotate', '--no-tui', '-i', data, 'walk').out == text.out
    told = pace('annotate', '--tui', '-i', data, 'walk')
    assert told.out == text.out and '--tui needs a terminal' in told.err, told
    shell = shlex.quote(PACE)
    terminal = Terminal(200, 50, PAGER='cat')
    for i, (command, opens) in enumerate(((f'{shell} annotate -i {data}', True), (f'{shell} annotate -i {data} middle', True), (f'{shell} annotate {data} --tui -q', True),
                           (f'{shell} annotate -i {data} --stdio', False), (f'PACE_TUI=0 {shell} annotate -i {data}', False),
                           (f'{shell} annotate -i {data} --all', False), (f'{shell} annotate -i {data} --context 1', False),
                           (f'TERM=dumb {shell} annotate -i {data}', False), (f'{shell} annotate -i {data} | cat', False),
                           (f'{shell} annotate -i {data} </dev/null', False))):
        terminal.command(f'clear; {command}; echo over {i} $?')
        if opens:
            terminal.waits(lambda: 'h: help' in terminal.text())
            assert terminal.state().startswith('1 0')
            assert terminal.lines()[0].startswith(' middle' if 'middle' in command else ' walk'), terminal.text()
            terminal.types('q')
        terminal.waits(lambda: f'over {i} 0' in terminal.lines())
        assert terminal.state() == '0 1 0 1', command
    terminal.ends()


@test
def every_instruction_has_the_figures_of_the_text_in_every_percentage():
    data = recording()
    for end in ENDS:
        for columns, rows in (80, 24), (160, 50):
            terminal = Terminal(columns, rows, PACE_SCREEN=end)
            terminal.opens('-i', data, 'walk')
            for kind in 'local-period', 'local-hits', 'global-period', 'global-hits':
                expected = figures_of_text('-i', data, '--percent-type', kind, 'walk')
                terminal.waits(lambda: kind.replace('-', ' ') in terminal.lines()[0])
                terminal.presses('End', lambda text: re.search(r'^(\d+) of \1 lines', text.splitlines()[-1]))
                shown = figures_on_screen(terminal.text())
                terminal.presses('Home', lambda text: text.splitlines()[-1].startswith('1 of '))
                shown.update(figures_on_screen(terminal.text()))
                if rows == 50:
                    assert shown == expected, (shown, expected)
                assert len(shown) > 12 and all(expected[address] == figures for address, figures in shown.items()), (shown, expected)
                terminal.types('t')
            terminal.ends()


@test
def the_cursor_begins_on_the_hottest_and_tab_goes_on_in_the_order_of_samples():
    data = recording()
    expected = figures_of_text('-i', data, 'walk')
    order = sorted((address for address in expected if any(expected[address])), key=lambda a: ([-figure for figure in expected[a]], a))
    for end in ENDS:
        terminal = Terminal(PACE_SCREEN=end)
        terminal.opens('-i', data, 'walk')
        for i in range(len(order) + 1):
            figures, address, _ = SCREEN_ROW.search(terminal.cursor()).groups()
            # Shares that are printed alike may differ.
            assert expected[address] == expected[order[i % len(order)]], (i, address, order)
            terminal.presses('Tab', lambda text: text.splitlines()[-1].startswith(f'{(i + 1) % len(order) + 1} of {len(order)} instructions'))
        terminal.presses('BTab', lambda text: text.splitlines()[-1].startswith(f'1 of {len(order)} instructions'))
        terminal.ends()


@test
def types_are_there_from_the_beginning_if_they_are_asked_for():
    if os.uname().machine != 'x86_64':
        skip('its instructions are those of x86')
    data = recording()
    terminal = Terminal(120, 50)
    terminal.opens('-i', data, '--code-with-type', 'walk')
    assert 'struct node.weight' in terminal.text() and 'struct node.next' in terminal.text()
    terminal.presses('T', lambda text: 'struct node.weight' not in text)
    terminal.ends()


@test
def keys_show_source_bytes_types_and_another_syntax_and_follow_calls():
    if os.uname().machine != 'x86_64':
        skip('its instructions are those of x86')
    data = recording()
    for end in ENDS:
        terminal = Terminal(120, 50, PACE_SCREEN=end)
        terminal.opens('-i', data, 'walk')
        assert 'sum -= (long)(n->weight * 2);' in terminal.text() and 'walk() prog.c' in terminal.text()
        terminal.presses('s', lambda text: 'n->weight' not in text)
        terminal.presses('T', lambda text: 'struct node.weight' in text and 'struct node.next' in text)
        terminal.presses('o', lambda text: re.search('[0-9a-f]{4}: .{4}48 8b', text))
        terminal.presses('a', lambda text: not SCREEN_ROW.search(text))
        terminal.presses('a', SCREEN_ROW.search)
        assert '%rdi' in terminal.text()
        terminal.presses('i', lambda text: '%rdi' not in text and 'rdi' in text)
        terminal.presses('/', lambda text: text.splitlines()[-1].startswith('/'))
        terminal.types('-l', 'cvttsd2si')
        terminal.types('Enter')
        terminal.waits(lambda: 'cvttsd2si' in terminal.cursor())
        terminal.presses('l', lambda text: 'Functions with samples' in text)
        terminal.presses('q', lambda text: 'walk' in text.splitlines()[0])
        terminal.types('q')
        terminal.opens('-i', data, 'middle')
        terminal.types('/')
        terminal.types('-l', '<cold>')
        terminal.types('Enter')
        terminal.waits(lambda: '<cold>' in terminal.cursor())
        # Nobody has sampled it.
        terminal.presses('Enter', lambda text: text.startswith(' cold  prog') and 'lea' in text)
        terminal.presses('BSpace', lambda text: text.startswith(' middle  prog') and '<cold>' in terminal.cursor())
        terminal.presses('Left', lambda text: 'h: help' not in text)
        terminal.ends()


@test
def the_text_is_what_a_snapshot_has():
    data = recording()
    terminal = Terminal()
    terminal.opens('-i', data, 'walk')
    terminal.presses('P', lambda text: "to 'pace.annotate.0'" in text)
    with open('pace.annotate.0', encoding='utf-8') as file:
        assert file.read() == pace('annotate', '--stdio', '-i', data, 'walk').out
    terminal.ends()


@test
def the_code_that_report_shows_is_as_the_options_of_annotate_say():
    data = recording()
    terminal = Terminal(100, 24, PACE_SCREEN=ENDS[0])
    shown = {}
    for words in ([], ['-M', 'intel'], ['--asm-raw', '--no-source'], ['--percent-type', 'global-hits']):
        terminal.opens('-i', data, '--no-children', '-g', 'none', *words, command='report')
        terminal.presses('a', lambda text: text.startswith(' walk  prog'))
        text = shown[' '.join(words)] = terminal.text()
        expected = figures_of_text('-i', data, *words, 'walk')
        figures = figures_on_screen(text)
        assert len(figures) > 8 and all(expected[address] == of for address, of in figures.items()), (words, figures, expected)
        terminal.types('q', 'q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
    terminal.ends()
    in_bytes = re.compile(r'\b48 85 ff +testq')
    assert '%r' in shown[''] and '%r' not in shown['-M intel'] and 'n->key' not in shown['--asm-raw --no-source'], shown
    assert in_bytes.search(shown['--asm-raw --no-source']) and not in_bytes.search(shown['']), shown
    wrong = pace('report', '-i', data, '-M', 'nasm')
    assert wrong.status == 2 and "-M 'nasm' is neither att nor intel" in wrong.err, wrong


@test
def the_browser_of_report_annotates_the_function_of_its_line():
    data = recording()
    for end in ENDS:
        terminal = Terminal(100, 24, PACE_SCREEN=end)
        terminal.opens('-i', data, '--no-children', '-g', 'none', command='report')
        before = terminal.text()
        expected = figures_of_text('-i', data, 'walk')
        terminal.presses('a', lambda text: text.startswith(' walk  prog'))
        shown = figures_on_screen(terminal.text())
        assert len(shown) > 10 and all(expected[address] == figures for address, figures in shown.items()), (shown, expected)
        terminal.presses('q', lambda text: text == before)
        terminal.presses('m', lambda text: 'Annotate walk' in text)
        terminal.types('q', 'q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        # A function with samples only in what it calls, and a line without a function.
        terminal.opens('-i', data, '--children', '-s', 'sym', command='report')
        terminal.types('/')
        terminal.types('-l', 'middle')
        terminal.types('Enter')
        terminal.waits(lambda: '/middle' in terminal.lines()[-1])
        terminal.presses('a', lambda text: text.startswith(' middle  prog'))
        terminal.types('q', 'q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.opens('-i', data, '-s', 'comm', '-g', 'none', command='report')
        terminal.presses('a', lambda text: 'no function with a name' in text)
        terminal.ends()


@test
def a_zoom_leaves_the_code_the_samples_of_its_thread_and_time():
    can_record()
    with open('two.c', 'w', encoding='utf-8') as file:
        file.write(PROGRAM.replace('int main(', 'int one(') + '''
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			prctl(PR_SET_NAME, i ? "second" : "first");
			return one();
		} else if (i) {
			while (wait(NULL) > 0)
				;
		}
	return 0;
}
''')
    build_c(os.path.abspath('two.c'), 'two', '-O2')
    assert pace('record', '-q', '-F', '2000', '-e', 'cpu-clock:u', '-o', 'threads.data', './two').status == 0
    whole = figures_of_text('-i', 'threads.data', 'walk')
    parts = {name: figures_of_text('-i', 'threads.data', '--comms', name, 'walk') for name in ('first', 'second')}
    assert parts['first'] != whole != parts['second'] and parts['first'] != parts['second']
    terminal = Terminal(140, 60)
    terminal.opens('-i', 'threads.data', '--no-children', '-g', 'none', command='report')
    for name, expected in parts.items():
        terminal.command(f'/thread:{name} walk')
        terminal.waits(lambda: '1 of' in terminal.lines()[-1] and '/thread:' in terminal.lines()[-1])
        terminal.presses('t', lambda text: f' > thread {name}' in text)
        terminal.presses('a', lambda text: text.startswith(' walk  two') and f'threads.data > thread {name} ' in text)
        shown = figures_on_screen(terminal.text(), 10)
        assert len(shown) > 5 and all(expected[address] == figures[:1] for address, figures in shown.items()), (shown, expected)
        terminal.presses('q', lambda text: 'h: help' in text)
        terminal.presses('Escape', lambda text: '/thread:' not in text)
        terminal.presses('Escape', lambda text: ' > thread' not in text)
    # A range of time is in the title, too.
    terminal.presses('T', lambda text: 'Samples over time' in text)
    terminal.types('PageDown', 'Space', *['PageDown'] * 9, 'Enter')
    terminal.waits(lambda: ' > time ' in terminal.lines()[0])
    terminal.presses('a', lambda text: text.startswith(' walk  two') and 'threads.data > time ' in text)
    terminal.types('q', 'q')
    terminal.ends()


@test
def the_terminal_is_as_it_was_whatever_ends_the_view():
    data = recording()
    for end in ENDS:
        for command in 'annotate', 'report':
            for how in ('q', 'Escape', 'C-c', signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT) if command == 'annotate' else ('q', signal.SIGSEGV):
                terminal = Terminal(PACE_SCREEN=end)
                terminal.command('stty -g >before; echo this was there')
                terminal.waits(lambda: os.path.exists('before') and 'this was there' in terminal.lines())
                before = terminal.state()
                terminal.opens('-i', data, command=command)
                if command == 'report':
                    # The inner view ends the outer one, too, unless a key ends it.
                    terminal.presses('a', lambda text: 'q: back' in text)
                assert terminal.state() == '1 0 1 0' and before == '0 1 0 1', (terminal.state(), before)
                if isinstance(how, str):
                    terminal.types(how)
                else:
                    os.kill(pid_of(terminal), how)
                if command == 'report' and how in ('q', 'Escape'):
                    terminal.waits(lambda: 'q: quit' in terminal.text())
                    terminal.types('q')
                terminal.waits(lambda: terminal.state() == before)
                terminal.command('s=$?; stty -g >after; echo status $s')
                terminal.waits(lambda: os.path.exists('after') and re.search(r'^status \d+$', terminal.text('-S', '-100'), re.M))
                status = int(re.search(r'^status (\d+)$', terminal.text('-S', '-100'), re.M).group(1))
                # The sanitizers end by SIGABRT where the kernel would by SIGSEGV.
                assert status in ({'q': [0], 'Escape': [0], 'C-c': [130]}.get(how) or [128 + how, 128 + signal.SIGABRT]), (end, how, status)
                with open('before', encoding='utf-8') as first, open('after', encoding='utf-8') as second:
                    assert first.read() == second.read(), (end, how)
                assert 'this was there' in terminal.text('-S', '-100')
                for name in ('before', 'after'):
                    os.unlink(name)
                terminal.ends()


@test
def a_stopped_view_goes_on_with_fg_and_a_closed_terminal_ends_it():
    data = recording()
    for end in ENDS:
        terminal = Terminal(PACE_SCREEN=end)
        terminal.opens('-i', data, 'walk')
        terminal.presses('Home', lambda text: text.splitlines()[-1].startswith('1 of'))
        terminal.presses('Down', lambda text: text.splitlines()[-1].startswith('2 of'))
        screen = terminal.text('-e')
        terminal.types('C-z')
        terminal.waits(lambda: terminal.state() == '0 1 0 1' and 'Stopped' in terminal.text())
        terminal.command('echo another screen; fg')
        terminal.waits(lambda: terminal.state() == '1 0 1 0' and terminal.text('-e') == screen)
        # Keys and the mouse still work.
        terminal.presses('Home', lambda text: text.splitlines()[-1].startswith('1 of'))
        pid = pid_of(terminal)
        terminal.ends()
        wait_for(lambda: 'annotate' not in commands().get(pid, ''))


@test
def a_terminal_that_takes_nothing_does_not_keep_it_from_ending():
    data = recording()
    for end in ENDS:
        for sig in signal.SIGTERM, signal.SIGINT:
            stuck = Pty(PACE, 'annotate', '-i', data, columns=200, rows=60, PACE_SCREEN=end)
            wait_for(lambda: b'h: help' in stuck.seen or stuck.take() is None)
            # Until writing blocks: each key draws much.
            for _ in range(300):
                stuck.types('so')
            time.sleep(0.5)
            os.kill(stuck.pid, sig)
            deadline = time.monotonic() + PATIENCE
            while time.monotonic() < deadline:
                pid, status = os.waitpid(stuck.pid, os.WNOHANG)
                if pid:
                    break
                time.sleep(0.05)
            assert pid and os.waitstatus_to_exitcode(status) in (-sig, -signal.SIGABRT), (end, sig)
            os.close(stuck.fd)


@test
def an_unknown_terminal_gets_the_back_end_that_needs_no_description():
    data = recording()
    for term, name in (('nobody-has-it', ''), ('xterm-256color', '')):
        terminal = Terminal(TERM=term, PACE_SCREEN=name)
        terminal.opens('-i', data, 'walk')
        terminal.presses('Down', lambda text: 'h: help' in text)
        terminal.types('q')
        terminal.waits(lambda: terminal.state() == '0 1 0 1')
        terminal.ends()
    for env, reason in (({'PACE_SCREEN': 'slang'}, 'neither ncurses nor ansi'),
                        ({'PACE_SCREEN': 'ncurses', 'TERM': 'nobody-has-it'}, 'no terminal' if 'ncurses' in ENDS else 'ncurses')):
        terminal = Terminal(120, 24, **env)
        terminal.command(f'{shlex.quote(PACE)} annotate -i {data}; echo over $?')
        terminal.waits(lambda: re.search(r'^over [12]$', terminal.text(), re.M))
        assert reason in terminal.text() and terminal.state() == '0 1 0 1', terminal.text()
        terminal.ends()


# ---- xterm.js ----

SIZES = ((80, 24), (120, 40), (200, 60))


@test
def an_xterm_shows_the_text_at_every_size_in_true_colour():
    data = recording()
    expected = figures_of_text('-i', data, 'walk')
    for end in ENDS:
        for columns, rows in SIZES:
            terminal = Xterm(PACE, 'annotate', '-i', data, 'walk', columns=columns, rows=rows, PACE_SCREEN=end, COLORTERM='truecolor')
            shown = terminal.waits(lambda s: 'h: help' in s['lines'][-1])
            assert shown['buffer'] == 'alternate' and shown['mouse'] == 'vt200' and not shown['wraps'], shown
            first = shown['lines']
            figures = figures_on_screen('\n'.join(first))
            assert len(figures) > 8 and all(expected[address] == f for address, f in figures.items()), (figures, expected)
            # The hottest instruction is red, and the cursor is on it.
            hot = [runs for runs in shown['runs'][2:-1] if any('r' in run[4] for run in runs)]
            assert len(hot) == 1 and any(run[2] == '#ff5f5f' and 'r' in run[4] for run in hot[0]), hot
            assert any(run[2] == '#5fafaf' for runs in shown['runs'] for run in runs)
            for other in (*SIZES, (40, 12), (columns, rows)):
                terminal.sized(*other)

                # Parts of a picture may come late.
                def is_whole(s):
                    figures = figures_on_screen('\n'.join(s['lines']))
                    return ('h: help' in s['lines'][-1] and len(s['lines']) == other[1] and s['lines'][0].startswith(' walk') and figures and
                            all(expected[address] == f for address, f in figures.items()))
                terminal.waits(is_whole)
            terminal.waits(lambda s: s['lines'] == first)
            terminal.types('q')
            status, shown = terminal.ends()
            assert status == 0 and shown['buffer'] == 'normal' and shown['mouse'] == 'none' and shown['wraps'] and not shown['keys'], shown


@test
def an_xterm_s_mouse_moves_the_cursor_and_follows():
    data = recording()
    for end in ENDS:
        terminal = Xterm(PACE, 'annotate', '-i', data, 'walk', columns=100, rows=30, PACE_SCREEN=end)
        shown = terminal.waits(lambda s: 'h: help' in s['lines'][-1])
        row, line = next((i, line) for i, line in enumerate(shown['lines']) if '\u2191 j' in line)

        def click(column, row, button=0):
            """As xterm says it, in the way that it was asked for."""
            if b'?1006' in terminal.seen:
                terminal.types(f'\x1b[<{button};{column + 1};{row + 1}M\x1b[<{button};{column + 1};{row + 1}m')
            else:
                terminal.types(b'\x1b[M' + bytes((32 + button, 33 + column, 33 + row)) + b'\x1b[M' + bytes((35, 33 + column, 33 + row)))
        click(30, row)
        shown = terminal.waits(lambda s: 'Enter: go to' in s['lines'][-1])
        target = re.search('go to ([0-9a-f]+)', shown['lines'][-1]).group(1)
        click(30, row)
        shown = terminal.waits(lambda s: 'Enter: go to ' + target not in s['lines'][-1])
        cursor = next(i for i, runs in enumerate(shown['runs'][2:-1], 2) if any('r' in run[4] for run in runs))
        assert f' {target}:' in shown['lines'][cursor], shown['lines']
        number = int(shown['lines'][-1].split()[0])
        click(1, 5, 65)
        terminal.waits(lambda s: s['lines'][-1].split()[0] == str(number + 3))
        click(1, 5, 64)
        terminal.waits(lambda s: s['lines'][-1].split()[0] == str(number))
        terminal.types('q')
        assert terminal.ends()[0] == 0


@test
def an_xterm_shows_the_rows_of_report_at_every_size():
    data = recording()
    text = pace('report', '--stdio', '-g', 'none', '--no-children', '-i', data).out
    rows_of_text = [' '.join(line.split()) for line in text.splitlines() if line and not line.startswith('#')]
    for end in ENDS:
        for columns, rows in SIZES:
            terminal = Xterm(PACE, 'report', '-g', 'none', '--no-children', '-i', data, columns=columns, rows=rows, PACE_SCREEN=end, COLORTERM='truecolor')
            shown = terminal.waits(lambda s: 'h: help' in s['lines'][-1])
            first = ' '.join(shown['lines'][2][11:].split())
            assert first and rows_of_text[0].startswith(first), (first, rows_of_text)
            assert any(run[2] == '#ff5f5f' for run in shown['runs'][2]), shown['runs'][2]
            for other in (*SIZES, (columns, rows)):
                terminal.sized(*other)
                terminal.waits(lambda s: 'h: help' in s['lines'][-1] and len(s['lines']) == other[1] and ' '.join(s['lines'][2][11:].split())[:20] == first[:20])
            terminal.types('q')
            status, shown = terminal.ends()
            assert status == 0 and shown['buffer'] == 'normal' and shown['mouse'] == 'none', shown


main()
