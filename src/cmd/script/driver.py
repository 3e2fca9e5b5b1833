"""Runs a script of perf's: calls its functions with what pace sends through a pipe.

pace starts it with a pipe to read from and one to answer on. First comes this text; then frames: their length (4 bytes, the lowest
first) and a list of tuples in the encoding of `marshal`, each with its kind first (view/records/script_python.h). The answer says
which functions the script has, one on each line, and ends with an empty line.
"""
import builtins
import errno
import glob
import marshal
import os
import re
import signal
import struct
import sys
import traceback
import types


def add_module(name, members):
    """A module that scripts import, in place of perf's file of that name."""
    module = types.ModuleType(name)
    module.__dict__.update(members)
    module.__all__ = [member for member in members if not member.startswith('__')]
    sys.modules[name] = module


class Moment:
    """The sample that is being handed out: what scripts give back as `context`."""
    flags = preempt_count = lock_depth = 0
    code = source = None


moment = Moment()


# ---- perf_trace_context ----

def perf_sample_srcline(context):
    return context.source or (None, 0)


def perf_sample_srccode(context):
    path, line = perf_sample_srcline(context)
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return path, line, file.readlines()[line - 1].rstrip('\n')
    except (OSError, IndexError, TypeError):
        return path, line, None


add_module('perf_trace_context', {
    'perf_script_context': moment,
    'common_pc': lambda context: context.preempt_count,
    'common_flags': lambda context: context.flags,
    'common_lock_depth': lambda context: context.lock_depth,
    'perf_sample_insn': lambda context: context.code or None,
    'perf_set_itrace_options': lambda context, options: -1,
    'perf_sample_srcline': perf_sample_srcline,
    'perf_sample_srccode': perf_sample_srccode,
})


# ---- Core ----

class autodict(dict):
    """A dictionary in which what is missing is another one."""

    def __missing__(self, key):
        self[key] = autodict()
        return self[key]


# (event, field) -> [delimiter or None, {value: word}]
words_of = {}


def define_flag_field(event, field, delimiter):
    words_of[event, field] = [delimiter, {}]


def define_symbolic_field(event, field):
    words_of[event, field] = [None, {}]


def define_word(event, field, value, word):
    words_of[event, field][1][value] = word


def flag_str(event, field, value):
    delimiter, words = words_of.get((event, field), (None, {}))
    if not value:
        return words.get(0, '')
    said = []
    for bits, word in sorted(words.items()):
        if bits and value & bits == bits:
            said.append(word)
            value &= ~bits
    return (f' {delimiter} ' if delimiter else '').join(said)


def symbol_str(event, field, value):
    return words_of.get((event, field), (None, {}))[1].get(value, '')


trace_flags = {0: 'NONE', 1: 'IRQS_OFF', 2: 'IRQS_NOSUPPORT', 4: 'NEED_RESCHED', 8: 'HARDIRQ', 16: 'SOFTIRQ'}


def trace_flag_str(value):
    if not value:
        return trace_flags[0]
    return ' | '.join(name for bit, name in trace_flags.items() if value & bit)


def taskState(state):
    return {0: 'R', 1: 'S', 2: 'D', 64: 'DEAD'}.get(state, 'Unknown')


