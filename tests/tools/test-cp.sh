#!/bin/sh
# SPDX-License-Identifier: MIT
# radio cp from outside: sources and destinations, existing volumes, messages,
# and interrupted copies.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

"$RADIO" phantom -s a.zarr ct/head --size 48,40,32 >/dev/null || exit 99
"$RADIO" phantom -s a.zarr ct/neck --size 40 --seed 2 >/dev/null || exit 99
"$RADIO" phantom -s a.zarr mr/head --size 20 --seed 3 >/dev/null || exit 99

# lists STORE VOLUME...: these are in it, and no others.
lists () {
  store=$1
  shift
  "$RADIO" ls -s "$store" >"$tmp/listed"
  printf '%s\n' "$@" | diff - "$tmp/listed"
}

a_store_is_copied_whole_and_equal () {
  runs cp a.zarr whole.zarr
  says 'ct/head  ' ' sent' '3 volumes, '
  diff -r a.zarr whole.zarr
  RADIO_STORE=a.zarr runs cp --to env.zarr
  diff -r a.zarr env.zarr
  runs cp -q -s a.zarr --to quiet.zarr
  [ "$(wc -l <"$tmp/out")" -eq 1 ]
}

collections_and_volumes_are_named_as_elsewhere () {
  runs cp -s a.zarr ct --to ct.zarr
  lists ct.zarr ct/head ct/neck
  runs cp a.zarr/ct ct2.zarr
  lists ct2.zarr ct/head ct/neck
  runs cp -s a.zarr neck mr/head some.zarr
  lists some.zarr ct/neck mr/head
  runs cp -s none.zarr ./a.zarr/ct/head/ ./a.zarr/mr one.zarr
  lists one.zarr ct/head mr/head
  runs cp -s a.zarr ct ct/head --to twice.zarr
  says '2 volumes, '
  runs cp a.zarr/ct a.zarr/mr/head both.zarr
  lists both.zarr ct/head ct/neck mr/head
}

a_copy_may_be_renamed () {
  runs cp a.zarr/ct/neck named.zarr --name xr/other
  lists named.zarr xr/other
  runs cp named.zarr/xr/other named.zarr --name xr/third
  diff -r named.zarr/xr/other named.zarr/xr/third
  cp -r a.zarr/ct/head lone
  fails 1 'lone: a volume without a store' cp lone named.zarr
  runs cp lone named.zarr --name ct/lone
  runs validate -s named.zarr
  says '3 checked, 0 bad'
  fails 1 "--name is for one volume, not for 3" cp a.zarr x.zarr --name a/b
  fails 1 'two volumes map to ct/head' cp a.zarr whole.zarr x.zarr
  [ ! -e x.zarr ]
}

existing_copies_are_kept_skipped_or_replaced () {
  runs cp -s a.zarr mr/head --to e.zarr --name ct/head
  cp -r e.zarr before.zarr
  status=0
  "$RADIO" cp a.zarr/ct e.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q '^radio: ct/head: exists already; see --skip' "$tmp/err"
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  says 'ct/neck' '1 volume, ' '; 1 failed'
  diff -r before.zarr/ct/head e.zarr/ct/head
  runs cp a.zarr/ct e.zarr --skip-existing
  says 'ct/head  skipped: exists already' '0 volumes; 2 skipped'
  runs cp a.zarr/ct e.zarr --overwrite
  runs gc -s e.zarr
  for level in a.zarr/ct/*/0-*; do
    diff -r "$level" "e.zarr/${level#a.zarr/}"
  done
  # The header has another key than the one that it replaced.
  cmp a.zarr/ct/head/nifti/c/0 e.zarr/ct/head/nifti/c.0
  [ ! -e e.zarr/ct/head/nifti/c/0 ]
  fails 2 'exclude each other' cp a.zarr e.zarr --overwrite --skip-existing
}

a_dry_run_makes_no_store () {
  runs cp a.zarr dry.zarr --dry-run
  says 'ct/head  ' ' to send' '3 volumes to copy, '
  [ ! -e dry.zarr ]
}

damage_is_reported_and_the_others_are_copied () {
  cp -r a.zarr bad.zarr
  shard=$(find bad.zarr/ct/neck/0-*/c -type f | head -n 1)
  printf x | dd of="$shard" bs=1 seek=99 conv=notrunc 2>/dev/null
  status=0
  "$RADIO" cp bad.zarr good.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q "^radio: .*$shard: tile .*crc32c" "$tmp/err"
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  says '2 volumes, ' '; 1 failed'
  lists good.zarr ct/head mr/head
  runs gc -s good.zarr
  says 'removed 0 unused items'
}

