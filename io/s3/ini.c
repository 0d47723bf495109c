/* SPDX-License-Identifier: MIT */
/* The parser of AWS's INI files.  Line by line, in place: what is kept of a
 * line is never longer than the line. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "io/s3/file.h"
#include "io/s3/ini.h"

struct parse {
  struct rd_s3_ini *ini;
  const char *where;
  size_t line;
  const char *section;        /* NULL: none yet */
  size_t last;                /* the property that indented lines belong to,
                                 and 1; 0: none */
};

static enum radio_status
fail_line (const struct parse *parse, const char *why)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: line %zu: %s", parse->where,
                  parse->line, why);
}

static bool
is_blank (char c)
{
  return c == ' ' || c == '\t';
}

static char *
skip_blanks (char *text)
{
  while (is_blank (*text))
    text++;
  return text;
}

static void
cut_blanks (char *text)
{
  size_t n = strlen (text);
  while (n > 0 && (is_blank (text[n - 1]) || text[n - 1] == '\r'))
    n--;
  text[n] = '\0';
}

static bool
begins_comment (char c)
{
  return c == '#' || c == ';';
}

/* End a text before a comment, which a blank precedes. */
static void
cut_comment (char *text)
{
  for (; *text; text++)
    if (is_blank (text[0]) && begins_comment (text[1])) {
      *text = '\0';
      return;
    }
}

