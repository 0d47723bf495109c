/* SPDX-License-Identifier: MIT */
/* Writes profiles into memory, and reads them back. */
#ifndef RD_TESTS_SINK_H
#define RD_TESTS_SINK_H

#include "tests/unit.h"

#include "profiler/model/profile.h"

/* The bytes written, followed by a NUL; the caller frees the text. */
struct sink {
  char *text;
  size_t nbytes;
};

/* Writes a profile in a format; options may be NULL. */
struct sink sink_write (const struct radio_profile *profile,
                        enum radio_profile_format format,
                        const struct radio_profile_write_options *options);

/* Parses bytes as radio_profile_read parses a file; messages call it
 * "file". */
enum radio_status sink_parse (const char *text, size_t nbytes,
                              struct radio_profile **profile)
  RADIO_USE_RESULT;

/* Returns a new text in which the first `from' is replaced by `to'. */
char *sink_replace (const char *text, const char *from, const char *to);

/* Asserts that two profiles are equal in all members. */
void assert_same_profile (const struct radio_profile *a,
                          const struct radio_profile *b);

#endif /* RD_TESTS_SINK_H */
