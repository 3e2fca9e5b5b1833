#!/usr/bin/env python3
"""Unit tests of modules that depend on the kernel or the processor, on an arm64 processor and another kernel than this one."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

guest_program(
    'unit', *(f'tests/unit/test_{module}.c' for module in (
        'abi', 'attr', 'bytes', 'cpus', 'target', 'tracefs', 'pmu', 'regs', 'sample', 'ring', 'kernel_samples',
        'counter', 'privilege', 'refusal', 'workload', 'synth', 'host', 'sampling', 'userread', 'cpuid', 'site',
        'bpf', 'kcore', 'kallsyms')),
    cpus=4, before='sysctl -qw kernel.perf_user_access=1')

if __name__ == '__main__':
    main()
