#!/usr/bin/env python3
"""The documentation compared with the program: each has what the other has."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403


def commands():
    return re.findall(r'^  ([\w-]+) +\S', pace('help').out.split('First steps')[0], re.M)


def page(command):
    return open(os.path.join(TOP, f'doc/pace-{command}.1')).read()


@test
def every_command_has_a_man_page_a_golden_help_and_a_place_in_the_overview():
    overview = open(os.path.join(TOP, 'doc/pace.1')).read()
    for command in commands():
        assert os.path.exists(os.path.join(TOP, f'doc/pace-{command}.1')), command
        assert command == 'help' or os.path.exists(os.path.join(TOP, f'tests/golden/{command}/help/cmd')), command
        assert f'pace-{command} (1)' in overview.replace('\\-', '-'), command


@test
def every_option_stands_in_the_man_page_and_every_option_there_exists():
    for command in commands():
        text = page(command).replace('\\-', '-')
        help_text = pace(command, '-h').out
        listed = set(re.findall(r'(?<![\w-])-{1,2}[a-zA-Z][\w-]*', help_text))
        for option in sorted(listed):
            assert re.search(re.escape(option) + r'(?![\w-])', text), f'{command}: {option} is not in the man page'
        titles = re.findall(r'^\.TP\n\.[B]R? (.*)$', text, re.M)
        for title in titles:
            for option in re.findall(r'(?<![\w-])-{1,2}[a-zA-Z][\w-]*', title):
                assert option in listed or option.startswith('--no-'), f'{command}: {option} is only in the man page'


@test
def every_sort_key_stands_in_the_man_page():
    text = page('report')
    keys = re.search(r'known are (.*)', pace('report', '-i', os.path.join(TOP, 'tests/golden/data/wordcount.data'), '-s', 'zzzzzzzzz').err)
    for key in keys.group(1).split():
        assert re.search(rf'^\.BR? .*\b{key}\b', text, re.M), key


@test
def the_man_page_has_the_sort_keys_of_the_help_in_the_same_order():
    section = re.search(r'^\.SH KEYS\n(.*?)^\.SH', page('report'), re.M | re.S).group(1)
    help_text, fields_help = pace('report', '-h').out.split('\nKeys: parts')
    # Words of -F alone have names that keys of -s have, too.
    section, fields = section.split('\nFields of memory accesses')
    for text, rows, least in ((section, help_text, 60), (fields, 'Keys: parts' + fields_help, 5)):
        check_keys(text, rows, least)


def check_keys(section, rows, least):
    entries = [re.findall(r'[a-z_]+', title) for title in re.findall(r'^\.TP\n\.BR? (.*)$', section, re.M)]
    listed = [row.split(', ') for part in re.split(r'^Keys: .*$', rows, flags=re.M)[1:]
              for row in re.findall(r'^  ([a-z_, ]+?)  +\S', part, re.M)]
    place = {key: i for i, entry in enumerate(entries) for key in entry}
    assert len(listed) >= least and {key for row in listed for key in row} == set(place), {key for row in listed for key in row} ^ set(place)
    # An entry may have several keys of the help, such as the places that branches come from and go to.
    firsts = list(dict.fromkeys(place[row[0]] for row in listed))
    assert firsts == sorted(firsts), [entries[i] for i in firsts]


@test
def every_form_stands_in_the_man_page():
    option = re.search(r'^\.BR \\-\\-format .*\n(.*)', page('report'), re.M)
    names = re.search(r'is none of (.*)', pace('report', '--format', 'zzz', '-i', os.path.join(TOP, 'tests/golden/data/wordcount.data')).err)
    for name in names.group(1).split(', '):
        assert f'\\fB{name}\\fR' in option.group(1), (name, option)


@test
def man_pages_are_formatted_without_complaints():
    needs('man')
    for path in sorted(glob.glob(os.path.join(TOP, 'doc/*.[13]'))):
        result = run('man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', path, env=dict(os.environ, MANWIDTH='80'))
        assert result.status == 0 and not result.err.strip(), (path, result.err)


@test
def the_readme_names_every_command():
    text = open(os.path.join(TOP, 'README.md')).read()
    for command in commands():
        assert re.search(rf'^\|.*\b{command}\b', text, re.M), command


def rows_of(text, title):
    """The rows of the first tables behind a heading, as lists of cells."""
    part = text.split(f'\n## {title}\n')[1].split('\n## ')[0]
    return [[cell.strip() for cell in line.strip('|\n ').split(' | ')] for line in part.splitlines() if line.startswith('| ')]


def source(path):
    return open(os.path.join(TOP, 'src', path)).read()


@test
def the_description_of_perf_data_has_the_records_samples_and_sections_of_the_code():
    text = open(os.path.join(TOP, 'doc/perf-data.md')).read()
    abi, layout = source('event/abi.h'), source('file/layout.h')

    numbers = {name: int(number) for name, number in re.findall(r'PERF_RECORD_(\w+) = (\d+),', abi) if 'MISC' not in name}
    del numbers['USER_TYPE_START'], numbers['START']
    assert {row[1]: int(row[0]) for row in rows_of(text, 'Records') if row[0].isdigit()} == numbers

    bits = {name: int(bit) for name, bit in re.findall(r'PERF_SAMPLE_([A-Z_]+) = 1 << (\d+),', abi.split('enum perf_branch_bit')[0])}
    order = re.findall(r'ROW\(([A-Z_]+), S_|"(WEIGHT)", S_WORD', source('record/sample.c'))
    samples = [row for row in rows_of(text, 'Samples') if row[0][0].isdigit()]
    assert [row[1] for row in samples] == [a or b for a, b in order]
    assert all(str(bits[row[1]]) == row[0].split(',')[0] for row in samples) and str(bits['WEIGHT_STRUCT']) in [r[0] for r in samples if r[1] == 'WEIGHT'][0]

    features = {name: int(number) for name, number in re.findall(r'\bFEATURE_([A-Z_0-9]+) =\s+(\d+),', layout)}
    assert {row[1]: int(row[0]) for row in rows_of(text, 'Feature sections') if row[0].isdigit()} == features

    attr = source('event/attr.h')
    fields = re.findall(r'^\t[us]\d+ (\w+);', attr.split('struct event_attr {')[1].split('};')[0], re.M)
    listed = [row[0] for row in rows_of(text, 'attr') if re.fullmatch(r'[us]\d+', row[1])]
    spelt = {'reserved_2': 'reserved', 'reserved_3': 'aux_action'}
    assert listed == [spelt.get(field, field) for field in fields], listed
    flags = {name.lower(): bit for name, bit in re.findall(r'#define ATTR_(\w+) +\(1ULL << (\d+)\)', attr)}
    cells = sum((list(zip(row[::2], row[1::2])) for row in rows_of(text, 'attr') if row[0].isdigit()), [])
    told = {name.split(':')[0].split(',')[0]: bit for bit, name in cells if bit.isdigit()}
    assert told == flags, (set(told.items()) ^ set(flags.items()))


def keys_of(path, table='keys'):
    rows = source(path).split(f'{table}[] = {{')[1].split('};')[0]
    keys = re.findall(r'^\t\{+[^"]+ "([^"]+)",\s+"([^"]+)"', rows, re.M)
    assert keys and len(keys) == len(re.findall(r'^\t\{(?!0)', rows, re.M)), keys
    return keys


@test
def the_man_pages_have_the_keys_of_the_browsers_in_the_same_order():
    for name, section, tables in (
            ('report', 'BROWSER', [('view/screen/browser.c',), ('cmd/report/report_actions.c', 'report_actions')]),
            ('report', 'ALL SCREENS', [('view/screen/textpage.c',), ('view/screen/screen.c',)]),
            ('report', 'FLAME VIEW', [('view/screen/flameview.c',)]),
            ('report', 'TIME VIEW', [('view/screen/timestrip.c',)]),
            ('annotate', 'BROWSER', [('view/screen/codeview.c',)])):
        keys, *actions = (keys_of(*table) for table in tables)
        actions = sum(actions, [])
        meanings = sum((key.split(', ') for key, _ in keys), [])
        assert len(keys) > 6 and not any(key in meanings for key, _ in actions), actions
        text = re.search(rf'^\.SH {section}\n(.*?)^\.SH', page(name), re.M | re.S).group(1)
        listed = re.findall(r'^\.TP\n\.B (.*)\n(.*?)(?: \(in .*\))?$', text.replace('\\-', '-').replace('\\(aq', "'"), re.M)
        assert listed == keys + actions, set(listed) ^ set(keys + actions)


main()
