"""Recordings by others, in the shared folder: which there are, and which the installed perf shows otherwise than pace."""
import glob
import re

from harness import needs_shared, pace

# Where the two differ, and why pace is not made to agree.
DIFFER = {
    '530393297__furry-octo-wookie': 'perf calls the kernel [kernel.vmlinux] because of a file name in the build-id table',
    'perf.data.e4288b23': 'no times, and samples before the maps they need: perf loses 1,587 of them to [unknown], pace does not',
    'ikod__gio': 'no build-id: perf names functions of the kernel it runs on, which is not the one that was recorded',
    'intel_pt-4.14': 'perf decodes the instruction trace into samples of its own',
    'piped': 'perf names functions of the kernel it runs on, which is not the one that was recorded',
    'contentsize': 'the same',
    'data.zstd': 'the same',
    'own/be-': 'the same',
}
# perf 6.1 takes branch stacks for what was sampled.
BRANCHES = re.compile(r'branch|perf_b\.data')


def recordings():
    root = needs_shared('fixtures')
    return [path for path in sorted(glob.glob(f'{root}/*/*'))
            if not re.search(r'EXPECTED|ELFBINARY|\.(header|report|script)$|README', path)]


# simpleperf's recordings that have names of functions with them, which perf does not look at.
NAMED = re.compile(r'perf_with_symbols|generic_git_symbols|add_counter|perf_test_vmlinux|trace_offcpu|dynamic_field')


def elsewhere(path):
    """What has no names, since the recording was made on another machine and has no build-id of it: perf takes the file of this machine
    that has the same path, and its own vdso."""
    page = pace('report', '-i', path, '--ledger', '-g', 'none', '--no-children').out
    return set(re.findall(r' in (\S+) have no function name: (?:the recording was made on another machine|the vdso of the recording)', page))


def comparable(named=False):
    """Those that both should show alike, except what is of branches; those that have names with them only where names do not matter."""
    return [path for path in recordings() if 'corpus' not in path and not any(part in path for part in DIFFER)
            and (named or not NAMED.search(path))]
