/* SPDX-License-Identifier: MIT */
/* Which bytes of an object of a known size a read asks for: the same rule
 * in every store. */
#ifndef RD_RANGE_H
#define RD_RANGE_H

#include "profiler/counters.h"
#include "io/io.h"

struct rd_span {
  uint64_t offset;
  uint64_t nbytes;            /* all of them inside the object */
};

/* Also sets get->object_nbytes.  RADIO_ERROR_LIMIT when the whole object is
 * asked for and larger than accepted. */
enum radio_status rd_range_resolve (const struct rd_io *io,
                                    struct rd_io_get *get,
                                    uint64_t object_nbytes,
                                    struct rd_span *span) RADIO_USE_RESULT;

/* Set the outcome of a read and call its done. */
void rd_get_finish (struct rd_io_get *get, enum radio_status status);

/* What a finished read came to, in amounts of this set, for the scope or
 * request of a profile that it is about. */
extern const struct rd_counter_set rd_get_set;
void rd_get_count (const struct rd_io_get *get, struct rd_counting *counting);

#endif /* RD_RANGE_H */
