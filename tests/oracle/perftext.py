"""Reads what `perf report --stdio` and `pace report` print: rows, and the call graph below each."""
import os
import re
import subprocess

ROW = re.compile(r'^ +\d+\.\d\d% ')
BRANCH = re.compile(r'^([ |]*?)([| ])--(\d+\.\d+)%--(.*)$')


class Row:
    def __init__(self, cells):
        self.cells = cells       # texts, one for each column
        self.graph = {}          # path of names -> share in percent (None: the same as above it)


def run(cmd, **kwargs):
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace', **kwargs)


def plain_attrs(text):
    """Later perfs add words to an attr's type and config, and print a config of 0: as perf 6.1 prints them."""
    text = re.sub(r'config(?: =|:) 0 \([^)]*\), ', '', text)
    return re.sub(r'\b(type|config)( = |: )(\w+) \([^)]*\)', r'\1\2\3', text)


class Callers:
    """Callers of a recording are, in what perf 6.1 and pace print, at offsets in their files; perf 6.12 prints addresses of their process.
    Which of both the installed one does is asked of it."""

    def __init__(self, path):
        self.maps = []
        frames = run(['perf', 'script', '-f', '--no-inline', '-i', path, '-F', 'ip,sym,dso']).stdout
        sizes = {}
        for ip, name in re.findall(r'^\t? *([0-9a-f]+) .*\((/[^()]*)\)$', frames, re.M):
            if name not in sizes:
                sizes[name] = os.path.getsize(name) if os.path.exists(name) else None
            if sizes[name] is not None and int(ip, 16) >= sizes[name]:
                self.read_maps(path)
                return

    def read_maps(self, path):
        events = run(['perf', 'script', '-f', '-i', path, '--show-mmap-events', '-F', 'tid,ip']).stdout
        for start, size, offset in re.findall(r'PERF_RECORD_MMAP2? -?\d+/\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0)', events):
            if int(start, 16) < 1 << 63:
                self.maps.append((int(start, 16), int(size, 16), int(offset, 16)))

    def places(self, ip):
        """What pace may print for an address of perf's: one number, unless processes have different files there."""
        return {ip - start + offset for start, size, offset in self.maps if start <= ip < start + size} or {ip}


def cells_of(line, columns, ends):
    """The texts of a row; where cells have several parts, of a table of several events, the dots tell where they end."""
    if ends:
        cells = [line[start:end] for start, end in zip([0, *ends[:-1]], [*ends[:-1], None])]
    else:
        cells = re.split(r' {2,}', line.strip(), maxsplit=columns - 1) if columns else [line]
    return [re.sub(r' +', ' ', cell.strip()) for cell in cells]


def parse(text):
    """A list of (event line, list of Row)."""
    blocks, row, stack, columns, ends = [], None, [], 0, []
    for line in text.split('\n'):
        if line.startswith('# Samples:'):
            blocks.append((line[2:], []))
            row = None
        elif line.startswith('# ...'):
            columns = len(line[2:].split())
            ends = [m.end() for m in re.finditer(r'\.+', line)] if ' of events ' in blocks[-1][0] else []
        elif line.startswith('#') or not line.strip() or not blocks:
            continue
        elif ROW.match(line):
            row, stack = Row(cells_of(line, columns, ends)), []
            blocks[-1][1].append(row)
        elif row:
            graph_line(row, stack, line)
    return blocks


def graph_line(row, stack, line):
    """stack: (column where the name's branch begins, name) from the root to the node drawn last."""
    branch = BRANCH.match(line)
    if branch:
        column, name = len(branch.group(1)), branch.group(4)
        while stack and stack[-1][0] >= column:
            stack.pop()
        stack.append((column, name.strip()))
        row.graph[tuple(n for _, n in stack)] = float(branch.group(3))
        return
    text = line.strip(' |')
    if not text:
        return
    if text.startswith('---'):
        stack[:] = [(0, text[3:].strip())]
    else:
        # goes on from the node above without branching
        stack.append((stack[-1][0] if stack else 0, text.strip()))
    row.graph[tuple(n for _, n in stack)] = None
