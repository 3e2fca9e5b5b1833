#!/usr/bin/env python3
"""Makes the inputs that fuzzing starts from: small recordings by `pace record`, and the records, samples and sections in them.

usage: make_corpus.py PACE      rewrites tests/fuzz/corpus; tracepoints need root, without root some files are not made
"""
import gzip
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE, TRACING_DATA = 9, 66
TRACE_EVENT = 'sched:sched_process_exit'
RECORDINGS = {
    'plain': ['-F', '200'],
    'chains': ['-F', '100', '-g'],
    'packed': ['-F', '200', '-z'],
    'group': ['-F', '100', '-e', '{cpu-clock,page-faults}', '-d'],
    'trace': ['-e', TRACE_EVENT, '-c', '1'],
}
LOAD = ['sh', '-c', 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done']


def record(pace, options, output):
    environment = dict(PATH='/usr/bin:/bin', HOME='/nonexistent')
    command = [pace, 'record', '-q', '-B', *options, '-o', output, *LOAD]
    if output == '-':
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False).stdout
    subprocess.run(command, env=environment, check=False)
    return open(output, 'rb').read() if os.path.exists(output) else b''


def keep(target, name, data, limit=65536):
    if not data or len(data) > limit:
        return
    folder = f'{HERE}/corpus/{target}'
    os.makedirs(folder, exist_ok=True)
    with open(f'{folder}/{name}', 'wb') as file:
        file.write(data)


def sections(data):
    """(number, bytes) of each section of a file."""
    offset, size = struct.unpack_from('<QQ', data, 40)
    bits = int.from_bytes(data[72:104], 'little')
    at = offset + size
    for number in range(256):
        if bits >> number & 1:
            start, length = struct.unpack_from('<QQ', data, at)
            yield number, data[start:start + length]
            at += 16


def records(data, start, end):
    while start + 8 <= end:
        kind, _, size = struct.unpack_from('<IHH', data, start)
        if size < 8:
            return
        yield kind, data[start:start + size]
        start += size
        if kind == TRACING_DATA:
            start += (struct.unpack_from('<I', data, start - size + 8)[0] + 7) & ~7


def take_apart(name, data):
    """One record of each type, one sample of the first event, all sections."""
    attr_size, attrs = struct.unpack_from('<QQ', data, 16)
    attr = data[attrs:attrs + attr_size - 16].ljust(144, b'\0')[:144]
    offset, size = struct.unpack_from('<QQ', data, 40)
    seen, raw = set(), b''
    for kind, record_bytes in records(data, offset, offset + size):
        if kind == SAMPLE and kind not in seen:
            keep('sample', name, attr + record_bytes[8:])
            raw = record_bytes[-128:]
        elif kind not in seen:
            keep('record', f'{name}-{kind}', b'\5' + record_bytes)
        seen.add(kind)
    for number, section in sections(data):
        if number == 1:
            keep('tracing', name, section + raw.rjust(128, b'\0'))
        elif name == 'plain':
            keep('feature', str(number), bytes([number, 0]) + section)


ELF_SOURCE = 'extern int puts(const char *); static void f(void) { puts("f"); } int g(void) { f(); return 1; }'
ELF_FLAGS = {
    'plain': [], 'packed': ['-g', '-gz=zlib'], 'full': ['-Wl,-z,now', '-fcf-protection=full'], 'i386': ['-m32'],
}

# As Go 1.20 writes it: two functions, into the first of which the second was inlined, and what the loader knows.
GO_TABLE = '''
.text
code: .fill 64, 1, 0x90
.section .gopclntab, "a"
tab: .long 0xfffffff1
.byte 0, 0, 1, 8
.quad 2, 1, 0, names - tab, units - tab, files - tab, steps - tab, functions - tab
names: .asciz "main.f"
g: .asciz "main.g"
units: .long 0
files: .asciz "f.go"
steps: .byte 0
depths: .byte 2, 4, 16, 60, 0
file: .byte 2, 64, 0
lines: .byte 22, 8, 2, 8, 3, 48, 0
calls: .byte 0, 8, 2, 8, 1, 48, 0
functions: .long 0, first - functions, 32, second - functions, 64
first: .long 0, 0, 0, 0, depths - steps, file - steps, lines - steps, 3, 0, 1
.byte 0, 0, 0, 4
.long 0, 0, calls - steps, -1, -1, -1, 0
second: .long 32, g - names, 0, 0, depths - steps, file - steps, lines - steps, 0, 0, 1
.byte 0, 2, 0, 0
.section .rodata
tree: .long 0, g - names, 4, 1
.data
.balign 16
.quad tab, names
.fill 20, 8, 0
.quad code
.fill 17, 8, 0
.quad tree
'''


