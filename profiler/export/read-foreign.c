/* SPDX-License-Identifier: MIT */
/* What a file is that is no profile of radio's, told from its first bytes
 * or its members, so that whoever gave it knows what to give instead. */
#include <config.h>

#include <ctype.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/export/read.h"
#include "profiler/export/text.h"

#define LOOKED_AT_NBYTES 4096

static enum radio_status
fail_written (const char *where, const char *what)
{
  return rd_fail (RADIO_ERROR_UNSUPPORTED,
                  "%s: is %s, which radio only writes: give radio's .json or"
                  " .html", where, what);
}

static enum radio_status
fail_other (const char *where, const char *what)
{
  return rd_fail (RADIO_ERROR_FORMAT,
                  "%s: is %s, not a profile of radio's: give its .json or"
                  " .html", where, what);
}

static bool
contains (const char *text, size_t nbytes, const char *part)
{
  return memmem (text, nbytes, part, strlen (part)) != NULL;
}

static bool
begins_with (const char *text, size_t nbytes, const char *part)
{
  return nbytes >= strlen (part) && memcmp (text, part, strlen (part)) == 0;
}

static bool
has (struct json_object *document, const char *member)
{
  return json_object_is_type (document, json_type_object)
         && rd_json_member (document, member) != NULL;
}

/* Chrome's other form is a bare array of events. */
static bool
is_array_of_events (struct json_object *document)
{
  if (!json_object_is_type (document, json_type_array)
      || json_object_array_length (document) == 0)
    return false;
  return has (json_object_array_get_idx (document, 0), "ph");
}

static enum radio_status
fail_json (struct json_object *document, const char *where)
{
  if (has (document, "traceEvents") || is_array_of_events (document))
    return fail_written (where, "a Chrome trace");
  if (has (document, "$schema") && has (document, "profiles"))
    return fail_written (where, "a speedscope file");
  if (has (document, "zarr_format"))
    return fail_other (where, "a document of a Zarr store");
  return fail_other (where, "a JSON document");
}

/* Whether the first line is frames, a blank and a number. */
static bool
is_folded (const char *text, size_t nbytes)
{
  const char *end = memchr (text, '\n', nbytes);
  size_t n = end ? (size_t) (end - text) : 0;
  size_t digits = 0;
  while (digits < n && isdigit ((unsigned char) text[n - 1 - digits]))
    digits++;
  return digits > 0 && digits < n && text[n - 1 - digits] == ' '
         && text[0] != '{' && text[0] != '[' && text[0] != '<';
}

/* A page of radio's without its data, or somebody else's. */
static bool
is_page (const char *text, size_t nbytes)
{
  while (nbytes > 0 && isspace ((unsigned char) *text)) {
    text++;
    nbytes--;
  }
  return nbytes > 0 && *text == '<';
}

static enum radio_status
fail_bytes (const char *text, size_t nbytes, const char *where)
{
  if (nbytes == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: is empty, not a profile", where);
  if (begins_with (text, nbytes, "\x1f\x8b"))
    return fail_written (where, "compressed by gzip, as pprof's profiles"
                         " are");
  if (begins_with (text, nbytes, RD_TEXT_OPENING))
    return fail_written (where, "a profile as text");
  if (is_page (text, nbytes))
    return fail_other (where, "a page without radio's data in it");
  if (memchr (text, '\0', nbytes))
    return fail_other (where, "binary data");
  if (is_folded (text, nbytes))
    return fail_written (where, "folded stacks");
  if (contains (text, nbytes, "\"traceEvents\""))
    return fail_written (where, "a damaged Chrome trace");
  return fail_other (where, "something else");
}

enum radio_status
rd_read_foreign (const char *text, size_t nbytes,
                 struct json_object *document, const char *where)
{
  if (document != NULL && !json_object_is_type (document, json_type_int)
      && !json_object_is_type (document, json_type_double))
    return fail_json (document, where);
  return fail_bytes (text, nbytes < LOOKED_AT_NBYTES ? nbytes
                                                     : LOOKED_AT_NBYTES,
                     where);
}
