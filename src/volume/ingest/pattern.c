/* SPDX-License-Identifier: MIT */
/* Patterns of paths: a list of texts, fields and stars, which is matched by
 * backtracking.  Fields and stars take as much as they can. */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/volume/ingest/names.h"
#include "src/volume/ingest/pattern.h"

/* Most pieces of a pattern; nothing that names files has more. */
#define MAX_PIECES 64

/* Steps of a match.  Real patterns take less than a path has bytes. */
#define MAX_STEPS 1000000

struct piece {
  enum { TEXT, FIELD, STAR } kind;
  enum rd_field field;
  const char *text;           /* within the pattern's */
  size_t nbytes;
};

struct rd_pattern {
  char *text;
  struct piece pieces[MAX_PIECES];
  size_t npieces;
  size_t nslashes;            /* of the texts */
  bool is_absolute;           /* begins with '/' */
  bool has_suffix;            /* ends as an image's name does */
};

static const char *const field_names[RD_NFIELDS] = {
  [RD_FIELD_SUBJECT] = "subject",
  [RD_FIELD_SESSION] = "session",
  [RD_FIELD_RUN] = "run",
  [RD_FIELD_COLLECTION] = "collection",
  [RD_FIELD_CHANNEL] = "channel",
};

void
rd_pattern_free (struct rd_pattern *pattern)
{
  if (pattern)
    rd_free (pattern->text);
  rd_free (pattern);
}

/* Fails at a place of the pattern. */
RADIO_PRINTF (3, 4) static enum radio_status
fail_at (const char *pattern, const char *place, const char *format, ...)
{
  char text[256];
  va_list args;
  va_start (args, format);
  vsnprintf (text, sizeof text, format, args);
  va_end (args);
  return rd_fail (RADIO_ERROR_ARGUMENT, "pattern '%.300s': at character %zu: "
                  "%s", pattern, (size_t) (place - pattern) + 1, text);
}

/* Parses the piece at p, which is not the end. */
static enum radio_status
parse_piece (const char *pattern, const char *p, struct piece *piece)
{
  *piece = (struct piece) { .kind = TEXT, .text = p };
  if (*p == '}')
    return fail_at (pattern, p, "'}' without '{'");
  if (*p == '*') {
    piece->kind = STAR;
    piece->nbytes = strspn (p, "*");
    return RADIO_OK;
  }
  if (*p != '{') {
    piece->nbytes = strcspn (p, "{}*");
    return RADIO_OK;
  }
  size_t n = strcspn (p + 1, "{}");
  if (p[1 + n] != '}')
    return fail_at (pattern, p, "'{' without '}'");
  piece->kind = FIELD;
  piece->nbytes = n + 2;
  for (size_t i = 0; i < RD_NFIELDS; i++) {
    piece->field = (enum rd_field) i;
    if (strlen (field_names[i]) == n
        && strncmp (p + 1, field_names[i], n) == 0)
      return RADIO_OK;
  }
  return fail_at (pattern, p, "unknown field '{%.*s}'; use {subject}, "
                  "{session}, {run}, {collection} or {channel}",
                  n < 100 ? (int) n : 100, p + 1);
}

static enum radio_status
parse_pieces (struct rd_pattern *pattern)
{
  const char *text = pattern->text;
  bool has_subject = false;
  for (const char *p = text; *p;) {
    struct piece *piece = &pattern->pieces[pattern->npieces];
    if (pattern->npieces == MAX_PIECES)
      return fail_at (text, p, "more than %d fields, stars and texts",
                      MAX_PIECES);
    RD_TRY (parse_piece (text, p, piece));
    if (pattern->npieces > 0 && piece[-1].kind != TEXT && piece->kind != TEXT)
      return fail_at (text, p, "two fields without a text between them");
    for (size_t i = 0; piece->kind == TEXT && i < piece->nbytes; i++)
      pattern->nslashes += p[i] == '/';
    has_subject = has_subject || (piece->kind == FIELD
                                  && piece->field == RD_FIELD_SUBJECT);
    pattern->npieces++;
    p += piece->nbytes;
  }
  if (!has_subject)
    return rd_fail (RADIO_ERROR_ARGUMENT, "pattern '%.300s': has no {subject}",
                    text);
  return RADIO_OK;
}

