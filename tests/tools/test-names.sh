#!/bin/sh
# SPDX-License-Identifier: MIT
# What operands name: volumes, collections, stores, patterns, arrays, and
# others' images; and what is said of anything else.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

fixtures=$tmp/fixtures
mkdir "$fixtures" scans
"$builddir/tests/fixtures/make-fixtures" "$fixtures" >/dev/null || exit 99
cp "$fixtures/good-nifti1-le-int16-3d.nii" scans/a.nii
for name in ct/head ct/neck mr/head mr/knee; do
  "$RADIO" phantom -s p.zarr $name --size 12,10,8 >/dev/null || exit 99
done

# image FOLDER SHAPE AXES SCALE [ORIENTATION]...: another program's OME-Zarr
# image, of int16, without chunks; AXES as "cyx", SHAPE and SCALE with commas.
image () {
  mkdir -p "$1/0"
  list=
  for axis in $(echo "$3" | sed 's/./& /g'); do
    case $axis in
      t) type=time ;;
      c) type=channel ;;
      *) type=space ;;
    esac
    list="$list${list:+,}{\"name\":\"$axis\",\"type\":\"$type\"${5:-}}"
  done
  echo "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"ome\":{
    \"version\":\"0.5\",\"multiscales\":[{\"axes\":[$list],\"datasets\":[{
    \"path\":\"0\",\"coordinateTransformations\":[{\"type\":\"scale\",
    \"scale\":[$4]}]}]}]}}}" >"$1/zarr.json"
  echo "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[$2],
    \"data_type\":\"int16\",\"fill_value\":7,\"chunk_grid\":{
    \"name\":\"regular\",\"configuration\":{\"chunk_shape\":[$2]}},
    \"chunk_key_encoding\":{\"name\":\"default\"},\"codecs\":[{
    \"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}" \
    >"$1/0/zarr.json"
}

image foreign.zarr 8,10,12 zyx 3,2,1

zarr_version_2_is_named () {
  mkdir -p v2.zarr/image
  echo '{"zarr_format": 2}' >v2.zarr/.zgroup
  echo '{"zarr_format": 2}' >v2.zarr/image/.zarray
  for command in info stats validate; do
    fails 1 "v2.zarr: Zarr version 2, and only version 3 is read" \
      $command v2.zarr
    fails 1 "convert it, as by zarr-python's 'zarr migrate v3'" \
      $command "$tmp/v2.zarr/image"
  done
  fails 1 "Zarr version 2" slice v2.zarr
  RADIO_STORE=p.zarr fails 1 "Zarr version 2" slice v2.zarr
  fails 1 "Zarr version 2" ls v2.zarr
  fails 1 "convert it, as by zarr-python's 'zarr migrate v3'" ls -s v2.zarr
  fails 1 "Zarr version 2" cp v2.zarr copy.zarr
}

a_nifti_file_is_named () {
  for command in rm "cp --to copy.zarr"; do
    # shellcheck disable=SC2086
    fails 1 "scans/a.nii: a NIfTI file, not a volume of a store; add it \
by 'radio ingest scans/a.nii'" $command scans/a.nii
    # shellcheck disable=SC2086
    RADIO_STORE=p.zarr fails 1 "a NIfTI file" $command scans/a.nii
  done
  for command in info slice stats validate ls; do
    RADIO_STORE=p.zarr runs $command scans/a.nii
    fails 1 "scans/a.nii" $command -s p.zarr scans/a.nii
  done
}

paths_are_no_names_in_the_store () {
  RADIO_STORE=p.zarr
  export RADIO_STORE
  for file in ./scans/a.nii "$tmp/scans/a.nii" "../${tmp##*/}/scans/a.nii"; do
    fails 1 "a NIfTI file" rm "$file"
    runs info "$file"
    says "volume       $file"
  done
  for command in info slice stats validate ls rm; do
    fails 1 "./v2.zarr: Zarr version 2" $command ./v2.zarr
    fails 1 "./none: No such file or directory" $command ./none
    fails 1 "./scans: not a store, volume or array" $command ./scans
    fails 1 "no volume matches './none*'" $command './none*'
    fails 1 "ct//head" $command ct//head
  done
  fails 1 "./scans: not a store" ingest --like ./scans scans/none.npy
  runs info ct/head/
  runs ls ct/
  printf '%s\n' ct/head ct/neck | cmp - "$tmp/out"
  unset RADIO_STORE
}

