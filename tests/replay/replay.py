"""Machines that are not here: their PMUs as sysfs describes them, and counts that were written down, for pace and for perf.

    with machine('sapphirerapids', {'slots': 8000, 'topdown-retiring': 2000, 'cycles': [500, 700]}) as on:
        on.pace('stat', '-e', '{slots,topdown-retiring}', 'true')
        on.perf('stat', '-e', 'cycles', 'true')

tests/replay/replay.c stands between the program and the kernel (LD_PRELOAD). HACKING.md says more."""
import contextlib
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import BUILD, PACE, TOP, check_sane, run, skip  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TREES = os.path.join(TOP, 'tests', 'events', 'trees')
SHIM = os.path.join(BUILD, 'tests', 'libreplay.so')
DEVICES = 'sys/bus/event_source/devices'

# As include/uapi/linux/perf_event.h numbers them.
GENERIC = ['cpu-cycles', 'instructions', 'cache-references', 'cache-misses', 'branch-instructions', 'branch-misses', 'bus-cycles',
           'stalled-cycles-frontend', 'stalled-cycles-backend', 'ref-cycles']
SOFTWARE = ['cpu-clock', 'task-clock', 'page-faults', 'context-switches', 'cpu-migrations', 'minor-faults', 'major-faults',
            'alignment-faults', 'emulation-faults', 'dummy', 'bpf-output', 'cgroup-switches']
CACHES = ['L1-dcache', 'L1-icache', 'LLC', 'dTLB', 'iTLB', 'branch', 'node']
OPERATIONS = {'loads': 0, 'load-misses': 1 << 16, 'stores': 1 << 8, 'store-misses': 1 << 8 | 1 << 16, 'prefetches': 2 << 8,
              'prefetch-misses': 2 << 8 | 1 << 16}
ALIASES = {'cycles': 'cpu-cycles', 'branches': 'branch-instructions', 'cs': 'context-switches', 'faults': 'page-faults',
           'migrations': 'cpu-migrations'}
# What the kernel's generic events are: intel_perfmon_event_map, amd_zen4_perfmon_event_map, armv8_pmuv3_perf_map.
MAPS = {
    'intel': [0x3c, 0xc0, 0x4f2e, 0x412e, 0xc4, 0xc5, 0x13c, 0, 0, 0x300],
    'amd': [0x76, 0xc0, 0xff60, 0x964, 0xc2, 0xc3, 0, 0xa9, 0, 0x100000120],
    'arm': [0x11, 0x08, 0x04, 0x03, 0x0c, 0x10, 0x1d, 0x23, 0x24, 0],
}


# Lists of counts: how long each number is for, unless 'every' says otherwise.
EVERY_MS = 200


class Pmu:
    def __init__(self, name):
        self.name, self.files, self.words, self.kind = name, {}, [], None

    def text(self, path, default=''):
        return self.files.get(path, default)

    @property
    def type(self):
        return int(self.text('type'))

    def config(self, terms):
        """The config that terms stand for: names of events and fields, as sysfs describes them."""
        config = 0
        for term in filter(None, terms.split(',')):
            name, _, value = term.partition('=')
            if not value and f'events/{name}' in self.files:
                config |= self.config(self.files[f'events/{name}'])
                continue
            if name == 'config':
                config |= int(value, 0)
                continue
            if f'format/{name}' not in self.files:
                raise KeyError(f"PMU '{self.name}' has no event or field '{name}'")
            where, bits = self.files[f'format/{name}'].split(':')
            if where == 'config':
                config |= spread(int(value or '1', 0), bits)
        return config


def spread(value, bits):
    """A field's value in its bits: "0-7,32-35"."""
    config = 0
    for piece in bits.split(','):
        low, _, high = piece.partition('-')
        for bit in range(int(low), int(high or low) + 1):
            config |= (value & 1) << bit
            value >>= 1
    return config


def cpus_of(text):
    found = []
    for piece in filter(None, text.split(',')):
        low, _, high = piece.partition('-')
        found += range(int(low), int(high or low) + 1)
    return found


