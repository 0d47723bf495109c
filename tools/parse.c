/* SPDX-License-Identifier: MIT */
/* Values of options and variables: parsed as a whole or rejected, and never
 * wrapped around, so that a typo is an error. */
#include <config.h>

#include <math.h>
#include <string.h>

#include <json-c/json_util.h>

#include "tools/parse.h"
#include "tools/tool.h"

static const char *
skip_sign (const char *p)
{
  return p + (*p == '-' || *p == '+');
}

/* Reads a number and steps past it.  The C library's own function accepts
 * more than decimal numbers as "-1.5e3", so the syntax is checked first. */
static bool
read_double (const char **text, double *value)
{
  static const char digits[] = "0123456789";
  const char *p = skip_sign (*text);
  size_t ndigits = strspn (p, digits);
  p += ndigits;
  if (*p == '.') {
    size_t nfraction = strspn (p + 1, digits);
    ndigits += nfraction;
    p += 1 + nfraction;
  }
  if (ndigits == 0)
    return false;
  if ((*p | 0x20) == 'e') {
    const char *exponent = skip_sign (p + 1);
    size_t nexponent = strspn (exponent, digits);
    if (nexponent == 0)
      return false;
    p = exponent + nexponent;
  }
  char number[64];
  double result;
  size_t length = (size_t) (p - *text);
  if (length >= sizeof number)
    return false;
  memcpy (number, *text, length);
  number[length] = '\0';
  if (json_parse_double (number, &result) != 0 || !isfinite (result))
    return false;
  *text = p;
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
rd_parse_doubles (const char *text, double *values, size_t most, size_t *n)
{
  for (*n = 0; *n < most && read_double (&text, &values[*n]);) {
    (*n)++;
    if (*text == '\0')
      return true;
    if (*text++ != ',')
      break;
  }
  return false;
}

bool
rd_parse_range (const char *text, double *low, double *high)
{
  double ends[2];
  size_t n;
  if (!rd_parse_doubles (text, ends, 2, &n) || n != 2 || !(ends[0] < ends[1]))
    return false;
  *low = ends[0];
  *high = ends[1];
  return true;
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
      if (!rd_read_digits (&text, &result[i]) || *text++ != end)
        return false;
    }
  memcpy (value, result, sizeof result);
  return true;
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
      size_t least = diagonal + (a[i - 1] != b[j - 1]);
      least = above + 1 < least ? above + 1 : least;
      row[j] = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
      diagonal = above;
    }
  }
  return row[nb];
}
