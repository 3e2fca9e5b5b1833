#!/usr/bin/env python3
"""Recordings that are whole but made to be expensive: the time and memory they take stay in proportion to their size."""
import ctypes
import gzip
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from harness import PACE, main, needs, run, skip, test  # noqa: E402

COMM, FORK, SAMPLE, MMAP2, KSYMBOL = 3, 7, 9, 10, 17
# IP, TID, TIME, CALLCHAIN, PERIOD, IDENTIFIER
FIELDS = 1 | 2 | 4 | 32 | 256 | 1 << 16


def record(kind, misc, body):
    body += b'\0' * (-len(body) % 8)
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def recording(records, events=1):
    """A file with these records, of events whose samples have FIELDS."""
    attr = struct.pack('<IIQQQQQ', 1, 136, 0, 1000, FIELDS, 0, 1 << 18).ljust(136, b'\0')
    ids = b''.join(struct.pack('<Q', i + 1) for i in range(events))
    attrs = b''.join(attr + struct.pack('<QQ', 104 + 8 * i, 8) for i in range(events))
    data = b''.join(records)
    header = struct.pack('<8sQQQQQQQQ32s', b'PERFILE2', 104, 152, 104 + len(ids), len(attrs), 104 + len(ids) + len(attrs), len(data), 0, 0,
                         b'')
    return header + ids + attrs + data


def trailer(pid, time, number=1):
    return struct.pack('<IIQQ', pid, pid, time, number)


def sample(pid, time, ip, chain=(), number=1):
    return record(SAMPLE, 2, struct.pack(f'<QQIIQQQ{len(chain)}Q', number, ip, pid, pid, time, 1, len(chain), *chain))


def comm(pid, time, name):
    return record(COMM, 0, struct.pack('<II', pid, pid) + name + b'\0' * (8 - len(name) % 8) + trailer(pid, time))


def ksymbol(address, size, name, time):
    return record(KSYMBOL, 0, struct.pack('<QIHH', address, size, 1, 0) + name + b'\0' * (8 - len(name) % 8) + trailer(0, time))