def make_go():
    for name, flags in (('go', []), ('go-pie', ['-shared'])):
        with open('go.s', 'w', encoding='utf-8') as file:
            file.write(GO_TABLE)
        subprocess.run(['gcc', '-nostdlib', '-Wl,--build-id=none,-z,norelro,-e,0', '-s', '-o', name, 'go.s', *(flags or ['-static'])], check=True)
        keep('elf', name, open(name, 'rb').read())


def make_elf():
    """Small libraries with symbols, stubs, packed sections; and one with .gnu_debugdata."""
    with open('f.c', 'w', encoding='utf-8') as file:
        file.write(ELF_SOURCE)
    for name, flags in ELF_FLAGS.items():
        subprocess.run(['gcc', '-O1', '-fPIC', '-shared', '-nostdlib', '-Wl,--build-id', '-o', name, 'f.c', *flags], check=True)
        keep('elf', name, open(name, 'rb').read())
        keep('kcore', name, b'\1' + open(name, 'rb').read())
    subprocess.run('xz -kf plain && objcopy -S --add-section .gnu_debugdata=plain.xz --add-gnu-debuglink=f.c plain mini', shell=True,
                   check=True)
    keep('elf', 'mini', open('mini', 'rb').read())


def debug_information():
    """Line tables and range lists of all versions; a package of split units; a file that is yet to be linked."""
    with open('d.c', 'w', encoding='utf-8') as file:
        file.write('#include <stddef.h>\nvolatile int v;\nstatic inline int twice(int x) { return v ? 2 * x : v; }\n'
                   'int g(int x) { if (__builtin_expect(x > 5, 0)) __builtin_abort(); return twice(x) + twice(v); }\n')
    for version in '345':
        subprocess.run(['gcc', '-O2', '-c', f'-gdwarf-{version}', '-o', 'd.o', 'd.c'], check=True)
        keep('dwarf', f'unlinked-{version}', b'\4\0' + open('d.o', 'rb').read())
        subprocess.run(['gcc', '-O2', '-shared', '-nostdlib', '-fPIC', f'-gdwarf-{version}', '-o', 'd', 'd.c'], check=True)
        for section, first in (('line', b'\0\1'), ('ranges', b'\1\2'), ('rnglists', b'\1\3'), ('info', b'\2\5'), ('abbrev', b'\2\5')):
            subprocess.run(['objcopy', '-O', 'binary', '--only-section', f'.debug_{section}', '--set-section-flags', f'.debug_{section}=alloc',
                            'd', 'section'], check=True, stderr=subprocess.DEVNULL)
            data = open('section', 'rb').read()
            if data:
                keep('dwarf', f'{section}-{version}', first + data)
    subprocess.run('gcc -O2 -g -gdwarf-4 -gsplit-dwarf -fPIC -c -o d.o d.c && gcc -shared -nostdlib -o d d.o && dwp -e d -o d.dwp', shell=True,
                   check=True)
    keep('dwarf', 'package', b'\3\0' + open('d.dwp', 'rb').read())


def jitdump(order):
    """Two functions with lines, one of them moved; unwinding tables; the end."""
    def record_of(number, time, body):
        return struct.pack(order + 'IIQ', number, 16 + len(body), time) + body

    def load(time, index, address, name):
        return record_of(0, time, struct.pack(order + 'IIQQQQ', 1, 1, address, address, 8, index) + name + b'\0' + b'\xcc' * 8)

    lines = struct.pack(order + 'QQ', 4096, 2) + b''.join(
        struct.pack(order + 'QII', 4096 + i, 10 + i, 0) + name + b'\0' for i, name in enumerate((b'a.js', b'\xff')))
    return (struct.pack(order + 'IIIIIIQQ', 0x4a695444, 1, 40, 62, 0, 1, 1, 0) + record_of(2, 1, lines)
            + record_of(4, 1, b'\0' * 24) + load(1, 1, 4096, b'one') + load(2, 2, 4100, b'two words')
            + record_of(1, 3, struct.pack(order + 'IIQQQQQ', 1, 1, 8192, 4096, 8192, 8, 1)) + record_of(3, 4, b''))


