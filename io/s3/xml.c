/* SPDX-License-Identifier: MIT */
/* Elements as they end, within bounds. */
#include <config.h>

#include <expat.h>
#include <limits.h>
#include <string.h>

#include "src/base/checked.h"
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
stop_beyond (struct reader *reader, const char *what)
{
  stop (reader, rd_fail (RADIO_ERROR_FORMAT, "%s: the answer's XML has %s",
                         reader->where, what));
}

static void
on_start (void *data, const XML_Char *name, const XML_Char **attributes)
{
  struct reader *reader = data;
  size_t n = strlen (name), at = reader->path_nbytes;
  (void) attributes;
  if (reader->depth == MAX_DEPTH || n >= MAX_PATH_NBYTES - at - 1) {
    stop_beyond (reader, "elements too deep in others");
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
  /* An empty element ends even where its begin stopped the parser. */
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
  if ((size_t) n > MAX_TEXT_NBYTES - reader->text.nbytes) {
    stop_beyond (reader, "a text that is too long");
    return;
  }
  enum radio_status status = rd_buffer_append (&reader->text, text,
                                               (size_t) n);
  if (status != RADIO_OK)
    stop (reader, status);
}

static void
on_doctype (void *data, const XML_Char *name, const XML_Char *system_id,
            const XML_Char *public_id, int has_internal_subset)
{
  (void) name, (void) system_id, (void) public_id, (void) has_internal_subset;
  stop_beyond (data, "a document type");
}

/* White space, with which a server that takes long keeps the connection: a
 * declaration of XML may not stand behind it. */
static size_t
count_blank (const char *bytes, size_t nbytes)
{
  size_t n = 0;
  while (n < nbytes && strchr (" \t\r\n", bytes[n]) && bytes[n])
    n++;
  return n;
}

static enum radio_status
read_all (struct reader *reader, const struct rd_buffer *document)
{
  XML_Parser parser = reader->parser;
  const char *bytes = document->nbytes ? (const char *) document->data : "";
  size_t nblank = count_blank (bytes, document->nbytes);
  if (document->nbytes > INT_MAX)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the answer is too long",
                    reader->where);
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
  return rd_fail (RADIO_ERROR_FORMAT, "%s: the answer is no whole XML: %s "
                  "at byte %ld of %zu", reader->where,
                  XML_ErrorString (error),
                  (long) XML_GetCurrentByteIndex (parser) + (long) nblank,
                  document->nbytes);
}

enum radio_status
rd_s3_xml_read (const struct rd_buffer *document, const char *where,
                rd_s3_xml_fn *fn, void *user_data)
{
  static const XML_Memory_Handling_Suite memory = {
    rd_malloc, rd_realloc, rd_free
  };
  struct reader reader = { .where = where, .fn = fn, .user_data = user_data };
  reader.parser = XML_ParserCreate_MM ("UTF-8", &memory, NULL);
  if (reader.parser == NULL)
    return rd_fail_memory (document->nbytes);
  enum radio_status status = read_all (&reader, document);
  XML_ParserFree (reader.parser);
  rd_buffer_free (&reader.text);
  return status;
}

enum radio_status
rd_s3_xml_keep (const char *text, char **kept)
{
  rd_free (*kept);
  *kept = rd_strdup (text);
  return *kept ? RADIO_OK : rd_fail_memory (strlen (text) + 1);
}

/* What stands in place of a character; NULL: itself. */
static const char *
reference (char c)
{
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  case '\r': return "&#13;";
  case '\n': return "&#10;";
  case '\t': return "&#9;";
  default: return NULL;
  }
}

enum radio_status
rd_s3_xml_append (struct rd_buffer *document, const char *text)
{
  for (const char *p = text; *p; p++) {
    const char *other = reference (*p);
    if (!other && (unsigned char) *p < 0x20)
      return rd_fail (RADIO_ERROR_ARGUMENT, "'%s': no XML can hold it", text);
    RD_TRY (other ? rd_buffer_append (document, other, strlen (other))
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

/* n digits; -1 where there are others. */
static int
take_digits (const char **text, int n, char end)
{
  int value = 0;
  for (int i = 0; i < n; i++, ++*text) {
    if (**text < '0' || **text > '9')
      return -1;
    value = 10 * value + (**text - '0');
  }
  if (end && *(*text)++ != end)
    return -1;
  return value;
}

/* Days since 1970 of a day of the Gregorian calendar, whose year begins in
 * March here: so a leap day is a year's last. */
static int64_t
days_since_1970 (int year, int month, int day)
{
  int64_t y = month <= 2 ? year - 1 : year;
  int64_t m = month <= 2 ? month + 9 : month - 3;
  return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1
         - 719468;
}

int64_t
rd_s3_xml_time (const char *text)
{
  int year = take_digits (&text, 4, '-');
  int month = year < 0 ? -1 : take_digits (&text, 2, '-');
  int day = month < 1 || month > 12 ? -1 : take_digits (&text, 2, 'T');
  int hour = day < 1 || day > 31 ? -1 : take_digits (&text, 2, ':');
  int minute = hour < 0 || hour > 23 ? -1 : take_digits (&text, 2, ':');
  int second = minute < 0 || minute > 59 ? -1 : take_digits (&text, 2, 0);
  if (second < 0 || second > 60)
    return -1;
  return days_since_1970 (year, month, day) * 86400 + hour * 3600
         + minute * 60 + second;
}
