/* SPDX-License-Identifier: MIT */
/* What the process and the machine did that explains a recording: page faults,
 * reading from disks, CPUs that a hypervisor gave to others. */
#ifndef RD_USAGE_H
#define RD_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct rd_usage {
  bool is_known;
  uint64_t nminor_faults, nmajor_faults;
  uint64_t block_input_nbytes;
  uint64_t steal_ns;          /* of all CPUs together */
  uint64_t resident_nbytes;   /* at most, since the program began; 0: not
                                 known */
};

/* Reads all. */
void rd_usage_read (struct rd_usage *usage);

/* Replaces a reading by what was used since. */
void rd_usage_since (struct rd_usage *usage);

#endif /* RD_USAGE_H */
