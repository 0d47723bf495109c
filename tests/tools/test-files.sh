#!/bin/sh
# SPDX-License-Identifier: MIT
# Images in their files as operands: each command gives for a file what it
# gives for the volume that is ingested from it.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

fixtures=$tmp/fixtures
mkdir "$fixtures" all reals
"$builddir/tests/fixtures/make-fixtures" "$fixtures" >/dev/null || exit 99
for file in "$fixtures"/good-nifti*d.nii "$fixtures"/good-gzip*.nii* \
            "$fixtures"/good-[es]*.nii "$fixtures"/good-[67]d.nii \
            "$fixtures"/good-v*.nii "$fixtures"/good-qform-oblique.nii; do
  cp "$file" all
  case $file in
    *rgb* | *complex*) ;;
    *) cp "$file" reals ;;
  esac
done
for half in "$fixtures"/good-pair*; do
  cp "$half" all
done
"$RADIO" ingest -s all.zarr -c c all/* >/dev/null 2>&1 || exit 99
"$RADIO" ingest -s reals.zarr -c r reals >/dev/null 2>&1 || exit 99

# images FOLDER: images, without the .img that a .hdr stands for.
images () {
  for file in "$1"/*; do
    case $file in
      *.img | *.img.gz) ;;
      *) echo "$file" ;;
    esac
  done
}

# same COMMAND FOLDER OPTION...: the command's JSON of files and of volumes is
# equal but for names and for how the voxels are stored.
same () {
  command=$1 folder=$2
  shift 2
  # shellcheck disable=SC2046
  set -- "$@" --json
  runs "$command" "$@" $(images "$folder")
  mv out files.json
  runs "$command" "$@" -s all.zarr \
    $(images "$folder" | sed 's|.*/|c/|; s/\.gz$//; s/\.[^.]*$//')
  mv out store.json
  "$python3" -c '
import json, sys
stored = ("path", "tiling", "tile_shape", "chunk_shape", "codec", "codecs",
          "codecs_json", "stored_nbytes", "ratio", "source")
a, b = ([{k: v for k, v in one.items() if k not in stored}
         for one in json.load(open(name))] for name in sys.argv[1:])
assert len(a) == len(b) > 50
for x, y in zip(a, b):
    assert x == y, (x, y)
' files.json store.json
}

info_equals_the_volumes () {
  same info all
}

stats_equal_the_volumes () {
  same stats reals
  same stats reals --raw
}

exports_are_the_files () {
  # shellcheck disable=SC2046
  runs export --format nii -o exported/ $(images all)
  n=0
  for file in all/good-nifti*.nii all/good-qform*.nii; do
    cmp "$file" "exported/${file##*/}"
    n=$((n + 1))
  done
  [ $n -gt 300 ]
  runs export -s all.zarr -o of-store/ c --format nii
  for file in exported/*; do
    cmp "$file" "of-store/c/${file##*/}"
  done
}

planes_and_boxes_equal_the_volumes () {
  for name in good-nifti1-be-int16-3d good-nifti2-le-float64-4d good-gzip; do
    file=$(ls all/$name.*)
    for axis in axial coronal sagittal; do
      runs slice "$file" --axis $axis -o a.npy --overwrite
      runs slice -s all.zarr $name --axis $axis -o b.npy --overwrite
      cmp a.npy b.npy
    done
    runs roi "$file" --x 1:3 --y 0:2 --z 1:2 -o a.nii.gz --overwrite
    runs roi -s all.zarr $name --x 1:3 --y 0:2 --z 1:2 -o b.nii.gz --overwrite
    cmp a.nii.gz b.nii.gz
  done
}

listing_and_validation_name_files () {
  runs ls -l all/good-gzip.nii.gz all/good-6d.nii
  says "all/good-gzip.nii.gz" "gzip" "all/good-6d.nii" "none" "2 volumes"
  runs info all/good-gzip.nii.gz
  says "none: an image in its file"
  runs validate all/good-gzip.nii.gz all/good-6d.nii
  says "all/good-gzip.nii.gz  ok" "all/good-6d.nii       ok" "2 checked"
  head -c 140 all/good-gzip.nii.gz >cut.nii.gz
  status=0
  "$RADIO" validate cut.nii.gz >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  says 'cut.nii.gz  bad' '1 checked, 1 bad'
  not grep -q 'tile damaged' "$tmp/out"
}

