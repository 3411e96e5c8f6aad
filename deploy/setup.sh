#!/bin/bash
# Installs what building and running Cohort needs on Debian 12, from Debian alone. Asks apt-get only for what is missing;
# with everything there it needs neither root nor network.
#   deploy/setup.sh            to build and run
#   deploy/setup.sh --tests    what deploy/test.sh needs as well
#   deploy/setup.sh --bench    what the benchmarks compare with as well
set -euo pipefail

packages=(
  bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto bazel-skylib build-essential pkg-config python3
  libabsl-dev libgrpc++-dev libgrpc-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libspdlog-dev libfmt-dev nlohmann-json3-dev libcli11-dev libgtest-dev libgmock-dev libbenchmark-dev
  libdnnl-dev libopenblas-dev libleveldb-dev libsnappy-dev zlib1g-dev libisal-dev
  prometheus-cpp-dev libcpp-httplib-dev libssl-dev dataset-fashion-mnist
)
for option in "$@"; do
  case "$option" in
    --tests) packages+=(clang-14 lld libclang-rt-14-dev clang-format iproute2) ;;
    --bench) packages+=(iperf3 openmpi-bin libopenmpi-dev) ;;
    --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "deploy/setup.sh: unknown option '$option'; use --tests, --bench or nothing" >&2; exit 2 ;;
  esac
done

missing() {
  local package
  for package in "${packages[@]}"; do
    [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || echo "$package"
  done
}

mapfile -t wanted < <(missing)
((${#wanted[@]})) || exit 0

root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "deploy/setup.sh: missing ${wanted[*]}; run it as root or install sudo" >&2
    exit 2
  fi
  root=(sudo)
fi
echo "installing ${wanted[*]}"
install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q)
# The package lists may be there already; if not, or if they are old, they are fetched and the installation tried again.
if ! "${install[@]}" install -y --no-install-recommends "${wanted[@]}" </dev/null; then
  "${install[@]}" update </dev/null
  "${install[@]}" install -y --no-install-recommends "${wanted[@]}" </dev/null
fi
