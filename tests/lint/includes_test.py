#!/usr/bin/python3 -B
"""Include guards by path, who may include which folder and which library (the floors and the guarded headers)."""

import re

import source_tree

FLOORS = (
    ("runtime/base", "proto", "proto/formats"),
    ("runtime/cluster", "runtime/tensor", "runtime/telemetry", "runtime/formats", "runtime/rpc"),
    ("runtime/coordination", "runtime/daemon", "runtime/graph", "runtime/device", "runtime/checkpoint", "runtime/distribute",
     "runtime/optimizer"),
    ("runtime/kernels", "runtime/collective", "runtime/driver", "runtime/dataset", "runtime/variable"),
    ("runtime/executor", "runtime/remote"),
    ("worker", "ps"),
    ("client",),
)
FLOOR_OF = {folder: floor for floor, folders in enumerate(FLOORS, start=1) for folder in folders}

# (what is included, where that is allowed, the rule in words). A path under tests/ is also judged as the folder it mirrors.
GUARDED = (
    (r"grpcpp/|grpc/|grpc\+\+/|.*\.grpc\.pb\.h$",
     r"runtime/rpc/|runtime/remote/|runtime/collective/grpc/|.*_service\.cc$|tests/",
     "gRPC only in runtime/rpc, runtime/remote, runtime/collective/grpc, *_service.cc, tests"),
    (r"proto/[^/]*\.pb\.h$",
     r"runtime/remote/|runtime/collective/grpc/|.*_service\.cc$|tests/",
     "proto/*.pb.h only in runtime/remote, runtime/collective/grpc, *_service.cc, tests"),
    (r"proto/formats/.*\.pb\.h$", r"runtime/formats/.*\.cc$|tests/.*\.cc$", "proto/formats/*.pb.h only in runtime/formats/*.cc"),
    (r"cuda|cublas|cudnn|curand", r"runtime/device/cuda/|runtime/kernels/cuda/|runtime/collective/nccl/",
     "CUDA only in runtime/device/cuda, runtime/kernels/cuda, runtime/collective/nccl"),
    (r"nccl", r"runtime/collective/nccl/", "NCCL only in runtime/collective/nccl"),
    (r"nlohmann/|spdlog/|fmt/|CLI/|dnnl|oneapi/|cblas|openblas|lapack", r".*\.(cc|cu)$",
     "nlohmann, spdlog, fmt, CLI11, dnnl, cblas only in .cc files"),
    (r"absl/synchronization/mutex\.h$", r"runtime/base/mutex\.h$|deploy/sanitizers/",
     "absl::Mutex only in runtime/base/mutex.h: use cohort::Mutex"),
    (r"(mutex|shared_mutex|condition_variable)$", r"$^", "use cohort::Mutex, whose waits have deadlines"),
    (r"thread$", r"runtime/base/thread\.h$|deploy/", "threads only through cohort::Thread, which is joined"),
)

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def guard_of(path):
    return "COHORT_%s_" % re.sub(r"[^A-Z0-9]", "_", path.upper())


def guard_problems(path, text):
    guard = guard_of(path)
    wanted = r"\A(//[^\n]*\n|\n)*#ifndef %s\n#define %s\n.*\n#endif  // %s\n\Z" % (guard, guard, guard)
    return [] if re.match(wanted, text, re.DOTALL) else ["%s: the include guard must be %s, first and last" % (path, guard)]


def mirrored(path):
    """tests/runtime/x/y_test.cc is about runtime/x."""
    return path[len("tests/"):] if path.startswith("tests/") else path


def guarded_problems(path, includes):
    return ["%s: %s (includes '%s')" % (path, rule, name)
            for name in includes
            for pattern, allowed, rule in GUARDED
            if re.match(pattern, name) and not any(re.match(allowed, p) for p in (path, mirrored(path)))]


def folder_of(path):
    """The folder of the floors that `path` lies in, or None."""
    return max((f for f in FLOOR_OF if path.startswith(f + "/")), key=len, default=None)


def arrow_problem(path, name):
    """What is wrong with including `name`, or None."""
    here, there = folder_of(path), folder_of(name)
    if here is None:
        return None
    if name.startswith("tests/"):
        return "%s: includes '%s', of the tests" % (path, name)
    if there is None or here == there:
        return None
    if here == "client" and there in ("worker", "ps") and not path.startswith("client/embedded"):
        return "%s: only client/embedded includes '%s'" % (path, name)
    if FLOOR_OF[there] > FLOOR_OF[here]:
        return "%s: includes '%s', up from floor %d to %d" % (path, name, FLOOR_OF[here], FLOOR_OF[there])
    if FLOOR_OF[there] == FLOOR_OF[here] and "proto" not in (here, there):
        return "%s: includes '%s', sideways on floor %d" % (path, name, FLOOR_OF[here])
    return None


def main():
    cases = {"include_guards": [], "guarded_headers": [], "arrows": [], "known_folders": []}
    for path in source_tree.sources(".h", ".cuh", ".cc", ".cu"):
        text = source_tree.read(path)
        includes = INCLUDE.findall(text)
        if path.endswith((".h", ".cuh")):
            cases["include_guards"] += guard_problems(path, text)
        cases["guarded_headers"] += guarded_problems(path, includes)
        cases["arrows"] += [p for p in (arrow_problem(path, name) for name in includes) if p]
        if path.startswith("runtime/") and folder_of(path) is None:
            cases["known_folders"].append("%s: its folder is on no floor" % path)
    source_tree.report("includes", cases)


if __name__ == "__main__":
    main()
