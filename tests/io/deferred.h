/* SPDX-License-Identifier: MIT */
/* A wrapper that makes a store non-blocking: reads are finished later, by a
 * thread of the wrapper's own, in an order that depends on the seed alone
 * for reads that were started together.  So the way of the engine that
 * network stores take is tested on local ones. */
#ifndef RD_DEFERRED_H
#define RD_DEFERRED_H

#include "io/io.h"

/* Takes inner over, also when it fails.  Closing waits for the reads under
 * way.  Not for use after a fork. */
enum radio_status rd_io_deferred_open (struct rd_io *inner, uint64_t seed,
                                       struct rd_io **io) RADIO_USE_RESULT;

#endif /* RD_DEFERRED_H */
