#!/usr/bin/env python3
"""Runs every test and says how many passed. Words as arguments choose suites by name.

The programs run here are those of build-check: address and undefined-behaviour sanitizers are on. Everything prints TAP;
what failed is shown with its comments, what was skipped with its reason.
"""
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get('PACE_BUILD', os.path.join(os.path.dirname(HERE), 'build-check')))
os.environ['PACE_BUILD'] = BUILD
os.environ.setdefault('PACE_SHARED', os.path.join(os.path.dirname(os.path.dirname(HERE)), 'shared'))
os.environ.setdefault('UBSAN_OPTIONS', 'halt_on_error=1:print_stacktrace=1')

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
    ('attrs', [sys.executable, f'{HERE}/oracle/test_record_options.py']),
    ('library', [sys.executable, f'{HERE}/live/test_library.py']),
    ('doctor', [sys.executable, f'{HERE}/live/test_doctor.py']),
    ('list', [sys.executable, f'{HERE}/live/test_list.py']),
    ('versus', [sys.executable, f'{HERE}/live/test_stat_vs.py']),
    ('travel', [sys.executable, f'{HERE}/live/test_travel.py']),
    ('codediff', [sys.executable, f'{HERE}/live/test_annotate.py']),
    ('jit', [sys.executable, f'{HERE}/live/test_jit.py']),
    ('unwind', [sys.executable, f'{HERE}/live/test_unwind.py']),
    ('faults', [sys.executable, f'{HERE}/live/test_faults.py']),
    ('mutants', [sys.executable, f'{HERE}/live/test_mutants.py']),
    ('stat', [sys.executable, f'{HERE}/live/test_stat.py']),
    ('events', [sys.executable, f'{HERE}/oracle/test_events.py']),
    ('oracle', [sys.executable, f'{HERE}/oracle/test_both_ways.py']),
    ('statperf', [sys.executable, f'{HERE}/oracle/test_stat.py']),
    ('statfile', [sys.executable, f'{HERE}/oracle/test_statfile.py']),
    ('fixtures', [sys.executable, f'{HERE}/oracle/test_fixtures.py']),
    ('perfparser', [sys.executable, f'{HERE}/oracle/test_perfparser.py']),
    ('callers', [sys.executable, f'{HERE}/oracle/test_callers.py']),
    ('annotate', [sys.executable, f'{HERE}/oracle/test_annotate.py']),
    ('quipper', [sys.executable, f'{HERE}/oracle/test_quipper.py']),
    ('lists', [sys.executable, f'{HERE}/oracle/test_list.py']),
    ('buildids', [sys.executable, f'{HERE}/oracle/test_buildids.py']),
    ('files', [sys.executable, f'{HERE}/oracle/test_files.py']),
    ('symbols', [sys.executable, f'{HERE}/oracle/test_symbols.py']),
    ('kernel', [sys.executable, f'{HERE}/oracle/test_kernel.py']),
    ('conformance', [sys.executable, f'{HERE}/conformance/test_conformance.py']),
    ('lines', [sys.executable, f'{HERE}/oracle/test_lines.py']),
    ('readperf', [sys.executable, f'{HERE}/oracle/test_readperf.py']),
    ('report', [sys.executable, f'{HERE}/oracle/test_report.py']),
    ('diff', [sys.executable, f'{HERE}/oracle/test_diff.py']),
    ('guest', [sys.executable, f'{HERE}/guest/run.py']),
    ('fuzz', [sys.executable, f'{HERE}/fuzz/run.py']),
]


class Count:
    passed = failed = skipped = 0


def run(name, command):
    begin = time.time()
    before = (Count.passed, Count.failed, Count.skipped)
    comments, planned, seen, reasons = [], None, 0, {}
    # Comments belong to the result that follows them; a test's stderr is where its reasons are.
    # Programs were compiled there: what they know of the tree's files is relative to it.
    where = BUILD if command[0].startswith(BUILD) else None
    with subprocess.Popen(command, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace') as process:
        for line in process.stdout:
            result = re.match(r'(not )?ok \d+ - (\S+)(.*)', line)
            plan = re.match(r'1\.\.(\d+)$', line)
            if plan:
                planned = int(plan.group(1))
            if not result:
                comments.append(line)
                continue
            seen += 1
            if result.group(1):
                Count.failed += 1
                print(f'\nFAILED {name}: {result.group(2)}\n' + ''.join(comments), flush=True)
            elif '# SKIP' in result.group(3):
                Count.skipped += 1
                why = [c[len('# SKIP '):].strip() for c in comments if c.startswith('# SKIP ')]
                reasons.setdefault(why[-1] if why else 'no reason given', []).append(result.group(2))
            else:
                Count.passed += 1
            comments = []
    if planned != seen or planned is None:
        Count.failed += 1
        print(f'\nFAILED {name}: it ended after {seen} of {planned} tests, status {process.returncode}\n' + ''.join(comments[-40:]))
    passed, failed, skipped = (now - then for now, then in zip((Count.passed, Count.failed, Count.skipped), before))
    print(f'{name:10} {passed:4} passed, {failed} failed, {skipped} skipped  ({time.time() - begin:.0f} s)', flush=True)
    for reason, tests in reasons.items():
        print(f'           skipped {len(tests)}: {reason} ({tests[0]}{", ..." if len(tests) > 1 else ""})', flush=True)


def main():
    words = sys.argv[1:]
    for name, command in SUITES:
        if not words or any(word in name for word in words):
            run(name, command)
    print(f'{Count.passed} passed, {Count.failed} failed, {Count.skipped} skipped')
    sys.exit(Count.failed > 0)


main()
