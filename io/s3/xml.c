/* SPDX-License-Identifier: MIT */
/* XML elements as they end, within limits. */
#include <config.h>

#include <expat.h>
#include <limits.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/text.h"
#include "io/s3/xml.h"

#define MAX_DEPTH 8
#define MAX_PATH_NBYTES 256
#define MAX_TEXT_NBYTES 16384

struct reader {
  XML_Parser parser;
  const char *where;
  rd_s3_xml_fn *fn;
  void *user_data;
  enum radio_status status;
  char path[MAX_PATH_NBYTES];
  size_t path_nbytes;
  size_t depth;
  size_t names_at[MAX_DEPTH]; /* where the path of the element before ends */
  struct rd_buffer text;      /* of the innermost element, so far */
};

static void
stop (struct reader *reader, enum radio_status status)
{
  if (reader->status == RADIO_OK)
    reader->status = status;
  XML_StopParser (reader->parser, XML_FALSE);
}

static void
reject (struct reader *reader, const char *what)
{
  stop (reader, rd_fail (RADIO_ERROR_FORMAT, "%s: the response's XML has %s",
                         reader->where, what));
}

static void
on_start (void *data, const XML_Char *name, const XML_Char **attributes)
{
  struct reader *reader = data;
  size_t n = strlen (name), at = reader->path_nbytes;
  (void) attributes;
  if (reader->depth == MAX_DEPTH || n >= MAX_PATH_NBYTES - at - 1) {
    reject (reader, "elements nested too deeply");
    return;
  }
  reader->names_at[reader->depth++] = at;
  if (at > 0)
    reader->path[at++] = '/';
  memcpy (reader->path + at, name, n + 1);
  reader->path_nbytes = at + n;
  reader->text.nbytes = 0;
}

static void
on_end (void *data, const XML_Char *name)
{
  struct reader *reader = data;
  (void) name;
  /* An empty element ends even if its start stopped the parser. */
  if (reader->status != RADIO_OK)
    return;
  enum radio_status status = rd_buffer_append (&reader->text, "", 1);
  if (status == RADIO_OK)
    status = reader->fn (reader->path, (const char *) reader->text.data,
                         reader->user_data);
  if (status != RADIO_OK)
    stop (reader, status);
  reader->path_nbytes = reader->names_at[--reader->depth];
  reader->path[reader->path_nbytes] = '\0';
  reader->text.nbytes = 0;
}

static void
on_text (void *data, const XML_Char *text, int n)
{
  struct reader *reader = data;
  size_t room = MAX_TEXT_NBYTES - reader->text.nbytes;
  bool is_too_long = (size_t) n > room;
  enum radio_status status = rd_buffer_append (&reader->text, text,
                                               is_too_long ? room : (size_t) n);
  if (status != RADIO_OK)
    stop (reader, status);
  else if (is_too_long)
    reject (reader, "a text that is too long");
}

static void
on_doctype (void *data, const XML_Char *name, const XML_Char *system_id,
            const XML_Char *public_id, int has_internal_subset)
{
  (void) name, (void) system_id, (void) public_id, (void) has_internal_subset;
  reject (data, "a document type");
}

static enum radio_status
parse (struct reader *reader, const struct rd_buffer *document)
{
  XML_Parser parser = reader->parser;
  const char *bytes = document->nbytes ? (const char *) document->data : "";
  size_t nblank = 0;
  if (document->nbytes > INT_MAX)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the response is too long",
                    reader->where);
  /* A slow server sends white space to keep the connection alive, which may
   * not precede an XML declaration. */
  while (nblank < document->nbytes && bytes[nblank]
         && strchr (" \t\r\n", bytes[nblank]))
    nblank++;
  XML_SetUserData (parser, reader);
  XML_SetElementHandler (parser, on_start, on_end);
  XML_SetCharacterDataHandler (parser, on_text);
  XML_SetStartDoctypeDeclHandler (parser, on_doctype);
  enum XML_Status parsed = XML_Parse (parser, bytes + nblank,
                                      (int) (document->nbytes - nblank),
                                      XML_TRUE);
  if (reader->status != RADIO_OK)
    return reader->status;
  if (parsed == XML_STATUS_OK)
    return RADIO_OK;
  enum XML_Error error = XML_GetErrorCode (parser);
  if (error == XML_ERROR_NO_MEMORY)
    return rd_fail_memory (document->nbytes);
  return rd_fail (RADIO_ERROR_FORMAT, "%s: the response is not valid XML: %s "
                  "at byte %ld of %zu", reader->where,
                  XML_ErrorString (error),
                  (long) XML_GetCurrentByteIndex (parser) + (long) nblank,
                  document->nbytes);
}

static enum radio_status
read_document (struct reader *reader, const struct rd_buffer *document,
               const char *part)
{
  static const XML_Memory_Handling_Suite memory = {
    rd_malloc, rd_realloc, rd_free
  };
  reader->parser = XML_ParserCreate_MM ("UTF-8", &memory, NULL);
  if (reader->parser == NULL)
    return rd_fail_memory (document->nbytes);
  enum radio_status status = parse (reader, document);
  XML_ParserFree (reader->parser);
  if (status == RADIO_ERROR_FORMAT && part && reader->depth > 0
      && strcmp (reader->path, part) == 0
      && rd_buffer_append (&reader->text, "", 1) == RADIO_OK)
    status = reader->fn (reader->path, (const char *) reader->text.data,
                         reader->user_data);
  rd_buffer_free (&reader->text);
  return status;
}

