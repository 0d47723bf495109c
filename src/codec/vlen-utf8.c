/* SPDX-License-Identifier: MIT */
/* The vlen-utf8 codec (zarr-extensions): strings of any length, one after
 * another.  Every count and length is checked against the bytes that are
 * there before it is used. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/little.h"
#include "src/base/text.h"
#include "src/codec/codec.h"
#include "src/element/box.h"

/* The size of the count, and of each length. */
#define LENGTH_NBYTES 4

uint64_t
rd_vlen_utf8_nbytes (uint64_t n, uint64_t nbytes)
{
  return rd_add_sat (rd_mul_sat (rd_add_sat (n, 1), LENGTH_NBYTES), nbytes);
}

static uint64_t
count_strings (const struct rd_chunk *chunk)
{
  return rd_chunk_nbytes (chunk) / sizeof (struct rd_string);
}

/* Decodes string i, and steps past it. */
static enum radio_status
decode_string (struct rd_bytes in, size_t i, size_t *at,
               struct rd_string *string)
{
  if (in.nbytes - *at < LENGTH_NBYTES)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: the chunk ends at byte "
                    "%zu within the length of string %zu", in.nbytes, i);
  size_t nbytes = (size_t) rd_get_little (in.data + *at, LENGTH_NBYTES);
  *at += LENGTH_NBYTES;
  if (nbytes > in.nbytes - *at)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: string %zu claims %zu "
                    "bytes at byte %zu of %zu", i, nbytes, *at, in.nbytes);
  string->data = (const char *) in.data + *at;
  string->nbytes = nbytes;
  size_t nvalid = rd_utf8_valid_nbytes (string->data, nbytes);
  if (nvalid < nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: byte %zu of string %zu "
                    "(0x%02x) is not UTF-8", nvalid, i,
                    (unsigned) (unsigned char) string->data[nvalid]);
  *at += nbytes;
  return RADIO_OK;
}

enum radio_status
rd_vlen_utf8_decode (const struct rd_chunk *chunk, struct rd_bytes in,
                     struct rd_buffer *elements)
{
  uint64_t n = count_strings (chunk);
  size_t at = LENGTH_NBYTES;
  if (in.nbytes < LENGTH_NBYTES)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: %zu bytes cannot hold "
                    "the count of strings", in.nbytes);
  uint64_t count = rd_get_little (in.data, LENGTH_NBYTES);
  if (count != n)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: decodes to %" PRIu64
                    " strings instead of %" PRIu64, count, n);
  /* So the elements take at most four times the bytes that are there. */
  if (n > in.nbytes / LENGTH_NBYTES - 1)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: %zu bytes cannot hold %"
                    PRIu64 " strings", in.nbytes, n);
  RD_TRY (rd_codec_reserve (elements, n * sizeof (struct rd_string)));
  struct rd_string *strings = (void *) elements->data;
  for (size_t i = 0; i < n; i++)
    RD_TRY (decode_string (in, i, &at, &strings[i]));
  if (at < in.nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: %zu bytes follow the "
                    "last string", in.nbytes - at);
  elements->nbytes = (size_t) n * sizeof *strings;
  return RADIO_OK;
}

/* Finds the string at a place of a chunk. */
static struct rd_string
string_at (const struct rd_chunk *chunk, const unsigned char *elements,
           const int64_t *strides, const uint64_t *at)
{
  struct rd_string string;
  for (size_t i = 0; i < chunk->rank; i++)
    elements += (int64_t) at[i] * strides[i];
  memcpy (&string, elements, sizeof string);
  return string;
}

enum radio_status
rd_vlen_utf8_encode (const struct rd_chunk *chunk,
                     const unsigned char *elements, const int64_t *strides,
                     struct rd_buffer *out)
{
  struct radio_box box = rd_box_whole (chunk->rank, chunk->shape);
  uint64_t at[RADIO_MAX_RANK] = { 0 }, n = count_strings (chunk), sum = 0;
  do {
    uint64_t nbytes = string_at (chunk, elements, strides, at).nbytes;
    if (nbytes > UINT32_MAX)
      return rd_fail (RADIO_ERROR_ARGUMENT, "vlen-utf8: a string of %" PRIu64
                      " bytes; at most 2^32 - 1 are possible", nbytes);
    sum = rd_add_sat (sum, nbytes);
  } while (rd_box_next (&box, at));
  RD_TRY (rd_codec_reserve (out, rd_vlen_utf8_nbytes (n, sum)));
  unsigned char *to = out->data;
  rd_put_little (to, n, LENGTH_NBYTES);
  to += LENGTH_NBYTES;
  memset (at, 0, sizeof at);
  do {
    struct rd_string string = string_at (chunk, elements, strides, at);
    rd_put_little (to, string.nbytes, LENGTH_NBYTES);
    to += LENGTH_NBYTES;
    if (string.nbytes > 0)
      memcpy (to, string.data, (size_t) string.nbytes);
    to += string.nbytes;
  } while (rd_box_next (&box, at));
  out->nbytes = (size_t) (to - out->data);
  return RADIO_OK;
}
