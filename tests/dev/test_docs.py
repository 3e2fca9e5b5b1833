#!/usr/bin/env python3
"""The documentation beside the program: what one has, the other has too."""
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


main()
