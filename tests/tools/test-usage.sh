#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line itself: --help, mistakes, exit statuses, output that
# cannot be written.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

commands="ingest ls info slice roi export stats apply validate cp rm gc phantom"
commands="$commands profile diff bench"
subs="profile-ingest profile-full profile-slice profile-roi profile-sweep
profile-merge profile-show profile-convert profile-recover bench-compare
bench-ops profile-op"

# To make them again: for c in COMMANDS; do radio help $c >help/$c.txt; done
help_is_as_recorded () {
  "$RADIO" help "$1" >"$tmp/help" 2>"$tmp/err"
  diff "$srcdir/tests/tools/help/$1.txt" "$tmp/help"
  [ ! -s "$tmp/err" ]
}

help_is_the_same_by_every_way () {
  "$RADIO" "$1" --help | cmp - "$srcdir/tests/tools/help/$1.txt"
  "$RADIO" "$1" -h | cmp - "$srcdir/tests/tools/help/$1.txt"
}

# The same of "profile WHAT", recorded as profile-WHAT.txt.
help_of_what_is_as_recorded () {
  command=${1%-*} what=${1#*-}
  "$RADIO" help "$command" "$what" >"$tmp/help" 2>"$tmp/err"
  diff "$srcdir/tests/tools/help/$1.txt" "$tmp/help"
  [ ! -s "$tmp/err" ]
  "$RADIO" "$command" "$what" --help | cmp - "$tmp/help"
  "$RADIO" "$command" "$what" -h | cmp - "$tmp/help"
}

help_fits_80_columns () {
  awk 'length ($0) > 80 { print FILENAME ": " $0; bad = 1 }
       END { exit bad }' "$srcdir"/tests/tools/help/*.txt
}

help_has_two_to_three_examples_of_its_own_command () {
  for c in $commands; do
    n=$(sed -n '/^Examples:/,$p' "$srcdir/tests/tools/help/$c.txt" |
      grep -c "^  radio $c")
    [ "$n" -ge 2 ]
    [ "$n" -le 3 ]
  done
  for c in $subs; do
    n=$(sed -n '/^Examples:/,$p' "$srcdir/tests/tools/help/$c.txt" |
      grep -c "^  radio ${c%-*} ${c#*-}")
    [ "$n" -ge 2 ]
    [ "$n" -le 3 ]
  done
}

every_command_is_in_the_list () {
  "$RADIO" --help >"$tmp/list"
  for c in $commands; do
    grep -q "^  $c  *[a-z]" "$tmp/list"
  done
  "$RADIO" help | cmp - "$tmp/list"
  "$RADIO" -h | cmp - "$tmp/list"
}

every_option_is_in_the_man_page () {
  sed 's/\\-/-/g' "$srcdir/docs/radio.1" >"$tmp/man"
  for c in $commands; do
    grep -qF "radio $c" "$tmp/man" || { echo "no $c"; return 1; }
    sed -n 's/^ .*\(--[a-z-]*\).*/\1/p' "$srcdir/tests/tools/help/$c.txt" |
      sort -u >"$tmp/options"
    while read -r option; do
      grep -qF -e "$option" "$tmp/man" || { echo "no $option"; return 1; }
    done <"$tmp/options"
  done
}

version_is_one_line () {
  "$RADIO" --version >"$tmp/out"
  grep -qE '^radio [0-9]+\.[0-9]+\.[0-9]+$' "$tmp/out"
  [ "$(wc -l <"$tmp/out")" -eq 1 ]
}

a_wrong_command_suggests_the_near_one () {
  fails 2 "unknown command 'ingst', did you mean 'ingest'" ingst
  fails 2 "did you mean 'ls'" l
  fails 2 "unknown command 'help-me' (see 'radio --help')" help-me
  fails 2 "did you mean 'stats'" help stat
  fails 2 "no command given"
}

a_wrong_sub_command_suggests_the_near_one () {
  fails 2 "profile: unknown command 'slcie', did you mean 'radio profile slice'" \
    profile slcie
  fails 2 "unknown command 'everything' (see 'radio profile --help')" \
    profile everything
  fails 2 "unknown command 'cow'" help profile cow
  fails 2 "no command given: ingest, full, slice" profile
}

a_wrong_option_suggests_the_near_one () {
  fails 2 "unknown option '--jsno', did you mean '--json'" ls --jsno
  fails 2 "unknown option '-x'" ls -x
  fails 2 "unknown option '--everything' (see" ls --everything
  fails 2 "option '--s' is one of --store, --subject, --sample, --seed" \
    roi a --s
  fails 2 "option '--json=1' takes no value" ls --json=1
  fails 2 "option '-o' needs a value" slice a -o
  fails 2 "option '--axis' needs a value" slice a --axis
}

missing_and_surplus_operands_are_usage_errors () {
  fails 2 "FILE is missing" ingest
  fails 2 "VOLUME is missing" info
  fails 2 "VOLUME is missing" slice
  fails 2 "VOLUME is missing" rm
  fails 2 "NAME is missing" phantom
  fails 2 "'b' is one operand too many" slice a b
  fails 2 "'a' is one operand too many" gc a
  fails 2 "-o FILE is missing" export a
  fails 2 "-o FILE is missing" roi a --size 3
}

wrong_options_of_profile_are_usage_errors () {
  fails 2 "--runs: '0' is not a number from 1 to" profile slice --runs 0
  fails 2 "--warmup: '-1' is not a number" profile slice --warmup=-1
  fails 2 "--roi: '0' is neither N nor X,Y,Z" profile slice --roi 0
  fails 2 "--at: '1,2' is not X,Y,Z" profile roi --at 1,2
  fails 2 "--axis: unknown value 'up'; use one of" profile slice --axis up
  fails 2 "--roi reads a box" profile slice --roi 64 --axis axial
  fails 2 "--fail-if-slower needs --against" profile full --fail-if-slower 5
  fails 2 "--index and --at exclude" profile slice -i 3 --at 1,2,3
  fails 2 "--phantom: 'big' is neither" profile full --phantom big
  fails 2 "exclude VOLUME" profile full a --codec fast
  fails 2 "--phantom does not go with FILE" profile ingest a --phantom 8
  fails 2 "'b' is one operand too many" profile show a b
  for sizes in '' x 8,,16 8, ,8 0 8,-1; do
    fails 2 "--sizes: '$sizes' is not a list" profile sweep "--sizes=$sizes"
  done
  fails 2 "PROGRAM is missing after --" profile --
  fails 2 "radio diff OLD NEW.json" profile --against=a.json -- true
  fails 2 "radio diff OLD NEW.json" profile -o b.html --against a.json
  fails 2 "'true' is one operand too many" profile -o a.html true -- false
  fails 2 "--as: unknown value 'sums'; use one of ranks, runs" \
    profile merge a --as sums
  fails 2 "FILE is missing" profile merge
  fails 2 "IN is missing" profile convert
  fails 2 "OUT is missing" profile convert a.json
  fails 2 "BEFORE is missing" diff
  fails 2 "AFTER is missing" diff a
  fails 2 "--fail-if-slower: '-3' is not a percentage" \
    diff a b --fail-if-slower=-3
  fails 2 "--rows: unknown row 'box65'; use some of full, axial" \
    bench --rows full,box65
  fails 2 "--rows: unknown row ''; use some of" bench --rows=
  fails 2 "--destination: unknown value 'new'; use one of fresh" \
    bench --destination new
  fails 2 "--tiling: 'axial,' has an empty word" bench --tiling axial,
  fails 2 "--codec: 'a,b,c,d,e,f,g,h,i' is more" bench \
    --codec a,b,c,d,e,f,g,h,i
  fails 2 "--phantom does not go with 'a'" bench a --phantom 8
  fails 2 "--tiling and --codec are for an image" bench a --codec fast
  fails 2 "--warmup: '0' is not a number from 1" bench --warmup 0
  fails 2 "OLD is missing" bench compare
  fails 2 "NEW is missing" bench compare a
  fails 2 "--fail-if-slower: 'x' is not a percentage" \
    bench compare a b --fail-if-slower x
}

wrong_numbers_are_usage_errors () {
  for n in x -1 1.5 1e3 '' 99999999999999999999; do
    fails 2 "--index: '$n' is not a number" slice a "--index=$n"
  done
  fails 2 "--threads: '0' is not a number from 1" stats a --threads 0
  fails 2 "--threads: '1025' is not" stats a --threads 1025
  fails 2 "--memory: '0' is not a size" stats a --memory 0
  fails 2 "--memory: '5X' is not a size" stats a --memory 5X
  fails 2 "--memory: '1' is too little" stats a --memory 1
  fails 2 "--memory: '1K' is too little" stats a --memory 1K
  fails 2 "--seed: '-1'" phantom a --seed=-1
  fails 2 "--size: '0' is neither" phantom a --size 0
  fails 2 "--size: '1,2' is neither" phantom a --size 1,2
}

wrong_words_are_usage_errors () {
  fails 2 "--axis: unknown value 'up'; use one of axial, coronal, sagittal" \
    slice a --axis up
  fails 2 "--interpolate: unknown value 'cubic'; use one of nearest, linear" \
    slice a --interpolate cubic
  fails 2 "--window: 'liver' is neither" slice a --window liver
  fails 2 "--window: '5,5' is neither" slice a --window 5,5
  fails 2 "--window: '1,nan' is neither" slice a --window 1,nan
}

wrong_boxes_are_usage_errors () {
  fails 2 "--x: '5:3': END must be greater" roi a --x 5:3 -o a.nii
  fails 2 "--y: '-3:': positions count from 0" roi a --y=-3: -o a.nii
  fails 2 "--z: 'a:b': not START:END" roi a --z a:b -o a.nii
  fails 2 "--at: '1,2' is not X,Y,Z" roi a --at 1,2 -o a.nii
  fails 2 "--at needs --size" roi a --at 1,2,3 -o a.nii
  fails 2 "--size does not go with --x" roi a --size 2 --x 1 -o a.nii
  fails 2 "no box given" roi a -o a.nii
}

wrong_suffixes_are_usage_errors () {
  fails 2 "ends in none of .nii, .nii.gz, .npy" export a -o a.txt
  fails 2 "ends in none of" roi a --size 2 -o a.png
  fails 2 "ends in none of .nii, .nii.gz, .npy, .png" slice a -o a.jpg
  fails 2 "ends in none of" export a -o .nii
  fails 2 "only .npy files can hold scaled" export a --scaled -o a.nii
  fails 2 "are for .png only" slice a --window 1,2 -o a.npy
  fails 2 "are for .png only" slice a --interpolate linear -o a.nii
}

options_that_exclude_each_other_are_usage_errors () {
  fails 2 "exclude each other" ingest a --overwrite --skip-existing
  fails 2 "exclude each other" phantom a --overwrite --skip-existing
}

wrong_words_of_RADIO_S3_are_usage_errors () {
  for command in ls 'info a' 'rm a' 'ingest a.nii' 'cp --to b a' gc; do
    # shellcheck disable=SC2086
    RADIO_S3=hurry fails 2 "RADIO_S3: unknown setting 'hurry'; use one of anonymous, \
addressing, hedge, gap, cap, connect-timeout, first-byte-timeout, stall-timeout, deadline, \
no-connect-ahead" $command
  done
  RADIO_S3=anonymous=1 fails 2 "RADIO_S3: 'anonymous' takes no value" ls
  RADIO_S3=gap fails 2 "RADIO_S3: 'gap' needs a value: a size above 0" ls
  RADIO_S3=gap=1M,cap=0 fails 2 "RADIO_S3: cap: '0' is not a size above 0" ls
  RADIO_S3=addressing=host fails 2 "addressing: 'host' is not 'path' or" ls
  RADIO_S3=deadline=5 fails 2 "RADIO_S3: deadline: '5' is not a time" ls
}

# One key without the other is an error, unless access is anonymous.  Nothing
# listens at port 1.
RADIO_S3_holds_for_every_command () {
  export AWS_ACCESS_KEY_ID=alone AWS_ENDPOINT_URL_S3=http://127.0.0.1:1
  export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
  unset AWS_SECRET_ACCESS_KEY AWS_PROFILE
  for command in 'ls -s s3://b/x' 'info -s s3://b/x c/a' 'info s3://b/x/c/a' \
      'rm -s s3://b/x c/a' 'gc -s s3://b/x' 'stats -s s3://b/x c/a' \
      'cp --dry-run --to s3://b/x s3://b/y' 'cp --to y.zarr s3://b/y/c/a'; do
    # shellcheck disable=SC2086
    fails 1 AWS_SECRET_ACCESS_KEY $command
    # shellcheck disable=SC2086
    RADIO_S3=anonymous,deadline=50ms fails 1 s3://b/ $command
    if grep AWS_SECRET_ACCESS_KEY "$tmp/err"; then
      return 1
    fi
  done
}

control_characters_are_not_echoed () {
  name=$(printf 'a\033[2Jb\nc')
  fails 2 "unknown command 'a?[2Jb?c'" "$name"
}

a_full_stdout_is_an_error () {
  [ -c /dev/full ] || return 0
  status=0
  "$RADIO" --help >/dev/full 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q '^radio: standard output: ' "$tmp/err"
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
}

a_closed_pipe_ends_the_command_in_silence () {
  { while [ ! -e "$tmp/closed" ]; do sleep 0.01; done
    status=0; "$RADIO" --help 2>"$tmp/err" || status=$?
    echo "$status" >"$tmp/status"; } | { exec <&-; : >"$tmp/closed"; }
  [ ! -s "$tmp/err" ]
  [ "$(cat "$tmp/status")" -eq 141 ]
}

a_closed_stdout_is_noticed () {
  status=0
  "$RADIO" --version >&- 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q '^radio: standard output: ' "$tmp/err"
}

nothing_is_coloured_in_a_pipe () {
  "$RADIO" --help | grep -q "$(printf '\033')" && return 1
  ! "$RADIO" help ls | grep -q "$(printf '\033')"
}

for c in $commands; do
  check help_is_as_recorded "$c"
  check help_is_the_same_by_every_way "$c"
done
for c in $subs; do
  check help_of_what_is_as_recorded "$c"
done
check help_fits_80_columns
check help_has_two_to_three_examples_of_its_own_command
check every_command_is_in_the_list
check every_option_is_in_the_man_page
check version_is_one_line
check a_wrong_command_suggests_the_near_one
check a_wrong_sub_command_suggests_the_near_one
check a_wrong_option_suggests_the_near_one
check missing_and_surplus_operands_are_usage_errors
check wrong_options_of_profile_are_usage_errors
check wrong_numbers_are_usage_errors
check wrong_words_are_usage_errors
check wrong_boxes_are_usage_errors
check wrong_suffixes_are_usage_errors
check options_that_exclude_each_other_are_usage_errors
check wrong_words_of_RADIO_S3_are_usage_errors
check RADIO_S3_holds_for_every_command
check control_characters_are_not_echoed
check a_full_stdout_is_an_error
check a_closed_pipe_ends_the_command_in_silence
check a_closed_stdout_is_noticed
check nothing_is_coloured_in_a_pipe
plan
