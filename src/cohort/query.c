/* SPDX-License-Identifier: MIT */
/* Parsing queries, by recursive descent with a limit of its depth; and the
 * comparisons that the language defines. */
#include <config.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/buffer.h"
#include "src/base/json.h"
#include "src/base/reserve.h"
#include "src/base/text.h"
#include "src/cohort/query.h"

enum token_kind {
  TOKEN_END = 0,
  TOKEN_NAME,                 /* also the words of the language */
  TOKEN_QUOTED_NAME,
  TOKEN_TEXT,
  TOKEN_NUMBER,
  TOKEN_COMPARE,
  TOKEN_MARK,                 /* ( ) , . */
};

/* A part of the text; what is quoted has its quotes. */
struct token {
  enum token_kind kind;
  const char *at;
  size_t n;
  enum rd_compare compare;
};

struct parser {
  const char *text;
  struct token token;         /* the next one */
  struct rd_query *query;
  size_t depth;
  size_t nresults;            /* waiting now */
  size_t *error_at;
};

#define SHOWN_NBYTES 60

enum radio_status
rd_query_fail (size_t at, size_t *error_at, const char *format, ...)
{
  char message[RD_ERROR_NBYTES];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (message, sizeof message, format, arguments);
  va_end (arguments);
  *error_at = at;
  if (at == SIZE_MAX)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s", message);
  return rd_fail (RADIO_ERROR_ARGUMENT, "query, byte %zu: %s", at, message);
}

/* The bytes before the next token. */
static size_t
token_place (const struct parser *parser)
{
  return (size_t) (parser->token.at - parser->text);
}

/* "expected WHAT instead of 'TOKEN'". */
static enum radio_status
fail_token (const struct parser *parser, const char *expected)
{
  const struct token *token = &parser->token;
  size_t at = token_place (parser);
  if (token->kind == TOKEN_END)
    return rd_query_fail (at, parser->error_at, "expected %s at the end",
                          expected);
  size_t n = token->n > SHOWN_NBYTES ? rd_utf8_cut (token->at, SHOWN_NBYTES)
                                     : token->n;
  return rd_query_fail (at, parser->error_at, "expected %s instead of '%.*s'",
                        expected, (int) n, token->at);
}

/*------------------------------------------------------------------------
 * Words
 *----------------------------------------------------------------------*/

static bool
begins_name (char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
         || (unsigned char) c >= 0x80;
}

static bool
is_digit (char c)
{
  return c >= '0' && c <= '9';
}

static size_t
count_digits (const char *at)
{
  size_t n = 0;
  while (is_digit (at[n]))
    n++;
  return n;
}

/* Returns the length of the number that text begins with; 0 without one. */
static size_t
number_nbytes (const char *at)
{
  size_t n = *at == '-' || *at == '+', digits = count_digits (at + n);
  if (digits == 0)
    return 0;
  n += digits;
  digits = at[n] == '.' ? count_digits (at + n + 1) : 0;
  n += digits ? digits + 1 : 0;
  if (at[n] != 'e' && at[n] != 'E')
    return n;
  size_t sign = at[n + 1] == '-' || at[n + 1] == '+';
  digits = count_digits (at + n + 1 + sign);
  return digits ? n + 1 + sign + digits : n;
}

static bool
take_compare (const char *at, struct token *token)
{
  static const struct {
    const char *text;
    enum rd_compare compare;
  } marks[] = {
    { "==", RD_EQUAL }, { "!=", RD_NOT_EQUAL }, { "<=", RD_LESS_EQUAL },
    { ">=", RD_GREATER_EQUAL }, { "<", RD_LESS }, { ">", RD_GREATER },
  };
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    size_t n = strlen (marks[i].text);
    if (strncmp (at, marks[i].text, n) == 0) {
      *token = (struct token) { TOKEN_COMPARE, at, n, marks[i].compare };
      return true;
    }
  }
  return false;
}

