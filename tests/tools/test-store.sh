#!/bin/sh
# SPDX-License-Identifier: MIT
# A store from outside: made, listed, read, checked, emptied.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

fixtures=$tmp/fixtures
mkdir "$fixtures" scans
"$builddir/tests/fixtures/make-fixtures" "$fixtures" >/dev/null || exit 99
cp "$fixtures/good-scaled.nii" scans/scaled.nii
cp "$fixtures/good-nifti1-le-int16-3d.nii" scans/a.nii
cp "$fixtures/good-nifti2-be-float32-4d.nii" scans/four.nii
cp "$fixtures/good-nifti1-le-rgb24-3d.nii" scans/colour.nii
mkdir scans/deep
cp "$fixtures/good-gzip.nii.gz" scans/deep/sub-01_ses-2_T1w.nii.gz
"$RADIO" phantom -s p.zarr ct/head --size 48,40,32 >/dev/null || exit 99

the_store_is_named_by_option_else_environment_else_default () {
  mkdir -p names
  cd names
  runs ingest ../scans/a.nii
  [ -f radio.zarr/zarr.json ]
  RADIO_STORE=env.zarr runs ingest ../scans/a.nii
  RADIO_STORE=env.zarr runs ingest -s opt.zarr ../scans/a.nii
  [ -f env.zarr/zarr.json ]
  [ -f opt.zarr/zarr.json ]
  RADIO_STORE=env.zarr runs ls
  says images/a
  RADIO_STORE='' runs ls
  says images/a
}

a_missing_store_is_explained () {
  fails 1 "no store at 'none.zarr'" ls -s none.zarr
  fails 1 "no store at 'none.zarr'" info -s none.zarr a
  fails 1 "no store at 'none.zarr'" validate -s none.zarr
  fails 1 "no store at 'none.zarr'" gc -s none.zarr
  fails 1 "no store at 'none.zarr'" rm -s none.zarr a
  [ ! -e none.zarr ]
  fails 2 "--store: the name is empty" ls -s ''
}

a_folder_is_searched_and_named_by_its_files () {
  runs ingest -s f.zarr scans
  says '5 volumes' images/a T1w/sub-01_ses-2 ' -> '
  runs ls -s f.zarr
  printf '%s\n' T1w/sub-01_ses-2 images/a images/colour images/four \
    images/scaled | cmp - "$tmp/out"
}

many_files_are_ingested_with_few_descriptors () {
  mkdir copies
  for i in 0 1 2 3 4 5 6 7 8 9; do
    for k in 0 1 2 3 4 5 6 7 8 9; do
      cp scans/a.nii "copies/$i$k.nii"
    done
  done
  (ulimit -n 100; runs ingest -q -s few.zarr copies)
  says '100 volumes'
  runs validate -q -s few.zarr
  says '100 checked, 0 bad'
}

