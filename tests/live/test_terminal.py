#!/usr/bin/env python3
"""What pace does on a terminal and nowhere else: the pager."""
import errno
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
sys.path.insert(0, os.path.join(TOP, 'tests/oracle'))
import handmade  # noqa: E402

WORDCOUNT = os.path.join(TOP, 'tests/golden/data/wordcount.data')
MARK = "sed s/^/P:/"  # a pager that shows what went through it


class Terminal:
    """A command on a terminal of its own, as its session's leader: keys are typed with type(), text is what it shows."""

    def __init__(self, *args, rows=24, columns=80, program=PACE, **env):
        variables = dict(os.environ, TERM='xterm', NO_COLOR='1', PACE_TUI='0')
        for name in ('PACE_PAGER', 'PAGER', 'LESS'):
            variables.pop(name, None)
        variables.update(env)
        self.text, self.status = '', None
        self.pid, self.fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
            os.execve(program, [program, *args], variables)

    def read(self, until=None):
        """Reads until there is this text, or to the end."""
        end = time.monotonic() + PATIENCE
        while until is None or until not in self.text:
            assert select.select([self.fd], [], [], end - time.monotonic())[0], f'nothing more comes: {self.text!r}'
            try:
                got = os.read(self.fd, 1 << 16)
            except OSError as error:  # nobody has the other end any more
                assert error.errno == errno.EIO and until is None, self.text
                break
            self.text += got.decode(errors='replace').replace('\r', '')
        return self.text

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def close(self):
        """Reads the rest; returns the exit status, negative for a signal."""
        self.read()
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def show(*args, **how):
    """What the terminal shows, and the status."""
    terminal = Terminal(*args, **how)
    status = terminal.close()
    return terminal.text, status


def marked(text):
    return ''.join(f'P:{line}\n' for line in text.splitlines())


@test
def text_on_a_terminal_goes_through_the_pager():
    report = ['report', '-i', WORDCOUNT, '-s', 'comm']
    for words in (['help'], ['report', '-h'], ['record', '-h'], ['-h'], report, ['evlist', '-i', WORDCOUNT], ['script', '-i', WORDCOUNT]):
        plain = pace(*words)
        status, shown = plain.status, marked(plain.out)
        assert show(*words, PACE_PAGER=MARK, PAGER='false') == (shown, status), words
        assert show(*words, PAGER=MARK) == (shown, status), words
        for off in ({'PACE_PAGER': '', 'PAGER': MARK}, {'PAGER': 'cat'}, {'PAGER': MARK, 'TERM': 'dumb'}):
            assert show(*words, **off) == (plain.out, status), (words, off)
        assert show('--no-pager', *words, PAGER=MARK) == (plain.out, status), words
    # The options before the command; and of commands that do without by themselves.
    version = pace('version').out
    assert show('version', PAGER=MARK) == (version, 0)
    for option in ('-p', '--paginate', '--pager'):
        assert show(option, 'version', PAGER=MARK) == (marked(version), 0)
    assert show('-p', '--no-pager', 'version', PAGER=MARK) == (version, 0)


@test
def pipes_and_files_have_no_pager():
    for options in ([], ['-p']):
        result = run(PACE, *options, 'help', env=dict(os.environ, TERM='xterm', PACE_PAGER=MARK))
        assert result.out == pace('help').out and result.status == 0, result


@test
def the_status_is_that_of_the_command():
    text, status = show('report', '-i', WORDCOUNT, '--fail-if', 'self(main) >= 0%', PAGER=MARK)
    assert status == 4 and 'P:' in text, (status, text)
    text, status = show('report', '-i', 'missing.data', PAGER=MARK)
    assert status == 2 and "'missing.data'" in text and 'P:' not in text, (status, text)
    # A pager that fails when it has shown all is its own affair.
    assert show('version', '-h', PAGER='sed s/^/P:/; exit 5') == (marked(pace('version', '-h').out), 0)


@test
def a_pager_that_does_not_work_is_done_without():
    # Less than a pipe takes, and more.
    for words in (['help'], ['report', '-D', '-i', WORDCOUNT]):
        plain = pace(*words).out
        for pager in ('/nowhere/pager', 'false', 'true', 'sleep 0.1', 'exec /nowhere/pager; x', '/'):
            text, status = show(*words, PAGER=pager)
            said = [line for line in text.splitlines() if line.startswith('note: ')]
            assert status == 0 and len(said) == 1 and f"'{pager}', which PAGER names" in said[0], (words, pager, said, status)
            assert text.endswith(plain) and text.count(plain) == 1, (words, pager, text[:3000])
    empty = os.path.abspath('bin')
    os.mkdir(empty)
    assert show('help', PATH=empty) == (pace('help').out, 0)  # no less, and nobody asked for one