# What was given back counts no more: the sanitizer would keep it.
FORGETFUL = dict(os.environ, ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=1:thread_local_quarantine_size_kb=64')


# A process begins as large as the one that starts it, and this one is large: a small one does.
STARTER = """
import os, subprocess, sys
with open('out', 'wb') as out, open('err', 'wb') as err:
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    _, status, usage = os.wait4(process.pid, 0)
print(int(os.WIFSIGNALED(status)), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def measure(path, *words):
    """Processor seconds and KiB of a run."""
    done = subprocess.run([sys.executable, '-c', STARTER, PACE, *words, *(['-i', path] if path else [])], env=FORGETFUL, capture_output=True, text=True, check=True)
    is_killed, seconds, kib = done.stdout.split()
    assert is_killed == '0', open('err', errors='replace').read()[:3000]
    return float(seconds), int(kib)


def write(path, data):
    with open(path, 'wb') as file:
        file.write(data)
    return path


# ---- names and addresses that were in each other's way in hash tables, when their key was known ----

KEY = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
NAUGHT = struct.pack('<Q', KEY[1])  # as the second of two words it made the hash nothing, whatever the first was


def compare(bad, plain, *words):
    """What was made to collide takes no longer than what was not: it took more than a hundred times as long."""
    write('bad.data', bad)
    write('plain.data', plain)
    slow, fast = measure('bad.data', *words)[0], measure('plain.data', *words)[0]
    assert slow < 5 * fast + 1, (words, slow, fast)


@test
def names_made_to_collide_cost_what_others_cost():
    def comms(second):
        return recording([comm(i + 1, 1000 + i, b'%08d' % i + second) for i in range(40000)] + [sample(7, 90000, 0x400000)])
    for words in (['report'], ['script', '--show-task-events'], ['report', '--tasks']):
        compare(comms(NAUGHT), comms(b'abcdefgh'), *words)


@test
def names_of_kernel_code_made_to_collide_cost_what_others_cost():
    def symbols(second):
        return recording([ksymbol(0xffffffffc0000000 + 64 * i, 64, b'%08d' % i + second, 1000 + i) for i in range(40000)] +
                         [sample(7, 90000, 0xffffffffc0000000)])
    compare(symbols(NAUGHT), symbols(b'abcdefgh'), 'report')


@test
def call_chains_made_to_collide_cost_what_others_cost():
    def chains(second):
        return recording([sample(7, 1000 + i, 0x400000, (0xfffffffffffffe00, 0x400000, 0x500000 + i, second)) for i in range(20000)])
    compare(chains(KEY[1]), chains(0x600000), 'report', '-g', 'caller')


# ---- few bytes that come to many ----

COMPRESSED2 = 83
MEMORY_KB = 200 << 10  # the sanitizer takes most of it; what is allowed is 64 MiB
WAITING_KB = 110 << 10  # likewise of those that put records in order, and hold back what waits for that


def packed(records):
    """Records as compressed ones, packed as well as can be."""
    try:
        zstd = ctypes.CDLL('libzstd.so.1')
    except OSError:
        skip('libzstd.so.1 cannot be loaded here')
    zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t
    data = b''.join(records)
    room = ctypes.create_string_buffer(zstd.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    n = zstd.ZSTD_compress(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), 9)
    pieces = [room.raw[i:min(i + 60000, n)] for i in range(0, n, 60000)]
    return [record(COMPRESSED2, 0, struct.pack('<Q', len(piece)) + piece) for piece in pieces]


def fork(time):
    return record(FORK, 0, struct.pack('<IIIIQ', 7, 1, 7, 1, time) + trailer(7, time))


def is_refused(path, *words):
    """Ends soon, in little memory, and says where, what, and how it could go on."""
    seconds, kib = measure(path, *words)
    said = open('err', encoding='utf-8').read()
    assert f"'{path}'" in said and 'at offset 0x' in said and 'PACE_MEMORY=' in said, (words, said)
    assert seconds < 40 and kib < (WAITING_KB if words[0] == 'script' else MEMORY_KB), (words, seconds, kib)


@test
def forks_that_unpack_from_few_bytes_are_refused_and_said():
    write('forks.data', recording(packed([fork(1000)] * 500000 + [sample(7, 9000, 0x400000)])))
    assert os.path.getsize('forks.data') < 20000
    for words in (['report'], ['script'], ['report', '--tasks'], ['annotate'], ['buildid-list', '-H']):
        is_refused('forks.data', *words)


@test
def names_and_maps_that_unpack_from_few_bytes_are_refused_and_said():
    write('names.data', recording(packed(comm(7, 1000 + i, b'%08d' % i + b'x' * 60000) for i in range(2000))))
    for words in (['report'], ['script']):
        is_refused('names.data', *words)


@test
def addresses_that_unpack_from_few_bytes_are_refused_and_said():
    write('chains.data', recording(packed(sample(7, 1000 + i, 0x400000, [0xfffffffffffffe00] + [0x500000 + 64 * i] * 1000) for i in range(6000)) +
                                   packed(sample(7, 9000 + i, 64 * i) for i in range(300000))))
    is_refused('chains.data', 'report')


@test
def records_that_unpack_from_few_bytes_without_end_are_refused_and_said():
    write('bomb.data', recording(packed(sample(7, 1000, 0x400000) for i in range(1 << 20)) * 12))
    for words in (['report'], ['script'], ['data', 'lint']):
        is_refused('bomb.data', *words)


@test
def processes_and_places_that_tables_are_made_of_are_charged():
    """Samples at distinct addresses; a long name that 30,000 forks inherit; processes with samples of the 4,000th event each."""
    write('places.data', recording(packed(sample(7, 1000 + i, 0x400000 + 8 * i) for i in range(700000))))
    forks = [record(FORK, 0, struct.pack('<IIIIQ', 10 + i, 7, 10 + i, 7, 1000 + i) + trailer(7, 1000 + i)) for i in range(30000)]
    write('heirs.data', recording([comm(7, 900, b'x' * 60000)] + forks + [sample(7, 90000, 0x400000)]))
    write('counts.data', recording([comm(i + 1, 1000 + i, b'a') for i in range(6000)] +
                                   [sample(i + 1, 90000 + i, 0x400000, number=4000) for i in range(6000)], 4000))
    for name in ('places', 'heirs', 'counts'):
        is_refused(name + '.data', 'readperf', '-o', 'tables')


# ---- what a recording carries, taken out of it ----


def with_section(tables):
    """A recording with a section EMBEDDED of these tables (doc/embedded.md), packed as well as can be."""
    needs('zstd')
    contents, at, body = struct.pack('<II', len(tables), 0), 8 + 24 * len(tables), b''
    for number, each, data in tables:
        contents += struct.pack('<IIQQ', number, each, at + len(body), len(data) // each)
        body += data + b'\0' * (-len(data) % 8)
    plain = contents + body
    packed_well = subprocess.run(['zstd', '-9', '-qc', f'--stream-size={len(plain)}'], input=plain, stdout=subprocess.PIPE, check=True).stdout
    section = struct.pack('<8sIIQ', b'PACE EMB', 1, 1, len(plain)) + packed_well
    file = recording([sample(7, 1000, 0x400000)])
    return file + struct.pack('<8sQQQ', b'PACEOWNE', 1, len(file) + 32, len(section)) + section


def dso(kind, path, segments=0, symbols=0, codes=0):
    return (struct.pack('<4IQ6I', kind, path, 0, 0, 0, 0, 1, 1, 0, 62, 0) +
            struct.pack('<12I', 0, segments, 0, symbols, 0, 0, 0, codes, 0, 0, 0, 0) + bytes(40))


@test
def files_that_share_names_and_code_are_not_unpacked_without_end():
    FILE, KERNEL, JIT = 1, 2, 6
    names, n = b'\0/p\0' + b'x' * 65000 + b'\0', 500000
    symbols = struct.pack('<QQII', 0x1000, 0x1010, 4, 0) * n  # each would be a line of 65,000 bytes: 32 GB
    for kind in (FILE, KERNEL, JIT):
        write(f'{kind}.data', with_section([(1, 1, names), (3, 136, dso(kind, 1, symbols=n)), (5, 24, symbols)]))
    segments = b''.join(struct.pack('<QQQ', i << 19, 0, 16 << 20) for i in range(20000))  # the same code at 20,000 places
    write('code.data', with_section([(1, 1, names), (2, 1, bytes(16 << 20)), (3, 136, dso(FILE, 1, segments=20000, codes=1)), (4, 24, segments),
                                     (8, 24, struct.pack('<QQQ', 0, 16 << 20, 0))]))
    for name in (f'{FILE}', f'{KERNEL}', f'{JIT}', 'code'):
        assert os.path.getsize(name + '.data') < 20000
        is_refused(name + '.data', 'data', 'unpack', '-o', name)
        kept = sum(os.stat(os.path.join(folder, file)).st_blocks * 512 for folder, _, files in os.walk(name) for file in files)
        assert kept < 64 << 20, (name, kept)
    names = b'\0' + b''.join(b'/%07d\0' % i for i in range(20000))
    dumps = b''.join(struct.pack('<IIQII', 1 + 9 * i, i, 100, 0, 1) for i in range(20000))
    write('dumps.data', with_section([(1, 1, names), (2, 1, bytes(100)), (9, 24, dumps), (10, 24, bytes(24 * 20000))]))
    result = run(PACE, 'data', 'unpack', '-i', 'dumps.data', '-o', 'dumps')
    assert result.status == 0 and len(os.listdir('dumps')) == 20000, result


@test
def counts_of_few_readings_are_not_kept_for_all_events_and_cpus():
    STAT, ROUND = 76, 77
    events = 8000

    def readings(n):
        return recording([record(STAT, 0, struct.pack('<QIIQQQ', i % events + 1, i, 0, 1000, 1000, 1000)) for i in range(n)] +
                         [record(ROUND, 0, struct.pack('<QQ', 1, 1000))], events)
    write('stat.data', readings(8000))  # 64 million cells, 10 GB
    is_refused('stat.data', 'stat', 'report')
    write('few.data', readings(40))
    result = run(PACE, 'stat', 'report', '-i', 'few.data')
    assert result.status == 0 and 'PACE_MEMORY' not in result.err, result


@test
def who_trusts_a_recording_allows_it_more():
    write('forks.data', recording(packed([fork(1000)] * 100000 + [sample(7, 9000, 0x400000)])))
    environment = dict(os.environ, PACE_MEMORY='1M')
    result = run(PACE, 'report', '-i', 'forks.data', env=environment)
    assert result.status == 1 and 'PACE_MEMORY=' in result.err, result
    result = run(PACE, 'report', '-i', 'forks.data', env=dict(os.environ, PACE_MEMORY='2G'))
    assert result.status == 0 and '100.00%' in result.out, result
    result = run(PACE, 'report', '-i', 'forks.data', env=dict(os.environ, PACE_MEMORY='much'))
    assert result.status == 2 and 'PACE_MEMORY' in result.err and 'much' in result.err, result


@test
def plain_recordings_of_many_forks_and_names_are_read():
    write('plain.data', recording([fork(1000 + i) for i in range(20000)] + [comm(7, 30000 + i, b'%08d' % i) for i in range(20000)] +
                                  [sample(7, 90000 + i, 0x400000 + 16 * i, (0xfffffffffffffe00, 0x400000, 0x500000 + i)) for i in range(20000)]))
    for words in (['report', '-g', 'caller'], ['script'], ['data', 'lint']):
        result = run(PACE, *words, '-i', 'plain.data')
        assert result.status == 0 and 'PACE_MEMORY' not in result.err, (words, result)


# ---- damage that decodes ----

GOOD = [comm(7, 900, b'prog')] + [sample(7, 1000 + i, 0x400000 + 16 * i, (0xfffffffffffffe00, 0x400000 + 16 * i, 0x500000)) for i in range(20)]
ODD = {
    'number': sample(0x7fffffff, 3000, 0x400100),
    'chain': sample(7, 3000, 0x400100, (0x400100, 0x500000)),
    'task': record(FORK, 0, struct.pack('<IIIIQ', 7, 1, 0x40000007, 1, 3000) + trailer(7, 3000)),
    'name': record(COMM, 0, struct.pack('<II', 0x700007, 7) + b'prog\0\0\0\0' + trailer(7, 3000)),
    'map': record(MMAP2, 2, struct.pack('<IIQQQIIQQII', 7, 0x80000007, 0x400000, 0x1000, 0, 8, 1, 5, 0, 5, 2) + b'/bin/prog\0' + trailer(7, 3000)),
    'period': sample(7, 3000, 0x400100).replace(struct.pack('<QQ', 1, 0), struct.pack('<QQ', 1 << 63, 0)),
}


@test
def samples_that_say_what_cannot_be_are_told_of_by_all_commands():
    write('good.data', recording(GOOD))
    for name, damaged in ODD.items():
        write('odd.data', recording(GOOD + [damaged]))
        for words in (['report', '-g', 'caller'], ['report', '--json'], ['script'], ['script', '--json'], ['annotate'], ['diff', 'good.data', 'odd.data'],
                      ['readperf', '-o', 'tables'], ['buildid-list']):
            result = run(PACE, *words, *([] if words[0] == 'diff' else ['-i', 'odd.data']))
            is_seen = name != 'chain' or words[0] in ('report', 'script') and '--json' not in words
            assert 'have impossible values' in result.err or not is_seen, (name, words, result)
            assert result.status == 1 or not is_seen, (name, words, result)
        # What is wrong with a file is what lint is for: it goes where its output goes.
        result = run(PACE, 'data', 'lint', 'odd.data')
        assert result.status == 1 and 'with impossible values' in result.out and not result.err, result
    result = run(PACE, 'data', 'lint', 'good.data')
    assert result.status == 0 and 'is whole' in result.out, result


@test
def complaints_about_a_file_go_to_stderr_whoever_reads_it():
    write('good.data', recording(GOOD))
    write('cut.data', recording(GOOD)[:-30])
    for words in (['report'], ['report', '--json'], ['report', '--csv'], ['report', '--tasks'], ['report', '-D'], ['report', '--header-only'], ['script'],
                  ['script', '--json'], ['annotate'], ['annotate', '--json'], ['diff', 'good.data', 'cut.data'], ['diff', '--json', 'good.data', 'cut.data'], ['evlist'],
                  ['buildid-list'], ['readperf', '-o', 'tables'], ['c2c', 'report'], ['tsx', 'report'], ['mem', 'report'], ['stat', 'report'], ['data', 'strip', '-o', 'stripped.data']):
        result = run(PACE, *words, *([] if words[0] == 'diff' else ['-i', 'cut.data']))
        assert "'cut.data' is cut off" in result.err and 'is cut off' not in result.out, (words, result)
    result = run(PACE, 'data', 'lint', 'cut.data')
    assert 'it is cut off' in result.out and not result.err, result


# ---- many files ----


def mmap2(pid, time, address, name):
    return record(MMAP2, 2, struct.pack('<IIQQQIIQQII', pid, pid, address, 0x1000, 0, 8, 1, 5, 0, 5, 2) + name + b'\0' * (8 - len(name) % 8) +
                  trailer(pid, time))


@test
def eight_times_the_files_and_processes_take_eight_times_as_long():
    """Files of a process that lives: this one; memory with code of many processes, at the same address."""
    me = os.getpid()
    for n in (4000, 32000):
        write(f'files{n}.data', recording([mmap2(me, 1000 + i, 0x400000 + 0x2000 * i, b'/l%07d' % i) for i in range(n)] +
                                          [sample(me, 90000 + i, 0x400000 + 0x2000 * i) for i in range(n)]))
        write(f'code{n}.data', recording([mmap2(3000000 + i, 1000 + i, 0x400000, b'//anon') for i in range(n)] +
                                         [sample(3000000 + i, 90000 + i, 0x400000) for i in range(n)]))
    for kind in ('files', 'code'):
        few, many = (measure(f'{kind}{n}.data', 'report', '-j', '1')[0] for n in (4000, 32000))
        # Twenty times and more when each file was looked for in all maps, and each process among all.
        assert many < 12 * few + 0.5, (kind, few, many)


# ---- many events ----

@test
def thousands_of_events_of_one_name_are_compared_once():
    write('events.data', recording([sample(7, 9000 + i, 0x400000 + 64 * i, number=i % 2 + 1) for i in range(2000)], 4000))
    write('fewer.data', recording([sample(7, 9000 + i, 0x400000 + 64 * i, number=i % 2 + 1) for i in range(2000)], 2))
    assert measure(None, 'diff', '--json', 'events.data', 'fewer.data')[1] < MEMORY_KB
    assert open('out', encoding='utf-8').read().count('"event":') == 1


@test
def a_report_of_eight_times_the_events_takes_eight_times_as_long():
    for n in (4000, 32000):
        write(f'{n}.data', recording([sample(7, 9000 + i, 0x400000 + 64 * (i % 50), number=i % n + 1) for i in range(n)], n))
    for words in (['report', '-j', '1'], ['report', '--hierarchy', '-j', '1']):
        few, many = measure('4000.data', *words)[0], measure('32000.data', *words)[0]
        # Twenty times when each event looked at the rows of all.
        assert many < 12 * few + 0.5, (words, few, many)


# ---- profiles that other programs made ----

def varint(n):
    out = b''
    while n >= 0x80:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content if isinstance(content, bytes) else varint(number << 3) + varint(content)


def pprof(*fields):
    """With one type of samples, count/count."""
    return b''.join([field(1, field(1, 1) + field(2, 1)), field(6, b''), field(6, b'count'), *fields])


def otlp(stack, samples, lines=1):
    """One stack of two locations, whose function has a long name; an attribute with a long text."""
    location = field(2, field(3, field(1, 1)) * lines)
    dictionary = b''.join([field(1, b''), field(2, b''), location, field(2, field(2, 1)) + field(3, b''), field(3, field(1, 1)), field(5, b''),
                           field(5, b'f' * 1_000_000), field(5, b'count'), field(6, b''),
                           field(6, field(1, 1) + field(2, field(1, b'a' * 1_000_000))), field(7, b''), field(7, stack)])
    return field(1, field(2, field(2, field(1, field(1, 2) + field(2, 2)) + samples))) + field(2, dictionary)


@test
def profiles_that_unpack_from_few_bytes_are_refused_and_said():
    write('lines.folded', gzip.compress(b'main;f 1\n' * 30_000_000, 1))
    write('lines.pprof', gzip.compress(pprof(field(6, b'x' * 100) * 2_000_000), 1))
    for path in ('lines.folded', 'lines.pprof'):
        assert os.path.getsize(path) < 4 << 20, os.path.getsize(path)
        is_refused(path, 'report')


@test
def profiles_of_many_small_things_cost_what_they_are():
    n = 60000
    cases = {
        'files.folded': ''.join(f'a;[f{i}] 1\n' for i in range(n)).encode(),
        'brackets.folded': b'a' + b';[; 1' * n + b' 1\n',
        'colons.folded': b'a' + b';::' * n + b' 1\n',
        'inlined.folded': b'a' + b';b_[i]' * n + b' 1\n',
        'mappings.pprof': pprof(*(field(3, field(1, i) + field(2, i) + field(5, i % 2)) + field(4, field(1, i) + field(2, i) + field(3, i)) +
                                  field(2, field(1, i) + field(2, 1)) for i in range(1, n))),
        'same.pprof': pprof(field(4, field(1, 1)) * n, field(2, field(1, 1) + field(2, 1))),
        'lines.pprof': pprof(field(4, field(1, 1) + field(4, b'') * n), field(2, field(1, 1) + field(2, 1)) * 1000),
        # Each of these is cheap to say again and again: a stack, a long attribute, a long name.
        'deep.otlp': otlp(field(1, b'\1' * n), field(2, field(1, 1) + field(4, b'\1')) * n),
        'attributes.otlp': otlp(field(1, b'\1'), field(2, field(1, 1) + field(2, b'\1' * 50) + field(4, b'\1')) * (n // 10)),
        'lines.otlp': otlp(field(1, b'\1\2' * 1000), field(2, field(1, 1) + field(4, b'\1')), lines=n),
        'deep.pprof': pprof(field(4, field(1, 1)), field(2, field(1, b'\1' * n) + field(2, 1)) * 20),
    }
    for path, data in cases.items():
        write(path, data)
        seconds, kib = measure(path, 'report', '-g', 'none', '--no-children', '--percent-limit', '1')
        assert seconds < 20 and kib < 2 * MEMORY_KB, (path, seconds, kib)
        assert ' recorded' in open('out', errors='replace').read(), (path, open('err', errors='replace').read()[:300])


@test
def long_names_that_many_places_share_cost_what_they_are():
    """Each line of a source is a name of its own, and each place asks for its function's."""
    n, long = 30000, b'f' * 2_000_000
    names = field(6, b''), field(6, b'count'), field(6, b'main'), field(6, long)
    lines = b''.join(field(4, field(1, i) + field(3, i) + field(4, field(1, 1) + field(2, i))) for i in range(1, n))
    path = field(2, field(1, b''.join(varint(i) for i in range(1, n))) + field(2, 1))
    kind = field(1, field(1, 1) + field(2, 1))
    cases = {'file.pprof': kind + lines + field(5, field(1, 1) + field(2, 2) + field(4, 3)) + path + b''.join(names),
             'name.pprof': kind + lines + field(5, field(1, 1) + field(2, 3)) + path + b''.join(names)}
    for path, data in cases.items():
        write(path, data)
        for words in (['report', '-s', 'srcline', '-g', 'none'], ['export', '--format', 'callgrind', '-o', 'made']):
            seconds, kib = measure(path, *words)
            said = open('err', errors='replace').read()
            assert seconds < 20 and kib < 5 * MEMORY_KB and 'out of memory' not in said, (path, words, seconds, kib, said[:300])


if __name__ == '__main__':
    main()
