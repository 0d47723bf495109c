#!/bin/sh
# SPDX-License-Identifier: MIT
# What docs/architecture.md promises of the sources, checked: the rooms'
# arrows, widths and lengths, and functions that are not to be used.
. "$(dirname "$0")/../functions.sh"
cd "$srcdir" || exit 99

sources () {
  find include io src tools tests profiler -name '*.[ch]' 2>/dev/null
}

# What is written in other languages has the same widths.
scripts () {
  find profiler tests tools -name '*.mjs' -o -name '*.js' -o -name '*.awk' \
    -o -name '*.py'
}

every_file_begins_with_its_licence () {
  sources | while read -r file; do
    sed -n 1p "$file" | grep -q '^/\* SPDX-License-Identifier: MIT \*/$' ||
      echo "$file"
  done >"$tmp/out"
  cat "$tmp/out"
  [ ! -s "$tmp/out" ]
}

every_file_says_what_it_is_for () {
  sources | while read -r file; do
    sed -n 2p "$file" | grep -q '^/\*' || echo "$file"
  done >"$tmp/out"
  cat "$tmp/out"
  [ ! -s "$tmp/out" ]
}

no_line_is_wider_than_80_columns () {
  { sources; scripts; } |
    xargs awk 'length ($0) > 80 { print FILENAME ":" FNR; bad = 1 }
               END { exit bad }'
}

no_line_has_tabs_or_blanks_at_its_end () {
  ! { sources; scripts; } | xargs grep -nE '	| $'
}

no_file_is_longer_than_900_lines () {
  sources | xargs awk 'FNR == 901 { print FILENAME; bad = 1 }
                       END { exit bad }'
}

no_function_is_longer_than_120_lines () {
  sources | xargs awk '
    /^{/ { start = FNR }
    /^}/ { if (start && FNR - start - 1 > 120) {
             print FILENAME ":" start ": " FNR - start - 1; bad = 1 }
           start = 0 }
    END { exit bad }'
}

# Lines "FILE INCLUDED" of the files in the folders of the arguments.
includes () {
  grep -rnoE '^ *# *include "[^"]+"' "$@" --include='*.[ch]' |
    sed -E 's/^([^:]*):[0-9]+: *# *include "([^"]*)"/\1 \2/'
}

# The includes allowed to each folder: itself, the folders listed after its
# name, and src/base.  A second table names the single files that may include
# higher folders.
arrows () {
  cat <<'END'
include
src/base
profiler
profiler/record: profiler profiler/model
profiler/record/recover: profiler/record profiler profiler/model
profiler/model: profiler
profiler/view: profiler profiler/model
profiler/export: profiler profiler/model profiler/view
io: profiler
io/posix: io profiler
io/http: io profiler
io/s3: io io/http profiler
src
src/element: profiler
src/codec: src/element profiler
src/zarr: src/codec src/element profiler
src/nifti: src/element profiler
src/operation: src/element profiler
src/array/cache: src/codec src/element profiler
src/array: src/array/cache src/operation src/zarr src/codec src/element io profiler
src/table: src/array src/zarr src/element io profiler
src/cohort: src/table src/array src/element io profiler
src/volume: src/table src/array src/operation src/nifti src/zarr src/element io profiler
src/volume/gc: src/volume src/table src/array src/element io profiler
src/volume/stats: src/volume src/array src/element io profiler
src/volume/files: src/volume src/array src/array/cache src/nifti io profiler
src/volume/validate: src/volume src/volume/stats src/table src/array io profiler
src/volume/derive: src/volume src/volume/stats src/array src/operation src/nifti src/element profiler
src/volume/copy: src/volume src/volume/gc src/volume/stats src/array src/operation src/element io profiler
src/volume/index: src/volume src/table src/array io profiler
src/volume/check: src/volume src/volume/index src/array src/element io profiler
src/volume/ingest: src/volume src/volume/derive src/volume/gc src/array src/operation src/nifti src/zarr src/element io profiler
tools
tools/names: tools
tools/profile: tools
tools/slice: tools
tools/stats: tools
tools/tables: tools
tools/ingest: tools tools/tables
tools/bench: tools tools/profile
END
}

# Opening a store knows those of HTTP and S3; arrays take S3's options; and the
# environment starts a recording and writes it.
higher_arrows () {
  cat <<'END'
io/open.c io/http/http.h
io/open.c io/s3/s3.h
src/array/s3-options.h io/s3/s3.h
src/array/s3-options.h io/s3/sources.h
profiler/env.c profiler/export/export.h
profiler/env.c profiler/record/process.h
profiler/env.c profiler/record/recorder.h
profiler/env.c profiler/record/recover/rings.h
profiler/env.c profiler/record/slow.h
profiler/slow-files.c profiler/export/export.h
END
}

includes_point_downward () {
  arrows | tr -d : >"$tmp/arrows"
  higher_arrows >"$tmp/higher"
  includes include src io profiler tools | awk '
    function folder (path) { sub ("/[^/]*$", "", path); return path }
    FILENAME ~ /arrows$/ {
      known[$1] = 1
      for (i = 2; i <= NF; i++) may[$1, $i] = 1
      next
    }
    FILENAME ~ /higher$/ { one[$1, $2] = 1; next }
    { from = folder ($1); to = folder ($2) }
    !(from in known) {
      print from ": a folder that is not in arrows (): add it"
      known[from] = bad = 1
    }
    index ($2, "/") && from != to && to != "src/base" \
      && !((from, to) in may) && !(($1, $2) in one) {
      print $1 " includes " $2; bad = 1
    }
    END { exit bad }' "$tmp/arrows" "$tmp/higher" -
}

