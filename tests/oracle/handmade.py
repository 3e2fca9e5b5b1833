"""Writes perf.data files whose samples say what no processor here can: memory accesses, transactions, branches."""
import struct

IP, TID, TIME, ADDR, CPU, PERIOD = 1, 2, 4, 8, 1 << 7, 1 << 8
CALLCHAIN, BRANCH_STACK, DATA_SRC, TRANSACTION = 1 << 5, 1 << 11, 1 << 15, 1 << 17
PHYS_ADDR, DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT = 1 << 19, 1 << 22, 1 << 23, 1 << 24

# In the order in which the kernel writes them.
FIELDS = [(IP, 'ip', 'Q'), (TID, 'who', '2I'), (TIME, 'time', 'Q'), (ADDR, 'addr', 'Q'), (CPU, 'cpu', '2I'), (PERIOD, 'period', 'Q'),
          (CALLCHAIN, 'chain', 'words'), (BRANCH_STACK, 'branches', None), (WEIGHT_STRUCT, 'weight', 'I2H'), (DATA_SRC, 'data_src', 'Q'), (TRANSACTION, 'transaction', 'Q'),
          (PHYS_ADDR, 'phys', 'Q'), (DATA_PAGE_SIZE, 'data_page', 'Q'), (CODE_PAGE_SIZE, 'code_page', 'Q')]

PID, TEXT = 4242, 0x400000
HEADER, ATTR, FEATURE_BRANCH_STACK = 104, 128, 15
MMAP, COMM, SAMPLE, USER = 1, 3, 9, 2


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


def write(path, sample_type, samples, branch_type=0, program=None):
    """program: a path, and where its code is: address, bytes, offset in the file."""
    name, start, size, offset = program or ('/nowhere/made', TEXT, 0x10000, TEXT)
    attr = struct.pack('<2I5Q2I3Q', 0, ATTR, 0, 1000, sample_type, 0, 1, 0, 0, 0, 0, branch_type).ljust(ATTR, b'\0')
    data = record(COMM, 0, struct.pack('<2I', PID, PID) + b'made\0')
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
