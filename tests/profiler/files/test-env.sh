#!/bin/sh
# SPDX-License-Identifier: MIT
# RADIO_PROFILE in a program: files, failing files, exit statuses.
. "$(dirname "$0")/../../functions.sh"
program=$builddir/tests/profiler/files/env-program
# Tests wait for what it writes.
if [ ! -x "$program" ]; then
  echo "Bail out! $program: is not built; make check builds it"
  exit 99
fi
unset RADIO_PROFILE RADIO_PROFILE_SPANS RADIO_PROFILE_REDACT
unset RADIO_PROFILE_REDACT_KEY RADIO_PROFILE_TAPS RADIO_PROFILE_RING
unset RADIO_PROFILE_RING_FILE RADIO_PROFILE_SIGNAL RADIO_PROFILE_EVERY
unset RADIO_PROFILE_SLOW RADIO_PROFILE_SLOW_PER_MINUTE
# Rings that stay of processes that _exit are here, not in memory for ever.
export TMPDIR="$tmp/spare" XDG_RUNTIME_DIR="$tmp/rings"
mkdir "$TMPDIR" "$XDG_RUNTIME_DIR"

# run STATUS ARGUMENT...: the program ends with this status; its standard
# error is in $tmp/err.
run () {
  expected=$1
  shift
  status=0
  "$program" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  cat "$tmp/err"
  echo "status $status"
  [ "$status" -eq "$expected" ]
}

is_profile () {
  head -n 2 "$1" | grep -q '"format": "radio-profile"'
  tail -n 1 "$1" | grep -q '^}$'
  grep -q '"env work"' "$1"
}

# Standard error is one line, with each of the words.
one_line_says () {
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  for word in "$@"; do
    grep -qFe "$word" "$tmp/err"
  done
}

without_the_variable_nothing_is_written () {
  mkdir "$tmp/empty"
  cd "$tmp/empty"
  run 0
  RADIO_PROFILE= run 0
  [ ! -s "$tmp/err" ]
  [ -z "$(ls -A)" ]
}

a_profile_is_written_at_the_end_of_main () {
  RADIO_PROFILE=$tmp/main.json run 0
  is_profile "$tmp/main.json"
  [ ! -s "$tmp/err" ]
  [ -z "$(ls -A "$TMPDIR")" ]
}

a_profile_is_written_at_exit_with_the_same_status () {
  RADIO_PROFILE=$tmp/exit.json run 42 exit 42
  is_profile "$tmp/exit.json"
}

the_suffix_chooses_the_format () {
  RADIO_PROFILE=$tmp/a.folded run 0
  grep -q '^env work;env inner [0-9]*$' "$tmp/a.folded"
  RADIO_PROFILE=$tmp/a.txt run 0
  grep -q '^radio profile: ' "$tmp/a.txt"
  RADIO_PROFILE=$tmp/a.html run 0
  grep -q 'id="radio-profile"' "$tmp/a.html"
  RADIO_PROFILE=$tmp/a.trace.json run 0
  grep -q traceEvents "$tmp/a.trace.json"
}

an_unknown_suffix_is_reported_at_the_start () {
  RADIO_PROFILE=$tmp/a.doc run 9
  one_line_says RADIO_PROFILE a.doc .html
}

a_name_may_have_the_process_number () {
  mkdir "$tmp/numbers"
  RADIO_PROFILE="$tmp/numbers/%p-%p.json" run 0
  ls "$tmp/numbers" | grep -qE '^([0-9]+)-\1\.json$'
}

a_relative_name_is_in_the_initial_folder () {
  mkdir "$tmp/here"
  cd "$tmp/here"
  RADIO_PROFILE=rel.json run 0 chdir
  is_profile "$tmp/here/rel.json"
}

a_child_of_fork_writes_nothing () {
  mkdir "$tmp/fork"
  RADIO_PROFILE="$tmp/fork/%p.json" run 3 fork
  [ "$(ls "$tmp/fork" | wc -l)" -eq 1 ]
  is_profile "$tmp/fork/"*.json
  [ ! -s "$tmp/err" ]
}

ending_without_exit_handlers_writes_nothing () {
  RADIO_PROFILE=$tmp/none.json run 4 _exit
  [ ! -e "$tmp/none.json" ]
}

a_scope_of_a_running_thread_is_open () {
  RADIO_PROFILE=$tmp/open.json run 0 thread
  is_profile "$tmp/open.json"
  grep -q '"env stays"' "$tmp/open.json"
  grep -qE '^"open_count": [1-9]' "$tmp/open.json"
}

