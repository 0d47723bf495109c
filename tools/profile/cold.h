/* SPDX-License-Identifier: MIT */
/* Making files cold: their pages leave the memory, so that the next read
 * waits for the disk. */
#ifndef RD_PROFILE_COLD_H
#define RD_PROFILE_COLD_H

#include <stdbool.h>
#include <stdint.h>

/* The result of dropping files. */
struct rd_cold {
  uint64_t nfiles;
  uint64_t nbytes;            /* of all files */
  uint64_t resident_nbytes;   /* still in memory afterwards */
  uint64_t refused_count;     /* files that could not be opened or dropped */
  bool elsewhere;             /* not on a local disk: nothing was done */
  int error;                  /* errno of the first of these */
};

/* Drop a file, or all files in and below a folder, from the page cache; dirty
 * pages are written to the disk before. */
void rd_cold_drop (const char *path, struct rd_cold *cold);

/* A message for the user, one line without a newline: allocated, or NULL when
 * everything is cold (or without memory). */
char *rd_cold_problem (const struct rd_cold *cold);

#endif /* RD_PROFILE_COLD_H */
