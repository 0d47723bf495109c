/* SPDX-License-Identifier: MIT */
/* The element types: one table of names and sizes, and the conversion of floats
 * of 16 bits, which C11 has no types for. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/element/type.h"

#include "src/base/error.h"

/* The largest RAW element that is accepted; a name can claim any size. */
#define RAW_MAX_NBYTES ((uint64_t) 1 << 20)

enum kind { KIND_OTHER, KIND_INTEGER, KIND_FLOAT, KIND_COMPLEX };

struct dtype_row {
  const char *name;
  unsigned char item_nbytes;
  unsigned char unit_nbytes;
  unsigned char kind;
};

static const struct dtype_row dtype_table[] = {
  [RADIO_STORED] = { "stored", 0, 0, KIND_OTHER },
  [RADIO_BOOL] = { "bool", 1, 1, KIND_INTEGER },
  [RADIO_INT8] = { "int8", 1, 1, KIND_INTEGER },
  [RADIO_INT16] = { "int16", 2, 2, KIND_INTEGER },
  [RADIO_INT32] = { "int32", 4, 4, KIND_INTEGER },
  [RADIO_INT64] = { "int64", 8, 8, KIND_INTEGER },
  [RADIO_UINT8] = { "uint8", 1, 1, KIND_INTEGER },
  [RADIO_UINT16] = { "uint16", 2, 2, KIND_INTEGER },
  [RADIO_UINT32] = { "uint32", 4, 4, KIND_INTEGER },
  [RADIO_UINT64] = { "uint64", 8, 8, KIND_INTEGER },
  [RADIO_FLOAT16] = { "float16", 2, 2, KIND_FLOAT },
  [RADIO_FLOAT32] = { "float32", 4, 4, KIND_FLOAT },
  [RADIO_FLOAT64] = { "float64", 8, 8, KIND_FLOAT },
  [RADIO_COMPLEX64] = { "complex64", 8, 4, KIND_COMPLEX },
  [RADIO_COMPLEX128] = { "complex128", 16, 8, KIND_COMPLEX },
  [RADIO_RAW] = { "raw", 0, 1, KIND_OTHER },
  [RADIO_BFLOAT16] = { "bfloat16", 2, 2, KIND_FLOAT },
  [RADIO_STRING] = { "string", 0, 1, KIND_OTHER },
};

#define DTYPE_COUNT (sizeof dtype_table / sizeof dtype_table[0])

static const struct dtype_row *
find_row (enum radio_dtype dtype)
{
  static const struct dtype_row unknown = { "unknown type", 0, 0,
                                            KIND_OTHER };
  if ((size_t) dtype >= DTYPE_COUNT)
    return &unknown;
  return &dtype_table[dtype];
}

const char *
radio_dtype_name (enum radio_dtype dtype)
{
  return find_row (dtype)->name;
}

size_t
radio_dtype_nbytes (enum radio_dtype dtype)
{
  return find_row (dtype)->item_nbytes;
}

enum radio_status
radio_dtype_parse (const char *name, enum radio_dtype *dtype)
{
  RD_NOT_NULL (name);
  RD_NOT_NULL (dtype);
  for (size_t i = RADIO_BOOL; i < DTYPE_COUNT; i++)
    if (i != RADIO_RAW && i != RADIO_STRING
        && strcmp (dtype_table[i].name, name) == 0) {
      *dtype = (enum radio_dtype) i;
      return RADIO_OK;
    }
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "data type '%.64s' is not "
                  "supported", name);
}

struct rd_type
rd_type_of (enum radio_dtype dtype)
{
  const struct dtype_row *row = find_row (dtype);
  struct rd_type type = { dtype, row->item_nbytes, row->unit_nbytes };
  return type;
}

/* Parses the N of "r<N>": decimal digits without a leading zero. */
static bool
parse_raw_nbits (const char *name, uint64_t *nbits)
{
  if (name[0] != 'r' || name[1] < '1' || name[1] > '9')
    return false;
  uint64_t n = 0;
  for (const char *p = name + 1; *p; p++) {
    if (*p < '0' || *p > '9')
      return false;
    if (n <= RAW_MAX_NBYTES * 8)
      n = n * 10 + (uint64_t) (*p - '0');
  }
  *nbits = n;
  return true;
}

enum radio_status
rd_type_parse (const char *name, struct rd_type *type)
{
  uint64_t nbits;
  if (strcmp (name, radio_dtype_name (RADIO_STRING)) == 0) {
    *type = (struct rd_type) { RADIO_STRING, sizeof (struct rd_string), 1 };
    return RADIO_OK;
  }
  if (!parse_raw_nbits (name, &nbits)) {
    enum radio_dtype dtype;
    RD_TRY (radio_dtype_parse (name, &dtype));
    if (dtype == RADIO_BFLOAT16)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "data type 'bfloat16' is for "
                      "reading other types; arrays of it are not supported");
    *type = rd_type_of (dtype);
    return RADIO_OK;
  }
  if (nbits > RAW_MAX_NBYTES * 8)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "data type '%.64s': more than "
                    "%" PRIu64 " bits are not supported", name,
                    RAW_MAX_NBYTES * 8);
  if (nbits % 8 != 0)
    return rd_fail (RADIO_ERROR_FORMAT, "data type '%.64s': the number of "
                    "bits must be a multiple of 8", name);
  type->dtype = RADIO_RAW;
  type->item_nbytes = (size_t) (nbits / 8);
  type->unit_nbytes = 1;
  return RADIO_OK;
}

