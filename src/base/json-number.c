/* SPDX-License-Identifier: MIT */
/* Doubles as JSON text: the fewest digits that read back the same, with a
 * point, whatever the process's locale says of commas. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/json.h"

/* printf uses the locale's decimal mark, of one or more bytes; all else
 * that it writes is digits, signs and the exponent. */
static void
put_point (char *text)
{
  const char *known = "0123456789+-e";
  size_t before = strspn (text, known);
  size_t mark = strcspn (text + before, known);

  if (text[before] == '\0')
    return;
  text[before] = '.';
  memmove (text + before + 1, text + before + mark,
           strlen (text + before + mark) + 1);
}

/* Whether text stands for a value, as json-c reads it: by the C locale. */
static bool
reads_back (const char *text, double value)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *number = NULL;

  return rd_json_parse (text, strlen (text), "number", &number) == RADIO_OK
         && json_object_get_double (number) == value;
}

/* The fewest digits; whole numbers that people write out are: 100, not
 * 1e+02. */
static void
print_shortest (double value, char *text, size_t nbytes)
{
  if (fabs (value) < 1e15 && value == trunc (value)) {
    snprintf (text, nbytes, "%.0f", value);
    return;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf (text, nbytes, "%.*g", digits, value);
    put_point (text);
    if (reads_back (text, value))
      break;
  }
}

struct json_object *
rd_json_new_double (double value)
{
  char text[40];

  print_shortest (value, text, sizeof text - 2);
  /* So that readers see that it is no integer. */
  if (strpbrk (text, ".e") == NULL)
    memcpy (text + strlen (text), ".0", sizeof ".0");
  return json_object_new_double_s (value, text);
}
