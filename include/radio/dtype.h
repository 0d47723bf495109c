/* SPDX-License-Identifier: MIT */
/* The element types of arrays: Zarr v3's core data types, and one that only
 * reads deliver. */
#ifndef RADIO_DTYPE_H
#define RADIO_DTYPE_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In memory every type has the machine's byte order.  BOOL is one
 * byte, 0 or 1.  COMPLEX64 is two float32, COMPLEX128 two float64, real part
 * first.  FLOAT16 is IEEE binary16.  RAW is Zarr's r<N>: uninterpreted bits,
 * whose size only the array knows. */
enum radio_dtype {
  /* In a request: the type that the array stores.  No array has it. */
  RADIO_STORED = 0,
  RADIO_BOOL,
  RADIO_INT8,
  RADIO_INT16,
  RADIO_INT32,
  RADIO_INT64,
  RADIO_UINT8,
  RADIO_UINT16,
  RADIO_UINT32,
  RADIO_UINT64,
  RADIO_FLOAT16,
  RADIO_FLOAT32,
  RADIO_FLOAT64,
  RADIO_COMPLEX64,
  RADIO_COMPLEX128,
  RADIO_RAW,
  /* The upper half of a float32: 8 bits of exponent, 7 of fraction.  Reads
   * deliver it, rounded once to nearest even (NaN stays NaN); no array has
   * it. */
  RADIO_BFLOAT16,
  /* Text of any length, UTF-8: only radio_array_read_strings reads it, and
   * radio_array_write_strings writes it. */
  RADIO_STRING,
};

/* Returns the type's Zarr name, such as "int16"; "bfloat16"; "raw" for
 * RADIO_RAW, "stored" for RADIO_STORED.  Static storage; never NULL. */
RADIO_API const char *radio_dtype_name (enum radio_dtype dtype);

/* Returns the bytes of one element; 0 for RADIO_RAW, RADIO_STORED,
 * RADIO_STRING and invalid types. */
RADIO_API size_t radio_dtype_nbytes (enum radio_dtype dtype);

/* Parses such a name.
 * Errors: RADIO_ERROR_UNSUPPORTED (not one of the above; "raw", "stored" and
 * "string" are not accepted either: their elements have no size). */
RADIO_API enum radio_status radio_dtype_parse (const char *name,
                                               enum radio_dtype *dtype)
  RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_DTYPE_H */
