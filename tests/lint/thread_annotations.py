"""Checks ABSL_GUARDED_BY and its like with clang over the whole tree, after a build (for the generated headers).

Only files that reach runtime/base/mutex.h can break a rule. One that passed is not looked at again until it, a header of
ours that it reaches, or the compiler changes.
"""

import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess

import source_tree

CACHE = "/var/tmp/cohort-thread-annotations-%d" % os.getuid()
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", "-Wno-unknown-warning-option", "-I.", "-Ibazel-bin"]
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)

known = {}  # path -> (text, our headers it includes)


def inspect(path):
    if path not in known:
        text = source_tree.read(path)
        ours = []
        for name in INCLUDE.findall(text):
            for place in (name, os.path.join("bazel-bin", name)):
                if os.path.exists(os.path.join(source_tree.ROOT, place)):
                    ours.append(place)
                    break
        known[path] = (text, ours)
    return known[path]


def reached(path):
    """`path` and all of our headers that it includes, however far."""
    seen = {path}
    left = [path]
    while left:
        for name in inspect(left.pop())[1]:
            if name not in seen:
                seen.add(name)
                left.append(name)
    return sorted(seen)


def check(clang, version, path):
    """None, or what clang says."""
    files = reached(path)
    key = hashlib.sha256("\0".join([version] + FLAGS + files + [inspect(f)[0] for f in files]).encode()).hexdigest()
    mark = os.path.join(CACHE, key)
    if os.path.exists(mark):
        return None
    run = subprocess.run([clang] + FLAGS + [path], cwd=source_tree.ROOT, text=True, capture_output=True)
    if run.returncode != 0:
        return run.stderr
    with open(mark, "w", encoding="utf-8"):
        pass
    return None


def main():
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    if clang is None:
        print("SKIPPED thread_annotations: clang is not installed (deploy/setup.sh --tests)")
        return
    httplib = subprocess.run(["pkg-config", "--cflags-only-other", "cpp-httplib"], text=True, capture_output=True)
    FLAGS.extend(httplib.stdout.split())
    version = subprocess.run([clang, "--version"], text=True, capture_output=True).stdout
    os.makedirs(CACHE, exist_ok=True)
    files = [f for f in source_tree.sources(".cc")
             if not f.startswith("deploy/") and "runtime/base/mutex.h" in reached(f)]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems = [p for p in pool.map(lambda f: check(clang, version, f), files) if p]
    print("\n".join(problems + ["  %d files" % len(files)]))
    print("%s thread_annotations" % ("FAILED" if problems else "passed"))


main()
