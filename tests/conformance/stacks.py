"""The stacks of a recording, as `pace script` tells them."""
import re
from collections import namedtuple

# line: "file.c:12", or None; is_kernel: of the kernel's part of the stack
StackFrame = namedtuple('StackFrame', 'name is_inlined line dso')
Stack = namedtuple('Stack', 'comm tid frames')

FIELDS = 'comm,tid,ip,sym,dso,srcline'


def is_kernel(frame):
    return frame.dso == '[kernel.kallsyms]' or re.fullmatch(r'\[\w+\]', frame.dso or '') and frame.dso not in ('[vdso]', '[unknown]')


def parse(text):
    """All samples; the frames of user space only, the innermost first."""
    for block in text.split('\n\n'):
        lines = [line for line in block.split('\n') if line]
        if not lines:
            continue
        comm, tid = re.fullmatch(r'\s*(.*?)\s+(\d+)\s*', lines[0]).groups()
        frames = []
        for line in lines[1:]:
            found = re.fullmatch(r'\t\s*([0-9a-f]+) (.*?) \((inlined|[/[].*)\)', line)
            if found:
                is_inlined = found[3] == 'inlined'
                frames.append(StackFrame(found[2], is_inlined, None, None if is_inlined else found[3]))
                continue
            found = re.fullmatch(r'  (.*?)(?::(\d+)|\[[0-9a-f]+\])(?: \(inlined\))?', line)
            assert found and frames, repr(line)
            if found[2]:
                frames[-1] = frames[-1]._replace(line=f'{found[1]}:{found[2]}')
        yield Stack(comm, int(tid), without_kernel(frames))


def without_kernel(frames):
    """An inlined frame belongs to the next one that is not."""
    start = 0
    for number, frame in enumerate(frames):
        if is_kernel(frame):
            start = number + 1
    return frames[start:]
