#!/bin/sh
# SPDX-License-Identifier: MIT
# The example programs of docs/examples do on a phantom what they say.
. "$(dirname "$0")/../functions.sh"
examples=$builddir/docs/examples

make_phantom () {
  mkdir "$tmp/files"
  "$examples/make-phantom" "$tmp/store" "$tmp/files/head.nii.gz"
  [ -s "$tmp/files/head.nii.gz" ]
}

read_plane_writes_a_picture_of_a_head () {
  "$examples/read-plane" "$tmp/store" ct/head >"$tmp/plane.pgm"
  [ "$(head -c 15 "$tmp/plane.pgm" | tr '\n' ' ')" = "P5 56 48 255 " ] ||
    [ "$(head -n 3 "$tmp/plane.pgm" | tr '\n' ' ')" = "P5 56 48 255 " ]
  # 13 bytes of header and a byte a pixel, not all of them alike.
  [ "$(wc -c <"$tmp/plane.pgm")" -eq $((13 + 56 * 48)) ]
  [ "$(tail -c $((56 * 48)) "$tmp/plane.pgm" | od -An -v -tu1 -w1 |
       sort -u | wc -l)" -gt 20 ]
}

many_boxes_reads_from_all_its_threads () {
  [ "$("$examples/many-boxes" "$tmp/store" ct/head)" = \
    "4 threads read 32 boxes each" ]
}

async_boxes_reads_them_all_from_one_thread () {
  [ "$("$examples/async-boxes" "$tmp/store" ct/head)" = \
    "256 boxes were read by one thread" ]
}

segment_writes_labels_with_the_geometry_of_the_volume () {
  "$examples/segment" "$tmp/store" ct/head 300 labels/bone >"$tmp/segment"
  n=$(sed -n 's|^labels/bone: \([0-9]*\) voxels$|\1|p' "$tmp/segment")
  [ "$n" -gt 1000 ]
  "$examples/read-plane" "$tmp/store" labels/bone >"$tmp/labels.pgm"
  [ "$(tail -c $((56 * 48)) "$tmp/labels.pgm" | od -An -v -tu1 -w1 |
       sort -u | tr -d ' \n')" = 0255 ]
  if "$examples/segment" "$tmp/store" ct/head 300 labels/bone \
    2>"$tmp/errors"; then
    return 1
  fi
  grep -q '^segment: labels/bone: ' "$tmp/errors"
}

# Reads of each type that the header names, and of nothing.
handles_of_c_plus_plus_read_every_type () {
  cat >"$tmp/types.cpp" <<'END'
#include <radio/radio.hpp>

static_assert (radio::dtype_of<long> == radio::dtype_of<long long>
               || sizeof (long) < sizeof (long long), "");
static_assert (radio::dtype_of<int64_t> == RADIO_INT64, "");
static_assert (radio::dtype_of<unsigned long long> == RADIO_UINT64, "");
static_assert (radio::dtype_of<unsigned char> == RADIO_UINT8, "");
static_assert (radio::dtype_of<bool> == RADIO_BOOL, "");
static_assert (radio::dtype_of<char> == RADIO_STORED, "");
static_assert (radio::dtype_of<long double> == RADIO_STORED, "");

int
main (int, char **argv)
{
  radio::store store (argv[1]);
  const std::vector<uint8_t> labels = { 0, 1, 1, 0, 0, 0, 1, 0 };
  radio_create_options options = {};
  options.rank = 3;
  for (size_t i = 0; i < 3; i++)
    options.shape[i] = 2;
  options.dtype = RADIO_BOOL;
  radio::writer writer (store, "labels/types", options);
  writer.write_slab (radio_box3 (0, 2, 0, 2, 0, 2), labels);
  writer.commit ();

  radio::volume volume (store, "labels/types");
  const std::vector<bool> flags = volume.read<bool> (volume.whole ());
  const std::vector<long long> wide
    = volume.read<long long> (volume.whole ());
  for (size_t i = 0; i < labels.size (); i++)
    if (flags[i] != (labels[i] != 0) || wide[i] != labels[i])
      return 1;
  uint64_t shape[2];
  if (volume.read_plane<bool> (RADIO_AXIAL, 0, shape)[1] != true)
    return 2;
  radio::async_read none;
  none.cancel ();
  return none.is_done () ? 0 : 3;
}
END
  ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -I"$srcdir/include" \
    -o "$tmp/types" "$tmp/types.cpp" \
    "$builddir/.libs/libradio.so" -Wl,-rpath,"$builddir/.libs"
  "$tmp/types" "$tmp/store"
}

