/* SPDX-License-Identifier: MIT */
/* Element types inside the engine, and floats of 16 bits. */
#ifndef RD_TYPE_H
#define RD_TYPE_H

#include <string.h>

#include <radio/dtype.h>

/* The largest element but RAW: COMPLEX128. */
#define RD_ITEM_MAX_NBYTES 16

/* A type as an array has it. */
struct rd_type {
  enum radio_dtype dtype;
  size_t item_nbytes;         /* of an element; of STRING in memory */
  size_t unit_nbytes;         /* that byte order applies to: an element, one
                                 part of a complex one, 1 for RAW, STRING */
};

/* An element of STRING inside the engine.  The bytes belong to whatever holds
 * the elements: a decoded tile, a fill value, the caller of a write. */
struct rd_string {
  const char *data;           /* UTF-8 without a NUL at its end */
  uint64_t nbytes;
};

/* True if the elements are equal strings; their bytes may be in different
 * places. */
static inline bool
rd_string_equal (const void *a, const void *b)
{
  struct rd_string x, y;
  memcpy (&x, a, sizeof x);
  memcpy (&y, b, sizeof y);
  return x.nbytes == y.nbytes
         && (x.nbytes == 0 || memcmp (x.data, y.data, x.nbytes) == 0);
}

/* Returns the type of any dtype but RAW and STORED. */
struct rd_type rd_type_of (enum radio_dtype dtype);

/* Parses the Zarr name of a type that arrays have, r<N> and string
 * included. */
enum radio_status rd_type_parse (const char *name, struct rd_type *type)
  RADIO_USE_RESULT;

/* The Zarr name of a type; buffer is for r<N> ("r" and 20 digits). */
const char *rd_type_name (const struct rd_type *type, char buffer[24]);

bool rd_dtype_is_integer (enum radio_dtype dtype);    /* bool is one too */
bool rd_dtype_is_float (enum radio_dtype dtype);
bool rd_dtype_is_complex (enum radio_dtype dtype);

/* IEEE binary16 to and from float32, round to nearest even, NaN payloads
 * kept as far as they fit. */
float rd_half_to_float (uint16_t half);
uint16_t rd_float_to_half (float value);

/* The same from float64, rounded once (not by way of float32). */
uint16_t rd_double_to_half (double value);

/* To bfloat16, rounded once to nearest even; a NaN stays one.  The lower half
 * of the bits is rounded away; a carry out of the fraction increments the
 * exponent, up to infinity.  Inline, so that loops are vectorized. */
static inline uint16_t
rd_float_to_bfloat16 (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
  uint32_t quiet = bits | 0x400000;
  bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return (uint16_t) ((is_nan ? quiet : rounded) >> 16);
}

uint16_t rd_double_to_bfloat16 (double value);

#endif /* RD_TYPE_H */
