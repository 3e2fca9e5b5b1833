"""A terminal of @xterm/headless around a command: what it shows, with colours; keys and sizes come from the test."""
import base64
import errno
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

from harness import PATIENCE, TOP

sys.path.insert(0, os.path.join(TOP, 'tests/oracle'))
from browser import MODULES, needs_module  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


class Pty:
    """A command on a terminal of its own, as its session's leader. What it writes is taken only when a test asks for it."""
    def __init__(self, *args, columns=80, rows=24, **env):
        variables = {name: value for name, value in os.environ.items() if name not in ('TMUX', 'NO_COLOR', 'COLORTERM')}
        variables.update({'LANG': 'C.UTF-8', 'LC_ALL': 'C.UTF-8', 'TERM': 'xterm-256color'}, **env)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
            os.execve(args[0], args, variables)
        self.seen, self.is_closed = b'', False

    def modes(self):
        return termios.tcgetattr(self.fd)

    def types(self, keys):
        os.write(self.fd, keys.encode() if isinstance(keys, str) else keys)

    def take(self, seconds=0.05):
        """What it has written since; b'' after a pause, or if it has closed its end."""
        if self.is_closed or not select.select([self.fd], [], [], seconds)[0]:
            return b''
        try:
            got = os.read(self.fd, 1 << 16)
        except OSError as error:
            assert error.errno == errno.EIO, error
            got = b''
        self.is_closed = not got
        self.seen += got
        return got

    def sized(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def status(self):
        """Takes the rest; the exit status, negative for a signal."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.take()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.take():
                    pass
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        raise AssertionError('it does not end')


class Xterm(Pty):
    def __init__(self, *args, columns=80, rows=24, **env):
        needs_module('@xterm/headless', '6.0.0')
        self.node = subprocess.Popen(['node', os.path.join(HERE, 'xterm.mjs'), MODULES, str(columns), str(rows)],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        super().__init__(*args, columns=columns, rows=rows, **env)

    def asks(self, **order):
        self.node.stdin.write(json.dumps(order) + '\n')
        self.node.stdin.flush()
        return json.loads(self.node.stdout.readline())

    def look(self):
        while got := self.take():
            self.asks(write=base64.b64encode(got).decode())
        return self.asks(look=True)

    def waits(self, condition):
        """Until what it shows is so; returns that."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            shown = self.look()
            if condition(shown):
                return shown
        raise AssertionError('the screen is:\n' + '\n'.join(shown['lines']))

    def sized(self, columns, rows):
        self.asks(resize=[columns, rows])
        super().sized(columns, rows)

    def ends(self):
        """The exit status, and what the terminal shows afterwards."""
        before = len(self.seen)
        status = self.status()
        self.asks(write=base64.b64encode(self.seen[before:]).decode())
        shown = self.asks(look=True)
        self.node.stdin.close()
        self.node.wait()
        return status, shown
