/* SPDX-License-Identifier: MIT */
/* Parsing the text of triggers. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/triggers.h"

#define MAX_WHOLE 1000000000  /* of a time, in its unit */

struct parser {
  const char *text;
  const char *at;             /* what is read next */
};

/* Positions count bytes from 1. */
static enum radio_status
fail_at (const struct parser *parser, const char *at, const char *what)
{
  return rd_fail (RADIO_ERROR_ARGUMENT, "\"%.200s\" at character %zu: %s; "
                  "write NAME>TIME, ..., as \"read>50ms, decode*>5ms cpu\"",
                  parser->text, (size_t) (at - parser->text) + 1, what);
}

static bool
is_blank (char c)
{
  return c == ' ' || c == '\t';
}

static void
skip_blanks (struct parser *parser)
{
  while (is_blank (*parser->at))
    parser->at++;
}

static bool
is_digit (char c)
{
  return c >= '0' && c <= '9';
}

/* "50ms", "1.5 s".  Fractions of a nanosecond are cut. */
static enum radio_status
parse_time (struct parser *parser, uint64_t *ns)
{
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {
    { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
  };
  const char *begin = parser->at, *fraction = "";
  uint64_t whole = 0;
  for (; is_digit (*parser->at); parser->at++)
    if (whole <= MAX_WHOLE)
      whole = 10 * whole + (uint64_t) (*parser->at - '0');
  if (parser->at == begin)
    return fail_at (parser, begin, "no number");
  if (whole > MAX_WHOLE)
    return fail_at (parser, begin, "a number above 1000000000");
  if (*parser->at == '.') {
    fraction = ++parser->at;
    while (is_digit (*parser->at))
      parser->at++;
    if (parser->at == fraction)
      return fail_at (parser, fraction, "no digit after the point");
  }
  skip_blanks (parser);
  size_t i = 0, n = sizeof units / sizeof units[0];
  while (i < n && strncmp (parser->at, units[i].name,
                           strlen (units[i].name)) != 0)
    i++;
  if (i == n)
    return fail_at (parser, parser->at, "no unit (ns, us, ms or s)");
  parser->at += strlen (units[i].name);

  *ns = whole * units[i].ns;
  for (uint64_t digit_ns = units[i].ns / 10; is_digit (*fraction)
       && digit_ns > 0; digit_ns /= 10)
    *ns += (uint64_t) (*fraction++ - '0') * digit_ns;
  return *ns > 0 ? RADIO_OK
                 : fail_at (parser, begin, "a time of 0");
}

/* Takes a word if it is the next. */
static bool
take_word (struct parser *parser, const char *word)
{
  size_t n = strlen (word);
  if (strncmp (parser->at, word, n) != 0
      || (parser->at[n] != '\0' && parser->at[n] != ','
          && !is_blank (parser->at[n])))
    return false;
  parser->at += n;
  return true;
}

/* The trigger of a name of n bytes, added if new; NULL without memory or
 * room. */
static struct rd_trigger *
add_name (struct rd_triggers *triggers, const char *name, size_t n)
{
  for (size_t i = 0; i < triggers->n; i++)
    if (strlen (triggers->at[i].name) == n
        && memcmp (triggers->at[i].name, name, n) == 0)
      return &triggers->at[i];
  char *copy = triggers->n < RD_MAX_TRIGGERS ? strndup (name, n) : NULL;
  if (!copy)
    return NULL;
  struct rd_trigger *added = &triggers->at[triggers->n++];
  *added = (struct rd_trigger) { .name = copy };
  return added;
}

/* Up to the comma, or the end. */
static enum radio_status
parse_entry (struct parser *parser, struct rd_triggers *triggers)
{
  skip_blanks (parser);
  const char *name = parser->at, *end = name + strcspn (name, ",");
  const char *sign = end;
  while (sign > name && sign[-1] != '>')
    sign--;
  if (name == end)
    return fail_at (parser, name, "no entry");
  if (sign == name)
    return fail_at (parser, name, "no '>'");
  const char *name_end = sign - 1;
  while (name_end > name && is_blank (name_end[-1]))
    name_end--;
  if (name_end == name)
    return fail_at (parser, name, "no name before '>'");

  uint64_t ns;
  parser->at = sign;
  skip_blanks (parser);
  RD_TRY (parse_time (parser, &ns));
  skip_blanks (parser);
  bool is_cpu = take_word (parser, "cpu");
  if (!is_cpu)
    (void) take_word (parser, "wall");
  skip_blanks (parser);
  if (parser->at != end)
    return fail_at (parser, parser->at, "neither cpu, wall nor a comma");

  struct rd_trigger *trigger = add_name (triggers, name,
                                         (size_t) (name_end - name));
  if (!trigger && triggers->n == RD_MAX_TRIGGERS)
    return fail_at (parser, name, "more than 64 names");
  if (!trigger)
    return rd_fail_memory ((size_t) (name_end - name));
  uint64_t *limit = is_cpu ? &trigger->cpu_ns : &trigger->wall_ns;
  if (*limit > 0)
    return fail_at (parser, name, "this name has such a time already");
  *limit = ns;
  return RADIO_OK;
}

enum radio_status
rd_triggers_parse (const char *text, struct rd_triggers *triggers)
{
  struct parser parser = { .text = text, .at = text };
  *triggers = (struct rd_triggers) { .n = 0 };
  RD_TRY (parse_entry (&parser, triggers));
  while (*parser.at == ',') {
    parser.at++;
    RD_TRY (parse_entry (&parser, triggers));
  }
  return RADIO_OK;
}

void
rd_triggers_free (struct rd_triggers *triggers)
{
  for (size_t i = 0; i < triggers->n; i++)
    free (triggers->at[i].name);
  triggers->n = 0;
}

/* True if a trigger's name ends with '*', and a scope's begins as it does. */
static bool
begins_as (const char *trigger, const char *name)
{
  size_t n = strlen (trigger) - 1;
  return trigger[n] == '*' && strncmp (trigger, name, n) == 0;
}

bool
rd_trigger_fits (const struct rd_trigger *trigger, const char *name)
{
  return strcmp (trigger->name, name) == 0 || begins_as (trigger->name, name);
}

size_t
rd_triggers_find (const struct rd_triggers *triggers, const char *name)
{
  size_t found = triggers->n, longest = 0;
  for (size_t i = 0; i < triggers->n; i++) {
    size_t n = strlen (triggers->at[i].name);
    if (strcmp (triggers->at[i].name, name) == 0)
      return i;
    if (n > longest && begins_as (triggers->at[i].name, name)) {
      found = i;
      longest = n;
    }
  }
  return found;
}
