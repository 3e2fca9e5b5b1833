"""Writes perf.data files whose samples say what no processor here can: memory accesses, transactions, branches."""
import struct

IP, TID, TIME, ADDR, CPU, PERIOD = 1, 2, 4, 8, 1 << 7, 1 << 8
CALLCHAIN, BRANCH_STACK, DATA_SRC, TRANSACTION, REGS_INTR = 1 << 5, 1 << 11, 1 << 15, 1 << 17, 1 << 18
PHYS_ADDR, DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT = 1 << 19, 1 << 22, 1 << 23, 1 << 24

# In the order in which the kernel writes them.
FIELDS = [(IP, 'ip', 'Q'), (TID, 'who', '2I'), (TIME, 'time', 'Q'), (ADDR, 'addr', 'Q'), (CPU, 'cpu', '2I'), (PERIOD, 'period', 'Q'),
          (CALLCHAIN, 'chain', 'words'), (BRANCH_STACK, 'branches', None), (WEIGHT_STRUCT, 'weight', 'I2H'), (DATA_SRC, 'data_src', 'Q'), (TRANSACTION, 'transaction', 'Q'),
          (REGS_INTR, 'ax', '2Q'), (PHYS_ADDR, 'phys', 'Q'), (DATA_PAGE_SIZE, 'data_page', 'Q'), (CODE_PAGE_SIZE, 'code_page', 'Q')]

PID, TEXT = 4242, 0x400000
HEADER, ATTR, FEATURE_BRANCH_STACK = 104, 128, 15
MMAP, LOST, COMM, SAMPLE, USER = 1, 2, 3, 9, 2


def record(kind, misc, body):
    body += b'\0' * (-len(body) % 8)
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def sample(sample_type, **values):
    body = b''
    for bit, name, layout in FIELDS:
        if not sample_type & bit:
            continue
        value = values[name]
        if layout is None:
            body += struct.pack('<Q', len(value)) + b''.join(struct.pack('<3Q', *entry) for entry in value)
        elif layout == 'words':
            body += struct.pack('<Q%dQ' % len(value), len(value), *value)
        else:
            body += struct.pack('<' + layout, *(value if isinstance(value, tuple) else (value,)))
    return record(SAMPLE, values.get('misc', USER), body)


def write(path, sample_type, samples, branch_type=0, program=None, library=None, event=(0, 0), flags=1):
    """program, library: a path, and where its code is: address, bytes, offset in the file. REGS_INTR is AX alone."""
    attr = struct.pack('<2I5Q2I3Q', event[0], ATTR, event[1], 1000, sample_type, 0, flags, 0, 0, 0, 0, branch_type)
    attr = (attr + struct.pack('<Q2IQ', 0, 0, 0, 1 if sample_type & REGS_INTR else 0)).ljust(ATTR, b'\0')
    data = record(COMM, 0, struct.pack('<2I', PID, PID) + b'made\0')
    for name, start, size, offset in filter(None, (program or ('/nowhere/made', TEXT, 0x10000, TEXT), library)):
        data += record(MMAP, USER, struct.pack('<2I3Q', PID, PID, start, size, offset) + name.encode() + b'\0')
    data += record(MMAP, USER | 1 << 13, struct.pack('<2I3Q', PID, PID, 0x600000, 0x10000, 0x600000) + b'/nowhere/data\0')
    data += b''.join(sample(sample_type, **dict({'who': (PID, PID), 'cpu': (0, 0), 'time': i + 1, 'period': 1000}, **s))
                     for i, s in enumerate(samples))
    data_at = HEADER + ATTR + 16
    features = 1 << FEATURE_BRANCH_STACK if branch_type else 0
    with open(path, 'wb') as file:
        file.write(b'PERFILE2' + struct.pack('<2Q', HEADER, ATTR + 16) + struct.pack('<6Q', HEADER, ATTR + 16, data_at, len(data), 0, 0) +
                   struct.pack('<4Q', features, 0, 0, 0))
        file.write(attr + struct.pack('<2Q', 0, 0) + data)
        if features:
            file.write(struct.pack('<2Q', data_at + len(data) + 16, 0))


def data_src(op=0, level=0, snoop=0, lock=0, tlb=0, number=0, remote=0, more=0, block=0):
    return op | level << 5 | snoop << 19 | lock << 24 | tlb << 26 | number << 33 | remote << 37 | more << 38 | block << 40


