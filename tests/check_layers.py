#!/usr/bin/env python3
"""The tree is the pipeline: a folder includes only itself and folders to its left, and so does a room of a folder. Prints TAP."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SRC = os.path.join(TOP, 'src')
ORDER = ['base', 'arch', 'event', 'record', 'collect', 'file', 'session', 'machine', 'unwind', 'symbol', 'trace', 'profile', 'edit', 'fleet', 'view', 'cmd']
BAGS = {'util', 'utils', 'common', 'misc', 'helper', 'helpers', 'shared', 'internal'}

# Rooms of large folders, from left to right; '' are the files of the folder itself, where it may have some.
ROOMS = {
    'collect': {
        'counter': 'one event on one CPU or thread: its counter, its ring',
        'around': 'what this machine is and allows',
        'open': 'from events to counters, or the reason why not',
        'known': 'what can be measured here',
        'run': 'one measurement from its start to its end',
        'record': 'from rings to a sink, and what a recording has beside samples',
    },
    'symbol': {
        'elf': 'ELF files: sections, symbols, where code begins',
        'name': 'what functions are called',
        'find': 'where files are, and what is kept of them',
        'go': 'the tables that Go leaves in its programs',
        'jit': 'code that is made at run time, as its makers tell of it',
        'dwarf': 'debug information: lines, inlined functions',
        'embed': 'what recordings carry with them',
        'kernel': "kernels' names and code",
        'types': 'types of data, and what instructions access',
        'resolve': 'from addresses to functions, from samples to callers',
        'code': 'instructions and sources to show',
        'probe': 'where probes go, and what they fetch',
    },
    'profile': {
        'maths': 'figures of many numbers',
        'gather': 'from samples to a profile',
        'chart': 'what CPUs and tasks did, moment by moment',
        'batch': 'what one host measured in one stretch of time, as tables that travel',
        'import': 'profiles of other programs',
        'tree': 'what called what',
        'memory': 'cache lines that CPUs share, transactions that are aborted',
        'code': 'functions with the samples of their instructions',
        'rows': 'rows, cells and graphs to show',
        'diff': 'one result beside another',
        'check': 'whether a recording and its profile are whole',
    },
    'view': {
        'text': 'words and cells as text',
        'diff': 'words of comparisons',
        'html': 'what pages for browsers are made of',
        'svg': 'what pictures are made of',
        'forms': 'the forms of all tables',
        'pages': 'pages of text; some are rows for programs',
        'rows': 'profiles, graphs and comparisons as tables',
        'records': 'records one by one, and what a file says of itself',
        'code': 'functions with their samples',
        'stat': 'counts',
        'memory': 'cache lines that CPUs share, transactions that are aborted',
        'chart': 'what CPUs and tasks did, moment by moment',
        'screen': 'rows on a terminal: cells, keys, what is behind them',
    },
    'cmd': {
        '': 'each command, and what several have in common',
        'annotate': 'the parts of one command',
        'data': 'the parts of one command',
        'diff': 'the parts of one command',
        'gate': 'the parts of one command',
        'probe': 'the parts of one command',
        'record': 'the parts of one command',
        'report': 'the parts of one command',
        'script': 'the parts of one command',
        'stat': 'the parts of one command',
        'test': 'the parts of one command',
        'live': 'what runs now, counted as it comes',
        'top': 'the parts of one command',
        'watch': 'the parts of one command',
        'tsx': 'the parts of one command',
        'completion': 'what shells ask about all commands',
        'mcp': 'what programs ask: it runs other commands',
    },
}


def sources():
    """(folder, room, name) of every C file and header."""
    for folder in sorted(os.listdir(SRC)):
        top = os.path.join(SRC, folder)
        for path, rooms, names in sorted(os.walk(top)) if os.path.isdir(top) else ():
            for name in sorted(names):
                yield folder, os.path.relpath(path, top).replace('.', '', 1), name


def misplaced(folder, room, include):
    """Why a file there must not include that one; None if it may."""
    *where, _ = include.split('/')
    to, to_room = where[0] if where else '', '/'.join(where[1:])
    if to not in ORDER or to_room not in ROOMS.get(to, ['']):
        return f'#include "{include}" does not name its folder'
    if ORDER.index(to) > ORDER.index(folder):
        return f'includes {include}, which lies to its right'
    rooms = list(ROOMS.get(folder, ['']))
    if to == folder and rooms.index(to_room) > rooms.index(room):
        return f'includes {include}, of a room to its right'
    return None


def check():
    wrong, modules = [], {}
    for folder, room, name in sources():
        stem, extension = os.path.splitext(name)
        where = '/'.join(part for part in ('src', folder, room, name) if part)
        if folder not in ORDER or room not in ROOMS.get(folder, ['']):
            wrong.append(f'{where}: not in a stage of the pipeline or a room of one')
            continue
        if stem in BAGS:
            wrong.append(f'{where}: a module is named after what it is, not after being left over')
        if extension == '.h' and modules.setdefault(stem, where) != where:
            wrong.append(f'{where}: {modules[stem]} has that name already')
        if extension not in ('.c', '.h'):
            continue
        with open(os.path.join(TOP, where), encoding='utf-8') as file:
            text = file.read()
        for include in re.findall(r'^#include "([^"]+)"', text, re.M):
            problem = misplaced(folder, room, include)
            if problem:
                wrong.append(f'{where}: {problem}')
        if extension == '.h' and not text.startswith(f'/*\n * {name} - '):
            wrong.append(f'{where}: does not open with its contract')
    return wrong


def unlisted():
    """Source files that the table of contents does not know."""
    with open(os.path.join(TOP, 'meson.build'), encoding='utf-8') as file:
        listed = file.read()
    return [f'src/{folder}/{room}/{name}: not in meson.build' for folder, room, name in sources()
            if name.endswith('.c') and f"'{'/'.join(part for part in ('src', folder, room, name) if part)}'" not in listed]


def never_run():
    """Tests in Python that are no suite: nobody would notice that they fail."""
    tests = os.path.join(TOP, 'tests')
    with open(os.path.join(tests, 'run.py'), encoding='utf-8') as file:
        listed = file.read()
    found = [os.path.relpath(os.path.join(folder, name), tests) for folder, _, names in os.walk(tests)
             for name in names if name.startswith('test_') and name.endswith('.py')]
    # tests/guest/run.py runs all that it finds beside it.
    return [f'tests/{name}: not in tests/run.py' for name in found if f'/{name}\'' not in listed and not name.startswith('guest/')]


def main():
    failed = 0
    for number, (sentence, problems) in enumerate((('folders_and_rooms_include_only_to_their_left', check()),
                                                   ('meson_lists_every_source', unlisted()),
                                                   ('every_test_is_run', never_run())), 1):
        for problem in problems:
            print('#', problem)
        print('not ok' if problems else 'ok', number, '-', sentence)
        failed += bool(problems)
    print('1..3')
    sys.exit(failed > 0)


main()
