#!/bin/bash
# From a fresh clone to two trained models: installs what is missing, builds, starts 2 workers and 1 ps on localhost, and
# trains mlp on Fashion-MNIST twice: multi_worker_mirrored for 2 epochs, then parameter_server for 1. Prints test accuracy
# and time of both and stops everything.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
source deploy/bazel_server.sh

deploy/setup.sh
server=started
bazel_server_runs && server=found
results="$(mktemp -d)"
clean_up() {
  rm -rf "$results"
  [[ "$server" == found ]] || bazel shutdown >/dev/null 2>&1 || true
}
trap clean_up EXIT

echo "== building"
bazel build //client:cohort //worker //ps

export PATH="$PWD/bazel-bin/client:$PATH" results
bazel-bin/client/cohort local --workers=2 --ps=1 -- bash -euo pipefail -c '
  train() {  # STRATEGY EPOCHS BATCH_SIZE
    echo "== training mlp on fashion_mnist, $1, $2 epoch(s)"
    local start=$EPOCHREALTIME
    cohort train --model=mlp --dataset=fashion_mnist --strategy="$1" --epochs="$2" --batch_size="$3" \
      --final_learning_rate=0 --json >"$results/$1.json"
    local end=$EPOCHREALTIME
    echo "$(( (${end/./} - ${start/./}) / 100000 ))" >"$results/$1.tenths"
  }
  train multi_worker_mirrored 2 128
  train parameter_server 1 32  # one epoch: smaller batches, more steps
'

echo "== results"
printf '%-24s %8s %14s %10s\n' strategy epochs 'test accuracy' seconds
for row in multi_worker_mirrored:2 parameter_server:1; do
  strategy="${row%:*}"
  accuracy="$(tail -n 1 "$results/$strategy.json" | sed -n 's/.*"accuracy": *\([0-9.eE+-]*\).*/\1/p')"
  tenths="$(cat "$results/$strategy.tenths")"
  printf '%-24s %8s %14.4f %10s\n' "$strategy" "${row#*:}" "$accuracy" "$((tenths / 10)).$((tenths % 10))"
done
