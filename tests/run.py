#!/usr/bin/env python3
"""Runs every test and says how many passed. Words as arguments choose suites by name.

The programs run here are those of build-check: address and undefined-behaviour sanitizers are on. Everything prints TAP;
failed tests are shown with their comments, skipped ones with their reasons. Suites run in parallel, one more than there are
processors (PACE_JOBS sets the number), because most of them wait half of their time. Each is printed when it ends.

A live or oracle test that fails while others run is tried once more at the end, alone, and that result counts: samples, perf and the kernel's
lists depend on what else the machine does. The same holds for tests in the emulated machine, whose CPUs run when this machine has time for
them. Both results are printed. PACE_ONCE=1 turns this off.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get('PACE_BUILD', os.path.join(os.path.dirname(HERE), 'build-check')))
os.environ['PACE_BUILD'] = BUILD
os.environ.setdefault('PACE_SHARED', os.path.join(os.path.dirname(os.path.dirname(HERE)), 'shared'))
os.environ.setdefault('UBSAN_OPTIONS', 'halt_on_error=1:print_stacktrace=1')

# A suite that takes longer than this hangs, whatever else the machine has to do.
SECONDS_MAX = 3600

SUITES = [
    ('layers', [sys.executable, f'{HERE}/check_layers.py']),
    ('unit', [f'{BUILD}/tests/unit']),
    ('ladder', [f'{BUILD}/tests/ladder']),
    ('plan', [f'{BUILD}/tests/plan']),
    ('simulated', [f'{BUILD}/tests/simulated']),
    ('clinic', [f'{BUILD}/tests/clinic']),
    ('menu', [f'{BUILD}/tests/menu']),
    ('api', [f'{BUILD}/tests/api']),
    ('golden', [sys.executable, f'{HERE}/golden/run.py']),
    ('dev', [sys.executable, f'{HERE}/dev/test_dev.py']),
    ('docs', [sys.executable, f'{HERE}/dev/test_docs.py']),
    ('record', [sys.executable, f'{HERE}/live/test_record.py']),
    ('options', [sys.executable, f'{HERE}/live/test_record_options.py']),
    ('ring', [sys.executable, f'{HERE}/live/test_record_ring.py']),
    ('typed', [sys.executable, f'{HERE}/live/test_typed.py']),
    ('attrs', [sys.executable, f'{HERE}/oracle/test_record_options.py']),
    ('library', [sys.executable, f'{HERE}/live/test_library.py']),
    ('fleet', [sys.executable, f'{HERE}/live/test_fleet.py']),
    ('doctor', [sys.executable, f'{HERE}/live/test_doctor.py']),
    ('mcp', [sys.executable, f'{HERE}/live/test_mcp.py']),
    ('probe', [sys.executable, f'{HERE}/live/test_probe.py']),
    ('list', [sys.executable, f'{HERE}/live/test_list.py']),
    ('config', [sys.executable, f'{HERE}/live/test_config.py']),
    ('completion', [sys.executable, f'{HERE}/live/test_completion.py']),
    ('terminal', [sys.executable, f'{HERE}/live/test_terminal.py']),
    ('tui', [sys.executable, f'{HERE}/live/test_tui.py']),
    ('top', [sys.executable, f'{HERE}/live/test_top.py']),
    ('watch', [sys.executable, f'{HERE}/live/test_watch.py']),
    ('codeview', [sys.executable, f'{HERE}/live/test_codeview.py']),
    ('versus', [sys.executable, f'{HERE}/live/test_stat_vs.py']),
    ('travel', [sys.executable, f'{HERE}/live/test_travel.py']),
    ('codediff', [sys.executable, f'{HERE}/live/test_annotate.py']),
    ('jit', [sys.executable, f'{HERE}/live/test_jit.py']),
    ('wall', [sys.executable, f'{HERE}/live/test_wall.py']),
    ('unwind', [sys.executable, f'{HERE}/live/test_unwind.py']),
    ('whole', [sys.executable, f'{HERE}/live/test_whole.py']),
    ('lint', [sys.executable, f'{HERE}/live/test_lint.py']),
    ('threads', [sys.executable, f'{HERE}/live/test_threads.py']),
    ('faults', [sys.executable, f'{HERE}/live/test_faults.py']),
    ('traps', [sys.executable, f'{HERE}/live/test_traps.py']),
    ('injected', [sys.executable, f'{HERE}/live/test_injected.py']),
    ('kinds', [sys.executable, f'{HERE}/live/test_kinds.py']),
    ('surroundings', [sys.executable, f'{HERE}/live/test_surroundings.py']),
    ('exhausted', [sys.executable, f'{HERE}/live/test_exhausted.py']),
    ('mutants', [sys.executable, f'{HERE}/live/test_mutants.py']),
    ('madeup', [sys.executable, f'{HERE}/fuzz/test_madeup.py']),
    ('hostile', [sys.executable, f'{HERE}/fuzz/test_hostile.py']),
    ('stat', [sys.executable, f'{HERE}/live/test_stat.py']),
    ('events', [sys.executable, f'{HERE}/oracle/test_events.py']),
    ('oracle', [sys.executable, f'{HERE}/oracle/test_both_ways.py']),
    ('replay', [sys.executable, f'{HERE}/replay/test_replay.py']),
    ('replay', [sys.executable, f'{HERE}/replay/test_topdown.py']),
    ('tables', [sys.executable, f'{HERE}/replay/test_tables.py']),
    ('transactions', [sys.executable, f'{HERE}/replay/test_transactions.py']),
    ('statperf', [sys.executable, f'{HERE}/oracle/test_stat.py']),
    ('statfile', [sys.executable, f'{HERE}/oracle/test_statfile.py']),
    ('fixtures', [sys.executable, f'{HERE}/oracle/test_fixtures.py']),
    ('perfparser', [sys.executable, f'{HERE}/oracle/test_perfparser.py']),
    ('callers', [sys.executable, f'{HERE}/oracle/test_callers.py']),
    ('annotate', [sys.executable, f'{HERE}/oracle/test_annotate.py']),
    ('colour', [sys.executable, f'{HERE}/oracle/test_colour.py']),
    ('html', [sys.executable, f'{HERE}/oracle/test_html.py']),
    ('timechart', [sys.executable, f'{HERE}/oracle/test_timechart.py']),
    ('htmltime', [sys.executable, f'{HERE}/oracle/test_html_time.py']),
    ('flame', [sys.executable, f'{HERE}/oracle/test_flame.py']),
    ('import', [sys.executable, f'{HERE}/oracle/test_import.py']),
    ('c2c', [sys.executable, f'{HERE}/oracle/test_c2c.py']),
    ('quipper', [sys.executable, f'{HERE}/oracle/test_quipper.py']),
    ('lists', [sys.executable, f'{HERE}/oracle/test_list.py']),
    ('metrics', [sys.executable, f'{HERE}/oracle/test_metrics.py']),
    ('metricsreplay', [sys.executable, f'{HERE}/replay/test_metrics.py']),
    ('optionsreplay', [sys.executable, f'{HERE}/replay/test_options.py']),
    ('buildids', [sys.executable, f'{HERE}/oracle/test_buildids.py']),
    ('files', [sys.executable, f'{HERE}/oracle/test_files.py']),
    ('symbols', [sys.executable, f'{HERE}/oracle/test_symbols.py']),
    ('kernel', [sys.executable, f'{HERE}/oracle/test_kernel.py']),
    ('conformance', [sys.executable, f'{HERE}/conformance/test_conformance.py']),
    ('types', [sys.executable, f'{HERE}/conformance/test_types.py']),
    ('data', [sys.executable, f'{HERE}/live/test_types.py']),
    ('lines', [sys.executable, f'{HERE}/oracle/test_lines.py']),
    ('golang', [sys.executable, f'{HERE}/oracle/test_golang.py']),
    ('readperf', [sys.executable, f'{HERE}/oracle/test_readperf.py']),
    ('report', [sys.executable, f'{HERE}/oracle/test_report.py']),
    ('asperf', [sys.executable, f'{HERE}/oracle/test_asperf.py']),
    ('readers', [sys.executable, f'{HERE}/oracle/test_kinds.py']),
    ('inplace', [sys.executable, f'{HERE}/oracle/test_inplace.py']),
    ('perfcommands', [sys.executable, f'{HERE}/oracle/test_perfcommands.py']),
    ('workloads', [sys.executable, f'{HERE}/oracle/test_workloads.py']),
    ('tsx', [sys.executable, f'{HERE}/oracle/test_tsx.py']),
    ('script', [sys.executable, f'{HERE}/oracle/test_script.py']),
    ('python scripts', [sys.executable, f'{HERE}/oracle/test_pyscript.py']),
    ('graphs', [sys.executable, f'{HERE}/oracle/test_graphs.py']),
    ('sortkeys', [sys.executable, f'{HERE}/oracle/test_sortkeys.py']),
    ('sweep', [sys.executable, f'{HERE}/oracle/test_sweep.py']),
    ('combined', [sys.executable, f'{HERE}/oracle/test_combined.py']),
    ('branches', [sys.executable, f'{HERE}/oracle/test_branches.py']),
    ('branchdiff', [sys.executable, f'{HERE}/oracle/test_branchdiff.py']),
    ('groups', [sys.executable, f'{HERE}/oracle/test_groups.py']),
    ('probes', [sys.executable, f'{HERE}/oracle/test_probe.py']),
    ('diff', [sys.executable, f'{HERE}/oracle/test_diff.py']),
    ('gate', [sys.executable, f'{HERE}/live/test_gate.py']),
    ('exports', [sys.executable, f'{HERE}/oracle/test_exports.py']),
    ('guest', [sys.executable, f'{HERE}/guest/run.py']),
    ('fuzz', [sys.executable, f'{HERE}/fuzz/run.py']),
]


# These take longest: begun first, so that none of them is what everybody waits for in the end.
LONG = ['unit', 'oracle', 'guest', 'fuzz', 'attrs', 'fixtures', 'html', 'report', 'htmltime', 'options', 'travel', 'callers',
        'conformance', 'record', 'faults', 'timechart', 'hostile', 'diff', 'flame', 'sortkeys', 'golang', 'top', 'exhausted', 'unwind',
        'ring', 'readperf', 'stat', 'jit', 'threads', 'lines', 'kernel', 'surroundings', 'files', 'annotate', 'injected', 'c2c',
        'quipper', 'codeview', 'tui', 'exports', 'kinds', 'groups', 'buildids', 'traps', 'data', 'golden']


class Result:
    """What a suite came to, and what is printed of it."""

    def __init__(self, name):
        self.name = name
        self.passed = self.failed = self.skipped = 0
        self.failures = []  # tests
        self.text = ''

    def say(self, text):
        self.text += text + '\n'


running = []  # suites, as processes
is_over = []  # the status to end with, as soon as somebody wants that


def end_group(process):
    """Kills a suite that still runs, and what it left in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(name, command):
    result = Result(name)
    begin = time.time()
    comments, planned, seen, reasons = [], None, 0, {}
    # Comments belong to the result that follows them; a test's stderr is where its reasons are.
    # Programs were compiled there: what they know of the tree's files is relative to it.
    where = BUILD if command[0].startswith(BUILD) else None
    # Into a file: a pipe ends only when the last process that holds it does, and a test that failed may have left one.
    with tempfile.TemporaryFile('w+', errors='replace') as printed:
        with subprocess.Popen(command, cwd=where, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT,
                              start_new_session=True) as process:
            running.append(process)
            try:
                process.wait(timeout=SECONDS_MAX)
            except subprocess.TimeoutExpired:
                comments.append(f'# the suite did not end within {SECONDS_MAX} s and was killed\n')
            finally:
                running.remove(process)
                end_group(process)
        printed.seek(0)
        for line in printed:
            test = re.match(r'(not )?ok \d+ - (\S+)(.*)', line)
            plan = re.match(r'1\.\.(\d+)$', line)
            if plan:
                planned = int(plan.group(1))
            if not test:
                comments.append(line)
                continue
            seen += 1
            if test.group(1):
                result.failed += 1
                result.failures.append(test.group(2))
                result.say(f'\nFAILED {name}: {test.group(2)}\n' + ''.join(comments))
            elif '# SKIP' in test.group(3):
                result.skipped += 1
                why = [c[len('# SKIP '):].strip() for c in comments if c.startswith('# SKIP ')]
                reasons.setdefault(why[-1] if why else 'no reason given', []).append(test.group(2))
            else:
                result.passed += 1
            comments = []
    if planned != seen or planned is None:
        result.failed += 1
        result.say(f'\nFAILED {name}: it ended after {seen} of {planned} tests, status {process.returncode}\n' + ''.join(comments[-40:]))
    result.say(f'{name:11} {result.passed:4} passed, {result.failed} failed, {result.skipped} skipped  ({time.time() - begin:.0f} s)')
    for reason, tests in reasons.items():
        result.say(f'            skipped {len(tests)}: {reason} ({tests[0]}{", ..." if len(tests) > 1 else ""})')
    return result


