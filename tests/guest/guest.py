"""Tests that run on the emulated machine: commands there, assertions here.

    @guest(record='pace record -e cycles loop 1000000', report='pace report')
    def cycles_are_sampled(g):
        assert g.record.status == 0 and 'spin' in g.report.out

    guest_program('counting', 'tests/guest/programs/test_counting.c')    a C program with tests of its own: see tests/test.h

The commands of all chosen tests run in one boot for each number of CPUs and model of them, each test's in a folder of its own,
one after the other. g.path('perf.data') is a file they left there.
"""
import atexit
import concurrent.futures
import os
import re
import sys
import tempfile
import types

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import machine  # noqa: E402

jobs = []      # of all tests
booted = {}    # (number of CPUs, their model) -> the folder of results, or why there is none (told in full once)


class Job:
    """Commands that run one after the other in a folder of their own."""

    def __init__(self, name, kind, commands, tests):
        self.name, self.kind, self.commands, self.tests = name, kind, commands, tests
        assert name not in [job.name for job in jobs], f'two tests are called {name}'
        jobs.append(self)

    def is_chosen(self):
        return not sys.argv[1:] or any(word in test for word in sys.argv[1:] for test in self.tests)

    def results(self):
        """The folder of its results; boots the machine if nobody has."""
        if not booted:
            boot_all()
        result = booted[self.kind]
        if isinstance(result, harness.Skip):
            harness.skip(result)
        if isinstance(result, Exception):
            booted[self.kind] = harness.Skip('the machine did not get so far: another test has failed with the reason')
            raise result
        return os.path.join(booted[self.kind], self.name)

    def done(self, command):
        done = machine.Done(self.results(), command)
        assert done.status != -1, f"'{command}' did not run: the machine ended before it"
        assert done.status != 137, f"'{command}' did not end in time: {done}"
        harness.check_sane(done)
        return done


def boot(root, kind):
    folder = tempfile.TemporaryDirectory(prefix='pace-guest-')
    atexit.register(folder.cleanup)
    wanted = {job.name: job.commands for job in jobs if job.kind == kind and job.is_chosen()}
    try:
        return machine.boot(root, wanted, folder.name, *kind)
    except AssertionError as why:
        return why


def boot_all():
    """All machines that the chosen tests need, side by side."""
    kinds = {job.kind for job in jobs if job.is_chosen()}
    try:
        root = os.path.join(machine.fetch(), 'root')
        machine.build(root)
    except machine.Missing as why:
        booted.update({kind: harness.Skip(f'no emulated machine: {why}') for kind in kinds})
        return
    except AssertionError as why:
        booted.update({kind: harness.Skip('there is nothing to run: another test has failed with the reason') for kind in kinds})
        raise why
    with concurrent.futures.ThreadPoolExecutor() as threads:
        booted.update(zip(kinds, threads.map(lambda kind: boot(root, kind), kinds)))


def guest(cpus=1, model=machine.MODEL, **commands):
    def register(function):
        job = Job(function.__name__, (cpus, model), commands, [function.__name__])

        def run():
            folder = job.results()
            g = types.SimpleNamespace(path=lambda name: os.path.join(folder, name))
            for name in commands:
                setattr(g, name, job.done(name))
            function(g)
        run.__name__ = function.__name__
        harness.tests.append(run)
        return function
    return register


def guest_program(program, *sources, cpus=1, before='true'):
    """Every TEST in the sources is one here: what the program said of it there. `before` is run first."""
    texts = [open(os.path.join(harness.TOP, source)).read() for source in sources]
    names = [name for text in texts for name in re.findall(r'^TEST\((\w+)\)', text, re.M)]
    words = [os.path.basename(source) for source in sources]
    job = Job(program, (cpus, machine.MODEL), {'tap': f'{before}; {program} {" ".join(words)} 2>&1'}, names)

    def register(name):
        def run():
            said = job.done('tap').out
            found = re.search(rf'((?:^#.*\n)*)^(ok|not ok) \d+ - {name}( # SKIP)?$', said, re.M)
            assert found, f'it did not get to this test:\n{said[-2000:]}'
            if found.group(3):
                harness.skip(found.group(1).replace('# SKIP ', '').strip())
            assert found.group(2) == 'ok', found.group(1)
        run.__name__ = name
        harness.tests.append(run)
    for name in names:
        register(name)
