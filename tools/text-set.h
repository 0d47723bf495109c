/* SPDX-License-Identifier: MIT */
/* Sets of texts, such as ids: filled, sorted, and then searched. */
#ifndef RD_TOOLS_TEXT_SET_H
#define RD_TOOLS_TEXT_SET_H

#include <stdbool.h>
#include <stddef.h>

#include <radio/strings.h>

/* All is 0 at first. */
struct rd_text_set {
  char **list;
  size_t n, capacity;
  size_t longest;             /* in bytes */
};

/* Adds a text of n bytes, which are copied; one that is there is there twice.
 * False without memory, after an error. */
bool rd_text_set_add (struct rd_text_set *set, const char *text, size_t n);

/* Adds all of some strings. */
bool rd_text_set_add_all (struct rd_text_set *set,
                          const struct radio_strings *strings);

/* Sorts by bytes, as rd_text_set_has needs it. */
void rd_text_set_sort (struct rd_text_set *set);

bool rd_text_set_has (const struct rd_text_set *set, const char *text,
                      size_t n);

void rd_text_set_clear (struct rd_text_set *set);

#endif /* RD_TOOLS_TEXT_SET_H */
