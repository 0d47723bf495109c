/* SPDX-License-Identifier: MIT */
/* Fill values (core spec, "Fill value list"): every bit pattern of every
 * core type has a text, and comes back from it. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/zarr/document.h"

#define WHAT "fill_value"

/* One IEEE number, or a part of a complex one, by its bits. */
static double
bits_value (uint64_t bits, size_t nbytes)
{
  uint16_t half = (uint16_t) bits;
  uint32_t word = (uint32_t) bits;
  float single;
  double value;

  if (nbytes == 2)
    return (double) rd_half_to_float (half);
  if (nbytes == 4) {
    memcpy (&single, &word, sizeof single);
    return (double) single;
  }
  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Towards zero, but odd when that was inexact: rounded once more to fewer
 * bits the result is that of one rounding. */
static float
round_to_odd (double value)
{
  float single = (float) value;
  uint32_t bits;

  if ((double) single == value || !isfinite (single))
    return single;
  memcpy (&bits, &single, sizeof bits);
  if (fabs ((double) single) > fabs (value))
    bits--;
  bits |= 1;
  memcpy (&single, &bits, sizeof single);
  return single;
}

static uint64_t
value_bits (double value, size_t nbytes)
{
  float single = (float) value;
  uint32_t word;
  uint64_t bits;

  if (nbytes == 2)
    return rd_float_to_half (round_to_odd (value));
  if (nbytes == 4) {
    memcpy (&word, &single, sizeof word);
    return word;
  }
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

/* The patterns that the names stand for. */
static uint64_t
nan_bits (size_t nbytes)
{
  return nbytes == 2 ? 0x7e00
         : nbytes == 4 ? 0x7fc00000 : UINT64_C (0x7ff8000000000000);
}

static void
store_bits (uint64_t bits, size_t nbytes, unsigned char *element)
{
  uint16_t half = (uint16_t) bits;
  uint32_t word = (uint32_t) bits;
  uint8_t byte = (uint8_t) bits;

  if (nbytes == 1)
    memcpy (element, &byte, 1);
  else if (nbytes == 2)
    memcpy (element, &half, 2);
  else if (nbytes == 4)
    memcpy (element, &word, 4);
  else
    memcpy (element, &bits, 8);
}

static uint64_t
load_bits (const unsigned char *element, size_t nbytes)
{
  uint16_t half;
  uint32_t word;
  uint64_t bits;

  if (nbytes == 1)
    return *element;
  if (nbytes == 2)
    return memcpy (&half, element, 2), half;
  if (nbytes == 4)
    return memcpy (&word, element, 4), word;
  return memcpy (&bits, element, 8), bits;
}

/* "0x" and exactly as many digits as the type has half bytes. */
static bool
parse_hex (const char *text, size_t nbytes, uint64_t *bits)
{
  uint64_t number = 0;

  if (strncmp (text, "0x", 2) != 0 || strlen (text + 2) != 2 * nbytes)
    return false;
  for (text += 2; *text; text++) {
    int digit = rd_hex_value (*text);
    if (digit < 0)
      return false;
    number = number << 4 | (uint64_t) digit;
  }
  *bits = number;
  return true;
}

/* A JSON number; NaN and Infinity are invalid without their quotes. */
static enum radio_status
parse_float (struct json_object *value, size_t nbytes, const char *where,
             uint64_t *bits)
{
  if (json_object_is_type (value, json_type_string)) {
    const char *text;
    RD_TRY (rd_json_text (value, WHAT, where, &text));
    if (strcmp (text, "NaN") == 0)
      *bits = nan_bits (nbytes);
    else if (strcmp (text, "Infinity") == 0)
      *bits = value_bits (HUGE_VAL, nbytes);
    else if (strcmp (text, "-Infinity") == 0)
      *bits = value_bits (-HUGE_VAL, nbytes);
    else if (!parse_hex (text, nbytes, bits)) {
      char wanted[80];
      snprintf (wanted, sizeof wanted, "a number, NaN, Infinity, -Infinity or"
                " 0x and %zu digits", 2 * nbytes);
      return rd_json_not (value, WHAT, wanted, where);
    }
    return RADIO_OK;
  }
  if (!json_object_is_type (value, json_type_double)
      && !json_object_is_type (value, json_type_int))
    return rd_json_not (value, WHAT, "a number", where);
  double number = json_object_get_double (value);
  if (json_object_is_type (value, json_type_int)
      && json_object_get_uint64 (value) > INT64_MAX)
    number = (double) json_object_get_uint64 (value);
  if (!isfinite (number)
      || !isfinite (bits_value (value_bits (number, nbytes), nbytes)))
    return rd_json_not (value, WHAT, "a number that the data type holds",
                        where);
  *bits = value_bits (number, nbytes);
  return RADIO_OK;
}

static enum radio_status
parse_raw (struct json_object *value, size_t nbytes, const char *where,
           unsigned char *element)
{
  if (!json_object_is_type (value, json_type_array)
      || json_object_array_length (value) != nbytes)
    return rd_json_not (value, WHAT, "a list of the data type's bytes",
                        where);
  for (size_t i = 0; i < nbytes; i++) {
    struct json_object *entry = json_object_array_get_idx (value, i);
    uint64_t byte;
    RD_TRY (rd_json_u64 (entry, "a byte of " WHAT, where, &byte));
    if (byte > UINT8_MAX)
      return rd_json_not (entry, "a byte of " WHAT, "within 0 to 255",
                          where);
    element[i] = (unsigned char) byte;
  }
  return RADIO_OK;
}

static bool
is_signed (enum radio_dtype dtype)
{
  return dtype == RADIO_INT8 || dtype == RADIO_INT16
         || dtype == RADIO_INT32 || dtype == RADIO_INT64;
}

static enum radio_status
parse_integer (struct json_object *value, const struct rd_type *type,
               const char *where, unsigned char *element)
{
  unsigned nbits = (unsigned) type->item_nbytes * 8;
  bool has_sign = is_signed (type->dtype);

  if (!json_object_is_type (value, json_type_int))
    return rd_json_not (value, WHAT, "a whole number", where);
  int64_t number = json_object_get_int64 (value);
  uint64_t magnitude = json_object_get_uint64 (value);
  uint64_t most = UINT64_MAX >> (64 - nbits + has_sign);
  int64_t least = has_sign ? -(int64_t) most - 1 : 0;
  if (number < least || magnitude > most)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: " WHAT " is %s, not within %"
                    PRId64 " to %" PRIu64, where,
                    json_object_get_string (value), least, most);
  store_bits (number < 0 ? (uint64_t) number : magnitude,
              type->item_nbytes, element);
  return RADIO_OK;
}

enum radio_status
rd_fill_parse (struct json_object *value, const struct rd_type *type,
               const char *where, void *element)
{
  size_t half = type->item_nbytes / 2;
  unsigned char *halves = element;
  uint64_t bits;

  if (type->dtype == RADIO_STRING) {
    if (!json_object_is_type (value, json_type_string))
      return rd_json_not (value, WHAT, "a string", where);
    const struct rd_string string = {
      json_object_get_string (value),
      (uint64_t) json_object_get_string_len (value),
    };
    memcpy (element, &string, sizeof string);
    return RADIO_OK;
  }
  if (type->dtype == RADIO_RAW)
    return parse_raw (value, type->item_nbytes, where, element);
  if (rd_dtype_is_complex (type->dtype)) {
    if (!json_object_is_type (value, json_type_array)
        || json_object_array_length (value) != 2)
      return rd_json_not (value, WHAT, "a list of two numbers", where);
    for (size_t i = 0; i < 2; i++) {
      RD_TRY (parse_float (json_object_array_get_idx (value, i), half, where,
                           &bits));
      store_bits (bits, half, halves + i * half);
    }
    return RADIO_OK;
  }
  if (rd_dtype_is_float (type->dtype)) {
    RD_TRY (parse_float (value, type->item_nbytes, where, &bits));
    store_bits (bits, type->item_nbytes, element);
    return RADIO_OK;
  }
  if (type->dtype != RADIO_BOOL)
    return parse_integer (value, type, where, element);
  /* Some writers have a number, which zarr-python reads, too. */
  int64_t number = json_object_get_int64 (value);
  bool is_number = json_object_is_type (value, json_type_int)
                   && (number == 0 || number == 1);
  if (!is_number && !json_object_is_type (value, json_type_boolean))
    return rd_json_not (value, WHAT, "true, false, 0 or 1", where);
  store_bits (json_object_get_boolean (value) != 0, 1, element);
  return RADIO_OK;
}

static struct json_object *
write_float (uint64_t bits, size_t nbytes)
{
  double value = bits_value (bits, nbytes);
  char text[24];

  if (isinf (value))
    return json_object_new_string (value > 0 ? "Infinity" : "-Infinity");
  if (!isnan (value))
    return rd_json_new_double (value);
  if (bits == nan_bits (nbytes))
    return json_object_new_string ("NaN");
  snprintf (text, sizeof text, "0x%0*" PRIx64, (int) (2 * nbytes), bits);
  return json_object_new_string (text);
}

/* The list that stands for a complex or raw element. */
static struct json_object *
write_list (const struct rd_type *type, const unsigned char *element)
{
  bool is_raw = type->dtype == RADIO_RAW;
  size_t n = is_raw ? type->item_nbytes : 2, half = type->item_nbytes / 2;
  RD_CLEANUP (rd_cleanup_json) struct json_object *list
    = json_object_new_array ();

  for (size_t i = 0; list && i < n; i++) {
    struct json_object *part = is_raw
      ? json_object_new_int (element[i])
      : write_float (load_bits (element + i * half, half), half);
    if (part == NULL || json_object_array_add (list, part) < 0) {
      json_object_put (part);
      return NULL;
    }
  }
  return RD_STEAL (list);
}

enum radio_status
rd_fill_write (const struct rd_type *type, const void *element,
               struct json_object **value)
{
  size_t nbytes = type->item_nbytes;
  struct json_object *made;

  if (type->dtype == RADIO_STRING) {
    struct rd_string string;
    memcpy (&string, element, sizeof string);
    made = json_object_new_string_len (string.nbytes > 0 ? string.data : "",
                                       (int) string.nbytes);
  } else if (type->dtype == RADIO_RAW || rd_dtype_is_complex (type->dtype))
    made = write_list (type, element);
  else {
    uint64_t bits = load_bits (element, nbytes);
    unsigned nunused = 64 - (unsigned) nbytes * 8;
    if (rd_dtype_is_float (type->dtype))
      made = write_float (bits, nbytes);
    else if (type->dtype == RADIO_BOOL)
      made = json_object_new_boolean (bits != 0);
    else if (!is_signed (type->dtype))
      made = json_object_new_uint64 (bits);
    else
      /* Extend the sign. */
      made = json_object_new_int64 ((int64_t) (bits << nunused)
                                    / ((int64_t) 1 << nunused));
  }
  if (made == NULL)
    return rd_fail_memory (nbytes);
  *value = made;
  return RADIO_OK;
}
