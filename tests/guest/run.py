#!/usr/bin/env python3
"""Runs every test_*.py of this folder together: they share the boots of the emulated machine."""
import glob
import importlib.util
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'test_*.py'))):
    # By its path: the folder of another suite that one of them looks into has a file of the same name.
    spec = importlib.util.spec_from_file_location('guest_' + os.path.basename(path)[:-3], path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
harness.main(limit=1200)
