#!/usr/bin/env python3
"""Made-up recordings (madeup.c), read by all commands in all their forms: whatever is in them, no command crashes, takes long,
or sends control characters of a file to the terminal. Each recording is read by some of the commands, in turn. PACE_MADEUP=2000 makes that
many recordings, PACE_MADEUP_FIRST=1000 begins with that number, PACE_MADEUP_ALL=1 reads each of them with all commands. PACE_MADEUP_KEEP is a
folder for those that failed."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from harness import BUILD, PACE, main, test  # noqa: E402

COUNT = int(os.environ.get('PACE_MADEUP', '60'))
FIRST = int(os.environ.get('PACE_MADEUP_FIRST', '1'))
ALL = os.environ.get('PACE_MADEUP_ALL')
KEEP = os.environ.get('PACE_MADEUP_KEEP')
EACH = 3  # commands that read a recording, if not all do
CPU_S = 20
MEMORY_KB = 1 << 20  # the sanitizer takes most of it

REPORT = ['', '--json', '--csv', '--md', '--no-children', '-g caller', '-G', '-g flat', '-g folded', '-D', '--stats', '--tasks', '--mmaps', '--ledger',
          '--header -I', '--hierarchy', '--budget 10', '--group', '-b', '--branch-history', '--total-cycles', '--mem-mode', '-T', '--wall', '--ci',
          '-s comm,pid,tid,cpu,socket,cgroup,parallelism,trace,time', '-s sym,srcline,srcfile,type,typeoff,addr,symoff',
          '-s dso,symbol_size,dso_size,transaction,local_weight,weight,ins_lat,p_stage_cyc,retire_lat,code_page_size,data_page_size',
          '-s dso_from,symbol_from,symbol_to,srcline_to,mispredict,in_tx,abort,cycles', '-s prev_comm --raw-trace', '--stitch-lbr',
          '-s mem,snoop,tlb,locked,blocked,symbol_daddr,dso_daddr,dcacheline,phys_daddr --mem-mode', '--time 10%-50%', '-t ;', '--html OUT', '--wall --html OUT']
SCRIPT = ['', '--json', '-D', '-I --header', '--reltime', '--deltatime --ns', '--stitch-lbr',
          '--show-task-events --show-mmap-events --show-switch-events --show-lost-events --show-namespace-events --show-bpf-events '
          '--show-cgroup-events --show-text-poke-events --show-round-events']
COMMANDS = [f'report {words} -i FILE' for words in REPORT] + [f'script {words} -i FILE' for words in SCRIPT] + [
    'annotate -i FILE', 'annotate --json -i FILE', 'annotate --data-type -i FILE', 'annotate --all --code-with-type -i FILE',
    'annotate --insn-stat --type-stat -i FILE', 'annotate --diff FILE OTHER',
    'diff FILE OTHER', 'diff --json OTHER FILE', 'diff --children --folded FILE OTHER', 'diff FILE FILE', 'diff -c cycles --cycles-hist -p -F FILE OTHER', 'diff -c cycles --json OTHER FILE',
    'diff --stream --all FILE OTHER', 'diff --stream --json FILE FILE',
    'c2c report -i FILE', 'c2c report --json -N -g -i FILE', 'mem report -i FILE', 'tsx report -i FILE',
    'tsx report --json --branches 64 --max-sites 0 --max-paths 0 FILE OTHER', 'tsx report --json --branches 64 --max-sites 0 --max-paths 0 FILE',
    'timechart -n 100 -i FILE -o OUT', 'timechart -i FILE --html OUT', 'evlist -v -i FILE', 'evlist -g -F --trace-fields -i FILE', 'buildid-list -i FILE', 'buildid-list -H -i FILE',
    'readperf -o DIR -i FILE', 'stat report -i FILE', 'stat report -j -i FILE', 'stat report -x , -A -i FILE', 'stat report --per-thread -i FILE',
    'stat report --per-core -i FILE', 'data lint FILE', 'data pack FILE -o OUT', 'data strip FILE -o OUT', 'data anonymise FILE -o OUT',
    'data unpack FILE -o DIR', 'data cut --time 10%,60% FILE -o OUT', 'data cut --pid 1,2 FILE -o OUT', 'data merge FILE OTHER -o OUT']


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))


def lines_of_json(words, out):
    """What is JSON of what was printed: the whole, or a line each."""
    if '--json' not in words and '-j' not in words:
        return []
    return out.splitlines() if words[0] in ('script', 'stat') else [out] if out else []


def fault(words):
    """What is wrong about a run; '' if nothing is."""
    with open('stdout', 'wb') as out, open('stderr', 'wb') as err:
        process = subprocess.Popen([PACE, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    out, err = (open(name, errors='replace').read() for name in ('stdout', 'stderr'))
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        frames = re.findall(r'#\d+ 0x\w+ in (\w+) \.\./(\S+)', err)[:4]
        return f'{name}: {" ".join("%s@%s" % frame for frame in frames)}: {err[:1500]}'
    if 'runtime error' in err or 'Sanitizer' in err:
        return err[-3000:]
    if usage.ru_maxrss > MEMORY_KB:
        return f'{usage.ru_maxrss} KiB of memory'
    spoken = re.search('[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]', out + err)
    if spoken:
        return f'control bytes: {(out + err)[max(spoken.start() - 60, 0):spoken.end() + 20]!r}'
    if os.WEXITSTATUS(status) not in (0, 1, 2) or (status and not out and not err.strip()):
        return f'status {os.WEXITSTATUS(status)}, and not a word'
    for line in lines_of_json(words, out):
        try:
            json.loads(line)
        except ValueError as problem:
            return f'that is no JSON, {problem}: {line[:300]}'
    return ''


def clean():
    shutil.rmtree('made', ignore_errors=True)
    for name in ('out.data', 'out.data.old'):
        if os.path.exists(name):
            os.remove(name)


def read_all(part, parts):
    os.makedirs('madeup')
    subprocess.run([f'{BUILD}/tests/madeup', str(FIRST), str(COUNT + 1), 'madeup'], check=True)
    bad = []
    for number in range(FIRST + part, FIRST + COUNT, parts):
        names = {'FILE': f'madeup/{number}.data', 'OTHER': f'madeup/{number + 1}.data', 'OUT': 'out.data', 'DIR': 'made'}
        chosen = COMMANDS if ALL else [COMMANDS[(number * EACH + i) % len(COMMANDS)] for i in range(EACH)]
        for command in chosen:
            wrong = fault([names.get(word, word) for word in command.split()])
            clean()
            if wrong:
                bad.append(f'{number}.data: pace {command}: {wrong}')
                if KEEP:
                    os.makedirs(KEEP, exist_ok=True)
                    shutil.copy(names['FILE'], KEEP)
                    with open(f'{KEEP}/list', 'a', encoding='utf-8') as file:
                        file.write(bad[-1][:600].replace('\n', ' | ') + '\n')
    assert not bad, f'{len(bad)} runs:\n' + '\n====\n'.join(bad[:10])


@test
def made_up_recordings_are_survived_by_all_commands_first_third():
    read_all(0, 3)


@test
def made_up_recordings_are_survived_by_all_commands_second_third():
    read_all(1, 3)


@test
def made_up_recordings_are_survived_by_all_commands_last_third():
    read_all(2, 3)


if __name__ == '__main__':
    # Longer ones are for hands.
    main(max(180, COUNT * (len(COMMANDS) if ALL else EACH)))
