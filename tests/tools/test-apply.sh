#!/bin/sh
# SPDX-License-Identifier: MIT
# radio apply from outside: names of the results, volumes that exist, messages,
# and runs that were killed.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

"$RADIO" phantom -s a.zarr ct/head --size 48,40,32 >/dev/null || exit 99
"$RADIO" phantom -s a.zarr ct/neck --size 40 --seed 2 >/dev/null || exit 99
"$RADIO" export -s a.zarr ct/head -o file.nii.gz >/dev/null || exit 99
cp -r a.zarr same.zarr || exit 99

sha=$("$RADIO" info -s a.zarr ct/head | sed -n 's/^sha256 *//p')

# lists STORE VOLUME...: these are in it, and no others.
lists () {
  store=$1
  shift
  "$RADIO" ls -s "$store" >"$tmp/listed"
  printf '%s\n' "$@" | diff - "$tmp/listed"
}

# fails_with TEXT ARGUMENT...: the only volume fails, with one line and a
# summary.
fails_with () {
  why=$1 status=0
  shift
  "$RADIO" apply "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  says '0 volumes; 1 failed'
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  grep -qF -e "$why" "$tmp/err"
}

results_are_what_export_applies () {
  pipeline='reorient LPS | crop 3:40,:,1: | clamp -100,400'
  runs apply "$pipeline" ct -s a.zarr --to b.zarr
  says 'ct/head  ' '2 volumes, '
  lists b.zarr ct/head ct/neck
  runs export -s a.zarr ct/head --apply "$pipeline" -o want.nii
  runs export -s b.zarr ct/head -o got.nii
  cmp want.nii got.nii
  runs validate -s b.zarr
  says '2 checked, 0 bad'
  runs info -s b.zarr ct/head
  says "derived by   $pipeline"
  says "from sha256  $sha"
}

values_that_are_nan_give_one_warning () {
  nan='linear 1e38,0 | linear 0,0'
  "$RADIO" apply "$nan" ct/head -s a.zarr --to nan.zarr >/dev/null 2>"$tmp/err"
  [ "$(grep -c 'some results are NaN' "$tmp/err")" -eq 1 ]
  for command in 'slice -o nan.png' 'slice -o nan.nii' stats 'stats --json'; do
    "$RADIO" $command ct/head -s a.zarr --apply "$nan" >/dev/null 2>"$tmp/err"
    [ "$(grep -c 'some results are NaN' "$tmp/err")" -eq 1 ]
  done
  "$RADIO" stats ct/head -s a.zarr --apply 'linear 1,0' >/dev/null 2>"$tmp/err"
  [ ! -s "$tmp/err" ]
}

files_have_the_digest_of_their_ingest () {
  runs apply 'flip x' file.nii.gz --to c.zarr -c flipped --tiling axial
  lists c.zarr flipped/file
  runs info -s c.zarr flipped/file
  says "from sha256  $sha" 'axial, '
  runs apply 'flip x' ./a.zarr/ct/head --to c.zarr -c flipped --codec none
  lists c.zarr flipped/file flipped/head
  runs info -s c.zarr flipped/head
  says "from sha256  $sha" 'none'
}

the_same_is_skipped_and_others_are_not () {
  runs apply 'flip   x' a.zarr/ct/head --to d.zarr
  runs apply 'flip x' a.zarr/ct/head --to d.zarr
  says 'ct/head  skipped' '0 volumes; 1 skipped'
  fails_with 'ct/head: exists already, of another source or pipeline' \
    'flip y' a.zarr/ct/head --to d.zarr
  runs apply 'flip y' a.zarr/ct/head --to d.zarr --skip-existing
  says '0 volumes; 1 skipped'
  runs apply 'flip y' a.zarr/ct/head --to d.zarr --overwrite --json
  says '"outcome": "written"'
  runs apply 'flip y' a.zarr/ct/head --to d.zarr --overwrite --json
  says '"outcome": "skipped"'
  runs apply 'flip y' a.zarr/ct/head --to d.zarr --overwrite --codec small
  says '1 volume, '
  # Another image of the same name.
  runs phantom -s e.zarr ct/head --size 48,40,32 --seed 5
  fails_with 'another source' 'flip y' e.zarr/ct/head --to d.zarr \
    --codec small
}

what_a_pipeline_names_is_compared_too () {
  runs phantom -s g.zarr g/a --size 24 --seed 1
  runs phantom -s g.zarr g/b --size 20 --seed 2
  runs export -s g.zarr g/a -o a.nii
  runs export -s g.zarr g/b -o b.nii
  runs export -s a.zarr ct/head -o mask-a.nii --apply 'clamp 0,1'
  runs export -s a.zarr ct/head -o mask-b.nii \
    --apply 'clamp 50,51 | linear 1,-50'
  for pipeline in 'like ./grid.nii' 'znorm of mask ./grid.nii'; do
    case $pipeline in
      like*) set -- a.nii b.nii ;;
      *) set -- mask-a.nii mask-b.nii ;;
    esac
    cp "$1" grid.nii
    runs apply "$pipeline" file.nii.gz --to n.zarr -c n --overwrite
    runs export -s n.zarr n/file -o first.nii --overwrite
    runs apply "$pipeline" file.nii.gz --to n.zarr -c n
    says 'skipped'
    cp "$2" grid.nii
    fails_with 'another source or pipeline' "$pipeline" file.nii.gz \
      --to n.zarr -c n
    runs apply "$pipeline" file.nii.gz --to n.zarr -c n --overwrite
    runs export -s n.zarr n/file -o second.nii --overwrite
    not cmp -s first.nii second.nii
  done
}

