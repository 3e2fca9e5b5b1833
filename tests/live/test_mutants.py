#!/usr/bin/env python3
"""Reports on good recordings of damaged programs: whatever is wrong with an ELF file or its debug information, the report is
printed in time, in little memory, and says what it could not read. There are 60 damaged programs; PACE_MUTANTS=1000 makes more."""
import collections
import os
import random
import re
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

N = int(os.environ.get('PACE_MUTANTS', '60'))
SEED = os.environ.get('PACE_MUTANTS_SEED', '1')
KEEP = os.environ.get('PACE_MUTANTS_KEEP')  # a folder for those that something was wrong with
CPU_S = 10
MEMORY_KB = 1 << 20  # the sanitizer takes most of it

C = '''
volatile unsigned s;
static inline __attribute__((always_inline)) void mix(unsigned i) { s = s * 31 ^ i; s += s >> 3; }
static inline __attribute__((always_inline)) void twice(unsigned i) { mix(i); mix(i + 1); }
__attribute__((noinline)) void work(unsigned n) { for (unsigned i = 0; i < n; i++) twice(i); s++; }
__attribute__((noinline)) void deep(unsigned n) { if (n) deep(n - 1); else work(20000000); s++; }
int main(void) { deep(10); return 0; }
'''
CXX = '''
#include <algorithm>
#include <map>
#include <string>
#include <vector>
int main()
{
	std::map<std::string, int> m;
	std::vector<int> v;
	for (int i = 0; i < 200000; i++) { m[std::to_string(i % 997)] += i; v.push_back(i * 31 % 1009); }
	for (int i = 0; i < 20; i++) { std::reverse(v.begin(), v.end()); std::sort(v.begin(), v.end(), [](int a, int b) { return a % 10 < b % 10; }); }
	return m.size() & 0;
}
'''
PROGRAMS = [
    ('plain', 'cc', 'c', C, '-O2 -g -gdwarf-5'),
    ('templates', 'c++', 'cc', CXX, '-O2 -g -gdwarf-4 -fno-omit-frame-pointer'),
    ('packed', 'cc', 'c', C, '-O1 -g -gz=zlib -static'),
]


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))


def report(*options):
    """Output, and what is wrong about the run; '' if nothing is."""
    with open('out', 'wb') as out, open('err', 'wb') as err:
        process = subprocess.Popen([PACE, 'report', *options], stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    out, err = (open(name, errors='replace').read() for name in ('out', 'err'))
    if os.WIFSIGNALED(status):
        return out, f'signal {os.WTERMSIG(status)}: {err[-3000:]}'
    if 'runtime error' in err or 'Sanitizer' in err:
        return out, err[-3000:]
    if usage.ru_maxrss > MEMORY_KB:
        return out, f'{usage.ru_maxrss} KiB'
    if '# Samples: ' not in out:
        return out, f'no report: {out[-500:]} {err[-500:]}'
    if re.search('[\x00-\x08\x0b-\x1f\x7f]', out + err):
        return out, 'control bytes'
    return out, ''


def total(out):
    return sum(float(share) for share in re.findall(r'^ +([\d.]+)%', out, re.M))


def complaints(out):
    return re.findall(r'# .*(?:damaged|is left out|makes no sense|malformed|no more than|no debug information|reading its debug information|is packed in an unknown|unpacking a section|compiled without -g|is stripped|cannot|another build|not an ELF|cut).*', out)


def campaign(name, compiler, extension, source, flags, n):
    needs(compiler)
    tool = needs_shared('tools/mutate_elf.py')
    can_record()
    with open(f'{name}.{extension}', 'w', encoding='utf-8') as file:
        file.write(source)
    done = run(compiler, *flags.split(), '-o', name, f'{name}.{extension}')
    assert done.status == 0, done
    os.environ['XDG_CACHE_HOME'] = os.getcwd()
    # Without build-ids: the damaged files would be refused at once.
    assert pace('record', '-q', '-B', '-g', '-F', '500', '-e', 'cpu-clock:u', '-o', 'fp.data', f'./{name}').status == 0
    assert pace('record', '-q', '-B', '-F', '200', '--call-graph', 'dwarf', '-e', 'cpu-clock:u', '-o', 'dwarf.data', f'./{name}').status == 0
    good, wrong = report('-s', 'srcline', '-g', 'none', '--no-children', '-i', 'fp.data')
    assert not wrong and 98 < total(good) < 102 and f'{name}.{extension}:' in good, (wrong, good[-2000:])
    subprocess.run([sys.executable, tool, name, 'mutants', str(n), SEED], check=True)
    kinds = dict(line.rstrip('\n').split('\t') for line in open('mutants/manifest.tsv'))
    bad, told = [], collections.Counter()
    for mutant in sorted(kinds):
        shutil.copy(f'mutants/{mutant}', name)
        lines = ''
        for what in (['-s', 'srcline', '-g', 'none', '--no-children', '--ledger', '-i', 'fp.data'], ['-g', 'caller', '--ledger', '-i', 'fp.data'],
                     ['-G', '--ledger', '-i', 'dwarf.data']):
            out, wrong = report(*what)
            if not wrong and what[0] == '-s':
                lines = out
                if not 98 < total(out) < 102:
                    wrong = f'the shares come to {total(out)}: {out[-1000:]}'
            if wrong:
                bad.append(f'{mutant} ({kinds[mutant]}) {" ".join(what)}: {wrong}')
                if KEEP:
                    os.makedirs(KEEP, exist_ok=True)
                    for path in (name, 'fp.data', 'dwarf.data'):
                        shutil.copy(path, f'{KEEP}/{mutant}-{path}')
        # What lost its lines says why; that a byte of a file's name is another one nobody can see.
        if lines_in(lines) < lines_in(good) / 2:
            told['lost'] += 1
            if not complaints(lines):
                bad.append(f'{mutant} ({kinds[mutant]}): its lines are gone, and nobody says why: {lines[-1500:]}')
    assert not bad, f'{len(bad)} of {3 * n} runs:\n' + '\n====\n'.join(bad[:10])


def lines_in(out):
    return sum(float(share) for share in re.findall(r'^ +([\d.]+)% .*:\d+$', out, re.M))


@test
def damaged_programs_with_plain_debug_information_are_survived():
    campaign(*PROGRAMS[0], N // 3)


@test
def damaged_programs_with_templates_are_survived():
    campaign(*PROGRAMS[1], N // 3)


@test
def damaged_programs_with_packed_sections_are_survived():
    campaign(*PROGRAMS[2], N // 3 + N % 3)


main()