class Machine:
    """What machines/NAME.machine says."""

    def __init__(self, name):
        self.name, self.pmus, self.cpus, self.threads, self.sockets = name, {}, 4, 1, 1
        self.vendor, self.numbers, self.midr = 'GenuineIntel', (6, 0, 0), None
        self.flags, self.more = '', {}
        with open(f'{HERE}/machines/{name}.machine', encoding='ascii') as file:
            for line in file:
                line = line.split('#')[0].strip()
                if line:
                    word, rest = line.split(None, 1)
                    getattr(self, 'take_' + word)(rest)
        for pmu in self.pmus.values():
            if not pmu.kind:
                pmu.kind = 'uncore' if 'cpumask' in pmu.files else 'plain'

    def pmu(self, name):
        return self.pmus.setdefault(name, Pmu(name))

    def take_tree(self, name):
        with open(f'{TREES}/{name}.tree', encoding='ascii') as file:
            for line in file:
                if not line.startswith('#'):
                    self.take_file(line.rstrip('\n'))

    def take_file(self, line):
        if ' < ' in line:
            new, old = line.split(' < ')
            self.pmu(new).files.update(self.pmu(old).files)
        elif line:
            path, text = line.split(' = ', 1)
            pmu, _, rest = path.partition('/')
            self.pmu(pmu).files[rest] = text

    def take_without(self, name):
        for path in [path for path in self.pmus if re.fullmatch(name, path)]:
            del self.pmus[path]
        for pmu in self.pmus.values():
            for path in [path for path in pmu.files if re.fullmatch(name, f'{pmu.name}/{path}')]:
                del pmu.files[path]

    def take_vendor(self, rest):
        self.vendor, *numbers = rest.split()
        self.numbers = tuple(int(n, 0) for n in numbers)

    def take_midr(self, rest):
        self.midr = rest

    def take_flags(self, rest):
        """More words for the flags in /proc/cpuinfo."""
        self.flags += ' ' + rest

    def take_sys(self, rest):
        """Any file of sysfs: "devices/system/cpu/smt/control = on"."""
        path, text = rest.split(' = ', 1)
        self.more['sys/' + path] = text

    def take_cpus(self, rest):
        self.cpus, self.threads, self.sockets = (int(n) for n in rest.split())

    def take_pmu(self, rest):
        name, kind, *words = rest.split()
        pmu = self.pmu(name)
        pmu.kind, pmu.words = kind, words

    def take_word(self, rest):
        name, *words = rest.split()
        self.pmu(name).words = self.pmu(name).words + words

    def is_core(self, pmu):
        return pmu.kind in MAPS

    def cores(self):
        return [pmu for pmu in self.pmus.values() if self.is_core(pmu)]

    def events(self, key):
        """The (type, config) of each event that a name stands for: cycles, slots, cpu/event=0x3c/, r3c, L1-dcache-loads, uncore_cha/clockticks/."""
        key = ALIASES.get(key, key)
        if key in SOFTWARE:
            return [(1, SOFTWARE.index(key))]
        if key in GENERIC:
            return [(pmu.type, config) for pmu in self.cores() if (config := MAPS[pmu.kind][GENERIC.index(key)])]
        for number, cache in enumerate(CACHES):
            if key.startswith(cache + '-') and key[len(cache) + 1:] in OPERATIONS:
                return [(3, number | OPERATIONS[key[len(cache) + 1:]])]
        if found := re.fullmatch('r([0-9a-f]+)', key):
            return [(pmu.type, int(found[1], 16)) for pmu in self.cores()]
        if '/' in key:
            name, terms = key.rstrip('/').split('/', 1)
            pmus = [pmu for pmu in self.pmus.values() if re.fullmatch(re.escape(name) + r'(_\d+)?', pmu.name)]
            if not pmus:
                raise KeyError(f"machine '{self.name}' has no PMU '{name}'")
            return [(pmu.type, pmu.config(terms)) for pmu in pmus]
        pmus = [pmu for pmu in self.pmus.values() if f'events/{key}' in pmu.files]
        if not pmus:
            raise KeyError(f"machine '{self.name}' has no event '{key}'")
        return [(pmu.type, pmu.config(key)) for pmu in pmus]


# ---- files ----

def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='ascii') as file:
        file.write(text + '\n')


def mask(cpus):
    return f'{sum(1 << cpu for cpu in cpus):x}'


