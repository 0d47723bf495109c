#!/bin/sh
# SPDX-License-Identifier: MIT
# Each public header stands by itself, in strict C and in C++; and radio.hpp
# does what it promises with each compiler that there is.
. "$(dirname "$0")/../functions.sh"

is_strict_c11 () {
  echo "#include <radio/$1>" |
    ${CC:-cc} -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only \
      -I"$srcdir/include" -x c -
}

is_c_plus_plus () {
  echo "#include <radio/$1>" |
    ${CXX:-c++} -std=c++11 -Wall -Wextra -Werror -fsyntax-only \
      -I"$srcdir/include" -x c++ -
}

# The C++ header, with exceptions and without.
is_c_plus_plus_17_and_20 () {
  for standard in 17 20; do
    echo "#include <radio/radio.hpp>" |
      "$1" -std=c++$standard -pedantic -Wall -Wextra -Wconversion \
        -Wsign-conversion -Werror -fsyntax-only -I"$srcdir/include" \
        "$2" -x c++ -
  done
}

handles_close_throw_and_end_scopes () {
  for standard in 17 20; do
    "$1" -std=c++$standard -Wall -Wextra -Wconversion -Werror \
      -I"$srcdir/include" -o "$tmp/handles" "$srcdir/tests/api/handles.cpp" \
      "$builddir/.libs/libradio.so" -Wl,-rpath,"$builddir/.libs"
    rm -rf "$tmp/files"
    mkdir "$tmp/files"
    [ "$("$tmp/handles" "$tmp/files")" = good ]
    # A library without the profiler writes none.
    [ -e "$tmp/files/profile.folded" ] || continue
    sed 's/ [0-9]*$//' "$tmp/files/profile.folded" >"$tmp/scopes"
    printf '%s\n' outer 'outer;inner' step | diff - "$tmp/scopes"
  done
}

radio_h_includes_every_header () {
  for file in "$srcdir"/include/radio/*.h; do
    name=${file##*/}
    [ "$name" = radio.h ] ||
      grep -q "<radio/$name>" "$srcdir/include/radio/radio.h"
  done
}

for file in "$srcdir"/include/radio/*.h; do
  check is_strict_c11 "${file##*/}"
  if command -v "${CXX:-c++}" >/dev/null; then
    check is_c_plus_plus "${file##*/}"
  else
    skip "is_c_plus_plus ${file##*/}" "no C++ compiler"
  fi
done
for cxx in "${CXX:-g++}" clang++; do
  if ! command -v "$cxx" >/dev/null; then
    skip "is_c_plus_plus_17_and_20 $cxx" "no $cxx"
    continue
  fi
  for option in -fexceptions -fno-exceptions -DRADIO_NO_EXCEPTIONS; do
    check is_c_plus_plus_17_and_20 "$cxx" "$option"
  done
  if [ -e "$builddir/.libs/libradio.so" ]; then
    check handles_close_throw_and_end_scopes "$cxx"
  else
    skip "handles_close_throw_and_end_scopes $cxx" "no shared library built"
  fi
done
check radio_h_includes_every_header
plan