many_arrays_are_ingested_with_few_descriptors () {
  mkdir arrays
  runs export -s p.zarr ct/head -o arrays/00.npy
  for i in 0 1 2 3 4 5 6 7 8 9; do
    for k in 0 1 2 3 4 5 6 7 8 9; do
      [ -f "arrays/$i$k.npy" ] || cp arrays/00.npy "arrays/$i$k.npy"
    done
  done
  (ulimit -n 64
   runs ingest -q -s arrays.zarr --spacing 1,1,1 arrays/*.npy scans/a.nii)
  says '101 volumes'
  runs validate -q -s arrays.zarr
  says '101 checked, 0 bad'
  # With none there is nothing to begin again with.
  status=0
  (ulimit -n 9
   exec "$RADIO" ingest -q -s arrays.zarr --threads 1 --spacing 1,1,1 \
     --overwrite arrays/00.npy) >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q "pen files; raise the process's limit (ulimit -n)" "$tmp/err"
}

a_pattern_that_no_shell_expanded_is_expanded () {
  runs ingest -s glob.zarr 'scans/[as]*.nii'
  says images/a images/scaled
  status=0
  "$RADIO" ingest -q -s glob.zarr 'scans/nope*.nii' 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q '^radio: scans/nope[*].nii: No such file' "$tmp/err"
}

a_collection_can_be_given_and_listed_alone () {
  runs ingest -q -s c.zarr -c ct scans/a.nii
  [ "$(wc -l <"$tmp/out")" -eq 1 ]
  runs ingest -q -s c.zarr -c mr scans/a.nii scans/scaled.nii
  runs ls -s c.zarr ct
  [ "$(cat "$tmp/out")" = ct/a ]
  fails 1 none ls -s c.zarr none
}

a_bad_file_costs_only_itself () {
  mkdir -p mixed
  cp scans/a.nii mixed/1.nii
  cp "$fixtures/bad-bitpix.nii" mixed/2.nii
  cp "$fixtures/bad-gzip-crc.nii.gz" mixed/3.nii.gz
  cp scans/scaled.nii mixed/4.nii
  status=0
  "$RADIO" ingest -s m.zarr mixed >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  says '2 volumes' '2 failed'
  cat "$tmp/err"
  [ "$(wc -l <"$tmp/err")" -eq 2 ]
  grep -q '^radio: .*mixed/2.nii' "$tmp/err"
  grep -q '^radio: .*mixed/3.nii.gz' "$tmp/err"
  runs ls -s m.zarr
  [ "$(wc -l <"$tmp/out")" -eq 2 ]
  runs validate -s m.zarr
}

concurrent_files_are_reported_in_their_order () {
  mkdir -p many
  for i in 01 02 03 04 06 07 08 09 10 11 12; do
    cp scans/four.nii "many/$i.nii"
  done
  cp "$fixtures/bad-bitpix.nii" many/05.nii
  for threads in 1 2 5; do
    status=0
    "$RADIO" ingest --threads $threads -s "many-$threads.zarr" -c c many \
      >"$tmp/out" 2>"$tmp/err" || status=$?
    [ "$status" -eq 1 ]
    cat "$tmp/out" "$tmp/err"
    [ "$(wc -l <"$tmp/err")" -eq 1 ]
    grep -q '^radio: .*many/05.nii' "$tmp/err"
    says '11 volumes' '1 failed'
    [ "$(sed -n 's,^c/\([0-9]*\) .*->.*,\1,p' "$tmp/out" | tr '\n' ' ')" = \
      '01 02 03 04 06 07 08 09 10 11 12 ' ]
    runs validate -s "many-$threads.zarr"
  done
}

# Whenever the signal comes, exactly the volumes reported as done exist.
an_interrupt_finishes_or_drops_each_file () {
  mkdir -p stop
  for i in 0 1 2 3 4 5 6 7 8 9; do
    cp scans/four.nii "stop/a$i.nii"
    cp scans/four.nii "stop/b$i.nii"
  done
  for delay in 0 0.02 0.05; do
    rm -rf stop.zarr
    : >"$tmp/done"              # it may be interrupted before it begins
    "$RADIO" ingest --threads 3 -s stop.zarr -c c stop \
      >"$tmp/done" 2>"$tmp/err" &
    pid=$!
    sleep $delay
    kill -INT $pid 2>/dev/null || true
    status=0
    wait $pid || status=$?
    cat "$tmp/done" "$tmp/err"
    [ "$status" -eq 0 ] || [ "$status" -eq 130 ]
    [ -e stop.zarr/zarr.json ] || continue
    runs ls -s stop.zarr
    [ "$(wc -l <"$tmp/out")" -eq "$(grep -c -- '->.*x$' "$tmp/done")" ]
    [ ! -s "$tmp/out" ] || runs validate -s stop.zarr
  done
}

# signals_ingest RING SIGNAL: sends the signal once there is a collection, with
# more volumes as long as all are done before it comes, also if the profile is
# being written then.  Sets $status.
signals_ingest () {
  status=0
  until [ $status -ne 0 ] &&
        [ "$(find stopped.zarr/c -mindepth 2 -maxdepth 2 -name zarr.json |
             wc -l)" -lt "$(ls stopped | wc -l)" ]; do
    status=0
    for i in $(seq $nfiles); do
      [ -e "stopped/$i.nii" ] || cp scans/four.nii "stopped/$i.nii"
    done
    nfiles=$((2 * nfiles))
    rm -rf stopped.zarr stopped.json
    RADIO_PROFILE=stopped.json RADIO_PROFILE_RING=$1 \
      RADIO_PROFILE_SIGNAL=${1:+$2} "$RADIO" ingest --threads 1 \
      -s stopped.zarr -c c stopped >"$tmp/done" 2>"$tmp/err" &
    pid=$!
    while [ ! -e stopped.zarr/c ] && kill -0 $pid; do sleep 0.01; done
    kill -s "$2" $pid || :
    wait $pid || status=$?
  done
  cat "$tmp/err"
}

the_profile_of_an_interrupted_ingest_is_written () {
  nfiles=50
  mkdir stopped rings
  export XDG_RUNTIME_DIR="$PWD/rings"
  for ring in 1M ''; do
    for signal in TERM INT; do
      signals_ingest "$ring" $signal
      [ "$(kill -l $status)" = $signal ]
      [ -z "$(ls -A rings)" ]
      runs profile show stopped.json
      says 'ended by signal' 'radio ingest'
    done
  done
}

# Every invalid fixture gives one line that names it.
a_broken_file_gives_one_clear_line () {
  for file in "$fixtures"/bad-* "$fixtures"/unsupported-* \
    "$fixtures"/missing-*; do
    case $file in
      *.img | *bad-pair-short.img*) continue ;;
    esac
    status=0
    "$RADIO" ingest -q -s b.zarr "$file" >"$tmp/out" 2>"$tmp/err" ||
      status=$?
    if [ "$status" -ne 1 ] || [ "$(wc -l <"$tmp/err")" -ne 1 ] ||
       ! grep -qF "radio: $file" "$tmp/err"; then
      echo "$file: status $status"
      cat "$tmp/err"
      return 1
    fi
  done
  runs ls -s b.zarr
  [ ! -s "$tmp/out" ]
}

clashing_names_name_both_files_and_write_nothing () {
  mkdir -p x y
  cp scans/a.nii x
  cp scans/scaled.nii y/a.nii
  fails 1 "'x/a.nii' and 'y/a.nii' both map to images/a" \
    ingest -s clash.zarr --collection-from name x/a.nii y/a.nii
  mkdir -p x/x
  cp scans/scaled.nii x/x/a.nii
  fails 1 "'x/a.nii' and 'x/x/a.nii' both map to images/a" \
    ingest -s clash.zarr x
  # Nothing is said of folders where they do not help.
  not "$RADIO" ingest -s clash.zarr x y >"$tmp/out" 2>"$tmp/err"
  [ "$(cat "$tmp/err")" = "radio: 'x/a.nii' and 'x/x/a.nii' both map to x/a; \
use a separate -c for each" ]
  rm -r x/x
  fails 1 "'x/a.nii' and 'y/a.nii' both map to ct/a" \
    ingest -s clash.zarr -c ct x y
  [ ! -e clash.zarr ]
}

clashing_names_of_different_folders_are_named_after_these () {
  mkdir -p imagesTr labelsTr
  cp scans/a.nii imagesTr/x.nii
  cp scans/a.nii imagesTr/y.nii
  cp scans/scaled.nii labelsTr/x.nii
  "$RADIO" ingest -q -s tr.zarr imagesTr labelsTr 2>"$tmp/err"
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  grep -qF "radio: warning: 'imagesTr/x.nii' and 'labelsTr/x.nii' both map \
to images/x: collections are named after the folders \
(--collection-from=folder)" "$tmp/err"
  runs ls -s tr.zarr
  printf '%s\n' imagesTr/x imagesTr/y labelsTr/x | cmp - "$tmp/out"
  runs export -s tr.zarr labelsTr/x -o back.nii
  cmp back.nii labelsTr/x.nii
  ( cd imagesTr && runs ingest -q -s ../one.zarr --collection-from folder \
    x.nii ../labelsTr/./x.nii ../scans/deep )
  runs ls -s one.zarr
  printf '%s\n' deep/sub-01_ses-2_T1w imagesTr/x labelsTr/x |
    cmp - "$tmp/out"
  fails 2 "--collection and --collection-from exclude each other" \
    ingest -s no.zarr -c ct --collection-from folder imagesTr
}

the_same_file_twice_is_one_volume () {
  runs ingest -s twice.zarr scans/a.nii ./scans/a.nii scans/../scans/a.nii
  says '1 volume,'
}

both_halves_of_a_pair_are_one_volume () {
  mkdir -p pair
  cp "$fixtures/good-pair.hdr" "$fixtures/good-pair.img" pair
  runs ingest -s pair.zarr pair/good-pair.img pair/good-pair.hdr
  says '1 volume,'
  runs ingest -s pair.zarr --overwrite pair
  says '1 volume,'
}

a_missing_file_is_reported () {
  status=0
  "$RADIO" ingest -s g.zarr none.nii scans/a.nii >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 1 ]
  grep -q '^radio: .*none.nii' "$tmp/err"
  says '1 volume,' '1 failed'
  fails 1 "none.nii: No such file or directory" ingest -s g3.zarr none.nii
  fails 2 "an operand is empty" ingest -s g3.zarr ''
  fails 2 "an operand is empty" ingest -s g3.zarr scans/a.nii ''
  [ ! -e g3.zarr ]
  mkdir -p empty
  fails 1 "no NIfTI images in this folder" ingest -s g2.zarr empty
}

existing_volumes_are_kept_skipped_or_replaced () {
  runs ingest -s e.zarr scans/a.nii
  status=0
  "$RADIO" ingest -s e.zarr scans/a.nii >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 1 ]
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  runs ingest -s e.zarr --skip-existing scans/a.nii
  says 'skipped' '0 volumes; 1 skipped'
  cp scans/scaled.nii x/a.nii
  runs ingest -s e.zarr --overwrite x/a.nii
  runs export -s e.zarr a -o e.nii
  cmp e.nii x/a.nii
}

strip_reports_the_dropped_bytes () {
  cp "$fixtures/good-extensions.nii" person.nii
  "$RADIO" ingest -s s.zarr --strip person.nii >"$tmp/out" 2>"$tmp/err"
  grep -q '^radio: warning: person.nii' "$tmp/err"
  runs export -s s.zarr person -o stripped.nii
  not cmp -s person.nii stripped.nii
}

a_whole_export_is_the_source_byte_for_byte () {
  for name in a scaled four colour; do
    runs export -s f.zarr "$name" -o "$name.nii"
    says "wrote $name.nii: "
    cmp "$name.nii" "scans/$name.nii"
    runs export -s f.zarr "$name" -o "$name.nii.gz"
    gzip -dc "$name.nii.gz" | cmp - "scans/$name.nii"
  done
}

an_existing_output_stays_without_overwrite () {
  echo mine >keep.nii
  fails 1 "keep.nii: exists already; replace it by --overwrite" \
    export -s f.zarr a -o keep.nii
  [ "$(cat keep.nii)" = mine ]
  runs export -s f.zarr a -o keep.nii --overwrite
  cmp keep.nii scans/a.nii
}

a_volume_is_named_in_three_ways () {
  runs info -s p.zarr head
  says 'ct/head' '48 x 40 x 32 (x, y, z)' int16
  runs info -s p.zarr ct/head
  runs info p.zarr/ct/head
  says 'ct/head'
  runs info "$tmp/p.zarr/ct/head/"
  fails 1 head info -s p.zarr haed
  fails 1 a info -s c.zarr a
}

an_array_is_named_by_its_path () {
  level=$(cd p.zarr/ct/head && echo 0-*)
  runs info "p.zarr/ct/head/$level"
  says 'array' '32 x 40 x 48' 'z, y, x'
  runs info -s p.zarr "ct/head/$level"
  runs stats "p.zarr/ct/head/$level"
  runs validate "p.zarr/ct/head/$level"
  says ' ok ' '1 checked, 0 bad'
  runs export "p.zarr/ct/head/$level" --z 3 -o array.npy
  says 'wrote array.npy: 1 x 40 x 48 (z, y, x) int16'
  fails 1 "it goes into .npy" export "p.zarr/ct/head/$level" -o x.nii
}

boxes_outside_are_refused_with_a_message () {
  fails 1 "ct/head: --x: the end 49 is out of range (1-48)" \
    roi -s p.zarr head --x 40:49 -o r.nii
  fails 1 "ct/head: --x: the end 200 is out of range (1-48)" \
    roi -s p.zarr head --x 10:200 -o r.nii
  fails 1 "ct/head: --x: 48 is out of range (0-47)" \
    roi -s p.zarr head --x 48 -o r.nii
  fails 1 "ct/head: --size: 41 exceeds the length of axis y (40)" \
    roi -s p.zarr head --size 41 -o r.nii
  fails 1 "ct/head: --at: z = 30 is out of range (0-28) for a size of 4" \
    roi -s p.zarr head --at 0,0,30 --size 4 -o r.nii
  fails 1 "ct/head: --t: no axis t; the axes are x, y, z" \
    roi -s p.zarr head --t 0 -o r.nii
  [ ! -e r.nii ]
}

boxes_by_range_and_by_corner_are_the_same () {
  runs roi -s p.zarr head --x 10:18 --y 4:12 --z 20:28 -o r1.nii
  says 'wrote r1.nii: 8 x 8 x 8 (x, y, z) int16'
  runs roi -s p.zarr head --at 10,4,20 --size 8 -o r2.nii
  cmp r1.nii r2.nii
  runs roi -s p.zarr head --size 8 -o r3.nii
  runs roi -s p.zarr head --at 20,16,12 --size 8,8,8 -o r4.nii
  cmp r3.nii r4.nii
}

planes_have_names_of_their_own () {
  runs slice -s p.zarr head
  says 'wrote ct_head_axial_16.png: 48 x 48 pixels, window '
  runs slice -s p.zarr head --axis coronal --window brain
  says 'wrote ct_head_coronal_20.png: 48 x 36 pixels, window 0 to 80'
  runs slice -s p.zarr head --axis sagittal -i 3 --window -160,240.5 \
    --no-aspect
  says 'wrote ct_head_sagittal_3.png: 40 x 32 pixels, window -160 to 240.5'
  fails 1 "exists already" slice -s p.zarr head
  fails 1 "ct/head: --index: 32 is out of range (0-31)" \
    slice -s p.zarr head -i 32
  fails 1 "ct/head: --time: 1 is out of range (0-0)" \
    slice -s p.zarr head --time 1
}

pixels_between_voxels_are_linear_but_of_labels_the_nearest () {
  # Labels: the same head with two values, bone or not.
  runs export -s p.zarr head -o head.nii
  head -c 352 head.nii >labels.nii
  tail -c +353 head.nii | tr '\000-\377' '[\000*128][\001*]' >>labels.nii
  runs ingest -q -s labels.zarr -c ct labels.nii
  runs ingest -q -s head.zarr -c ct head.nii
  for name in head labels; do
    runs slice "$name.zarr/ct/$name" --axis coronal -o $name.png
    for how in nearest linear; do
      runs slice "$name.zarr/ct/$name" --axis coronal --interpolate $how \
        -o $name-$how.png
    done
    not cmp -s $name-nearest.png $name-linear.png
  done
  cmp head.png head-linear.png
  cmp labels.png labels-nearest.png
}

planes_of_time_and_colour_are_taken () {
  runs slice -s f.zarr four --time 1 -o t.png
  fails 1 "--time: 99 is out of range" slice -s f.zarr four --time 99 -o u.png
  runs slice -s f.zarr colour -o c.png
  says 'in colour'
  runs slice -s f.zarr colour -o c.nii
  runs slice -s p.zarr head -i 7 -o plane.nii
  runs roi -s p.zarr head --z 7 -o box.nii
  cmp plane.nii box.nii
}

complex_planes_are_shown_by_their_magnitude () {
  # 2 x 1 x 1: 3 + 4i and -5 + 12i, after a header of complex64.
  mkdir -p complex
  { head -c 40 scans/a.nii
    printf '\003\000\002\000\001\000\001\000\001\000\001\000'
    printf '\001\000\001\000'
    head -c 70 scans/a.nii | tail -c 14
    printf '\040\000\100\000'
    head -c 352 scans/a.nii | tail -c 278
    printf '\000\000\100\100\000\000\200\100'
    printf '\000\000\240\300\000\000\100\101'; } >complex/z.nii
  runs ingest -q -s z.zarr complex/z.nii
  runs slice -s z.zarr z -o z.png
  says '2 x 1 pixels, window 5 to 13'
}

a_listing_has_a_line_for_each_and_a_sum () {
  runs ls -l -s f.zarr
  says VOLUME SHAPE RATIO images/scaled T1w/sub-01_ses-2 '5 volumes, '
  [ "$(wc -l <"$tmp/out")" -eq 7 ]
  not grep -q ' $' "$tmp/out"
}

stats_are_figures_and_bars () {
  LC_ALL=C runs stats -s p.zarr head
  says 'count' '61,440' 'min' '50 %' '#'
  [ "$(wc -l <"$tmp/out")" -le 40 ]
}

damage_is_found_and_named () {
  cp -r p.zarr damaged.zarr
  shard=$(find damaged.zarr -path '*/0-*/c/*' -type f)
  size=$(wc -c <"$shard")
  printf '\377\000\377' |
    dd of="$shard" bs=1 seek=$((size / 3)) conv=notrunc 2>/dev/null
  status=0
  "$RADIO" validate -s damaged.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q '^radio: .*ct/head' "$tmp/err"
  says ' bad ' '1 checked, 1 bad'
  runs validate -s p.zarr
  says ' ok ' '1 checked, 0 bad'
}

a_stale_header_array_is_no_damage () {
  runs phantom -s stale.zarr ct/head --size 16
  cp stale.zarr/ct/head/nifti/zarr.json before.json
  runs phantom -s stale.zarr ct/head --size 24,16,16 --overwrite
  cp before.json stale.zarr/ct/head/nifti/zarr.json
  "$RADIO" validate -s stale.zarr >"$tmp/out" 2>"$tmp/err"
  says 'ct/head  stale ' '1 checked, 0 bad, 1 stale'
  grep -q '^radio: warning: ct/head: .*radio gc repairs it' "$tmp/err"
  "$RADIO" validate -s stale.zarr head --json >"$tmp/out" 2>"$tmp/err"
  says '"state": "stale"'
  runs gc -s stale.zarr
  runs validate -s stale.zarr
  says 'ct/head  ok ' '1 checked, 0 bad;'
}

# Other programs begin at the documents above volumes, radio does not.
a_bad_document_above_volumes_is_found () {
  for volume in ct/head ct/neck mr/head; do
    runs phantom -s above.zarr "$volume" --size 16
  done
  runs validate -s above.zarr
  says '3 checked, 0 bad;'
  [ "$(wc -l <"$tmp/out")" -eq 4 ]
  echo garbage >above.zarr/ct/zarr.json
  status=0
  "$RADIO" validate -s above.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  says 'ct/neck  ok ' 'mr/head  ok ' 'ct       bad' '4 checked, 1 bad;'
  grep -q '^radio: ct/zarr.json: invalid JSON' "$tmp/err"
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  status=0
  "$RADIO" validate -s above.zarr ct --json >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 1 ]
  says '"path": "ct", "kind": "group", "state": "bad"' \
    '"path": "ct/head", "kind": "volume", "state": "ok"'
  runs validate -s above.zarr mr ct/head
  says '2 checked, 0 bad;'
  runs ls -s above.zarr
  says 'ct/neck'
  rm above.zarr/ct/zarr.json
  status=0
  "$RADIO" validate -s above.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  says '2 checked, 1 bad;'
  grep -q '^radio: ct/zarr.json: missing, while there are' "$tmp/err"
  runs phantom -s above.zarr ct/back --size 16
  runs validate -s above.zarr
  says '4 checked, 0 bad;'
}

# A collection is not listed without its document.
a_lost_document_of_a_collection_is_written_again () {
  runs ingest -q -s lost.zarr -c ct scans/a.nii
  runs cp -q lost.zarr lost-copy.zarr
  cp lost.zarr/ct/zarr.json group.json
  for command in 'ingest -q -s lost.zarr -c ct --skip-existing scans/a.nii' \
                 'cp -q -s lost-copy.zarr ct --to lost.zarr --skip-existing' \
                 'gc -s lost.zarr'; do
    rm lost.zarr/ct/zarr.json
    # shellcheck disable=SC2086 # a command and its options
    runs $command
    cmp lost.zarr/ct/zarr.json group.json
  done
  says 'removed 0 unused items, 0 B; repaired 1 item'
  rm lost.zarr/ct/zarr.json
  not "$RADIO" ingest -q -s lost.zarr -c ct scans/a.nii >"$tmp/out" \
    2>"$tmp/err"
  grep -q 'exists already' "$tmp/err"
  cmp lost.zarr/ct/zarr.json group.json
  # An equal volume was copied before.
  rm lost.zarr/ct/zarr.json
  runs cp -q -s lost-copy.zarr ct --to lost.zarr
  cmp lost.zarr/ct/zarr.json group.json
  # Only a look.
  rm lost.zarr/ct/zarr.json
  runs gc -s lost.zarr --dry-run
  says 'would remove 0 unused items, 0 B; would repair 1 item'
  runs cp -q -s lost-copy.zarr ct --to lost.zarr --skip-existing --dry-run
  [ ! -e lost.zarr/ct/zarr.json ]
}

# The root's document is what says that there is a store; the volumes below do
# not depend on it.
a_bad_document_of_the_root_is_found_with_its_volumes () {
  runs phantom -s root.zarr ct/head --size 16
  runs phantom -s root.zarr mr/head --size 16
  cp -r root.zarr whole.zarr
  for text in bad '{"zarr_format":3,"node_type":"group","attributes":7}' ''; do
    echo "$text" >root.zarr/zarr.json
    [ -n "$text" ] || rm root.zarr/zarr.json
    for operand in '-s root.zarr' root.zarr root.zarr/; do
      status=0
      # shellcheck disable=SC2086
      "$RADIO" validate $operand >"$tmp/out" 2>"$tmp/err" || status=$?
      [ "$status" -eq 1 ]
      says 'ct/head  ' 'mr/head  ' ' bad' '3 checked, 1 bad;'
      grep -q '^radio: root.zarr.*zarr.json: ' "$tmp/err"
      [ "$(wc -l <"$tmp/err")" -eq 1 ]
    done
    status=0
    "$RADIO" validate -s root.zarr --json >"$tmp/out" 2>"$tmp/err" ||
      status=$?
    [ "$status" -eq 1 ]
    says '"path": "root.zarr", "kind": "group", "state": "bad"' \
      '"path": "ct/head", "kind": "volume", "state": "ok"'
    runs validate -s root.zarr ct/head
    says 'ct/head  ok ' '1 checked, 0 bad;'
  done
  # A folder of stores is not a store.
  mkdir stores
  mv whole.zarr stores/
  fails 1 "no store at 'stores'" validate -s stores
  # Nothing below is radio's.
  mkdir -p others.zarr/group/array
  echo '{"zarr_format":3,"node_type":"group"}' |
    tee others.zarr/group/zarr.json >others.zarr/group/array/zarr.json
  fails 1 "others.zarr: not a store" validate others.zarr
  echo bad >others.zarr/zarr.json
  status=0
  "$RADIO" validate -s others.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  says 'others.zarr  bad' '1 checked, 1 bad;'
}

# Not the data are bad, but they cannot be read.
what_cannot_be_read_is_not_checked () {
  cp -r p.zarr unread.zarr
  shard=$(find unread.zarr -path '*/0-*/c/*' -type f)
  ln -sf "${shard##*/}" "$shard"
  status=0
  "$RADIO" validate -s unread.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 4 ]
  says 'ct/head  not checked ' '0 checked, 0 bad, 1 not checked'
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  status=0
  "$RADIO" validate -s unread.zarr --json >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 4 ]
  says '"state": "not checked"'
}

