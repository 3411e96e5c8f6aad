"""Judges how long our files take to compile: compile_times.py PROFILE.gz, the profile of a build that has just ended.

None may take over 6 s, and the median 2 s at most, alone on a machine. The profile has the time by the clock, which other
work stretches; so what looks slow there is compiled once more and judged by the time of its CPU. Files that came from the
cache took no time and do not count.
"""

import bisect
import gzip
import json
import os
import re
import resource
import statistics
import subprocess
import sys

LIMIT = 6.0
MEDIAN = 2.0
LOADED = 2.0  # what the load of the build itself makes of a second, where a file cannot be compiled again
MOST_REPEATED = 12  # files compiled once more, for each of the two cases
OURS = re.compile(r"Compiling ((client|ps|runtime|tests|worker)/\S+\.(cc|cu))")


def compile_seconds(events):
    """{file: seconds of its compiler process}"""
    runs = {}  # thread -> [(start, duration)]
    for event in events:
        if event.get("name") == "subprocess.run":
            runs.setdefault(event["tid"], []).append((event["ts"], event["dur"]))
    for list_of_runs in runs.values():
        list_of_runs.sort()
    seconds = {}
    for event in events:
        match = OURS.match(event.get("name", ""))
        if event.get("cat") != "action processing" or not match:
            continue
        on_thread = runs.get(event["tid"], [])
        i = bisect.bisect_left(on_thread, (event["ts"], 0))
        if i < len(on_thread) and on_thread[i][0] < event["ts"] + event["dur"]:
            seconds[match.group(1)] = on_thread[i][1] / 1e6
    return seconds


def bazel(*arguments):
    return subprocess.run(["bazel"] + list(arguments), text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


class Again:
    """Compiles files once more and tells the CPU seconds of that."""

    def __init__(self):
        self.commands = None  # file -> arguments
        self.took = {}

    def load(self):
        self.folder = bazel("info", "execution_root").strip()
        actions = json.loads(bazel("aquery", "--keep_going", "--output=jsonproto", 'mnemonic("CppCompile", //...)') or "{}")
        self.commands = {}
        for action in actions.get("actions", []):
            arguments = action["arguments"]
            source = arguments[arguments.index("-c") + 1] if "-c" in arguments else ""
            arguments = list(arguments)
            for option, value in (("-o", "/dev/null"), ("-MF", "/dev/null")):
                if option in arguments:
                    arguments[arguments.index(option) + 1] = value
            self.commands[source] = arguments

    def seconds(self, name):
        """None if it cannot be told."""
        if self.commands is None:
            self.load()
        if name not in self.took and name in self.commands:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(self.commands[name], cwd=self.folder, capture_output=True).returncode == 0
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done:
                self.took[name] = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        return self.took.get(name)


def judge_slowest(seconds, again):
    over = sorted((name for name in seconds if seconds[name] > LIMIT), key=lambda name: -seconds[name])[:MOST_REPEATED]
    slow = []
    for name in over:
        alone = again.seconds(name)
        if alone is not None:
            print("  %5.1f s  %s alone" % (alone, name))
        if (seconds[name] / LOADED if alone is None else alone) > LIMIT:
            slow.append(name)
    print("%s slowest_file%s" % ("FAILED" if slow else "passed", ": " + ", ".join(slow) if slow else ""))


def judge_median(seconds, again):
    # A build that changed little compiles what it changed, often tests alone: their median says nothing about the tree's.
    ours = len(subprocess.run(["git", "ls-files", "*.cc", "*.cu"], text=True, stdout=subprocess.PIPE).stdout.split())
    if len(seconds) * 2 < ours:
        print("SKIPPED median_file: only %d of %d files were compiled" % (len(seconds), ours))
        return
    median = statistics.median(seconds.values())
    if median > MEDIAN:
        ordered = sorted(seconds, key=seconds.get)
        first = max(0, len(ordered) // 2 - MOST_REPEATED // 2)
        alone = [again.seconds(name) for name in ordered[first:first + MOST_REPEATED]]
        median = statistics.median([took for took in alone if took is not None] or [median / LOADED])
        print("  median alone %.1f s" % median)
    print("%s median_file" % ("FAILED" if median > MEDIAN else "passed"))


def main():
    try:
        with gzip.open(sys.argv[1], "rt", encoding="utf-8") as file:
            seconds = compile_seconds(json.load(file)["traceEvents"])
    except (OSError, EOFError, ValueError) as error:
        print("SKIPPED compile_times: no profile of the build (%s)" % error)
        return
    if not seconds:
        print("SKIPPED compile_times: every file came from the cache")
        return
    for name, took in sorted(seconds.items(), key=lambda item: -item[1])[:10]:
        print("  %5.1f s  %s" % (took, name))
    print("  %d files compiled, median %.1f s" % (len(seconds), statistics.median(seconds.values())))
    again = Again()
    judge_slowest(seconds, again)
    judge_median(seconds, again)


os.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
main()
