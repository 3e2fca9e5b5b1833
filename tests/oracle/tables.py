"""The vendors' tables in a source of Linux: where they are, and what is in them."""
import fcntl
import glob
import json
import os
import shutil
import subprocess
import tempfile

from harness import skip

# Asked for now: tests have a home of their own.
CACHE = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'pace', 'tables')
TABLES = 'tools/perf/pmu-events'


def unpacked(archive):
    """The tree with the tables of a Debian package linux-source-*: only they are unpacked, once for each archive."""
    name, about = os.path.basename(archive).removesuffix('.tar.xz'), os.stat(archive)
    tree = os.path.join(CACHE, f'{name}-{about.st_size}-{int(about.st_mtime)}')
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(tree):
            return tree
        for old in glob.glob(os.path.join(CACHE, f'{name}-*')):
            shutil.rmtree(old)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            done = subprocess.run(['tar', '-xJf', archive, '-C', folder, f'{name}/{TABLES}'], stderr=subprocess.PIPE, text=True,
                                  stdin=subprocess.DEVNULL, env={**os.environ, 'XZ_OPT': '-T0'})
            if done.returncode:
                skip(f'unpacking {archive}: {done.stderr.strip()}')
            os.rename(os.path.join(folder, name), tree)
    return tree


def linux_trees():
    """Sources of Linux with tables, the oldest first: PACE_LINUX_SOURCE, or what is below /usr/src."""
    if 'PACE_LINUX_SOURCE' in os.environ:
        trees = [os.environ['PACE_LINUX_SOURCE']]
    else:
        archives = glob.glob('/usr/src/linux-source-*.tar.xz')
        # A tree that somebody has unpacked beside its archive is the same once more.
        trees = [path for path in glob.glob('/usr/src/linux-source-*') if os.path.isdir(path) and path + '.tar.xz' not in archives]
        trees = sorted(trees + archives, key=version_of)
    for tree in trees:
        tree = unpacked(tree) if tree.endswith('.tar.xz') else tree
        if os.path.exists(os.path.join(tree, TABLES, 'jevents.py')):
            yield tree


def version_of(path):
    """(6, 12) of .../linux-source-6.12.tar.xz, also below the cache."""
    numbers = os.path.basename(path).removeprefix('linux-source-').removesuffix('.tar.xz').split('-')[0].split('.')
    return tuple(int(number) if number.isdigit() else 0 for number in numbers)


def all_linux_tables():
    """tools/perf/pmu-events of each source of Linux that is here."""
    found = [os.path.join(tree, TABLES) for tree in linux_trees()]
    return found or skip('no source of Linux: package linux-source, or where PACE_LINUX_SOURCE says')


def linux_tables(version=None):
    """The newest, or those of Linux 6.1 if version is (6, 1)."""
    trees = [tree for tree in linux_trees() if not version or 'PACE_LINUX_SOURCE' in os.environ or version_of(tree) == version]
    if not trees:
        skip(f'no source of Linux{" %d.%d" % version if version else ""}: package linux-source, or where PACE_LINUX_SOURCE says')
    return os.path.join(trees[-1], TABLES)


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
