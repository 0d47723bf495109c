#!/bin/sh
# SPDX-License-Identifier: MIT
# Everything that names the version of radio names that of configure.ac.
. "$(dirname "$0")/../functions.sh"
cd "$srcdir" || exit 99
version=$(sed -n 's/^AC_INIT(\[radio\], \[\([0-9.]*\)\])$/\1/p' configure.ac)
major=${version%%.*} patch=${version##*.}
minor=${version#*.} minor=${minor%.*}

configure_has_three_numbers () {
  [ "$version" = "$major.$minor.$patch" ]
}

the_headers_have_it () {
  for number in "MAJOR $major" "MINOR $minor" "PATCH $patch"; do
    grep -qx "#define RADIO_VERSION_$number" include/radio/base.h
  done
}

the_command_has_it () {
  [ "$("$RADIO" --version)" = "radio $version" ]
}

the_manual_pages_have_it () {
  for page in radio.1 libradio.3; do
    grep -q "^\.TH .* \"radio $version\" " "docs/$page"
  done
}

# "(2026-11-23)" once it is released.
the_first_section_of_the_changes_is_on_it () {
  grep '^## ' docs/CHANGELOG.md | sed -n 1p |
    grep -qE "^## $version \(.+\)$"
}

the_profile_format_shows_it () {
  grep -qx "\"generator\": \"radio $version\"," docs/profile-format.md
}

the_python_package_has_it () {
  grep -qx "version = \"$version\"" tools/python/pyproject.toml
}

# What a release adds stands below its own node of the map.
no_symbol_is_of_a_later_version () {
  sed -n 's/^RADIO_\([0-9.]*\) {$/\1/p' src/libradio.map >"$tmp/nodes"
  { cat "$tmp/nodes"; echo "$major.$minor"; } | sort -C -V
  [ -s "$tmp/nodes" ]
}

check configure_has_three_numbers
check the_headers_have_it
if [ -x "$RADIO" ]; then
  check the_command_has_it
else
  skip the_command_has_it "the command is not built"
fi
check the_manual_pages_have_it
check the_first_section_of_the_changes_is_on_it
check the_profile_format_shows_it
check the_python_package_has_it
check no_symbol_is_of_a_later_version
plan