/* True before a character of a quoted token that is taken as it is: in text
 * after '\' the quote or another '\', in names the quote after itself. */
static bool
is_escape (const char *at, char quote)
{
  return quote == '`' ? at[0] == quote && at[1] == quote
                      : at[0] == '\\' && (at[1] == '\\' || at[1] == quote);
}

static enum radio_status
take_quoted (struct parser *parser, const char *at)
{
  char quote = *at;
  size_t n = 1;
  for (; at[n] != '\0'; n++) {
    if (is_escape (at + n, quote))
      n++;
    else if (at[n] == quote) {
      parser->token = (struct token) {
        quote == '`' ? TOKEN_QUOTED_NAME : TOKEN_TEXT, at, n + 1, RD_EQUAL
      };
      return RADIO_OK;
    }
  }
  return rd_query_fail ((size_t) (at - parser->text), parser->error_at,
                        "the quote %c is not closed", quote);
}

/* Moves to the next token. */
static enum radio_status
advance (struct parser *parser)
{
  const char *at = parser->token.at + parser->token.n;
  at += strspn (at, " \t\r\n");
  struct token *token = &parser->token;
  *token = (struct token) { TOKEN_END, at, 0, RD_EQUAL };
  size_t n = number_nbytes (at), where = (size_t) (at - parser->text);
  if (*at == '\0' || take_compare (at, token))
    return RADIO_OK;
  if (*at == '"' || *at == '\'' || *at == '`')
    return take_quoted (parser, at);
  if (n > 0 && begins_name (at[n])) {
    while (n < SHOWN_NBYTES && (begins_name (at[n]) || is_digit (at[n])))
      n++;
    return rd_query_fail (where, parser->error_at, "a name that begins with a "
                          "digit needs backquotes, as `%.*s`", (int) n, at);
  }
  *token = (struct token) { n > 0 ? TOKEN_NUMBER : TOKEN_MARK, at, n ? n : 1,
                            RD_EQUAL };
  if (n > 0 || strchr ("(),.", *at))
    return RADIO_OK;
  while (begins_name (at[n]) || (n > 0 && is_digit (at[n])))
    n++;
  *token = (struct token) { TOKEN_NAME, at, n, RD_EQUAL };
  if (n > 0)
    return RADIO_OK;
  token->n = rd_utf8_nbytes (at) ? rd_utf8_nbytes (at) : 1;
  return fail_token (parser, *at == '=' ? "'=='"
                     : *at == '&' ? "'and'" : *at == '|' ? "'or'"
                     : *at == '!' ? "'not' or '!='"
                     : "a name, a value or an operator");
}

static bool
is_word (const struct parser *parser, const char *word)
{
  const struct token *token = &parser->token;
  return token->kind == TOKEN_NAME && strlen (word) == token->n
         && memcmp (token->at, word, token->n) == 0;
}

static bool
is_mark (const struct parser *parser, char mark)
{
  return parser->token.kind == TOKEN_MARK && *parser->token.at == mark;
}