@test
def less_can_be_left_before_the_end():
    needs('less')
    terminal = Terminal('script', '-i', WORDCOUNT)
    terminal.read(until='\n:')
    terminal.type('q')
    assert terminal.close() == 0 and 'roken' not in terminal.text, terminal.text
    assert len(terminal.text.splitlines()) < 40, terminal.text
    # What fits on the screen is no reason to wait.
    text, status = show('version')
    assert status == 0 and text == pace('version').out, text
    text, status = show('evlist', '-i', WORDCOUNT)
    assert status == 0 and pace('evlist', '-i', WORDCOUNT).out.strip() in text, text


@test
def a_signal_ends_the_command_after_the_pager():
    needs('less')
    for number in (signal.SIGTERM, signal.SIGHUP):
        terminal = Terminal('script', '-i', WORDCOUNT)
        terminal.read(until='\n:')
        os.kill(terminal.pid, number)
        time.sleep(0.1)
        assert os.waitpid(terminal.pid, os.WNOHANG) == (0, 0), 'the shell has the terminal while less reads it'
        terminal.type('q')
        assert terminal.close() == -number, terminal.text


@test
def messages_come_in_order_with_the_text():
    # After the text has begun; before it they stand on the terminal.
    data = open(WORDCOUNT, 'rb').read()
    open('cut.data', 'wb').write(data[:len(data) * 3 // 4])
    plain = run(PACE, 'report', '-i', 'cut.data', '-s', 'comm')
    text, status = show('report', '-i', 'cut.data', '-s', 'comm', PAGER=MARK)
    assert plain.err and status == plain.status, plain
    lines = [line.removeprefix('P:') for line in text.splitlines()]
    assert sorted(lines) == sorted((plain.out + plain.err).splitlines()), (text, plain)


# ---- work that takes long ----

def many_samples(path, n):
    """A recording of n samples with callers; the same thousand over and over."""
    bits = handmade.IP | handmade.TID | handmade.TIME | handmade.CPU | handmade.PERIOD | handmade.CALLCHAIN
    handmade.write(path, bits, [{'ip': handmade.TEXT + i * 37 % 0xf000,
                                 'chain': [2**64 - 512] + [handmade.TEXT + (i * 7 + k * 131) % 0xf000 for k in range(12)]} for i in range(1000)])
    whole = open(path, 'rb').read()
    start = handmade.HEADER + handmade.ATTR + 16
    at = start
    while struct.unpack_from('<I', whole, at)[0] != handmade.SAMPLE:
        at += struct.unpack_from('<H', whole, at + 6)[0]
    with open(path, 'wb') as file:
        file.write(whole[:48] + struct.pack('<Q', at - start + (len(whole) - at) * (n // 1000)) + whole[56:at])
        for _ in range(n // 1000):
            file.write(whole[at:])


def shown_at_last(text):
    """The lines of the terminal after everything was drawn: \\r goes back, ESC [K erases."""
    return [line.split('\x1b[K')[-1] for line in text.split('\n')]


@test
def reading_that_takes_long_shows_how_far_it_is_and_can_be_ended():
    many_samples('many.data', 3000000)
    words = ['--no-pager', 'report', '-i', 'many.data', '-s', 'comm']
    terminal = Terminal(*words)
    text = terminal.read(until='s left, Ctrl-C')
    assert "[ reading 'many.data': " in text and '%, ' in text and text.count('\n') == 0, text
    terminal.type('\x03')
    status = terminal.close()
    lines = shown_at_last(terminal.text)
    account = [line for line in lines if line.startswith('# 3,000,000 samples recorded') or ' of the file were not read because' in line]
    assert status == 1 and account and not any('[ reading' in line for line in lines), (status, lines)
    assert any(line.startswith('warning: ') and 'not read because reading was stopped' in line for line in lines), lines
    assert any('100.00%' in line and 'made' in line for line in lines), lines
    # Nothing was stopped: the line goes, and the report is the one of a pipe.
    plain = pace(*words)
    text, status = show(*words)
    assert '[ reading' in text and status == plain.status == 0 and plain.err == '', (text, plain)
    assert [line for line in shown_at_last(text) if line] == [line for line in plain.out.splitlines() if line], text
    # A terminal that cannot erase a line gets none, nor does one where somebody else is in the foreground.
    text, status = show(*words, TERM='dumb')
    assert '[ reading' not in text and status == 0, text
    text, status = show('-mc', f"'{PACE}' --no-pager report -i many.data -s comm & wait $!", program='/bin/sh')
    assert '[ reading' not in text and '100.00%' in text and status == 0, text


@test
def what_walks_a_recording_in_its_order_shows_how_far_it_is():
    many_samples('many.data', 1000000)
    # A file takes the text; the terminal has the line.
    words = ['-c', f"exec '{PACE}' script -i many.data -F comm,ip >lines"]
    terminal = Terminal(*words, program='/bin/sh')
    text = terminal.read(until='s left, Ctrl-C keeps')
    assert "[ writing the samples of 'many.data': " in text and '%, ' in text and text.count('\n') == 0, text
    terminal.type('\x03')
    status = terminal.close()
    lines = shown_at_last(terminal.text)
    assert status == 1 and not any('[ writing' in line for line in lines), (status, lines)
    assert any(' bytes of the file were not read because reading was stopped' in line for line in lines), lines
    written = open('lines', encoding='utf-8').read()
    assert written.endswith('\n') and 'made' in written and written.count('\n\n') < 1000000, written[-200:]
    # What is shown on the terminal says itself how far it is.
    text, status = show('--no-pager', 'script', '-i', 'many.data', '-F', 'comm', '--time', '0,0.0000001')
    assert '[ writing' not in text and status == 0, text[-500:]
    # A file that comes through a pipe, whose size nobody knows.
    text, status = show('-c', f"(cat many.data; sleep 1) | '{PACE}' --no-pager report -i - -s comm", program='/bin/sh')
    assert "[ reading '-': 0 s ]" in text or "[ reading '-': 1 s ]" in text, text[-500:]
    assert status == 0 and any('100.00%' in line and 'made' in line for line in shown_at_last(text)), text[-500:]


@test
def a_timechart_shows_how_far_it_is_and_draws_what_was_read():
    s = handmade.Scheduler('sched.data')
    for i in range(800000):
        s.switch(10**9 + 5000 * i, 0, 7 * (i % 2), 0, 7 * (1 - i % 2))
    s.close()
    terminal = Terminal('timechart', '-i', 'sched.data', '-o', 'part.svg')
    text = terminal.read(until='s left, Ctrl-C draws what was read')
    assert "[ reading 'sched.data': " in text and '%, ' in text, text
    terminal.type('\x03')
    status = terminal.close()
    lines = shown_at_last(terminal.text)
    assert any(' bytes of the file were not read because reading was stopped' in line for line in lines), (status, lines)
    assert 'task7' in open('part.svg', encoding='utf-8').read() and status == 1, (status, lines)


# ---- counts in place ----

@test
def intervals_are_drawn_in_place_where_nobody_else_writes():
    words = ['stat', '-I', '100', '-e', 'task-clock,page-faults']
    drawn, plain = '\x1b[3A\r\x1b[J'.replace('\r', ''), '#           time '
    for more, is_live in ((['-a', '--timeout', '700'], True), (['sleep', '0.5'], True), (['sh', '-c', 'sleep 0.5'], False),
                          (['--sparklines', 'sh', '-c', 'sleep 0.5'], True), (['--no-sparklines', 'sleep', '0.5'], False),
                          (['-x,', 'sleep', '0.5'], False), (['-j', 'sleep', '0.5'], False), (['-o', 'out', 'sleep', '0.5'], False)):
        text, status = show(*words, *more, LC_ALL='C.UTF-8')
        assert status == 0 and (drawn in text) == is_live, (more, text)
        assert any(block in text for block in '▁▂▃▄▅▆▇█') == is_live, (more, text)
        assert not is_live or plain not in text, (more, text)
    text, status = show(*words, 'sleep', '0.5', LC_ALL='C')
    assert status == 0 and drawn in text and '#' in text.split('task-clock')[-1] and text.isascii(), text
    text, status = show(*words, 'sleep', '0.5', TERM='dumb')
    assert status == 0 and '\x1b' not in text and plain in text, text
    # Pipes get what they always got.
    assert plain in pace(*words, '--sparklines', 'sleep', '0.3').err


main()
