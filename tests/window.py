"""A terminal that others wrote, for tests of what is drawn on one."""
import os
import shlex

from harness import PACE, children, needs, run, wait_for

opened = []


class Terminal:
    """A window of tmux with a shell in it."""
    def __init__(self, columns=80, rows=24, **env):
        needs('tmux', 'bash', 'stty')
        # One that has just ended may still be there.
        self.socket = os.path.abspath(f'tmux{len(opened)}')
        opened.append(self)
        variables = dict({'LANG': 'C.UTF-8', 'LC_ALL': 'C.UTF-8', 'PS1': '$ ', 'TERM': 'xterm-256color', 'HISTFILE': '/dev/null'}, **env)
        words = ' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())
        clean = {name: value for name, value in os.environ.items() if name not in ('TMUX', 'NO_COLOR', 'COLORTERM')}
        assert run('tmux', '-u', '-f', '/dev/null', '-S', self.socket, 'new-session', '-d', '-x', str(columns), '-y', str(rows),
                   f'env {words} bash --norc --noprofile -i', env=dict(clean, LANG='C.UTF-8', LC_ALL='C.UTF-8')).status == 0
        self.waits(lambda: '$' in self.text())

    def tmux(self, *words):
        result = run('tmux', '-u', '-S', self.socket, *words)
        assert result.status == 0, result
        return result.out

    def text(self, *how):
        return self.tmux('capture-pane', '-p', *how)

    def lines(self):
        return self.text().splitlines()

    def state(self):
        """What programs switch on and off: the alternate screen, the cursor, the mouse, wrapping."""
        return self.tmux('display-message', '-p', '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{wrap_flag}').strip()

    def waits(self, condition):
        try:
            wait_for(condition)
        except AssertionError as e:
            raise AssertionError(f'{e}:\n{self.text()}') from None

    def types(self, *keys):
        self.tmux('send-keys', *keys)

    def command(self, text):
        self.types('-l', text)
        self.types('Enter')

    def opens(self, *words, command='report'):
        self.command(' '.join(map(shlex.quote, (PACE, command, *words))))
        self.waits(lambda: 'h: help' in self.text())

    def rows(self):
        return [line for line in self.lines()[2:-1] if line.strip()]

    def ends(self):
        self.tmux('kill-server')


def pid_of(terminal):
    """The command that runs in it."""
    shell = int(terminal.tmux('display-message', '-p', '#{pane_pid}'))
    wait_for(lambda: children(shell))
    return children(shell)[0]
