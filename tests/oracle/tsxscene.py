"""A program with transactions, and a recording of its aborts: what no processor here can deliver.

The program's code is real, with lines; the samples are written down here, as PEBS and the last branch records of a processor with TSX
write them. A lock library, a file of its own, begins the transactions (elide) and goes on after their aborts.

    site      samples   weight each   why                                       branches inside the transaction
    bump      6         100           TX ASYNC RETRY CON                        4 by 'call bump', 2 by 'jump, call bump'
    work      3         300           TX SYNC (an instruction)                  16, all in the transaction: it began before
    check     2         50            TX SYNC :ff (XABORT: the lock was busy)   none: aborted at once
    fill      1         9000          EL SYNC CAP-WRITE                         not recorded
"""
import re

import handmade
from handmade import BRANCH_STACK, CALLCHAIN, IP, PERIOD, REGS_INTR, TID, TIME, TRANSACTION, WEIGHT_STRUCT
from harness import *  # noqa: F401,F403

PROGRAM = """int shared, table[64];
__attribute__((noinline)) void bump(int i)
{
	table[i & 63]++;
	shared++;
}
__attribute__((noinline)) int work(int i)
{
	for (int k = 0; k < i; k++)
		table[k & 63] += k;
	return table[0];
}
__attribute__((noinline)) int fill(int i)
{
	table[i & 31] = i;
	return i;
}
__attribute__((noinline)) int section(int i)
{
	if (i & 1)
		i += work(i);
	bump(i);
	return fill(i) + i;
}
int main(int argc, char **argv)
{
	(void)argv;
	return section(argc);
}
"""
LIBRARY = """int busy;
__attribute__((noinline)) int check(int i)
{
	return busy + i;
}
__attribute__((noinline)) int elide(int i)
{
	return check(i) * 2;
}
__attribute__((noinline)) int fall_back(int i)
{
	busy++;
	return i + 1;
}
"""
LIBRARY_AT = 0x7f0000000000
MISC = IP | TID | TIME | PERIOD


def instructions(path):
    """name -> [(address in the file, text)]"""
    code, name = {}, None
    for line in run('objdump', '-d', '--no-show-raw-insn', path).out.splitlines():
        if title := re.match(r'[0-9a-f]+ <(\w+)>:', line):
            name = title.group(1)
        elif (instruction := re.match(r' +([0-9a-f]+):\t(.*)', line)) and name:
            code.setdefault(name, []).append((int(instruction.group(1), 16), instruction.group(2).strip()))
    return code


def segment(path):
    """Offset, address and size of the code."""
    return (int(text, 16) for text in re.search(r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E', run('readelf', '-lW', path).out).groups())


class Scene:
    def __init__(self):
        needs('objdump', 'readelf', 'nm')
        for name, text in ('section.c', PROGRAM), ('lock.c', LIBRARY):
            with open(name, 'w', encoding='utf-8') as file:
                file.write(text)
        self.program = build_c(os.path.abspath('section.c'), 'section', '-no-pie', '-fomit-frame-pointer')
        self.library = build_c(os.path.abspath('lock.c'), 'liblock.so', '-shared', '-fPIC', '-fomit-frame-pointer')
        self.code = instructions(self.program)
        offset, address, size = segment(self.program)
        self.program_map = (self.program, address, size + 0xfff & ~0xfff, offset)
        offset, address, size = segment(self.library)
        moved = LIBRARY_AT - address
        self.library_map = (self.library, LIBRARY_AT, size + 0xfff & ~0xfff, offset)
        for name, found in instructions(self.library).items():
            self.code.setdefault(name, [(at + moved, text) for at, text in found])

    def at(self, function, pattern='', which=0):
        """The address of an instruction of the function."""
        return [address for address, text in self.code[function] if re.match(pattern, text)][which]

    def after(self, function, address):
        return next(at for at, _ in self.code[function] if at > address)

    def sites(self):
        return {'bump': self.at('bump', which=-2), 'work': self.at('work', which=2), 'check': self.at('check', which=1), 'fill': self.at('fill', which=1)}

    def samples(self):
        """(how often, sample)"""
        site = self.sites()
        to_work, to_bump, to_fill = (self.at('section', rf'call.*<{name}>') for name in ('work', 'bump', 'fill'))
        begun, main = self.after('elide', self.at('elide', 'call')), self.after('main', self.at('main', 'call'))
        landed = self.at('elide', which=-2)
        # PERF_CONTEXT_USER, where the abort leads to, and its callers.
        chain = (-512 & (1 << 64) - 1, landed, self.after('section', to_bump), main)
        tx, ended = 2 | 1 << 2, 2 | 1 << 2 | 1 << 3

        def branches(ip, *inside):
            """The newest first: what the handler did, the abort, the branches in the transaction, what came before it."""
            return [(self.at('fall_back', 'ret'), landed, 2), (ip, landed, ended), *((a, b, tx) for a, b in inside),
                    (begun - 1, self.at('section'), 2), (main - 5, self.at('section'), 2)]

        back = (self.at('work', 'ret'), self.after('section', to_work))
        short, long = [(to_bump, self.at('bump'))], [(to_bump, self.at('bump')), back, (to_work, self.at('work'))]
        turns = [(self.at('work', 'j'), self.at('work', which=1), tx)] * 14
        return [
            (4, {'ip': site['bump'], 'transaction': 2 | 8 | 0x10 | 0x20, 'ax': (2, 6), 'weight': (100, 0, 0), 'chain': chain, 'branches': branches(site['bump'], *short)}),
            (2, {'ip': site['bump'], 'transaction': 2 | 8 | 0x10 | 0x20, 'ax': (2, 6), 'weight': (100, 0, 0), 'chain': chain, 'branches': branches(site['bump'], *long)}),
            (3, {'ip': site['work'], 'transaction': 2 | 4, 'ax': (2, 0), 'weight': (300, 0, 0), 'chain': chain,
                 'branches': [(site['work'], landed, ended), *turns, (to_work, self.at('work'), tx)]}),
            (2, {'ip': site['check'], 'transaction': 2 | 4 | 0xff << 32, 'ax': (2, 0xff000001), 'weight': (50, 0, 0), 'chain': chain, 'branches': branches(site['check'])}),
            (1, {'ip': site['fill'], 'transaction': 1 | 4 | 0x40, 'ax': (2, 0), 'weight': (9000, 0, 0), 'chain': chain, 'branches': []}),
        ]

    def write(self, path, sample_type=MISC | CALLCHAIN | BRANCH_STACK | WEIGHT_STRUCT | TRANSACTION | REGS_INTR, event=(4, 0x4c9)):
        samples = [sample for n, sample in self.samples() for _ in range(n)]
        handmade.write(path, sample_type, samples, branch_type=1 << 3 if sample_type & BRANCH_STACK else 0, program=self.program_map,
                       library=self.library_map, event=event, flags=1 | 2 << 15)
