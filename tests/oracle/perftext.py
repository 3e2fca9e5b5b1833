"""Reads what `perf report --stdio` and `pace report` print: rows, and the call graph below each."""
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
