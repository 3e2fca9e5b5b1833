"""The answers that stand in the programs' sources, and whether a stack is what they say.

    SPIN; /* at hot_plain */                                     this is the line that frame hot_plain is at
    /* chain: hot_plain <- (wrapped) <- scene_plain <- main */   these are the frames, the innermost first

A frame is a function's name; in parentheses it was inlined. Its line is the one marked "at NAME"; NAME@OTHER is at line
OTHER, NAME@any at whatever line. NAME*3 are three such frames, NAME+ one or more. "~" is one frame, "..." any number of
frames, of code that is not ours. "if" tells when a frame is there, " -- " behind the chain when all of it is so: Python, with
the facts of a build as its variables. A chain ends with "main" or "_start", behind which there is only the way to the
program's entry; with "end", the root of another stack; or with "cut", where no more can be known.

The first name of a chain is its own: each sample that is in that function must have this stack.
"""
import re


class Frame:
    """Of a pattern: names None are code that is not ours."""

    def __init__(self, text):
        self.low = self.high = 1
        self.name, self.is_inlined, self.tag, self.is_anything = None, False, 'any', False
        text = text.strip()
        if text == '~':
            return
        # the C library has no frame pointers: where it called us from, the kernel follows what is no chain
        self.is_anything = text == 'anything'
        if text in ('...', 'anything'):
            self.low, self.high = 0, 1000
            return
        found = re.fullmatch(r'(.*?)(?:\*(\d+)|(\+))', text)
        if found:
            text = found[1]
            self.low, self.high = (1, 1000) if found[3] else (int(found[2]), int(found[2]))
        self.is_inlined = text.startswith('(') and text.endswith(')')
        if self.is_inlined:
            text = text[1:-1]
        self.name, _, tag = text.partition('@')
        self.tag = tag or self.name


class Chain:
    def __init__(self, text, condition):
        self.condition, self.ending, self.text = condition, None, text
        self.frames = []  # (Frame, condition)
        for part in text.split(' <- '):
            part, _, when = part.partition(' if ')
            if part.strip() in ('end', 'cut'):
                self.ending = part.strip()
            else:
                self.frames.append((Frame(part), when.strip()))
        self.key = next(frame.name for frame, _ in self.frames if frame.name)
        # the same where nobody knows what was inlined
        self.bare_key = next(frame.name for frame, _ in self.frames if frame.name and not frame.is_inlined)
        if not self.ending:
            self.ending = self.frames[-1][0].name

    def pattern(self, facts):
        frames = [frame for frame, when in self.frames if not when or eval(when, {}, facts)]
        if not facts['inlines']:
            frames = [frame for frame in frames if not frame.is_inlined]
        if self.ending in ('main', '_start'):
            if self.ending == '_start':
                frames = frames[:-1]
            frames += [Frame('...'), Frame('_start@any')] if facts['dwarf'] else [Frame('anything')]
        return frames


class Answers:
    def __init__(self, sources):
        self.lines, self.chains, self.names = {}, {}, {'main', '_start'}
        for path in sources:
            with open(path, encoding='utf-8') as f:
                self.read(f.read(), path.rsplit('/', 1)[-1])
        for chains in self.chains.values():
            for chain in chains:
                self.names |= {frame.name for frame, _ in chain.frames if frame.name}

    def read(self, text, file):
        for number, line in enumerate(text.split('\n'), 1):
            found = re.search(r'/\* at (.*) \*/', line)
            for tag in found[1].split(' at ') if found else ():
                assert tag not in self.lines, f'{file}:{number}: {tag} is marked twice'
                self.lines[tag] = f'{file}:{number}'
            found = re.search(r'/\* chain: (.*) \*/', line)
            if found:
                chain, _, condition = found[1].partition(' -- ')
                chain = Chain(chain, condition)
                self.chains.setdefault(chain.key, []).append(chain)

    def chains_for(self, facts):
        """name -> chains: of more than one each is true as far as it goes, and one must be it."""
        found = {}
        for chains in self.chains.values():
            for chain in chains:
                if not chain.condition or eval(chain.condition, {}, facts):
                    found.setdefault(chain.key if facts['inlines'] else chain.bare_key, []).append(chain)
        return found


def is_frame(pattern, frame, answers, facts, is_leaf):
    """Whether a frame of a stack, (name, is_inlined, line, ...), is one of a pattern."""
    name, is_inlined, line = frame[:3]
    if pattern.is_anything:
        return True
    if pattern.name is None:
        return name not in answers.names or name == '_start'
    if (name, is_inlined) != (pattern.name, pattern.is_inlined):
        return False
    # the innermost may be sampled before and behind its loop
    return not facts['lines'] or pattern.tag == 'any' or is_leaf or line == answers.lines[pattern.tag]


def matches(patterns, frames, answers, facts, at=0):
    """Whether the frames are what the patterns say, to the last one."""
    if not patterns:
        return not frames
    first = patterns[0]
    n = 0
    while n < first.high and n < len(frames) and is_frame(first, frames[n], answers, facts, at + n == 0):
        n += 1
    return any(matches(patterns[1:], frames[taken:], answers, facts, at + taken) for taken in range(n, first.low - 1, -1))
