"""A browser without a window, for tests of pages and pictures; and names that no page may obey."""
import json
import os
import shutil
import subprocess

from harness import PATIENCE, needs, run, skip

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'pace', 'node')

HOSTILE = ['<script>alert(1)</script>', '<img src=x onerror=alert(2)>', ']]>', '</script><b>', '--><u>&lt;', 'a\u202eb', 'x' * 65536,
           '\x1b[31mred', '"\'`${7*7}', '__proto__', 'constructor']


def needs_module(name, version, folder=MODULES):
    """Gets a package with npm, once: into the cache, not into the repository."""
    needs('node', 'npm')
    where = os.path.join(folder, 'node_modules', name)
    if not os.path.exists(where):
        os.makedirs(folder, exist_ok=True)
        got = run('npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', f'{name}@{version}', timeout=120)
        if got.status or not os.path.exists(where):
            skip(f'npm cannot install {name}: {got.err.strip()[-200:]}')


def needs_browser():
    found = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    if not found:
        skip('chromium is not installed')
    needs_module('playwright-core', '1.65.1')
    os.environ['PACE_CHROMIUM'] = found


def browse(page, script, width=1280, scheme='light'):
    """Runs a script of playwright with a page; nothing may go wrong, and nothing may be asked of the network."""
    done = subprocess.run(['node', os.path.join(HERE, 'browse.mjs'), MODULES, os.path.abspath(page), str(width), scheme], input=script,
                          capture_output=True, text=True, timeout=2 * PATIENCE)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert not answer['problems'], answer['problems']
    return answer['result']


def browse_windows(page, script):
    """The same in wide and narrow windows, in light and dark, each with the page opened anew; one browser for all of them. Returns rows: width,
    scheme, and what the script returned there."""
    return browse(page, f'''
        const told = [];
        for (const width of [1280, 390])
            for (const colorScheme of ['light', 'dark']) {{
                await page.setViewportSize({{width, height: 800}});
                await page.emulateMedia({{colorScheme}});
                await reopen('');
                told.push([width, colorScheme, await (async () => {{{script}}})()]);
            }}
        return told;''')