mistakes_are_explained () {
  fails 2 'SOURCE is missing' cp
  fails 2 'DESTINATION is missing' cp a.zarr
  fails 1 "no store at 'none.zarr'" cp -s none.zarr --to x.zarr
  fails 1 "nock: no such volume in a.zarr; did you mean ct/neck?" \
    cp -s a.zarr nock x.zarr
  fails 1 'whole.zarr/ct/new: in the store whole.zarr' \
    cp a.zarr/ct/neck whole.zarr/ct/new
  fails 1 'whole.zarr/ct: in the store' cp a.zarr/ct/neck whole.zarr/ct
  [ ! -e x.zarr ]
  status=0
  "$RADIO" cp a.zarr/ct/neck x2.zarr --name a >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 1 ]
  grep -q "^radio: 'a': not COLLECTION/NAME" "$tmp/err"
}

# A kill leaves volumes without rows; tables of the source go with them.
the_same_command_goes_on_after_a_kill () {
  cp -r a.zarr rows.zarr
  runs index -s rows.zarr
  runs table -s rows.zarr --set qc ct ct/head=good ct/neck=bad
  runs cp rows.zarr killed.zarr
  rm -r killed.zarr/tables killed.zarr/ct/neck
  runs cp rows.zarr killed.zarr
  says 'ct/head  skipped: was copied already' '1 volume, ' '2 skipped'
  diff -r rows.zarr/ct killed.zarr/ct
  for table in ct mr subjects; do
    "$RADIO" table -s rows.zarr --tsv $table >"$tmp/wanted"
    "$RADIO" table -s killed.zarr --tsv $table | diff "$tmp/wanted" -
  done
  "$RADIO" table -s killed.zarr ct --tsv | grep -q good
  # One of the same name that was ingested is another one.
  rm -r killed.zarr/ct/neck
  "$RADIO" phantom -s killed.zarr ct/neck --size 40 --seed 2 >/dev/null
  status=0
  "$RADIO" cp rows.zarr/ct/neck killed.zarr 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q 'ct/neck: exists already; see --skip-existing and --over' "$tmp/err"
}

# The state that a crash right before writing the document leaves.
files_of_an_interrupted_copy_are_not_sent_again () {
  runs cp a.zarr on.zarr
  rm on.zarr/ct/head/zarr.json on.zarr/ct/neck/zarr.json
  rm "$(find on.zarr/ct/neck/0-*/c -type f)"
  lists on.zarr mr/head
  runs cp a.zarr/ct on.zarr --dry-run
  says 'there already' 'to send'
  runs cp a.zarr/ct on.zarr
  grep -q '^ct/head *0 B sent, .* there already$' "$tmp/out"
  grep -q '^ct/neck .*[1-9].* sent$' "$tmp/out"
  diff -r a.zarr on.zarr
}

# Whenever the interrupt comes, the volume is published or invisible.
an_interrupted_copy_resumes () {
  "$RADIO" phantom -s big.zarr ct/big --size 256 --codec none >/dev/null
  "$RADIO" cp big.zarr to.zarr >/dev/null 2>"$tmp/err" &
  sleep 0.1
  kill -TERM $! 2>/dev/null || :
  status=0
  wait $! || status=$?
  if [ "$status" -ne 0 ]; then
    [ "$status" -eq 143 ]
  fi
  if [ -e to.zarr/ct/big/zarr.json ]; then
    "$RADIO" validate -s to.zarr >/dev/null
  fi
  runs cp big.zarr to.zarr --skip-existing
  diff -r big.zarr to.zarr
}

# Nothing was written, and the user meant another store.
a_copy_onto_itself_is_an_error () {
  ln -s a.zarr link.zarr
  for to in a.zarr a.zarr/ "$PWD/a.zarr" link.zarr; do
    for from in a.zarr a.zarr/ct a.zarr/ct/head; do
      fails 1 'ct/head: in ' cp "$from" "$to" --skip-existing
      fails 1 'needs another name' cp "$from" "$to" --dry-run
    done
  done
  runs cp a.zarr/ct/head a.zarr --name ct/twin
  runs rm -s a.zarr ct/twin
}

check a_store_is_copied_whole_and_equal
check collections_and_volumes_are_named_as_elsewhere
check a_copy_may_be_renamed
check existing_copies_are_kept_skipped_or_replaced
check a_dry_run_makes_no_store
check damage_is_reported_and_the_others_are_copied
check mistakes_are_explained
check the_same_command_goes_on_after_a_kill
check files_of_an_interrupted_copy_are_not_sent_again
check an_interrupted_copy_resumes
check a_copy_onto_itself_is_an_error
plan
