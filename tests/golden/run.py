#!/usr/bin/env python3
"""Fixed input in, bytes out. A case is a folder <command>/<case> with

    cmd       a line for the shell; $PACE is the program, $DATA is tests/golden/data. It writes its files to
              /tmp/pace-golden-*: each case has a /tmp of its own for them
    stdout    what it must print                (missing: nothing)
    stderr    the same                          (missing: nothing)
    exit      its status                        (missing: 0)

    tests/golden/run.py                check all
    tests/golden/run.py --renew [WORD] store what is printed now; read the diff before you commit it
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402  sets up the sanitizers' options

DATA = os.path.join(HERE, 'data')
NAME = '/tmp/pace-golden-'


def run_case(folder):
    command = open(os.path.join(folder, 'cmd'), encoding='utf-8').read().strip()
    env = dict(os.environ, PACE=harness.PACE, DATA=DATA, LC_ALL='C', TZ='UTC', HOME='/nonexistent')
    env.pop('XDG_CACHE_HOME', None)
    with tempfile.TemporaryDirectory(prefix='pace-') as own:
        own_name = f'{own}/pace-golden-'
        done = subprocess.run(['sh', '-c', command.replace(NAME, own_name)], cwd=DATA, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=harness.PATIENCE)
    out, err = (text.replace(own_name.encode(), NAME.encode()) for text in (done.stdout, done.stderr))
    return {'stdout': out, 'stderr': err, 'exit': b'%d\n' % done.returncode if done.returncode else b''}


def wanted(folder, name):
    path = os.path.join(folder, name)
    return open(path, 'rb').read() if os.path.exists(path) else b''


def renew(folder, results):
    for name, content in results.items():
        path = os.path.join(folder, name)
        if content:
            open(path, 'wb').write(content)
        elif os.path.exists(path):
            os.remove(path)


def cases():
    for command in sorted(os.listdir(HERE)):
        parent = os.path.join(HERE, command)
        if not os.path.isdir(parent):
            continue
        for case in sorted(os.listdir(parent)):
            if os.path.exists(os.path.join(parent, case, 'cmd')):
                yield f'{command}_{case}', os.path.join(parent, case)


def show_difference(name, want, got):
    print(f'# {name} differs:')
    want, got = want.decode(errors='replace').split('\n'), got.decode(errors='replace').split('\n')
    shown = 0
    for i in range(max(len(want), len(got))):
        a, b = want[i] if i < len(want) else None, got[i] if i < len(got) else None
        if a != b and shown < 12:
            print(f'#   line {i + 1}: expected {a!r}\n#             printed  {b!r}')
            shown += 1


def check_program():
    """Without the program every case prints nothing but an error of the shell, which is no result to compare or to store."""
    try:
        works = subprocess.run([harness.PACE, 'version'], capture_output=True).returncode == 0
    except OSError:
        works = False
    if not works:
        sys.exit(f"'{harness.PACE}' does not run: build it first (ninja -C build-check)")


def main():
    check_program()
    words = [word for word in sys.argv[1:] if word != '--renew']
    failed = number = 0
    for name, folder in cases():
        if words and not any(word in name for word in words):
            continue
        number += 1
        results = run_case(folder)
        if '--renew' in sys.argv:
            renew(folder, results)
        bad = [stream for stream in results if results[stream] != wanted(folder, stream)]
        for stream in bad:
            show_difference(stream, wanted(folder, stream), results[stream])
        print(f'{"not ok" if bad else "ok"} {number} - {name}', flush=True)
        failed += bool(bad)
    print(f'1..{number}')
    sys.exit(failed > 0)


main()
