/* SPDX-License-Identifier: MIT */
/* The writer under all exporters: collects small pieces, passes large ones to
 * the sink, keeps the first failure, and formats numbers and JSON strings. */
#include <config.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/alloc.h"
#include "src/base/text.h"
#include "profiler/export/export.h"

void
rd_writer_init (struct rd_writer *writer, radio_profile_sink_fn *sink,
                void *user_data)
{
  writer->sink = sink;
  writer->user_data = user_data;
  writer->status = RADIO_OK;
  writer->nbytes = 0;
}

static void
hand_over (struct rd_writer *writer, const void *data, size_t nbytes)
{
  if (writer->status == RADIO_OK && nbytes > 0)
    writer->status = writer->sink (data, nbytes, writer->user_data);
}

static void
flush (struct rd_writer *writer)
{
  hand_over (writer, writer->bytes, writer->nbytes);
  writer->nbytes = 0;
}

void
rd_write_bytes (struct rd_writer *writer, const void *data, size_t nbytes)
{
  if (writer->status != RADIO_OK || nbytes == 0)
    return;
  if (nbytes > sizeof writer->bytes - writer->nbytes)
    flush (writer);
  if (nbytes >= sizeof writer->bytes) {
    hand_over (writer, data, nbytes);
    return;
  }
  memcpy (writer->bytes + writer->nbytes, data, nbytes);
  writer->nbytes += nbytes;
}

void
rd_write_text (struct rd_writer *writer, const char *text)
{
  rd_write_bytes (writer, text, strlen (text));
}

void
rd_write_u64 (struct rd_writer *writer, uint64_t value)
{
  char digits[20];            /* of 2^64 - 1 */
  size_t at = sizeof digits;
  do
    digits[--at] = (char) ('0' + value % 10);
  while ((value /= 10) > 0);
  rd_write_bytes (writer, digits + at, sizeof digits - at);
}

void
rd_write_i64 (struct rd_writer *writer, int64_t value)
{
  if (value < 0)
    rd_write_bytes (writer, "-", 1);
  rd_write_u64 (writer, value < 0 ? -(uint64_t) value : (uint64_t) value);
}

void
rd_write_us (struct rd_writer *writer, uint64_t ns)
{
  char fraction[] = { '.', (char) ('0' + ns / 100 % 10),
                      (char) ('0' + ns / 10 % 10), (char) ('0' + ns % 10) };
  rd_write_u64 (writer, ns / 1000);
  rd_write_bytes (writer, fraction, sizeof fraction);
}

void
rd_write_format (struct rd_writer *writer, const char *format, ...)
{
  char room[256];
  va_list args, again;
  va_start (args, format);
  va_copy (again, args);
  int n = vsnprintf (room, sizeof room, format, args);
  if (n >= 0 && (size_t) n < sizeof room)
    rd_write_bytes (writer, room, (size_t) n);
  else if (n >= 0) {
    char *text = rd_malloc ((size_t) n + 1);
    if (text != NULL) {
      vsnprintf (text, (size_t) n + 1, format, again);
      rd_write_bytes (writer, text, (size_t) n);
      rd_free (text);
    }
    else if (writer->status == RADIO_OK)
      writer->status = rd_fail_memory ((size_t) n + 1);
  }
  va_end (again);
  va_end (args);
}

enum radio_status
rd_writer_end (struct rd_writer *writer)
{
  flush (writer);
  return writer->status;
}

/*------------------------------------------------------------------------
 * JSON strings, escaped for use inside a page
 *----------------------------------------------------------------------*/

static void
write_escaped (struct rd_writer *writer, unsigned code)
{
  unsigned char bytes[2] = { (unsigned char) (code >> 8),
                             (unsigned char) code };
  char text[sizeof "\\u0000"] = "\\u";
  rd_hex_text (bytes, sizeof bytes, text + strlen ("\\u"));
  rd_write_text (writer, text);
}

void
rd_write_json_string (struct rd_writer *writer, const char *text)
{
  const char *plain = text;   /* the first not yet written */
  rd_write_bytes (writer, "\"", 1);
  for (const char *p = text; *p != '\0';) {
    size_t n = (unsigned char) *p < 0x80 ? 1 : rd_utf8_nbytes (p);
    unsigned char c = (unsigned char) *p;
    if (n == 1 && c >= 0x20 && c != '"' && c != '\\' && c != '<'
        && c != 0x7f) {
      p++;
      continue;
    }
    rd_write_bytes (writer, plain, (size_t) (p - plain));
    if (n == 0)
      write_escaped (writer, 0xfffd);
    else if (c == '"' || c == '\\')
      rd_write_bytes (writer, (char[]) { '\\', (char) c }, 2);
    else if (c == '\n')
      rd_write_bytes (writer, "\\n", 2);
    else if (n == 1)
      write_escaped (writer, c);
    else if (n == 3 && memcmp (p, "\xe2\x80", 2) == 0
             && ((unsigned char) p[2] & 0xfe) == 0xa8)
      /* U+2028 and U+2029 end lines in old JavaScript. */
      write_escaped (writer, 0x2000u | ((unsigned char) p[2] & 0x3f));
    else
      rd_write_bytes (writer, p, n);
    p += n ? n : 1;
    plain = p;
  }
  rd_write_text (writer, plain);
  rd_write_bytes (writer, "\"", 1);
}
