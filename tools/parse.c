/* SPDX-License-Identifier: MIT */
/* Numbers from the command line: all of the text or nothing, never wrapped,
 * so that a slip of the finger is an error and not another box. */
#include <config.h>

#include <math.h>
#include <string.h>

#include <json-c/json_util.h>

#include "tools/text.h"

/* Read digits, step behind them; false when there are none, or too many. */
static bool
read_digits (const char **text, uint64_t *value)
{
  const char *p = *text;
  uint64_t sum = 0;
  for (; *p >= '0' && *p <= '9'; p++)
    if (__builtin_mul_overflow (sum, 10, &sum)
        || __builtin_add_overflow (sum, (uint64_t) (*p - '0'), &sum))
      return false;
  if (p == *text)
    return false;
  *text = p;
  *value = sum;
  return true;
}

bool
rd_parse_u64 (const char *text, uint64_t *value)
{
  uint64_t result;
  if (!read_digits (&text, &result) || *text != '\0')
    return false;
  *value = result;
  return true;
}

static const char *
skip_sign (const char *p)
{
  return p + (*p == '-' || *p == '+');
}

/* The length of a decimal number as "-1.5e3"; 0: there is none. */
static size_t
decimal_length (const char *text)
{
  static const char digits[] = "0123456789";
  const char *p = skip_sign (text);
  size_t ndigits = strspn (p, digits);
  p += ndigits;
  if (*p == '.') {
    size_t nfraction = strspn (p + 1, digits);
    ndigits += nfraction;
    p += 1 + nfraction;
  }
  if (ndigits == 0)
    return 0;
  if ((*p | 0x20) == 'e') {
    const char *exponent = skip_sign (p + 1);
    size_t nexponent = strspn (exponent, digits);
    if (nexponent == 0)
      return 0;
    p = exponent + nexponent;
  }
  return (size_t) (p - text);
}

/* Read a number, step behind it.  The C library's own reading takes more
 * than a decimal number, so that is checked before. */
static bool
read_double (const char **text, double *value)
{
  char number[64];
  double result;
  size_t length = decimal_length (*text);
  if (length == 0 || length >= sizeof number)
    return false;
  memcpy (number, *text, length);
  number[length] = '\0';
  if (json_parse_double (number, &result) != 0 || !isfinite (result))
    return false;
  *text += length;
  *value = result;
  return true;
}

bool
rd_parse_double (const char *text, double *value)
{
  double result;
  if (!read_double (&text, &result) || *text != '\0')
    return false;
  *value = result;
  return true;
}

bool
rd_parse_range (const char *text, double *low, double *high)
{
  double a, b;
  if (!read_double (&text, &a) || *text++ != ',')
    return false;
  if (!read_double (&text, &b) || *text != '\0' || !(a < b))
    return false;
  *low = a;
  *high = b;
  return true;
}

/* The factor that a size's suffix stands for; 0: no such suffix. */
static uint64_t
size_factor (const char *suffix)
{
  if (*suffix == '\0')
    return 1;
  const char *letters = "KMGT";
  const char *letter = strchr (letters, *suffix & ~0x20);
  if (letter == NULL || *letter == '\0')
    return 0;
  uint64_t base = strcmp (suffix + 1, "B") == 0 ? 1000 : 1024;
  if (base == 1024 && suffix[1] != '\0' && strcmp (suffix + 1, "iB") != 0)
    return 0;
  uint64_t factor = base;
  for (; letter > letters; letter--)
    factor *= base;
  return factor;
}

bool
rd_parse_size (const char *text, uint64_t *nbytes)
{
  uint64_t value;
  if (!read_digits (&text, &value))
    return false;
  uint64_t factor = size_factor (text);
  if (factor == 0 || __builtin_mul_overflow (value, factor, &value))
    return false;
  *nbytes = value;
  return true;
}

bool
rd_parse_ms (const char *text, uint64_t *ms)
{
  static const struct {
    const char *suffix;
    uint64_t ms;
  } units[] = { { "ms", 1 }, { "s", 1000 }, { "min", 60000 } };
  uint64_t value;
  if (!read_digits (&text, &value))
    return false;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (text, units[i].suffix) == 0)
      return !__builtin_mul_overflow (value, units[i].ms, ms);
  return false;
}

bool
rd_parse_triple (const char *text, bool one_for_all, uint64_t value[3])
{
  uint64_t result[3];
  if (one_for_all && rd_parse_u64 (text, &result[0]))
    result[1] = result[2] = result[0];
  else
    for (size_t i = 0; i < 3; i++) {
      char end = i < 2 ? ',' : '\0';
      if (!read_digits (&text, &result[i]) || *text++ != end)
        return false;
    }
  memcpy (value, result, sizeof result);
  return true;
}

static size_t
least_of (size_t a, size_t b, size_t c)
{
  size_t least = a < b ? a : b;
  return least < c ? least : c;
}

size_t
rd_text_distance (const char *a, const char *b)
{
  size_t na = strlen (a), nb = strlen (b);
  size_t row[64];
  if (na > 63 || nb > 63)
    return 64;
  for (size_t j = 0; j <= nb; j++)
    row[j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t above = row[j];
      row[j] = least_of (row[j - 1] + 1, above + 1,
                         diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[nb];
}
