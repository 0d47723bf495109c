#!/bin/sh
# SPDX-License-Identifier: MIT
# --where, --subject, --sample and --head narrow what commands work on.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

for name in ct/sub-1 ct/sub-2 ct/sub-3 ct/sub-4 seg/sub-2 seg/sub-4; do
  "$RADIO" phantom -s s.zarr "$name" --size 8 >/dev/null || exit 99
done
"$RADIO" index -s s.zarr >/dev/null || exit 99
printf 'subject\tage\tsite\nsub-1\t40\tA\nsub-2\t20\tB\nsub-3\tn/a\tB\n' >p.tsv
"$RADIO" table -q -s s.zarr --import p.tsv || exit 99

# warns TEXT ARGUMENT...: it succeeds, and stderr has the text.
warns () {
  text=$1
  shift
  "$RADIO" "$@" >"$tmp/out" 2>"$tmp/err" && grep -qF -e "$text" "$tmp/err"
}

# marks STATUS TEXT BLANKS WHERE [STORE [COLLECTION]]: the query fails, and is
# shown with a mark after that many blanks.
marks () {
  status=0
  "$RADIO" ls -s "${5-s.zarr}" ${6-} --where "$4" >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq "$1" ] && grep -qF -e "$2" "$tmp/err"
  printf '  %s\n  %*s^\n' "$4" "$3" '' >"$tmp/wanted"
  sed 1d "$tmp/err" | diff "$tmp/wanted" -
}

# lists LINE...: all of the output.
lists () {
  [ $# -gt 0 ] && printf '%s\n' "$@" >"$tmp/wanted" || : >"$tmp/wanted"
  diff "$tmp/wanted" "$tmp/out"
}

volumes_are_selected_by_their_rows () {
  runs ls -s s.zarr --where 'age >= 20 and not has(seg)'
  lists ct/sub-1
  runs ls -s s.zarr --where 'age is missing'
  lists ct/sub-3 ct/sub-4 seg/sub-4
  runs ls -s s.zarr ct --subject sub-2
  lists ct/sub-2
  runs ls -s s.zarr 'ct/sub-[34]' seg/sub-2 --where 'site == "B"'
  lists ct/sub-3 seg/sub-2
  runs ls s.zarr --subject sub-4 --where 'has(seg)'
  lists s.zarr/ct/sub-4 s.zarr/seg/sub-4
  runs ls -s s.zarr --where 'age > 1000'
  lists
  runs ls -l -s s.zarr --where 'site == "A"'
  says '1 volume, '
}

a_sample_is_the_same_in_any_order () {
  runs ls -s s.zarr --sample 3 --seed 5
  sort "$tmp/out" >"$tmp/first"
  [ "$(wc -l <"$tmp/first")" = 3 ]
  runs ls -s s.zarr seg ct --sample 3 --seed 5
  sort "$tmp/out" | cmp - "$tmp/first"
  runs ls -s s.zarr --sample 3 --seed 5 --head 2
  [ "$(wc -l <"$tmp/out")" = 2 ]
  for seed in 0 1 2 3 4 5 6 7; do
    "$RADIO" ls -s s.zarr --sample 3 --seed $seed | tr '\n' ' '
    echo
  done | sort -u >"$tmp/samples"
  [ "$(wc -l <"$tmp/samples")" -gt 3 ]
  runs ls -s s.zarr --head 2
  lists ct/sub-1 ct/sub-2
}

every_command_takes_them () {
  runs table -s s.zarr --where 'site == "B"' --tsv
  printf 'subject\tage\tsite\nsub-2\t20\tB\nsub-3\tn/a\tB\n' | cmp - "$tmp/out"
  runs table -s s.zarr seg --where 'site == "B"' --json
  [ "$(grep -c '"volume"' "$tmp/out")" = 1 ]
  runs table -s s.zarr --sample 1
  [ "$(wc -l <"$tmp/out")" = 2 ]
  runs info -s s.zarr --where 'age < 30'
  says ct/sub-2 seg/sub-2
  runs stats -s s.zarr --json --where 'age < 30' --head 1
  [ "$(grep -c '"volume"\|"path"\|"name"' "$tmp/out")" -ge 1 ]
  runs validate -s s.zarr --where 'age < 30'
  says '2 checked, 0 bad'
  runs export -s s.zarr --where 'age < 30' -o files/
  [ "$(find files -name '*.nii.gz' | wc -l)" = 2 ]
  runs profile full -s s.zarr --where 'age < 30' --runs 1 -o p.html
  says '2 in all'
  fails 1 'no volume is selected' info -s s.zarr --where 'age > 1000'
}

# ls and table have nothing to print then, which is no error.
a_subject_that_is_not_there_is_said () {
  near="no subject 'sub-22'; did you mean sub-2?"
  fails 1 "no volume is selected; $near" info -s s.zarr --subject sub-22
  for command in 'ls' 'ls ct' 'ls --sample 2' 'ls --where age>0'; do
    # shellcheck disable=SC2086
    "$RADIO" $command -s s.zarr --subject sub-22 >"$tmp/out" 2>"$tmp/err"
    [ ! -s "$tmp/out" ]
    grep -qx "radio: warning: no volume is selected; $near" "$tmp/err"
  done
  "$RADIO" table -s s.zarr --subject 2x >"$tmp/out" 2>"$tmp/err"
  grep -qx "radio: warning: no row is selected; no subject '2x'; did you mean \
sub-2?" "$tmp/err"
  runs ls -s s.zarr --subject sub-2 --where 'age > 1000'
  [ ! -s "$tmp/out" ]
}

a_fault_is_marked () {
  marks 2 "byte 12: no column 'aeg'; did you mean age?" 12 \
    'age > 3 and aeg < 3'
  marks 2 'expected a column or a value at the end' 5 'age >'
  marks 2 "instead of 'é'" 12 'site == "ü" é'
  fails 1 'no table of volumes' ls -s none.zarr --where 'age > 3'
  # Also where no volume is listed, or no table is there.
  marks 2 'at the end' 5 'age >' none.zarr
  cp -r s.zarr e.zarr
  runs rm -s e.zarr seg --subject sub-2 --yes
  runs rm -s e.zarr seg --subject sub-4 --yes
  runs ls -s e.zarr seg --where 'age > 3'
  marks 2 "no column 'aeg'" 0 'aeg > 3' e.zarr seg
  fails 2 'exclude each other' table -s s.zarr --where age --drop age
}
"$RADIO" phantom -s none.zarr ct/a --size 8 >/dev/null || exit 99

nothing_is_removed_unasked () {
  cp -r s.zarr r.zarr
  "$RADIO" rm -s r.zarr --where 'has(seg)' </dev/null >"$tmp/out" \
    2>"$tmp/err" && return 1
  lists 'to remove: ct/sub-2' 'to remove: ct/sub-4' 'to remove: seg/sub-2' \
    'to remove: seg/sub-4'
  grep -q 'nothing was removed; --yes removes them' "$tmp/err"
  runs rm -s r.zarr ct --where 'has(seg)' --yes
  lists 'removed ct/sub-2' 'removed ct/sub-4'
  runs ls -s r.zarr
  lists ct/sub-1 ct/sub-3 seg/sub-2 seg/sub-4
  fails 1 'no volume is selected' rm -s r.zarr --where 'age > 1000' --yes
}

# Its row says nothing of the volume that is there now.
what_was_replaced_since_its_row_was_written_is_kept () {
  cp -r s.zarr k.zarr
  for name in ct/sub-1 ct/sub-2; do
    "$RADIO" phantom -s k.zarr $name --size 9 --overwrite >/dev/null
  done
  rm -r k.zarr/tables
  cp -r s.zarr/tables k.zarr/tables
  status=0
  "$RADIO" rm -s k.zarr --where 'age >= 20' --yes >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ $status = 1 ]
  lists 'removed seg/sub-2'
  [ "$(wc -l <"$tmp/err")" = 2 ]
  grep -q 'ct/sub-1: it was replaced since its row was written; it is kept' \
    "$tmp/err"
  runs validate -s k.zarr ct
  says '4 checked, 0 bad'
  runs index -s k.zarr
  runs rm -s k.zarr --subject sub-1 --yes
  lists 'removed ct/sub-1'
}