an_empty_operand_is_not_the_store () {
  cp -r p.zarr empty.zarr
  for command in rm info stats validate ls 'export -o none.nii'; do
    # shellcheck disable=SC2086 # a command and its option
    fails 1 "an operand is empty; name a volume or a collection" \
      $command -s empty.zarr ''
  done
  fails 1 "an operand is empty" cp -s empty.zarr '' --to copies.zarr
  status=0
  "$RADIO" rm -s empty.zarr ct/head '' >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  runs ls -s empty.zarr
  printf '%s\n' ct/neck mr/head mr/knee | cmp - "$tmp/out"
}

a_broken_volume_is_no_collection () {
  cp -r p.zarr newer.zarr
  echo '{"zarr_format":3,"node_type":"group","attributes":{"radio":{
    "version":"2.0"},"ome":{"version":"0.9"}}}' >newer.zarr/ct/head/zarr.json
  message="made by a newer radio (format 2.0; this one knows 1.1)"
  fails 1 "$message" info -s newer.zarr ct/head
  fails 1 "$message" info newer.zarr/ct/head
  runs ls -s newer.zarr ct/head
  [ "$(cat "$tmp/out")" = ct/head ]
  status=0
  "$RADIO" validate -s newer.zarr ct/head >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 4 ]
  says 'ct/head  not checked' '0 checked, 0 bad, 1 not checked; 0 tiles'
  not grep -q ' $' "$tmp/out"
  runs rm -s newer.zarr ct/head
  [ "$(cat "$tmp/out")" = 'removed ct/head' ]
}

# In a store of radio's nothing but a volume is below a collection.
a_volume_that_lost_its_metadata_is_bad_and_not_its_arrays () {
  cp -r p.zarr lost.zarr
  echo '{"zarr_format":3,"node_type":"group","attributes":{}}' \
    >lost.zarr/ct/head/zarr.json
  for operand in "-s lost.zarr ct/head" lost.zarr/ct/head; do
    status=0
    # shellcheck disable=SC2086
    "$RADIO" validate $operand >"$tmp/out" 2>"$tmp/err" || status=$?
    [ "$status" -eq 1 ]
    says 'ct/head  bad' '1 checked, 1 bad;'
    grep -q 'ct/head/zarr.json: not an OME-Zarr image' "$tmp/err"
    [ "$(wc -l <"$tmp/err")" -eq 1 ]
  done
  fails 1 "ct/head/zarr.json: not an OME-Zarr image" stats lost.zarr/ct/head
  fails 1 "ct/head/zarr.json: not an OME-Zarr image" info -s lost.zarr ct/head
}

nothing_but_arrays_is_nothing_to_work_on () {
  mkdir -p arrays.zarr/group
  for folder in arrays.zarr arrays.zarr/group; do
    echo '{"zarr_format":3,"node_type":"group"}' >$folder/zarr.json
    cp -r foreign.zarr/0 $folder/
  done
  for command in info stats validate 'export -o x/'; do
    fails 1 "arrays.zarr: no volumes in it" $command arrays.zarr
    fails 1 "arrays.zarr/group: no volumes in it" $command arrays.zarr/group
    fails 1 "group: no volumes in it" $command -s arrays.zarr group
  done
  fails 1 "arrays.zarr: no volumes in it" validate -s arrays.zarr
  runs validate arrays.zarr/0 arrays.zarr/group/0
  says '2 checked, 0 bad;'
  mkdir new.zarr
  cp p.zarr/zarr.json new.zarr/
  mkdir new.zarr/emptied
  cp arrays.zarr/zarr.json new.zarr/emptied/
  runs validate -s new.zarr
  runs validate new.zarr
  cp -r arrays.zarr/0 new.zarr/emptied/
  status=0
  "$RADIO" ls -l -s new.zarr >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q '^0 volumes, 0 B raw, 0 B stored; 1 failed$' "$tmp/out"
}

