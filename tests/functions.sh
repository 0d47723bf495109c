# SPDX-License-Identifier: MIT
# TAP for shell tests; sourced.  A test is a function whose name says what it
# proves, run by `check NAME'; the plan comes last.
#
#   srcdir      the checkout
#   builddir    the build folder
#   tmp         a fresh folder, removed at the end
#   $RADIO      the command
srcdir=${RADIO_TESTS_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
builddir=${RADIO_TESTS_BUILDDIR:-$srcdir}
RADIO=$builddir/tools/radio
count=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# check FUNCTION [ARGUMENT...]: run one test in a shell of its own; what it
# prints is shown when it fails.
check () {
  count=$((count + 1))
  # Not as the condition of the if: there the shell ignores set -e.
  ( set -e; "$@" ) >"$tmp/.output" 2>&1
  if [ $? -eq 0 ]; then
    echo "ok $count - $*"
  else
    echo "not ok $count - $*"
    sed 's/^/# /' "$tmp/.output"
  fi
}

# not COMMAND...: it ends with status 1, by which grep, cmp and radio say no;
# 2, as for a file that is missing, is no answer.  A mere `! COMMAND' is not
# seen by set -e: it tests something only as the last line of a function.
not () {
  answer=0
  "$@" || answer=$?
  [ "$answer" -eq 1 ] && return 0
  echo "status $answer, expected 1: $*"
  return 1
}

# skip NAME REASON
skip () {
  count=$((count + 1))
  echo "ok $count - $1 # SKIP $2"
}

plan () {
  echo "1..$count"
}
