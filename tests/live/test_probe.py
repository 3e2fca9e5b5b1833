#!/usr/bin/env python3
"""pace probe on this kernel: probes with the values that the program has, lists, removals, refusals. Programs have names of their own here,
so that a test removes its own probes only."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

MEMBERS = ('key n=s->n flag=s->flag wide=s->wide neg=s->neg a=s->in->a b2=s->in->b[2] name=s->name:string what=what:string here=s->here.text '
           'in=s->in->text list=s->list[1] col=s->color whole=s->whole bytes=s->bytes[1] g=counter tab=shared_table[2] tab_all=shared_table')


class Probed:
    """A program of its own, and its probes, which are gone at the end."""

    def __init__(self, *flags, source='probed.c'):
        needs_root()
        can_record()
        self.name = f'paceprobe{os.getpid()}'
        self.group = f'probe_{self.name}'
        build_c(f'tests/live/programs/{source}', self.name, *flags)

    def __enter__(self):
        if not any(os.access(f'{root}/uprobe_events', os.W_OK) for root in ('/sys/kernel/tracing', '/sys/kernel/debug/tracing')):
            skip('tracefs has no uprobe_events that can be written here')
        return self

    def __exit__(self, *_):
        for group in (self.group, f'sdt_{self.name}'):
            pace('probe', '-q', '-d', f'{group}:*')

    def probe(self, *words):
        return pace('probe', '-x', f'./{self.name}', *words)

    def add(self, *words):
        result = self.probe('-q', *words)
        assert result.status == 0, result

    def recorded(self, *events):
        """What each event recorded, as (event, {argument: value})."""
        words = [word for event in events for word in ('-e', event)]
        assert pace('record', '-q', '-o', 'p.data', *words, f'./{self.name}').status == 0
        result = pace('script', '-i', 'p.data', '-F', 'event,trace')
        assert result.status == 0, result
        rows = []
        for line in result.out.splitlines():
            event, rest = re.match(r'\s*([^:]+:[^:]+):\s+\([^)]*\)\s*(.*)', line).groups()
            rows.append((event.split(':')[1], dict(re.findall(r'(\w+)=("[^"]*"|\S+)', rest))))
        return rows


def values(row, *names):
    return tuple(int(row[name], 0) for name in names)


@test
def arguments_members_elements_bit_fields_and_globals_have_their_true_values():
    with Probed('-g', '-O0') as p:
        p.add(f'lookup {MEMBERS}')
        rows = [row for _, row in p.recorded(f'{p.group}:lookup')]
        assert [values(row, 'key', 'g') for row in rows] == [(40, 7), (41, 7 + 166), (42, 7 + 166 + 0 + 170 + 2)], rows
        for row in rows:
            assert values(row, 'n', 'flag', 'wide', 'a', 'b2', 'list', 'col', 'tab') == (3, 5, 300, -5, 3, 20, 1, 30), row
            assert values(row, 'neg', 'whole', 'bytes') == (-3 & 31, 0x1122334455667788, 0x77), row
            assert (row['name'], row['what'], row['here'], row['in']) == ('"tom"', '"what"', '"here"', '"inner"'), row
            assert row['tab_all'].strip('{}').split(',') == ['10', '20', '30', '40'], row


@test
def lines_returns_and_inlined_calls_are_probed_in_optimized_code():
    for flags in (('-g', '-O2'), ('-g', '-O1', '-fno-omit-frame-pointer')):
        with Probed(*flags) as p:
            p.add('lookup key g=counter')
            p.add('lookup%return $retval')
            p.add('twice v')
            p.add('other x')
            rows = p.recorded(*(f'{p.group}:{event}' for event in ('lookup', 'lookup__return', 'twice', 'other')))
            by_event = {event: [row for name, row in rows if name == event] for event, _ in rows}
            assert [values(row, 'key', 'g') for row in by_event['lookup']] == [(40, 7), (41, 173), (42, 345)], rows
            assert [values(row, 'arg1') for row in by_event['lookup__return']] == [(684,), (707,), (474,)], rows
            # Inlined into lookup() and into other().
            assert sorted(values(row, 'v')[0] for row in by_event['twice']) == [0, 1, 2, 83, 85, 87], rows
            assert [values(row, 'x') for row in by_event['other']] == [(0,), (1,), (2,)], rows
            assert run(f'./{p.name}').out == '1875\n'


@test
def probes_are_listed_numbered_and_removed_by_pattern():
    with Probed('-g', '-O0') as p:
        p.add('lookup')
        again = p.probe('lookup')
        assert again.status == 2 and 'already' in again.err and '-f' in again.err, again
        p.add('-f', 'lookup')
        p.add('lookup:9 key')
        listed = pace('probe', '-l', f'{p.group}:*').out
        assert [line.split()[0] for line in listed.splitlines()] == [f'{p.group}:{name}' for name in ('lookup', 'lookup_1', 'lookup_L9')], listed
        assert re.search(r'lookup_L9 .*on lookup:9@.* with key\)', listed), listed
        assert p.probe('-n', 'other').status == 0 and 'other' not in pace('probe', '-l', f'{p.group}:*').out
        gone = pace('probe', '-d', f'{p.group}:lookup_*')
        assert gone.out.count('Removed') == 2, gone
        assert pace('probe', '-l', f'{p.group}:*').out.count('\n') == 1
        missing = pace('probe', '-d', f'{p.group}:nothing')
        assert missing.status == 1 and 'no probe' in missing.err, missing


@test
def if_one_of_several_probes_cannot_be_added_none_is():
    with Probed('-g', '-O0') as p:
        result = p.probe('-a', 'lookup', '-a', 'nothing_of_the_kind')
        assert result.status == 1, result
        assert pace('probe', '-l', f'{p.group}:*').out == ''


@test
def perf_lists_and_removes_what_pace_adds_and_the_reverse():
    perf_works()
    with Probed('-g', '-O0') as p:
        p.add('lookup key')
        assert f'{p.group}:lookup' in run('perf', 'probe', '-l').out
        assert run('perf', 'probe', '-q', '-d', f'{p.group}:lookup').status == 0
        assert pace('probe', '-l', f'{p.group}:*').out == ''
        if run('perf', 'probe', '-q', '-x', f'./{p.name}', 'other x').status:
            skip('perf cannot add probes here')
        assert f'{p.group}:other' in pace('probe', '-l', f'{p.group}:*').out
        assert pace('probe', '-q', '-d', f'{p.group}:other').status == 0
        assert f'{p.group}:' not in run('perf', 'probe', '-l').out


@test
def markers_have_arguments_and_their_semaphores_are_raised():
    if os.uname().machine != 'x86_64':
        skip("the program's markers are for x86-64")
    with Probed('-O1', source='marked.c') as p:
        sdt = f'sdt_{p.name}'
        p.add(f'{sdt}:sale=%shop:sale')
        p.add(f'{sdt}:refund=%sdt_shop:refund')
        rows = p.recorded(f'{sdt}:sale', f'{sdt}:refund')
        for event in ('sale', 'refund'):
            assert [values(row, 'arg1', 'arg2', 'arg3') for name, row in rows if name == event] == \
                [(-1, 1000, 7), (0, 1001, 7), (1, 1002, 7)], rows
        output = pace('stat', '-e', f'{sdt}:sale', f'./{p.name}')
        assert output.out == '3\n' and run(f'./{p.name}').out == '0\n', output
        unknown = p.probe('-D', '%shop:sales')
        assert unknown.status == 1 and "did you mean 'shop:sale'?" in unknown.err, unknown


@test
def a_probe_can_be_an_event_without_tracefs():
    p = Probed('-g', '-O2')
    if not os.path.exists('/sys/bus/event_source/devices/uprobe'):
        skip('this kernel has no PMU for uprobes')
    result = pace('record', '-q', '-o', 'u.data', '-e', f'uprobe:./{p.name}:lookup', '-e', f'uprobe:./{p.name}:lookup%return', f'./{p.name}')
    assert result.status == 0, result
    rows = pace('script', '-i', 'u.data', '-F', 'event,ip,sym').out.split('\n')
    assert [row.split()[::2] for row in rows if row] == [['lookup:', 'lookup'], ['lookup__return:', 'main']] * 3, rows
    named = pace('record', '-o', 'u.data', '-e', f'uprobe:./{p.name}:lookup key', 'true')
    assert named.status and 'pace probe' in named.err, named
    nothing = pace('record', '-o', 'u.data', '-e', 'uprobe:./nothing:lookup', 'true')
    assert nothing.status and 'uprobe:FILE:FUNCTION' in nothing.err, nothing


@test
def what_cannot_be_probed_is_refused_with_the_reason():
    p = Probed('-g', '-O2')
    for words, said in (('lokup', "did you mean 'lookup'?"), ('lookup kay', "did you mean 'key'?"), ('lookup:200', 'no code'),
                        ('lookup:9 array', 'optimized out'), ('lookup local', 'computed'), ('lookup s->nam', "did you mean 'name'?"),
                        ('lookup key->n', 'of type int'), ('lookup%return key', '$retval'), ('lookup+1000000', 'no code|instruction'), ('lookup:9 key->', 'name'),
                        ('lookup+5:7', 'either'), ('lookup key:string', 'text'), ('=lookup', 'name')):
        result = p.probe('-D', words)
        assert result.status in (1, 2) and any(word in result.err for word in said.split('|')), (words, result)
    build_c('tests/live/programs/probed.c', 'plain', '-g0')
    for words in ('lookup:3', 'lookup key', 'probed.c:30'):
        result = pace('probe', '-x', './plain', '-D', words)
        assert result.status == 1 and 'no debug information' in result.err and '-g' in result.err, result
    assert re.match(r'p:probe_plain/lookup /\S+/plain:0x[0-9a-f]+\n', pace('probe', '-x', './plain', '-D', 'lookup').out)


@test
def a_line_without_code_becomes_the_next_one_which_is_said():
    p = Probed('-g', '-O0')
    result = p.probe('-D', 'lookup:5')
    assert result.status == 0 and 'the next line that has is 6' in result.err, result
    assert result.out.split()[1] == p.probe('-D', 'lookup:6').out.split()[1]


@test
def without_rights_one_learns_what_to_do():
    p = Probed('-g', '-O0')
    os.chmod('.', 0o755)
    result = run('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', PACE, 'probe', '-x', f'./{p.name}', 'lookup')
    if result.status == 127 or 'setpriv' in result.err:
        skip('setpriv cannot become another user here')
    assert result.status == 1 and 'root' in result.err, result


main()