a_volume_that_is_the_store_is_listed_by_the_stores_name () {
  runs ls -s foreign.zarr
  [ "$(cat "$tmp/out")" = foreign.zarr ]
  runs info -s foreign.zarr foreign.zarr
  says 'volume       foreign.zarr'
  RADIO_STORE=foreign.zarr runs info foreign.zarr
  runs ls foreign.zarr
  [ "$(cat "$tmp/out")" = foreign.zarr ]
  runs validate -s foreign.zarr
  says 'foreign.zarr  ok'
  fails 1 "abc: no such volume in foreign.zarr" info -s foreign.zarr abc
  ! grep -q 'did you mean' "$tmp/err"
}

others_images_are_not_copied_but_exported () {
  for name in '' '--name images/a'; do
    # shellcheck disable=SC2086 # the option may be missing
    not "$RADIO" cp $name foreign.zarr copies.zarr 2>"$tmp/err"
    grep -q "foreign.zarr: another program's image.*; copy its files, or \
export and ingest it" "$tmp/err"
  done
  runs export foreign.zarr -o foreign.nii
  runs ingest -s copies.zarr foreign.nii
}

a_path_to_nothing_is_not_a_missing_store () {
  echo text >scans/note.txt
  for command in info slice validate rm; do
    fails 1 "p.zarr/ct/none: no such volume in p.zarr" $command p.zarr/ct/none
    fails 1 "none.zarr: No such file or directory" $command none.zarr
    fails 1 "none.nii.gz: No such file or directory" $command none.nii.gz
    RADIO_STORE=p.zarr fails 1 "none.nii: No such file" $command none.nii
    fails 1 "no store at 'radio.zarr'" $command none
    fails 1 "none.zarr/ct/x: no store at 'none.zarr'" $command none.zarr/ct/x
  done
  for command in info slice stats; do
    fails 1 "scans/note.txt: not a NIfTI image" $command scans/note.txt
  done
  fails 1 "scans/note.txt: a file, not a store, volume" rm scans/note.txt
  fails 1 "ct: a collection, not a volume; name one" slice -s p.zarr ct
}

a_path_that_exists_is_no_missing_name () {
  mkdir -p plain sub.zarr p.zarr/plain hed
  ln -s nothing dangling
  for command in info slice stats validate ls rm 'export -o none.nii'; do
    for folder in plain sub.zarr p.zarr/plain plain/; do
      message="$folder: not a store, volume or array (it has no zarr.json)"
      # shellcheck disable=SC2086 # a command and its option
      fails 1 "$message" $command $folder
      # shellcheck disable=SC2086
      RADIO_STORE=p.zarr fails 1 "$message" $command $folder
    done
    # shellcheck disable=SC2086
    fails 1 "dangling: No such file or directory" $command dangling
    # shellcheck disable=SC2086
    fails 1 "plain: no such volume in p.zarr" $command -s p.zarr plain
  done
  rmdir p.zarr/plain
  # The folder may not be what was meant.
  RADIO_STORE=p.zarr fails 1 "and no such volume in p.zarr; did you mean \
ct/head or mr/head?" info hed
  fails 1 "no store at 'none.zarr'" info -s none.zarr plain
}

with_a_store_a_path_is_a_name_and_the_message_says_so () {
  message="give the path as ./p.zarr/ct/head, since --store makes it a name"
  fails 1 "$message" info -s foreign.zarr p.zarr/ct/head
  runs export -s p.zarr ct/head -o like.npy
  fails 1 "$message" ingest -s foreign.zarr --like p.zarr/ct/head like.npy
}

a_store_that_lost_its_document_is_no_missing_store () {
  cp -r p.zarr rootless.zarr
  rm rootless.zarr/zarr.json
  for command in ls gc 'info ct/head' 'rm head' 'export ct -o x/'; do
    # shellcheck disable=SC2086 # a command and its operands
    fails 1 "rootless.zarr: its zarr.json is missing, while there are volumes \
below" $command -s rootless.zarr
  done
}

an_array_that_cannot_be_read_is_named_once () {
  mkdir -p text.zarr/a/b
  echo '{"zarr_format":3,"node_type":"group"}' | tee text.zarr/zarr.json \
    >text.zarr/a/zarr.json
  sed 's/int16/int4/' foreign.zarr/0/zarr.json >text.zarr/a/b/zarr.json
  fails 1 "radio: text.zarr/a/b/zarr.json: data type 'int4' is not" \
    info text.zarr/a/b
}

