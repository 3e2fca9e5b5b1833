#!/usr/bin/env python3
"""Gates: what is slower is found and named, equal programs are not, and what cannot be measured is said.

How often gates err is measured by dev/bench-gate: it takes many gates on a quiet machine.
"""
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

PROGRAM = 'tests/live/programs/gated.c'


def programs(slow):
    return build_c(PROGRAM, 'old', '-O1'), build_c(PROGRAM, 'new', '-O1', f'-DSLOW={slow}')


def gate(*words, status=0):
    result = pace('gate', *words)
    assert result.status == status, result
    return result


@test
def what_is_slower_is_found_and_named():
    can_record()
    old, new = programs(150)
    result = gate('-r', '8', '--json', '--markdown', 'o.md', '--html', 'o.html', '--keep', 'kept', old, '20', '--', new, '20', status=4)
    found = json.loads(result.out)
    assert found['verdict'] == 'slower' and found['rounds'] == 8, found
    first = found['functions'][0]
    assert first['name'].endswith('hot') and 1.3 < first['ratio'] < 1.7, found
    assert found['low'] <= found['change'] <= found['high'], found
    markdown = open('o.md').read()
    assert '`[.] hot`' in markdown and 'slower' in markdown, markdown
    page = open('o.html').read()
    assert 'hot' in page and '<html' in page
    assert len(glob.glob('kept/base-*.data')) == len(glob.glob('kept/new-*.data')) == 8
    # The same recordings, compared by hand.
    by_hand = pace('diff', *sorted(glob.glob('kept/base-*')), '--', *sorted(glob.glob('kept/new-*')))
    assert re.search(r'hot is slower by', by_hand.out), by_hand


@test
def noise_decides_how_many_rounds_there_are():
    can_record()
    old, new = programs(300)
    # Clear at once, although runs differ by more than what is to be found.
    result = json.loads(gate('-r', '10', '--find', '0.01', '--json', old, '10', '--', new, '10', status=4).out)
    assert result['rounds'] == 10 and result['verdict'] == 'slower', result
    # No noise is that small: all three times seven.
    result = json.loads(gate('-r', '7', '--find', '0.0001', '--least', '50', '--json', old, '5', '--', old, '5').out)
    assert result['rounds'] == 21 and result['detectable'] > 0, result
    # Any noise is small enough.
    result = json.loads(gate('-r', '7', '--find', '100', '--least', '50', '--keep', 'few', '--json', old, '5', '--', old, '5').out)
    assert result['rounds'] == 7 and len(os.listdir('few')) == 14, (result, os.listdir('few'))


@test
def what_is_faster_passes():
    can_record()
    old, new = programs(150)
    result = gate('-r', '8', new, '20', '--', old, '20')
    assert result.out.startswith('faster: ') and re.search(r'^ +-\d.*hot', result.out, re.M), result


@test
def gates_learn_from_equal_runs():
    can_record()
    old, _ = programs(100)
    gate('-r', '7', '--least', '50', '--history', 'h', old, '5', '--', old, '5')
    lines = open('h').read().split('\n')
    assert lines[0].startswith('# pace gate 1') and len(lines) == 3, lines
    fields = lines[1].split('\t')
    assert len(fields) == 7 and fields[3] == '7' and fields[6] == 'same', fields
    # Equal runs that differed on this host: functions have to differ more clearly.
    with open('h', 'a') as history:
        for _ in range(4):
            history.write('\t'.join(fields[:5] + ['0.0001', 'same']) + '\n')
    result = json.loads(gate('-r', '7', '--least', '50', '--history', 'h', '--json', old, '5', '--', old, '5').out)
    assert result['nulls'] == 5 and result['null_alarms'] >= 4 and result['threshold'] <= 0.0001, result
    # Lines of other machines do not count.
    with open('other', 'w') as history:
        history.write('\t'.join([fields[0], 'elsewhere'] + fields[2:5] + ['0.0001', 'same']) + '\n')
    result = json.loads(gate('-r', '7', '--least', '50', '--history', 'other', '--json', old, '5', '--', old, '5').out)
    assert result['nulls'] == 0 and result['threshold'] == 0.025, result
    with open('bad', 'w') as history:
        history.write('what is this\n')
    result = gate('--history', 'bad', old, '--', old, status=1)
    assert "'bad': line 1" in result.err, result


@test
def what_cannot_be_measured_is_said():
    can_record()
    old, _ = programs(100)
    for words, said in ((['true'], 'two commands are needed'), (['--', old], 'two commands'),
                        ([old, '--'], 'two commands'), (['--shell', 'a', 'b', '--', 'c'], 'one word for each side'),
                        (['-r', '1', old, '--', old], 'rounds')):
        result = gate(*words, status=2)
        assert said in result.err, (words, result)
    result = gate('-r', '2', old, '1', '--', '/nowhere/x', status=2)
    assert "'/nowhere/x' ended with" in result.err and 'No such file' in result.err, result
    result = gate('-r', '2', '--shell', f'{old} 1', '--', f'{old} 1; echo no luck >&2; exit 7', status=2)
    assert 'status 7: no luck' in result.err, result
    result = gate('-r', '2', '-F', '50', 'true', '--', 'true', status=2)
    assert 'too short to be sampled' in result.err, result
    result = gate('-r', '2', '--keep', '/proc/x', old, '1', '--', old, '1', status=1 if os.getuid() else 2)
    assert '/proc/x' in result.err, result


@test
def nothing_is_left_behind():
    can_record()
    old, _ = programs(100)
    os.mkdir('tmp')
    env = dict(os.environ, TMPDIR=os.path.abspath('tmp'))
    result = run(PACE, 'gate', '-r', '2', old, '2', '--', old, '2', env=env)
    assert result.status in (0, 4) and 'too few to tell' in result.out, result
    assert os.listdir('tmp') == []
    result = run(PACE, 'gate', '-r', '2', old, '2', '--', 'false', env=env)
    assert result.status == 2 and os.listdir('tmp') == [], result


@test
def preparation_is_not_measured():
    can_record()
    old, _ = programs(100)
    result = pace('gate', '-r', '2', '--prepare', 'echo x >>prepared', '--shell', f'{old} 2', '--', f'{old} 2 | cat')
    assert result.status in (0, 4), result
    assert open('prepared').read().count('x') == 4


if __name__ == '__main__':
    main()
