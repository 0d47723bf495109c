#!/bin/sh
# SPDX-License-Identifier: MIT
# What RADIO_PROFILE does to a program: files, failing files, exit statuses.
. "$(dirname "$0")/../../functions.sh"
program=$builddir/tests/profiler/files/env-program
unset RADIO_PROFILE RADIO_PROFILE_SPANS RADIO_PROFILE_REDACT
unset RADIO_PROFILE_REDACT_KEY RADIO_PROFILE_TAPS
export TMPDIR="$tmp/spare"
mkdir "$TMPDIR"

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

# One line on the standard error, with each of the words.
one_line_says () {
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  for word in "$@"; do
    grep -qFe "$word" "$tmp/err"
  done
}

without_the_variable_nothing_happens () {
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

a_profile_is_written_at_exit_and_the_status_stays () {
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

an_unknown_suffix_is_told_at_the_beginning () {
  RADIO_PROFILE=$tmp/a.doc run 9
  one_line_says RADIO_PROFILE a.doc .html
}

the_process_number_stands_for_its_sign () {
  mkdir "$tmp/numbers"
  RADIO_PROFILE="$tmp/numbers/%p-%p.json" run 0
  ls "$tmp/numbers" | grep -qE '^([0-9]+)-\1\.json$'
}

a_relative_name_is_of_the_folder_at_the_beginning () {
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

ending_without_exit_writes_nothing () {
  RADIO_PROFILE=$tmp/none.json run 4 _exit
  [ ! -e "$tmp/none.json" ]
}

a_thread_within_a_scope_is_in_the_profile_as_open () {
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

a_program_that_says_so_has_failed_in_its_profile () {
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

asking_twice_is_asking_once () {
  RADIO_PROFILE=$tmp/twice.json run 0 twice
  is_profile "$tmp/twice.json"
}

no_spans_leave_the_tree () {
  RADIO_PROFILE=$tmp/tree.json RADIO_PROFILE_SPANS=0 run 0
  is_profile "$tmp/tree.json"
  sed -n '/^"spans"/,$p' "$tmp/tree.json" | grep -q '^"count": 0'
  RADIO_PROFILE=$tmp/log.json RADIO_PROFILE_SPANS=1000 run 0
  sed -n '/^"spans"/,$p' "$tmp/log.json" | grep -qE '^"count": [1-9]'
}

a_number_of_spans_that_is_none_is_told () {
  for number in many 12x -1 99999999999999999999; do
    RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_SPANS=$number run 9
    one_line_says RADIO_PROFILE_SPANS "$number"
  done
  [ ! -e "$tmp/bad.json" ]
}

names_are_replaced_where_that_is_asked_for () {
  RADIO_PROFILE=$tmp/names.json run 0
  grep -q 'Doe^Jane' "$tmp/names.json"
  RADIO_PROFILE=$tmp/redacted.json RADIO_PROFILE_REDACT=1 run 0
  is_profile "$tmp/redacted.json"
  not grep -q 'Doe' "$tmp/redacted.json"
  # The command line, which has the program's path in it.
  grep -qF "$program" "$tmp/names.json"
  not grep -qF "$program" "$tmp/redacted.json"
}

a_key_asks_for_pseudonyms_of_its_own () {
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

a_key_that_is_none_is_told () {
  : >"$tmp/key-empty"
  for key in key-empty key-missing; do
    RADIO_PROFILE=$tmp/bad.json RADIO_PROFILE_REDACT_KEY=$tmp/$key run 9
    one_line_says RADIO_PROFILE_REDACT_KEY "$key"
  done
}

what_cannot_be_written_is_kept_elsewhere () {
  RADIO_PROFILE=$tmp/no/such/folder.html run 17 exit 17
  one_line_says "$tmp/no/such/folder.html" "$TMPDIR/radio-profile-"
  is_profile "$TMPDIR"/radio-profile-*.json
  [ "$(stat -c %a "$TMPDIR"/radio-profile-*.json)" = 600 ]
  rm "$TMPDIR"/*
}

the_function_says_where_it_was_kept () {
  RADIO_PROFILE=$tmp/no/such/folder.html run 1 finish
  kept=$(sed -n 2p "$tmp/out")
  is_profile "$kept"
  sed -n 1p "$tmp/out" | grep -qF "the profile is in $kept"
  [ ! -s "$tmp/err" ]
  rm "$TMPDIR"/*
}

what_is_kept_elsewhere_is_redacted_too () {
  RADIO_PROFILE=$tmp/no/x.html RADIO_PROFILE_REDACT=1 run 0
  not grep -q Doe "$TMPDIR"/radio-profile-*.json
  rm "$TMPDIR"/*
}

with_nowhere_to_go_one_line_says_so () {
  TMPDIR=$tmp/no RADIO_PROFILE=$tmp/no/x.html run 17 exit 17
  one_line_says lost "$tmp/no/radio-profile-"
}

# A limit on the sizes of files, which sends a signal; what the program tells
# goes through a pipe.
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

a_standard_error_that_nobody_reads_does_not_end_it () {
  status=0
  RADIO_PROFILE=$tmp/no/x.html "$program" exit 17 2>&- || status=$?
  [ "$status" -eq 17 ]
  # The reader is gone before the program begins.
  mkfifo "$tmp/fifo"
  ( : <"$tmp/fifo" ) &
  exec 3>"$tmp/fifo"
  wait $!
  status=0
  RADIO_PROFILE=$tmp/no/x.html "$program" exit 17 2>&3 || status=$?
  exec 3>&-
  [ "$status" -eq 17 ]
}

# A disk of a few pages, in a name space of its own.
can_mount () {
  mkdir -p "$tmp/disk"
  unshare -rm mount -t tmpfs -o size=16k none "$tmp/disk" 2>/dev/null
}

a_full_disk_loses_neither_data_nor_status () {
  cat >"$tmp/on-disk" <<'EOF'
set -e
mount -t tmpfs -o size=16k none "$1/disk"
echo old >"$1/disk/old.html"
# Some room, but too little.
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
check without_the_variable_nothing_happens
check a_profile_is_written_at_the_end_of_main
check a_profile_is_written_at_exit_and_the_status_stays
check the_suffix_chooses_the_format
check an_unknown_suffix_is_told_at_the_beginning
check the_process_number_stands_for_its_sign
check a_relative_name_is_of_the_folder_at_the_beginning
check a_child_of_fork_writes_nothing
check ending_without_exit_writes_nothing
check a_thread_within_a_scope_is_in_the_profile_as_open
check finishing_writes_at_once_and_ends_the_recording
check a_program_that_says_so_has_failed_in_its_profile
check asking_twice_is_asking_once
check no_spans_leave_the_tree
check a_number_of_spans_that_is_none_is_told
check names_are_replaced_where_that_is_asked_for
check a_key_asks_for_pseudonyms_of_its_own
check a_key_that_is_none_is_told
check what_cannot_be_written_is_kept_elsewhere
check the_function_says_where_it_was_kept
check what_is_kept_elsewhere_is_redacted_too
check with_nowhere_to_go_one_line_says_so
check a_limit_on_files_does_not_end_the_process
check a_standard_error_that_nobody_reads_does_not_end_it
if can_mount; then
  check a_full_disk_loses_neither_data_nor_status
else
  skip a_full_disk_loses_neither_data_nor_status "cannot mount a tmpfs"
fi
plan
