"""The vendors' tables in an unpacked source of Linux: where they are, and what is in them."""
import glob
import json
import os

from harness import skip


def linux_tables():
    """tools/perf/pmu-events of an unpacked kernel source."""
    trees = [os.environ['PACE_LINUX_SOURCE']] if 'PACE_LINUX_SOURCE' in os.environ else sorted(glob.glob('/usr/src/linux-source-*/'))
    for tree in trees:
        path = os.path.join(tree, 'tools/perf/pmu-events')
        if os.path.exists(os.path.join(path, 'jevents.py')):
            return path
    skip('no unpacked source of Linux: below /usr/src, or where PACE_LINUX_SOURCE says')


def rows_of(folder, deep=True):
    """All rows of the JSON files of a folder."""
    for path in sorted(glob.glob(os.path.join(folder, '**/*.json' if deep else '*.json'), recursive=deep)):
        rows = json.load(open(path))
        if isinstance(rows, list):
            yield from rows


def folders_of(path):
    """(architecture, folder) of each model that a mapfile.csv names."""
    for mapfile in sorted(glob.glob(os.path.join(path, 'arch/*/mapfile.csv'))):
        arch = os.path.basename(os.path.dirname(mapfile))
        lines = (line.strip().split(',') for line in open(mapfile) if line[0] != '#')
        for folder in sorted({parts[-2] for parts in lines if len(parts) > 3}):
            if os.path.isdir(os.path.join(path, 'arch', arch, folder)):
                yield arch, folder


def alone(path, arch, folder, model):
    """Makes a folder of tables, called `model`, that has only this folder, for the CPU of that name; with the architecture's own rows."""
    os.makedirs(model)
    open(f'{model}/mapfile.csv', 'w').write(f'{model},v1,tables,core\n')
    os.symlink(os.path.join(path, 'arch', arch, folder), f'{model}/tables')
    for standard in glob.glob(os.path.join(path, 'arch', arch, '*.json')):
        os.symlink(standard, os.path.join(model, os.path.basename(standard)))
    return model