the_source_is_not_replaced () {
  fails_with 'ct/head: the volume that the pipeline is applied to' \
    'flip x' ct/head -s same.zarr --overwrite
  fails_with 'the volume that the pipeline is applied to, or its copy' \
    'flip x' a.zarr/ct/head --to same.zarr --overwrite
  diff -r a.zarr same.zarr
}

mistakes_are_explained () {
  fails 2 "byte 0, 'flop': unknown operation" apply flop ct -s a.zarr
  fails 2 'PIPELINE is missing' apply
  fails 2 'VOLUME is missing' apply 'flip x'
  fails 1 'none' apply 'flip x' none -s a.zarr
  fails_with 'operation 1 of the pipeline, crop: x: ' \
    'crop 900:,:,:' ct/head -s a.zarr -c cropped
  fails 1 "both map to x/head" \
    apply 'flip x' ct/head -s a.zarr ./same.zarr/ct/head --to f.zarr -c x
  [ ! -e f.zarr ]
}

info_lists_the_tiles_of_a_box () {
  runs phantom -s tiles.zarr ct/a --size 48,40,32 --tiling 16,16,16
  runs info -s tiles.zarr ct/a --apply 'pad 20 | flip x' --x 50: --y 20 --z 20 \
    --list-tiles
  says 'reads        2 tiles, 16.4 kB decoded' 'tile         0:16,0:16,0:16' \
    'tile         16:32,0:16,0:16'
  moved='affine 0.8,0.6,0,0,-0.6,0.8,0,0,0,0,1,0 about centre'
  runs info -s tiles.zarr ct/a --apply "to 24 | $moved" --json --list-tiles
  says '"interpolation_count": 1' '"tile_count": 18'
  runs info -s tiles.zarr ct/a --size 16
  says 'reads        4 tiles'
  runs info file.nii.gz --apply 'to 24'
  says 'interpolated 1 time' \
    "reads        the image's file, 123 kB inflated"
  runs info file.nii.gz --apply 'to 24' --memory 64M --json
  says '"inflations": 1' '"nbytes": 122880' '"ratio": null'
  runs export file.nii.gz -o file.nii --overwrite
  runs info file.nii --apply 'crop 0:10,0:10,0:10 | znorm'
  says "reads        the image's file, 4.0 kB of it"
  fails 1 '48 is out of range (0-47)' info -s tiles.zarr ct/a --x 48
}

a_store_is_not_made_for_nothing () {
  "$RADIO" phantom -s one.zarr ct/v --size 16 >/dev/null
  crop='crop 0:99,:,:'
  if "$RADIO" apply "$crop" ct -s one.zarr --to none.zarr >/dev/null \
     2>"$tmp/err"; then
    return 1
  fi
  grep -qF 'the end 99 is out of range' "$tmp/err"
  [ ! -e none.zarr ]
  "$RADIO" phantom -s one.zarr ct/large --size 128 >/dev/null
  if "$RADIO" apply "$crop" ct -s one.zarr --to some.zarr >/dev/null \
     2>"$tmp/err"; then
    return 1
  fi
  [ -e some.zarr/ct/large/zarr.json ]
}

what_has_no_room_is_not_begun () {
  "$RADIO" phantom -s room.zarr ct/v --size 16 >/dev/null
  fails 1 'huge.nii: it takes at least' export -s room.zarr ct/v -o huge.nii \
    --apply 'pad 100000,100000,100000'
  fails 1 'huge.nii.gz: it takes at least' export -s room.zarr ct/v \
    -o huge.nii.gz --apply 'pad 300000,300000,300000'
  [ ! -e huge.nii ]
}

killed_runs_are_resumed () {
  for i in 1 2 3 4 5 6; do
    "$RADIO" phantom -s many.zarr ct/v$i --size 64 --seed $i >/dev/null
  done
  pipeline='pad 3 reflect | znorm'
  "$RADIO" apply "$pipeline" ct -s many.zarr --to whole.zarr >"$tmp/out"
  for delay in 0.01 0.02 0.03 0.05 0.08 0.12; do
    "$RADIO" apply "$pipeline" ct -s many.zarr --to killed.zarr \
      >"$tmp/out" 2>&1 &
    sleep "$delay"
    kill -KILL $! 2>/dev/null || :
    wait $! 2>/dev/null || :
    [ ! -e killed.zarr/zarr.json ] || runs validate -s killed.zarr
  done
  runs apply "$pipeline" ct -s many.zarr --to killed.zarr
  runs gc -s killed.zarr
  runs apply "$pipeline" ct -s many.zarr --to killed.zarr
  says '0 volumes; 6 skipped'
  for i in 1 2 3 4 5 6; do
    [ "$(ls -d killed.zarr/ct/v$i/0-* | wc -l)" -eq 1 ]
    "$RADIO" export -s whole.zarr ct/v$i -o want$i.nii >/dev/null
    "$RADIO" export -s killed.zarr ct/v$i -o got$i.nii >/dev/null
    cmp want$i.nii got$i.nii
  done
}

check results_are_what_export_applies
check values_that_are_nan_give_one_warning
check files_have_the_digest_of_their_ingest
check the_same_is_skipped_and_others_are_not
check what_a_pipeline_names_is_compared_too
check the_source_is_not_replaced
check mistakes_are_explained
check info_lists_the_tiles_of_a_box
check a_store_is_not_made_for_nothing
check what_has_no_room_is_not_begun
check killed_runs_are_resumed
plan