/* True for a word that is no name unless it is quoted. */
static bool
is_reserved (const struct parser *parser)
{
  static const char *const words[] = {
    "and", "or", "not", "in", "like", "is", "missing", "has", "true", "false"
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (is_word (parser, words[i]))
      return true;
  return false;
}

/*------------------------------------------------------------------------
 * Values
 *----------------------------------------------------------------------*/

static enum radio_status
add_value (struct parser *parser, struct rd_value **value)
{
  struct rd_query *query = parser->query;
  RD_TRY (rd_reserve (&query->values, &query->values_capacity, query->nvalues,
                      sizeof *query->values));
  *value = &query->values[query->nvalues++];
  **value = (struct rd_value) { .at = token_place (parser) };
  return RADIO_OK;
}

/* Copies a token without its quotes. */
static enum radio_status
copy_text (const struct token *token, struct rd_value *value)
{
  bool is_quoted = token->kind != TOKEN_NAME;
  char quote = *token->at;
  const char *from = token->at + is_quoted;
  size_t n = token->n - 2 * is_quoted;
  value->text = rd_malloc (n + 1);
  if (!value->text)
    return rd_fail_memory (n + 1);
  for (size_t i = 0; i < n; i++) {
    if (is_quoted && is_escape (from + i, quote))
      i++;
    value->text[value->nbytes++] = from[i];
  }
  value->text[value->nbytes] = '\0';
  return RADIO_OK;
}

/* An integer if it has no point or exponent and fits into 64 bits. */
static enum radio_status
parse_number (const struct parser *parser, struct rd_number *number)
{
  const struct token *token = &parser->token;
  bool is_negative = *token->at == '-';
  size_t sign = is_negative || *token->at == '+';
  const char *digits = token->at + sign, *at = digits;
  uint64_t value;
  bool is_whole = rd_read_digits (&at, &value)
                  && at == token->at + token->n;
  if (is_whole && value <= (uint64_t) INT64_MAX + is_negative) {
    /* Also of the smallest one. */
    number->i = (int64_t) (is_negative ? 0 - value : value);
    return RADIO_OK;
  }
  if (is_whole && !is_negative) {
    *number = (struct rd_number) { .kind = RD_NUMBER_UINT, .u = value };
    return RADIO_OK;
  }
  /* JSON has no zeros in front, and json-c no locale. */
  while (*digits == '0' && is_digit (digits[1]))
    digits++;
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  RD_CLEANUP (rd_cleanup_json) struct json_object *json = NULL;
  size_t n = (size_t) (token->at + token->n - digits);
  RD_TRY (rd_buffer_append (&text, "-", is_negative));
  RD_TRY (rd_buffer_append (&text, digits, n));
  RD_TRY (rd_buffer_append (&text, ".0", count_digits (digits) == n ? 2 : 0));
  enum radio_status status = rd_json_parse ((const char *) text.data,
                                            text.nbytes, "number", &json);
  if (status == RADIO_ERROR_MEMORY)
    return status;
  double real = status == RADIO_OK ? json_object_get_double (json) : INFINITY;
  if (!isfinite (real))
    return fail_token (parser, "a number that a double can hold");
  *number = (struct rd_number) { .kind = RD_NUMBER_FLOAT, .f = real };
  return RADIO_OK;
}

static enum radio_status
take_name (struct parser *parser, struct rd_value *value)
{
  const struct token *token = &parser->token;
  bool is_scope = token->kind == TOKEN_NAME && token->at[token->n] == '.';
  if (is_scope) {
    if (is_word (parser, "volume"))
      value->scope = RD_NAME_VOLUME;
    else if (is_word (parser, "subject"))
      value->scope = RD_NAME_SUBJECT;
    else
      return rd_query_fail (value->at, parser->error_at, "'%.*s.' is neither "
                            "'volume.' nor 'subject.'; a name with a point "
                            "needs backquotes", token->n > SHOWN_NBYTES
                            ? SHOWN_NBYTES : (int) token->n, token->at);
    RD_TRY (advance (parser));
    RD_TRY (advance (parser));
  }
  if (token->kind != TOKEN_QUOTED_NAME
      && (token->kind != TOKEN_NAME || is_reserved (parser)))
    return fail_token (parser, "a column's name");
  RD_TRY (copy_text (token, value));
  return advance (parser);
}

/* True at a text, a number, true or false. */
static bool
is_literal (const struct parser *parser)
{
  return parser->token.kind == TOKEN_TEXT
         || parser->token.kind == TOKEN_NUMBER || is_word (parser, "true")
         || is_word (parser, "false");
}

static enum radio_status
take_literal (struct parser *parser)
{
  struct rd_value *value;
  enum token_kind kind = parser->token.kind;
  if (!is_literal (parser))
    return fail_token (parser, kind == TOKEN_NAME
                       ? "a value (text needs quotes)" : "a value");
  RD_TRY (add_value (parser, &value));
  value->kind = kind == TOKEN_TEXT ? RD_VALUE_TEXT
                : kind == TOKEN_NUMBER ? RD_VALUE_NUMBER : RD_VALUE_BOOL;
  value->truth = is_word (parser, "true");
  if (kind == TOKEN_TEXT)
    RD_TRY (copy_text (&parser->token, value));
  else if (kind == TOKEN_NUMBER)
    RD_TRY (parse_number (parser, &value->number));
  return advance (parser);
}

static enum radio_status
take_value (struct parser *parser)
{
  struct rd_value *value;
  enum token_kind kind = parser->token.kind;
  bool is_name = kind == TOKEN_QUOTED_NAME
                 || (kind == TOKEN_NAME && !is_reserved (parser));
  if (is_literal (parser))
    return take_literal (parser);
  if (!is_name)
    return fail_token (parser, "a column or a value");
  RD_TRY (add_value (parser, &value));
  return take_name (parser, value);
}

/*------------------------------------------------------------------------
 * Conditions
 *----------------------------------------------------------------------*/

static enum radio_status
add_step (struct parser *parser, struct rd_query_step step)
{
  struct rd_query *query = parser->query;
  RD_TRY (rd_reserve (&query->steps, &query->steps_capacity, query->nsteps,
                      sizeof *query->steps));
  query->steps[query->nsteps++] = step;
  if (step.op == RD_QUERY_OR || step.op == RD_QUERY_AND)
    parser->nresults--;
  else if (step.op != RD_QUERY_NOT)
    parser->nresults++;
  if (query->max_results < parser->nresults)
    query->max_results = parser->nresults;
  return RADIO_OK;
}

static enum radio_status
take_mark (struct parser *parser, char mark, const char *expected)
{
  if (!is_mark (parser, mark))
    return fail_token (parser, expected);
  return advance (parser);
}

static enum radio_status
parse_has (struct parser *parser)
{
  const struct rd_query_step step = {
    .op = RD_QUERY_HAS, .first = parser->query->nvalues, .n = 1,
  };
  struct rd_value *value;
  RD_TRY (advance (parser));
  RD_TRY (take_mark (parser, '(', "'(' and a collection"));
  enum token_kind kind = parser->token.kind;
  if (kind != TOKEN_NAME && kind != TOKEN_QUOTED_NAME && kind != TOKEN_TEXT)
    return fail_token (parser, "a collection");
  RD_TRY (add_value (parser, &value));
  RD_TRY (copy_text (&parser->token, value));
  RD_TRY (advance (parser));
  RD_TRY (take_mark (parser, ')', "')'"));
  return add_step (parser, step);
}

static enum radio_status
parse_in (struct parser *parser)
{
  RD_TRY (advance (parser));
  RD_TRY (take_mark (parser, '(', "'(' and values"));
  for (;;) {
    RD_TRY (take_literal (parser));
    if (!is_mark (parser, ','))
      break;
    RD_TRY (advance (parser));
  }
  return take_mark (parser, ')', "',' or ')'");
}

/* Parses the comparison that follows a value; without one the value is a column
 * of booleans. */
static enum radio_status
parse_condition (struct parser *parser)
{
  struct rd_query *query = parser->query;
  struct rd_query_step step = {
    .op = RD_QUERY_TRUTH, .first = query->nvalues,
  };
  bool is_not = false;
  if (is_word (parser, "has"))
    return parse_has (parser);
  RD_TRY (take_value (parser));
  size_t at = token_place (parser);
  if (parser->token.kind == TOKEN_COMPARE) {
    step.op = RD_QUERY_COMPARE;
    step.compare = parser->token.compare;
    step.at = at;
    RD_TRY (advance (parser));
    RD_TRY (take_value (parser));
  } else if (is_word (parser, "is")) {
    step.op = RD_QUERY_MISSING;
    RD_TRY (advance (parser));
    is_not = is_word (parser, "not");
    if (is_not)
      RD_TRY (advance (parser));
    if (!is_word (parser, "missing"))
      return fail_token (parser, is_not ? "'missing'" : "'missing' or 'not "
                                                        "missing'");
    RD_TRY (advance (parser));
  } else if (is_word (parser, "in") || is_word (parser, "like")
             || is_word (parser, "not")) {
    is_not = is_word (parser, "not");
    if (is_not)
      RD_TRY (advance (parser));
    step.at = at;
    if (is_word (parser, "in")) {
      step.op = RD_QUERY_IN;
      RD_TRY (parse_in (parser));
    } else if (is_word (parser, "like")) {
      step.op = RD_QUERY_LIKE;
      RD_TRY (advance (parser));
      if (parser->token.kind != TOKEN_TEXT)
        return fail_token (parser, "a pattern in quotes");
      RD_TRY (take_literal (parser));
    } else
      return fail_token (parser, "'in' or 'like'");
  }
  step.n = query->nvalues - step.first;
  const struct rd_value *values = &query->values[step.first];
  bool has_column = values[0].kind == RD_VALUE_COLUMN
                    || (step.op == RD_QUERY_COMPARE
                        && values[1].kind == RD_VALUE_COLUMN);
  if (!has_column)
    return rd_query_fail (values[0].at, parser->error_at, "expected a column; "
                          "a condition needs one");
  RD_TRY (add_step (parser, step));
  step.op = RD_QUERY_NOT;
  return is_not ? add_step (parser, step) : RADIO_OK;
}

static enum radio_status parse_or (struct parser *parser);

static enum radio_status
parse_not (struct parser *parser)
{
  const struct rd_query_step step = { .op = RD_QUERY_NOT };
  bool is_not = false;
  while (is_word (parser, "not")) {
    is_not = !is_not;
    RD_TRY (advance (parser));
  }
  if (!is_mark (parser, '('))
    RD_TRY (parse_condition (parser));
  else {
    if (++parser->depth > RD_QUERY_MAX_DEPTH) {
      size_t at = token_place (parser);
      *parser->error_at = at;
      return rd_fail (RADIO_ERROR_LIMIT, "query, byte %zu: more than %d "
                      "parentheses are open", at, RD_QUERY_MAX_DEPTH);
    }
    RD_TRY (advance (parser));
    RD_TRY (parse_or (parser));
    RD_TRY (take_mark (parser, ')', "'and', 'or' or ')'"));
    parser->depth--;
  }
  return is_not ? add_step (parser, step) : RADIO_OK;
}

static enum radio_status
parse_and (struct parser *parser)
{
  RD_TRY (parse_not (parser));
  while (is_word (parser, "and")) {
    RD_TRY (advance (parser));
    RD_TRY (parse_not (parser));
    RD_TRY (add_step (parser, (struct rd_query_step) { .op = RD_QUERY_AND }));
  }
  return RADIO_OK;
}

static enum radio_status
parse_or (struct parser *parser)
{
  RD_TRY (parse_and (parser));
  while (is_word (parser, "or")) {
    RD_TRY (advance (parser));
    RD_TRY (parse_and (parser));
    RD_TRY (add_step (parser, (struct rd_query_step) { .op = RD_QUERY_OR }));
  }
  return RADIO_OK;
}

void
rd_query_free (struct rd_query *query)
{
  if (!query)
    return;
  for (size_t i = 0; i < query->nvalues; i++)
    rd_free (query->values[i].text);
  rd_free (query->values);
  rd_free (query->steps);
  rd_free (query);
}

enum radio_status
rd_query_parse (const char *text, struct rd_query **result, size_t *error_at)
{
  RD_CLEANUP (rd_cleanup_query) struct rd_query *query
    = rd_calloc (1, sizeof *query);
  *error_at = 0;
  if (!query)
    return rd_fail_memory (sizeof *query);
  size_t n = strlen (text), valid = rd_utf8_valid_nbytes (text, n);
  if (n > RD_QUERY_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_LIMIT, "query, byte 0: %zu bytes; at most %zu "
                    "are allowed", n, RD_QUERY_MAX_NBYTES);
  if (valid < n)
    return rd_query_fail (valid, error_at, "not UTF-8");
  struct parser parser = {
    .text = text, .token = { .at = text }, .query = query,
    .error_at = error_at,
  };
  RD_TRY (advance (&parser));
  RD_TRY (parse_or (&parser));
  if (parser.token.kind != TOKEN_END)
    return fail_token (&parser, "'and', 'or' or the end");
  *result = RD_STEAL (query);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Comparisons
 *----------------------------------------------------------------------*/

static int
compare_int_float (int64_t i, double f)
{
  if (f >= 0x1p63)
    return -1;
  if (f < -0x1p63)
    return 1;
  /* Towards 0, exact; from 2^53 on there is no fraction. */
  int64_t whole = (int64_t) f;
  double rest = f - (double) whole;
  return i != whole ? (i < whole ? -1 : 1) : (rest < 0) - (rest > 0);
}

static int
compare_uint_float (uint64_t u, double f)
{
  if (f >= 0x1p64)
    return -1;
  if (f < 0x1p63)
    return 1;
  uint64_t whole = (uint64_t) f;
  return (u > whole) - (u < whole);
}

int
rd_number_compare (struct rd_number a, struct rd_number b)
{
  if (b.kind == RD_NUMBER_FLOAT && a.kind != RD_NUMBER_FLOAT)
    return a.kind == RD_NUMBER_INT ? compare_int_float (a.i, b.f)
                                   : compare_uint_float (a.u, b.f);
  if (a.kind == RD_NUMBER_FLOAT && b.kind != RD_NUMBER_FLOAT)
    return -rd_number_compare (b, a);
  if (a.kind != b.kind)
    return a.kind == RD_NUMBER_UINT ? 1 : -1;
  return a.kind == RD_NUMBER_INT ? (a.i > b.i) - (a.i < b.i)
         : a.kind == RD_NUMBER_UINT ? (a.u > b.u) - (a.u < b.u)
         : (a.f > b.f) - (a.f < b.f);
}

/* Returns the bytes of the character at the start of text. */
static size_t
character_nbytes (struct rd_slice text)
{
  size_t n = 1;
  while (n < text.n && ((unsigned char) text.at[n] & 0xc0) == 0x80)
    n++;
  return n;
}

static struct rd_slice
skip (struct rd_slice text, size_t n)
{
  return (struct rd_slice) { text.at + n, text.n - n };
}

bool
rd_query_like (struct rd_slice text, struct rd_slice pattern)
{
  /* Where the last '*' and what it takes end: only that one is extended. */
  struct rd_slice star = { NULL, 0 }, taken = { NULL, 0 };
  while (text.n > 0) {
    char c = pattern.n > 0 ? *pattern.at : '\0';
    bool is_escaped = c == '\\' && pattern.n > 1;
    if (pattern.n > 0 && c == '*') {
      pattern = skip (pattern, 1);
      star = pattern;
      taken = text;
    } else if (pattern.n > 0 && c == '?') {
      pattern = skip (pattern, 1);
      text = skip (text, character_nbytes (text));
    } else if (pattern.n > 0 && pattern.at[is_escaped] == *text.at) {
      pattern = skip (pattern, 1 + (size_t) is_escaped);
      text = skip (text, 1);
    } else if (star.at) {
      taken = skip (taken, character_nbytes (taken));
      text = taken;
      pattern = star;
    } else
      return false;
  }
  while (pattern.n > 0 && *pattern.at == '*')
    pattern = skip (pattern, 1);
  return pattern.n == 0;
}