finishing_writes_at_once_and_ends_the_recording () {
  RADIO_PROFILE=$tmp/finish.json run 0 finish
  [ "$(cat "$tmp/out")" = "$tmp/finish.json" ]
  is_profile "$tmp/finish.json"
  not grep -q 'env after' "$tmp/finish.json"
  run 0 finish
  [ "$(cat "$tmp/out")" = nothing ]
}

a_program_can_mark_its_profile_as_failed () {
  run 0 fail
  RADIO_PROFILE=$tmp/failed.json run 0 fail
  is_profile "$tmp/failed.json"
  grep -q 'Doe^Jane: out of luck' "$tmp/failed.json"
  RADIO_PROFILE=$tmp/failed.txt run 0 fail
  sed -n '/^Findings/,$p' "$tmp/failed.txt" >"$tmp/findings"
  grep -q '^! It failed' "$tmp/findings"
  RADIO_PROFILE_REDACT=1 RADIO_PROFILE=$tmp/failed-2.txt run 0 fail
  grep -q '^! It failed' "$tmp/failed-2.txt"
  not grep -q Doe "$tmp/failed-2.txt"
}

a_second_call_has_no_effect () {
  RADIO_PROFILE=$tmp/twice.json run 0 twice
  is_profile "$tmp/twice.json"
}

zero_spans_keep_the_tree () {
  RADIO_PROFILE=$tmp/tree.json RADIO_PROFILE_SPANS=0 run 0
  is_profile "$tmp/tree.json"
  sed -n '/^"spans"/,$p' "$tmp/tree.json" | grep -q '^"count": 0'
  RADIO_PROFILE=$tmp/log.json RADIO_PROFILE_SPANS=1000 run 0
  sed -n '/^"spans"/,$p' "$tmp/log.json" | grep -qE '^"count": [1-9]'
}

an_invalid_number_of_spans_is_reported () {
  for number in many 12x -1 99999999999999999999; do
    RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_SPANS=$number run 9
    one_line_says RADIO_PROFILE_SPANS "$number"
  done
  [ ! -e "$tmp/bad.json" ]
}

a_log_may_be_a_ring () {
  export XDG_RUNTIME_DIR="$tmp"
  for size in 65536 64K 1M; do
    RADIO_PROFILE=$tmp/ring-$size.json RADIO_PROFILE_RING=$size run 0
    grep -q '"bytes of the ring"' "$tmp/ring-$size.json"
  done
  grep -q '"65536"' "$tmp/ring-64K.json"
  grep -q '"1048576"' "$tmp/ring-1M.json"
}

an_invalid_size_of_a_ring_is_reported () {
  for size in much 1X 64.5M -1 0 99999999T 99999999999999999999; do
    RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_RING=$size run 9
    one_line_says "RADIO_PROFILE_RING: '$size' is not a size such as 64M"
  done
  RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_RING=4K run 9
  one_line_says "(RADIO_PROFILE_RING) is too small (4096); use 65536 or more"
  RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_RING=1M RADIO_PROFILE_SPANS=7 run 9
  one_line_says "(RADIO_PROFILE_RING)" "(RADIO_PROFILE_SPANS)"
  [ ! -e "$tmp/bad.json" ]
}