collections_and_patterns_name_their_volumes () {
  runs ls -s p.zarr ct 'mr/k*'
  printf '%s\n' ct/head ct/neck mr/knee | cmp - "$tmp/out"
  runs ls -s p.zarr 'hea[d]'
  printf '%s\n' ct/head mr/head | cmp - "$tmp/out"
  runs ls -s p.zarr '*r/*' knee
  printf '%s\n' mr/head mr/knee mr/knee | cmp - "$tmp/out"
  runs ls p.zarr/ct
  printf '%s\n' p.zarr/ct/head p.zarr/ct/neck | cmp - "$tmp/out"
  runs ls 'p.zarr/*/neck' p.zarr/mr/head
  printf '%s\n' p.zarr/ct/neck p.zarr/mr/head | cmp - "$tmp/out"
  runs ls p.zarr
  [ "$(wc -l <"$tmp/out")" -eq 4 ]
  fails 1 "no volume matches 'mr/x*' in p.zarr" ls -s p.zarr 'mr/x*'
  fails 1 "no volume matches 'p.zarr/x*/*'" ls 'p.zarr/x*/*'
}

a_name_that_looks_like_a_pattern_is_itself () {
  runs phantom -s odd.zarr 'ct/a[1]' --size 4
  runs phantom -s odd.zarr ct/a1 --size 4
  for name in 'ct/a[1]' 'a[1]'; do
    runs ls -s odd.zarr "$name"
    [ "$(cat "$tmp/out")" = 'ct/a[1]' ]
  done
  runs ls -s odd.zarr 'a[1-9]'
  [ "$(cat "$tmp/out")" = ct/a1 ]
}

several_volumes_are_described_and_measured () {
  runs info -s p.zarr ct mr/knee
  [ "$(grep -c '^volume ' "$tmp/out")" -eq 3 ]
  not grep -q ' $' "$tmp/out"
  runs stats -s p.zarr 'h*' ct/head
  [ "$(grep -c '^count ' "$tmp/out")" -eq 2 ]
  runs validate -s p.zarr mr 'ct/h*'
  says '3 checked, 0 bad'
  status=0
  "$RADIO" stats -s p.zarr none mr/knee >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q "^radio: none: no such volume in" "$tmp/err"
  says mr/knee
  # One that cannot be read leaves no empty line.
  cp -r p.zarr torn.zarr
  echo '{' >torn.zarr/ct/head/zarr.json
  for command in info stats; do
    not "$RADIO" $command -s torn.zarr ct >"$tmp/out" 2>"$tmp/err"
    grep -q "^radio: ct/head/zarr.json: invalid JSON" "$tmp/err"
    [ -n "$(head -n 1 "$tmp/out")" ]
  done
}

no_line_of_info_ends_in_a_blank () {
  # intent_code 1002, without a name.
  { head -c 68 scans/a.nii; printf '\352\003'; tail -c +71 scans/a.nii
  } >labels.nii
  runs ingest -q -s labels.zarr labels.nii
  runs info -s labels.zarr labels
  grep -qx 'intent       1002' "$tmp/out"
  not grep -q ' $' "$tmp/out"
}

collections_and_patterns_are_copied () {
  runs cp -q -s p.zarr 'm*/*' ct/neck --to copy.zarr
  runs ls -s copy.zarr
  printf '%s\n' ct/neck mr/head mr/knee | cmp - "$tmp/out"
  runs cp -q 'p.zarr/*/head' p.zarr/ct copy2.zarr
  runs ls -s copy2.zarr
  printf '%s\n' ct/head ct/neck mr/head | cmp - "$tmp/out"
}

lists_are_json () {
  runs info --json -s p.zarr ct
  json '[v["path"] for v in j] == ["ct/head", "ct/neck"]'
  runs stats --json -s p.zarr 'ct/h*' mr/knee
  json '[v["path"] for v in j] == ["ct/head", "mr/knee"]'
  runs stats --json -s p.zarr ct/head
  json 'j["path"] == "ct/head"'
  runs info --json -s p.zarr 'ct/n*'
  json 'len(j) == 1 and j[0]["path"] == "ct/neck"'
}

