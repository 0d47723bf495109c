#!/bin/sh
# SPDX-License-Identifier: MIT
# The page's modules, one by one, by node's own tests, and the script that the
# build makes of them.
. "$(dirname "$0")/../../functions.sh"

here=$srcdir/tests/profiler/view
page=$srcdir/profiler/view
tests=$(sed -n 's/.*view\/\(.*\)\.test\.mjs .*/\1/p' "$here/Makefile.inc" |
  tr '\n' ' ')

embed () {
  (cd "$srcdir" && LC_ALL=C awk -f "$page/embed.awk" "$@")
}

# Prints the C strings without the names before them.
strings () {
  sed -n 's/^  "\(.*\)"$/\1/p' | awk '{
    gsub(/\\\\/, "\002"); gsub(/\\n/, "\001"); gsub(/\\"/, "\"")
    gsub(/\\\?/, "?"); gsub(/\001/, "\n"); gsub(/\002/, "\\")
    printf "%s", $0 }'
}

every_module_is_in_the_page () {
  for module in "$page"/*.mjs "$page"/*/*.mjs; do
    grep -q "profiler/view/${module#"$page"/} " "$page/Makefile.inc" ||
      { echo "${module#"$page"/} is not in PAGE_MODULES"; return 1; }
  done
}

# data < model < widgets < views: a module imports nothing from the right.
modules_import_downward_only () {
  for rule in data:model data:widgets data:views model:widgets model:views \
      widgets:views; do
    if grep -n "from '\.\./${rule#*:}/" "$page/${rule%:*}"/*.mjs; then
      echo "${rule%:*} must not import from ${rule#*:}"
      return 1
    fi
  done
}

every_module_test_is_run () {
  for file in "$here"/*.test.mjs; do
    name=${file##*/}
    case " $tests " in
      *" ${name%.test.mjs} "*) ;;
      *) echo "$name is not run"; return 1 ;;
    esac
  done
}

two_modules_with_one_name_are_refused () {
  printf '%s\n' 'export function same() {}' 'const A = 1, SAME = 2;' \
    >"$tmp/a.mjs"
  for line in 'const same = 1;' 'const B = 3, SAME = 4;'; do
    echo "$line" >"$tmp/b.mjs"
    if embed kind=script "$tmp/a.mjs" "$tmp/b.mjs" 2>"$tmp/err"; then
      return 1
    fi
    grep -i 'b.mjs:1: same is also in .*a.mjs' "$tmp/err" || return 1
  done
}

other_bytes_than_ascii_are_refused () {
  printf 'const a = "\303\251";\n' >"$tmp/a.mjs"
  if embed kind=script "$tmp/a.mjs" 2>"$tmp/err"; then
    return 1
  fi
  grep 'a.mjs:1: a character that is neither' "$tmp/err"
}

names_changed_on_the_way_are_refused () {
  echo "import { a as b } from './a.mjs';" >"$tmp/b.mjs"
  if embed kind=script "$tmp/b.mjs" 2>"$tmp/err"; then
    return 1
  fi
  grep 'b.mjs:1: a name that is changed' "$tmp/err"
}

