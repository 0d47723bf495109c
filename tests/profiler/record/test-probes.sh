#!/bin/sh
# SPDX-License-Identifier: MIT
# The library's USDT probes, as perf and bpftrace list them.
. "$(dirname "$0")/../../functions.sh"

library=$builddir/.libs/libradio.so

notes () {
  LC_ALL=C readelf -n "$library" | grep -A 4 stapsdt
}

# Provider, name, and two arguments each.
the_library_has_a_probe () {
  notes >"$tmp/notes"
  cat "$tmp/notes"
  grep -A 1 'Provider: radio$' "$tmp/notes" | grep -q "Name: $1\$"
  grep -A 2 "Name: $1\$" "$tmp/notes" | grep -Eq 'Arguments: .+ .+'
}

if ! grep -q '^#define RD_WITH_USDT 1' "$builddir/config.h"; then
  skip the_library_has_probes "built without USDT"
elif ! command -v readelf >/dev/null; then
  skip the_library_has_probes "there is no readelf"
elif ! [ -f "$library" ]; then
  skip the_library_has_probes "there is no shared library"
else
  check the_library_has_a_probe scope__begin
  check the_library_has_a_probe scope__end
  check the_library_has_a_probe scope__instant
fi
plan
