#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables that follow the volumes: radio index, and commands that write volumes.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

fixtures=$tmp/fixtures
mkdir "$fixtures"
"$builddir/tests/fixtures/make-fixtures" "$fixtures" >/dev/null || exit 99
mkdir -p bids/sub-1 bids/sub-2
for subject in sub-1 sub-2; do
  cp "$fixtures/good-nifti1-le-int16-3d.nii" bids/$subject/${subject}_T1w.nii
  cp "$fixtures/good-nifti1-le-int16-3d.nii" bids/$subject/${subject}_mask.nii
done
"$RADIO" ingest -q -s s.zarr --layout bids bids || exit 99

# in_step STORE: every volume has a row, and every row a volume.
in_step () {
  runs index -s "$1" --check
  says ' without a row; 0 rows without a volume'
  says ', 0 without a row'
}

an_ingest_by_a_layout_makes_tables () {
  in_step s.zarr
  [ -d s.zarr/tables/subjects/heads ]
  [ -d s.zarr/tables/volumes/T1w/heads ]
  runs ls -s s.zarr
  printf '%s\n' T1w/sub-1 T1w/sub-2 mask/sub-1 mask/sub-2 | cmp - "$tmp/out"
  runs validate -s s.zarr
  runs gc -s s.zarr
}

a_store_without_tables_gets_none () {
  runs ingest -q -s plain.zarr bids
  runs cp plain.zarr plain-copy.zarr
  runs rm -s plain.zarr T1w/sub-1
  [ ! -e plain.zarr/tables ]
  [ ! -e plain-copy.zarr/tables ]
  not "$RADIO" index -s plain.zarr --check >"$tmp/out"
  says 'no row     T1w/sub-2' '3 volumes, 3 without a row'
  [ ! -e plain.zarr/tables ]
  runs index -s plain.zarr
  says '3 volumes: 3 rows added, 0 removed; 3 tables written'
  in_step plain.zarr
}

rows_follow_every_command_that_writes_volumes () {
  cp -r s.zarr t.zarr
  runs rm -s t.zarr T1w/sub-1
  in_step t.zarr
  mkdir -p more
  cp bids/sub-1/sub-1_T1w.nii more/sub-3_T1w.nii
  runs ingest -q -s t.zarr more
  in_step t.zarr
  runs ingest -q -s dest.zarr --layout bids more
  runs cp s.zarr dest.zarr
  in_step dest.zarr
  runs cp s.zarr/T1w/sub-1 dest.zarr --name T1w/other
  in_step dest.zarr
  runs apply -q 'clamp 0,1' t.zarr/T1w --to dest.zarr -c clamped
  in_step dest.zarr
  runs phantom -s dest.zarr ct/a --size 16
  in_step dest.zarr
}

rows_that_cannot_be_written_are_an_error_of_their_store () {
  cp -r s.zarr b.zarr
  echo '{' >b.zarr/tables/volumes/T1w/zarr.json
  status=0
  "$RADIO" rm b.zarr/T1w/sub-1 >"$tmp/out" 2>"$tmp/err" || status=$?
  [ $status -eq 1 ]
  says 'removed T1w/sub-1'
  grep -q '^radio: b.zarr: rows of tables were not written: ' "$tmp/err"
}

what_a_kill_left_is_found_and_repaired () {
  cp -r s.zarr k.zarr
  rm -r k.zarr/mask/sub-2
  cp -r k.zarr/T1w/sub-1 k.zarr/T1w/sub-9
  status=0
  "$RADIO" index -s k.zarr --check >"$tmp/out" || status=$?
  [ $status -eq 1 ]
  says 'no row     T1w/sub-9' 'no volume  mask/sub-2' \
    '4 volumes, 1 without a row; 1 row without a volume'
  # The next ingest restores the rows of volumes that it skips.
  runs ingest -q -s k.zarr --skip-existing --layout bids bids
  runs index -s k.zarr
  says '1 row added, 0 removed'
  in_step k.zarr
}

# An older radio or another program may have made it.
a_collection_called_tables_gives_way () {
  for way in mv rm; do
    runs ingest -q -s $way.zarr -c old bids/sub-1
    mv $way.zarr/old $way.zarr/tables
    fails 1 "rename it by 'radio mv tables NAME'" index -s $way.zarr
    [ ! -e $way.zarr/tables/volumes ]
    case $way in
      mv) runs mv -q -s $way.zarr tables images ;;
      rm) runs rm -s $way.zarr tables/sub-1_T1w tables/sub-1_mask
          runs ingest -q -s $way.zarr -c images bids/sub-1 ;;
    esac
    runs index -s $way.zarr
    says '2 volumes: 2 rows added'
    in_step $way.zarr
    runs validate -q -s $way.zarr
  done
}

