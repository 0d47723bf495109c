/* SPDX-License-Identifier: MIT */
/* Sums by a text key: totals of paths, as different formats have them. */
#ifndef RD_TESTS_SUMS_H
#define RD_TESTS_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct sum {
  char *key;
  uint64_t value;
};

struct sums {
  struct sum *at;
  size_t n, capacity;
};

/* Adds to the sum of a key, which is copied. */
void sums_add (struct sums *sums, const char *key, uint64_t value);

/* Asserts that the same keys have the same sums; sums of 0 may be missing.
 * Sorts both.  `what' names the second one in the message. */
void sums_assert_equal (struct sums *a, struct sums *b, const char *what);

void sums_free (struct sums *sums);

/* A path that is walked down and up, as one text. */
struct path {
  char text[8192];
  size_t nbytes;
  size_t depth;
  size_t ends[256];           /* of each part */
};

void path_push (struct path *path, const char *name);
void path_pop (struct path *path);

#endif /* RD_TESTS_SUMS_H */
