#!/usr/bin/env python3
"""`pace probe` in a kernel: functions are probed by name, with registers and return values, counted, recorded, listed and removed."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403


@guest(add="pace probe 'mine:opened=do_sys_openat2 dfd=%x0:s32'", listed='pace probe -l', again='pace probe mine:opened=do_sys_openat2',
       count='pace stat -e mine:opened cat /etc/passwd', record='pace record -q -e mine:opened cat /etc/passwd', script='pace script',
       back="pace probe 'do_sys_openat2%return $retval'", back_record='pace record -q -o back.data -e probe:do_sys_openat2__return cat /etc/passwd',
       back_script='pace script -i back.data', define='pace probe -D do_sys_openat2+4', functions='pace probe -F do_sys_openat*',
       remove="pace probe -d 'mine:*'", remove_rest="pace probe -d 'probe:*'", left='pace probe -l', unknown='pace probe do_no_such_thing')
def functions_of_the_kernel_are_probed(g):
    assert g.add.status == 0 and 'mine:opened' in g.add.out + g.add.err, g.add
    assert re.search(r'mine:opened.*do_sys_openat2', g.listed.out), g.listed
    assert g.again.status == 2 and 'already' in g.again.err, g.again
    counted = re.search(r'^ *(\d+) +mine:opened', g.count.err, re.M)
    assert g.count.status == 0 and counted and int(counted[1]) > 0, g.count
    # cat opens relative to its folder.
    assert g.record.status == 0 and re.search(r'mine:opened: \([0-9a-f]+\) dfd=-100', g.script.out), (g.record, g.script)
    assert g.back.status == 0 and g.back_record.status == 0 and re.search(r'\([0-9a-f]+ <- [0-9a-f]+\) arg1=0x[0-9a-f]+', g.back_script.out), (
        g.back, g.back_record, g.back_script)
    assert g.define.status == 0 and re.match(r'p:probe/do_sys_openat2\S* \S*do_sys_openat2\+4$', g.define.out.strip()), g.define
    assert 'do_sys_openat2' in g.functions.out.split(), g.functions
    assert g.remove.status == 0 and g.remove_rest.status == 0 and 'openat' not in g.left.out, (g.remove, g.remove_rest, g.left)
    assert g.unknown.status != 0 and 'do_no_such_thing' in g.unknown.err, g.unknown


@guest(btf='test -e /sys/kernel/btf/vmlinux', lines="pace probe -L do_sys_openat2", typed="pace probe 'btf:opened=do_sys_openat2 filename:string'")
def variables_of_the_kernel_need_its_debug_information(g):
    """Without it the message says so; tracefs knows arguments by BTF since Linux 6.6, which takes names as they are."""
    if g.btf.status:
        skip('the emulated kernel has no BTF')
    assert g.lines.status != 0 and g.lines.err.strip(), g.lines
    assert g.typed.status == 0 or 'filename' in g.typed.err or 'vmlinux' in g.typed.err, g.typed


if __name__ == '__main__':
    main()