several_volumes_are_exported_into_a_folder () {
  runs export -s p.zarr ct 'mr/k*' -o files/
  runs export -s p.zarr ct/head -o head.nii
  gzip -dc files/ct/head.nii.gz | cmp - head.nii
  [ -f files/ct/neck.nii.gz ]
  [ -f files/mr/knee.nii.gz ]
  [ ! -e files/mr/head.nii.gz ]
  fails 1 "mr/knee: --x: the end 13 is out of range (1-12)" \
    roi -s p.zarr 'mr/k*' --x 5:13 -o files/
  runs roi -s p.zarr mr --size 4 -o files --format npy
  says 'wrote files/mr/head.npy: 4 x 4 x 4 (x, y, z) int16'
  fails 1 "one.nii: one file for 2 volumes; give a folder, as 'one.nii/'" \
    export -s p.zarr ct -o one.nii
  fails 2 "--format: is for files in a folder, and 'one.nii' is not a folder" \
    export -s p.zarr ct/head -o one.nii --format npy
  fails 2 "--scaled: only .npy files" \
    export -s p.zarr ct -o files --scaled --format nii
  fails 1 "exists already" export -s p.zarr ct/head -o files
}

volumes_are_profiled_in_turn () {
  runs profile slice -s p.zarr ct 'mr/h*' --runs 6 --warmup 0 -o turn.json
  says 'slice of ct/head and others, 3 in all: 12 x 10 x 8 int16'
  for name in ct/head ct/neck mr/head; do
    grep -q "\"$name\"" turn.json
  done
  not grep -q '"mr/knee"' turn.json
  runs profile full -s p.zarr 'mr/*' --runs 2 --cold -o full.json
  runs profile sweep -s p.zarr ct --runs 4 --sizes 2,4 -o sweep.json
  grep -q '"ct/neck"' sweep.json
  runs ingest -q -s bytes.zarr -c ct "$fixtures/good-nifti1-le-uint8-3d.nii"
  fails 1 "voxels of different sizes do not go into one sweep" \
    profile sweep p.zarr/ct bytes.zarr/ct --runs 1
  runs profile roi p.zarr/ct/head --roi 4 --runs 1 -o roi.json
  says 'roi of p.zarr/ct/head: '
}

collections_and_patterns_are_removed_but_no_store () {
  cp -r p.zarr rm.zarr
  runs rm -s rm.zarr 'mr/*'
  runs ls -s rm.zarr
  printf '%s\n' ct/head ct/neck | cmp - "$tmp/out"
  fails 1 "rm.zarr: a store, or a volume without one; remove its folder" \
    rm rm.zarr
  runs phantom -s rm.zarr mr/ct --size 4
  fails 1 "'ct' is a collection, and the volume mr/ct; name the latter so, or \
'ct/*'" rm -s rm.zarr ct
  runs rm rm.zarr/ct
  says 'removed ct/head' 'removed ct/neck'
  runs ls -s rm.zarr
  [ "$(cat "$tmp/out")" = mr/ct ]
}

an_image_without_directions_has_no_orientation () {
  runs info foreign.zarr
  says 'orientation  none (no anatomical metadata)'
  runs ls -l -s foreign.zarr
  grep -q '^foreign.zarr .* -  *-  ' "$tmp/out"
  runs slice foreign.zarr
  says 'wrote foreign_axial_4.png: 12 x 20 pixels, window 7 to 8, not oriented'
  # srow_y is zero.
  { head -c 252 scans/a.nii; printf '\000\000\001\000'
    head -c 280 scans/a.nii | tail -c 24
    printf '\000\000\200\077'; head -c 12 /dev/zero
    head -c 16 /dev/zero
    head -c 8 /dev/zero; printf '\000\000\200\077'; head -c 4 /dev/zero
    tail -c +329 scans/a.nii; } >flat.nii
  cmp -n 252 flat.nii scans/a.nii
  [ "$(wc -c <flat.nii)" -eq "$(wc -c <scans/a.nii)" ]
  runs ingest -q -s flat.zarr flat.nii
  runs info -s flat.zarr flat
  says 'orientation  none (the sform is singular)'
  runs slice -s flat.zarr flat -o flat.png
  says ', not oriented'
  runs ingest -q -s a.zarr scans/a.nii
  runs info -s a.zarr a
  says 'orientation  RAS (by pixdim)'
}

