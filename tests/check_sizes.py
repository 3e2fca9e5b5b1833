#!/usr/bin/env python3
"""Prints the largest files and functions, for information: nothing fails."""
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def functions(path):
    """(lines, name) of each function: from the line that is not indented to the brace that is not."""
    start = name = None
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        begin = re.match(r'[a-zA-Z_][^"]*?(\w+)\(', line)
        if begin and not line.rstrip().endswith(';'):
            start, name = number, begin.group(1)
        elif line.startswith('}') and start:
            yield number - start + 1, name
            start = None


files, all_functions = [], []
for folder, _, names in os.walk(os.path.join(TOP, 'src')):
    for file in names:
        path = os.path.join(folder, file)
        files.append((sum(1 for _ in open(path, encoding='utf-8')), os.path.relpath(path, TOP)))
        if file.endswith('.c'):
            all_functions += [(n, f'{os.path.relpath(path, TOP)}: {name}') for n, name in functions(path)]
for title, rows in (('files', files), ('functions', all_functions)):
    rows.sort(reverse=True)
    print(f'largest {title} (median {rows[len(rows) // 2][0]} lines)')
    for n, where in rows[:8]:
        print(f'  {n:5} {where}')
