#!/usr/bin/env python3
"""The doctor is right: what it says works does work, and what it says would help does help."""
import errno
import json
import os
import pty
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

# How pace is asked for what the doctor tried. The kernel's part is dropped and said, which is no error.
COMMANDS = {
    'count_own': ('record', '-e', 'task-clock:u', 'true'),
    'sample_own': ('record', '-e', 'cpu-clock:u', 'true'),
    'kernel': ('record', '-e', 'cpu-clock:k', 'true'),
    'hardware': ('record', '-e', 'instructions:u', 'true'),
    'hardware_samples': ('record', '-e', 'branches:u', 'true'),
    'all_processes': ('record', '-a', 'true'),
    'other_users': ('record', '-e', 'cpu-clock:u', '-p', '1', 'true'),
    'tracepoints': ('record', '-e', 'sched:sched_switch', 'true'),
    'breakpoints': None,
}


def copy_of_pace():
    rights_stay()
    shutil.copy(PACE, 'pace')
    os.chmod('pace', 0o755)
    os.chmod('.', 0o777)
    return os.path.abspath('pace')


def doctor(*before):
    result = run(*before, copy_of_pace(), 'doctor', '--json')
    check_sane(result)
    report = json.loads(result.out)
    assert result.status == (0 if report['fit'] else 1) and not result.err, result
    return report


def abilities(report):
    return {a['key']: a for a in report['abilities']}


def check_against_record(*before):
    found = abilities(doctor(*before))
    for key, words in COMMANDS.items():
        if not words:
            continue
        result = run(*before, os.path.abspath('pace'), *words)
        check_sane(result)
        works = result.status == 0 and 'only user space is measured' not in result.err
        assert works == found[key]['works'], (before, found[key], result)
        if works:
            continue
        # The error's command is the doctor's; where tracefs is closed, the doctor looks one step further.
        remedy = found[key]['remedy']
        assert key == 'tracepoints' or not remedy.get('command') or remedy['command'] in result.err, (found[key], result)
        assert key == 'tracepoints' or found[key]['reason'].split(' (')[0] in result.err, (found[key], result)
    return found


@test
def the_doctors_word_about_this_user_is_what_record_finds():
    found = check_against_record()
    if os.geteuid() == 0:
        assert found['count_own']['works'], found


@test
def the_doctors_word_about_a_user_without_rights_is_what_record_finds():
    needs_root()
    needs('setpriv')
    found = check_against_record(*NOBODY)
    assert not found['probes']['works'] and found['probes']['remedy']['command'].startswith('sudo '), found


@test
def root_of_a_user_namespace_has_capabilities_that_do_not_count():
    needs('unshare')
    if run('unshare', '-Ur', 'true').status:
        skip('user namespaces are not allowed here')
    report = doctor('unshare', '-Ur')
    assert 'user namespace' in report['facts']['container']['text'], report['facts']
    assert 'user namespace' in report['facts']['capabilities']['text'], report['facts']
    check_against_record('unshare', '-Ur')


