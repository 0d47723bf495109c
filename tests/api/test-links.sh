#!/bin/sh
# SPDX-License-Identifier: MIT
# What the documents point to is there: files, headings, pictures.
. "$(dirname "$0")/../functions.sh"
cd "$srcdir" || exit 99

documents () {
  find . \( -path './build*' -o -path './_*' -o -path './.*' \) -prune \
    -o -name '*.md' -print | sed 's,^\./,,'
}

# Links as "DOCUMENT TARGET", except in blocks of code.
links () {
  documents | while read -r document; do
    awk '/^ *```/ { code = !code } !code' "$document" |
      grep -oE '\]\([^()]+\)' | sed "s,^](\(.*\))\$,$document \1,"
  done
}

# The names by which the headings of a document are reached.
anchors () {
  awk '/^ *```/ { code = !code } !code && /^#+ /' "$1" |
    sed -e 's/^#* *//' -e 's/[^a-zA-Z0-9 _-]//g' -e 's/ /-/g' |
    tr 'A-Z' 'a-z'
}

# resolve DOCUMENT TARGET, where it is not in the web.
resolve () {
  case $2 in
    http://* | https://*) return 0 ;;
    '#'*) file=$1 ;;
    *) file=$(dirname "$1")/${2%%#*} ;;
  esac
  [ -e "$file" ] || { echo "$1: $2 is not there"; return 1; }
  case $2 in
    *'#'*) anchors "$file" | grep -qx -e "${2#*#}" ||
      { echo "$1: $2: no such heading"; return 1; } ;;
  esac
}

every_link_of_a_document_leads_somewhere () {
  links >"$tmp/links"
  [ -s "$tmp/links" ]
  bad=0
  while read -r document target; do
    resolve "$document" "$target" || bad=1
  done <"$tmp/links"
  return $bad
}

every_picture_is_shown_and_small () {
  links >"$tmp/links"
  bad=0
  for picture in docs/pictures/*; do
    grep -q "/*pictures/${picture##*/}\$" "$tmp/links" ||
      { echo "$picture is in no document"; bad=1; }
    [ "$(wc -c <"$picture")" -le 60000 ] ||
      { echo "$picture has more than 60,000 bytes"; bad=1; }
  done
  return $bad
}

every_note_can_be_reached_from_the_readme () {
  links >"$tmp/links"
  : >"$tmp/reached"
  echo README.md >"$tmp/next"
  while [ -s "$tmp/next" ]; do
    cat "$tmp/next" >>"$tmp/reached"
    while read -r document; do
      folder=$(dirname "$document")
      awk -v from="$document" '$1 == from { print $2 }' "$tmp/links" |
        sed -n "s,^\([^#:]*\.md\).*,$folder/\1,p" | sed 's,^\./,,'
    done <"$tmp/next" | sort -u |
      grep -vxF -f "$tmp/reached" >"$tmp/found" || :
    mv "$tmp/found" "$tmp/next"
  done
  ls docs/*.md | grep -vxF -f "$tmp/reached" >"$tmp/lost" || :
  cat "$tmp/lost"
  [ ! -s "$tmp/lost" ]
}

check every_link_of_a_document_leads_somewhere
check every_picture_is_shown_and_small
check every_note_can_be_reached_from_the_readme
plan
