#!/usr/bin/env python3
"""The build-ids of real recordings by others (see the shared folder), compared with those that the installed perf prints and those
that were written down when they were recorded."""
import glob
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

# perf copies the vdso of old recordings to a file of its own and prints that name.
VDSO = re.compile(r'/tmp/perf-vdso\.so-\w+')
# Files perf gives up on, sometimes with status 0 and whatever it had by then.
REFUSED = re.compile(r'failed to process|incompatible')


def recordings():
    root = needs_shared('fixtures')
    return [path for path in sorted(glob.glob(f'{root}/*/*'))
            if not re.search(r'EXPECTED|ELFBINARY|\.(header|report|script)$|README|corpus', path)]


def lists_of(path, *words):
    """What both print; None where perf does not read the file."""
    ours, theirs = pace('buildid-list', '-i', path, *words), run('perf', 'buildid-list', '-f', '-i', path, *words)
    if theirs.status or REFUSED.search(theirs.err):
        return None
    return ours.out, VDSO.sub('[vdso]', theirs.out)


def has_table(path):
    return re.search(r'^  BUILD_ID +0x', pace('data', 'lint', path).out, re.M)


def has_callers(path):
    return 'CALLCHAIN' in pace('evlist', '-v', '-i', path).out


@test
def build_ids_are_those_of_perf():
    perf_works()
    compared = 0
    for path in recordings():
        lists = lists_of(path)
        if not lists:
            continue
        ours, theirs = (out.split('\n') for out in lists)
        # Without a table both ask the samples: there pace lists the files of callers too.
        if not has_table(path) and has_callers(path):
            ours = [line for line in ours if line in theirs]
        assert ours == theirs, (path, ours, theirs)
        compared += 1
    assert compared > 60, compared


@test
def with_hits_nothing_is_missing_that_perf_lists():
    """perf 6.1 leaves out the files that only callers lie in, so pace may have more, and only where there are callers."""
    perf_works()
    compared = 0
    for path in recordings():
        lists = lists_of(path, '-H')
        if not lists:
            continue
        ours, theirs = (out.split('\n') for out in lists)
        missing = [line for line in theirs if line not in ours]
        assert not missing, (path, missing)
        if len(ours) > len(theirs):
            assert has_callers(path), (path, *lists)
        compared += 1
    assert compared > 60, compared


@test
def build_ids_are_those_that_were_written_down():
    compared = 0
    for expected in sorted(glob.glob(needs_shared('fixtures') + '/*/*.buildids.EXPECTED')):
        path = expected[:-len('.buildids.EXPECTED')]
        if not os.path.exists(path):
            continue
        ours = pace('buildid-list', '-i', path)
        assert ours.status == 0 and ours.out == open(expected).read(), (path, ours)
        compared += 1
    assert compared >= 10, compared


@test
def build_ids_of_programs_and_the_kernel_are_those_of_perf():
    perf_works()
    for path in ('/bin/ls', '/bin/sh', sys.executable):
        assert pace('buildid-list', '-i', path).out == run('perf', 'buildid-list', '-i', path).out, path
    theirs = run('perf', 'buildid-list', '-k')
    if theirs.status == 0:
        assert pace('buildid-list', '-k').out == theirs.out


@test
def every_recording_is_explained():
    for path in recordings():
        result = pace('data', 'lint', path)
        assert result.status in (0, 1, 2), (path, result)
        if result.status == 2:
            assert result.err.startswith('pace data: ') and not result.out, (path, result)
            continue
        verdict = result.out.strip().split('\n')[-1]
        assert verdict.startswith('This file is whole.' if result.status == 0 else 'This file is damaged: '), (path, result)


# name, size, users, state, address; whether its note can be read; its file below /lib/modules, if there is one
MODULES = (('ext4 1048576 1 - Live 0xffffffffc0300000', bytes(range(20)), 'kernel/fs/ext4/ext4.ko'),
           ('my_mod 8192 0 - Live 0xffffffffc0280000 (O)', bytes(range(30, 50)), 'kernel/net/my-mod.ko.xz'),
           ('without_id 4096 0 - Live 0xffffffffc0500000', None, None), ('without_file 4096 0 - Live 0xffffffffc0600000', bytes(range(60, 76)), None))
# A /proc with a file `modules`, a /sys/module and a /lib/modules that this process alone sees.
MOUNTS = '''set -e
umask 022
mkdir real proc usrlib
mount -t proc proc real
mount -t tmpfs none proc
mount -t tmpfs none usrlib
for file in real/*; do
	name=${file##*/}
	case $name in [0-9]* | modules) ;; *) ln -s "$PWD/$file" "proc/$name" ;; esac
done
cp modules proc/modules
mkdir usrlib/upper usrlib/work
mount -t overlay overlay -o "lowerdir=/usr/lib,upperdir=$PWD/usrlib/upper,workdir=$PWD/usrlib/work" /usr/lib
mkdir -p "/lib/modules/$(uname -r)"
cp -r files/. "/lib/modules/$(uname -r)"
mount --bind sysmodule /sys/module
mount --bind proc /proc
exec "$@"
'''


def write_machine():
    """Writes what MOUNTS shows."""
    os.makedirs('files', exist_ok=True)
    with open('modules', 'w', encoding='utf-8') as modules, open('files/modules.dep', 'w', encoding='utf-8') as dependencies:
        for line, build_id, file in MODULES:
            modules.write(line + '\n')
            folder = f'sysmodule/{line.split()[0]}/notes'
            os.makedirs(folder)
            if build_id:
                with open(f'{folder}/.note.gnu.build-id', 'wb') as note:
                    note.write(struct.pack('<3I', 4, len(build_id), 3) + b'GNU\0' + build_id)
            if file:
                os.makedirs(os.path.dirname(f'files/{file}'))
                with open(f'files/{file}', 'w', encoding='utf-8'):
                    dependencies.write(file + ':\n')


@test
def the_kernel_and_its_modules_are_listed_with_their_places_as_by_perf():
    perf_works()
    needs_own_mounts()
    write_machine()
    with open('mounts.sh', 'w', encoding='utf-8') as file:
        file.write(MOUNTS)

    def there(*words):
        folder = tempfile.mkdtemp(dir='.')
        os.chmod(folder, 0o755)
        for name in ('modules', 'sysmodule', 'files'):
            os.symlink(os.path.abspath(name), f'{folder}/{name}')
        return run('unshare', '-m', 'sh', os.path.abspath('mounts.sh'), *words, cwd=folder)
    theirs, ours = there('perf', 'buildid-list', '-m'), there(PACE, 'buildid-list', '-m')
    if len(theirs.out.splitlines()) <= 1:
        skip('a machine cannot be made up here: ' + theirs.err[-200:])
    assert ours.status == 0 and ours.out == theirs.out and not ours.err, (ours, theirs)
    assert len(ours.out.splitlines()) == 1 + len(MODULES) and ' [without_id]\n' in ours.out and '/ext4.ko\n' in ours.out, ours
    # Who may not know the addresses gets the build-ids.
    with open('modules', 'w', encoding='utf-8') as file:
        file.write(''.join(re.sub('0xf[0-9a-f]*', '0x0000000000000000', line) + '\n' for line, *_ in MODULES))
    os.chmod('.', 0o755)
    theirs, ours = (there(*NOBODY, tool, 'buildid-list', '--kernel-maps') for tool in ('perf', PACE))
    assert ours.status == 0 and sorted(ours.out.splitlines()) == sorted(theirs.out.splitlines()), (ours, theirs)
    assert ours.err.startswith('note: kernel addresses are hidden'), (ours, theirs)


main()