# The only example in C++.
boxes_reads_in_c_plus_plus () {
  ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -I"$srcdir/include" \
    -o "$tmp/boxes" "$srcdir/docs/examples/boxes.cpp" \
    "$builddir/.libs/libradio.so" -Wl,-rpath,"$builddir/.libs"
  "$tmp/boxes" "$tmp/store" head "$tmp/boxes.json" >"$tmp/boxes.out"
  grep -q '^plane of 2688 voxels: mean -[0-9.]*$' "$tmp/boxes.out"
  [ "$(grep -c '^box [0-7]: mean -*[0-9.]*$' "$tmp/boxes.out")" -eq 8 ]
  grep -q 'open volume' "$tmp/boxes.json"
  grep -q 'mean' "$tmp/boxes.json"
  if "$tmp/boxes" "$tmp/none" head "$tmp/boxes.json" 2>"$tmp/errors"; then
    return 1
  fi
  grep -q '^boxes: .*none' "$tmp/errors"
}

ingest_folder_takes_images_once () {
  echo text >"$tmp/files/notes.txt"
  "$examples/ingest-folder" "$tmp/new" "$tmp/files" >"$tmp/first"
  grep -q '^images/head: .* MB$' "$tmp/first"
  [ "$(wc -l <"$tmp/first")" -eq 1 ]
  [ "$("$examples/ingest-folder" "$tmp/new" "$tmp/files")" = \
    "images/head: is there already" ]
}

the_ingested_copy_shows_the_same_plane () {
  "$examples/read-plane" "$tmp/store" ct/head >"$tmp/a.pgm"
  "$examples/read-plane" "$tmp/new" images/head >"$tmp/b.pgm"
  cmp "$tmp/a.pgm" "$tmp/b.pgm"
}

ingest_folder_reports_a_broken_image_and_continues () {
  mkdir "$tmp/mixed"
  echo rubbish >"$tmp/mixed/a.nii"
  cp "$tmp/files/head.nii.gz" "$tmp/mixed/b.nii.gz"
  if "$examples/ingest-folder" "$tmp/other" "$tmp/mixed" 2>"$tmp/errors"; then
    return 1
  fi
  grep -q 'a\.nii' "$tmp/errors"
  "$examples/read-plane" "$tmp/other" images/b >/dev/null
}

examples_fail_in_words () {
  for program in read-plane many-boxes async-boxes; do
    if "$examples/$program" "$tmp/none" ct/head 2>"$tmp/errors"; then
      return 1
    fi
    grep -q "^$program: .*none" "$tmp/errors"
  done
}

check make_phantom
check read_plane_writes_a_picture_of_a_head
check many_boxes_reads_from_all_its_threads
check async_boxes_reads_them_all_from_one_thread
check segment_writes_labels_with_the_geometry_of_the_volume
for test in boxes_reads_in_c_plus_plus \
  handles_of_c_plus_plus_read_every_type; do
  if ! command -v "${CXX:-c++}" >/dev/null; then
    skip "$test" "no C++ compiler"
  elif [ ! -e "$builddir/.libs/libradio.so" ]; then
    skip "$test" "no shared library built"
  else
    check "$test"
  fi
done
check ingest_folder_takes_images_once
check the_ingested_copy_shows_the_same_plane
check ingest_folder_reports_a_broken_image_and_continues
check examples_fail_in_words
plan
