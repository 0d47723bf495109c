/* SPDX-License-Identifier: MIT */
/* The header of a .npy file. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/nifti/npy.h"

#define MAGIC "\x93NUMPY\x01\x00"
#define MAGIC_NBYTES 8
#define ALIGNMENT_NBYTES 64

/* numpy.save leaves room so that the axis which appending lengthens can
 * grow to this number of digits in place. */
#define GROWTH_NDIGITS 21

static const char kind_of[] = {
  [RADIO_BOOL] = 'b',
  [RADIO_INT8] = 'i',
  [RADIO_INT16] = 'i',
  [RADIO_INT32] = 'i',
  [RADIO_INT64] = 'i',
  [RADIO_UINT8] = 'u',
  [RADIO_UINT16] = 'u',
  [RADIO_UINT32] = 'u',
  [RADIO_UINT64] = 'u',
  [RADIO_FLOAT16] = 'f',
  [RADIO_FLOAT32] = 'f',
  [RADIO_FLOAT64] = 'f',
  [RADIO_COMPLEX64] = 'c',
  [RADIO_COMPLEX128] = 'c',
  [RADIO_RAW] = 'V',
};

const char *
rd_npy_descr (const struct rd_type *type, char buffer[RD_NPY_DESCR_NBYTES])
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  char order = type->unit_nbytes > 1 ? '<' : '|';
#else
  char order = type->unit_nbytes > 1 ? '>' : '|';
#endif
  snprintf (buffer, RD_NPY_DESCR_NBYTES, "%c%c%zu", order,
            kind_of[type->dtype], type->item_nbytes);
  return buffer;
}

const char *
rd_npy_colour_descr (unsigned ncolours)
{
  if (ncolours == 4)
    return "[('R', '|u1'), ('G', '|u1'), ('B', '|u1'), ('A', '|u1')]";
  return "[('R', '|u1'), ('G', '|u1'), ('B', '|u1')]";
}

static enum radio_status
append_text (struct rd_buffer *out, const char *text)
{
  return rd_buffer_append (out, text, strlen (text));
}

static enum radio_status
append_spaces (struct rd_buffer *out, size_t n)
{
  for (; n > 0; n--)
    RD_TRY (rd_buffer_append (out, " ", 1));
  return RADIO_OK;
}

static enum radio_status
append_dictionary (struct rd_buffer *out, const char *descr,
                   bool fortran_order, size_t rank, const uint64_t *shape)
{
  const char *quote = descr[0] == '[' ? "" : "'";
  RD_TRY (append_text (out, "{'descr': "));
  RD_TRY (append_text (out, quote));
  RD_TRY (append_text (out, descr));
  RD_TRY (append_text (out, quote));
  RD_TRY (append_text (out, ", 'fortran_order': "));
  RD_TRY (append_text (out, fortran_order ? "True" : "False"));
  RD_TRY (append_text (out, ", 'shape': "));
  /* "()", "(3,)", "(3, 4)". */
  RD_TRY (append_text (out, "("));
  for (size_t i = 0; i < rank; i++) {
    char number[32];
    snprintf (number, sizeof number, "%s%" PRIu64 "%s", i ? ", " : "",
              shape[i], rank == 1 ? "," : "");
    RD_TRY (append_text (out, number));
  }
  RD_TRY (append_text (out, ")"));
  RD_TRY (append_text (out, ", }"));
  if (rank == 0)
    return RADIO_OK;
  uint64_t growing = shape[fortran_order ? rank - 1 : 0];
  unsigned ndigits = 1;
  for (; growing >= 10; growing /= 10)
    ndigits++;
  return append_spaces (out, GROWTH_NDIGITS - ndigits);
}

enum radio_status
rd_npy_header (const char *descr, bool fortran_order, size_t rank,
               const uint64_t *shape, struct rd_buffer *out)
{
  out->nbytes = 0;
  RD_TRY (rd_buffer_append (out, MAGIC "\0\0", MAGIC_NBYTES + 2));
  RD_TRY (append_dictionary (out, descr, fortran_order, rank, shape));
  /* A newline ends the header.  When it would fit exactly, numpy still pads by
   * a whole unit. */
  size_t over = (out->nbytes + 1) % ALIGNMENT_NBYTES;
  RD_TRY (append_spaces (out, ALIGNMENT_NBYTES - over));
  RD_TRY (append_text (out, "\n"));
  size_t length = out->nbytes - MAGIC_NBYTES - 2;
  out->data[MAGIC_NBYTES] = length & 0xff;
  out->data[MAGIC_NBYTES + 1] = length >> 8 & 0xff;
  return RADIO_OK;
}
