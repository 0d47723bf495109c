/* SPDX-License-Identifier: MIT */
/* Lists of tilings and codecs on the benchmark's command line. */
#include <config.h>

#include <string.h>

#include "tools/bench-layout.h"

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

bool
rd_words_add (struct rd_args *args, const char *option,
              struct rd_words *words)
{
  for (const char *text = args->value;;) {
    size_t length = word_length (text);
    if (length == 0 || words->n == RD_MAX_WORDS) {
      rd_usage_error (args, length ? "%s: '%s' is more than can be compared "
                      "at one time" : "%s: '%s' has an empty word", option,
                      args->value);
      return false;
    }
    char *word = strndup (text, length);
    if (word == NULL) {
      args->status = rd_complain_memory ();
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