strings_and_signs_survive_the_embedding () {
  cat >"$tmp/a.mjs" <<'END'
// Gone.
import { b,
         c } from './b.mjs';
export const a = '  { , } ?? \\ \n \' "x"  ';
  const d = a - -1 + +2, e = `4 / ${2}`;
  if (a !== ' , ') return { d: [1, -2], e : d ? 'b = { }' : a => b };
  const f = / = /, g = " = ", h = (4 / 2) / g.length;
  if (/[/'] "/.test(g))
    return / \/ '/u.test(f)
      && d in e;
  else
    f(h,
      d);
  function k(l) {
    if (l) {
      l = f(l);
    }
    for (const m of l)
      h(m);
    for (;;);
  }
  const n = () => {
    k();
    const o = 1;
    const p = 2;
  };
  const q = 3;
  g('one, '
    + 'two' + 'three', 'x' + g + 'y' + 'z'.length, '\'' + '+' + "4");
END
  embed kind=script "$tmp/a.mjs" | strings >"$tmp/out"
  tr -d '\n' >"$tmp/expected" <<'END'
'use strict'; {
let a='  { , } ?? \\ \n \' "x"  ',d=a- -1+ +2,e=`4 / ${2}`;
if(a!==' , ')return{d:[1,-2],e:d?'b = { }':a=>b};
let f=/ = /,g=" = ",h=(4/2)/g.length;
if(/[/'] "/.test(g))return/ \/ '/u.test(f)&&d in e;
else f(h,d);
function k(l){if(l){l=f(l)}for(let m of l)h(m);
for(;;);
}let n=()=>{k();
let o=1,p=2};
let q=3;
g('one, twothree','x'+g+'y'+'z'.length,'\'+'+"4");
}
END
  cmp "$tmp/out" "$tmp/expected"
}

constants_that_are_numbers_are_put_in () {
  printf '%s\n' "import { B } from './b.mjs';" 'const A = 0.5, A_2 = 1e-6;' \
    'f(A*B-A_2, 0.25, a ? A : D.B, `A${A * 2}/${f("}", B)}`);' >"$tmp/a.mjs"
  printf '%s\n' 'export const B = 26;' 'const D = { };' >"$tmp/b.mjs"
  embed kind=script "$tmp/a.mjs" "$tmp/b.mjs" | strings >"$tmp/out"
  tr -d '\n' >"$tmp/expected" <<'END'
'use strict'; {
f(.5*26-1e-6,.25,a?.5:D.B,`A${.5 * 2}/${f("}", 26)}`);
let D={};
}
END
  cmp "$tmp/out" "$tmp/expected" || return 1
  for use in 'f({ B: 1 });' 'f(B.length);' 'f(`${B.length}`);'; do
    printf '%s\n' "$use" >"$tmp/a.mjs"
    if embed kind=script "$tmp/a.mjs" "$tmp/b.mjs" 2>"$tmp/err"; then
      return 1
    fi
    grep 'a.mjs:1: B is a constant' "$tmp/err" || return 1
  done
}

a_comment_after_code_is_refused () {
  echo 'let a = 1; // one' >"$tmp/a.mjs"
  if embed kind=script "$tmp/a.mjs" 2>"$tmp/err"; then
    return 1
  fi
  grep 'a.mjs:1: a comment after code' "$tmp/err"
}

a_rule_of_a_style_becomes_a_line () {
  cat >"$tmp/a.css" <<'END'
/* Gone. */
a > b, c :hover { color: red;
  margin: 0 1px; }
@media (max-width: 9px) {
  .d { top: 0; }
}
END
  embed kind=style "$tmp/a.css" | strings >"$tmp/out"
  cat >"$tmp/expected" <<'END'
a > b,c :hover{color:red;margin:0 1px}
@media (max-width:9px){
.d{top:0}
}
END
  cmp "$tmp/out" "$tmp/expected"
}

module () {
  node "$here/$1.test.mjs"
}

the_whole_script_is_valid () {
  embed kind=script $(sed -n 's/^\t\(profiler.*mjs\).*/\1/p' \
    "$page/Makefile.inc") | strings >"$tmp/script.js"
  [ "$(wc -c <"$tmp/script.js")" -gt 30000 ]
  node --check "$tmp/script.js"
}

check every_module_is_in_the_page
check modules_import_downward_only
check every_module_test_is_run
check two_modules_with_one_name_are_refused
check other_bytes_than_ascii_are_refused
check strings_and_signs_survive_the_embedding
check constants_that_are_numbers_are_put_in
check a_comment_after_code_is_refused
check a_rule_of_a_style_becomes_a_line
check names_changed_on_the_way_are_refused
if command -v node >/dev/null; then
  check the_whole_script_is_valid
  for name in $tests; do
    check module "$name"
  done
else
  for name in the_whole_script $tests; do
    skip "$name" "node is missing"
  done
fi
plan
