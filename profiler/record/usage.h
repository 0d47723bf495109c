/* SPDX-License-Identifier: MIT */
/* Use of the process and the machine that explains a recording: page faults,
 * reading from disks, CPU time that a hypervisor gave to others or that a quota
 * withheld. */
#ifndef RD_USAGE_H
#define RD_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct rd_usage {
  bool is_known;
  uint64_t nminor_faults, nmajor_faults;
  uint64_t block_input_nbytes;
  uint64_t machine_ns;        /* of all processes, on all CPUs together */
  uint64_t steal_ns;          /* of all CPUs together */
  bool has_quota;
  uint64_t throttled_ns;      /* rd_cpu_quota's */
  uint64_t disk_wait_ns;      /* CPUs that were idle while a process waited
                                 for a disk, by ticks of 10 ms */
  bool is_pressure_known;
  uint64_t disk_pressure_ns;  /* the time in which a process waited for a disk,
                                 whatever CPUs did */
  uint64_t block_output_nbytes;
  uint64_t resident_nbytes;   /* at most, since the program began; 0: not
                                 known */
};

/* Reads all. */
void rd_usage_read (struct rd_usage *usage);

/* Replaces a reading by what was used since. */
void rd_usage_since (struct rd_usage *usage);

/* The model of the processors, "" if not known; read once. */
const char *rd_usage_cpu_model (void);

/* Measures the clock of the CPU that the calling thread is on, in some 7 us:
 * what the system says of it is missing in virtual machines, and elsewhere is
 * of another moment.  0: not known. */
uint64_t rd_usage_clock_mhz (void);

/* Only throttled_ns since a reading; 0: that found no quota. */
uint64_t rd_usage_throttled_ns (const struct rd_usage *since);

#endif /* RD_USAGE_H */
