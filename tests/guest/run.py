#!/usr/bin/env python3
"""Runs every test_*.py of this folder in one go: they share the boots of the emulated machine."""
import glob
import importlib
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'test_*.py'))):
    importlib.import_module(os.path.basename(path)[:-3])
harness.main()
