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

size_t
rd_text_columns (const char *text)
{
  size_t width = 0;
  while (*text) {
    uint32_t character;
    text += rd_utf8_decode (text, &character);
    int columns = rd_utf8_is_control (character)
                  ? 1 : wcwidth ((wchar_t) character);
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
    if (rd_utf8_is_control (character) || (character == 0xfffd && length == 1))
      fputc ('?', file);
    else
      fwrite (text, 1, length, file);
    text += length;
  }
}

/* Three digits; a value that rounds up to the next unit is printed in it. */
const char *
rd_text_size (uint64_t nbytes, char text[RD_TEXT_NBYTES])
{
  static const char units[][3] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
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
rd_text_number (double number, char text[RD_TEXT_NBYTES])
{
  if (isnan (number))
    return strncpy (text, "nan", RD_TEXT_NBYTES);
  /* Minus zero would puzzle people. */
  snprintf (text, RD_TEXT_NBYTES, "%.7g", number == 0 ? 0.0 : number);
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
