#!/bin/sh
# SPDX-License-Identifier: MIT
# A program of somebody else: docs/examples/pipeline.c, compiled against an
# installed library with nothing but what pkg-config says, gets one tree with
# its own scopes and the library's inside.
. "$(dirname "$0")/../functions.sh"

# A setting of configure, by name.
setting () {
  sed -n "s/^$1 = //p" "$builddir/Makefile"
}

CC=$(setting CC)
prefix=$(setting prefix)
root=$tmp/root

the_library_is_installed_into_a_folder () {
  # Not a part of the make that runs the tests.
  unset MAKEFLAGS MFLAGS MAKELEVEL
  make -s -C "$builddir" DESTDIR="$root" install-data \
    install-libLTLIBRARIES >"$tmp/install.log" 2>&1 || {
      cat "$tmp/install.log"
      return 1
    }
  [ -f "$root$prefix/include/radio/radio.h" ]
  pc=$(find "$root" -name libradio.pc)
  [ -f "$pc" ]
}

# The prefix is where the library was put for this test, not where it is to
# be used from.
flags () (
  PKG_CONFIG_PATH=$(dirname "$(find "$root" -name libradio.pc)")
  export PKG_CONFIG_PATH
  packages=libradio
  # A library without a shared one (--disable-shared) does not bring what it
  # needs; --static would want these as static libraries, too.
  if [ -z "$(find "$root" -name 'libradio.so*')" ]; then
    packages="libradio $(pkg-config --print-requires-private libradio)"
  fi
  # shellcheck disable=SC2086 # a list of names
  pkg-config --define-variable=prefix="$root$prefix" "$@" $packages
)

# Nothing but an installed prefix: no folder of the source or the build.
an_example_compiles_by_pkg_config_alone () {
  mkdir "$tmp/elsewhere"
  cp "$srcdir/docs/examples/pipeline.c" "$tmp/elsewhere"
  cd "$tmp/elsewhere"
  # shellcheck disable=SC2046 disable=SC2086
  $CC $(setting SANITIZER_CFLAGS) -Wall -Wextra -Werror \
    $(flags --cflags) -o pipeline pipeline.c $(flags --libs) -lm -pthread
}

run_example () {
  LD_LIBRARY_PATH=$(dirname "$(find "$root" -name 'libradio.so.?')") \
    "$tmp/elsewhere/pipeline" "$@"
}

it_records_one_tree_with_both_in_it () {
  run_example "$tmp/store" ct/head "$tmp/out.folded" >"$tmp/out"
  grep -q "^48 patches; the profile is in $tmp/out.folded$" "$tmp/out"
  # One root; and the library's reading below the program's loading.
  [ "$(sed 's/[; ].*//' "$tmp/out.folded" | sort -u)" = pipeline ]
  grep -q '^pipeline;step;load patch;normalise [0-9]*$' "$tmp/out.folded"
  grep -q '^pipeline;step;load patch;read;.*decode' "$tmp/out.folded"
  grep -q '^pipeline;step;wait for patches [0-9]*$' "$tmp/out.folded"
}

every_patch_is_counted_where_it_belongs () {
  run_example "$tmp/store" ct/head "$tmp/out.txt" >/dev/null
  grep -q ' 6 .*- step' "$tmp/out.txt"
  grep -q ' 48 .*=> load patch' "$tmp/out.txt"
  grep -q ' 48 .*- normalise' "$tmp/out.txt"
}

its_page_is_read_back () {
  run_example "$tmp/store" ct/head "$tmp/out.html" >/dev/null
  grep -q '"load patch"' "$tmp/out.html"
  grep -q '"voxels normalised"' "$tmp/out.html"
}

failures_are_reported_in_words () {
  if run_example "$tmp/none" ct/head "$tmp/no.html" 2>"$tmp/errors"; then
    return 1
  fi
  grep -q '^pipeline: .*none' "$tmp/errors"
  if run_example "$tmp/store" ct/head "$tmp/no.doc" 2>"$tmp/errors"; then
    return 1
  fi
  grep -q '^pipeline: .*no.doc' "$tmp/errors"
}

# A folder of the installation below $tmp/named, by its variable.
named () {
  folder=$(setting "$1")
  case $folder in '${datarootdir}'*)
    folder=$(setting datarootdir)${folder#"\${datarootdir}"} ;;
  esac
  case $folder in '${prefix}'*) folder=$prefix${folder#"\${prefix}"} ;; esac
  printf %s "$tmp/named$folder"
}

# Debian has another command of this name.
completion_follows_the_name_of_the_command () {
  unset MAKEFLAGS MFLAGS MAKELEVEL
  data=$(named datarootdir)
  make -s -C "$builddir" DESTDIR="$tmp/named" transform='s,^,x-,' \
    install-dist_completionDATA install-dist_zshcompletionDATA \
    install-data-hook
  grep -q '^complete -F _radio x-radio$' \
    "$data/bash-completion/completions/x-radio.bash"
  grep -q '^#compdef x-radio$' "$data/zsh/site-functions/_x-radio"
  [ "$(find "$tmp/named" -type f | wc -l)" -eq 2 ]
}

# Only the command is renamed, not the library.
man_pages_follow_the_name_of_the_command () {
  unset MAKEFLAGS MFLAGS MAKELEVEL
  make -s -C "$builddir" DESTDIR="$tmp/named" transform='s,^,x-,' \
    install-man install-dist_libraryman3DATA
  man=$(named mandir)
  [ -f "$man/man1/x-radio.1" ]
  [ -f "$man/man3/libradio.3" ]
  [ "$(find "$man" -type f | wc -l)" -eq 2 ]
}

check completion_follows_the_name_of_the_command
check man_pages_follow_the_name_of_the_command

if ! command -v pkg-config >/dev/null; then
  skip the_rest "no pkg-config"
  plan
  exit 0
fi
check the_library_is_installed_into_a_folder
check an_example_compiles_by_pkg_config_alone
"$builddir/docs/examples/make-phantom" "$tmp/store" "$tmp/head.nii"
run_example "$tmp/store" ct/head "$tmp/probe.json" >/dev/null 2>"$tmp/errors"
if grep -q disable-profiler "$tmp/errors"; then
  skip it_records_one_tree_with_both_in_it "$(cat "$tmp/errors")"
else
  check it_records_one_tree_with_both_in_it
  check every_patch_is_counted_where_it_belongs
  check its_page_is_read_back
  check failures_are_reported_in_words
fi
plan
