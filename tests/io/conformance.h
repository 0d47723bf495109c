/* SPDX-License-Identifier: MIT */
/* The one suite that every store passes.  A test program for a store, or
 * for a wrapper in front of one, says how to make an empty store and runs
 * all cases:
 *
 *    static enum radio_status make (void **place, struct rd_io **io);
 *    static void unmake (void *place);
 *
 *    int main (void)
 *    {
 *      const struct conformance_store store = { "posix", make, unmake };
 *      return run_conformance (&store);
 *    }
 *
 * The suite closes the store, then calls unmake.  Cases use only io/io.h and
 * its contract for every store. */
#ifndef RD_TESTS_CONFORMANCE_H
#define RD_TESTS_CONFORMANCE_H

#include "io/io.h"

struct conformance_store {
  const char *name;
  /* An empty store; *place is handed to unmake. */
  enum radio_status (*make) (void **place, struct rd_io **io);
  void (*unmake) (void *place);
};

/* Returns the number of cases that failed. */
int run_conformance (const struct conformance_store *store);

#endif /* RD_TESTS_CONFORMANCE_H */
