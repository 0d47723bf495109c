#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/profile-format.md is correct: the decoder printed there, run without
# changes, finds in a file what the recorded program did.
. "$(dirname "$0")/../../functions.sh"
program=$builddir/tests/profiler/files/env-program

# The code between ```python and ```; it opens "out.json".
extract_decoder () {
  sed -n '/^```python$/,/^```$/p' "$srcdir/docs/profile-format.md" |
    sed '1d;$d' >"$tmp/decoder.py"
  [ "$(wc -l <"$tmp/decoder.py")" -gt 30 ]
}

# Lines "LANE ID PARENT NAME BEGIN DURATION".
decode () {
  (cd "$tmp" && python3 decoder.py) >"$tmp/spans"
}

the_documented_decoder_finds_every_span () {
  extract_decoder
  RADIO_PROFILE=$tmp/out.json "$program"
  decode
  [ "$(wc -l <"$tmp/spans")" -eq 4 ]
  [ "$(grep -c ' env work [0-9]* [0-9]*$' "$tmp/spans")" -eq 1 ]
  [ "$(grep -c ' env inner [0-9]* [0-9]*$' "$tmp/spans")" -eq 3 ]
}

their_parents_and_times_are_those_of_the_program () {
  # The three lie one after the other within the one.
  awk '$4 == "env" && $5 == "work" { id = $2; begin = $6; end = $6 + $7 }
       $5 == "inner" { n++
         if ($3 != id || $6 < begin || $6 + $7 > end || $6 < last) bad = 1
         last = $6 + $7 }
       END { exit n != 3 || bad }' "$tmp/spans"
}

the_members_are_those_of_the_tables () {
  python3 - "$tmp/out.json" <<'EOF'
import json, sys
profile = json.load(open(sys.argv[1]))
assert profile["format"] == "radio-profile" and profile["version"] == 1
for name in ("facts parts findings counters gauges nodes values histograms"
             " shares lanes notes").split():
    columns = profile[name].values()
    assert len({len(column) for column in columns}) == 1, name
nodes, strings = profile["nodes"], profile["strings"]
names = [strings[i] for i in nodes["name"]]
inner = names.index("env inner")
assert strings[0] == ""
assert nodes["calls"][inner] == 3
assert names[nodes["parent"][inner]] == "env work"
rows = profile["counters"]["name"].index("rows")
values = profile["values"]
at = list(zip(values["node"], values["counter"])).index((inner, rows))
assert values["value"][at] == 21
counts = [count for node, count in zip(profile["histograms"]["node"],
                                       profile["histograms"]["count"])
          if node == inner]
assert sum(counts) == 3
EOF
}

if ! command -v python3 >/dev/null; then
  echo "1..0 # SKIP no python3"
  exit 0
fi
RADIO_PROFILE=$tmp/probe.json "$program" >/dev/null 2>"$tmp/err"
if grep -q disable-profiler "$tmp/err"; then
  echo "1..0 # SKIP $(cat "$tmp/err")"
  exit 0
fi
check the_documented_decoder_finds_every_span
check their_parents_and_times_are_those_of_the_program
check the_members_are_those_of_the_tables
plan