class EventHeaders:
    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain=None):
        self.cpu, self.secs, self.nsecs, self.pid, self.comm = common_cpu, common_secs, common_nsecs, common_pid, common_comm
        self.callchain = common_callchain

    def ts(self):
        return self.secs * 10 ** 9 + self.nsecs

    def ts_format(self):
        return '%d.%d' % (self.secs, self.nsecs // 1000)


add_module('Core', {name: globals()[name] for name in (
    'autodict', 'define_flag_field', 'define_symbolic_field', 'flag_str', 'symbol_str', 'trace_flags', 'trace_flag_str', 'taskState', 'EventHeaders')}
    | {'define_flag_value': define_word, 'define_symbolic_value': define_word, 'defaultdict': __import__('collections').defaultdict})


# ---- Util ----

def add_stats(stats, key, value):
    """[least, most, average of the last and all before, how many] of each key."""
    if key not in stats:
        stats[key] = (value, value, value, 1)
        return
    least, most, average, count = stats[key]
    stats[key] = (min(least, value), max(most, value), (average + value) / 2, count + 1)


def read_syscalls():
    """Names of system calls by number: of audit, else of the kernel's headers, where they are installed."""
    try:
        import audit  # pylint: disable=import-outside-toplevel
        machine = audit.audit_detect_machine()
        return {n: name for n in range(1024) if (name := audit.audit_syscall_to_name(n, machine))}
    except (ImportError, AttributeError):
        pass
    for path in glob.glob(f'/usr/include/{os.uname().machine}-*/asm/unistd_64.h') + ['/usr/include/asm/unistd_64.h', '/usr/include/asm-generic/unistd.h']:
        try:
            with open(path, encoding='utf-8') as file:
                return {int(n): name for name, n in re.findall(r'^#define __NR_(\w+) (\d+)$', file.read(), re.M)}
        except OSError:
            pass
    return {}


def syscall_name(number):
    if not SYSCALLS:
        SYSCALLS.update(read_syscalls())
    return SYSCALLS.get(number, str(number))


def strerror(number):
    return errno.errorcode.get(abs(number), 'Unknown %d errno' % number)


SYSCALLS = {}
NSECS_PER_SEC = 10 ** 9
add_module('Util', {
    'FUTEX_WAIT': 0, 'FUTEX_WAKE': 1, 'FUTEX_PRIVATE_FLAG': 128, 'FUTEX_CLOCK_REALTIME': 256, 'FUTEX_CMD_MASK': ~(128 | 256),
    'NSECS_PER_SEC': NSECS_PER_SEC,
    'avg': lambda total, n: total / n,
    'nsecs': lambda secs, nsecs: secs * NSECS_PER_SEC + nsecs,
    'nsecs_secs': lambda nsecs: nsecs / NSECS_PER_SEC,
    'nsecs_nsecs': lambda nsecs: nsecs % NSECS_PER_SEC,
    'nsecs_str': lambda nsecs: '%5u.%09u' % (nsecs / NSECS_PER_SEC, nsecs % NSECS_PER_SEC),
    'add_stats': add_stats,
    'clear_term': lambda: print('\x1b[H\x1b[2J'),
    'syscall_name': syscall_name,
    'strerror': strerror,
    'errno': errno,
    'os': os,
})


# ---- EventClass ----

class PerfEvent:
    event_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=0):
        self.name, self.comm, self.dso, self.symbol, self.raw_buf, self.ev_type = name, comm, dso, symbol, raw_buf, ev_type
        PerfEvent.event_num += 1

    def show(self):
        print(f'PMU event: name={self.name:>12}, symbol={self.symbol:>24}, comm={self.comm:>8}, dso={self.dso:>12}')


class PebsEvent(PerfEvent):
    """Registers, as Intel's PEBS writes them."""
    pebs_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=1):
        for register, value in zip(('flags', 'ip', 'ax', 'bx', 'cx', 'dx', 'si', 'di', 'bp', 'sp'), struct.unpack('10Q', raw_buf[:80])):
            setattr(self, register, value)
        PerfEvent.__init__(self, name, comm, dso, symbol, raw_buf, ev_type)
        PebsEvent.pebs_num += 1


class PebsNHM(PebsEvent):
    """The same with an access to memory."""
    pebs_nhm_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=2):
        self.status, self.dla, self.dse, self.lat = struct.unpack('4Q', raw_buf[144:176])
        PebsEvent.__init__(self, name, comm, dso, symbol, raw_buf, ev_type)
        PebsNHM.pebs_nhm_num += 1


def create_event(name, comm, dso, symbol, raw_buf):
    kind = {144: PebsEvent, 176: PebsNHM}.get(len(raw_buf), PerfEvent)
    return kind(name, comm, dso, symbol, raw_buf)