a_row_of_another_volume_is_found_and_repaired () {
  cp -r s.zarr o.zarr
  # Another program puts another volume there.
  rm -r o.zarr/T1w/sub-1
  runs phantom -s x.zarr T1w/sub-1 --size 16
  cp -r x.zarr/T1w/sub-1 o.zarr/T1w
  in_step o.zarr
  runs index -s o.zarr --check-values mask
  says '2 volumes, 0 without a row; 0 rows without a volume; 0 stale'
  status=0
  "$RADIO" index -s o.zarr --check-values >"$tmp/out" || status=$?
  [ $status -eq 1 ]
  says "stale row  T1w/sub-1: shape_x is '5' in its row, and '16' in the volume" \
    '4 volumes, 0 without a row; 0 rows without a volume; 1 stale'
  runs index -s o.zarr
  runs index -s o.zarr --check-values
  echo '{' >o.zarr/T1w/sub-2/zarr.json
  status=0
  "$RADIO" index -s o.zarr --check-values >"$tmp/out" 2>"$tmp/err" || status=$?
  [ $status -eq 1 ]
  grep -q '^radio: T1w/sub-2' "$tmp/err"
  says '0 stale; 1 damaged'
}

a_damaged_volume_keeps_its_row () {
  cp -r s.zarr d.zarr
  echo '{' >d.zarr/T1w/sub-2/zarr.json
  status=0
  "$RADIO" index -s d.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ $status -eq 1 ]
  grep -q '^radio: T1w/sub-2' "$tmp/err"
  says '0 rows added, 0 removed; 0 tables written; 1 damaged'
}

tables_are_no_volumes_to_work_on () {
  for command in 'mv tables x' 'info tables' 'rm tables --yes' 'ls tables' \
                 'export tables -o o/' 'validate tables'; do
    # shellcheck disable=SC2086
    fails 1 "tables: the store's tables, not a collection; see 'radio table'" \
      $command -s s.zarr
  done
  fails 1 "s.zarr/tables: the store's tables" cp s.zarr/tables copy.zarr
  [ ! -e copy.zarr ]
}