enum radio_status
rd_pattern_parse (const char *text, struct rd_pattern **result)
{
  struct rd_pattern *pattern RD_CLEANUP (rd_cleanup_pattern)
    = rd_calloc (1, sizeof *pattern);
  if (pattern == NULL)
    return rd_fail_memory (sizeof *pattern);
  while (strncmp (text, "./", 2) == 0)
    text += 2;
  pattern->text = rd_strdup (text);
  if (pattern->text == NULL)
    return rd_fail_memory (strlen (text) + 1);
  RD_TRY (parse_pieces (pattern));
  pattern->is_absolute = *text == '/';
  pattern->has_suffix = text[rd_stem_length (text)] != '\0';
  *result = RD_STEAL (pattern);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Matching
 *----------------------------------------------------------------------*/

struct match {
  const struct rd_pattern *pattern;
  const char *end;            /* of the path */
  struct rd_field_text *fields;
  size_t nsteps;
};

/* The bytes at p up to the next '/'. */
static size_t
part_length (const struct match *match, const char *p)
{
  const char *slash = memchr (p, '/', (size_t) (match->end - p));
  return (size_t) ((slash ? slash : match->end) - p);
}

static bool
starts_with (const struct match *match, const char *p, const char *text,
             size_t nbytes)
{
  return (size_t) (match->end - p) >= nbytes && memcmp (p, text, nbytes) == 0;
}

/* True if the pieces from the i-th on match all from p on.  It calls itself at
 * most MAX_PIECES deep. */
static bool
match_from (struct match *match, size_t i, const char *p)
{
  const struct rd_pattern *pattern = match->pattern;
  for (; i < pattern->npieces; i++) {
    const struct piece *piece = &pattern->pieces[i];
    struct rd_field_text *field = piece->kind == FIELD
                                  ? &match->fields[piece->field] : NULL;
    const char *text = field ? field->start : piece->text;
    size_t nbytes = field ? field->nbytes : piece->nbytes;
    if (piece->kind == TEXT || (field && field->start)) {
      if (!starts_with (match, p, text, nbytes))
        return false;
      p += nbytes;
      continue;
    }
    size_t least = field ? 1 : 0;
    for (size_t n = part_length (match, p) + 1; n-- > least;) {
      if (field)
        *field = (struct rd_field_text) { p, n };
      if (++match->nsteps > MAX_STEPS)
        return false;
      if (match_from (match, i + 1, p + n))
        return true;
    }
    if (field)
      *field = (struct rd_field_text) { NULL, 0 };
    return false;
  }
  return p == match->end;
}

/* The start of the last parts of a path, as many as the pattern has; NULL: it
 * has fewer. */
static const char *
find_start (const struct rd_pattern *pattern, const char *path,
            const char *end)
{
  if (pattern->is_absolute)
    return path;
  size_t nslashes = 0;
  const char *p = end;
  while (p > path) {
    nslashes += p[-1] == '/';
    if (nslashes > pattern->nslashes)
      return p;
    p--;
  }
  return nslashes == pattern->nslashes ? p : NULL;
}

enum radio_status
rd_pattern_match (const struct rd_pattern *pattern, const char *path,
                  struct rd_field_text fields[RD_NFIELDS])
{
  const char *base = rd_base_name (path);
  const char *end = base + (pattern->has_suffix ? strlen (base)
                                                : rd_stem_length (base));
  struct match match = { .pattern = pattern, .end = end, .fields = fields };
  const char *start = find_start (pattern, path, end);
  memset (fields, 0, RD_NFIELDS * sizeof *fields);
  if (start && match_from (&match, 0, start))
    return RADIO_OK;
  if (match.nsteps > MAX_STEPS)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: pattern '%.300s' matches in too "
                    "many ways; use fewer stars", path, pattern->text);
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: does not match '%.300s'", path,
                  pattern->text);
}
