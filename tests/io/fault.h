/* SPDX-License-Identifier: MIT */
/* A wrapper that makes a store fail as planned: how the rest is tested
 * against failing disks, damaged bytes and sudden death. */
#ifndef RD_FAULT_H
#define RD_FAULT_H

#include "io/io.h"

/* The kinds of operations that are counted. */
enum rd_fault_op {
  RD_FAULT_ANY,
  RD_FAULT_GET,               /* each read of a batch */
  RD_FAULT_SIZE,
  RD_FAULT_LIST,
  RD_FAULT_PUT,
  RD_FAULT_CREATE,
  RD_FAULT_DUPLICATE,
  RD_FAULT_APPEND,
  RD_FAULT_COMMIT,
  RD_FAULT_REMOVE,
  RD_FAULT_REMOVE_TREE,
  RD_FAULT_LOCK,
  RD_FAULT_SWEEP,
};

enum rd_fault_kind {
  RD_FAULT_FAIL,              /* with `status', without being done */
  RD_FAULT_LATE,              /* PUT: with `status', after it was done, as
                                 when a folder cannot be synced */
  RD_FAULT_SHORT,             /* GET: at most `offset' bytes come back */
  RD_FAULT_FLIP,              /* GET: bit `bit' of the object's byte
                                 `offset' is the other one, if read */
  RD_FAULT_EXIT,              /* the process ends here by _exit (status) */
};

/* One thing that goes wrong. */
struct rd_fault {
  enum rd_fault_op op;
  const char *key;            /* only keys that contain this; NULL: all */
  uint64_t nth;               /* the n-th such operation, from 1 on; 0: each */
  enum rd_fault_kind kind;
  int status;
  uint64_t offset;
  unsigned int bit;
};

struct rd_fault_plan {
  const struct rd_fault *faults;
  size_t n;
  /* A put or append that would bring all bytes written so far past this is
   * RADIO_ERROR_NO_SPACE; 0: there is room.  Removal gives nothing back. */
  uint64_t capacity_nbytes;
};

/* Takes inner over, also when it fails.  The plan's strings must outlive
 * the store; its faults are copied. */
enum radio_status rd_io_fault_open (struct rd_io *inner,
                                    const struct rd_fault_plan *plan,
                                    struct rd_io **io) RADIO_USE_RESULT;

/* The number of operations of a kind that were begun: a first run without
 * faults shows where a test can place them. */
uint64_t rd_io_fault_count (struct rd_io *io, enum rd_fault_op op);

/* The number of times that faults of the plan were applied. */
uint64_t rd_io_fault_n_hits (struct rd_io *io);

#endif /* RD_FAULT_H */
