/* SPDX-License-Identifier: MIT */
/* Profiles written into memory, and read back from it. */
#ifndef RD_TESTS_SINK_H
#define RD_TESTS_SINK_H

#include "tests/unit.h"

#include "profiler/model/profile.h"

/* The bytes written, with a NUL after them; free ((*).text). */
struct sink {
  char *text;
  size_t nbytes;
};

/* Write in a format, with other options or NULL. */
struct sink sink_write (const struct radio_profile *profile,
                        enum radio_profile_format format,
                        const struct radio_profile_write_options *options);

/* Parse bytes as radio_profile_read does with a file's; where: "file". */
enum radio_status sink_parse (const char *text, size_t nbytes,
                              struct radio_profile **profile)
  RADIO_USE_RESULT;

/* The first of `from' is replaced by `to', which makes a new text. */
char *sink_replace (const char *text, const char *from, const char *to);

/* All that a profile holds is equal to all of another's. */
void assert_same_profile (const struct radio_profile *a,
                          const struct radio_profile *b);

#endif /* RD_TESTS_SINK_H */