const char *
rd_type_name (const struct rd_type *type, char buffer[24])
{
  if (type->dtype != RADIO_RAW)
    return radio_dtype_name (type->dtype);
  snprintf (buffer, 24, "r%" PRIu64, (uint64_t) type->item_nbytes * 8);
  return buffer;
}

bool
rd_dtype_is_integer (enum radio_dtype dtype)
{
  return find_row (dtype)->kind == KIND_INTEGER;
}

bool
rd_dtype_is_float (enum radio_dtype dtype)
{
  return find_row (dtype)->kind == KIND_FLOAT;
}

bool
rd_dtype_is_complex (enum radio_dtype dtype)
{
  return find_row (dtype)->kind == KIND_COMPLEX;
}

/* Bits of float32: 1 sign, 8 exponent (bias 127), 23 fraction; of binary16:
 * 1, 5 (bias 15), 10. */
float
rd_half_to_float (uint16_t half)
{
  uint32_t sign = (uint32_t) (half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 0x1f;
  uint32_t fraction = half & 0x3ff;
  uint32_t bits;

  if (exponent == 0x1f)
    bits = sign | 0x7f800000 | fraction << 13;
  else if (exponent != 0)
    bits = sign | (exponent + 112) << 23 | fraction << 13;
  else if (fraction == 0)
    bits = sign;
  else {
    /* A subnormal half is a normal float: move its first 1 to bit 10. */
    unsigned shift = (unsigned) __builtin_clz (fraction) - 21;
    bits = sign | (113 - shift) << 23
      | ((fraction << shift) & 0x3ff) << 13;
  }
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Returns value >> shift rounded to nearest even; shift is 1 to 63. */
static uint64_t
shift_to_nearest (uint64_t value, unsigned shift)
{
  uint64_t half = (uint64_t) 1 << (shift - 1);
  uint64_t rest = value & ((half << 1) - 1);
  uint64_t whole = value >> shift;
  return whole + (rest > half || (rest == half && (whole & 1)));
}

/* Returns the half nearest to (1 + fraction / 2^52) * 2^exponent.  A carry out
 * of the fraction increments the exponent, up to infinity. */
static uint16_t
pack_half (int exponent, uint64_t fraction)
{
  if (exponent > 15)
    return 0x7c00;
  if (exponent >= -14)
    return (uint16_t) (((uint64_t) (exponent + 15) << 10)
                       + shift_to_nearest (fraction, 42));
  if (exponent < -25)
    return 0;
  uint64_t significand = (uint64_t) 1 << 52 | fraction;
  return (uint16_t) shift_to_nearest (significand,
                                      42 + (unsigned) (-14 - exponent));
}

/* A NaN whose payload does not fit stays a NaN: some bit must be set. */
static uint16_t
pack_half_nan (uint64_t fraction)
{
  uint16_t payload = (uint16_t) (fraction >> 42);
  return 0x7c00 | (payload ? payload : 0x200);
}

uint16_t
rd_float_to_half (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  uint16_t sign = (uint16_t) (bits >> 16 & 0x8000);
  unsigned exponent = bits >> 23 & 0xff;
  uint64_t fraction = (uint64_t) (bits & 0x7fffff) << 29;

  if (exponent == 0xff)
    return sign | (fraction ? pack_half_nan (fraction) : 0x7c00);
  return sign | pack_half ((int) exponent - 127, fraction);
}

uint16_t
rd_double_to_half (double value)
{
  uint64_t bits;
  memcpy (&bits, &value, sizeof bits);
  uint16_t sign = (uint16_t) (bits >> 48 & 0x8000);
  unsigned exponent = bits >> 52 & 0x7ff;
  uint64_t fraction = bits & (((uint64_t) 1 << 52) - 1);

  if (exponent == 0x7ff)
    return sign | (fraction ? pack_half_nan (fraction) : 0x7c00);
  return sign | pack_half ((int) exponent - 1023, fraction);
}

/* By way of the float32 on the side of 0, whose last bit is set if it is not
 * the value itself: so that nothing is rounded twice (round to odd). */
uint16_t
rd_double_to_bfloat16 (double value)
{
  float narrow = (float) value;
  uint32_t bits;
  memcpy (&bits, &narrow, sizeof bits);
  if ((double) narrow != value && value == value) {
    if (fabs ((double) narrow) > fabs (value))
      bits--;
    bits |= 1;
    memcpy (&narrow, &bits, sizeof bits);
  }
  return rd_float_to_bfloat16 (narrow);
}