add_module('EventClass', {'EVTYPE_GENERIC': 0, 'EVTYPE_PEBS': 1, 'EVTYPE_PEBS_LL': 2, 'EVTYPE_IBS': 3, 'PerfEvent': PerfEvent,
                          'PebsEvent': PebsEvent, 'PebsNHM': PebsNHM, 'create_event': create_event, 'struct': struct})


# ---- samples ----

class Event:
    def __init__(self, name, attr, read_format, tracepoint):
        self.name, self.attr, self.read_format, self.tracepoint = name, attr, read_format, tracepoint
        self.handler_name = tracepoint.replace(':', '__', 1) if tracepoint else None
        self.handler = script.get(self.handler_name) if tracepoint else None


def argument_count(function):
    code = getattr(function, '__code__', None)
    return code.co_argcount if code else -1


def named(symbol, offset):
    return '%s+0x%x' % (symbol['name'], offset) if symbol else '[unknown]'


def add_branches(into, branches):
    into['brstack'], into['brstacksym'] = [], []
    for start, end, flags, here, there in branches:
        here, there = here[0][-1], there[0][-1]
        bits = [bool(flags >> i & 1) for i in range(4)]
        into['brstack'].append({'from': start, 'to': end, 'mispred': bits[0], 'predicted': bits[1], 'in_tx': bits[2], 'abort': bits[3],
                                'cycles': flags >> 4 & 0xffff, 'from_dsoname': here.get('dso', '[unknown]'), 'to_dsoname': there.get('dso', '[unknown]')})
        into['brstacksym'].append({'from': named(here.get('sym'), here.get('sym_off', 0)), 'to': named(there.get('sym'), there.get('sym_off', 0)),
                                   'pred': 'M' if bits[0] else 'P' if bits[1] else '-', 'in_tx': 'X' if bits[2] else '-', 'abort': 'A' if bits[3] else '-'})


def counters(event, read):
    """Values of counters, and how long they counted, as far as the sample has them."""
    enabled, running, values = read
    into = {}
    if event.read_format & 1:
        into['time_enabled'] = enabled
    if event.read_format & 2:
        into['time_running'] = running
    if not values and not event.read_format & 8:
        values = [(0, 0, 0)]
    into['values'] = [value if event.read_format & 16 else value[:2] for value in values]
    return into


def take_sample(number, id_, stream_id, pid, tid, cpu, ip, nsecs, period, phys_addr, addr, weight, ins_lat, transaction, data_src, mode,
                access, read, raw, comm, place, steps, branches, iregs, uregs, fields, code, source):
    event = events[number]
    moment.code, moment.source = code, source
    callers = [frame for step in steps for frame in step[0]]

    def as_dict():
        sample = {'id': id_, 'stream_id': stream_id, 'pid': pid, 'tid': tid, 'cpu': cpu, 'ip': ip, 'time': nsecs, 'period': period,
                  'phys_addr': phys_addr, 'addr': addr, **counters(event, read), 'weight': weight, 'ins_lat': ins_lat,
                  'transaction': transaction, 'datasrc': data_src, 'datasrc_decode': access, 'cpumode': mode}
        result = {'ev_name': event.name, 'attr': event.attr, 'sample': sample, 'raw_buf': raw, 'comm': comm}
        frame = place[0][-1]
        if 'dso' in frame:
            result.update(dso=frame['dso'], dso_bid=place[1].hex(), dso_map_start=place[2], dso_map_end=place[3])
        if 'sym' in frame:
            result.update(symbol=frame['sym']['name'], symoff=frame['sym_off'])
        result['callchain'] = callers
        add_branches(result, branches)
        result.update(iregs=iregs, uregs=uregs)
        return result

    if fields is None:
        if process_event and not event.tracepoint:
            process_event(as_dict())
        return
    values = dict(zip(fields[::2], fields[1::2]))
    moment.flags, moment.preempt_count = values.pop('common_flags', 0), values.pop('common_preempt_count', 0)
    moment.lock_depth = values.pop('common_lock_depth', 0)
    task = values.pop('common_pid', 0)
    values.pop('common_type', None)
    values = {name: bytearray(value) if isinstance(value, bytes) else value for name, value in values.items()}
    secs, rest = divmod(nsecs, NSECS_PER_SEC)
    if event.handler:
        words = [event.handler_name, moment, cpu, secs, rest, task, comm, callers, *values.values()]
        function = event.handler
    elif trace_unhandled:
        words = [event.handler_name, moment, dict(values, common_cpu=cpu, common_s=secs, common_ns=rest, common_pid=task, common_comm=comm,
                                                  common_callchain=callers)]
        function = trace_unhandled
    else:
        return
    if argument_count(function) == len(words) + 1:
        words.append(as_dict())
    function(*words)


