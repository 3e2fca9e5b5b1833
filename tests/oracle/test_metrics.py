#!/usr/bin/env python3
"""Metrics of the vendors' tables: every formula is understood, has the value that another evaluator computes, and needs events that
exist; and what `stat -M` makes of them."""
import glob
import json
import math
import os
import random
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
from tables import all_linux_tables, alone, folders_of, rows_of  # noqa: E402

METRICS = os.path.join(BUILD, 'tests', 'metrics')


# ---- another evaluator ----

TOKEN = re.compile(r'\s*(?:(#\w+)|((?:\\[-,=:/]|[\w.:?@])+(?:(?<=[0-9]e)-[0-9]+)?)|(<=|>=|==|!=|[-+*/%()<>&|^,]))')
LEVELS = [['|'], ['^'], ['&'], ['<', '>', '<=', '>=', '==', '!='], ['+', '-'], ['*', '/', '%']]
NUMBER = re.compile(r'([0-9]+\.?[0-9]*|\.[0-9]+)(e-?[0-9]+)?$')


class Formula:
    """Computes while it reads; `known` has names, #literals and sources:names."""

    def __init__(self, text, known):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            assert found, (text, at)
            self.tokens.append(next(group for group in found.groups() if group))
            at = found.end()
        self.tokens.append('')
        self.known = known

    def take(self, *words):
        if self.tokens[0] in words:
            return self.tokens.pop(0)
        return None

    def expect(self, word):
        assert self.take(word), (word, self.tokens[:5])

    def whole(self):
        value = self.conditional()
        assert self.tokens == [''], self.tokens
        return value

    def conditional(self):
        value = self.level(0)
        if not self.take('if'):
            return value
        condition = self.level(0)
        self.expect('else')
        other = self.conditional()
        return math.nan if math.isnan(condition) else value if condition else other

    def level(self, n):
        if n == len(LEVELS):
            return self.unary()
        left = self.level(n + 1)
        while word := self.take(*LEVELS[n]):
            left = binary(word, left, self.level(n + 1))
        return left

    def unary(self):
        if self.take('-'):
            return -self.unary()
        if self.take('('):
            value = self.conditional()
            self.expect(')')
            return value
        return self.operand(self.tokens.pop(0))

    def operand(self, word):
        if word in ('min', 'max', 'd_ratio') and self.take('('):
            a = self.conditional()
            self.expect(',')
            b = self.conditional()
            self.expect(')')
            if word == 'd_ratio':
                return a / b if b else 0.0
            return math.nan if math.isnan(a) or math.isnan(b) else (min if word == 'min' else max)(a, b)
        if word in ('source_count', 'has_event', 'strcmp_cpuid_str') and self.take('('):
            name = plain(self.tokens.pop(0))
            self.expect(')')
            return float({'source_count': self.known.get('sources:' + name, math.nan), 'has_event': name in self.known,
                          'strcmp_cpuid_str': 'cpu:' + name in self.known}[word])
        if word.startswith('#'):
            return self.known.get(word.lower(), math.nan)
        if NUMBER.match(word):
            return float(word)
        return self.known.get(plain(word), math.nan)


def binary(word, a, b):
    if word in '|&^':
        x, y = (None if math.isnan(v) else bool(v) for v in (a, b))
        if word == '|' and (x or y):
            return 1.0
        if word == '&' and (x is False or y is False):
            return 0.0
        if x is None or y is None:
            return math.nan
        return float({'|': x or y, '&': x and y, '^': x != y}[word])
    if word in '/%' and not b:
        return math.nan
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if word == '%':
        return math.fmod(int(a), int(b))
    return float({'+': a + b, '-': a - b, '*': a * b, '<': a < b, '>': a > b, '<=': a <= b, '>=': a >= b, '==': a == b,
                  '!=': a != b}[word]) if word != '/' else a / b


def plain(name):
    """As -e takes it."""
    return re.sub(r'\\(.)', r'\1', name.replace('@', '/').replace('?', '0'))


# ---- all formulas of Linux ----

LITERALS = {'#smt_on': 1, '#core_wide': 0, '#num_cpus': 64, '#num_cpus_online': 62, '#num_cores': 32, '#num_dies': 4, '#num_packages': 2,
            '#system_tsc_freq': 2.5e9, '#slots': 6, '#has_pmem': 0, '#ebs_mode': 0}


def formulas():
    rows = [row for tables in all_linux_tables() for arch in sorted(glob.glob(f'{tables}/arch/*/')) for row in rows_of(arch)]
    return [row[key] for row in rows for key in ('MetricExpr', 'MetricThreshold') if key in row]


def names_in(text):
    """What can be a name in a formula, numbers and words of the language among them: too many are harmless."""
    return {plain(word) for word in re.findall(r'(?:\\.|[\w.:?@])+', re.sub(r'#\w+', ' ', text))}


