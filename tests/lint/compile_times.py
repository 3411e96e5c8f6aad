"""The slowest files of a build, from Bazel's profile: compile_times.py PROFILE.gz

Aims for one file compiled alone: none over 6 s, the median 2 s at most. A build compiles on all CPUs at once and often
beside other work, so twice as much is what fails here. Files that came from the cache took no time and do not count.
"""

import bisect
import gzip
import json
import re
import statistics
import sys

ALLOWED = 2.0  # times the aim, for the load of the build itself
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
    median = statistics.median(seconds.values())
    print("  %d files compiled, median %.1f s" % (len(seconds), median))
    slow = [name for name, took in seconds.items() if took > 6 * ALLOWED]
    print("%s slowest_file%s" % ("FAILED" if slow else "passed", ": " + ", ".join(slow) if slow else ""))
    # A handful of files that changed says nothing about the middle.
    if len(seconds) < 20:
        print("SKIPPED median_file: only %d files were compiled" % len(seconds))
    else:
        print("%s median_file" % ("FAILED" if median > 2 * ALLOWED else "passed"))


main()
