#!/bin/sh
# SPDX-License-Identifier: MIT
# tools/abi/check lets pass what the rules of the ABI allow, and names what
# they do not: tried with a library of five functions, in a repository of its
# own with a tag.
. "$(dirname "$0")/../functions.sh"
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost
GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME \
  GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
unset MAKEFLAGS MFLAGS MAKELEVEL
for program in git abidiff make cc; do
  command -v $program >/dev/null || {
    skip the_rules_of_the_abi_are_checked "no $program"
    plan
    exit 0
  }
done
repository=$tmp/repository

make_repository () {
  mkdir -p "$repository/tools/abi" "$repository/include/radio"
  cd "$repository"
  git init -q
  cp "$srcdir/tools/abi/check" "$srcdir/tools/abi/grown" tools/abi/
  echo /build/ >.gitignore
  cat >include/radio/a.h <<'END'
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
struct radio_a;
enum radio_kind { RADIO_ONE = 1, RADIO_TWO };
struct radio_box { size_t rank; uint64_t start[2]; };    /* frozen */
struct radio_options { bool first; uint64_t reserved[8]; };
struct radio_result { uint64_t count; bool good; uint64_t nbytes; };
struct radio_a *radio_open (const struct radio_options *options);
int radio_read (struct radio_a *a, const struct radio_box *box);
int radio_check (struct radio_a *a, struct radio_result *r, size_t nbytes);
enum radio_kind radio_kind (struct radio_a *a);
void radio_close (struct radio_a *a);
END
  cat >a.c <<'END'
#include "include/radio/a.h"
#include "a.h"
struct radio_a *radio_open (const struct radio_options *o) { return 0; }
int radio_read (struct radio_a *a, const struct radio_box *b) { return 0; }
int radio_check (struct radio_a *a, struct radio_result *r, size_t n)
{ return r->count + n; }
enum radio_kind radio_kind (struct radio_a *a) { return RADIO_ONE; }
void radio_close (struct radio_a *a) {}
END
  # As src/array/array.h: a private header of the same name.
  echo 'struct radio_a { int secret; };' >a.h
  cat >autogen.sh <<'END'
#!/bin/sh
cat >configure <<'EOF'
#!/bin/sh
cat >Makefile <<EOD
libradio.la:
	mkdir -p .libs && cc -g -O0 -shared -fPIC -Wl,-soname,libradio.so.1 \
	  -o .libs/libradio.so $(dirname "$0")/a.c
EOD
EOF
chmod +x configure
END
  chmod +x autogen.sh
  ./autogen.sh
  echo /configure >>.gitignore
  git add .
  git commit -qm "A library"
}

# ends STATUS TEXT [FOLDER]: builds the library of the checkout and checks it;
# the output has the text.  Everything else is as at the tag afterwards.
ends () (
  status=0
  cd "${3-$repository}"
  mkdir -p build/now
  ( cd build/now && ../../configure && make -s -B libradio.la )
  sh tools/abi/check build/now >"$tmp/out" 2>&1 || status=$?
  cat "$tmp/out"
  [ -n "${3-}" ] || git checkout -q .
  [ "$status" -eq "$1" ] && grep -q -e "$2" "$tmp/out"
)

header () {
  sed -i "$1" "$repository/include/radio/a.h"
}

grown () {
  printf '[suppress_type]\n  type_kind = struct\n' >"$repository/tools/abi/grown"
  printf '  %s\n' "$@" >>"$repository/tools/abi/grown"
}

without_a_tag_it_is_skipped () {
  ends 77 "SKIP: abi: no release has a tag"
  git -C "$repository" tag something
  ends 77 "SKIP: abi: no release has a tag"
  git -C "$repository" tag -a -m 'radio 0.2.0' v0.2.0
}

