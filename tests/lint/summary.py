"""Counts test cases for deploy/test.sh: summary.py FOLDER

FOLDER holds NAME.json, the build events of one "bazel test", and NAME.cases with lines "passed CASE", "FAILED CASE" and
"SKIPPED CASE: REASON". Prints failures, then skips with their reasons, then the one line with the counts.
"""

import glob
import json
import os
import sys
import xml.etree.ElementTree as ElementTree

passed = []
failed = []
skipped = []  # (case, reason)


def count_case(label, case):
    name = "%s %s.%s" % (label, case.get("classname", ""), case.get("name", ""))
    skip = case.find("skipped")
    if case.find("failure") is not None or case.find("error") is not None:
        failed.append(name)
    elif case.get("status") == "notrun":
        skipped.append((name, "disabled"))
    elif skip is not None or case.get("result") == "skipped":
        reason = "" if skip is None else (skip.get("message") or skip.text or "")
        skipped.append((name, " ".join(reason.split()) or "no reason given"))
    else:
        passed.append(name)


def count_result(label, result):
    """One run (or shard) of a test target."""
    before = len(failed)
    xml = [o["uri"] for o in result.get("testActionOutput", []) if o["name"] == "test.xml"]
    try:
        for uri in xml:
            for case in ElementTree.parse(uri[len("file://"):]).iter("testcase"):
                count_case(label, case)
    except (OSError, ElementTree.ParseError):
        pass  # cut off by its end: counted below
    if result.get("status") != "PASSED" and len(failed) == before:
        failed.append("%s: %s" % (label, result.get("status", "no status").lower().replace("_", " ")))


def count_events(path):
    name = os.path.basename(path)[:-len(".json")]
    results = {}  # the last attempt counts
    broken = set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            kind = event.get("id", {})
            if "testResult" in event:
                key = kind["testResult"]
                results[key["label"], key.get("run"), key.get("shard")] = event["testResult"]
            elif "targetCompleted" in kind and not event.get("completed", {}).get("success"):
                broken.add(kind["targetCompleted"]["label"])
    prefix = "" if name == "opt" else name + " "
    for (label, _, _), result in sorted(results.items()):
        count_result(prefix + label, result)
    for label in sorted(broken - {label for label, _, _ in results}):
        failed.append("%s%s: not built" % (prefix, label))
    if not results:
        failed.append("%s: no test was run" % name)


def count_lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.strip().partition(" ")
            if word == "passed":
                passed.append(rest)
            elif word == "FAILED":
                failed.append(rest)
            elif word == "SKIPPED":
                case, _, reason = rest.partition(": ")
                skipped.append((case, reason or "no reason given"))


folder = sys.argv[1]
for events in sorted(glob.glob(os.path.join(folder, "*.json"))):
    count_events(events)
for cases in sorted(glob.glob(os.path.join(folder, "*.cases"))):
    count_lines(cases)
for case in failed:
    print("failed: %s" % case)
for case, reason in skipped:
    print("skipped: %s: %s" % (case, reason))
print("%d passed, %d failed, %d skipped" % (len(passed), len(failed), len(skipped)))
sys.exit(1 if failed else 0)
