# SPDX-License-Identifier: MIT
# Functions shared by the tests of the command; sourced after functions.sh.
unset RADIO_STORE RADIO_S3 NO_COLOR

# Not by libtool's script, which takes twice the time of a short command.
if [ -x "$builddir/tools/.libs/radio" ]; then
  RADIO=$builddir/tools/.libs/radio
  LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
fi

cd "$tmp" || exit 99

# fails STATUS TEXT ARGUMENT...: $RADIO exits with the status, prints nothing
# on stdout, and one line on stderr that contains the text.
fails () {
  want=$1 text=$2
  shift 2
  status=0
  "$RADIO" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  if [ "$status" -eq "$want" ] && [ ! -s "$tmp/out" ] &&
     [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "^${RADIO##*/}: " "$tmp/err" &&
     grep -qF -e "$text" "$tmp/err"; then
    return 0
  fi
  echo "${RADIO##*/} $*: status $status, expected $want with: $text"
  cat "$tmp/out" "$tmp/err"
  return 1
}

# runs ARGUMENT...: it succeeds and prints nothing on stderr; stdout is in
# $tmp/out.
runs () {
  status=0
  "$RADIO" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  if [ "$status" -eq 0 ] && [ ! -s "$tmp/err" ]; then
    return 0
  fi
  echo "${RADIO##*/} $*: status $status"
  cat "$tmp/out" "$tmp/err"
  return 1
}

# says TEXT...: each is somewhere in the output of `runs'.
says () {
  for text; do
    grep -qF -e "$text" "$tmp/out" && continue
    echo "'$text' is not in:"
    cat "$tmp/out"
    return 1
  done
}

python3=$(command -v python3) || python3=

# json EXPRESSION: the output of `runs' is JSON, and the expression is true
# of it, as j.
json () {
  "$python3" -c 'import json, math, sys
j = json.load(open(sys.argv[1]),
              parse_constant=lambda c: sys.exit("not JSON: " + c))
assert eval("(" + sys.argv[2] + ")"), j' "$tmp/out" "$1"
}

# check_json NAME: a test that needs python3.
check_json () {
  if [ -n "$python3" ]; then
    check "$@"
  else
    skip "$*" "no python3"
  fi
}
