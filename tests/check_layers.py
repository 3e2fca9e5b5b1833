#!/usr/bin/env python3
"""The tree is the pipeline: a folder includes only itself and folders to its left. Prints TAP."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SRC = os.path.join(TOP, 'src')
ORDER = ['base', 'event', 'record', 'collect', 'file', 'session', 'machine', 'unwind', 'symbol', 'trace', 'profile', 'view', 'cmd']
BAGS = {'util', 'utils', 'common', 'misc', 'helper', 'helpers', 'shared', 'internal'}


def check():
    wrong, modules = [], {}
    for folder in sorted(os.listdir(SRC)):
        path = os.path.join(SRC, folder)
        if not os.path.isdir(path):
            continue
        if folder not in ORDER:
            wrong.append(f'src/{folder}: not a stage of the pipeline')
            continue
        for name in sorted(os.listdir(path)):
            stem, extension = os.path.splitext(name)
            where = f'src/{folder}/{name}'
            if stem in BAGS:
                wrong.append(f'{where}: a module is named after what it is, not after being left over')
            if extension == '.h' and modules.setdefault(stem, folder) != folder:
                wrong.append(f'{where}: src/{modules[stem]}/{name} has that name already')
            if extension not in ('.c', '.h'):
                continue
            text = open(os.path.join(path, name), encoding='utf-8').read()
            for include in re.findall(r'^#include "([^"]+)"', text, re.M):
                parts = include.split('/')
                if len(parts) != 2 or parts[0] not in ORDER:
                    wrong.append(f'{where}: #include "{include}" does not name its folder')
                elif ORDER.index(parts[0]) > ORDER.index(folder):
                    wrong.append(f'{where}: includes {include}, which lies to its right')
            if extension == '.h' and not text.startswith(f'/*\n * {name} - '):
                wrong.append(f'{where}: does not open with its contract')
    return wrong


def unlisted():
    """Source files that the table of contents does not know."""
    listed = open(os.path.join(TOP, 'meson.build'), encoding='utf-8').read()
    found = []
    for folder, _, names in os.walk(SRC):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), TOP)
            if name.endswith('.c') and f"'{path}'" not in listed:
                found.append(f'{path}: not in meson.build')
    return found


def main():
    failed = 0
    for number, (sentence, problems) in enumerate((('folders_include_only_to_their_left', check()),
                                                   ('meson_lists_every_source', unlisted())), 1):
        for problem in problems:
            print('#', problem)
        print('not ok' if problems else 'ok', number, '-', sentence)
        failed += bool(problems)
    print('1..2')
    sys.exit(failed > 0)


main()