a_profile_of_a_file_is_recorded () {
  status=0
  "$RADIO" profile slice all/good-gzip.nii.gz --runs 2 -o p.txt >out ||
    status=$?
  [ $status -eq 0 ]
  grep -qF "in its file, codec gzip" out
  grep -qE "^store +none" out
}

# The options of the command are those of the library, which is tested there.
points_of_entry_are_kept_beside_a_file_or_in_the_cache () {
  HOME=$PWD/home
  export HOME
  unset XDG_CACHE_HOME
  cp all/good-gzip.nii.gz big.nii.gz
  "$RADIO" phantom -s big.zarr ct/a --size 256,256,40 >/dev/null
  runs export -s big.zarr ct/a -o big.nii.gz --overwrite
  runs slice big.nii.gz -o a.npy --overwrite
  [ ! -e big.nii.gz.points ]
  for command in "stats" "roi --z 30:40 -o b.nii --overwrite" \
                 "slice -o b.npy --overwrite" "validate" \
                 "export -o b.nii --overwrite" "profile full --runs 1 -o b.txt"
  do
    rm -f big.nii.gz.points
    # shellcheck disable=SC2086
    runs $command big.nii.gz --keep-index
    [ -s big.nii.gz.points ]
  done
  runs slice big.nii.gz -o b.npy --overwrite
  cmp a.npy b.npy
  # A folder by its name stands for a folder that cannot be written.
  rm big.nii.gz.points
  mkdir big.nii.gz.points
  runs stats --keep-index big.nii.gz
  [ "$(find home/.cache/radio -name '*.points' | wc -l)" -eq 1 ]
  XDG_CACHE_HOME=$PWD/xdg
  export XDG_CACHE_HOME
  runs stats --keep-index big.nii.gz
  [ "$(find xdg/radio -name '*.points' | wc -l)" -eq 1 ]
}

a_mapped_file_gives_what_a_read_one_does () {
  gunzip -c all/good-gzip.nii.gz >plain.nii
  for command in slice "roi --z 0" export; do
    # shellcheck disable=SC2086
    runs $command plain.nii -o read.nii --overwrite
    # shellcheck disable=SC2086
    runs $command plain.nii -o mapped.nii --overwrite --map
    cmp read.nii mapped.nii
  done
}

members_are_for_nii_gz () {
  runs export all/good-gzip.nii.gz --members 64K -o members.nii.gz
  gunzip -c members.nii.gz | cmp - exported/good-gzip.nii
  runs export all/good-gzip.nii.gz --members 64K -o members/
  fails 2 "only .nii.gz files have members" \
    export all/good-gzip.nii.gz --members 1M -o a.nii --overwrite
  fails 2 "'1K' is not a size from 64K to 64M" \
    export all/good-gzip.nii.gz --members 1K -o a.nii.gz
}

# What is wrong with each of these is in its header or after it.
each_bad_file_is_an_error () {
  n=0
  for file in "$fixtures"/bad-*.nii "$fixtures"/bad-*.gz \
              "$fixtures"/bad-*.hdr "$fixtures"/unsupported-* \
              "$fixtures"/missing-*; do
    fails 1 "${file##*/}" export "$file" -o bad.nii
    [ ! -e bad.nii ]
    n=$((n + 1))
  done
  [ $n -gt 40 ]
}

whole_voxels_before_a_bad_end_are_read_with_a_warning () {
  "$RADIO" export "$fixtures/odd-gzip-trailer-cut.nii.gz" -o bad-cut.nii 2>err
  grep "^radio: warning: .*cut.nii.gz: cut short after the last voxel" err
  "$RADIO" export "$fixtures/odd-gzip-rubbish.nii.gz" -o bad-more.nii 2>err
  grep "^radio: warning: .*rubbish.nii.gz: what follows the gzip data" err
  cmp bad-cut.nii bad-more.nii
  "$RADIO" ingest -q -s ends.zarr "$fixtures"/odd-gzip-*.nii.gz 2>err
  grep "^radio: warning: .*cut.nii.gz: cut short after the last voxel" err
  grep "^radio: warning: .*rubbish.nii.gz: what follows the gzip data" err
  runs export -s ends.zarr images/odd-gzip-trailer-cut -o ends.nii
  cmp bad-cut.nii ends.nii
}

