# SPDX-License-Identifier: MIT
# Makes C strings of the page's sources, each file's of the kind that a
# "kind=..." in front of it says, all files of one kind in one string:
#
#   awk -f embed.awk kind=template page.html kind=style page.css \
#     kind=script a.mjs b.mjs
#
# What only readers of the sources need goes: comments on lines of their own
# and indentation (so no template, `...`, goes over a line's end).  The
# modules become one block of a strict script: import statements go, and so
# does the word export; names at the top of a module are therefore unique in
# all of them.  Blanks around signs go outside of strings, and not in lines that
# hold a regular expression or a template.  Names stay as they are, for who
# debugs a page: the page holds the script deflated.  Only ASCII is let
# through, so that no compiler's idea of character sets matters.

function fail(message) {
  print FILENAME ":" FNR ": " message >"/dev/stderr"
  failed = 1
  exit 1
}

function print_line(line) {
  gsub(/[\\"?]/, "\\\\&", line)
  print "  \"" line "\\n\""
}

function end_string() {
  if (string == "script")
    print_line("}")
  if (string != "")
    print "  ;"
}

function begin_string() {
  if (kind == string)
    return
  end_string()
  string = kind
  print "const char rd_page_" kind "[] ="
  if (string == "script")
    print_line("'use strict'; {")
}

FNR == 1 {
  begin_string()
  in_comment = in_import = 0
}

# Blanks around signs go; not those around + and -, which may be two.
function squeeze_signs(text) {
  gsub(/ *[=,;:?{}()\[\]&|*<>!]+ */, "\001&\001", text)
  gsub(/\001 *| *\001/, "", text)
  return text
}

function squeeze(line,    part, n, i, all) {
  if (line ~ /["`\\\/]/)
    return line
  n = split(line, part, "'")
  all = squeeze_signs(part[1])
  for (i = 2; i <= n; i++)
    all = all "'" (i % 2 ? squeeze_signs(part[i]) : part[i])
  return all
}

/[^ -~]/ { fail("a character that is neither ASCII nor printable") }

# What a module has at its top: its name must be its own.
kind == "script" && /^(export )?(async )?(function\*?|class|const|let) / {
  name = $0
  sub(/^(export )?(async )?(function\*?|class|const|let) /, "", name)
  sub(/[^A-Za-z0-9_].*/, "", name)
  if (name in owner)
    fail(name " is also in " owner[name])
  owner[name] = FILENAME
}

kind == "script" && /^(import|export) .* as / {
  fail("a name that is changed by import or export")
}

{ sub(/^ +/, "") }

in_comment {
  if (/(\*\/|-->)$/)
    in_comment = 0
  next
}

in_import {
  if (/;$/)
    in_import = 0
  next
}

(kind == "script" || kind == "loader") && /^\/\// { next }

kind == "script" && /^import / {
  in_import = !/;$/
  next
}

kind ~ /style$/ && /^\/\*/ {
  in_comment = !/\*\/$/
  next
}

kind == "template" && /^<!--/ {
  in_comment = !/-->$/
  next
}

/^$/ { next }

kind == "script" {
  sub(/^export /, "")
  $0 = squeeze($0)
}

kind ~ /style$/ {
  gsub(/: /, ":")
  gsub(/ \{ */, "{")
}

{ print_line($0) }

END {
  if (!failed)
    end_string()
}