@test
def what_setcap_is_said_to_give_it_gives():
    needs_root()
    needs('setpriv', 'setcap')
    before = doctor(*NOBODY)
    command = before['for_pace_alone'] or abilities(before)['other_users']['remedy']
    if not command:
        skip('nothing is lacking here')
    # The path is this copy's; sudo is not needed.
    words = command['command'].split()
    assert words[:2] == ['sudo', 'setcap'] and words[-1] == os.path.abspath('pace'), words
    if run(*words[1:]).status:
        skip('this file system keeps no capabilities')
    after = run(*NOBODY, os.path.abspath('pace'), 'doctor', '--json')
    check_sane(after)
    found = abilities(json.loads(after.out))
    for key in ('kernel', 'all_processes', 'other_users'):
        assert found[key]['works'], found[key]
    if int(open('/proc/sys/kernel/kptr_restrict').read()) < 2:
        assert found['kernel_names']['works'], found
    # Where they are not given although the file carries them, that is said.
    idle = run('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'setpriv', '--no-new-privs', os.path.abspath('pace'), 'doctor')
    assert "those of pace's file are not in effect" in ' '.join(idle.out.split()), idle


@test
def a_seccomp_filter_is_recognized_by_the_doctor_and_by_record():
    filtered = build_c('tests/live/programs/filtered.c', 'filtered')
    for sys_error in (errno.EPERM, errno.ENOSYS):
        before = (filtered, str(sys_error))
        if run(*before, 'true').status:
            skip('seccomp filters cannot be set here')
        report = doctor(*before)
        own = abilities(report)['sample_own']
        assert not report['fit'] and 'a seccomp filter' in own['reason'], own
        assert 'seccomp filter is active' in report['facts']['rules']['text'], report['facts']['rules']
        result = run(*before, os.path.abspath('pace'), 'record', '-e', 'cpu-clock:u', 'true')
        check_sane(result)
        assert result.status == 1 and 'a seccomp filter' in result.err and "'pace doctor' says more" in result.err, result


@test
def without_proc_the_doctor_says_what_is_missing():
    needs_own_mounts()
    pace_here = copy_of_pace()
    result = run('unshare', '-m', 'sh', '-c', f'umount -l /proc && exec {pace_here} doctor')
    if 'umount' in result.err:
        skip('/proc cannot be unmounted here')
    check_sane(result)
    assert '/proc is not mounted' in result.out and 'sudo mount -t proc proc /proc' in result.out, result


@test
def without_tracefs_the_doctor_gives_the_command_that_mounts_it():
    needs_own_mounts()
    pace_here = copy_of_pace()
    result = run('unshare', '-m', 'sh', '-c', f'umount -l /sys/kernel/tracing 2>/dev/null; '
                 f'umount -l /sys/kernel/debug/tracing 2>/dev/null; exec {pace_here} doctor')
    check_sane(result)
    if os.path.exists('/sys/kernel/debug/tracing/events'):
        skip('tracefs is in debugfs too')
    assert '$ sudo mount -t tracefs nodev /sys/kernel/tracing' in result.out, result
    # What the page says brings them back.
    result = run('unshare', '-m', 'sh', '-c', 'umount -l /sys/kernel/tracing 2>/dev/null; '
                 f'mount -t tracefs nodev /sys/kernel/tracing && exec {pace_here} doctor --json')
    check_sane(result)
    found = abilities(json.loads(result.out))
    assert 'not mounted' not in (found['tracepoint_counts']['reason'] or ''), found


@test
def the_page_and_the_json_say_the_same():
    page = pace('doctor').out
    for ability in doctor()['abilities']:
        mark = 'ok' if ability['works'] else 'no'
        assert re.search(rf'^  {mark}  {re.escape(ability["what"])}', page, re.M), (ability, page)
    for fact in doctor()['facts'].values():
        assert ' '.join(fact['text'].split()) in ' '.join(page.split()), (fact, page)


@test
def every_line_fits_unless_it_is_a_command():
    for words in ((), ('-v',)):
        for line in pace('doctor', *words).out.split('\n'):
            is_command = re.match(r' +(\$|host\$|to last:) ', line) or 'CONFIG_' in line
            assert len(line) <= 80 or is_command, line


@test
def colours_are_for_terminals():
    assert '\x1b' not in run(PACE, 'doctor').out
    told = []

    def listen(fd):
        data = os.read(fd, 65536)
        told.append(data)
        return data

    os.environ['TERM'] = 'xterm'
    os.environ.pop('NO_COLOR', None)
    out = os.dup(1)
    nowhere = os.open('/dev/null', os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        pty.spawn([PACE, 'doctor'], listen)
    finally:
        os.dup2(out, 1)
        os.close(out)
        os.close(nowhere)
    assert b'\x1b[32mok\x1b[m' in b''.join(told), told


@test
def every_fact_and_every_ability_stands_in_the_man_page():
    text = open(os.path.join(TOP, 'doc/pace-doctor.1')).read()
    report = doctor()
    for key in [a['key'] for a in report['abilities']] + list(report['facts']):
        assert re.search(rf'(^\.BR|") ?{key}\b', text, re.M), key


main()
