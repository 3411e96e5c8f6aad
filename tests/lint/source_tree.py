"""The source tree as the lints see it, and the file that tells Bazel what each case gave."""

import os
import sys
from xml.sax.saxutils import quoteattr

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
FOLDERS = ("client", "deploy/sanitizers", "proto", "ps", "runtime", "tests", "worker")


def sources(*endings):
    """Paths from the root, ascending, of our files with one of the endings."""
    found = []
    for folder in FOLDERS:
        for path, folders, names in os.walk(os.path.join(ROOT, folder)):
            folders[:] = sorted(f for f in folders if f != "testdata" and not f.startswith("bazel-"))
            found += [os.path.relpath(os.path.join(path, n), ROOT) for n in names if n.endswith(endings)]
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def report(suite, cases):
    """Prints {case: [problem]} (a string instead of a list: why it was skipped), writes it as XML, gives the exit code."""
    lines = []
    failed = skipped = 0
    for name, problems in cases.items():
        inside = ""
        if isinstance(problems, str):
            skipped += 1
            inside = "<skipped message=%s/>" % quoteattr(problems)
            print("SKIPPED %s: %s" % (name, problems))
        elif problems:
            failed += 1
            inside = "<failure message=%s/>" % quoteattr("\n".join(problems))
            print("FAILED %s\n  %s" % (name, "\n  ".join(problems)))
        else:
            print("passed %s" % name)
        lines.append("<testcase name=%s classname=%s>%s</testcase>" % (quoteattr(name), quoteattr(suite), inside))
    path = os.environ.get("XML_OUTPUT_FILE")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="%s" tests="%d" failures="%d" skipped="%d">%s'
                       "</testsuite></testsuites>\n" % (suite, len(cases), failed, skipped, "".join(lines)))
    sys.exit(1 if failed else 0)