a_missing_name_is_an_error_and_not_bad () {
  fails 1 "ct/none: no such volume in p.zarr" validate -s p.zarr ct/none
  status=0
  "$RADIO" validate -s p.zarr ct/none ct/head >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 1 ]
  says 'ct/head  ok ' '1 checked, 0 bad;'
}

a_removed_volume_is_gone () {
  cp -r f.zarr rm.zarr
  runs rm -s rm.zarr images/a four
  says 'removed images/a' 'removed images/four'
  runs ls -s rm.zarr
  [ "$(wc -l <"$tmp/out")" -eq 3 ]
  fails 1 images/a rm -s rm.zarr images/a
  runs rm rm.zarr/images/scaled
  runs ls -s rm.zarr
  [ "$(wc -l <"$tmp/out")" -eq 2 ]
}

gc_removes_what_was_replaced () {
  runs gc -s e.zarr --dry-run
  says 'would remove'
  cp "$tmp/out" before
  runs gc -s e.zarr --dry-run
  cmp "$tmp/out" before
  runs gc -s e.zarr
  says 'removed'
  not grep -q 'removed 0 ' "$tmp/out"
  runs gc -s e.zarr
  says 'removed 0 unused items'
  runs validate -s e.zarr
}

a_phantom_is_the_same_every_time () {
  runs phantom -s q.zarr one --size 20,21,22 --seed 5
  says 'made phantoms/one: 20 x 21 x 22 int16'
  runs phantom -s q.zarr two --size 20,21,22 --seed 5
  runs phantom -s q.zarr three --size 20,21,22 --seed 6
  for n in one two three; do
    runs export -s q.zarr $n -o $n.npy
  done
  cmp one.npy two.npy
  not cmp -s one.npy three.npy
  fails 1 phantoms/one phantom -s q.zarr one
}

