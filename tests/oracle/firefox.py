"""Firefox without a window, by its own remote protocol (Marionette), which needs no other program: a second engine for the pages."""
import json
import os
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import PATIENCE, skip

# No network: neither for itself nor for pages.
PREFERENCES = {'marionette.port': 0, 'browser.shell.checkDefaultBrowser': False, 'datareporting.policy.dataSubmissionEnabled': False,
               'app.update.disabledForTesting': True, 'network.proxy.type': 1, 'network.proxy.http': '127.0.0.1', 'network.proxy.http_port': 9,
               'network.proxy.ssl': '127.0.0.1', 'network.proxy.ssl_port': 9, 'browser.aboutwelcome.enabled': False,
               'toolkit.telemetry.enabled': False, 'extensions.update.enabled': False}


class Firefox:
    """with Firefox() as firefox: firefox.open(path); firefox.run('return document.title')"""

    def __enter__(self):
        program = shutil.which('firefox-esr') or shutil.which('firefox')
        if not program:
            skip('firefox-esr is not installed')
        os.makedirs('profile')
        with open('profile/user.js', 'w', encoding='utf-8') as file:
            file.writelines(f'user_pref({json.dumps(name)}, {json.dumps(value)});\n' for name, value in PREFERENCES.items())
        self.process = subprocess.Popen([program, '--headless', '--no-remote', '--marionette', '--profile', os.path.abspath('profile')],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=os.path.abspath('.')))
        until = time.monotonic() + PATIENCE
        self.socket = None
        while not self.socket:
            try:
                with open('profile/MarionetteActivePort', encoding='ascii') as file:
                    self.socket = socket.create_connection(('127.0.0.1', int(file.read())), timeout=PATIENCE)
            except (OSError, ValueError):
                if time.monotonic() > until or self.process.poll() is not None:
                    self.process.kill()
                    skip('firefox does not start here')
                time.sleep(0.2)
        self.buffer, self.id = b'', 0
        self.receive()
        self.ask('WebDriver:NewSession', {'capabilities': {'alwaysMatch': {'acceptInsecureCerts': False}}})
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def receive(self):
        """A message: its length, a colon, JSON."""
        while b':' not in self.buffer or len(self.buffer) < self.buffer.index(b':') + 1 + int(self.buffer[:self.buffer.index(b':')]):
            part = self.socket.recv(1 << 16)
            assert part, 'firefox has closed the connection'
            self.buffer += part
        start = self.buffer.index(b':') + 1
        end = start + int(self.buffer[:start - 1])
        message, self.buffer = json.loads(self.buffer[start:end]), self.buffer[end:]
        return message

    def ask(self, command, parameters):
        self.id += 1
        text = json.dumps([0, self.id, command, parameters])
        self.socket.sendall(f'{len(text)}:{text}'.encode())
        _, answered, error, result = self.receive()
        assert answered == self.id and not error, (command, error)
        return result

    def open(self, path, fragment=''):
        """Opens a page and waits until it says that it is ready."""
        self.ask('WebDriver:Navigate', {'url': 'about:blank'})
        self.ask('WebDriver:Navigate', {'url': f'file://{os.path.abspath(path)}{fragment}'})
        until = time.monotonic() + PATIENCE
        while not self.run('return document.documentElement.dataset.ready'):
            assert time.monotonic() < until, self.run('return document.body.textContent.slice(0, 500)')
            time.sleep(0.1)

    def run(self, script):
        """What a function with this body returns, or what its promise becomes."""
        return self.ask('WebDriver:ExecuteScript', {'script': script, 'args': [], 'sandbox': None})['value']