what_is_out_of_step_is_counted () {
  cp -r s.zarr o.zarr
  rm -r o.zarr/ct/sub-1
  cp -r o.zarr/ct/sub-2 o.zarr/ct/sub-9
  warns '1 volume without a row is not selected' ls -s o.zarr --where 'age > 0'
  lists ct/sub-2 seg/sub-2
  warns '1 selected row has no volume' ls -s o.zarr --where 'age > 0'
}

a_subset_has_all_of_its_volumes () {
  printf 'volume\trater\nseg/sub-2\tme\nseg/sub-4\tyou\n' >v.tsv
  runs table -q -s s.zarr --import v.tsv seg
  where='age < 30 or subject == "sub-4" and has(seg)'
  runs cp s.zarr d.zarr --where "$where" --head 3
  says '3 volumes'
  runs cp s.zarr d.zarr --where "$where" --skip-existing
  says '1 volume, ' '3 skipped'
  runs ls -s d.zarr
  lists ct/sub-2 ct/sub-4 seg/sub-2 seg/sub-4
  runs index -s d.zarr --check
  says ' without a row; 0 rows without a volume' ', 0 without a row'
  runs table -s d.zarr --tsv
  printf 'subject\tage\tsite\nsub-2\t20\tB\nsub-4\tn/a\tn/a\n' |
    cmp - "$tmp/out"
  for table in ct seg; do
    "$RADIO" table -s s.zarr $table --where "$where" --tsv >"$tmp/rows"
    runs table -s d.zarr $table --tsv
    cmp "$tmp/rows" "$tmp/out"
  done
  for name in ct/sub-2 seg/sub-4; do
    diff -r s.zarr/$name d.zarr/$name
  done
  runs validate d.zarr
  fails 1 'no volume is selected' cp s.zarr d.zarr --where 'age > 1000'
}

# What is not read may be gone.
only_columns_that_are_named_are_read () {
  cp -r s.zarr c.zarr
  rm -r c.zarr/tables/subjects/t-*/site/codes/c
  for column in nbytes affine orientation; do
    find c.zarr/tables/volumes/*/t-*/$column -path '*/c/*' -type f -delete
  done
  runs ls -s c.zarr --where 'age > 30 and not has(seg)'
  lists ct/sub-1
  not "$RADIO" ls -s c.zarr --where 'site == "A"' 2>"$tmp/err"
  grep -q site "$tmp/err"
}

check volumes_are_selected_by_their_rows
check a_sample_is_the_same_in_any_order
check every_command_takes_them
check a_subject_that_is_not_there_is_said
check a_fault_is_marked
check nothing_is_removed_unasked
check what_was_replaced_since_its_row_was_written_is_kept
check what_is_out_of_step_is_counted
check a_subset_has_all_of_its_volumes
check only_columns_that_are_named_are_read
plan