# Also by lines of *_scans.tsv, which came into the table of subjects.
a_collection_called_subjects_has_a_table_of_its_own () {
  mkdir named
  cp -r bids named/in
  rm named/in/*/*_mask.nii
  printf 'filename\tquality\nsub-1/sub-1_T1w.nii\tgood\n' \
    >named/in/sub-1/sub-1_scans.tsv
  runs ingest -q -s n.zarr --layout bids named/in
  runs mv -q -s n.zarr T1w subjects
  runs ingest -q -s n.zarr -c subjects \
    --pattern '{subject}/{subject}_T1w.nii' \
    --table named/in/sub-1/sub-1_scans.tsv --overwrite named/in
  runs table -s n.zarr --json subjects
  json '[list(r) for r in j] == [["subject"]] * 2'
  table=tables/volumes/subjects
  runs table -s n.zarr --json $table --where 'quality == "good"'
  json '[r["volume"] for r in j] == ["subjects/sub-1"]'
  runs table -s n.zarr --set note $table subjects/sub-2=x
  says 'subjects: 1 column of 1 row'
  runs table -s n.zarr --rename note=remark $table
  runs table -s n.zarr --json $table
  json 'sorted(r["remark"] or "" for r in j) == ["", "x"]'
  fails 2 "rows of volumes go with the volumes" \
    table -s n.zarr --remove $table subjects/sub-2
  runs table -s n.zarr --remove tables/subjects sub-2
}

a_collection_that_is_not_there_is_an_error () {
  fails 1 "none: no such collection" index -s s.zarr none
  fails 1 "no store at 'no.zarr'" index -s no.zarr
}

printf 'participant_id\tage\tsex\tzip\nsub-1\t31\tM\t07743\n2\tn/a\tF\t0\n' \
  >participants.tsv
printf '{"sex": {"Levels": {"M": "male", "F": "female"}}}' >participants.json

a_table_is_joined_by_an_ingest () {
  runs ingest -q -s j.zarr --layout bids --table participants.tsv bids
  runs table -s j.zarr --tsv
  printf 'subject\tage\tsex\tzip\nsub-1\t31\tM\t07743\nsub-2\tn/a\tF\t0\n' |
    cmp - "$tmp/out"
  grep -rq '"M": *"male"' j.zarr/tables/subjects
  in_step j.zarr
  # A file that cannot be read stops it before anything is written.
  fails 1 "no column participant_id or subject; name one by --key" \
    ingest -s no.zarr --layout bids --table wrong.tsv bids
  fails 1 "none.tsv" ingest -s no.zarr --layout bids --table none.tsv bids
  printf 'participant_id\ta/b\nsub-1\t31\n' >slash.tsv
  fails 1 "slash.tsv: " ingest -s no.zarr --layout bids --table slash.tsv bids
  [ ! -e no.zarr ]
}

a_faulty_table_of_sessions_or_scans_is_an_error () {
  printf 'session_id\tw\nses-1\t2\n1\t3\n' >sub-1_sessions.tsv
  fails 1 "'sub-1 ses-1' is there twice, and in sub-1_sessions.tsv" \
    ingest -s no.zarr --table sub-1_sessions.tsv bids
  printf 'file\tw\nx\t2\n' >sub-1_scans.tsv
  fails 1 "sub-1_scans.tsv: no column 'filename'" \
    ingest -s no.zarr --table sub-1_scans.tsv bids
  [ ! -e no.zarr ]
  # One that was found keeps no volume out.
  cp -r bids found
  cp sub-1_scans.tsv found/sub-1
  status=0
  "$RADIO" ingest -q -s found.zarr --layout bids found 2>"$tmp/err" ||
    status=$?
  [ $status -eq 1 ]
  grep -q "^radio: found/sub-1/sub-1_scans.tsv: no column 'filename'" \
    "$tmp/err"
  in_step found.zarr
}

types_and_derived_columns_of_several_tables () {
  cp -r bids typed
  printf 'filename\tdose\ttype\nsub-1_T1w.nii\t007\tx\n' \
    >typed/sub-1/sub-1_scans.tsv
  printf 'participant_id\tzip\nsub-1\t12\n' >typed/participants.tsv
  "$RADIO" ingest -q -s typed.zarr --layout bids --type dose=integer \
    --type zip=text typed 2>"$tmp/err"
  grep -q "column 'type' is derived from volumes, and left out" "$tmp/err"
  runs table -s typed.zarr --json T1w
  json '[(r["dose"], r["type"]) for r in j] == [(7, "int16"), (None, "int16")]'
  runs table -s typed.zarr --json
  json '[r["zip"] for r in j] == ["12", None]'
}

sessions_join_subjects_that_are_not_of_bids () {
  mkdir plain
  cp bids/sub-1/sub-1_T1w.nii plain/P1_a.nii
  printf 'participant_id\tsession_id\tw\nP1\ta\t5\nP1\tb\t6\nP9\ta\t7\n' \
    >all_sessions.tsv
  printf 'filename\tqc\nplain/P1_a.nii\tgood\nplain/P1-a.nii\tbad\n' \
    >all_scans.tsv
  runs ingest -s plain.zarr --pattern '{subject}_{session}.nii' plain \
    --table all_sessions.tsv --table all_scans.tsv
  says 'sessions: 2 of 3 lines without a volume: sub-P1 ses-b, ...' \
    'scans: 1 of 2 lines without a volume: P1-a.nii'
  runs table -s plain.zarr --json images
  json '[(r["w"], r["qc"]) for r in j] == [(5, "good")]'
}

subjects_that_were_imported_before_volumes_are_found () {
  printf 'subject\tage\n1\t31\n3\t33\n' >bare.tsv
  runs ingest -q -s before.zarr bids/sub-1/sub-1_T1w.nii
  runs rm -s before.zarr --yes T1w
  runs table -s before.zarr --import bare.tsv
  runs ingest -q -s before.zarr --layout bids bids
  runs table -s before.zarr --import bare.tsv
  runs table -s before.zarr --json
  json '[(r["subject"], r["age"]) for r in j]
    == [("1", 31), ("3", 33), ("sub-1", 31), ("sub-2", None)]'
  # What was typed is meant.
  runs table -s before.zarr --remove subjects 1
  runs table -s before.zarr --json
  json '[r["subject"] for r in j] == ["3", "sub-1", "sub-2"]'
}

names_of_derived_columns_get_a_warning () {
  printf 'subject\ttype\nsub-1\tx\n' >derived.tsv
  cp -r s.zarr derived.zarr
  "$RADIO" table -q -s derived.zarr --import derived.tsv 2>"$tmp/err"
  grep -q "'type' has the name of .* a query says subject.type or volume.type" \
    "$tmp/err"
  runs ls -s derived.zarr --where 'subject.type == "x"'
}

# They are found again by every ingest.
tables_that_are_found_undo_no_edits () {
  cp -r bids again
  printf 'participant_id\tage\tw\nsub-1\t21\t1.5\nsub-2\t22\tn/a\n' \
    >again/participants.tsv
  printf 'filename\tqc\nsub-1_T1w.nii\tgood\n' >again/sub-1/sub-1_scans.tsv
  runs ingest -q -s again.zarr --layout bids again
  runs table -q -s again.zarr --set age --force --type age=float \
    subjects sub-1=99.5
  runs table -q -s again.zarr --set w subjects sub-2=0.5
  runs table -q -s again.zarr --set qc T1w T1w/sub-1=bad
  printf 'participant_id\tage\tw\tsex\nsub-1\t21\t1.5\tF\nsub-2\t22\tn/a\tM\n' \
    >again/participants.tsv
  for force in '' --force; do
    runs ingest -q -s again.zarr --layout bids --skip-existing $force again
    runs table -s again.zarr --json
    json '[(r["age"], r["w"], r["sex"]) for r in j]
      == [(99.5, 1.5, "F"), (22, 0.5, "M")]'
    runs table -s again.zarr --json T1w
    json '[r["qc"] for r in j] == ["bad", None]'
  done
  runs ingest -q -s again.zarr --layout bids --skip-existing again \
    --table again/participants.tsv --table again/sub-1/sub-1_scans.tsv --force
  runs table -s again.zarr --json
  json '[(r["age"], r["w"]) for r in j] == [(21, 1.5), (22, None)]'
  runs table -s again.zarr --json T1w
  json '[r["qc"] for r in j] == ["good", None]'
}

scans_of_another_data_set_are_not_joined () {
  for site in A B; do
    cp -r bids $site
    printf 'filename\tqc\nsub-1_T1w.nii\tof %s\n' $site \
      >$site/sub-1/sub-1_scans.tsv
  done
  runs ingest -q -s sites.zarr --layout bids A
  runs ingest -q -s sites.zarr -c siteB B/sub-1/sub-1_T1w.nii \
    --table B/sub-1/sub-1_scans.tsv
  runs ingest -q -s sites.zarr --layout bids --skip-existing A
  runs table -s sites.zarr --json T1w
  json '[r["qc"] for r in j] == ["of A", None]'
  runs table -s sites.zarr --json siteB
  json '[r["qc"] for r in j] == ["of B"]'
  # Both at once, and a table that lies elsewhere.
  cp B/sub-1/sub-1_scans.tsv elsewhere_scans.tsv
  pattern='{collection}/{subject}/{subject}_{channel}.nii'
  runs ingest -q -s both.zarr --pattern "$pattern" A B \
    --table A/sub-1/sub-1_scans.tsv --table B/sub-1/sub-1_scans.tsv
  runs table -s both.zarr --json A_T1w
  json '[r["qc"] for r in j if r["qc"]] == ["of A"]'
  runs table -s both.zarr --json B_T1w
  json '[r["qc"] for r in j if r["qc"]] == ["of B"]'
  runs ingest -q -s both.zarr --pattern "$pattern" A \
    --skip-existing --force --table elsewhere_scans.tsv
  runs table -s both.zarr --json A_T1w
  json '[r["qc"] for r in j if r["qc"]] == ["of B"]'
}

an_import_keeps_types_and_values () {
  cp -r j.zarr keeps.zarr
  RADIO_STORE=keeps.zarr
  export RADIO_STORE
  printf 'participant_id\theight\tcode\nsub-1\t34.5\t007\n2\t40.25\tb\n' >1.tsv
  runs table --import 1.tsv
  # Of these rows alone the types would be others.
  printf 'participant_id\theight\tcode\nsub-2\t51\t12\n' >2.tsv
  runs table --import 2.tsv
  printf 'participant_id\theight\nsub-3\tn/a\n' >3.tsv
  runs table --import 3.tsv
  runs table --json
  json '[(r["height"], r["code"]) for r in j] == [
    (34.5, "007"), (51.0, "12"), (None, None)]'
  printf 'participant_id\tcode\nsub-1\tn/a\n' >4.tsv
  fails 1 "4.tsv: tables/subjects: 1 value of the column 'code' would be lost; \
--force accepts that" table --import 4.tsv
  runs table --import 4.tsv --force
  says '1 column of 1 row; 1 value lost'
  fails 1 "the column 'height' is of type float, not integer; --force \
accepts that" table --import 2.tsv --type height=integer
  runs table --import 2.tsv --type height=integer --force
  says '2 columns of 1 row; 1 value lost'
  runs table --json
  json '[(r["height"], r["code"]) for r in j] == [
    (None, None), (51, 12), (None, None)]'
}

cells_are_set_and_columns_dropped_and_renamed () {
  cp -r j.zarr e.zarr
  RADIO_STORE=e.zarr
  export RADIO_STORE
  runs table --set age subjects sub-2=44 sub-1=n/a
  runs table --set 'a note' subjects sub-1='x "y"	=1'
  runs table --rename 'a note=note'
  runs table --drop sex
  runs table --json
  json 'j == [
    {"subject": "sub-1", "age": None, "zip": "07743", "note": "x \"y\"\t=1"},
    {"subject": "sub-2", "age": 44, "zip": "0", "note": None}]'
  fails 1 "no column 'sex'" table --drop sex
  # All of them, or none.
  cp -r e.zarr e2.zarr
  fails 1 "no column 'sex'" table -s e2.zarr --drop zip --drop sex
  runs table -s e2.zarr --rename zip=code --rename note=remark
  runs table -s e2.zarr --json
  json 'list(j[0]) == ["subject", "age", "code", "remark"]'
  runs table -s e2.zarr --drop code --drop remark
  runs table -s e2.zarr --json
  json 'list(j[0]) == ["subject", "age"]'
  fails 1 "no value of 'age' is a part of this split; choose another column" \
    split -s e2.zarr --folds 2 --column age
  fails 1 "--set: column 'age': 'old' is not an integer, the type of the \
column; --force" table --set age subjects sub-1=old
  fails 1 "no row 'sub-7' in the table of subjects" \
    table --set age subjects sub-7=1
  printf 'subject,age\nsub-1,old\n' >old.csv
  fails 1 "old.csv: line 2, column 'age': 'old' is not an integer, the type of \
the column; --force gives it another one" table --import old.csv
  runs table --import old.csv --force
  runs table
  says 'sub-1    old  07743' 'sub-2    44   0'
}

volumes_have_columns_of_the_users () {
  RADIO_STORE=j.zarr
  export RADIO_STORE
  printf 'id,qc\nsub-1,good\nmask/sub-9,bad\n' >qc.csv
  runs table mask --import qc.csv
  says 'mask: 1 column of 2 rows; 1 without a volume ignored'
  runs index
  runs table mask --tsv
  [ "$(cut -f 1,18 "$tmp/out" | tr '\t\n' '=;')" = \
    'volume=qc;mask/sub-1=good;mask/sub-2=n/a;' ]
  printf 'id,type\nsub-1,x\n' >derived.csv
  fails 1 "column 'type' is derived from volumes" \
    table mask --import derived.csv
  fails 1 "type: derived from volumes; it stays" table mask --drop type
}

columns_of_the_users_are_copied () {
  printf 'id,qc\nsub-1,good\n' >qc2.csv
  cp -r j.zarr c.zarr
  runs table -s c.zarr T1w --import qc2.csv
  # Also into a store that has no tables.
  runs cp -q c.zarr new.zarr
  in_step new.zarr
  for table in subjects T1w mask; do
    runs table -s c.zarr --tsv $table
    cp "$tmp/out" want
    runs table -s new.zarr --tsv $table
    cmp want "$tmp/out"
  done
  runs cp -q c.zarr/T1w/sub-1 new.zarr --name copies/sub-9
  runs table -s new.zarr --json copies
  json '[r["qc"] for r in j] == ["good"]'
  runs table -s new.zarr --json
  json '[r["sex"] for r in j] == ["M", "F", "M"]'
}

volumes_are_renamed_with_their_rows () {
  cp -r c.zarr m.zarr
  RADIO_STORE=m.zarr
  export RADIO_STORE
  runs info T1w/sub-1 --json
  cp "$tmp/out" before
  shard=$(find m.zarr/T1w/sub-1/0-*/c -type f | head -n 1)
  inode=$(stat -c %i "$shard")
  runs mv T1w/sub-1 head/sub-7
  says 'T1w/sub-1 -> head/sub-7'
  [ ! -e m.zarr/T1w/sub-1 ]
  [ "$(stat -c %i "$(find m.zarr/head/sub-7/0-*/c -type f | head -n 1)")" \
    -eq "$inode" ]
  runs validate head/sub-7
  runs info head/sub-7 --json
  sed 's,head/sub-7,T1w/sub-1,' "$tmp/out" | cmp - before
  in_step m.zarr
  runs table --json head
  json '[(r["volume"], r["subject"], r["qc"]) for r in j]
        == [("head/sub-7", "sub-7", "good")]'
  runs table --json subjects
  json '[r["sex"] for r in j if r["subject"] == "sub-7"] == ["M"]'
  runs mv mask seg
  says 'mask/sub-1 -> seg/sub-1' 'mask/sub-2 -> seg/sub-2'
  in_step m.zarr
  runs ls
  printf '%s\n' T1w/sub-2 head/sub-7 seg/sub-1 seg/sub-2 | cmp - "$tmp/out"
  runs gc
  runs validate
  fails 1 "seg/sub-1: exists already; see --overwrite" \
    mv head/sub-7 seg/sub-1
  fails 1 "has that name already" mv seg seg
  fails 1 "a collection, which gets the name of a collection" mv seg a/b
  fails 1 "a volume, whose new name is COLLECTION/NAME" mv head/sub-7 neck
  fails 1 "not a legal" mv head/sub-7 neck/__x
  fails 2 "NEW is missing" mv seg
  fails 1 "T1w/sub-2 and seg/sub-2 would both be all/sub-2" mv '*/sub-2' all
  mkdir -p m.zarr/seg/sub-2/labels
  echo '{}' >m.zarr/seg/sub-2/labels/zarr.json
  fails 1 "seg/sub-2: has 'labels', which radio did not write" \
    mv seg/sub-2 seg/sub-9
  rm -r m.zarr/seg/sub-2/labels
  # The row of a subject that is there is not that of another one.
  runs table --set sex subjects sub-7=F
  runs table --set note seg seg/sub-1=bad seg/sub-2=fine
  runs mv -q --overwrite head/sub-7 seg/sub-1
  runs table --json subjects
  json '[r["sex"] for r in j] == ["M", "F", "F"]'
  runs table --json seg
  json '[(r["volume"], r["note"], r["qc"]) for r in j]
        == [("seg/sub-1", None, "good"), ("seg/sub-2", "fine", None)]'
  runs info seg/sub-1 --json
  sed 's,seg/sub-1,T1w/sub-1,' "$tmp/out" | cmp - before
  in_step m.zarr
}