def computed(lines):
    write('lines', '\n'.join(lines) + '\n')
    result = run(METRICS, 'lines')
    assert result.status == 0, result.err
    answers = result.out.split('\n')[:-1]
    assert len(answers) == len(lines), (len(answers), len(lines))
    return answers


@test
def every_formula_of_linux_tables_is_understood():
    texts = formulas()
    answers = computed(texts)
    wrong = [(text, answer) for text, answer in zip(texts, answers) if answer.startswith('error')]
    assert not wrong, (len(wrong), wrong[:5])
    print(f'# {len(texts)} formulas and thresholds, {len(set(texts))} of them different')
    assert len(texts) > 3000, len(texts)


@test
def formulas_have_the_values_that_another_evaluator_computes():
    chance = random.Random(8086)
    texts = sorted(set(formulas()))
    lines, worlds = [], []
    for text in texts:
        known = {name: float(chance.choice((0, 1, chance.randrange(1000), chance.randrange(10**9)))) for name in sorted(names_in(text))
                 if not NUMBER.match(name)}
        # Now and then an event is not there.
        known = {name: value for name, value in known.items() if chance.random() < .97}
        known.update({'sources:' + name: float(chance.randrange(1, 9)) for name in list(known)})
        known.update(LITERALS)
        known['#smt_on'] = chance.randrange(2)
        worlds.append(known)
        lines.append('\t'.join([text] + [f'{name}={value!r}' for name, value in known.items()]))
    n_numbers = 0
    for text, known, answer in zip(texts, worlds, computed(lines)):
        ours, theirs = float(answer.split('\t')[0]), Formula(text, known).whole()
        if math.isnan(theirs):
            assert math.isnan(ours), (text, ours, theirs)
            continue
        assert math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-300), (text, ours, theirs)
        n_numbers += 1
    print(f'# {n_numbers} of {len(texts)} formulas have a number, the same as elsewhere')
    assert n_numbers > 900, (n_numbers, len(texts))


# ---- events of metrics ----

# What the kernel's driver has for every core of Arm's.
ARM = 'cpu_cycles inst_retired inst_spec br_mis_pred br_pred br_retired l2i_cache l2i_cache_refill l2i_tlb l2i_tlb_refill l1i_tlb l1d_tlb'.split()
CORES = {'x86': 'cpu', 'arm64': 'armv8_pmuv3_0', 'powerpc': 'cpu', 's390': 'cpum_cf', 'riscv': 'cpu', 'nds32': 'cpu'}
# What the kernel names on these machines, besides what formulas name with their PMU.
NAMED = {'x86': {'cpu': ['slots', 'topdown-retiring', 'topdown-bad-spec', 'topdown-fe-bound', 'topdown-be-bound', 'topdown-heavy-ops',
                         'topdown-br-mispredict', 'topdown-fetch-lat', 'topdown-mem-bound', 'cycles-t', 'cycles-ct', 'tx-start', 'el-start'],
                 'msr': ['tsc', 'aperf', 'mperf', 'pperf', 'smi'], 'power': ['energy-pkg', 'energy-cores', 'energy-ram', 'energy-gpu']},
         'arm64': {'armv8_pmuv3_0': ARM}}
TERMS = '''event umask cmask inv edge any config config1 config2 offcore_rsp ldlat frontend occ_sel occ_edge occ_invert thresh filter_opc filter_band0
 filter_band1 filter_band2 filter_band3 filter_state filter_nid filter_tid filter_nm filter_all_op filter_opc0 filter_opc_0 filter_opc_1 filter_rem
 filter_loc filter_not_nm filter_opcode enallcores enallslices sliceid threadmask coreid ch_mask fc_mask rdwrmask eventid type wp_dev_sel chip core
 domain offset axi_id axi_mask axi_port axi_channel nodeid bynodeid wp_chn_sel wp_grp wp_val wp_mask wp_exclusive wp_combine occupid pmcxsel unit
 metric_id in_tx in_tx_cp'''.split()


def write(path, text):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    open(path, 'w').write(text)


def pmu_of(unit):
    """A PMU of the kind that a table calls `unit`; what vendor.c says, in short."""
    own = {'core': None, 'CBO': 'uncore_cbox', 'SBO': 'uncore_sbox', 'UBO': 'uncore_ubox', 'QPI LL': 'uncore_qpi', 'UPI LL': 'uncore_upi',
           'iMPH-U': 'uncore_arb', 'DFPMC': 'amd_df', 'L3PMC': 'amd_l3', 'UMCPMC': 'amd_umc', 'CPU-M-CF': 'cpum_cf', 'CPU-M-SF': 'cpum_sf',
           'PAI-CRYPTO': 'pai_crypto', 'PAI-EXT': 'pai_ext', 'hisi_sccl,ddrc': 'hisi_sccl1_ddrc0', 'hisi_sccl,hha': 'hisi_sccl1_hha0',
           'hisi_sccl,l3c': 'hisi_sccl1_l3c0', 'hisi_sicl,cpa': 'hisi_sicl1_cpa0'}
    if unit in own:
        return own[unit]
    return unit if re.match(r'cpu_|ali_|arm_|imx', unit) else 'uncore_' + unit.lower()


