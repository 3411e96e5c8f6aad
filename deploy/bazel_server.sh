# Sourced by the scripts beside it, in the workspace's root.

# Whether this workspace's Bazel server runs: a script that had to start it stops it again. The server's folder is named
# after the path of the workspace.
bazel_server_runs() {
  local folder pid
  folder="${XDG_CACHE_HOME:-$HOME/.cache}/bazel/_bazel_$(id -un)/$(printf %s "$PWD" | md5sum | cut -d' ' -f1)"
  pid="$(cat "$folder/server/server.pid.txt" 2>/dev/null)" && kill -0 "$pid" 2>/dev/null
}
