#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages are complete: each exported function, each command and
# each of its options.
. "$(dirname "$0")/../functions.sh"

# A manual page as plain words: roff's escapes and font changes taken away.
plain () {
  sed -e 's/\\f[BIRP]//g' -e 's/\\-/-/g' -e 's/\\e/\\/g' -e 's/" , "/ /g' \
    -e 's/[",]/ /g' "$srcdir/docs/$1"
}

every_exported_function_is_in_libradio_3 () {
  plain libradio.3 >"$tmp/page"
  sed -n 's/^ *\(radio_[a-z0-9_]*\);$/\1/p' "$srcdir/src/libradio.map" \
    >"$tmp/functions"
  [ -s "$tmp/functions" ]
  missing=0
  while read -r name; do
    grep -qw "$name" "$tmp/page" || { echo "$name is missing"; missing=1; }
  done <"$tmp/functions"
  return $missing
}

every_function_of_libradio_3_is_in_a_header () {
  plain libradio.3 | tr -cs 'a-z0-9_' '\n' | grep '^radio_[a-z0-9]*_' |
    sort -u >"$tmp/names"
  [ -s "$tmp/names" ]
  while read -r name; do
    case $name in radio_noun_verb) continue ;; esac
    grep -rqw "$name" "$srcdir/include/radio" ||
      { echo "$name is in no header"; return 1; }
  done <"$tmp/names"
}

every_status_is_in_libradio_3 () {
  sed -n 's/^ *\(RADIO_ERROR_[A-Z_]*\) = .*/\1/p' \
    "$srcdir/include/radio/base.h" >"$tmp/statuses"
  [ -s "$tmp/statuses" ]
  while read -r name; do
    grep -qw "$name" "$srcdir/docs/libradio.3" ||
      { echo "$name is missing"; return 1; }
  done <"$tmp/statuses"
}

commands () {
  "$RADIO" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# "profile slice", a line each.
sub_commands () {
  commands | while read -r command; do
    "$RADIO" help "$command" |
      sed -n "/^Commands:/,/^$/s/^  \([a-z]*\) .*/$command \1/p"
  done
}

every_sub_command_and_option_is_in_radio_1 () {
  plain radio.1 >"$tmp/page"
  sub_commands >"$tmp/subs"
  [ -s "$tmp/subs" ]
  while read -r command sub; do
    grep -q "radio $command.* $sub" "$tmp/page" ||
      { echo "$command $sub is missing"; return 1; }
    "$RADIO" help "$command" "$sub" | sed -n '/^Options:/,/^$/p' |
      grep -o -e ' --[a-z][a-z-]*' >"$tmp/options"
    [ -s "$tmp/options" ]
    while read -r option; do
      grep -q -e "$option\( \|=\|\$\)" "$tmp/page" ||
        { echo "$command $sub: $option is missing"; return 1; }
    done <"$tmp/options"
  done <"$tmp/subs"
}

every_command_and_option_is_in_radio_1 () {
  plain radio.1 >"$tmp/page"
  commands >"$tmp/commands"
  [ -s "$tmp/commands" ]
  while read -r command; do
    grep -q "^\.SS *radio $command" "$tmp/page" ||
      { echo "$command is missing"; return 1; }
    "$RADIO" "$command" --help | sed -n '/^Options:/,/^$/p' |
      grep -o -e ' --[a-z][a-z-]*' >"$tmp/options"
    [ -s "$tmp/options" ]
    while read -r option; do
      grep -q -e "$option\( \|=\|\$\)" "$tmp/page" ||
        { echo "$command: $option is missing"; return 1; }
    done <"$tmp/options"
  done <"$tmp/commands"
}

has_no_warning_of_groff () {
  groff -man -t -ww -Tutf8 "$srcdir/docs/$1" >/dev/null 2>"$tmp/warnings"
  cat "$tmp/warnings"
  [ ! -s "$tmp/warnings" ]
}

check every_exported_function_is_in_libradio_3
check every_function_of_libradio_3_is_in_a_header
check every_status_is_in_libradio_3
if [ -x "$RADIO" ]; then
  check every_command_and_option_is_in_radio_1
  check every_sub_command_and_option_is_in_radio_1
else
  skip every_command_and_option_is_in_radio_1 "the command is not built"
  skip every_sub_command_and_option_is_in_radio_1 "the command is not built"
fi
for page in radio.1 libradio.3; do
  if command -v groff >/dev/null; then
    check has_no_warning_of_groff $page
  else
    skip "has_no_warning_of_groff $page" "no groff"
  fi
done
plan
