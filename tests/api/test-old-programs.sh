#!/bin/sh
# SPDX-License-Identifier: MIT
# A program runs with a library that is newer than its headers: one compiled
# with headers of which the last member of each result and option struct was
# cut, as if it did not exist yet, runs with the library of this build.
. "$(dirname "$0")/../functions.sh"
headers=$srcdir/include/radio

# The structs that may grow: options, which have reserved members, and results,
# whose size a macro passes.
options () {
  cat "$headers"/*.h | grep -oE '^struct radio_[a-z0-9_]+_options \{' |
    grep -oE 'radio_[a-z0-9_]+'
}
results () {
  cat "$headers"/*.h | grep -oE 'sizeof \(struct radio_[a-z0-9_]+\)' |
    grep -oE 'radio_[a-z0-9_]+' | sort -u
}

# cut_headers FOLDER: the reserved members of options take the place of what
# was cut; how many that are, a program asks.
cut_headers () {
  mkdir -p "$1/radio"
  options >"$tmp/options"
  results >"$tmp/results"
  for file in "$headers"/*.h; do
    awk '
      FILENAME ~ /options$/ { is_options[$1] = 1; next }
      FILENAME ~ /results$/ { is_result[$1] = 1; next }
      comment { if (!sub (/.*\*\//, "")) next; comment = 0 }
      { gsub (/\/\*([^*]|\*+[^*\/])*\*+\//, "") }
      /\/\*/ { sub (/\/\*.*/, ""); comment = 1 }
      /^struct radio_[a-z0-9_]+ \{/ \
        && (($2 in is_options) || ($2 in is_result)) {
        name = $2; text = ""; print; next
      }
      name && /^};/ {
        n = split (text, members, ";") - 1
        last = is_options[name] ? n - 1 : n
        for (i = 1; i <= n; i++)
          if (i != last)
            print members[i] ";"
        name = ""
      }
      name {
        if (is_options[name])
          sub (/reserved\[/, "reserved[CUT_" name " + ")
        text = text $0 "\n"; next
      }
      { print }' "$tmp/options" "$tmp/results" "$file" \
      >"$1/radio/${file##*/}"
  done
}

# sizes FOLDER [OPTION...]: lines "STRUCT SIZE".
sizes () {
  folder=$1
  shift
  {
    echo '#include <stdio.h>'
    echo '#include <radio/radio.h>'
    echo 'int main (void) {'
    { options; results; } | while read -r name; do
      echo "printf (\"$name %zu\", sizeof (struct $name)); puts (\"\");"
    done
    echo 'return 0; }'
  } >"$tmp/sizes.c"
  ${CC:-cc} "$@" -I"$folder" -o "$tmp/sizes" "$tmp/sizes.c"
  "$tmp/sizes"
}

# The second pass corrects the structs that have others of them as members.
cut_every_struct () {
  cut_headers "$tmp/cut"
  sizes "$srcdir/include" >"$tmp/full-sizes"
  options | sed 's/.*/-DCUT_&=0/' >"$tmp/flags"
  for pass in 1 2; do
    # shellcheck disable=SC2046 # a list
    sizes "$tmp/cut" $(cat "$tmp/flags") >"$tmp/cut-sizes"
    tr '=' ' ' <"$tmp/flags" |
      paste -d ' ' - "$tmp/full-sizes" "$tmp/cut-sizes" |
      awk '/^-D/ { print $1 "=" $2 + ($4 - $6) / 8 }' >"$tmp/flags-$pass"
    cp "$tmp/flags-$pass" "$tmp/flags"
  done
  # shellcheck disable=SC2046 # a list
  sizes "$tmp/cut" $(cat "$tmp/flags") >"$tmp/old-sizes"
  paste -d ' ' "$tmp/full-sizes" "$tmp/old-sizes" | awk '
    /_options / && $2 != $4 { print "changes its size: " $0; bad = 1 }
    END { exit bad || NR < 15 }'
}

# compile HEADERS NAME [OPTION...]
compile () {
  folder=$1 program=$2
  shift 2
  ${CC:-cc} -std=c11 -Wall -Wextra -Werror -g "$@" -I"$folder" \
    -o "$tmp/$program" "$srcdir/tests/api/old-program.c" \
    "$builddir/.libs/libradio.so" -Wl,-rpath,"$builddir/.libs"
}

a_program_of_today_runs () {
  compile "$srcdir/include" today
  mkdir "$tmp/today-files"
  [ "$("$tmp/today" "$tmp/today-files")" = good ]
}

a_program_with_shorter_structs_runs () {
  # shellcheck disable=SC2046 # a list
  compile "$tmp/cut" old $(cat "$tmp/flags")
  mkdir "$tmp/old-files"
  [ "$("$tmp/old" "$tmp/old-files")" = good ]
}

the_program_uses_every_such_struct () {
  { options; results; } | grep -vxE 'radio_(s3|slow)_options' |
  while read -r name; do
    grep -qE "(OPTIONS|RESULT) \($name," "$srcdir/tests/api/old-program.c" ||
      echo "$name"
  done >"$tmp/missing"
  cat "$tmp/missing"
  [ ! -s "$tmp/missing" ]
}

every_options_struct_has_reserved_members () {
  options | while read -r name; do
    sed -n "/^struct $name {/,/^};/p" "$headers"/*.h |
      grep -q '^  uint64_t reserved\[[0-9]*\];$' || echo "$name"
  done >"$tmp/missing"
  cat "$tmp/missing"
  [ ! -s "$tmp/missing" ]
}

check every_options_struct_has_reserved_members
check the_program_uses_every_such_struct
check cut_every_struct
if [ -e "$builddir/.libs/libradio.so" ]; then
  check a_program_of_today_runs
  check a_program_with_shorter_structs_runs
else
  skip a_program_of_today_runs "no shared library built"
  skip a_program_with_shorter_structs_runs "no shared library built"
fi
plan