a_file_that_is_cut_short_says_so () {
  runs export -s big.zarr ct/a -o whole.nii
  head -c $(($(wc -c <whole.nii) / 2)) whole.nii >cut.nii
  runs info cut.nii
  says 'missing' 'bytes of voxels: the file is cut short'
  runs info --json cut.nii
  says '"missing_nbytes"'
  runs slice cut.nii -i 0 -o plane.nii
  fails 1 "cut.nii: cut short: it has" export cut.nii -o uncut.nii
  [ ! -e uncut.nii ]
  not "$RADIO" ingest -q -s cut.zarr cut.nii >"$tmp/out" 2>&1
  says "cut.nii: cut short"
}

an_option_s_makes_names_be_of_the_store () {
  cp all/good-6d.nii c
  runs info c
  says "6 dimensions" || says "volume       c"
  runs ls -s all.zarr c
  [ "$(wc -l <"$tmp/out")" -gt 300 ]
  runs info -s all.zarr ./c
  says "volume       ./c"
  rm c
}

what_is_in_no_store_is_not_copied_or_removed () {
  for command in "cp --to b.zarr" rm; do
    # shellcheck disable=SC2086
    fails 1 "all/good-6d.nii: a NIfTI file, not a volume of a store" \
      $command all/good-6d.nii
  done
  [ -e all/good-6d.nii ]
}

every_level_of_instructions_gives_the_same_files () {
  levels=0
  for level in scalar neon sse2 avx2 ''; do
    export RADIO_SIMD=$level
    if "$RADIO" ls -s all.zarr >"$tmp/out" 2>&1; then
      mkdir by
      runs export -s reals.zarr r -o by/ --format npy \
        --apply 'flip x | clamp -90,90 | rescale 0,1 from -100,100 | gamma 2'
      "$RADIO" ingest -s by.zarr -c c reals >/dev/null 2>&1
      runs export -s by.zarr c -o by/ --format nii --apply 'rot90 xz'
      rm -r by.zarr
      [ $levels -eq 0 ] || diff -r by first
      [ $levels -gt 0 ] || mv by first
      rm -rf by
      levels=$((levels + 1))
    else
      grep -qF "RADIO_SIMD: '$level' is not a level of this machine; it has" \
        "$tmp/out"
    fi
  done
  [ $levels -ge 2 ]
  RADIO_SIMD=avx fails 1 "RADIO_SIMD: 'avx' is not a level" ls -s all.zarr
}

# The second would replace the first.
images_of_one_name_do_not_become_one_file () {
  mkdir one two
  "$RADIO" phantom -s names.zarr ct/a --size 16 >"$tmp/out" &&
    "$RADIO" export -s names.zarr ct/a -o one/a.nii >"$tmp/out" &&
    cp one/a.nii two/a.nii || return 1
  fails 1 "both become a.nii.gz" export one/a.nii two/a.nii -o both/ \
    --overwrite || return 1
  [ ! -e both ]
}

check_json info_equals_the_volumes
check_json stats_equal_the_volumes
check exports_are_the_files
check planes_and_boxes_equal_the_volumes
check listing_and_validation_name_files
check a_profile_of_a_file_is_recorded
check points_of_entry_are_kept_beside_a_file_or_in_the_cache
check a_mapped_file_gives_what_a_read_one_does
check members_are_for_nii_gz
check each_bad_file_is_an_error
check whole_voxels_before_a_bad_end_are_read_with_a_warning
check a_file_that_is_cut_short_says_so
check an_option_s_makes_names_be_of_the_store
check what_is_in_no_store_is_not_copied_or_removed
check images_of_one_name_do_not_become_one_file
check every_level_of_instructions_gives_the_same_files
plan
