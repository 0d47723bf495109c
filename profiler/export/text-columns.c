/* SPDX-License-Identifier: MIT */
/* Texts in columns: cut, put at the right, wrapped. */
#include <config.h>

#include <string.h>

#include "profiler/export/text.h"

/* The bytes of the character at the beginning; names are UTF-8, but a
 * broken one shall not end the page. */
static size_t
character_nbytes (const char *text)
{
  size_t n = rd_utf8_length (text);
  return n > 0 ? n : 1;
}

size_t
rd_text_width (const char *text)
{
  size_t width = 0;
  for (; *text != '\0'; text += character_nbytes (text))
    width++;
  return width;
}

/* The bytes of the first n characters. */
static size_t
first_nbytes (const char *text, size_t n)
{
  const char *at = text;
  for (; n > 0 && *at != '\0'; n--)
    at += character_nbytes (at);
  return (size_t) (at - text);
}

size_t
rd_write_cut (struct rd_writer *writer, const char *text, size_t width)
{
  static const char dots[] = "..";
  size_t all = rd_text_width (text);
  if (all <= width || width < 5) {
    size_t n = all < width ? all : width;
    rd_write_bytes (writer, text, first_nbytes (text, n));
    return n;
  }
  size_t tail = (width - strlen (dots)) / 2;
  size_t head = width - strlen (dots) - tail;
  rd_write_bytes (writer, text, first_nbytes (text, head));
  rd_write_text (writer, dots);
  rd_write_text (writer, text + first_nbytes (text, all - tail));
  return width;
}

void
rd_write_blanks (struct rd_writer *writer, size_t n)
{
  static const char blanks[] = "                                ";
  for (; n >= sizeof blanks; n -= sizeof blanks - 1)
    rd_write_text (writer, blanks);
  rd_write_bytes (writer, blanks, n);
}

void
rd_write_right (struct rd_writer *writer, const char *text, size_t width)
{
  size_t n = rd_text_width (text);
  rd_write_blanks (writer, n < width ? width - n : 0);
  rd_write_text (writer, text);
}

void
rd_write_wrapped (struct rd_writer *writer, const char *text, size_t indent,
                  size_t width)
{
  size_t column = 0;
  while (*text != '\0') {
    size_t nbytes = strcspn (text, " ");
    size_t n = 0;
    for (size_t i = 0; i < nbytes; i += character_nbytes (text + i))
      n++;
    if (column > 0 && indent + column + 1 + n > width) {
      rd_write_text (writer, "\n");
      rd_write_blanks (writer, indent);
      column = 0;
    } else if (column > 0) {
      rd_write_text (writer, " ");
      column++;
    }
    rd_write_bytes (writer, text, nbytes);
    column += n;
    text += nbytes + strspn (text + nbytes, " ");
  }
}
