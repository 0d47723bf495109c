/* SPDX-License-Identifier: MIT */
/* UTF-8, and numbers and bytes as text in any locale. */
#include <config.h>

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <json-c/json_util.h>

#include "src/base/text.h"

static bool
is_continuation (char c)
{
  return ((unsigned char) c & 0xc0) == 0x80;
}

size_t
rd_utf8_nbytes (const char *text)
{
  const unsigned char *p = (const unsigned char *) text;
  if (p[0] < 0x80)
    return 1;
  size_t n = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3
             : p[0] < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < n; i++)
    if (!is_continuation (text[i]))
      return 0;
  bool is_overlong = (p[0] == 0xe0 && p[1] < 0xa0)
                     || (p[0] == 0xf0 && p[1] < 0x90);
  bool is_no_scalar = (p[0] == 0xed && p[1] >= 0xa0)
                      || (p[0] == 0xf4 && p[1] >= 0x90);
  return is_overlong || is_no_scalar ? 0 : n;
}

size_t
rd_utf8_valid_nbytes (const char *text, size_t nbytes)
{
  size_t at = 0;
  while (at < nbytes) {
    uint64_t word;
    if (nbytes - at >= sizeof word) {
      memcpy (&word, text + at, sizeof word);
      if ((word & UINT64_C (0x8080808080808080)) == 0) {
        at += sizeof word;
        continue;
      }
    }
    /* The last characters with a NUL after them. */
    char last[5] = "";
    const char *from = text + at;
    if (nbytes - at < 4)
      from = memcpy (last, text + at, nbytes - at);
    size_t n = rd_utf8_nbytes (from);
    if (n == 0)
      return at;
    at += n;
  }
  return nbytes;
}

size_t
rd_utf8_decode (const char *text, uint32_t *character)
{
  size_t n = rd_utf8_nbytes (text);
  *character = n == 0 ? 0xfffd : (unsigned char) text[0];
  if (n <= 1)
    return 1;
  *character &= 0x7fu >> n;
  for (size_t i = 1; i < n; i++)
    *character = *character << 6 | (text[i] & 0x3f);
  return n;
}

bool
rd_utf8_is_control (uint32_t character)
{
  return character < 0x20 || (character >= 0x7f && character < 0xa0)
         || character == 0x2028 || character == 0x2029
         || (character >= 0x202a && character <= 0x202e)
         || (character >= 0x2066 && character <= 0x2069);
}

void
rd_utf8_repair (const char *text, char *to)
{
  while (*text != '\0') {
    size_t n = rd_utf8_nbytes (text);
    memcpy (to, n > 0 ? text : "\xef\xbf\xbd", n > 0 ? n : 3);
    to += n > 0 ? n : 3;
    text += n > 0 ? n : 1;
  }
  *to = '\0';
}

size_t
rd_utf8_count (const char *text)
{
  size_t count = 0;
  for (; *text != '\0'; count++) {
    size_t n = rd_utf8_nbytes (text);
    text += n > 0 ? n : 1;
  }
  return count;
}

size_t
rd_utf8_cut (const char *text, size_t nbytes)
{
  while (nbytes > 0 && is_continuation (text[nbytes]))
    nbytes--;
  return nbytes;
}

const char *
rd_base_name (const char *path)
{
  const char *slash = strrchr (path, '/');
  return slash ? slash + 1 : path;
}

bool
rd_ends_with (const char *name, const char *suffix)
{
  size_t n = strlen (name), m = strlen (suffix);
  return n > m && strcasecmp (name + n - m, suffix) == 0;
}

const char *
rd_number_grouped (uint64_t number, char text[RD_NUMBER_NBYTES])
{
  char digits[RD_NUMBER_NBYTES];
  int n = snprintf (digits, sizeof digits, "%" PRIu64, number);
  char *to = text;
  for (int i = 0; i < n; i++) {
    if (i > 0 && (n - i) % 3 == 0)
      *to++ = ',';
    *to++ = digits[i];
  }
  *to = '\0';
  return text;
}

const char *
rd_number_exact (double number, char text[RD_NUMBER_NBYTES])
{
  static const char known[] = "0123456789+-e";
  if (!isfinite (number)) {
    snprintf (text, RD_NUMBER_NBYTES, "%g", number);
    return text;
  }
  if (fabs (number) < 1e15 && number == trunc (number)) {
    snprintf (text, RD_NUMBER_NBYTES, "%.0f", number);
    return text;
  }
  for (int digits = 1; digits <= 17; digits++) {
    double back;
    snprintf (text, RD_NUMBER_NBYTES, "%.*g", digits, number);
    if (json_parse_double (text, &back) == 0 && back == number)
      break;
  }
  /* printf writes, and json-c reads, the locale's decimal mark of one or
   * more bytes; all else is digits, signs and the exponent. */
  char *mark = text + strspn (text, known);
  if (*mark != '\0') {
    char *fraction = mark + strcspn (mark, known);
    *mark = '.';
    memmove (mark + 1, fraction, strlen (fraction) + 1);
  }
  return text;
}

void
rd_hex_text (const unsigned char *bytes, size_t n, char *text)
{
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < n; i++) {
    *text++ = digits[bytes[i] >> 4];
    *text++ = digits[bytes[i] & 15];
  }
  *text = '\0';
}

int
rd_hex_value (char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool
rd_read_digits (const char **text, uint64_t *value)
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
  if (!rd_read_digits (&text, &result) || *text != '\0')
    return false;
  *value = result;
  return true;
}

bool
rd_parse_size (const char *text, uint64_t *nbytes)
{
  static const char letters[] = "KMGT";
  uint64_t value;
  if (!rd_read_digits (&text, &value))
    return false;
  if (*text != '\0') {
    const char *letter = strchr (letters, *text & ~0x20);
    if (letter == NULL || *letter == '\0')
      return false;
    uint64_t base = strcmp (text + 1, "B") == 0 ? 1000 : 1024;
    if (base == 1024 && text[1] != '\0' && strcmp (text + 1, "iB") != 0)
      return false;
    for (ptrdiff_t i = letter - letters; i >= 0; i--)
      if (__builtin_mul_overflow (value, base, &value))
        return false;
  }
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
  if (!rd_read_digits (&text, &value))
    return false;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (text, units[i].suffix) == 0)
      return !__builtin_mul_overflow (value, units[i].ms, ms);
  return false;
}

#define COMPARED_MAX 255

/* Wagner and Fischer's algorithm, one row at a time. */
unsigned
rd_edit_distance (const char *a, const char *b)
{
  unsigned row[COMPARED_MAX + 1];
  size_t na = strnlen (a, COMPARED_MAX), nb = strnlen (b, COMPARED_MAX);
  for (size_t j = 0; j <= nb; j++)
    row[j] = (unsigned) (2 * j);
  for (size_t i = 1; i <= na; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned) (2 * i);
    for (size_t j = 1; j <= nb; j++) {
      unsigned char p = (unsigned char) a[i - 1];
      unsigned char q = (unsigned char) b[j - 1];
      unsigned best = diagonal;               /* replace one by the other */
      if (p != q)
        best += tolower (p) == tolower (q) ? 1 : 2;
      diagonal = row[j];
      if (row[j] + 2 < best)
        best = row[j] + 2;
      if (row[j - 1] + 2 < best)
        best = row[j - 1] + 2;
      row[j] = best;
    }
  }
  return row[nb];
}
