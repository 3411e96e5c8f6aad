#!/bin/bash
# Installs what is missing, builds everything and runs every test. Skips are listed with their reasons; the last line is
#   N passed, N failed, N skipped
# counted in test cases. Exit 0 if none failed.
#   deploy/test.sh          one optimized build
#   deploy/test.sh --all    then the tests again under AddressSanitizer with UBSan, and under ThreadSanitizer
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
source deploy/bazel_server.sh

all=no
case "${1:-}" in
  "") ;;
  --all) all=yes ;;
  *) echo "deploy/test.sh: unknown option '$1'; use --all or nothing" >&2; exit 2 ;;
esac
deploy/setup.sh --tests

results="$(mktemp -d)"
server=started
bazel_server_runs && server=found
clean_up() {
  rm -rf "$results"
  [[ "$server" == found ]] || bazel shutdown >/dev/null 2>&1 || true
}
trap clean_up EXIT

# What fails on the way is counted at the end, from what each step leaves in $results.
run_tests() {  # NAME OPTION...
  local name="$1"
  shift
  echo "== tests, $name"
  bazel test --keep_going --build_event_json_file="$results/$name.json" "$@" //... || true
}

echo "== build"
bazel build --keep_going --profile="$results/profile.gz" //... || echo "FAILED build" >"$results/build.cases"
run_tests opt
echo "== compile times"
python3 -B tests/lint/compile_times.py "$results/profile.gz" | tee "$results/compile_times.cases"
echo "== thread annotations"
python3 -B tests/lint/thread_annotations.py | tee "$results/thread_annotations.cases"
if [[ "$all" == yes ]]; then
  run_tests asan --config=asan --test_tag_filters=-lint,-no-asan
  run_tests tsan --config=tsan --test_tag_filters=-lint,-no-tsan
fi
echo "== summary"
python3 -B tests/lint/summary.py "$results"