static enum radio_status
add_property (struct rd_s3_ini *ini, const struct rd_s3_property *property)
{
  if (ini->n == ini->room) {
    size_t room = ini->room ? 2 * ini->room : 16;
    struct rd_s3_property *properties =
      rd_realloc (ini->properties, room * sizeof *properties);
    if (properties == NULL)
      return rd_fail_memory (room * sizeof *properties);
    ini->properties = properties;
    ini->room = room;
  }
  ini->properties[ini->n++] = *property;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Lines
 *----------------------------------------------------------------------*/

/* "profile  "NAME"" becomes "profile NAME". */
static void
join_words (char *text)
{
  char *to = text + strcspn (text, " \t");
  if (*to == '\0')
    return;
  char *from = skip_blanks (to);
  size_t n = strlen (from);
  if (n >= 2 && (*from == '"' || *from == '\'') && from[n - 1] == *from) {
    from++;
    n -= 2;
  }
  *to++ = ' ';
  memmove (to, from, n);
  to[n] = '\0';
}

static enum radio_status
parse_section (struct parse *parse, char *line)
{
  char *name = skip_blanks (line + 1);
  char *end = strchr (name, ']');
  if (end == NULL)
    return fail_line (parse, "a section without ']'");
  *end = '\0';
  cut_blanks (name);
  join_words (name);
  if (*name == '\0')
    return fail_line (parse, "a section without a name");
  parse->section = name;
  parse->last = 0;
  struct rd_s3_property property = { .section = name };
  return add_property (parse->ini, &property);
}

/* The line is "NAME = VALUE"; NULL: it is not. */
static char *
split (char *line)
{
  char *value = strchr (line, '=');
  if (value == NULL || value == line)
    return NULL;
  *value++ = '\0';
  cut_blanks (line);
  cut_comment (value);
  value = skip_blanks (value);
  cut_blanks (value);
  return *line ? value : NULL;
}

static enum radio_status
parse_property (struct parse *parse, char *line)
{
  char *value = split (line);
  if (parse->section == NULL)
    return fail_line (parse, "a property outside of any section");
  if (value == NULL)
    return fail_line (parse, "neither a section nor a property");
  struct rd_s3_property property = {
    parse->section, NULL, line, value, strlen (value),
  };
  parse->last = parse->ini->n + 1;
  return add_property (parse->ini, &property);
}

/* One more line of a value.  What was read is in front of what is, so there
 * is room. */
static void
continue_value (struct rd_s3_property *property, const char *line)
{
  size_t n = strlen (line);
  property->value[property->value_nbytes] = '\n';
  memmove (property->value + property->value_nbytes + 1, line, n);
  property->value_nbytes += n + 1;
  property->value[property->value_nbytes] = '\0';
}

static enum radio_status
parse_indented (struct parse *parse, char *line)
{
  if (parse->last == 0)
    return fail_line (parse, "indented, but below no property");
  struct rd_s3_property *above = &parse->ini->properties[parse->last - 1];
  if (above->value_nbytes > 0) {
    cut_blanks (line);
    continue_value (above, line);
    return RADIO_OK;
  }
  char *value = split (line);
  if (value == NULL)
    return fail_line (parse, "not a property");
  struct rd_s3_property property = {
    above->section, above->name, line, value, strlen (value),
  };
  return add_property (parse->ini, &property);
}

static enum radio_status
parse_line (struct parse *parse, char *line)
{
  char *text = skip_blanks (line);
  if (*text == '\0' || *text == '\r' || begins_comment (*text))
    return RADIO_OK;
  if (text > line)
    return parse_indented (parse, text);
  if (*text == '[')
    return parse_section (parse, text);
  return parse_property (parse, text);
}

static enum radio_status
parse_lines (struct parse *parse)
{
  char *line = (char *) parse->ini->text.data;
  if (strncmp (line, "\xef\xbb\xbf", 3) == 0)
    line += 3;
  while (line) {
    char *end = strchr (line, '\n');
    if (end)
      *end++ = '\0';
    parse->line++;
    RD_TRY (parse_line (parse, line));
    line = end;
  }
  return RADIO_OK;
}

static enum radio_status
take_apart (const char *where, struct rd_s3_ini *ini)
{
  struct parse parse = { .ini = ini, .where = where };
  if (memchr (ini->text.data, '\0', ini->text.nbytes))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: not a text", where);
  return parse_lines (&parse);
}

/*------------------------------------------------------------------------
 * Files
 *----------------------------------------------------------------------*/

static enum radio_status
read_text (const char *path, struct rd_s3_ini *ini)
{
  enum radio_status status =
    rd_s3_file_read (path, RD_S3_INI_MAX_NBYTES, &ini->text);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  RD_TRY (rd_buffer_reserve (&ini->text, 1));
  ini->text.data[0] = '\0';
  return RADIO_OK;
}

enum radio_status
rd_s3_ini_read (const char *path, struct rd_s3_ini *ini)
{
  RD_TRY (read_text (path, ini));
  return take_apart (path, ini);
}

enum radio_status
rd_s3_ini_parse (const void *bytes, size_t nbytes, const char *where,
                 struct rd_s3_ini *ini)
{
  if (nbytes > RD_S3_INI_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %d bytes", where,
                    RD_S3_INI_MAX_NBYTES);
  RD_TRY (rd_buffer_reserve (&ini->text, nbytes + 1));
  RD_TRY (rd_buffer_append (&ini->text, bytes, nbytes));
  ini->text.data[nbytes] = '\0';
  return take_apart (where, ini);
}

/* In any case of ASCII's letters. */
static bool
is_same_name (const char *a, const char *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  for (; *a && *b; a++, b++) {
    char c = *a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a;
    if (c != *b)
      return false;
  }
  return *a == *b;
}

const char *
rd_s3_ini_get (const struct rd_s3_ini *ini, const char *section,
               const char *parent, const char *name)
{
  for (size_t i = ini->n; i-- > 0;) {
    const struct rd_s3_property *property = &ini->properties[i];
    if (property->name && strcmp (property->section, section) == 0
        && is_same_name (property->parent, parent)
        && is_same_name (property->name, name))
      return property->value;
  }
  return NULL;
}

bool
rd_s3_ini_has_section (const struct rd_s3_ini *ini, const char *section)
{
  for (size_t i = 0; i < ini->n; i++)
    if (strcmp (ini->properties[i].section, section) == 0)
      return true;
  return false;
}

void
rd_s3_ini_free (struct rd_s3_ini *ini)
{
  rd_s3_buffer_wipe (&ini->text);
  rd_free (ini->properties);
  *ini = (struct rd_s3_ini) { 0 };
}
