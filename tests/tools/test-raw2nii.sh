#!/bin/sh
# SPDX-License-Identifier: MIT
# The header that tools/raw2nii.sh puts before bare voxels.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

make_image () {
  printf 'AB%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 \
    23 24 >voxels
  sh "$srcdir/tools/raw2nii.sh" 2,3,4 0.957,0.5,1.5 LAS 'A head, "CT"' \
    <voxels >raw.nii
}

the_voxels_follow_as_they_are () {
  make_image
  [ "$(wc -c <raw.nii)" -eq 400 ]
  tail -c 48 raw.nii | cmp - voxels
}

radio_reads_it_with_its_geometry () {
  make_image
  runs ingest -s raw.zarr raw.nii
  runs info -s raw.zarr raw
  says '2 x 3 x 4 (x, y, z)' int16 '0.957 x 0.5 x 1.5 mm' LAS \
    'A head, "CT"'
}

# A box without the border has the place of a matrix without one.
a_border_does_not_move_the_rest () {
  make_image
  tail -c 48 raw.nii | head -c 24 |
    sh "$srcdir/tools/raw2nii.sh" 2,3,4 2,2,1.5 RAS mask labels >inner.nii
  head -c 60 /dev/zero |
    sh "$srcdir/tools/raw2nii.sh" 3,4,5 2,2,1.5 RAS mask labels 1 >outer.nii
  runs ingest -s border.zarr inner.nii outer.nii
  runs roi -s border.zarr outer --x 1: --y 1: --z 1: -o cut.nii
  runs ingest -s border.zarr cut.nii
  for name in inner cut; do
    runs info -s border.zarr $name
    says '2 x 3 x 4 (x, y, z)' uint8
    runs info --json -s border.zarr $name
    cp "$tmp/out" $name.json
  done
  [ -z "$python3" ] || "$python3" -c 'import json
a, b = (json.load (open (n + ".json")) for n in ("inner", "cut"))
assert a["affine"] == b["affine"] == [
    [2, 0, 0, -1], [0, 2, 0, -2], [0, 0, 1.5, -2.25]], (a, b)'
}

check the_voxels_follow_as_they_are
check radio_reads_it_with_its_geometry
check a_border_does_not_move_the_rest
plan
