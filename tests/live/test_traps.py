#!/usr/bin/env python3
"""Traps that another user may set: false perf maps, programs with well-known names where pace might look for them; and the files that
--switch-output leaves behind, each of which can be read alone."""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

REUSE = 'tests/live/programs/reuse.c'
# What lies in the place of a perf map, and what is said of it; None: it is read, as far as it is one.
MAPS = {
    'fifo': ('mkfifo "$m"', 'is not a regular file'),
    'folder': ('mkdir "$m"', 'is not a regular file'),
    'link': ('mv "$m" real.map; ln -s "$PWD/real.map" "$m"', 'is a symbolic link'),
    'device': ('ln -s /dev/zero "$m"', 'is a symbolic link'),
    'sparse': ('truncate -s 4G "$m"', None),
    'noise': ('head -c 3000000 /dev/urandom >"$m"', None),
    'others': ('chown 65534:65534 "$m"', 'belongs to user 65534'),
}


@test
def a_perf_map_that_is_none_holds_nobody_up_and_that_is_said():
    """While it is recorded, when names are put into the file, and when it is read."""
    can_record()
    program = build_c(REUSE, 'reuse')
    for name, (lay, said) in MAPS.items():
        if name == 'others' and os.geteuid():
            continue
        # Where the first version is to be told from the second, the recorder has to come by between them.
        pause_ms = 2000 if name == 'sparse' else 200
        remove = '' if name in ('link', 'others', 'sparse') else 'rm -f "$m"; '
        result = pace('record', '-e', 'cpu-clock', '-o', f'{name}.data', 'sh', '-c',
                      f'{program} 2 soon {pause_ms} & p=$!; wait $p; m=/tmp/perf-$p.map; echo $p >{name}.pid; {remove}{lay}', timeout=PATIENCE)
        path = f'/tmp/perf-{open(f"{name}.pid").read().strip()}.map'
        try:
            assert result.status == 0, (name, result)
            for words in (['report', '--ledger', '-v', '-i', f'{name}.data'], ['script', '-i', f'{name}.data'],
                          ['data', 'pack', '-i', f'{name}.data', '-o', f'{name}.packed']):
                answer = pace(*words, timeout=PATIENCE)
                assert answer.status in (0, 1), (name, answer)
                if words[0] == 'report' and said:
                    assert said in answer.out + answer.err and path in answer.out + answer.err, (name, answer)
                if said:
                    assert 'version_' not in answer.out, (name, answer)
                if name == 'sparse' and words[0] == 'report':
                    # The lines before the hole are good ones.
                    assert 'version_0' in answer.out, answer
        finally:
            if os.path.isdir(path):
                os.rmdir(path)
            elif os.path.lexists(path):
                os.unlink(path)


TRAPS = '''perf sh bash env cat objdump addr2line llvm-addr2line llvm-objdump nm readelf c++filt gdb xz unxz gzip gunzip zcat bzip2 zstd lzma tar
less more pager vi ls ps id uname hostname dmesg modprobe mount sysctl getconf ldconfig dpkg apt-get debuginfod-find python3 perl grep sed awk kill
sudo cc gcc ld as file strip chmod mkdir cp mv rm'''.split()


@test
def no_program_is_looked_for_in_path():
    """A folder at the head of PATH has programs of all likely names, each of which would leave a mark."""
    can_record()
    program = build_c(REUSE, 'reuse')
    compiled = build_c('tests/live/programs/threads.c', 'threads', '-pthread', '-g')
    os.mkdir('traps')
    for name in TRAPS:
        with open(f'traps/{name}', 'w') as file:
            file.write(f'#!/bin/sh\necho {name} "$@" >>{os.getcwd()}/marks\nexit 1\n')
        os.chmod(f'traps/{name}', 0o755)
    env = dict(os.environ, PATH=f'{os.getcwd()}/traps:{os.environ["PATH"]}', PERF_EXEC_PATH=f'{os.getcwd()}/traps', PAGER='less', TERM='xterm',
               XDG_CACHE_HOME=f'{os.getcwd()}/cache')
    shutil.copy(compiled, 'stripped')
    run('strip', 'stripped')
    orders = [['record', '-e', 'cpu-clock', '-o', 'a.data', '-g', compiled, '1'], ['record', '-e', 'cpu-clock', '--no-embed', '-o', 'b.data', compiled, '1'],
              ['record', '-e', 'cpu-clock', '--call-graph', 'dwarf', '-z', '-o', 'c.data', './stripped', '1'],
              ['record', '-e', 'cpu-clock', '-a', '-o', 'd.data', '--for', '200ms'], ['stat', compiled, '1'], ['stat', '-r', '3', '--vs', '/bin/true', '/bin/true'],
              ['stat', 'record', '-o', 's.data', '/bin/true'], ['stat', 'report', '-i', 's.data'], ['diff', 'a.data', 'b.data'],
              ['data', 'pack', '-i', 'b.data', '-o', 'e.data'], ['data', 'unpack', '-i', 'a.data', '-o', 'unpacked'], ['data', 'merge', 'a.data', 'b.data', '-o', 'm.data'],
              ['list'], ['doctor'], ['cache'], ['buildid-list', '-i', 'a.data'], ['evlist', '-i', 'a.data'], ['--version'], ['help', 'report'],
              ['record', '-e', 'cpu-clock', '-o', 'f.data', '/bin/sh', '-c', f'{program} 2 & p=$!; wait $p; echo $p >pid']]
    for name in 'acf':
        orders += [[command, '-i', f'{name}.data'] for command in ('report', 'script', 'annotate')]
        orders += [['report', '--header', '-s', 'sym,srcline', '-i', f'{name}.data'], ['data', 'lint', f'{name}.data']]
    n_good = 0
    for order in orders:
        result = pace(*order, env=env, timeout=PATIENCE)
        n_good += result.status == 0
        assert not os.path.exists('marks'), (order, open('marks').read(), result)
    assert n_good > len(orders) * 3 // 4, (n_good, len(orders))
    os.unlink(f'/tmp/perf-{open("pid").read().strip()}.map')


