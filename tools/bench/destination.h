/* SPDX-License-Identifier: MIT */
/* The destination of reads in the benchmark.  Half of the time of a whole read
 * into new memory is page faults, so figures depend on it. */
#ifndef RD_BENCH_DESTINATION_H
#define RD_BENCH_DESTINATION_H

#include "tools/options.h"

enum rd_destination_kind {
  RD_DESTINATION_FRESH = 0,   /* malloc before each read, free after it */
  RD_DESTINATION_NUMPY,       /* the same, as numpy does: from 4 MiB on with
                                 huge pages, where the system has them */
  RD_DESTINATION_REUSED,      /* memory that was written to before */
};

/* Their names; ends with NULL. */
extern const char *const rd_destination_names[];

struct rd_destination {
  enum rd_destination_kind kind;
  void *buffer;               /* the one that is reused */
  size_t nbytes;
};

/* Takes the value of --destination.  False after a usage error. */
bool rd_destination_choose (struct rd_args *args,
                            struct rd_destination *destination);

/* Allocate and free memory for one read; both are timed.  NULL after an error.
 */
void *rd_destination_take (struct rd_destination *destination, size_t nbytes);
void rd_destination_return (struct rd_destination *destination, void *buffer);

/* True if a read of nbytes causes page faults. */
bool rd_destination_faults (const struct rd_destination *destination,
                            uint64_t nbytes);

void rd_destination_clear (struct rd_destination *destination);

#endif /* RD_BENCH_DESTINATION_H */
