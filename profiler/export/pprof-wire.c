/* SPDX-License-Identifier: MIT */
/* The wire format: a key (field number and type), then a number in groups of
 * seven bits, or a length and so many bytes. */
#include <config.h>

#include <string.h>

#include "profiler/export/pprof-wire.h"

enum { TYPE_NUMBER = 0, TYPE_BYTES = 2 };

#define MAX_VARINT 10         /* bytes of 2^64 - 1 */

static size_t
put_varint (unsigned char *out, uint64_t value)
{
  size_t n = 0;
  for (; value >= 0x80; value >>= 7)
    out[n++] = (unsigned char) (value | 0x80);
  out[n++] = (unsigned char) value;
  return n;
}

static size_t
varint_length (uint64_t value)
{
  unsigned char bytes[MAX_VARINT];
  return put_varint (bytes, value);
}

static void
append (struct rd_wire *wire, const void *data, size_t nbytes)
{
  if (wire->status == RADIO_OK)
    wire->status = rd_buffer_append (&wire->bytes, data, nbytes);
}

static void
append_varint (struct rd_wire *wire, uint64_t value)
{
  unsigned char bytes[MAX_VARINT];
  append (wire, bytes, put_varint (bytes, value));
}

static void
append_key (struct rd_wire *wire, unsigned field, unsigned type)
{
  append_varint (wire, (uint64_t) field << 3 | type);
}

void
rd_wire_number (struct rd_wire *wire, unsigned field, uint64_t value)
{
  if (value == 0)
    return;
  append_key (wire, field, TYPE_NUMBER);
  append_varint (wire, value);
}

static void
append_bytes (struct rd_wire *wire, unsigned field, const void *data,
              size_t nbytes)
{
  append_key (wire, field, TYPE_BYTES);
  append_varint (wire, nbytes);
  append (wire, data, nbytes);
}

void
rd_wire_text (struct rd_wire *wire, unsigned field, const char *text)
{
  append_bytes (wire, field, text, strlen (text));
}

void
rd_wire_packed (struct rd_wire *wire, unsigned field,
                const uint64_t *values, size_t n)
{
  uint64_t nbytes = 0;
  for (size_t i = 0; i < n; i++)
    nbytes += varint_length (values[i]);
  append_key (wire, field, TYPE_BYTES);
  append_varint (wire, nbytes);
  for (size_t i = 0; i < n; i++)
    append_varint (wire, values[i]);
}

void
rd_wire_message (struct rd_wire *wire, unsigned field,
                 struct rd_wire *message)
{
  if (wire->status == RADIO_OK)
    wire->status = message->status;
  append_bytes (wire, field, message->bytes.data, message->bytes.nbytes);
  message->bytes.nbytes = 0;
}

void
rd_wire_free (struct rd_wire *wire)
{
  rd_buffer_free (&wire->bytes);
}
