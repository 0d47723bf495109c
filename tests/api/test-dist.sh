#!/bin/sh
# SPDX-License-Identifier: MIT
# The tarball holds all of the source.
. "$(dirname "$0")/../functions.sh"

# Only files for git or CI are left out.
the_tarball_holds_every_file_of_the_source () {
  dist=$tmp/dist
  # Not a part of the make that runs the tests.
  unset MAKEFLAGS MFLAGS MAKELEVEL
  make -s -C "$builddir" distdir distdir="$dist" top_distdir="$dist"
  git -C "$srcdir" ls-files >"$tmp/files"
  [ -s "$tmp/files" ]
  missing=0
  while read -r file; do
    case $file in
      .ci/* | .gitignore | */.gitkeep) continue ;;
    esac
    # A file that is being removed is on the list still.
    [ -e "$srcdir/$file" ] || continue
    cmp "$srcdir/$file" "$dist/$file" || missing=1
  done <"$tmp/files"
  return $missing
}

if git -C "$srcdir" rev-parse --git-dir >/dev/null 2>&1 &&
   [ -f "$builddir/Makefile" ] && [ -e "$srcdir/.git" ]; then
  check the_tarball_holds_every_file_of_the_source
else
  skip the_tarball_holds_every_file_of_the_source "not a git checkout"
fi
plan