without_abidiff_it_is_skipped () {
  mkdir "$tmp/bin"
  ln -sf /bin/* /usr/bin/* "$tmp/bin/"
  rm "$tmp/bin/abidiff"
  PATH=$tmp/bin ends 77 "SKIP: abi: abidiff is missing (abigail-tools)"
}

what_is_the_same_passes () {
  ends 0 "^as in v0.2.0, or new$"
}

# What it is of the commits since.
what_is_committed_after_the_tag_is_compared_with_it () {
  git -C "$repository" commit -q --allow-empty -m Empty
  ends 0 "^as in v0.2.0, or new$"
}

new_functions_and_structs_pass () {
  header '$a struct radio_b { int x; };\nint radio_new (struct radio_b *b);'
  echo 'int radio_new (struct radio_b *b) { return b->x; }' \
    >>"$repository/a.c"
  ends 0 "^as in"
}

new_constants_pass_and_changed_ones_fail () {
  header 's/RADIO_TWO/&, RADIO_THREE/'
  ends 0 "^as in"
  header 's/RADIO_TWO/RADIO_NEW, &/'
  ends 1 "RADIO_TWO"
}

what_a_handle_holds_may_change () {
  sed -i 's/int secret/char secret[99]/' "$repository/a.h"
  ends 0 "^as in"
}

a_result_may_grow_at_its_end_once_it_is_listed () {
  header 's/uint64_t nbytes; }/uint64_t nbytes, more; }/'
  ends 1 "struct radio_result"
  header 's/uint64_t nbytes; }/uint64_t nbytes, more; }/'
  grown "name = radio_result" "has_data_member_inserted_at = end" \
    "has_size_change = yes"
  ends 0 "^as in"
}

an_option_may_take_a_reserved_place_once_it_is_listed () {
  header 's/uint64_t reserved\[8\]/uint64_t more, reserved[7]/'
  ends 1 "struct radio_options"
  header 's/uint64_t reserved\[8\]/uint64_t more, reserved[7]/'
  grown "name = radio_options" \
    "has_data_member_inserted_between = {offset_of(reserved), end}"
  ends 0 "^as in"
}

a_removed_function_fails () {
  header '/radio_close/d'
  sed -i '/radio_close/d' "$repository/a.c"
  ends 1 "void radio_close(radio_a\*)"
  grep -q '^FAILED: programs built for v0.2.0 may not run' "$tmp/out"
}

a_changed_argument_fails () {
  sed -i 's/\(radio_check.*\)size_t n/\1uint32_t n/' "$repository/a.c" \
    "$repository/include/radio/a.h"
  ends 1 "radio_check"
}

members_in_another_order_fail () {
  header 's/uint64_t count; bool good; uint64_t nbytes/uint64_t nbytes, count; bool good/'
  ends 1 "struct radio_result"
}

a_frozen_struct_that_grows_fails () {
  header 's/uint64_t start\[2\]; }/uint64_t start[2], size[2]; }/'
  ends 1 "struct radio_box"
}

a_release_that_cannot_be_built_fails_by_its_log () {
  git -C "$repository" commit -q --allow-empty -m Empty
  echo 'cc: a reason' >"$repository/build/abi/log"
  rm -rf "$repository"/build/abi/*/complete
  sed -i '1a echo a reason >\&2; exit 1' "$repository/autogen.sh"
  git -C "$repository" commit -qam Break
  git -C "$repository" tag v0.3.0
  ends 1 "^a reason$"
  grep -q '^FAILED: v0.3.0 cannot be built' "$tmp/out"
  git -C "$repository" tag -d v0.3.0
  git -C "$repository" reset -q --hard v0.2.0
}

# git clone --depth 1, as CI does it.
a_shallow_clone_has_the_tags_that_it_fetched () {
  git -C "$repository" commit -q --allow-empty -m Empty
  git clone -q --depth 1 "file://$repository" "$tmp/shallow"
  ( cd "$tmp/shallow" && ./autogen.sh )
  ends 77 "SKIP: abi: no release has a tag here (git fetch" "$tmp/shallow"
  git -C "$tmp/shallow" fetch -q --depth 1 --tags
  ends 0 "^as in v0.2.0" "$tmp/shallow"
}

a_tarball_in_another_repository_is_skipped () {
  mkdir "$repository/tarball"
  git -C "$repository" archive HEAD | tar -x -C "$repository/tarball"
  ( cd "$repository/tarball" && ./autogen.sh )
  ends 77 "SKIP: abi: no release has a tag here" "$repository/tarball"
}

make_repository >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 99; }
check without_a_tag_it_is_skipped
check without_abidiff_it_is_skipped
check what_is_the_same_passes
check what_is_committed_after_the_tag_is_compared_with_it
check new_functions_and_structs_pass
check new_constants_pass_and_changed_ones_fail
check what_a_handle_holds_may_change
check a_result_may_grow_at_its_end_once_it_is_listed
check an_option_may_take_a_reserved_place_once_it_is_listed
check a_removed_function_fails
check a_changed_argument_fails
check members_in_another_order_fail
check a_frozen_struct_that_grows_fails
check a_release_that_cannot_be_built_fails_by_its_log
check a_shallow_clone_has_the_tags_that_it_fetched
check a_tarball_in_another_repository_is_skipped
plan
