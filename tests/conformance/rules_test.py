#!/usr/bin/python3 -B
"""Which numbered rules have a test, which wait for one, and that none is forgotten.

rules.txt: "2.4 strict merge of devices" a line. waivers.txt: "3.1-3.7 5.2 5.9: why there is no test yet" a line. A
rule has a test if a GoogleTest somewhere under tests/ is named after it: Rule2x4StrictMerge is about rule 2.4. Fails for
a rule with neither, and for tests and waivers of rules that there are not. A rule may have both: a test of a part of it.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lint"))
import source_tree  # noqa: E402

TEST = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+),\s*Rule(\d+)x(\d+)", re.MULTILINE)
RULE = re.compile(r"(\d+)\.(\d+)")


def lines(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def number(text):
    """"2.4" -> (2, 4)."""
    section, rule = RULE.fullmatch(text).groups()
    return int(section), int(rule)


def expand(words):
    """"3.1-3.3 5.2" -> (3, 1), (3, 2), (3, 3), (5, 2)."""
    for word in words.split():
        first, _, last = word.partition("-")
        (section, begin), (_, end) = number(first), number(last or first)
        for rule in range(begin, end + 1):
            yield section, rule


def text(rules):
    return " ".join("%d.%d" % rule for rule in sorted(rules))


def find_tests():
    """{rule: number of tests}."""
    tests = {}
    for path in source_tree.sources("_test.cc"):
        for _, section, rule in TEST.findall(source_tree.read(path)):
            key = (int(section), int(rule))
            tests[key] = tests.get(key, 0) + 1
    return tests


def main():
    names = {}
    for line in lines("rules.txt"):
        rule, _, name = line.partition(" ")
        names[number(rule)] = name
    waivers = {}  # rule -> reason
    for line in lines("waivers.txt"):
        rules, _, reason = line.partition(": ")
        waivers.update((rule, reason) for rule in expand(rules))
    tests = find_tests()

    for rule in sorted(names):
        found = "%d tests" % tests[rule] if rule in tests else ""
        waits = waivers.get(rule)
        print("%-6s %-55s %s" % (text([rule]), names[rule], "; ".join(filter(None, [found, waits])) or "NOTHING"))
    cases = {}
    for section in sorted({section for section, _ in names}):
        cases["EveryRuleOfSection%dHasATestOrAWaiver" % section] = [
            "rule %s (%s): no test is named Rule%dx%d... and waivers.txt does not have it" % (text([r]), names[r], *r)
            for r in sorted(names) if r[0] == section and r not in tests and r not in waivers]
    cases["TestsAndWaiversAreOfRulesThatThereAre"] = [
        "%s: rules.txt has no rule %s" % (what, text([r]))
        for what, known in (("test", tests), ("waiver", waivers)) for r in sorted(known) if r not in names]
    for reason in sorted(set(waivers.values())):
        waiting = [r for r in waivers if waivers[r] == reason and r not in tests]
        if waiting:
            cases["Rules %s" % text(waiting)] = reason
    source_tree.report("rules", cases)


main()
