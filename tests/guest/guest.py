"""Tests that run on the emulated machine: commands there, assertions here.

    @guest(record='pace record -e cycles loop 1000000', report='pace report')
    def cycles_are_sampled(g):
        assert g.record.status == 0 and 'spin' in g.report.out

The commands of all chosen tests run in one boot for each number of CPUs, each test's in a folder of its own, one after the
other. g.path('perf.data') is a file they left there.
"""
import atexit
import os
import sys
import tempfile
import types

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import machine  # noqa: E402

planned = {}   # number of CPUs -> {name of a test: its commands}
booted = {}    # number of CPUs -> the folder of results, or why there is none


def boot(cpus):
    folder = tempfile.TemporaryDirectory(prefix='pace-guest-')
    atexit.register(folder.cleanup)
    jobs = {name: commands for name, commands in planned[cpus].items()
            if not sys.argv[1:] or any(word in name for word in sys.argv[1:])}
    try:
        root = os.path.join(machine.fetch(), 'root')
        machine.build(root)
        return machine.boot(root, jobs, folder.name, cpus)
    except machine.Missing as why:
        return harness.Skip(f'no emulated machine: {why}')
    except AssertionError as why:
        return why


def guest(cpus=1, **commands):
    def register(function):
        def run():
            if cpus not in booted:
                booted[cpus] = boot(cpus)
            if isinstance(booted[cpus], Exception):
                raise booted[cpus]
            folder = os.path.join(booted[cpus], function.__name__)
            g = types.SimpleNamespace(path=lambda name: os.path.join(folder, name))
            for name in commands:
                done = machine.Done(folder, name)
                assert done.status != -1, f"'{name}' did not run: the machine ended before it"
                assert done.status != 137, f"'{name}' did not end in time: {done}"
                harness.check_sane(done)
                setattr(g, name, done)
            function(g)
        run.__name__ = function.__name__
        planned.setdefault(cpus, {})[function.__name__] = commands
        harness.tests.append(run)
        return function
    return register
