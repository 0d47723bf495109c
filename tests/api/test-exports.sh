#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports what the headers document, and nothing else;
# and every one of these functions has a comment and a place in libradio(3).
. "$(dirname "$0")/../functions.sh"

# Functions, and the one variable that inline functions read.
documented () {
  cat "$srcdir"/include/radio/*.h | tr '\n' ' ' |
    grep -oE 'RADIO_API[^;(]*[;(]' | grep -oE 'radio_[a-z0-9_]+ *[;(]$' |
    tr -d ' (;' | sort -u
}

the_map_lists_what_the_headers_declare () {
  grep -oE '^ +radio_[a-z0-9_]+;' "$srcdir/src/libradio.map" |
    tr -d ' ;' | sort -u >"$tmp/map"
  documented >"$tmp/headers"
  diff "$tmp/headers" "$tmp/map"
}

the_library_exports_what_the_headers_declare () {
  documented >"$tmp/headers"
  nm -D --defined-only "$builddir/.libs/libradio.so" |
    awk '$2 ~ /[TDBRV]/ { sub (/@.*/, "", $3); print $3 }' | sort -u \
    >"$tmp/exported"
  diff "$tmp/headers" "$tmp/exported"
}

internal_names_of_the_library_have_a_prefix () {
  # Archives of the objects of both libraries, whichever of these is built.
  nm --defined-only "$builddir"/.libs/libradio-internal.a \
    "$builddir"/.libs/libradio-text.a |
    awk '$2 ~ /^[TDBR]$/ && $3 !~ /^(rd_|radio_|__odr_asan|__start|__stop)/' \
    >"$tmp/names"
  cat "$tmp/names"
  [ ! -s "$tmp/names" ]
}

the_manual_names_every_function () {
  documented | while read -r name; do
    grep -q "$name" "$srcdir/docs/libradio.3" || echo "$name"
  done >"$tmp/missing"
  cat "$tmp/missing"
  [ ! -s "$tmp/missing" ]
}

check the_map_lists_what_the_headers_declare
if [ -e "$builddir/.libs/libradio.so" ]; then
  check the_library_exports_what_the_headers_declare
else
  skip the_library_exports_what_the_headers_declare "no shared library built"
fi
check internal_names_of_the_library_have_a_prefix
check the_manual_names_every_function
plan
