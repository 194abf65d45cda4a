#!/usr/bin/env python3
"""Runs the cases that failed once, a line a case with its last words: a case is a program that exits with 1 where its fault shows.

    Tests/Acceptance/cases.py [DIRECTORY] [NAME…]     ../shared/cases, and every case of it, without arguments

Each case gets the programs by `MARTLET`, starts a daemon of its own on loopback and has ten minutes. Some need root, nginx or strace.
"""
import os, pathlib, subprocess, sys, time

from acceptance import ROOT, claim, finish, programs

LIMIT = 600
given = sys.argv[1:]
directory = pathlib.Path(given.pop(0)) if given and pathlib.Path(given[0]).is_dir() else ROOT.parent / "shared/cases"
cases = [path for path in sorted(directory.glob("*.py")) if not given or any(name in path.name for name in given)]
if not cases:
    sys.exit(f"there are no cases in {directory}" + (f" named {' or '.join(given)}" if given else ""))
for case in cases:
    begun = time.monotonic()
    try:
        result = subprocess.run([sys.executable, str(case)], env={**os.environ, "MARTLET": str(programs() / "martlet")},
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=LIMIT)
        lines = (result.stdout + result.stderr).strip().splitlines() or [""]
        shown = next((line for line in lines if line.startswith("FAULT")), lines[-1])
        held = result.returncode == 0
    except subprocess.TimeoutExpired:
        held, shown = False, f"no end within {LIMIT} s"
    claim(held, case.stem, f"{time.monotonic() - begun:.0f} s  {shown[:160]}")
finish()
