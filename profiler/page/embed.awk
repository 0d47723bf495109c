# SPDX-License-Identifier: MIT
# Makes C strings of the page's sources, each file's of the kind that a
# "kind=..." in front of it says, all files of one kind in one string:
#
#   awk -f shorten.awk -f embed.awk kind=template page.html kind=style page.css \
#     kind=script a.mjs b.mjs
#
# What only readers of the sources need goes: comments on lines of their own,
# indentation, and blanks beside punctuation outside of quotes.  (So a regular
# expression in a module holds neither quotes nor blanks beside punctuation;
# a test runs the script that comes out.)  The modules become one script:
# import statements go, and so does the word export; names at the top of a
# module are therefore unique in all of them, and shorten.awk makes names of
# all modules shorter.  Only ASCII is let through, so
# that no compiler's idea of character sets matters.

function fail(message) {
  print FILENAME ":" FNR ": " message >"/dev/stderr"
  failed = 1
  exit 1
}

function print_line(line, ends) {
  gsub(/[\\"?]/, "\\\\&", line)
  print "  \"" line (ends ? "\\n" : "") "\""
}

function end_string(   lines, n, i) {
  if (string == "script") {
    n = split(shortened(), lines, "\n")
    for (i = 1; i <= n; i++)
      if (lines[i] != "")
        print_line(lines[i], i < n)
  }
  if (string != "")
    print "  ;"
}

function begin_string() {
  if (kind == string)
    return
  end_string()
  string = kind
  print "const char rd_page_" kind "[] ="
}

# A line without the blanks that only please the eye.
function squeeze(line, marks,   i, c, quote, out, before, after) {
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (quote != "") {
      if (c == "\\")
        c = c substr(line, ++i, 1)
      else if (c == quote)
        quote = ""
    }
    else if (c == "'" || c == "\"")
      quote = c
    else if (c == " ") {
      before = substr(out, length(out))
      after = substr(line, i + 1, 1)
      # Not "a - -b".
      if (!(index("+-", before) && index("+-", after)) &&
          (index(marks, before) || index(marks, after)))
        continue
    }
    out = out c
  }
  return out
}

FNR == 1 {
  begin_string()
  in_comment = in_import = 0
}

/[^ -~]/ { fail("a character that is neither ASCII nor printable") }

# What a module has at its top: its name must be its own.
kind == "script" && /^(export )?(async )?(function|class|const|let) / {
  name = $0
  sub(/^(export )?(async )?(function|class|const|let) /, "", name)
  sub(/[^A-Za-z0-9_].*/, "", name)
  if (name in owner)
    fail(name " is also in " owner[name])
  owner[name] = FILENAME
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

kind == "script" && /^\/\// { next }

kind == "script" && /^import / {
  in_import = !/;$/
  next
}

kind == "style" && /^\/\*/ {
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
  $0 = squeeze($0, "{}()[];,=?:<>&|!*+-/")
}

kind == "style" { $0 = squeeze($0, "{};,>") }

# After these a line's end means nothing to a script.
{
  if (kind == "script")
    shorten_line($0, !/[{;,(]$/)
  else
    print_line($0, 1)
}

END {
  if (!failed)
    end_string()
}