enum radio_status
rd_s3_xml_read (const struct rd_buffer *document, const char *where,
                rd_s3_xml_fn *fn, void *user_data)
{
  struct reader reader = { .where = where, .fn = fn, .user_data = user_data };
  return read_document (&reader, document, NULL);
}

enum radio_status
rd_s3_xml_read_damaged (const struct rd_buffer *document, const char *part,
                        rd_s3_xml_fn *fn, void *user_data)
{
  RD_BUFFER_SCOPE struct rd_buffer repaired = { 0 };
  struct reader reader = { .where = "", .fn = fn, .user_data = user_data };
  RD_TRY (rd_buffer_append (&repaired, document->data, document->nbytes));
  RD_TRY (rd_buffer_append (&repaired, "", 1));
  repaired.nbytes--;
  char *text = (char *) repaired.data;
  for (size_t i = 0, nbytes; i < repaired.nbytes; i += nbytes) {
    nbytes = rd_utf8_nbytes (text + i);
    bool is_legal = nbytes > 1 || (nbytes == 1 && text[i] >= 0x20)
                    || (text[i] && strchr ("\t\r\n", text[i]));
    if (nbytes == 0)
      nbytes = 1;
    if (!is_legal)
      text[i] = '?';
  }
  return read_document (&reader, &repaired, part);
}

enum radio_status
rd_s3_xml_keep (const char *text, char **kept)
{
  rd_free (*kept);
  *kept = rd_strdup (text);
  return *kept ? RADIO_OK : rd_fail_memory (strlen (text) + 1);
}

enum radio_status
rd_s3_xml_append (struct rd_buffer *document, const char *text)
{
  static const struct { char c; const char *reference; } references[] = {
    { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" },
    { '\r', "&#13;" }, { '\n', "&#10;" }, { '\t', "&#9;" },
  };
  for (const char *p = text; *p; p++) {
    const char *reference = NULL;
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
      if (references[i].c == *p)
        reference = references[i].reference;
    if (!reference && (unsigned char) *p < 0x20)
      return rd_fail (RADIO_ERROR_ARGUMENT, "'%s': XML cannot represent it",
                      text);
    RD_TRY (reference ? rd_buffer_append (document, reference,
                                          strlen (reference))
                      : rd_buffer_append (document, p, 1));
  }
  return RADIO_OK;
}

bool
rd_s3_xml_number (const char *text, uint64_t *number)
{
  uint64_t value = 0;
  const char *p = text;
  for (; *p >= '0' && *p <= '9'; p++)
    if (rd_mul_overflows (value, 10, &value)
        || rd_add_overflows (value, (uint64_t) (*p - '0'), &value))
      return false;
  *number = value;
  return p > text && *p == '\0';
}

/*------------------------------------------------------------------------
 * Times
 *----------------------------------------------------------------------*/

/* Parses n digits of a number of at most max. */
static bool
parse_digits (const char **text, size_t n, int64_t max, int64_t *number)
{
  *number = 0;
  for (; n > 0; n--, (*text)++) {
    if (**text < '0' || **text > '9')
      return false;
    *number = 10 * *number + (**text - '0');
  }
  return *number <= max;
}

static bool
parse_char (const char **text, const char *chars)
{
  if (**text == '\0' || strchr (chars, **text) == NULL)
    return false;
  (*text)++;
  return true;
}

/* Parses "2026-01-31T12:34:56", and advances *text. */
static bool
parse_seconds (const char **text, int64_t *unix_s)
{
  int64_t year, month, day, hour, minute, second;
  if (!parse_digits (text, 4, 9999, &year) || !parse_char (text, "-")
      || !parse_digits (text, 2, 12, &month) || !parse_char (text, "-")
      || !parse_digits (text, 2, 31, &day) || !parse_char (text, "Tt ")
      || !parse_digits (text, 2, 23, &hour) || !parse_char (text, ":")
      || !parse_digits (text, 2, 59, &minute) || !parse_char (text, ":")
      || !parse_digits (text, 2, 60, &second) || month == 0 || day == 0)
    return false;
  /* Days since 1970 in the Gregorian calendar.  Its years begin in March
   * here, so that the leap day is their last. */
  if (month <= 2) {
    month += 12;
    year--;
  }
  int64_t days = 365 * year + year / 4 - year / 100 + year / 400
                 + (153 * (month - 3) + 2) / 5 + day - 719469;
  *unix_s = 86400 * days + 3600 * hour + 60 * minute + second;
  return true;
}

bool
rd_s3_parse_time (const char *text, int64_t *unix_s)
{
  int64_t hours, minutes, offset_s = 0;
  if (!parse_seconds (&text, unix_s))
    return false;
  if (parse_char (&text, "."))
    text += strspn (text, "0123456789");
  if (!parse_char (&text, "Zz")) {
    /* "+01:00" or "-0100" */
    int64_t sign = *text == '-' ? -60 : 60;
    if (!parse_char (&text, "+-") || !parse_digits (&text, 2, 23, &hours))
      return false;
    (void) parse_char (&text, ":");
    if (!parse_digits (&text, 2, 59, &minutes))
      return false;
    offset_s = sign * (60 * hours + minutes);
  }
  *unix_s -= offset_s;
  return *text == '\0';
}

int64_t
rd_s3_xml_time (const char *text)
{
  int64_t unix_s;
  return parse_seconds (&text, &unix_s) ? unix_s : -1;
}