a_full_disk_on_stdout_is_an_error () {
  [ -c /dev/full ] || return 0
  status=0
  "$RADIO" ls -s f.zarr >/dev/full 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q '^radio: standard output: ' "$tmp/err"
}

a_file_size_limit_is_an_error () {
  rm -f l.nii
  ( ulimit -f 8
    fails 1 'l.nii: cannot write: File too large' \
      export -s p.zarr head -o l.nii )
  [ ! -e l.nii ]
  runs export -s p.zarr head -o large.nii
  ( ulimit -f 8
    not "$RADIO" ingest -s full.zarr large.nii 2>"$tmp/err" )
  grep -q '^radio: large.nii: full.zarr/.*: cannot write: File' "$tmp/err"
  [ "$(grep -o full.zarr "$tmp/err" | wc -l)" -eq 1 ]
}

a_name_of_control_characters_is_shown_once () {
  name=$(printf 'l\033m.nii')
  cp scans/a.nii "$name"
  not "$RADIO" ingest -q -s l.zarr "$name" >"$tmp/out" 2>"$tmp/err"
  grep -q '^radio: l?m.nii: name of' "$tmp/err"
}

an_array_that_is_the_store_is_named () {
  mkdir -p raw.zarr
  echo '{ "zarr_format": 3, "node_type": "array", "shape": [4],
    "data_type": "complex64", "fill_value": [0, 0], "codecs": [
    { "name": "bytes", "configuration": { "endian": "little" } }],
    "chunk_grid": { "name": "regular", "configuration":
    { "chunk_shape": [4] } }, "chunk_key_encoding": { "name": "default" } }' \
    >raw.zarr/zarr.json
  fails 1 'radio: raw.zarr: the type is complex64' stats raw.zarr
}