an_orientation_that_is_unknown_is_null () {
  runs info --json foreign.zarr
  json 'j["orientation"] is None'
  runs ls --json -l -s foreign.zarr
  json 'j[0]["orientation"] is None and j[0]["path"] == "foreign.zarr"'
}

infinities_are_zarrs_strings () {
  mkdir -p inf.zarr/c nan.zarr
  document='{ "zarr_format": 3, "node_type": "array", "shape": [3],
    "data_type": "float32", "fill_value": "NaN", "codecs": [
    { "name": "bytes", "configuration": { "endian": "little" } }],
    "chunk_grid": { "name": "regular", "configuration":
    { "chunk_shape": [3] } }, "chunk_key_encoding": { "name": "default" } }'
  echo "$document" >inf.zarr/zarr.json
  echo "$document" >nan.zarr/zarr.json
  printf '\000\000\200\177\000\000\200\377\000\000\200\077' >inf.zarr/c/0
  runs stats --json inf.zarr
  json 'j["min"] == "-Infinity" and j["max"] == "Infinity" and j["mean"] == 1'
  mkdir -p allinf.zarr/c
  echo "$document" >allinf.zarr/zarr.json
  printf '\000\000\200\177\000\000\200\377\000\000\200\177' \
    >allinf.zarr/c/0
  runs stats --json allinf.zarr
  json 'j["max"] == "Infinity" and j["mean"] is None'
  runs stats allinf.zarr
  says 'max'
  if grep -e mean -e nan out; then return 1; fi
  runs stats --json nan.zarr
  json 'j["nan_count"] == 3 and j["min"] is None and j["mean"] is None'
}

a_flat_image_is_a_volume_of_one_plane () {
  image flat2.zarr 10,12 yx 2,1
  image flat3.zarr 3,10,12 cyx 1,2,1
  runs ls flat2.zarr flat3.zarr
  runs info flat2.zarr
  says '12 x 10 (x, y)' 'spacing      1 x 2 (unit unknown)'
  runs slice flat2.zarr
  says 'wrote flat2_axial_0.png: 12 x 20 pixels'
  runs slice flat2.zarr --axis coronal -i 3 -o coronal.png
  says '12 x 1 pixels'
  fails 1 "flat2.zarr: --index: 1 is out of range (0-0)" \
    slice flat2.zarr -i 1 -o x.png
  runs roi flat2.zarr --at 2,3,0 --size 4,5,1 -o box.nii
  says '4 x 5 (x, y) int16'
  runs roi flat2.zarr --z 0 --x 1:3 -o box.npy
  says '2 x 10 (x, y) int16'
  fails 1 "flat2.zarr: --z: 1 is out of range (0-0)" \
    roi flat2.zarr --z 1 -o no.nii
  runs slice flat3.zarr --channel 2 -o channel.npy
  says '12 x 10 x 1 (x, y, c) int16'
  runs stats flat3.zarr
  runs validate flat2.zarr flat3.zarr
  says '2 checked, 0 bad'
  runs profile slice flat2.zarr --runs 1 --warmup 0 -o flat.json
}

check zarr_version_2_is_named
check a_nifti_file_is_named
check paths_are_no_names_in_the_store
check an_empty_operand_is_not_the_store
check a_broken_volume_is_no_collection
check a_volume_that_lost_its_metadata_is_bad_and_not_its_arrays
check nothing_but_arrays_is_nothing_to_work_on
check a_path_to_nothing_is_not_a_missing_store
check a_path_that_exists_is_no_missing_name
check with_a_store_a_path_is_a_name_and_the_message_says_so
check a_store_that_lost_its_document_is_no_missing_store
check an_array_that_cannot_be_read_is_named_once
check a_volume_that_is_the_store_is_listed_by_the_stores_name
check others_images_are_not_copied_but_exported
check collections_and_patterns_name_their_volumes
check a_name_that_looks_like_a_pattern_is_itself
check several_volumes_are_described_and_measured
check no_line_of_info_ends_in_a_blank
check collections_and_patterns_are_copied
check_json lists_are_json
check several_volumes_are_exported_into_a_folder
check volumes_are_profiled_in_turn
check collections_and_patterns_are_removed_but_no_store
check an_image_without_directions_has_no_orientation
check_json an_orientation_that_is_unknown_is_null
check_json infinities_are_zarrs_strings
check a_flat_image_is_a_volume_of_one_plane
plan
