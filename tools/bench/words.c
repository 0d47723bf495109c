/* SPDX-License-Identifier: MIT */
/* Lists of tilings, codecs and threads on the benchmark's command line. */
#include <config.h>

#include <string.h>

#include "tools/bench/layout.h"
#include "tools/text.h"

/* The length of the word that a list begins with. */
static size_t
word_length (const char *text)
{
  if (*text == '[')
    return strlen (text);
  size_t length = strcspn (text, ",");
  bool number = *text >= '0' && *text <= '9';
  for (int i = 1; i < 3 && number && text[length] == ','; i++)
    length += 1 + strcspn (text + length + 1, ",");
  return length;
}

/* Whether one more word of some length can be taken. */
static bool
may_take (struct rd_args *args, const char *option, size_t length, size_t n)
{
  if (length > 0 && n < RD_MAX_WORDS)
    return true;
  rd_usage_error (args, length ? "%s: '%s' is more than can be compared at "
                  "one time" : "%s: '%s' has an empty word", option,
                  args->value);
  return false;
}

bool
rd_words_add (struct rd_args *args, const char *option,
              struct rd_words *words)
{
  for (const char *text = args->value;;) {
    size_t length = word_length (text);
    if (!may_take (args, option, length, words->n))
      return false;
    char *word = strndup (text, length);
    if (word == NULL) {
      args->status = rd_error_memory ();
      return false;
    }
    words->at[words->n++] = word;
    if (text[length] == '\0')
      return true;
    text += length + 1;
  }
}

void
rd_words_clear (struct rd_words *words)
{
  for (size_t i = 0; i < words->n; i++)
    free (words->at[i]);
  words->n = 0;
}

/* A number that may be followed by a comma. */
static bool
parse_count (const char *text, size_t length, uint64_t *number)
{
  char digits[32];
  if (length >= sizeof digits)
    return false;
  memcpy (digits, text, length);
  digits[length] = '\0';
  return rd_parse_u64 (digits, number) && *number >= 1 && *number <= 1024;
}

bool
rd_counts_add (struct rd_args *args, const char *option,
               struct rd_counts *counts)
{
  for (const char *text = args->value;;) {
    size_t length = strcspn (text, ",");
    uint64_t number;
    if (!may_take (args, option, length, counts->n))
      return false;
    if (!parse_count (text, length, &number)) {
      rd_usage_error (args, "%s: '%.*s' is not a number from 1 to 1024",
                      option, (int) length, text);
      return false;
    }
    counts->at[counts->n++] = (unsigned) number;
    if (text[length] == '\0')
      return true;
    text += length + 1;
  }
}