# The folder has the ring of a process that ended, and no other one.
rings_are_listed_and_removed () {
  ring=$(echo "$1"/radio-ring-*)
  name=${program##*/}
  pid=${ring##*-}
  echo 'no ring' >"$1/radio-ring-other"
  ln -s "$ring" "$1/radio-ring-link"
  RADIO_PROFILE= "$radio" profile recover >"$tmp/list"
  [ "$(grep -c "^$1/" "$tmp/list")" -eq 1 ]
  grep -q "^$ring  *${name#lt-}  *$pid  *20.*[0-9] MB  *ended$" "$tmp/list"
  RADIO_PROFILE= "$radio" profile recover --json | tr -d ' \n' >"$tmp/json"
  grep -q '^{"rings":\[{"path":"'"$ring"'","known":true,"program":' "$tmp/json"
  grep -q '"pid":'"$pid"',"started_unix_ns":[0-9]*,"runs":false,' "$tmp/json"
  grep -q '"written_unix_s":[0-9]*,"nbytes":[0-9]*}\]}$' "$tmp/json"
  # Of another version, as the header says.
  cp "$ring" "$1/radio-ring-old"
  printf 9 | dd of="$1/radio-ring-old" bs=1 seek=16 conv=notrunc 2>"$tmp/dd"
  RADIO_PROFILE= "$radio" profile recover >"$tmp/list"
  grep -q "^$1/radio-ring-old  *-  *-  *- .* of another version$" "$tmp/list"
  rm "$1/radio-ring-other" "$1/radio-ring-link" "$1/radio-ring-old"

  # What could not be written is not removed; nor is it of a process that runs.
  status=0
  RADIO_PROFILE= "$radio" profile recover "$ring" --remove \
    -o "$tmp/none/x.json" >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -ne 0 ] && [ -e "$ring" ]
  RADIO_PROFILE= "$radio" profile recover "$ring" --remove \
    -o "$tmp/removed.json" --json >"$tmp/out"
  grep -q '"env work"' "$tmp/out"
  is_profile "$tmp/removed.json"
  [ ! -e "$ring" ]
  status=0
  RADIO_PROFILE= "$radio" profile recover --remove 2>"$tmp/err" || status=$?
  [ "$status" -eq 2 ]
  one_line_says 'FILE is missing'
}

a_ring_whose_file_cannot_be_made_is_elsewhere () {
  export RADIO_PROFILE="$tmp/kept.json"
  RADIO_PROFILE_RING_FILE=$tmp/none/ring run 4 _exit
  one_line_says "$tmp/none/ring: cannot create this ring: " \
    "; the ring is in $XDG_RUNTIME_DIR/radio-ring-"
  rm "$XDG_RUNTIME_DIR"/radio-ring-*
  mkdir "$tmp/folder"
  RADIO_PROFILE_RING_FILE=$tmp/folder run 0
  one_line_says "$tmp/folder: not a regular file" '; the ring is in '
  is_profile "$tmp/kept.json"
  [ -z "$(ls -A "$XDG_RUNTIME_DIR")" ]
  # More than any address space has.
  RADIO_PROFILE_RING=90000000G run 9
  one_line_says 'RADIO_PROFILE_RING: out of memory: '
}

a_ring_is_recovered_after_an_end_without_exit_handlers () {
  radio=$builddir/tools/radio
  export RADIO_PROFILE="$tmp/ended.json"
  RADIO_PROFILE_RING_FILE=$tmp/flight-%p run 4 _exit
  [ ! -e "$tmp/ended.json" ]
  RADIO_PROFILE= "$radio" profile recover "$tmp"/flight-* \
    -o "$tmp/back.json" -o "$tmp/back.html" >"$tmp/back.txt"
  is_profile "$tmp/back.json"
  grep -q '"67108864"' "$tmp/back.json"
  grep -q 'Recovered from a ring' "$tmp/back.txt"
  grep -q 'last seen at' "$tmp/back.txt"

  # A span in the log that is no span.
  printf '\377\377\377\377\377\377\377\377' |
    dd of="$(echo "$tmp"/flight-*)" bs=1 seek=16400 conv=notrunc 2>"$tmp/dd"
  RADIO_PROFILE= "$radio" profile recover "$tmp"/flight-* \
    -o "$tmp/less.json" >"$tmp/less.txt" 2>"$tmp/err"
  one_line_says 'flight-' 'this ring is damaged' '1 span dropped'
  grep -q 'The ring was damaged' "$tmp/less.txt"
  grep -q '"damaged spans not kept"' "$tmp/less.json"
  rm "$tmp"/flight-*

  # Without a name, in memory; and nothing is left after a regular end.
  mkdir "$tmp/runtime"
  export XDG_RUNTIME_DIR="$tmp/runtime" RADIO_PROFILE_RING=1M
  run 4 _exit
  [ "$(ls "$tmp/runtime" | grep -c '^radio-ring-[0-9]*$')" -eq 1 ]
  rings_are_listed_and_removed "$tmp/runtime"

  # A child that was killed wrote no profile, and is named.
  RADIO_PROFILE= "$radio" profile -- sh -c '"$1" _exit; "$1"' sh "$program" \
    >"$tmp/out" 2>"$tmp/err"
  grep -q 'env work' "$tmp/out"
  one_line_says 'process ' "(${program##*/})" 'ended without writing' \
    "radio profile recover $tmp/runtime/radio-ring-"
  rm "$tmp/runtime"/*

  # After exec it is another program's, which has a ring of its own.
  run 4 exec
  [ ! -s "$tmp/err" ]
  [ "$(ls "$tmp/runtime" | grep -c '^radio-ring-[0-9]*$')" -eq 1 ]
  RADIO_PROFILE= "$radio" profile recover "$tmp/runtime"/*.old -o "$tmp/exec.json"
  grep -q '"a process that ended"' "$tmp/exec.json"
  rm "$tmp/runtime"/*
  run 0
  [ -z "$(ls -A "$tmp/runtime")" ]
  is_profile "$tmp/ended.json"
}

a_ring_without_a_file_is_reported_in_one_line () {
  # No file may have that many bytes.
  (
    ulimit -f 2048
    RADIO_PROFILE=$tmp/no-file.json RADIO_PROFILE_RING=8M run 0
    one_line_says radio-ring- 'the ring has no file'
    is_profile "$tmp/no-file.json"
    grep -q '"no file of the ring"' "$tmp/no-file.json"
    grep -q '"ring-without-file"' "$tmp/no-file.json"
    # This ring was not asked for.
    RADIO_PROFILE=$tmp/no-file.json RADIO_PROFILE_EVERY=600 run 0
    [ ! -s "$tmp/err" ]
    grep -q '"no file of the ring"' "$tmp/no-file.json"
  )
}

# By the thread that writes it when a signal asks for it; there is no other one
# of the recorder where the ring has no file.
the_cost_of_writing_a_profile_is_in_the_next_one () {
  (
    ulimit -f 2048
    export RADIO_PROFILE="$tmp/cost.json" RADIO_PROFILE_SIGNAL=USR1
    run 0
    not grep "recorder's cpu ns" "$tmp/cost.json"
    rm "$tmp/cost.json"
    run 0 raise USR1 "$tmp/cost.json"
    grep -q "recorder's cpu ns" "$tmp/cost.json"
  )
}

a_profile_is_written_on_a_signal_or_every_second () {
  mkdir "$tmp/demand"
  export XDG_RUNTIME_DIR="$tmp/demand" RADIO_PROFILE_RING=1M
  export RADIO_PROFILE="$tmp/demand.json"
  # The program waits for the file, removes it, and writes another at its end.
  RADIO_PROFILE_SIGNAL=TERM,SIGUSR1 run 0 raise USR1 \
    "$tmp/demand.json"
  is_profile "$tmp/demand.json"
  grep -q '"env after"' "$tmp/demand.json"
  RADIO_PROFILE_EVERY=1 run 0 raise none "$tmp/demand.json.gone" & wait_for=$!
  while [ ! -e "$tmp/demand.json" ] || grep -q '"env after"' \
        "$tmp/demand.json"; do
    sleep 0.1
  done
  touch "$tmp/demand.json.gone"
  wait $wait_for
  grep -q '"env after"' "$tmp/demand.json"
  # What writing allocated is not the program's.
  grep -q '"alloc_count": 0' "$tmp/demand.json"
  rm "$tmp/demand.json"

  # One that comes while a profile is written asks for another.
  RADIO_PROFILE_SIGNAL=USR1 run 0 raise-in-each-write
  [ ! -s "$tmp/err" ]
  rm "$tmp/demand.json"

  # One that comes until the very end only asks for a profile.
  RADIO_PROFILE_SIGNAL=USR1 run 0 finish-and-raise
  [ ! -s "$tmp/err" ]
  rm "$tmp/demand.json"

  # In a child of fork a signal does what it did to the program.
  (
    trap '' USR1 TERM
    RADIO_PROFILE_SIGNAL=USR1,TERM run 0 fork-and-raise
    rm "$tmp/demand.json"
    # What the program ignores does not end the recording.
    RADIO_PROFILE_SIGNAL=TERM run 0 raise TERM "$tmp/demand.json"
    grep -q '"env after"' "$tmp/demand.json"
  )

  # A signal that ends the program does so, once the profile is written.
  RADIO_PROFILE_SIGNAL=TERM run 143 raise TERM /nowhere
  is_profile "$tmp/demand.json"
  [ -z "$(ls -A "$tmp/demand")" ]
  run 143 raise TERM /nowhere
  [ "$(ls "$tmp/demand" | wc -l)" -eq 1 ]
}

a_program_that_closes_all_descriptors_keeps_its_files () {
  mkdir "$tmp/closing"
  export XDG_RUNTIME_DIR="$tmp/closing" RADIO_PROFILE_RING=1M
  export RADIO_PROFILE="$tmp/closing.json"
  RADIO_PROFILE_SIGNAL=USR1 run 0 close-all "$tmp/closing.json"
  grep -q '"env beside"' "$tmp/closing.json"
  [ -z "$(ls -A "$tmp/closing")" ]
}

# Before, while and after the program writes the profile at its end.
a_signal_at_the_end_leaves_the_profile () {
  for us in 0 500 1000 1500 2000 2500 3000 4000 5000 8000; do
    status=0
    RADIO_PROFILE=$tmp/beside.json RADIO_PROFILE_SIGNAL=TERM \
      "$program" end-beside-term $us || status=$?
    [ "$status" -eq 3 ] || [ "$status" -eq 143 ]
    is_profile "$tmp/beside.json"
    rm "$tmp/beside.json"
  done
  # What is wrong is reported before the signal ends the program.
  export RADIO_PROFILE_SIGNAL=TERM
  RADIO_PROFILE=$tmp/beside.json run 143 raise-in-write
  is_profile "$tmp/beside.json"
  RADIO_PROFILE=$tmp/no/x.json run 143 raise-in-write
  grep -q "the profile is in $TMPDIR/radio-profile-" "$tmp/err"
  rm "$tmp/beside.json" "$TMPDIR"/*
  [ -z "$(ls -A "$XDG_RUNTIME_DIR")" ]
}

a_signal_after_one_that_the_program_survived_ends_it () {
  RADIO_PROFILE=$tmp/survived.json RADIO_PROFILE_SIGNAL=TERM,INT \
    run 130 survive-term
  is_profile "$tmp/survived.json"
}

# The thread is in libcrypto, whose own handler frees what it uses.
a_program_may_end_while_its_page_is_written () {
  for _ in $(seq 40); do
    RADIO_PROFILE=$tmp/ends.html RADIO_PROFILE_SIGNAL=USR1 run 1 raise USR1 /
    [ ! -s "$tmp/err" ]
  done
  grep -q 'id="radio-profile"' "$tmp/ends.html"
}

an_invalid_signal_or_time_is_reported () {
  for list in HUP TERM,9 SIG ,USR1; do
    RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_SIGNAL=$list run 9
    one_line_says RADIO_PROFILE_SIGNAL "not TERM, INT or USR1"
  done
  for number in 0 1x -1 soon 99999999999; do
    RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_EVERY=$number run 9
    one_line_says RADIO_PROFILE_EVERY "$number"
  done
}

# Else a typing error would be noticed when there is no profile.
what_is_invalid_is_reported_also_if_nothing_uses_it () {
  for variable in SPANS RING EVERY SIGNAL SLOW_PER_MINUTE; do
    for file in '' "$tmp/unused.json"; do
      export "RADIO_PROFILE_$variable=abc"
      RADIO_PROFILE=$file run 9
      unset "RADIO_PROFILE_$variable"
      one_line_says "RADIO_PROFILE_$variable: 'abc' is not "
    done
    # The command does its work nevertheless.
    env "RADIO_PROFILE_$variable=abc" "$RADIO" ls -s memory: 2>"$tmp/err"
    one_line_says "RADIO_PROFILE_$variable: 'abc' is not "
  done
  [ ! -e "$tmp/unused.json" ]
  for variable in SPANS=7 SLOW_PER_MINUTE=3; do
    export "RADIO_PROFILE_$variable"
    run 0
    unset "RADIO_PROFILE_${variable%=*}"
    [ ! -s "$tmp/err" ]
  done
}

what_asks_for_a_recording_without_a_profile_is_reported () {
  for variable in RING=1M RING_FILE=$tmp/ring EVERY=1 SIGNAL=USR1; do
    name=RADIO_PROFILE_${variable%%=*}
    export "RADIO_PROFILE_$variable"
    run 0 twice
    one_line_says "radio: $name: nothing is recorded" 'RADIO_PROFILE=FILE'
    RADIO_PROFILE= run 0
    [ ! -s "$tmp/err" ]
    RADIO_PROFILE_SLOW='none>9s' RADIO_PROFILE= run 0
    not grep 'nothing is recorded' "$tmp/err"
    unset "$name"
  done
}

slow_runs_are_written_beside_the_profile () {
  mkdir "$tmp/slow"
  cd "$tmp/slow"
  RADIO_PROFILE=$tmp/slow/all.json run 0
  RADIO_PROFILE=$tmp/slow/all.json RADIO_PROFILE_SLOW='env inner > 1ns' run 0
  ls | sed 's/-[0-9]*-/-PID-/' >"$tmp/names"
  printf '%s\n' all.json env-inner-PID-1.json env-inner-PID-2.json \
    env-inner-PID-3.json >"$tmp/expected"
  diff "$tmp/expected" "$tmp/names"
  for file in env-inner-*.json; do
    grep -q '"env inner > 1 ns"' "$file"
    grep -q '"env work / env inner"' "$file"
    grep -q '"A slow run"' "$file"
  done
  grep -q '"slow runs written"' all.json
  [ ! -s "$tmp/err" ]

  # No more than a minute may have; in the format of the profile, redacted as
  # it is.
  rm ./*
  RADIO_PROFILE=all.trace.json RADIO_PROFILE_SLOW='env inner>1ns,env work>1ns' \
    RADIO_PROFILE_SLOW_PER_MINUTE=1 run 0
  [ "$(ls | grep -c '^env-inner-[0-9]*-1\.trace\.json$')" -eq 1 ]
  [ "$(ls | wc -l)" -eq 2 ]
  rm ./*
  RADIO_PROFILE=all.json RADIO_PROFILE_SLOW='env work>1ns' run 0
  grep -q 'Doe^Jane' env-work-*-1.json
  RADIO_PROFILE=all.json RADIO_PROFILE_SLOW='env work>1ns' \
    RADIO_PROFILE_REDACT=1 run 0
  [ "$(grep -l 'Doe^Jane' env-work-*-1.json | wc -l)" -eq 1 ]
}

slow_runs_alone_are_pages_in_the_current_folder () {
  mkdir "$tmp/alone"
  cd "$tmp/alone"
  RADIO_PROFILE_SLOW='env work>1ns' run 0 chdir
  [ "$(ls | grep -c '^env-work-[0-9]*-1\.html$')" -eq 1 ]
  [ "$(ls | wc -l)" -eq 1 ]
  [ ! -s "$tmp/err" ]
  RADIO_PROFILE_SLOW='env wrok>1s,env work>1h' run 9
  RADIO_PROFILE_SLOW='env wrok>1s,env work>900s' run 0
  one_line_says RADIO_PROFILE_SLOW 'such a name: env wrok; use' 'as in the call tree'
  RADIO_PROFILE_SLOW='env work>1ns' run 4 _exit
}

a_slow_run_that_cannot_be_written_is_reported () {
  mkdir "$tmp/gone"
  RADIO_PROFILE=$tmp/gone/no/a.json RADIO_PROFILE_SLOW='env work>1ns' run 0
  [ "$(grep -c 'RADIO_PROFILE_SLOW: .*no/env-work-' "$tmp/err")" -eq 1 ]
  grep -q '"slow runs not written because"' "$TMPDIR"/radio-profile-*.json
  grep -q 'no/env-work-.*No such file' "$TMPDIR"/radio-profile-*.json
  not grep '"slow runs written"' "$TMPDIR"/radio-profile-*.json
  rm "$TMPDIR"/radio-profile-*.json
}

# The thread writes the page while main returns.
a_program_may_end_while_a_slow_run_is_written () {
  mkdir "$tmp/ends"
  cd "$tmp/ends"
  for i in $(seq 20); do
    RADIO_PROFILE_SLOW='env work>1ns' run 0
    [ ! -s "$tmp/err" ]
    [ "$(ls | wc -l)" -eq "$i" ]
  done
  for file in ./*; do
    tail -n 1 "$file" | grep -q '</html>'
  done
}

invalid_triggers_are_reported () {
  while read -r place why text; do
    RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_SLOW=$text run 9
    one_line_says "RADIO_PROFILE_SLOW: \"$text\" at character $place: " \
      "$(echo "$why" | tr _ ' ')" 'write NAME>TIME'
  done <<'EOF'
1 no_'>' read
6 no_number read>
8 no_unit read>50
7 no_unit read>5m
7 no_unit read>5min
8 no_unit read>5 cpu
1 no_name >5ms
8 no_digit read>5.ms
6 above_1000000000 read>99999999999999999999s
6 time_of_0 read>0.0ms
6 no_number read>-5ms
10 no_entry read>5ms,
10 no_entry read>5ms,,a>1s
10 neither_cpu read>5ms gpu
9 neither_cpu read>5ms/s
11 has_such_a_time read>5ms, read>1s
EOF
  [ ! -e "$tmp/bad.json" ]
  for number in 0 1001 many -1 99999999999999999999; do
    RADIO_PROFILE_SLOW='a>1s' RADIO_PROFILE_SLOW_PER_MINUTE=$number run 9
    one_line_says RADIO_PROFILE_SLOW_PER_MINUTE "$number" '1 to 1000'
  done
  RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_SLOW='a>1s' \
    RADIO_PROFILE_SPANS=7 run 9
  one_line_says max_spans
}

names_are_redacted_on_request () {
  RADIO_PROFILE=$tmp/names.json run 0
  grep -q 'Doe^Jane' "$tmp/names.json"
  RADIO_PROFILE=$tmp/redacted.json RADIO_PROFILE_REDACT=1 run 0
  is_profile "$tmp/redacted.json"
  not grep -q 'Doe' "$tmp/redacted.json"
  # The command line, which contains the program's path.
  grep -qF "$program" "$tmp/names.json"
  not grep -qF "$program" "$tmp/redacted.json"
}

a_key_gives_pseudonyms_of_its_own () {
  echo one >"$tmp/key-1"
  echo two >"$tmp/key-2"
  for i in 1 2; do
    RADIO_PROFILE=$tmp/keyed-$i.json RADIO_PROFILE_REDACT_KEY=$tmp/key-$i \
      run 0
    not grep -q 'Doe' "$tmp/keyed-$i.json"
    sed -n '/^"notes"/,/^}/p; /^"strings"/,/^]/p' "$tmp/keyed-$i.json" \
      >"$tmp/keyed-$i.names"
  done
  not cmp -s "$tmp/keyed-1.names" "$tmp/keyed-2.names"
}

an_invalid_key_is_reported () {
  : >"$tmp/key-empty"
  for key in key-empty key-missing; do
    RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_REDACT_KEY=$tmp/$key run 9
    one_line_says RADIO_PROFILE_REDACT_KEY "$key"
  done
}

a_profile_that_cannot_be_written_goes_to_tmpdir () {
  RADIO_PROFILE=$tmp/no/such/folder.html run 17 exit 17
  one_line_says "$tmp/no/such/folder.html" "$TMPDIR/radio-profile-"
  is_profile "$TMPDIR"/radio-profile-*.json
  [ "$(stat -c %a "$TMPDIR"/radio-profile-*.json)" = 600 ]
  rm "$TMPDIR"/*
}

later_profiles_that_cannot_be_written_replace_the_first () {
  # On the signal, and at exit.
  RADIO_PROFILE=$tmp/no/x.json RADIO_PROFILE_SIGNAL=USR1 RADIO_PROFILE_RING=1M \
    run 0 raise USR1 "$tmp/seen" & wait_for=$!
  while [ -z "$(ls "$TMPDIR")" ]; do sleep 0.05; done
  touch "$tmp/seen"
  wait $wait_for
  [ "$(ls "$TMPDIR" | wc -l)" -eq 1 ]
  grep -q '"env after"' "$TMPDIR"/radio-profile-*.json
  rm "$TMPDIR"/*
}

# And once more at exit.
the_same_error_of_later_profiles_is_reported_once () {
  RADIO_PROFILE=$tmp/no/x.json RADIO_PROFILE_SIGNAL=USR1 RADIO_PROFILE_RING=1M \
    run 0 raise-twice
  [ "$(wc -l <"$tmp/err")" -eq 2 ]
  rm "$TMPDIR"/*
}

the_function_returns_the_other_path () {
  RADIO_PROFILE=$tmp/no/such/folder.html run 1 finish
  kept=$(sed -n 2p "$tmp/out")
  is_profile "$kept"
  sed -n 1p "$tmp/out" | grep -qF "the profile is in $kept"
  [ ! -s "$tmp/err" ]
  rm "$TMPDIR"/*
}

a_profile_in_tmpdir_is_redacted () {
  RADIO_PROFILE=$tmp/no/x.html RADIO_PROFILE_REDACT=1 run 0
  not grep -q Doe "$TMPDIR"/radio-profile-*.json
  rm "$TMPDIR"/*
}

a_lost_profile_is_reported_in_one_line () {
  TMPDIR=$tmp/no RADIO_PROFILE=$tmp/no/x.html run 17 exit 17
  one_line_says lost "$tmp/no/radio-profile-"
}

# recovers N NAME: the ring, which was named, has N runs of the scope.
recovers () {
  one_line_says "; recover it by 'radio profile recover $tmp/last'"
  RADIO_PROFILE= "$builddir/tools/radio" profile recover "$tmp/last" --remove \
    -o "$tmp/back-again.json" >"$tmp/out"
  is_profile "$tmp/back-again.json"
  grep -q " $1  .*$2" "$tmp/out"
  grep -q '^page faults' "$tmp/out"
  rm "$tmp/back-again.json"
}

the_ring_of_a_lost_profile_stays () {
  export RADIO_PROFILE_RING_FILE=$tmp/last
  TMPDIR=$tmp/no RADIO_PROFILE=$tmp/no/x.html run 17 exit 17
  one_line_says lost "$tmp/no/radio-profile-"
  recovers 3 'env inner'
  TMPDIR=$tmp/no RADIO_PROFILE=$tmp/no/x.html RADIO_PROFILE_SIGNAL=TERM \
    run 143 raise TERM "$tmp/no/x.html"
  sed -i '/^Terminated/d' "$tmp/err"    # the shell's
  recovers 3 'env inner'
  RADIO_PROFILE=$tmp/last.html run 17 limit-memory
  one_line_says "$tmp/last.html: no profile was made: out of memory: "
  recovers 10000 'env many'
  # But not if there is a file that has it.
  RADIO_PROFILE=$tmp/no/x.html run 17 exit 17
  one_line_says "the profile is in $TMPDIR/radio-profile-"
  [ ! -e "$tmp/last" ]
  rm "$TMPDIR"/*
}

# A limit on the sizes of files, which sends a signal; standard error is a
# pipe.
a_limit_on_files_does_not_end_the_process () {
  echo old >"$tmp/old.json"
  { status=0
    RADIO_PROFILE=$tmp/old.json "$program" limit 2>&1 >/dev/null || status=$?
    echo "status $status"; } | cat >"$tmp/both"
  cat "$tmp/both"
  [ "$(tail -n 1 "$tmp/both")" = "status 17" ]
  sed '$d' "$tmp/both" >"$tmp/err"
  one_line_says "$tmp/old.json" lost
  [ "$(cat "$tmp/old.json")" = old ]
}

a_closed_standard_error_does_not_end_it () {
  status=0
  RADIO_PROFILE=$tmp/no/x.html "$program" exit 17 2>&- || status=$?
  [ "$status" -eq 17 ]
  # The reader ends before the program begins.
  mkfifo "$tmp/fifo"
  ( : <"$tmp/fifo" ) &
  exec 3>"$tmp/fifo"
  wait $!
  status=0
  RADIO_PROFILE=$tmp/no/x.html "$program" exit 17 2>&3 || status=$?
  exec 3>&-
  [ "$status" -eq 17 ]
}

# A disk of a few pages, in a mount namespace.
can_mount () {
  mkdir -p "$tmp/disk"
  unshare -rm mount -t tmpfs -o size=16k none "$tmp/disk" 2>/dev/null
}

a_full_disk_loses_neither_data_nor_status () {
  cat >"$tmp/on-disk" <<'EOF'
set -e
mount -t tmpfs -o size=16k none "$1/disk"
echo old >"$1/disk/old.html"
# Too little room.
head -c 10000 /dev/zero >"$1/disk/filler"
status=0
RADIO_PROFILE=$1/disk/old.html "$2" exit 17 2>"$1/err" || status=$?
[ "$status" -eq 17 ]
[ "$(cat "$1/disk/old.html")" = old ]
[ "$(ls -A "$1/disk" | wc -l)" -eq 2 ]
EOF
  unshare -rm sh "$tmp/on-disk" "$tmp" "$program"
  one_line_says "$tmp/disk/old.html" "No space" "$TMPDIR/radio-profile-"
  is_profile "$TMPDIR"/radio-profile-*.json
  rm "$TMPDIR"/*
}

RADIO_PROFILE=$tmp/probe.json "$program" >/dev/null 2>"$tmp/err"
if grep -q disable-profiler "$tmp/err"; then
  echo "1..0 # SKIP $(cat "$tmp/err")"
  exit 0
fi
check without_the_variable_nothing_is_written
check a_profile_is_written_at_the_end_of_main
check a_profile_is_written_at_exit_with_the_same_status
check the_suffix_chooses_the_format
check an_unknown_suffix_is_reported_at_the_start
check a_name_may_have_the_process_number
check a_relative_name_is_in_the_initial_folder
check a_child_of_fork_writes_nothing
check ending_without_exit_handlers_writes_nothing
check a_scope_of_a_running_thread_is_open
check finishing_writes_at_once_and_ends_the_recording
check a_program_can_mark_its_profile_as_failed
check a_second_call_has_no_effect
check zero_spans_keep_the_tree
check an_invalid_number_of_spans_is_reported
check a_log_may_be_a_ring
check an_invalid_size_of_a_ring_is_reported
check a_ring_whose_file_cannot_be_made_is_elsewhere
check a_ring_is_recovered_after_an_end_without_exit_handlers
check a_ring_without_a_file_is_reported_in_one_line
check the_cost_of_writing_a_profile_is_in_the_next_one
check a_profile_is_written_on_a_signal_or_every_second
if "$program" sanitized; then
  skip a_program_that_closes_all_descriptors_keeps_its_files \
    "the recorder may read what it opened again, which is a race"
else
  check a_program_that_closes_all_descriptors_keeps_its_files
fi
check a_signal_at_the_end_leaves_the_profile
check a_signal_after_one_that_the_program_survived_ends_it
check a_program_may_end_while_its_page_is_written
check an_invalid_signal_or_time_is_reported
check what_is_invalid_is_reported_also_if_nothing_uses_it
check what_asks_for_a_recording_without_a_profile_is_reported
check slow_runs_are_written_beside_the_profile
check slow_runs_alone_are_pages_in_the_current_folder
check a_slow_run_that_cannot_be_written_is_reported
check a_program_may_end_while_a_slow_run_is_written
check invalid_triggers_are_reported
check names_are_redacted_on_request
check a_key_gives_pseudonyms_of_its_own
check an_invalid_key_is_reported
check a_profile_that_cannot_be_written_goes_to_tmpdir
check later_profiles_that_cannot_be_written_replace_the_first
check the_same_error_of_later_profiles_is_reported_once
check the_function_returns_the_other_path
check a_profile_in_tmpdir_is_redacted
check a_lost_profile_is_reported_in_one_line
if "$program" sanitized; then
  skip the_ring_of_a_lost_profile_stays "memory is the sanitizer's"
else
  check the_ring_of_a_lost_profile_stays
fi
check a_limit_on_files_does_not_end_the_process
check a_closed_standard_error_does_not_end_it
if can_mount; then
  check a_full_disk_loses_neither_data_nor_status
else
  skip a_full_disk_loses_neither_data_nor_status "cannot mount a tmpfs"
fi
plan
