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

check the_voxels_follow_as_they_are
check radio_reads_it_with_its_geometry
plan
