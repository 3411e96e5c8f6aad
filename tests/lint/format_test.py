#!/usr/bin/python3 -B
"""Every C++ file looks as clang-format leaves it."""

import os
import shutil
import subprocess

import source_tree

program = shutil.which("clang-format") or shutil.which("clang-format-14")
files = source_tree.sources(".h", ".cc", ".cu", ".cuh")
if program is None:
    problems = "clang-format is not installed (deploy/setup.sh --tests)"
else:
    # Some at a time, on all CPUs.
    batches = [files[i::4] for i in range(4)]
    runs = [subprocess.Popen([program, "--dry-run", "-Werror"] + batch, cwd=source_tree.ROOT, text=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for batch in batches if batch]
    errors = [line for run in runs for line in run.communicate()[1].split("\n") if "error:" in line]
    problems = sorted({line.split(":")[0] + ": run clang-format -i on it" for line in errors})
source_tree.report("format", {"clang_format": problems})