def write_memory(path):
    """Every bit of what a memory access says, alone and in the company that processors give it."""
    accesses = [data_src(op=2, level=2 | 1 << bit, tlb=2 | 8, lock=1, snoop=2) for bit in range(3, 14)]
    accesses += [data_src(op=2, level=4 | 1 << bit, tlb=4 | 0x20, lock=2, snoop=4, block=4) for bit in (3, 5, 6, 7)]
    accesses += [data_src(op=4, snoop=1 << bit, tlb=2 | 0x18, lock=0, block=2, level=2 | 8) for bit in range(5)]
    accesses += [data_src(op=2, level=2, number=n, remote=n % 2, block=1) for n in (1, 2, 3, 4, 9, 10, 11, 12, 13, 14)]
    accesses += [data_src(op=1, level=1, snoop=1, lock=1, tlb=1, block=1), 0, data_src(more=1, snoop=2, tlb=0x40)]
    flags = [2, 1, 1 | 4, 2 | 8 | 0x10, 2 | 4 | 0x20, 2 | 4 | 0x40, 2 | 4 | 0x80, 2 | 4 | 0x10 | 0xff << 32, 0, 2 | 8 | 0x1 << 32]
    samples = []
    for i, access in enumerate(accesses * 2):
        samples.append({'ip': TEXT + 0x100 + i % 7 * 4, 'addr': 0x600000 + i * 24, 'weight': (10 + i % 5, 3 + i % 3, 1 + i % 2),
                        'data_src': access, 'transaction': flags[i % len(flags)], 'phys': 0x1000 * (i % 4 + 1), 'data_page': 4096 << i % 2 * 9,
                        'code_page': 4096, 'period': 1000 + i})
    write(path, IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT_STRUCT | DATA_SRC | TRANSACTION | PHYS_ADDR | DATA_PAGE_SIZE | CODE_PAGE_SIZE,
          samples)


def write_branches(path):
    samples = [{'ip': TEXT + 0x200, 'branches': [(TEXT + 0x100 + i % 3 * 16, TEXT + 0x800 + (i + k) % 4 * 32, 1 + i % 2 | i % 2 << 2 | k % 2 << 3 | (i * k) << 4)
                                                 for k in range(4)]} for i in range(24)]
    write(path, IP | TID | TIME | PERIOD | BRANCH_STACK, samples, branch_type=1 << 3)


# ---- times of counters ----

READ_RECORD, SAMPLE_READ, FORMAT_TIMES, FORMAT_ID, INHERIT, INHERIT_STAT, ID_ALL = 8, 1 << 4, 1 | 2, 4, 1 << 1, 1 << 11, 1 << 18