a_column_of_another_type_is_not_copied () {
  cp -r c.zarr types.zarr
  RADIO_STORE=types.zarr
  export RADIO_STORE
  runs table --set score T1w T1w/sub-1=7
  runs table --set note T1w T1w/sub-1=x
  runs table --set score mask mask/sub-1=bad
  not "$RADIO" mv -q --overwrite T1w/sub-1 mask/sub-1 2>"$tmp/err"
  grep -q "'score', of another type there, was not copied; rename" "$tmp/err"
  grep -q "'radio table --rename' or '--drop'" "$tmp/err"
  not grep -q "radio index" "$tmp/err"
  runs table --json mask
  json '[(r["note"], r["score"]) for r in j] == [("x", None), (None, None)]'
  runs table mask --drop score
  runs mv -q --overwrite T1w/sub-1 mask/sub-1
  runs table --json mask
  json '[(r["note"], r["score"]) for r in j] == [("x", 7), (None, None)]'
  in_step types.zarr
}

# faulty STORE TEXT...: validate fails, and says each in a line of its own.
faulty () {
  store=$1
  shift
  not "$RADIO" validate -q -s "$store" >"$tmp/out" 2>"$tmp/err"
  [ "$(wc -l <"$tmp/err")" -eq $# ]
  for text; do
    grep -qF -e "$text" "$tmp/err"
  done
}

faults_of_tables_are_found_by_validate () {
  runs validate -q -s c.zarr
  cp -r c.zarr f.zarr
  rm -r f.zarr/T1w/sub-2
  faulty f.zarr 'T1w/sub-2: a row of tables/volumes without a volume'
  cp -r c.zarr f2.zarr
  # A chunk that is lost, one whose checksum is wrong, and a mask.
  newest=f2.zarr/tables/subjects/$(sed -n \
    's/.*"table": *"\(t-[0-9a-f]*\)".*/\1/p' \
    "$(ls -d f2.zarr/tables/subjects/heads/0* | tail -n 1)/zarr.json")
  rm "$newest/zip/codes/c/0"
  printf x | dd of="$newest/sex/codes/c/0" bs=1 seek=2 conv=notrunc 2>/dev/null
  rm "$newest/age/mask/c/0"
  faulty f2.zarr zip/codes sex/codes age/mask
  fails 1 'T1w: nothing was moved: ' mv -s f2.zarr T1w new
  [ ! -e f2.zarr/new ]
  cp -r c.zarr f3.zarr
  newest=$(sed -n 's/.*"table": *"\(t-[0-9a-f]*\)".*/\1/p' \
    "$(ls -d f3.zarr/tables/volumes/T1w/heads/0* | tail -n 1)/zarr.json")
  rm -r "f3.zarr/tables/volumes/T1w/$newest"
  faulty f3.zarr ' which is missing'
  # Of an older one, unless all below it were collected.
  cp -r c.zarr f5.zarr
  table=f5.zarr/tables/volumes/T1w
  for value in 1 2; do
    runs table -q -s f5.zarr --set w T1w T1w/sub-1=$value
  done
  for head in 3 2; do
    rm -r "$table/$(sed -n 's/.*"table": *"\(t-[0-9a-f]*\)".*/\1/p' \
      $table/heads/000000000$head/zarr.json)"
    [ $head -eq 2 ] || faulty f5.zarr 'head 3 names the generation'
  done
  runs validate -q -s f5.zarr
  # The last one, to which the table's document leads: it is passed over.
  cp -r c.zarr f6.zarr
  runs table -q -s f6.zarr --set w subjects sub-1=1
  newest=$(sed -n 's/.*"table": *"\(t-[0-9a-f]*\)".*/\1/p' \
    "$(ls -d f6.zarr/tables/subjects/heads/0* | tail -n 1)/zarr.json")
  rm -r "f6.zarr/tables/subjects/$newest"
  faulty f6.zarr "names the generation $newest, which is missing"
  for command in table 'ls --where age>0'; do
    # shellcheck disable=SC2086
    "$RADIO" $command -s f6.zarr 2>"$tmp/err" >"$tmp/out"
    [ "$(wc -l <"$tmp/err")" -eq 1 ]
    grep -q "warning: tables/subjects: .* an older one is read; .* by 'radio \
index --recover'" "$tmp/err"
    says sub-1
  done
  for command in index 'index --check' 'table --set w subjects sub-1=2' \
    'split --folds 2' 'stats --by sex T1w' 'rm --where age>0 --yes' \
    'cp --where age>0 --to f7.zarr'; do
    # shellcheck disable=SC2086
    fails 1 "finish copying the store, or recover what remains by 'radio \
index --recover'" $command -s f6.zarr
  done
  [ ! -e f7.zarr ]
  [ -e f6.zarr/T1w/sub-1/zarr.json ]
  fails 1 'T1w: nothing was moved: tables/subjects: its last heads, or' \
    mv -s f6.zarr T1w new
  [ ! -e f6.zarr/new ]
  runs index --recover -s f6.zarr
  says '; 1 table written'
  runs validate -q -s f6.zarr
  cp -r c.zarr f4.zarr
  rm -r f4.zarr/mask
  faulty f4.zarr 'the table of a collection that is not there'
}

# damaged STORE: it is known, and --recover goes on with an older generation.
damaged () {
  fails 1 "go on with an older generation, if there is one, by 'radio index \
--recover'" table -s "$1" --set w subjects sub-1=3
  runs index --recover -s "$1"
  says '; 1 table written'
  runs validate -q -s "$1"
  runs table -s "$1" --set w subjects sub-1=4
}

generations_without_ids_are_recovered () {
  cp -r c.zarr i.zarr
  runs table -q -s i.zarr --set w subjects sub-1=1
  newest=i.zarr/tables/subjects/$(sed -n \
    's/.*"table": *"\(t-[0-9a-f]*\)".*/\1/p' \
    "$(ls -d i.zarr/tables/subjects/heads/0* | tail -n 1)/zarr.json")
  cp -r i.zarr i2.zarr
  rm "$newest/subject/c/0"
  damaged i.zarr
  : >"i2${newest#i}/zarr.json"
  damaged i2.zarr
}

# As by a program that copies heads/ before t-*, and is interrupted.
copies_without_their_generations_are_no_empty_tables () {
  cp -r c.zarr g.zarr
  runs table -q -s g.zarr --set w subjects sub-1=1
  cp -r g.zarr g2.zarr
  rm -r g2.zarr/tables/subjects/t-*
  for command in table index 'ls --where w>0' 'table --set w subjects sub-1=2'
  do
    # shellcheck disable=SC2086
    fails 1 "finish copying the store, or recover what remains by 'radio" \
      $command -s g2.zarr
  done
  runs gc -s g2.zarr
  cp -r g.zarr/tables/subjects/t-* g2.zarr/tables/subjects
  runs table -s g2.zarr --tsv
  cp "$tmp/out" before
  runs table -s g.zarr --tsv
  cmp before "$tmp/out"
  rm -r g2.zarr/tables/subjects/t-*
  fails 2 "--recover writes" index -s g2.zarr --recover --check
  runs index -s g2.zarr --recover
  runs table -s g2.zarr
}

# What nothing else shows, as compressed text, is in interop/test_tables.py.
a_subject_who_withdraws_leaves_nothing () {
  cp -r s.zarr w.zarr
  runs table -s w.zarr --set name subjects sub-1=Someone sub-2=Other
  runs rm -s w.zarr --subject sub-1 --yes
  fails 1 "no row 'sub-9' in the table of subjects" \
    table -s w.zarr --remove subjects sub-2 sub-9
  runs table -s w.zarr --remove subjects sub-1
  says 'subjects: 1 row removed'
  fails 2 "rows of volumes go with the volumes; use 'radio rm'" \
    table -s w.zarr --remove T1w T1w/sub-2
  fails 2 "ID is missing; the order is TABLE ID..., as subjects sub-01" \
    table -s w.zarr --remove sub-1
  fails 2 "not a number from 1 to 3" gc -s w.zarr --generations 0
  runs gc -s w.zarr --generations 2
  [ "$(find w.zarr/tables/subjects -name 't-*' | wc -l)" -eq 2 ]
  runs gc -s w.zarr --generations 1
  [ "$(find w.zarr/tables -name 't-*' | wc -l)" -eq 3 ]
  [ -z "$(find w.zarr -name '*sub-1*')" ]
  not grep -rq -e sub-1 -e Someone w.zarr
  runs table -s w.zarr --tsv
  printf 'subject\tname\nsub-2\tOther\n' | cmp - "$tmp/out"
  in_step w.zarr
  runs validate -q -s w.zarr
}

infinities_are_written_as_elsewhere () {
  cp -r s.zarr infinite.zarr
  runs table -s infinite.zarr --set dose --type dose=float \
    subjects sub-1=inf sub-2=-inf
  runs table -s infinite.zarr --json --head 2
  json '[r["dose"] for r in j] == ["Infinity", "-Infinity"]'
}

wrong_options_of_table_are_errors () {
  fails 2 "exclude each other" table -s s.zarr --tsv --json
  fails 2 "'x' is not OLD=NEW" table -s s.zarr --rename x
  fails 2 "'x' is not ID=VALUE" table -s s.zarr --set a subjects x
  for operand in subjects sub-1=33; do
    fails 2 "ID=VALUE is missing; the order is TABLE ID=VALUE..., as" \
      table -s s.zarr --set a $operand
  done
  fails 2 "is not COLUMN=TYPE" table -s s.zarr --type a=b --import p.tsv
  fails 1 "none: no such table in " table -s s.zarr none
  printf 'volume\tq\nsub-1\t7\n' >typo.tsv
  for option in --import=typo.tsv --tsv; do
    fails 1 "Tw1: no such table in " table -s s.zarr $option Tw1
    grep -q "; did you mean T1w?" "$tmp/err"
  done
  [ ! -e s.zarr/tables/volumes/Tw1 ]
  status=0
  "$RADIO" ls -s s.zarr --where 'has(Tw1)' 2>"$tmp/err" || status=$?
  [ $status -eq 2 ]
  grep -q "no collection with a table 'Tw1'; did you mean T1w?" "$tmp/err"
  printf 'subject,a/b\nsub-1,x\n' >slash.csv
  fails 1 "use 'a_b'" table -s s.zarr --import slash.csv
  printf 'subject,a\\b\nsub-1,x\n' >backslash.csv
  fails 1 "use 'a_b'" table -s s.zarr --import backslash.csv
  printf 'subject,a\nsub-1,x\nsub-2,y\n1,z\n' >twice.csv
  fails 1 "twice.csv: rows 1 and 3 have the same id, 'sub-1'; keep one" \
    table -s s.zarr --import twice.csv
  fails 1 "--set: rows 1 and 2 have the same id, 'sub-1'" \
    table -s s.zarr --set a subjects sub-1=2 sub-1=3
}

printf 'name\tage\nsub-1\t3\n' >wrong.tsv
check an_ingest_by_a_layout_makes_tables
check a_store_without_tables_gets_none
check rows_follow_every_command_that_writes_volumes
check rows_that_cannot_be_written_are_an_error_of_their_store
check what_a_kill_left_is_found_and_repaired
check a_collection_called_tables_gives_way
check a_row_of_another_volume_is_found_and_repaired
check a_damaged_volume_keeps_its_row
check tables_are_no_volumes_to_work_on
check a_collection_called_subjects_has_a_table_of_its_own
check a_collection_that_is_not_there_is_an_error
check a_table_is_joined_by_an_ingest
check a_faulty_table_of_sessions_or_scans_is_an_error
check_json types_and_derived_columns_of_several_tables
check_json sessions_join_subjects_that_are_not_of_bids
check_json subjects_that_were_imported_before_volumes_are_found
check names_of_derived_columns_get_a_warning
check_json tables_that_are_found_undo_no_edits
check_json scans_of_another_data_set_are_not_joined
check_json an_import_keeps_types_and_values
check_json cells_are_set_and_columns_dropped_and_renamed
check volumes_have_columns_of_the_users
check_json columns_of_the_users_are_copied
check_json volumes_are_renamed_with_their_rows
check_json a_column_of_another_type_is_not_copied
check faults_of_tables_are_found_by_validate
check generations_without_ids_are_recovered
check copies_without_their_generations_are_no_empty_tables
check a_subject_who_withdraws_leaves_nothing
check infinities_are_written_as_elsewhere
check wrong_options_of_table_are_errors
plan
