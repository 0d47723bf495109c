#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/findings.md lists all findings, and no others.
: "${RADIO_TESTS_SRCDIR:=$(cd "$(dirname "$0")/../../.." && pwd)}"
. "$(dirname "$0")/../../functions.sh"
cd "$srcdir" || exit 99

# Ids such as "bound-by-decode" are whole strings in the sources.
ids_of_sources () {
  grep -ohE '"[a-z]+(-[a-z]+)*", *"[A-Z][^"]*"|"(straggler|imbalance)"' \
    profiler/model/find-*.c | sed 's/^"\([a-z-]*\)".*/\1/' | sort -u
}

# `bound-by-decode`, `-disk` stands for two.
ids_of_page () {
  grep -E '^\| `' docs/findings.md | cut -d'|' -f2 | tr ',' '\n' |
    tr -d '` ' | sed 's/^-/bound-by-/' | sort -u
}

the_page_lists_every_finding () {
  ids_of_sources >"$tmp/sources"
  ids_of_page >"$tmp/page"
  [ "$(wc -l <"$tmp/sources")" -ge 20 ] && diff "$tmp/sources" "$tmp/page"
}

check the_page_lists_every_finding
plan