def kept_lines(pace):
    """What `report` keeps of a program of some size: clang's or g++'s debug information of a small one with templates."""
    with open('t.cc', 'w', encoding='utf-8') as file:
        file.write('#include <map>\n#include <string>\n#include <algorithm>\n#include <vector>\nint main() { std::map<std::string, int> m; std::vector<int> v(999);\n'
                   'for (int i = 0; i < 3000000; i++) m[std::to_string(i % 97)] += i; std::sort(v.begin(), v.end());\nreturn m.size() & 0; }\n')
    subprocess.run(['g++', '-O2', '-g', '-o', 't', 't.cc'], check=True)
    environment = dict(PATH='/usr/bin:/bin', HOME=os.getcwd(), XDG_CACHE_HOME=os.getcwd())
    subprocess.run([pace, 'record', '-q', '-o', 't.data', './t'], env=environment, check=False)
    subprocess.run([pace, 'report', '-s', 'srcline', '-i', 't.data'], env=environment, check=False, stdout=subprocess.DEVNULL)
    for name in os.listdir('pace') if os.path.isdir('pace') else []:
        if name.startswith('lines-'):
            keep('lineindexfile', name[-8:], open(f'pace/{name}', 'rb').read(), 1 << 18)


def kernel_text():
    keep('kallsyms', 'symbols', b'\x02' + b"""0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000010 t secondary\nffffffff81000010 W startup
ffffffffc0001000 t nft_do_chain\t[nf_tables]
ffffffffc0002000 t bpf_prog_0123456789abcdef_f\t[bpf]
""")
    keep('kallsyms', 'modules', b'\x01' + b"""nf_tables 372736 2 nft_ct,nft_nat, Live 0xffffffffc0a01000 (E)
hidden 4096 0 - Live 0x0000000000000000\nx86 1 1 - Loading 0xffffffffc0001000""")