def write_cpus(m, root):
    everyone = f'0-{m.cpus - 1}' if m.cpus > 1 else '0'
    for name in ('online', 'possible', 'present'):
        write(f'{root}/sys/devices/system/cpu/{name}', everyone)
    write(f'{root}/sys/devices/system/cpu/smt/active', str(int(m.threads > 1)))
    per_socket = m.cpus // m.sockets
    for cpu in range(m.cpus):
        socket, core = cpu // per_socket, cpu % per_socket // m.threads
        siblings = [c for c in range(m.cpus) if c // m.threads == cpu // m.threads]
        package = [c for c in range(m.cpus) if c // per_socket == socket]
        topology = {'core_id': core, 'physical_package_id': socket, 'die_id': 0, 'cluster_id': 0}
        for name, cpus in (('core_cpus', siblings), ('thread_siblings', siblings), ('package_cpus', package), ('core_siblings', package),
                           ('die_cpus', package), ('cluster_cpus', siblings)):
            topology[name] = mask(cpus)
            topology[name + '_list'] = ','.join(map(str, cpus))
        for name, value in topology.items():
            write(f'{root}/sys/devices/system/cpu/cpu{cpu}/topology/{name}', str(value))
        write(f'{root}/sys/devices/system/cpu/cpu{cpu}/online', '1')
        if m.midr:
            write(f'{root}/sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1', m.midr)
    write(f'{root}/sys/devices/system/node/online', '0')
    write(f'{root}/sys/devices/system/node/node0/cpulist', everyone)
    write(f'{root}/sys/devices/system/node/node0/meminfo', 'Node 0 MemTotal:       16777216 kB\nNode 0 MemFree:        8388608 kB')


def write_cpuinfo(m, root):
    family, model, stepping = m.numbers
    if m.midr:
        text = '\n'.join(f'processor\t: {cpu}\nCPU implementer\t: 0x41\n' for cpu in range(m.cpus))
    else:
        text = '\n'.join(f'processor\t: {cpu}\nvendor_id\t: {m.vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: {m.name}\n'
                         f'stepping\t: {stepping}\nsiblings\t: {m.cpus // m.sockets}\ncpu cores\t: {m.cpus // m.sockets // m.threads}\n'
                         f'flags\t\t: fpu tsc msr{" hle rtm" if any("rtm=1" in p.words for p in m.pmus.values()) else ""}{m.flags} arch_perfmon\n'
                         for cpu in range(m.cpus))
    write(f'{root}/proc/cpuinfo', text)


def write_root(m, root):
    for pmu in m.pmus.values():
        for path, text in pmu.files.items():
            write(f'{root}/{DEVICES}/{pmu.name}/{path}', text)
        if m.is_core(pmu) and pmu.kind != 'arm':
            write(f'{root}/{DEVICES}/{pmu.name}/rdpmc', '0' if 'no-rdpmc=1' in pmu.words else '1')
    os.makedirs(f'{root}/sys/devices', exist_ok=True)
    if 'cpu' in m.pmus:
        os.symlink(f'../bus/event_source/devices/cpu', f'{root}/sys/devices/cpu')
    for path, text in m.more.items():
        write(f'{root}/{path}', text)
    write(f'{root}/proc/sys/kernel/perf_event_paranoid', '-1')
    write(f'{root}/proc/sys/kernel/nmi_watchdog', '0')
    write_cpus(m, root)
    write_cpuinfo(m, root)


# ---- the plan ----

def plan_pmus(m):
    for pmu in m.pmus.values():
        if pmu.name in ('software', 'tracepoint', 'breakpoint'):
            continue
        cpus = cpus_of(pmu.text('cpus')) if m.is_core(pmu) else []
        generic = [f'generic={number},{config:#x}' for number, config in enumerate(MAPS.get(pmu.kind, [])) if config]
        yield f'pmu name={pmu.name} type={pmu.type} kind={pmu.kind} cpus={"0x" + mask(cpus) if cpus else 0} ' + ' '.join(pmu.words + generic)


def plan_counts(m, counts):
    for key, what in counts.items():
        name, _, cpu = key.partition('@')
        words = {'every': EVERY_MS, **(what if isinstance(what, dict) else {'values': what})}
        values = words.pop('values', None)
        if 'reads' in words:
            values, words['every'] = words.pop('reads'), 0
        text = ''.join(f' {word}={value}' for word, value in words.items())
        if values is not None:
            text += ' values=' + ','.join(map(str, values if isinstance(values, (list, tuple)) else [values]))
        for kind, config in m.events(name):
            yield f'count type={kind} config={config:#x} cpu={cpu or -1}{text}'


def plan_samples(m, samples):
    for key, several in samples.items():
        for kind, config in m.events(key):
            for sample in several:
                yield f'sample type={kind} config={config:#x} ' + ' '.join(f'{word}={text_of(value)}' for word, value in sample.items())


def text_of(value):
    """A number, or a list of numbers or of tuples of them: a chain, branches."""
    if not isinstance(value, (list, tuple)):
        return str(value)
    return ','.join(text_of(v) for v in value)


def counts_of(text):
    """A file of counts: "slots = 8000", "cycles@1 = 500 700", "instructions = 900 running=50", "branches = rate=2.5"; # begins a comment."""
    counts = {}
    for line in text.splitlines():
        line = line.split('#')[0].strip()
        if not line:
            continue
        name, words = line.split(' = ', 1)
        what = {'values': []}
        for word in words.split():
            key, equals, value = word.partition('=')
            if equals:
                what[key] = float(value) if key == 'rate' else int(value)
            else:
                what['values'].append(int(word, 0))
        counts[name.strip()] = what if what['values'] else {key: value for key, value in what.items() if key != 'values'}
    return counts


class Replay:
    """Runs programs on a machine."""

    def __init__(self, m, folder, is_strict):
        self.machine, self.folder, self.is_strict = m, folder, is_strict
        self.log = f'{folder}/log'

    def run(self, *args, env=None, **kwargs):
        """Any program; it sees the machine. The events it opens without a count are an error, if the test did not say otherwise."""
        before = len(self.said())
        # The shim stands before the sanitizer.
        asan = os.environ['ASAN_OPTIONS'] + ':verify_asan_link_order=0'
        result = run(*args, env={**os.environ, 'LC_ALL': 'C', 'PERF_CPUID': self.cpuid(), 'LD_PRELOAD': SHIM, 'ASAN_OPTIONS': asan,
                                 'REPLAY_PLAN': f'{self.folder}/plan', 'REPLAY_LOG': self.log, **(env or {})}, **kwargs)
        assert result.status != 99 or 'replay: ' not in result.err, result.err
        uncounted = [line for line in self.said()[before:] if line.startswith(('no count', 'lost'))]
        assert not self.is_strict or not uncounted, (uncounted, result)
        return result

    def pace(self, *args, **kwargs):
        result = self.run(PACE, *args, **kwargs)
        check_sane(result)
        return result

    def perf(self, *args, **kwargs):
        return self.run('perf', *args, **kwargs)

    def cpuid(self):
        if self.machine.midr:
            # Without variant and revision, as in the vendors' tables.
            return f'{int(self.machine.midr, 16) & ~0xf0000f:#018x}'
        family, model, stepping = self.machine.numbers
        return f'{self.machine.vendor}-{family}-{model:X}-{stepping:X}'

    def said(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding='ascii') as log:
            return log.read().splitlines()

    def openings(self):
        """What was opened, or tried: dictionaries with type, config, pid, cpu, group, period, format, error."""
        return [{word: int(value, 0) for word, value in
                 zip(('type', 'config', 'pid', 'cpu', 'group', 'period', 'format', 'error'), re.findall(r'(?<= )-?(?:0x)?[0-9a-f]+(?=[ :]|$)', line))}
                for line in self.said() if line.startswith('open ')]

    def forget(self):
        if os.path.exists(self.log):
            os.unlink(self.log)


@contextlib.contextmanager
def machine(name, counts=None, steps=(), samples=None, is_strict=True, also=()):
    """A machine of tests/replay/machines. counts: by names of events, with @CPU behind for one CPU; a number, a list, or
    {'values': [...], 'running': percent}; or a text as counts_of() reads it. A list has a number for each 200 ms ('every': others), {'reads': [...]}
    one for each read, {'rate': x} counts x a ms. steps: of slots and what the metrics
    register divides them into, for each look of user space (slots, [parts]). samples: by events, dictionaries with ip, weight,
    retire_latency, count, chain, branches ((from, to, flags), ...), ax and the like, which come as soon as the event is enabled. also: further lines of the machine's file."""
    if not os.path.exists(SHIM):
        skip('tests/libreplay.so is not built here')
    m = Machine(name)
    for line in also:
        word, rest = line.split(None, 1)
        getattr(m, 'take_' + word)(rest)
    with tempfile.TemporaryDirectory(prefix='pace-replay-') as folder:
        os.chmod(folder, 0o755)
        write_root(m, f'{folder}/root')
        lines = [f'machine root={folder}/root cpus={m.cpus}', *plan_pmus(m)]
        lines += plan_counts(m, counts_of(counts) if isinstance(counts, str) else counts or {})
        lines += [f'step slots={slots} parts={",".join(map(str, parts))}' for slots, parts in steps]
        lines += plan_samples(m, samples or {})
        write(f'{folder}/plan', '\n'.join(lines))
        yield Replay(m, folder, is_strict)
