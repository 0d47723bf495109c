#!/bin/sh
# SPDX-License-Identifier: MIT
# Each public header stands by itself, in strict C and in C++.
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
is_c_plus_plus_17 () {
  echo "#include <radio/radio.hpp>" |
    ${CXX:-c++} -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only \
      -I"$srcdir/include" "$@" -x c++ -
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
for option in -fexceptions -fno-exceptions -DRADIO_NO_EXCEPTIONS; do
  if command -v "${CXX:-c++}" >/dev/null; then
    check is_c_plus_plus_17 "$option"
  else
    skip "is_c_plus_plus_17 $option" "no C++ compiler"
  fi
done
check radio_h_includes_every_header
plan
