#!/usr/bin/env python3
"""Names in the kernel: BPF programs, guests, recordings that bring their own kallsyms, changed code; the same as perf gives them."""
import os
import re
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
import perftext  # noqa: E402

PROGRAMS = os.path.join(TOP, 'tests/live/programs')
SAMPLE, MMAP, MMAP2, KERNEL, GUEST_KERNEL = 9, 1, 10, 1, 4


def table(result):
    """(dso, symbol) -> samples."""
    assert result.status == 0, result
    rows = {}
    for row in perftext.parse(result.out)[0][1]:
        key = tuple(row.cells[2:4])
        rows[key] = rows.get(key, 0) + int(row.cells[1])
    return rows


def report(path, *options):
    return table(pace('report', '--no-unnamed-functions', '-i', path, '-n', '-s', 'dso,symbol', *options))


def perf_report(path, *options, before=()):
    return table(run('perf', *before, 'report', '--stdio', '-i', path, '-n', '-s', 'dso,symbol', *options))


def record_kernel(path):
    """A recording with most samples in the kernel."""
    can_record()
    needs_root()
    result = pace('record', '--no-embed', '-q', '-e', 'cpu-clock', '-F', '4000', '-o', path, 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1M', 'count=3000')
    assert result.status == 0, result
    if not any(dso == '[kernel.kallsyms]' and '0xffff' not in symbol for dso, symbol in report(path)):
        skip("the kernel hides its functions' addresses")


# ---- BPF ----

def bpf_program():
    needs('gcc')
    can_record()
    needs_root()
    done = run('gcc', '-O1', '-o', 'bpf', os.path.join(PROGRAMS, 'bpf.c'))
    assert done.status == 0, done
    if run('./bpf', '1').status == 77:
        skip('BPF programs cannot be loaded here')


def assert_bpf(path):
    rows = report(path)
    inside = sum(n for (dso, symbol), n in rows.items() if re.fullmatch(r'bpf_prog_[0-9a-f]{16}_pace_adds', dso) and dso in symbol)
    # How much time the program got, only the machine knows.
    assert inside > 3 and inside > 0.3 * sum(rows.values()), rows
    perf_works()
    theirs = perf_report(path)
    # perf does not always find the names of the vdso, which is a file of its own to it.
    rows, theirs = ({k: n for k, n in table.items() if k[0] != '[vdso]'} for table in (rows, theirs))
    assert rows == theirs, {k: (rows.get(k), theirs.get(k)) for k in {*rows, *theirs} if rows.get(k) != theirs.get(k)}


@test
def kernel_a_bpf_program_that_is_loaded_while_recording_has_its_name():
    bpf_program()
    result = pace('record', '-q', '-e', 'cpu-clock', '-F', '2000', './bpf', '400')
    assert result.status == 0, result
    assert_bpf('perf.data')
    shown = pace('script', '--show-bpf-events').out
    assert 'PERF_RECORD_KSYMBOL addr ' in shown and 'PERF_RECORD_BPF_EVENT type 1, ' in shown, shown[:2000]


@test
def kernel_a_bpf_program_that_was_there_before_has_its_name():
    bpf_program()
    with subprocess.Popen(['./bpf', '20000']) as process:
        try:
            wait_for(lambda: any('pace_adds' in line for line in open('/proc/kallsyms', encoding='ascii')))
            result = pace('record', '-q', '-e', 'cpu-clock', '-F', '10000', '-p', str(process.pid), 'sleep', '0.4')
            assert result.status == 0, result
        finally:
            process.kill()
    assert_bpf('perf.data')


# ---- a recording with its own kallsyms ----

def renamed_kallsyms(path):
    """The running kernel's functions under other names, so that it is seen whose were taken."""
    with open('/proc/kallsyms', encoding='ascii') as file, open(path, 'w', encoding='ascii') as copy:
        for line in file:
            address, kind, name = line.split(' ', 2)
            copy.write(line if name in ('_text\n', '_stext\n') else f'{address} {kind} then_{name}')


@test
def kernel_functions_of_a_kcore_recording_come_from_its_own_kallsyms():
    record_kernel('perf.data')
    os.makedirs('kept/kcore_dir')
    os.rename('perf.data', 'kept/data')
    renamed_kallsyms('kept/kcore_dir/kallsyms')
    with open('kept/kcore_dir/modules', 'w', encoding='ascii'):
        pass
    result = pace('report', '-i', 'kept')
    assert result.status == 0 and not result.err, result
    rows = report('kept')
    assert sum(n for (_, symbol), n in rows.items() if 'then_' in symbol) > 50, rows
    perf_works()
    assert rows == perf_report('kept')
    # What the user names goes first.
    assert not any('then_' in symbol for _, symbol in report('kept', '--kallsyms', '/proc/kallsyms'))


# ---- guests ----

def as_guest(source, target, *, with_maps=True):
    """The recording as if its kernel were a guest's; without features, which have other offsets then."""
    with open(source, 'rb') as file:
        data = file.read()
    offset, size = struct.unpack_from('<QQ', data, 40)
    out, at = bytearray(), offset
    while at < offset + size:
        kind, misc, length = struct.unpack_from('<IHH', data, at)
        record = bytearray(data[at:at + length])
        at += length
        is_kernel = misc & 7 == KERNEL
        if kind == SAMPLE and is_kernel:
            struct.pack_into('<H', record, 4, misc & ~7 | GUEST_KERNEL)
        elif kind in (MMAP, MMAP2) and is_kernel:
            if not with_maps:
                continue
            head = 40 if kind == MMAP else 72
            name = bytes(record[head:]).split(b'\0')[0]
            rest = record[head + (len(name) + 8) // 8 * 8:]
            name = name.replace(b'[kernel.kallsyms]', b'[guest.kernel.kallsyms]')
            record = record[:head] + name.ljust((len(name) + 8) // 8 * 8, b'\0') + rest
            struct.pack_into('<IHHI', record, 0, kind, misc & ~7 | GUEST_KERNEL, len(record), 0)
        out += record
    head = bytearray(data[:offset])
    struct.pack_into('<Q', head, 48, len(out))
    head[72:104] = bytes(32)
    with open(target, 'wb') as file:
        file.write(head + out)


def in_guest(rows):
    return {key: n for key, n in rows.items() if key[0] == '[guest.kernel.kallsyms]'}


@test
def kernel_functions_of_guests_come_from_the_files_that_are_named():
    record_kernel('perf.data')
    as_guest('perf.data', 'guest.data')
    renamed_kallsyms('guest.kallsyms')
    with open('guest.modules', 'w', encoding='ascii'):
        pass
    files = ['--guestkallsyms', 'guest.kallsyms', '--guestmodules', 'guest.modules']
    rows = in_guest(report('guest.data', *files))
    assert sum(n for (_, symbol), n in rows.items() if symbol.startswith('[g] then_')) > 50, rows
    perf_works()
    theirs = in_guest(perf_report('guest.data', before=['kvm', '--guest', *files]))
    assert rows == theirs, (rows, theirs)
    script = pace('script', '-i', 'guest.data', '-F', 'ip,sym,dso', *files)
    assert 'then_read_zero' in script.out or 'then_' in script.out, script
    # Without a file it is said which option names one.
    result = pace('report', '-i', 'guest.data', '--ledger')
    assert 'name one with --guestkallsyms or --guestvmlinux' in result.out, result


@test
def kernel_of_guests_is_placed_by_the_files_if_no_record_tells_of_it():
    record_kernel('perf.data')
    as_guest('perf.data', 'with.data')
    as_guest('perf.data', 'without.data', with_maps=False)
    renamed_kallsyms('guest.kallsyms')
    files = ['--guestkallsyms', 'guest.kallsyms']
    rows = in_guest(report('without.data', *files))
    assert rows and rows == in_guest(report('with.data', *files)), rows


@test
def kernel_of_each_guest_below_the_mounts_is_its_own():
    record_kernel('perf.data')
    as_guest('perf.data', 'guest.data', with_maps=False)
    pid = int(re.search(r'(\d+)', pace('script', '-i', 'guest.data', '-F', 'pid').out).group(1))
    os.makedirs(f'mounts/{pid}/proc')
    renamed_kallsyms(f'mounts/{pid}/proc/kallsyms')
    rows = report('guest.data', '--guestmount', 'mounts')
    inside = sum(n for (dso, symbol), n in rows.items() if dso == f'[guest.kernel.kallsyms.{pid}]' and '[g] then_' in symbol)
    assert inside > 50, rows


# ---- source lines ----

VMLINUX = """__asm__(".text\\n.globl _text\\n_text:\\n");
static volatile int x;
__attribute__((noinline)) void first(int n) {
	x += n;
	x *= 3;
}
void _stext(void) {
	first(1);
	for (;;)
		;
}
"""
LINKED, LAY = 0xffffffff81000000, 0xffffffff9a000000


def made_up_kernel():
    """A program that lies where kernels do, and a recording of it, elsewhere: addresses of its own."""
    needs('gcc', 'nm')
    with open('kernel.c', 'w', encoding='utf-8') as file:
        file.write(VMLINUX)
    done = run('gcc', '-g', '-O1', '-fno-toplevel-reorder', '-static', '-nostdlib', '-no-pie', '-fno-pie', '-mcmodel=kernel', '-fcf-protection=none', '-fno-asynchronous-unwind-tables',
               f'-Wl,-Ttext={LINKED:#x},-e_stext,--build-id=none', '-o', 'vmlinux', 'kernel.c')
    if done.status:
        skip('the compiler makes no kernels')
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in run('nm', 'vmlinux').out.splitlines()}
    return symbols


def kernel_recording(addresses, shift=LAY - LINKED, lay=LAY, module=None):
    """It says where the kernel lay, and neither its build nor its release."""
    attr = bytearray(128)
    struct.pack_into('<IIQQQQ', attr, 0, 1, 128, 0, 1, 1 | 2, 0)
    name = b'[kernel.kallsyms]_text\0'
    records = b''
    for at, offset, name in [(lay, lay, name)] + [(lay + 0x20000000, 0, name) for name in [module] if name]:
        body = struct.pack('<IIQQQ', 0xffffffff, 0, at, 0x100000, offset) + name.ljust((len(name) + 8) // 8 * 8, b'\0')
        records += struct.pack('<IHH', MMAP, KERNEL, 8 + len(body)) + body
    for address in addresses:
        records += struct.pack('<IHHQII', SAMPLE, KERNEL, 24, address + shift, 1, 1)
    with open('perf.data', 'wb') as file:
        file.write(b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 144, 104, 144, 248, len(records), 0, 0) + bytes(32))
        file.write(bytes(attr) + struct.pack('<QQ', 0, 0) + records)


@test
def kernel_that_a_recording_does_not_name_is_this_one_only_if_it_lay_here():
    """perf names the functions of any kernel as those of the one that runs: false names."""
    needs_root()
    with open('/proc/kallsyms', encoding='utf-8') as file:
        symbols = {line.split()[2]: int(line.split()[0], 16) for line in file if line.split()[2] in ('_text', '_stext', 'vfs_read')}
    text = symbols.get('_text', symbols.get('_stext'))
    if not text:
        skip("the kernel hides its functions' addresses")
    kernel_recording([symbols['vfs_read'] + 4], 0, text)
    assert '[k] vfs_read' in pace('report', '-s', 'sym').out
    moved = 0x1000000
    kernel_recording([symbols['vfs_read'] + 4], moved, text + moved)
    result = pace('report', '-s', 'sym')
    assert 'vfs_read' not in result.out and f"0x{symbols['vfs_read'] + 4 + moved:016x}" in result.out, result
    assert 'does not say which kernel ran, and its address is not that of the running one' in result.out, result
    assert '[k] vfs_read' in pace('report', '-s', 'sym', '--kallsyms', '/proc/kallsyms').out
    kernel_recording([symbols['vfs_read'] + 4], 0, text, b'/lib/modules/4.9.0-4-amd64/kernel/arch/x86/kvm/kvm.ko')
    result = pace('report', '-s', 'sym')
    assert 'vfs_read' not in result.out and 'it was recorded on Linux 4.9.0-4-amd64, this is ' in result.out, result


@test
def kernel_source_lines_come_from_vmlinux_wherever_the_kernel_lay():
    symbols = made_up_kernel()
    kernel_recording([symbols['first'], symbols['_stext'] + 1])
    result = pace('script', '-F', 'ip,sym,symoff,srcline', '-k', 'vmlinux')
    assert result.status == 0 and f"{symbols['first'] + LAY - LINKED:x} first+0x0" in result.out, result
    assert re.search(r'kernel\.c:[34]\b', result.out), result
    table = pace('report', '-k', 'vmlinux', '-s', 'sym,srcline')
    assert re.search(r'\[k\] first\s+kernel\.c:[34]\b', table.out), table


# ---- code that changes ----

def poke(address, old, new):
    body = struct.pack('<QHH', address, len(old), len(new)) + old + new
    body += b'\0' * (-len(body) % 8)
    return struct.pack('<IHH', 20, KERNEL, 8 + len(body)) + body


@test
def kernel_code_that_changes_is_told_as_perf_tells_it():
    """An attr that asks for pokes, two of them; nothing else."""
    can_record()
    attr = bytearray(136)
    struct.pack_into('<IIQQQQ', attr, 0, 1, 120, 0, 4000, 1, 0)
    records = poke(0xffffffff81000010, b'\x0f\x1f\x44\0\0', b'\xe8\1\2\3\4') + poke(0xffffffffc0000000, b'', b'\xcc' * 40)
    attrs = bytes(attr[:120]) + struct.pack('<QQ', 0, 0)
    with open('perf.data', 'wb') as file:
        file.write(b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 136, 104, 136, 240, len(records), 0, 0) + bytes(32) + attrs + records)
    mine = pace('script', '--show-text-poke-events')
    assert mine.status == 0, mine
    told = [line.split('PERF_RECORD_')[1] for line in mine.out.splitlines() if 'TEXT_POKE' in line]
    assert len(told) == 2 and 'ffffffff81000010' in told[0], mine
    for number in ('0f1f440000', 'e801020304', 'cc' * 40):
        assert number in re.sub(r'(New bytes:|[^0-9a-f])', '', mine.out.split(' bytes:', 1)[1]), mine


if __name__ == '__main__':
    main()
