# SPDX-License-Identifier: MIT
# Makes C strings of the page's sources, each file's of the kind that a
# "kind=..." in front of it says, all files of one kind in one string:
#
#   awk -f embed.awk kind=template page.html kind=style page.css \
#     kind=script a.mjs b.mjs
#
# What only readers of the sources need goes: comments, which stand on lines
# of their own, indentation, blanks around signs, the last semicolon of a
# block, the 0 of 0.5, the ends of lines (so no template, `...`, goes over one),
# and const, which becomes let, one for declarations that follow each other.
# The modules become one block of a strict script: import statements go, and so
# does the word export; names at the top of a module are therefore unique in all
# of them.  A line of constants that are numbers, const NAME = 1;, goes, too,
# and its numbers take the place of their names.  Other names stay as they are,
# for who debugs a page: the page holds the script deflated.  Only ASCII is let
# through, so that no compiler's idea of character sets matters.

BEGIN {
  NUMBER = "[A-Z][A-Z0-9_]* = [0-9.]+(e-?[0-9]+)?"
  NUMBERS = "^(export )?const " NUMBER "(, " NUMBER ")*;$"
  for (i = 1; i < ARGC; i++)
    if (ARGV[i] ~ /^kind=/)
      is_script = ARGV[i] == "kind=script"
    else if (is_script)
      read_numbers(ARGV[i])
}

# Notes the constants of a module, which others may use before it comes.
function read_numbers(file,    line, n, pair, pairs) {
  while ((getline line <file) > 0) {
    if (line !~ NUMBERS)
      continue
    sub(/^(export )?const /, "", line)
    sub(/;$/, "", line)
    for (n = split(line, pairs, ", "); n > 0; n--) {
      split(pairs[n], pair, " = ")
      sub(/^0\./, ".", pair[2])
      number[pair[1]] = pair[2]
    }
  }
  close(file)
}

# What stands for a token of the script; next_: the character after it.
function replace(token, next_,    name) {
  if (token ~ /^0\.[0-9]/)
    return substr(token, 2)
  if (token in number) {
    if (next_ == ":")
      fail(token " is a constant, and a key")
    return number[token]
  }
  name = token
  if (sub(/\..*/, "", name) && name in number)
    fail(name " is a constant, and has no members")
  return token == "const" ? "let" : token ~ /^`/ ? replace_within(token) : token
}

# The same of what a template has in braces: `...${here}...`.
function replace_within(template,    length_, made) {
  while (match(template, /\$[{]/)) {
    made = made substr(template, 1, RSTART + 1)
    template = substr(template, RSTART + 2)
    for (; template !~ /^[}]/; template = substr(template, length_ + 1)) {
      length_ = token_length(template, made)
      made = made replace(substr(template, 1, length_),
                          substr(template, length_ + 1, 1))
    }
  }
  return made template
}

function fail(message) {
  print FILENAME ":" FNR ": " message >"/dev/stderr"
  failed = 1
  exit 1
}

function print_line(line) {
  gsub(/[\\"?]/, "\\\\&", line)
  print "  \"" line (string == "script" ? "" : "\\n") "\""
}

function end_string() {
  end_statement()
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

# The length of the token that a text of the script begins with, after what
# stands before it: a slash divides after an operand, and else begins a
# regular expression.
function token_length(text, before) {
  if (match(text, /^([A-Za-z0-9_$#.]+| +)/)) return RLENGTH
  if (match(text, /^'([^'\\]|\\.)*'/)) return RLENGTH
  if (match(text, /^"([^"\\]|\\.)*"/)) return RLENGTH
  if (match(text, /^`([^`\\]|\\.)*`/)) return RLENGTH
  if (text ~ /^\/\//)
    fail("a comment after code")
  if (before ~ /(^|[^])A-Za-z0-9_$#.]|[^A-Za-z0-9_$]return)$/ &&
      match(text, /^\/([^[\/\\]|\\.|\[([^]\\]|\\.)*\])+\/[a-z]*/))
    return RLENGTH
  return 1
}

# Whether a blank between two signs means something: between words, and
# between + and -, which may be two.
function is_apart(left, right) {
  return left right ~ /^([A-Za-z0-9_$#.][A-Za-z0-9_$#.]|[-+][-+])$/
}

# True if the string that a line begins with continues the one before it: the
# two are added, and no member of this one is used first.
function goes_on(line, length_) {
  return line ~ /^'/ && statement ~ /'\+$/ &&
    substr(line, length_ + 1) !~ /^ *[.[]/
}

# Appends a line of the script to what is gathered of its statement.
function squeeze(line,    length_, last, token) {
  for (; line != ""; line = substr(line, length_ + 1)) {
    length_ = token_length(line, statement)
    if (goes_on(line, length_)) {
      statement = substr(statement, 1, length(statement) - 2) \
        substr(line, 2, length_ - 1)
      continue
    }
    if (line ~ /^ /) {
      last = substr(statement, length(statement))
      if (is_apart(last, substr(line, length_ + 1, 1)))
        statement = statement " "
    }
    else {
      token = substr(line, 1, length_)
      statement = statement replace(token, substr(line, length_ + 1, 1))
    }
  }
}

# Whether a text is one declaration, and whole: its braces are in pairs.
function is_declaration(text) {
  return text ~ /^let [^;]*;$/ && gsub(/[{]/, "", text) == gsub(/[}]/, "", text)
}

# A whole statement waits for what follows it; declarations become one.
function hold_statement() {
  if (is_declaration(held) && is_declaration(statement)) {
    held = substr(held, 1, length(held) - 1) "," substr(statement, 5)
    statement = ""
    return
  }
  if (held != "")
    print_line(held)
  held = statement
  statement = ""
}

function end_statement() {
  hold_statement()
  hold_statement()
}

# Whether a statement's semicolon says nothing where its block ends: that of
# a loop without a body does.
function ends_freely(text) {
  return text ~ /;$/ && text !~ /(for|while|if) ?\([^{}]*\);$/
}

/[^ -~]/ { fail("a character that is neither ASCII nor printable") }

# What a module has at its top: its name must be its own, and so must that of
# each number of a line.
kind == "script" && /^(export )?(async )?(function\*?|class|const|let) / {
  names = $0
  sub(/^(export )?(async )?(function\*?|class|const|let) /, "", names)
  if ($0 !~ NUMBERS)
    sub(/[^A-Za-z0-9_].*/, "", names)
  count = split(names, name, ", ")
  for (i = 1; i <= count; i++) {
    sub(/ .*/, "", name[i])
    if (name[i] in owner)
      fail(name[i] " is also in " owner[name[i]])
    owner[name[i]] = FILENAME
  }
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

kind == "script" && $0 ~ NUMBERS { next }

kind == "script" || kind == "loader" {
  sub(/^export /, "")
  if (/^}/ && statement == "" && ends_freely(held)) {
    statement = substr(held, 1, length(held) - 1)
    held = ""
  }
  squeeze(" " $0)
  if (statement ~ /;$/)
    hold_statement()
  next
}

# A rule of a style is a line as well.
kind ~ /style$/ {
  gsub(/: /, ":")
  gsub(/ \{ */, "{")
  gsub(/, /, ",")
  gsub(/; /, ";")
  sub(/;? *\}$/, "}")
  statement = statement (statement ~ /(^|[;{,])$/ ? "" : " ") $0
  if (/[{}]$/)
    end_statement()
  next
}

{ print_line($0) }

END {
  if (!failed)
    end_string()
}
