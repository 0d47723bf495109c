#!/bin/sh
# SPDX-License-Identifier: MIT
# bench-memory: its rows, their sizes, and that the destination is not
# counted as the library's.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

temp=$tmp/temp
mkdir -p "$temp"
TMPDIR=$temp
export TMPDIR

reads="full axial coronal sagittal box32 box64"

# names OPERAND ROW...: these rows of it are measured, and no others.
names () {
  operand=$1
  shift
  runs --json --runs 2 -s s.zarr "$operand"
  json "[r['row'] for r in j['rows']] == '$*'.split ()"
}

# shellcheck disable=SC2086 # a list of names
a_volume_is_read () {
  names ct/one $reads
  json '[r["nbytes"] for r in j["rows"]]
        == [1008000, 11200, 14400, 12600, 65536, 524288]'
  json 'j["subject"] == "ct/one" and j["runs"] == 2
        and 1 <= j["threads"] <= len (__import__ ("os").sched_getaffinity (0))'
}

# shellcheck disable=SC2086 # a list of names
an_image_is_ingested_as_well () {
  names image.nii $reads ingest-nii
  json 'j["rows"][-1]["nbytes"] == 1008352'
  names image.nii.gz $reads ingest-gz
  json 'j["rows"][-1]["nbytes"] == 1008352'
}

# The same destination is in both processes, so its bytes are in both
# figures, and in their difference only what the read took.  (ThreadSanitizer
# keeps a shadow of some three times the size of written memory.)
shadow=0
if grep -qs 'enable-sanitizers=thread' "$builddir/config.status"; then
  shadow=4
fi
the_destination_is_not_counted () {
  runs --phantom 400 --rows full,axial --runs 1 --json
  json 'j["rows"][0]["nbytes"] == 128000000'
  json 'all(r["bare_nbytes"] > r["nbytes"] for r in j["rows"])'
  json 'all(r["beside_nbytes"] == max(0, r["peak_nbytes"] - r["bare_nbytes"])
            for r in j["rows"])'
  json "all(0 < r['beside_nbytes'] < 32e6 + $shadow * r['nbytes']
            for r in j['rows'])"
}

the_table_names_what_was_measured () {
  runs image.nii.gz --tiling axial --codec none --runs 1
  says 'image.nii.gz, the most memory' '65.5 kB' 'ingest-gz' \
    'box128: not measured: larger than the volume' 'whole process'
}

errors_of_measuring_are_reported () {
  fails 2 "the memory of 'open' is not measured of ct/one" \
    -s s.zarr ct/one --rows full,open
  fails 2 "'ingest-nii' is not measured of image.nii.gz" \
    image.nii.gz --rows ingest-nii
  fails 2 "'ingest-gz' is not measured of a phantom" \
    --rows ingest-gz
  fails 2 "--phantom does not go with" image.nii --phantom 9
  fails 2 "--tiling and --codec are for an image" \
    -s s.zarr ct/one --codec fast
  fails 2 "'b' is one operand too many" a b
  fails 1 "nosuch" -s s.zarr nosuch
  fails 1 "none.nii" none.nii
  fails 1 "codec" image.nii --codec tiny
  printf 'no image' >bad.nii
  fails 1 "bad.nii" bad.nii
}

temporary_files_are_removed () {
  [ -z "$(ls -A "$temp")" ]
  [ ! -e radio.zarr ]
}

"$RADIO" phantom -s s.zarr ct/one --size 80,70,90 >/dev/null
"$RADIO" export -s s.zarr one -o image.nii >/dev/null
"$RADIO" export -s s.zarr one -o image.nii.gz >/dev/null
RADIO=$builddir/tools/bench/bench-memory
for name in a_volume_is_read an_image_is_ingested_as_well \
    the_destination_is_not_counted; do
  check_json "$name"
done
check the_table_names_what_was_measured
check errors_of_measuring_are_reported
check temporary_files_are_removed
plan