def try_alone(results):
    """Those that failed beside others, again."""
    commands = dict(SUITES)
    for result in results:
        command = commands[result.name]
        if not any(f'{HERE}/{folder}/' in command[-1] for folder in ('live', 'oracle', 'conformance', 'guest', 'replay')):
            continue
        for test in list(result.failures):
            again = run(result.name, [*command, test])
            print(f'\nagain, alone: {result.name}: {test}', again.text, sep='\n', end='', flush=True)
            if again.failed or not again.passed + again.skipped:
                continue
            result.failures.remove(test)
            result.failed -= 1
            result.passed += bool(again.passed)
            result.skipped += not again.passed


def main():
    words = sys.argv[1:]
    waiting = [suite for suite in SUITES if not words or any(word in suite[0] for word in words)]
    waiting.sort(key=lambda suite: LONG.index(suite[0]) if suite[0] in LONG else len(LONG))
    results, lock = [], threading.Lock()

    def work():
        while True:
            with lock:
                if is_over or not waiting:
                    return
                suite = waiting.pop(0)
            result = run(*suite)
            with lock:
                results.append(result)
                print(result.text, end='', flush=True)

    def interrupted(number, _):
        # Suites have groups of their own, which the terminal does not tell.
        is_over.append(128 + number)
        for process in list(running):
            process.send_signal(signal.SIGINT)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    threads = [threading.Thread(target=work) for _ in range(int(os.environ.get('PACE_JOBS', (os.cpu_count() or 1) + 1)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if is_over:
        sys.exit(is_over[0])
    if len(results) > 1 and not os.environ.get('PACE_ONCE'):
        try_alone(results)
    for result in results:
        for test in result.failures:
            print(f'failed: {result.name}: {test}')
    passed, failed, skipped = (sum(getattr(r, what) for r in results) for what in ('passed', 'failed', 'skipped'))
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    sys.exit(failed > 0)


main()