def take_event(number, name, attr, read_format, tracepoint):
    events[number] = Event(name, attr, read_format, tracepoint)


def take_word(number, field, delimiter, value, word):
    """A word of a field's values; as in C, 0x10 and 010 are numbers, too."""
    name = events[number].handler_name
    if (name, field) not in words_of:
        define_symbolic_field(name, field) if delimiter is None else define_flag_field(name, field, delimiter)
    try:
        number = int(value, 8 if value[:1] == '0' and value[1:].isdigit() else 0)
    except ValueError:
        return
    define_word(name, field, number, word)


def take_switch(nsecs, cpu, pid, tid, other_pid, other_tid, is_out, is_preempted):
    if 'context_switch' in script:
        script['context_switch'](nsecs, cpu, pid, tid, other_pid, other_tid, -1, is_out, is_out and is_preempted, 0, -1)


def take_throttle(is_throttled, *words):
    function = script.get('throttle' if is_throttled else 'unthrottle')
    if function:
        function(*words)


def take_aux_error(*words):
    if 'auxtrace_error' in script:
        script['auxtrace_error'](*words)


class End(Exception):
    pass


def take_end():
    raise End


TAKE = (take_event, take_word, take_sample, take_switch, take_throttle, take_aux_error, take_end)


# ---- the run ----

def interrupted(number, frame):
    """The first Ctrl-C ends the recording, which pace sees to; the second one ends the script."""
    del number, frame
    signal.signal(signal.SIGINT, signal.default_int_handler)


def answer(text):
    """What pace is to send."""
    have = [name for name, value in script.items() if callable(value)]
    have += [name for name in ('perf_sample_insn', 'perf_sample_srcline', 'perf_sample_srccode') if name in text and name not in have]
    wanted = [name for name in have if not name.startswith('perf_sample_') or name in text]
    with os.fdopen(answers, 'w', encoding='utf-8') as file:
        file.write(''.join(name + '\n' for name in wanted if '\n' not in name) + '\n')


def run(path):
    global process_event, trace_unhandled
    with open(path, 'rb') as file:
        text = file.read()
    exec(compile(text, path, 'exec'), script)
    script['perf_script_context'] = moment
    if 'trace_begin' in script:
        script['trace_begin']()
    process_event, trace_unhandled = script.get('process_event'), script.get('trace_unhandled')
    answer(text.decode('utf-8', 'replace'))
    try:
        while True:
            size = frames.read(4)
            if len(size) < 4:
                break
            for message in marshal.loads(frames.read(int.from_bytes(size, 'little'))):
                TAKE[message[0]](*message[1:])
    except End:
        pass
    if 'trace_end' in script:
        script['trace_end']()


def show_error(kind, error, trace):
    """What happened in the script, without what called it."""
    while trace and trace.tb_frame.f_code.co_filename in (__file__, '<string>'):
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


events = {}
process_event = trace_unhandled = None
# `frames` and `answers` are from the line of code that loads this text; so is the rest of sys.argv.
sys.excepthook = show_error
signal.signal(signal.SIGINT, interrupted)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
main = types.ModuleType('__main__')
main.__file__ = sys.argv[0]
main.__builtins__ = builtins
sys.modules['__main__'] = main
script = main.__dict__
sys.path[0] = os.path.dirname(sys.argv[0]) or '.'
run(sys.argv[0])