def write_multiplexed(path):
    """Four events of one program: samples that read the first one's counter, the second one's threads when they ended, samples of the third one
    on two CPUs, and threads of the fourth one, which had two counters each, on the CPU where they ended.

    The first had a counter for 1 of 4 s, the second for 0.5 of 1 and 1 of 3 s, the third always, on one CPU or the other. Of the fourth
    nobody knows.
    """
    kind = IP | TID | TIME | PERIOD | 1 << 16
    attrs = b''.join(struct.pack('<2I5Q2I3Q', 0, ATTR, config, 1000, kind | more, FORMAT_TIMES | FORMAT_ID, flags | ID_ALL, 0, 0, 0, 0, 0).ljust(ATTR, b'\0')
                     + struct.pack('<2Q', HEADER + 4 * (ATTR + 16) + 8 * config + 8 * (config == 3), 8 + 8 * (config > 1))
                     for config, more, flags in ((0, SAMPLE_READ, 0), (1, 0, INHERIT | INHERIT_STAT), (2, SAMPLE_READ, INHERIT), (3, 0, INHERIT | INHERIT_STAT)))
    ids, s = struct.pack('<6Q', *range(1, 7)), 10**9
    trailer = lambda number, time: struct.pack('<2I2Q', PID, PID, time, number)  # noqa: E731
    data = record(COMM, 0, struct.pack('<2I', PID, PID) + b'made\0\0\0\0' + trailer(1, 0))
    for i in range(4):
        # The last one is of an earlier moment: files are not in the order of time.
        at = (1, 2, 4, 3)[i]
        data += record(SAMPLE, USER, struct.pack('<2Q2I2Q4Q', 1, TEXT, PID, PID, at * s, 1000, 1000 * at, at * s, at * s // 4, 1))
        data += record(SAMPLE, USER, struct.pack('<2Q2I2Q', 2, TEXT, PID, PID, at * s + 1, 1000))
        on = 3 + at % 2
        data += record(SAMPLE, USER, struct.pack('<2Q2I2Q4Q', on, TEXT, PID, PID, at * s + 2, 1000, 1000 * at, at * s, 2 * s, on))
    for number, tid, enabled, running in ((2, PID, s, s // 2), (2, PID + 1, 3 * s, s), (5, PID, s, s // 4)):
        data += record(READ_RECORD, 0, struct.pack('<2I4Q', PID, tid, 5000, enabled, running, number) + trailer(number, 4 * s))
    with open(path, 'wb') as file:
        file.write(b'PERFILE2' + struct.pack('<2Q', HEADER, ATTR + 16) + struct.pack('<6Q', HEADER, len(attrs), HEADER + len(attrs) + len(ids), len(data), 0, 0) + bytes(32))
        file.write(attrs + ids + data)


# ---- the scheduler ----

FORK, EXIT, SWITCH_CPU_WIDE, RAW, IDENTIFIER, SAMPLE_ID_ALL = 7, 4, 15, 1 << 10, 1 << 16, 1 << 18
TRACEPOINT, FEATURE_TRACING = 2, 1
COMMON = [('unsigned short', 'common_type', 2), ('unsigned char', 'common_flags', 1), ('unsigned char', 'common_preempt_count', 1),
          ('int', 'common_pid', 4)]
TRACEPOINTS = {
    'sched:sched_switch': (301, [('char', 'prev_comm[16]', 16), ('pid_t', 'prev_pid', 4), ('int', 'prev_prio', 4), ('long', 'prev_state', 8),
                                 ('char', 'next_comm[16]', 16), ('pid_t', 'next_pid', 4), ('int', 'next_prio', 4)]),
    'sched:sched_wakeup': (302, [('char', 'comm[16]', 16), ('pid_t', 'pid', 4), ('int', 'prio', 4), ('int', 'target_cpu', 4)]),
    'sched:sched_stat_sleep': (307, [('char', 'comm[16]', 16), ('pid_t', 'pid', 4), ('int', 'pad', 4), ('unsigned long', 'delay', 8)]),
    'power:cpu_idle': (303, [('u32', 'state', 4), ('u32', 'cpu_id', 4)]),
    'power:cpu_frequency': (304, [('u32', 'state', 4), ('u32', 'cpu_id', 4)]),
    'syscalls:sys_enter_read': (305, [('int', '__syscall_nr', 4), ('int', 'pad', 4), ('unsigned long', 'fd', 8)]),
    'syscalls:sys_exit_read': (306, [('int', '__syscall_nr', 4), ('int', 'pad', 4), ('long', 'ret', 8)]),
}
LETTERS = {'u32': 'I', 'pid_t': 'i', 'int': 'i', 'long': 'q', 'unsigned long': 'Q'}


def trace_format(name):
    number, fields = TRACEPOINTS[name]
    text, offset = f'name: {name.split(":")[1]}\nID: {number}\nformat:\n', 0
    for kind, field, size in COMMON + fields:
        text += f'\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:{int(kind in ("int", "long", "pid_t"))};\n'
        offset += size
        if field == 'common_pid':
            text += '\n'
    return (text + '\nprint fmt: "made"\n').encode()


def tracing_data():
    """trace-cmd.dat(5), version 6: no functions, no formats of printk."""
    page = b'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n' \
           b'\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n'
    event = b'# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n'
    data = b'\x17\x08\x44tracing0.6\0' + struct.pack('<BBI', 0, 8, 4096)
    data += b'header_page\0' + struct.pack('<Q', len(page)) + page + b'header_event\0' + struct.pack('<Q', len(event)) + event
    data += struct.pack('<I', 0)
    systems = sorted({name.split(':')[0] for name in TRACEPOINTS})
    data += struct.pack('<I', len(systems))
    for system in systems:
        names = [name for name in TRACEPOINTS if name.split(':')[0] == system]
        data += system.encode() + b'\0' + struct.pack('<I', len(names))
        for name in names:
            text = trace_format(name)
            data += struct.pack('<Q', len(text)) + text
    return data + struct.pack('<IIQ', 0, 0, 0)


class Scheduler:
    """A recording of the scheduler, event by event; times are ns from 1 s on."""

    def __init__(self, path, names=('sched:sched_switch', 'sched:sched_wakeup', 'power:cpu_idle')):
        self.path, self.names, self.size = path, list(names), 0
        self.type = IP | TID | TIME | CPU | PERIOD | RAW | IDENTIFIER
        self.file = open(path, 'wb')
        self.at = HEADER + (ATTR + 16) * len(self.names) + 8 * len(self.names)
        self.file.seek(self.at)

    def put(self, data):
        self.file.write(data)
        self.size += len(data)

    def trailer(self, pid, tid, time, cpu):
        return struct.pack('<2IQ2IQ', pid, tid, time, cpu, 0, 1)

    def comm(self, pid, tid, name, time=0):
        body = struct.pack('<2I', pid, tid) + name[:15].ljust(16, b'\0')
        self.put(record(COMM, 0, body + self.trailer(pid, tid, time, 0)))

    def fork(self, pid, tid, parent, time):
        self.put(record(FORK, 0, struct.pack('<4IQ', pid, parent, tid, parent, time) + self.trailer(parent, parent, time, 0)))

    def exit(self, pid, tid, time):
        self.put(record(EXIT, 0, struct.pack('<4IQ', pid, pid, tid, tid, time) + self.trailer(pid, tid, time, 0)))

    def lost(self, time, cpu, n):
        self.put(record(LOST, 0, struct.pack('<2Q', 1, n) + self.trailer(0, 0, time, cpu)))

    def event(self, name, time, cpu, tid, *values, pid=None, flags=0):
        number, fields = TRACEPOINTS[name]
        raw = struct.pack('<HBBi', number, flags, 0, tid)
        for (kind, _, size), value in zip(fields, values):
            raw += value[:size].ljust(size, b'\0') if kind == 'char' else struct.pack('<' + LETTERS[kind], value)
        raw = raw.ljust(-(-(len(raw) + 4) // 8) * 8 - 4, b'\0')
        body = struct.pack('<QQ2IQ2IQI', self.names.index(name) + 1, 0, tid if pid is None else pid, tid, time, cpu, 0, 1, len(raw)) + raw
        self.put(record(SAMPLE, 1, body))

    def switch(self, time, cpu, prev, state, following, names=None):
        name = (names or {}).get
        self.event('sched:sched_switch', time, cpu, prev, name(prev, b'idle' if not prev else b'task%d' % prev), prev, 120, state,
                   name(following, b'idle' if not following else b'task%d' % following), following, 120)

    def wakeup(self, time, cpu, waker, woken, flags=0, names=None):
        self.event('sched:sched_wakeup', time, cpu, waker, (names or {}).get(woken, b'task%d' % woken), woken, 120, cpu, flags=flags)

    def close(self):
        n, file = len(self.names), self.file
        ids_at = HEADER + (ATTR + 16) * n
        tracing, description = tracing_data(), struct.pack('<2I', n, ATTR)
        for i, name in enumerate(self.names):
            attr = struct.pack('<2I5Q2I3Q', TRACEPOINT, ATTR, TRACEPOINTS[name][0], 1, self.type, 0, SAMPLE_ID_ALL, 0, 0, 0, 0, 0).ljust(ATTR, b'\0')
            file.seek(HEADER + (ATTR + 16) * i)
            file.write(attr + struct.pack('<2Q', ids_at + 8 * i, 8))
            file.seek(ids_at + 8 * i)
            file.write(struct.pack('<Q', i + 1))
            text = name.encode().ljust(64, b'\0')
            description += attr + struct.pack('<2I', 1, len(text)) + text + struct.pack('<Q', i + 1)
        file.seek(0)
        file.write(b'PERFILE2' + struct.pack('<2Q', HEADER, ATTR + 16) + struct.pack('<6Q', HEADER, (ATTR + 16) * n, self.at, self.size, 0, 0) +
                   struct.pack('<4Q', 1 << FEATURE_TRACING | 1 << 12, 0, 0, 0))
        sections = self.at + self.size
        file.seek(sections)
        file.write(struct.pack('<4Q', sections + 32, len(tracing), sections + 32 + len(tracing), len(description)) + tracing + description)
        file.close()
