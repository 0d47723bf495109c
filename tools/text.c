/* SPDX-License-Identifier: MIT */
/* Text for people.  Names come from files and networks, so nothing that
 * steers a terminal gets through; numbers are read and written in the "C"
 * locale, since the command sets LC_CTYPE only. */
#include <config.h>

#include <math.h>
#include <string.h>
#include <wchar.h>

#include <json-c/json_util.h>

#include "tools/text.h"

/* Bytes that the first byte of a character promises; 0: starts none. */
static size_t
utf8_length (unsigned char first)
{
  if (first < 0x80)
    return 1;
  if (first >= 0xc2 && first < 0xe0)
    return 2;
  if (first >= 0xe0 && first < 0xf0)
    return 3;
  if (first >= 0xf0 && first < 0xf5)
    return 4;
  return 0;
}

static bool
utf8_allowed (uint32_t character, size_t length)
{
  static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  if (character < least[length] || character > 0x10ffff)
    return false;
  return character < 0xd800 || character > 0xdfff;
}

size_t
rd_utf8_decode (const char *text, uint32_t *character)
{
  const unsigned char *p = (const unsigned char *) text;
  size_t length = utf8_length (p[0]);
  *character = 0xfffd;
  if (length <= 1) {
    if (length == 1)
      *character = p[0];
    return 1;
  }
  uint32_t value = p[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((p[i] & 0xc0) != 0x80)
      return 1;
    value = value << 6 | (p[i] & 0x3f);
  }
  if (!utf8_allowed (value, length))
    return 1;
  *character = value;
  return length;
}

static bool
is_control (uint32_t character)
{
  return character < 0x20 || (character >= 0x7f && character < 0xa0)
         || character == 0x2028 || character == 0x2029
         || (character >= 0x202a && character <= 0x202e)
         || (character >= 0x2066 && character <= 0x2069);
}

size_t
rd_text_width (const char *text)
{
  size_t width = 0;
  while (*text) {
    uint32_t character;
    text += rd_utf8_decode (text, &character);
    int columns = is_control (character) ? 1 : wcwidth ((wchar_t) character);
    width += columns < 0 ? 1 : (size_t) columns;
  }
  return width;
}

void
rd_text_print (FILE *file, const char *text)
{
  while (*text) {
    uint32_t character;
    size_t length = rd_utf8_decode (text, &character);
    if (is_control (character) || (character == 0xfffd && length == 1))
      fputc ('?', file);
    else
      fwrite (text, 1, length, file);
    text += length;
  }
}

/* Three figures; what rounds up to the next unit is given in it. */
const char *
rd_text_size (uint64_t nbytes, char text[RD_TEXT_NBYTES])
{
  static const char units[][3] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
  double value = (double) nbytes;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
    value /= 1000;
    unit++;
  }
  int decimals = unit == 0 || value >= 99.95 ? 0 : 1;
  snprintf (text, RD_TEXT_NBYTES, "%.*f %s", decimals, value, units[unit]);
  return text;
}

const char *
rd_text_time (double seconds, char text[RD_TEXT_NBYTES])
{
  if (!(seconds >= 0) || seconds > 1e9)
    snprintf (text, RD_TEXT_NBYTES, "-");
  else if (seconds < 9.995)
    snprintf (text, RD_TEXT_NBYTES, "%.2f s", seconds);
  else if (seconds < 59.95)
    snprintf (text, RD_TEXT_NBYTES, "%.1f s", seconds);
  else {
    unsigned long whole = (unsigned long) (seconds + 0.5);
    if (whole < 3600)
      snprintf (text, RD_TEXT_NBYTES, "%lu min %02lu s", whole / 60,
                whole % 60);
    else
      snprintf (text, RD_TEXT_NBYTES, "%lu h %02lu min", whole / 3600,
                whole / 60 % 60);
  }
  return text;
}

const char *
rd_text_count (uint64_t n, char text[RD_TEXT_NBYTES])
{
  char digits[RD_TEXT_NBYTES];
  int length = snprintf (digits, sizeof digits, "%llu",
                         (unsigned long long) n);
  char *out = text;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0)
      *out++ = ',';
    *out++ = digits[i];
  }
  *out = '\0';
  return text;
}

const char *
rd_text_number (double number, char text[RD_TEXT_NBYTES])
{
  if (isnan (number))
    return strncpy (text, "nan", RD_TEXT_NBYTES);
  /* Minus zero would puzzle people. */
  snprintf (text, RD_TEXT_NBYTES, "%.7g", number == 0 ? 0.0 : number);
  return text;
}

const char *
rd_text_exact (double number, char text[RD_TEXT_NBYTES])
{
  /* Whole numbers in full: 1 figure would make -9e+01 of -90. */
  if (fabs (number) < 1e15 && number == trunc (number)) {
    snprintf (text, RD_TEXT_NBYTES, "%.0f", number);
    return text;
  }
  for (int figures = 1; figures <= 17; figures++) {
    snprintf (text, RD_TEXT_NBYTES, "%.*g", figures, number);
    double back;
    if (json_parse_double (text, &back) == 0 && back == number)
      break;
  }
  return text;
}

const char *
rd_text_ratio (uint64_t raw, uint64_t stored, char text[RD_TEXT_NBYTES])
{
  if (raw == 0 || stored == 0)
    return strncpy (text, "-", RD_TEXT_NBYTES);
  double ratio = (double) raw / (double) stored;
  snprintf (text, RD_TEXT_NBYTES, "%.*fx", ratio < 99.5 ? 2 : 0, ratio);
  return text;
}