ingest_does_not_make_a_store_inside_a_file () {
  fails 1 'scans/a.nii/s: cannot open the store: Not a directory' \
    phantom -s scans/a.nii/s x --size 4
  not grep -q "radio ingest" "$tmp/err"
}

listings_are_json () {
  runs ls -s f.zarr --json
  json '[v["path"] for v in j] == ["T1w/sub-01_ses-2", "images/a",
    "images/colour", "images/four", "images/scaled"]'
  json 'j[0]["collection"] == "T1w" and j[0]["name"] == "sub-01_ses-2"'
  runs ls -s f.zarr --json -l
  json 'len(j) == 5 and all(v["raw_nbytes"] > 0 for v in j)'
  runs ls -s b.zarr --json
  json 'j == []'
}

info_is_json () {
  runs info -s p.zarr head --json
  json 'j["kind"] == "volume" and j["shape"] == [48, 40, 32]'
  json 'j["axes"] == ["x", "y", "z"] and j["dtype"] == "int16"'
  json 'len(j["affine"]) == 3 and len(j["affine"][0]) == 4'
  json 'j["stored_nbytes"] > 0 and j["codecs_json"]'
  runs info -s f.zarr scaled --json
  json 'j["scl_slope"] != 1 and j["nifti"]["version"] == 1'
  runs info -s f.zarr colour --json
  json 'j["type"] == "rgb24" and len(j["shape"]) == 3'
  level=$(cd p.zarr/ct/head && echo 0-*)
  runs info "p.zarr/ct/head/$level" --json
  json 'j["kind"] == "array" and j["shape"] == [32, 40, 48]'
}

