"""What tests that call pace and perf alike record, and what they make of what both print."""
import os
import re

from harness import can_record, needs, perf_works, run, skip

# Everything that runs is in this file: nothing depends on the symbols of libraries.
PROGRAM = r'''static volatile long x;
__attribute__((noinline)) void leaf(long n) { for (long i = 0; i < n; i++) x += i; }
__attribute__((noinline)) void mid_a(long n) { leaf(n); x++; }
__attribute__((noinline)) void mid_b(long n) { leaf(n); for (long i = 0; i < n; i++) x += i; }
__attribute__((noinline)) void rare(long n) { mid_a(n / 50); x++; }
__attribute__((noinline)) void outer(long n) { mid_a(n); mid_b(n); rare(n); x++; }
__attribute__((noreturn)) void begin(void)
{
	for (int i = 0; i < ROUNDS; i++)
		outer(200000);
	__asm__ volatile("syscall" : : "a"(231), "D"(0));
	__builtin_unreachable();
}
/* No frame is before this one. */
__asm__(".globl _start\n.type _start,@function\n_start: xor %ebp,%ebp\nand $-16,%rsp\ncall begin\nhlt\n.size _start,.-_start\n");
'''


def program(rounds, name):
    with open('calls.c', 'w', encoding='utf-8') as file:
        file.write(PROGRAM.replace('ROUNDS', str(rounds)))
    assert run('cc', '-g', '-O1', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', '-static', '-nostdlib', '-o', name, 'calls.c').status == 0


def recording():
    can_record()
    perf_works()
    needs('cc')
    if os.uname().machine != 'x86_64':
        skip('the program is of x86')
    program(60, 'calls')
    assert run('perf', 'record', '-q', '-g', '--sample-cpu', '-e', 'cpu-clock:u', '-F', '3000', '-o', 'c.data', './calls').status == 0
    assert run('perf', 'record', '-q', '--sample-cpu', '-e', 'cpu-clock:u', '-F', '3000', '-o', 'd.data', './calls').status == 0


def cells(line):
    return tuple(re.sub(r' +', ' ', cell.strip()) for cell in line.split('|'))


def shape(text):
    """Lines with each number as its kind: how many digits stand behind the point, and whether it is 0."""
    text = re.sub(r'\d+\.(\d+)', lambda m: 'x.' + 'd' * len(m[1]), text)
    return re.sub(r'\b\d+\b', 'n', text)
