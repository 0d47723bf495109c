# SPDX-License-Identifier: MIT
# Shorter names for the page's script, of which every file of a profile has a
# copy.  Used by embed.awk, which gives line after line and then asks for the
# lines back.
#
# A word is renamed, everywhere at once, if it is declared somewhere and is a
# variable wherever it stands: never a property, the key of an object, a
# method, or part of a pattern that takes an object apart.  What it is
# declared as, and in which scope, then does not matter: all that had one
# name still has one name, and no other has it.  Templates (`...`) are not
# understood, and refused.  A string or regular expression ends in its line.

# The tokens without blanks: token[i], of the class class[i] ("w": a word,
# "p": punctuation, "n": anything else).  before[i]: the blanks in front, with
# line ends as "\n".
function add_token(text, kind) {
  token[++ntokens] = text
  class[ntokens] = kind
  before[ntokens] = blanks
  blanks = ""
}

# Whether a slash begins a regular expression, and divides nothing.
function is_regex_place() {
  if (class[ntokens] != "p")
    return token[ntokens] == "return"
  return index("(,=:[!&|?{};", token[ntokens])
}

function shorten_line(rest, ends,   kind) {
  while (rest != "") {
    if (match(rest, /^ +/)) {
      blanks = blanks substr(rest, 1, RLENGTH)
      rest = substr(rest, RLENGTH + 1)
      continue
    }
    if (match(rest, /^[A-Za-z_$][A-Za-z0-9_$]*/))
      kind = "w"
    else if (match(rest, /^[0-9][A-Za-z0-9_.]*/) ||
             match(rest, /^'([^'\\]|\\.)*'/) ||
             match(rest, /^"([^"\\]|\\.)*"/) ||
             (is_regex_place() &&
              match(rest, /^\/([^\/\\[]|\\.|\[([^]\\]|\\.)*])+\//)))
      kind = "n"
    else {
      kind = "p"
      if (!match(rest, /^(\.\.\.|=>|==)/))
        RLENGTH = 1
      if (substr(rest, 1, 1) == "`")
        fail("a template, which shorten.awk does not understand")
    }
    add_token(substr(rest, 1, RLENGTH), kind)
    rest = substr(rest, RLENGTH + 1)
  }
  if (ends)
    blanks = blanks "\n"
}

# partner[i]: the other bracket of one; around[i]: the bracket around i.
function pair_brackets(   i, depth, stack) {
  for (i = 1; i <= ntokens; i++) {
    around[i] = depth > 0 ? stack[depth] : 0
    if (class[i] != "p")
      continue
    if (index("([{", token[i]))
      stack[++depth] = i
    else if (index(")]}", token[i])) {
      partner[i] = stack[depth--]
      partner[partner[i]] = i
    }
  }
}

# Whether the word at i is not a variable there.
function is_property(i,   last, following, in_braces) {
  last = token[i - 1]
  following = token[i + 1]
  in_braces = token[around[i]] == "{"
  if (last == "." || last == "#")
    return 1
  if (following == ":" && (last == "{" || last == ","))
    return 1
  if (!in_braces)
    return 0
  if ((last == "{" || last == ",") && following ~ /^[,}=]$/)
    return 1
  return following == "(" && token[partner[i + 1] + 1] == "{" &&
         last ~ /^([{};*]|get|set|async|static)$/
}

# What the bracket at i declares: parameters, or an array taken apart.
function declare_within(i,   j, last) {
  for (j = i + 1; j < partner[i]; j++) {
    last = token[j - 1]
    if (class[j] == "w" && around[j] == i &&
        (last == "," || last == token[i] || last == "..."))
      is_declared[token[j]] = 1
  }
}

function declare(i,   last, after) {
  last = token[i - 1]
  if (class[i] == "w") {
    if (last ~ /^(const|let|function|class)$/ || token[i + 1] == "=>")
      is_declared[token[i]] = 1
    return
  }
  if (token[i] == "(") {
    after = token[partner[i] + 1]
    if (after == "=>" || (after == "{" && class[i - 1] == "w" &&
                          last !~ /^(if|for|while|switch)$/))
      declare_within(i)
  }
  else if (token[i] == "[" && last ~ /^(const|let|\()$/)
    declare_within(i)
}

# Names that the browser has in every scope, and words of the language that
# stand where a declared name could.
function reserve(   words, n, i) {
  n = split("location history document window performance navigator name " \
            "event status top parent self length of get set static async " \
            "await if in do as is else for while return new this", words, " ")
  for (i = 1; i <= n; i++)
    is_fixed[words[i]] = 1
}

# The n-th new name: one letter, then two.
function make_name(n,   letters) {
  letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
  if (n <= 52)
    return substr(letters, n, 1)
  n -= 53
  return substr(letters, int(n / 52) + 1, 1) substr(letters, n % 52 + 1, 1)
}

# The most frequent words get the shortest names.
function choose_names(   word, best, most, n, name) {
  for (;;) {
    most = 0
    for (word in gain)
      if (gain[word] > most || (gain[word] == most && word < best)) {
        most = gain[word]
        best = word
      }
    if (most == 0)
      return
    do
      name = make_name(++n)
    while (name in count || name in is_fixed)
    if (length(name) < length(best))
      short[best] = name
    delete gain[best]
  }
}

# The script with shorter names, its lines apart by "\n".
function shortened(   i, word, line, text) {
  reserve()
  pair_brackets()
  for (i = 1; i <= ntokens; i++) {
    declare(i)
    if (class[i] == "w") {
      count[token[i]]++
      if (is_property(i))
        is_fixed[token[i]] = 1
    }
  }
  for (word in is_declared)
    if (!(word in is_fixed) && length(word) > 1)
      gain[word] = count[word] * (length(word) - 1)
  choose_names()
  for (i = 1; i <= ntokens; i++) {
    word = token[i]
    if (class[i] == "w" && word in short)
      word = short[word]
    else if (word == "const" && class[i] == "w" && token[i - 1] != ".")
      word = "let"
    line = line before[i] word
    if (length(line) > 2000) {
      text = text line
      line = ""
    }
  }
  return text line blanks
}