stats_are_json () {
  runs stats -s p.zarr head --json
  json 'j["count"] == 61440 and len(j["histogram"]["counts"]) == 64'
  json 'sum(j["histogram"]["counts"]) == 61440'
  json 'j["min"] <= j["percentiles"]["50"] <= j["max"]'
  runs stats -s f.zarr scaled --json
  json 'j["values"] == "scaled"'
  cp "$tmp/out" scaled.json
  runs stats -s f.zarr scaled --json --raw
  json 'j["values"] == "stored" and
    j["max"] != json.load(open("scaled.json"))["max"]'
}

check the_store_is_named_by_option_else_environment_else_default
check a_missing_store_is_explained
check a_folder_is_searched_and_named_by_its_files
check many_files_are_ingested_with_few_descriptors
check many_arrays_are_ingested_with_few_descriptors
check a_pattern_that_no_shell_expanded_is_expanded
check a_collection_can_be_given_and_listed_alone
check a_bad_file_costs_only_itself
check concurrent_files_are_reported_in_their_order
check an_interrupt_finishes_or_drops_each_file
check the_profile_of_an_interrupted_ingest_is_written
check a_broken_file_gives_one_clear_line
check clashing_names_name_both_files_and_write_nothing
check clashing_names_of_different_folders_are_named_after_these
check the_same_file_twice_is_one_volume
check both_halves_of_a_pair_are_one_volume
check a_missing_file_is_reported
check existing_volumes_are_kept_skipped_or_replaced
check strip_reports_the_dropped_bytes
check a_whole_export_is_the_source_byte_for_byte
check an_existing_output_stays_without_overwrite
check a_volume_is_named_in_three_ways
check an_array_is_named_by_its_path
check boxes_outside_are_refused_with_a_message
check boxes_by_range_and_by_corner_are_the_same
check planes_have_names_of_their_own
check pixels_between_voxels_are_linear_but_of_labels_the_nearest
check planes_of_time_and_colour_are_taken
check complex_planes_are_shown_by_their_magnitude
check a_listing_has_a_line_for_each_and_a_sum
check stats_are_figures_and_bars
check damage_is_found_and_named
check a_stale_header_array_is_no_damage
check a_bad_document_above_volumes_is_found
check a_lost_document_of_a_collection_is_written_again
check a_bad_document_of_the_root_is_found_with_its_volumes
check what_cannot_be_read_is_not_checked
check a_missing_name_is_an_error_and_not_bad
check a_removed_volume_is_gone
check gc_removes_what_was_replaced
check a_phantom_is_the_same_every_time
check a_full_disk_on_stdout_is_an_error
check a_file_size_limit_is_an_error
check a_name_of_control_characters_is_shown_once
check an_array_that_is_the_store_is_named
check ingest_does_not_make_a_store_inside_a_file
check_json listings_are_json
check_json info_is_json
check_json stats_are_json
plan