def core_file():
    """A core of two ranges, with notes that tell the build."""
    info = b'OSRELEASE=6.1\nBUILD-ID=00112233445566778899aabbccddeeff00112233\nPAGESIZE=4096\n'
    notes = struct.pack('<III', 11, len(info), 0) + b'VMCOREINFO\0\0' + info.ljust((len(info) + 3) // 4 * 4, b'\0')
    at = 64 + 3 * 56
    segments = [(4, at, 0, len(notes)), (1, at + len(notes), 0xffffffff81000000, 32), (1, at + len(notes) + 16, 0xffffffffc0000000, 16)]
    head = b'\x7fELF\2\1\1'.ljust(16, b'\0') + struct.pack('<HHIQQQIHHHHHH', 4, 62, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
    for kind, offset, address, size in segments:
        head += struct.pack('<IIQQQQQQ', kind, 5, offset, address, 0, size, size, 1)
    return head + notes + bytes(range(32))


def btf():
    """int, a struct, a prototype, and a function."""
    types = (struct.pack('<IIII', 1, 1 << 24, 4, 32) + struct.pack('<III', 0, 4 << 24 | 1, 4) + struct.pack('<III', 1, 1, 0)
             + struct.pack('<III', 0, 13 << 24, 1) + struct.pack('<III', 5, 12 << 24 | 1, 3))
    texts = b'\0int\0run\0'
    return struct.pack('<HBBIIIII', 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(texts)) + types + texts


def kernel_files():
    kernel_text()
    keep('kcore', 'core', b'\0' + core_file())
    keep('kcore', 'types', b'\2' + btf())


def state_records():
    """A kernel and a guest's, maps, a BPF program that comes and goes, a fork and an exec."""
    def record_of(kind, misc, body):
        return struct.pack('<IHH', kind, misc, 8 + len(body)) + body

    def text(value):
        return value.ljust((len(value) + 8) // 8 * 8, b'\0')

    def mapped(misc, pid, start, size, offset, name):
        return record_of(1, misc, struct.pack('<IIQQQ', pid, pid, start, size, offset) + text(name))

    base = 0xffffffff81000000
    keep('machine', 'kernels', mapped(1, 0xffffffff, base, 0x1000, base, b'[kernel.kallsyms]_text')
         + mapped(4, 0, base, 0x1000, base, b'[guest.kernel.kallsyms]_text') + mapped(4, 7, base, 0x1000, base, b'[guest.kernel.kallsyms.7]')
         + mapped(4, 7, 0xffffffffc0000000, 4096, 0, b'[nf_tables]')
         + record_of(17, 1, struct.pack('<QIHH', 0xffffffffc0001000, 256, 1, 0) + text(b'bpf_prog_1'))
         + record_of(17, 1, struct.pack('<QIHH', 0xffffffffc0001000, 256, 1, 1) + text(b'bpf_prog_1')))
    keep('machine', 'tasks', mapped(2, 1, 4096, 4096, 0, b'/bin/a') + mapped(2, 1, 8192, 4096, 0, b'//anon')
         + record_of(3, 0, struct.pack('<II', 1, 1) + text(b'sh')) + record_of(7, 0, struct.pack('<IIIIQ', 2, 1, 2, 1, 5))
         + mapped(2, 2, 6144, 4096, 0, b'/lib/b') + record_of(3, 0x2000, struct.pack('<II', 2, 2) + text(b'ls'))
         + record_of(4, 0, struct.pack('<IIIIQ', 2, 1, 2, 1, 9)))


def field(number, content):
    """A field of a message of protocol buffers; sizes and numbers are below 2^14."""
    def varint(n):
        return bytes([n]) if n < 0x80 else bytes([n & 0x7f | 0x80, n >> 7])
    return varint(number << 3 | 2) + varint(len(content)) + content if isinstance(content, bytes) else varint(number << 3) + varint(content)


def profiles_of_others():
    folded = b'sh;main;f_[k] 12\na;[u8; 32];b_[i];c_[i] 7\r\n# x\nc;Lx;::y_[j];[libz.so.1] 3.5\n'
    keep('import', 'folded', b'\0' + folded)
    keep('import', 'folded-comm', b'\4' + folded)
    keep('import', 'two-counts', b'\0a;b 1 2\na;c 0 4\n')
    keep('import', 'folded-packed', b'\0' + gzip.compress(folded, mtime=0))
    pprof = open(f'{HERE}/../golden/data/go.pprof', 'rb').read()
    for name, wishes in (('stacks', 0), ('lines', 10), ('shallow', 20)):
        keep('import', f'pprof-{name}', bytes([wishes]) + gzip.decompress(pprof))
    keep('import', 'pprof-packed', b'\0' + pprof)
    strings = [b'', b'cpu', b'nanoseconds', b'/bin/app', b'main', b'thread.name']
    dictionary = (field(1, b'') + field(1, field(1, 4096) + field(4, 3)) + field(2, b'') + field(2, field(1, 1) + field(2, 4100) + field(3, field(1, 1)))
                  + field(3, b'') + field(3, field(1, 4)) + b''.join(field(5, s) for s in strings) + field(6, b'') + field(6, field(1, 5) + field(2, field(1, b'sh')))
                  + field(7, b'') + field(7, field(1, b'\1')))
    samples = field(1, field(1, 1) + field(2, 2)) + field(2, field(1, 1) + field(2, b'\1') + field(4, b'\7'))
    for name, wishes in (('stacks', 0), ('lines', 10)):
        keep('import', f'otlp-{name}', bytes([wishes]) + field(1, field(2, field(2, samples))) + field(2, dictionary))


def formulas():
    keep('metric', 'made-of-metrics', b'share part / whole$share > 0.5\nwhole task\\-clock + cs\npart max(cs, min(faults, 3)) if #smt_on else cs\n')
    keep('metric', 'circles', b'a b + 1\nb a * 2\nc c + cs\n')
    keep('metric', 'literals', b'x (1 if source_count(task\\-clock) > 1e-3 & has_event(faults) else 0x1f) % #num_cpus\ny d_ratio(cs, .5) ^ strcmp_cpuid_str(0x41) | -cs:u <= NaN\n'
         b'z cpu@instructions\\,cmask\\=1@ / #slots if has_pmu(cpu) else migrations?\n')


def batch_tables(names, start):
    """main calls each of them, with as many samples as its number; see put() of src/profile/batch/batchbytes.c."""
    def varint(v):
        out = b''
        while v > 127:
            out += bytes([v & 127 | 128])
            v >>= 7
        return out + bytes([v])
    texts = [b'', b'host', b'alpha', b'main', b'app', b'cpu-clock', b'service', b'web', b'dropped', b'samples'] + names
    frames = [3] + list(range(10, 10 + len(names)))
    n = len(names)
    columns = [[1, start, start + 60], [len(texts)]] + [[len(t), t] for t in texts] + [
        [1, 1, 2], [len(frames)], frames, [4] * len(frames), [0] * len(frames), [2] * len(frames), [1] * len(frames), [0] * len(frames),
        [n + 2], [0], range(n), range(n + 1), [1, 5, 0], [1, 6], [n], [0] * n, range(2, n + 2), [0] * n, range(1, n + 1), [1000] * n, [7] * n,
        [1, 8, 0, 9, 3]]
    return b''.join(v if isinstance(v, bytes) else varint(v) for column in columns for v in column)


def batch_chunk(tables, is_first):
    """Not packed: a frame of zstd with one raw block."""
    def mix(a, b):
        m = (a ^ 0x9e3779b97f4a7c15) * (b ^ 0xe7037ed1a0b428db)
        return (m ^ m >> 64) & 2**64 - 1
    packed = b'\x28\xb5\x2f\xfd\x60' + struct.pack('<H', len(tables) - 256) + struct.pack('<I', len(tables) << 3 | 1)[:3] + tables
    head = b'pbc1' + struct.pack('<IIIQQ', is_first, len(packed), len(tables), 0, 60)
    total = mix(len(packed), struct.unpack('<Q', head[:8])[0])
    for i in range(8, 32, 8):
        total = mix(total, struct.unpack('<Q', head[i:i + 8])[0])
    whole = len(packed) // 8 * 8
    for i in range(0, whole, 8):
        total = mix(total, struct.unpack('<Q', packed[i:i + 8])[0])
    for byte in packed[whole:]:
        total = mix(total, byte)
    return head + struct.pack('<Q', total) + packed


def batches():
    few, many = batch_tables([b'f', b'g'], 0), batch_tables([b'function_%d' % i for i in range(20)], 120)
    keep('batch', 'tables', b'\0' + few)
    keep('batch', 'more-tables', b'\0' + many)
    keep('batch', 'file', b'\1PACEBAT1' + batch_chunk(many, 1) + batch_chunk(many, 0))


def generated_code():
    keep('perfmap', 'nested', b'\x80' + b'100 100 outer\n0x120 20 two words\r\nbad\n140 0 none\n120 8 later')
    keep('configfile', 'all', b'\x05va;"#[report]\n\tsort_order = dso, sym # why\n children\n[pace "c2c \\"]report"] options = "-a #" b \\\n c\n')
    keep('filecache', 'links', b''.join(name + b'\0../../' + target + b'/ab' + name + b'\0' for name, target in (
        (b'0123', b'usr/bin/dash'), (b'cdef', b'[vdso]'), (b'4567', b'../../etc'), (b'89', b'a/../../b'))))
    keep('jitdump', 'little', jitdump('<'))
    keep('jitdump', 'big', jitdump('>'))


def main():
    profiles_of_others()
    generated_code()
    formulas()
    batches()
    kernel_files()
    state_records()
    pace = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_elf()
        make_go()
        debug_information()
        kept_lines(pace)
        for name, options in RECORDINGS.items():
            data = record(pace, options, 'perf.data')
            if data:
                keep('file', name, data)
                take_apart(name, data)
            keep('pipe', name, record(pace, options, '-')[16:])


main()