def make_sysfs(root, arch, rows):
    """A machine that has every PMU that these rows name, and there the events that only formulas name."""
    units = {row['Unit'] for row in rows if 'Unit' in row}
    cores = sorted(unit for unit in units if unit in ('cpu_core', 'cpu_atom')) or [CORES[arch]]
    pmus = {pmu: set() for pmu in [pmu_of(unit) for unit in units] + cores + ['msr', 'power'] if pmu}
    for row in rows:
        for name in names_in(row.get('MetricExpr', '') + ' ' + row.get('MetricThreshold', '')):
            pmu, slash, terms = name.partition('/')
            if slash and not any(pmu.upper() == str(r.get('EventName')).upper() for r in rows):
                known = next((p for p in pmus if p == pmu or p == 'uncore_' + pmu or p.startswith(pmu)), pmu)
                pmus.setdefault(known, set()).add(terms.split('/')[0].split(',')[0])
    for pmu, events in NAMED.get(arch, {}).items():
        for own in cores if pmu in ('cpu', 'armv8_pmuv3_0') else [pmu]:
            pmus.setdefault(own, set()).update(events)
    for number, (pmu, events) in enumerate(sorted(pmus.items())):
        path = f'{root}/bus/event_source/devices/{pmu}'
        write(f'{path}/type', f'{20 + number if pmu != "cpu" else 4}\n')
        if pmu in cores and pmu != 'cpu':
            write(f'{path}/cpus', '0-3\n')
        os.symlink(os.path.abspath('format'), f'{path}/format')
        for i, event in enumerate(sorted(events)):
            if re.match(r'[a-zA-Z][\w.-]*$', event):
                write(f'{path}/events/{event}', f'event={i + 1:#x}\n')
    # Without threads that share cores several metrics depend on no event.
    write(f'{root}/devices/system/cpu/smt/active', '1\n')
    return root


def is_the_tables_fault(reason, rows):
    """No event is in the formula (or not on this machine), or one that the table does not have either."""
    missing = re.search("there is no event '([^']+)'", reason)
    if not missing:
        return 'depends on no count on this machine' in reason
    return missing[1].lower() not in {str(row.get('EventName')).lower() for row in rows}


def check_model(tables, arch, folder):
    """How many metrics this model has, {metric: why its events cannot be counted}, and of these {metric: reason} pace's own failures."""
    rows = list(rows_of(os.path.join(tables, 'arch', arch, folder))) + list(rows_of(os.path.join(tables, 'arch', arch), deep=False))
    if not any('MetricExpr' in row for row in rows):
        return 0, {}, {}
    model = alone(tables, arch, folder, f'{arch}-{folder.replace("/", "-")}')
    sysfs = make_sysfs(f'sys-{model}', arch, rows)
    result = pace('list', 'metrics', '--json', '--sysfs', sysfs, '--events-dir', model, env=dict(os.environ, PACE_CPUID=model))
    assert result.status == 0, (model, result)
    listed = [metric for metric in json.loads(result.out) if metric['topic'] != 'pace']
    shutil.rmtree(sysfs)
    shutil.rmtree(model)
    broken = {metric['name']: metric['reason'] for metric in listed if metric['events'] is None}
    return len(listed), broken, {name: reason for name, reason in broken.items() if not is_the_tables_fault(reason, rows)}


@test
def events_of_all_metrics_of_all_models_exist():
    for term in TERMS:
        write(f'format/{term}', 'config:0-63\n')
    for tables in all_linux_tables():
        n, n_models, broken, wrong = 0, 0, {}, {}
        for arch, folder in folders_of(tables):
            n_here, broken_here, wrong_here = check_model(tables, arch, folder)
            n += n_here
            n_models += n_here > 0
            broken.update({(arch, folder, name): reason for name, reason in broken_here.items()})
            wrong.update({(arch, folder, name): reason for name, reason in wrong_here.items()})
        print(f'# {tables.split("/")[-4]}: {n} metrics of {n_models} models; {len(broken)} cannot be counted, by their tables:')
        for key, reason in sorted(broken.items()):
            print('#', *key, reason[:200])
        assert n > 2000 and not wrong and len(broken) < n / 200, (n, wrong)


main()