@test
def names_from_files_are_shown_and_neither_obeyed_nor_executed():
    """Of a symbol, of a line of a perf map, of the program's own file: control characters, and what a shell would run."""
    can_record()
    needs('objcopy')
    evil = 'e\033[2Jvil$(touch PWNED)`touch PWNED`;touch PWNED;\'"'
    with open('evil.c', 'w', encoding='utf-8') as source:
        source.write('volatile long s;\n__attribute__((noinline)) void spin(void) { for (long i = 0; i < 300000000; i++) s += i; }\nint main(void) { spin(); return 0; }\n')
    for words in (['cc', '-g', '-O1', '-c', 'evil.c'], ['objcopy', f'--redefine-sym=spin={evil}', 'evil.o'], ['cc', '-o', evil, 'evil.o']):
        assert run(*words).status == 0, words
    reuse = build_c(REUSE, 'reuse')
    assert pace('record', '-e', 'cpu-clock', '-o', 'symbol.data', f'./{evil}').status == 0
    with open('map.sh', 'w', encoding='utf-8') as script:
        script.write(f'{reuse} 2 & p=$!\nwait $p\necho $p >pid\nm=/tmp/perf-$p.map\nsed "s/steady/$(printf \'x\\033[2Jy\')/" $m >new\ncat new >$m\n')
    assert pace('record', '-e', 'cpu-clock', '--no-embed', '-o', 'map.data', 'sh', 'map.sh').status == 0
    try:
        for name, shown in ('symbol', r'e\x1b[2Jvil$(touch PWNED)'), ('map', r'x\x1b[2Jy'):
            for words in (['report'], ['report', '-s', 'sym,srcline'], ['script'], ['annotate'], ['report', '--json'], ['data', 'lint']):
                result = pace(*words, '-i', f'{name}.data')  # which looks for raw control bytes
                assert result.status in (0, 1), (name, words, result)
                if words == ['report']:
                    assert shown in result.out, (name, result)
    finally:
        os.unlink(f'/tmp/perf-{open("pid").read().strip()}.map')
    assert not os.path.exists('PWNED')


@test
def each_file_of_a_switched_recording_can_be_read_alone():
    """Each has who ran there and what was mapped when it began: perf has the same rows with the same names, and knows all of them."""
    can_record()
    perf_works()
    program = build_c('tests/live/programs/threads.c', 'threads', '-pthread')
    result = pace('record', '-e', 'cpu-clock:u', '-F', '5000', '--switch-output=1s', '-o', 'many', 'sh', '-c', f'{program} 2 & {program} 2 & wait')
    assert result.status == 0, result
    files = sorted(glob.glob('many.*'))
    assert len(files) >= 2, files
    for name in files:
        os.mkdir(f'{name}.alone')
        path = shutil.copy(name, f'{name}.alone/perf.data')
        keys = ['-s', 'comm,dso,sym', '-g', 'none', '-F', 'overhead,sample,comm,dso,sym']
        ours = pace('report', '-i', path, *keys)
        assert ours.status == 0, (name, ours)
        rows = [re.findall(r'\S+', line) for line in ours.out.splitlines() if line.strip() and not line.startswith('#')]
        busy = [row for row in rows if float(row[0].rstrip('%')) > 5]
        if not busy:
            continue  # the last one, of the end only
        theirs = run('perf', 'report', '--stdio', '-i', path, *keys[:2], '-F', 'overhead,sample,comm,dso,sym').out
        for row in busy:
            assert row[2] in ('alpha', 'beta', 'late', 'threads', 'sh') and '[unknown]' not in row[3:], (name, row)
            assert re.search(rf'{re.escape(row[0])}\s+{row[1]}\s+{row[2]}\s+{re.escape(row[3])}\s+\[\.\] {re.escape(row[5])}', theirs), (name, row, theirs)


main()