# x.c and x.h are one module.  The pairs on the list are to go.
modules_include_each_other_in_no_circle () {
  cat >"$tmp/known" <<'END'
profiler/model/profile profiler/model/builder
END
  includes include src io profiler tools | awk '
    # State: 1 on the path, 2 done.
    function visit (module, path, n, i, list) {
      if (state[module] == 1) {
        sub (".* " module " ", module " ", path)
        print path module
        bad = 1
      }
      if (state[module])
        return
      state[module] = 1
      n = split (includes[module], list, " ")
      for (i = 1; i <= n; i++)
        visit(list[i], path module " ")
      state[module] = 2
    }
    FILENAME ~ /known$/ { seen[$1, $2] = 1; next }
    {
      sub (/\.[ch]$/, "", $1)
      sub (/\.h$/, "", $2)
      if ($1 != $2 && !(($1, $2) in seen))
        includes[$1] = includes[$1] " " $2
      seen[$1, $2] = 1
    }
    END { for (module in includes) visit(module, " "); exit bad }' \
    "$tmp/known" -
}

every_header_has_a_guard_of_its_own () {
  find include src io profiler tools tests -name '*.h' | xargs awk '
    FNR == 1 { maybe = "" }
    $1 == "#define" && $2 == maybe {
      if (maybe in guards) { print FILENAME ": as in " guards[maybe]; bad = 1 }
      guards[maybe] = FILENAME
    }
    { maybe = $1 == "#ifndef" ? $2 : "" }
    END { exit bad }'
}

# room_includes_nothing_of ROOM PATTERN: no file of a room includes what
# matches.
room_includes_nothing_of () {
  ! grep -rnE "^ *# *include \"($2)/" "$1" --include='*.[ch]' |
    grep -v '"src/base/'
}

# Of the library's own headers, those of libradio-text.
the_command_includes_the_public_api_and_pure_helpers () {
  ! grep -rnE '^ *# *include "(io|src|profiler|tests)/' tools \
      --include='*.[ch]' |
    grep -vE '"src/base/(atomic-file|cpu-quota|text)\.h"'
}

the_library_prints_nothing () {
  ! grep -rnwE 'printf|puts|putchar|perror|fputs|stdout|stderr' profiler io src \
      --include='*.[ch]' | grep -vE ':[0-9]+: *(/?\*|[A-Za-z ,.]*$)'
}

# Only profiler/env.c, the settings of S3 and what looks for certificates read the
# environment: each in one function, the latter two where options are resolved.
the_library_leaves_the_process_alone () {
  ! grep -rnE '\b(getenv|secure_getenv|setlocale|signal|sigaction|exit|abort|chdir|umask|srand|rand|strtok|localtime|gmtime|asctime|ctime|strerror|rd_get_variable) \(' \
      profiler io src --include='*.[ch]' |
      grep -vE '(umask|abort|exit) \(.*(\*/|;)$' |
      grep -vE '^profiler/on-demand\.c:[0-9]+:.*\bsig(nal|action) \(' |
      grep -vE '^src/base/(environment\.h|simd\.c):[0-9]+:.*\b(secure_)?getenv \(' |
      grep -vE '^src/base/environment\.h:[0-9]+:rd_get_variable \(' |
      grep -vE '^(profiler/env|io/(s3/credentials|http/certificates))\.c:[0-9]+:.*\brd_get_variable \('
}

unsafe_functions_are_not_used () {
  ! grep -rnE '\b(strcpy|strcat|sprintf|vsprintf|sscanf|atoi|atol|atof|gets|alloca|strtod|tmpnam|mktemp) \(' \
      profiler io src tools --include='*.[ch]'
}

# The library's memory comes from rd_malloc and its kin (src/base/alloc.h)
# so that the caller can replace the allocator and the recorder can count;
# only what is for the caller's free (), or from realpath, is plain.
the_librarys_memory_comes_from_one_place () {
  ! grep -nE '(^|[^_a-z>.])((malloc|calloc|realloc|free|strdup|strndup|aligned_alloc|posix_memalign) \(|RD_FREE_PLAIN)' \
      -r io src --include='*.[ch]' |
    grep -vE '^[^:]*:[0-9]+: *(/\*|\*) ' |
    grep -vE '^src/base/(alloc\.[ch]|atomic-file\.c|cleanup\.h):' |
    grep -vE '^src/volume/(ingest/names\.c:.*char \*text|find\.c:.*\*path = strdup)'
}

# set -e ignores `! COMMAND', so in the middle of a test it tests nothing: it
# has to be the last line (use `not' elsewhere).
no_test_continues_after_a_negation () {
  find tests -name '*.sh' | xargs awk '
    FNR == 1 { open = 0 }
    open && !goes_on && !/^}/ { print place; bad = 1 }
    !goes_on { open = /^ *! /; place = FILENAME ":" FNR ": " $0 }
    { goes_on = /[\\|]$/ }
    END { exit bad }'
}

check every_file_begins_with_its_licence
check every_file_says_what_it_is_for
check no_line_is_wider_than_80_columns
check no_line_has_tabs_or_blanks_at_its_end
check no_file_is_longer_than_900_lines
check no_function_is_longer_than_120_lines
check every_header_has_a_guard_of_its_own
check includes_point_downward
check modules_include_each_other_in_no_circle
check room_includes_nothing_of include 'io|src|tools|tests|profiler'
check room_includes_nothing_of src/base 'profiler|io|src|tools|tests'
check room_includes_nothing_of profiler 'io|src|tools|tests'
check room_includes_nothing_of io 'src|tools|tests'
check room_includes_nothing_of src 'tools|tests'
check the_command_includes_the_public_api_and_pure_helpers
check the_library_prints_nothing
check the_library_leaves_the_process_alone
check unsafe_functions_are_not_used
check the_librarys_memory_comes_from_one_place
check no_test_continues_after_a_negation
plan
