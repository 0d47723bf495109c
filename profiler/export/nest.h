/* SPDX-License-Identifier: MIT */
/* A lane of the log as strictly nested intervals, which timelines of other
 * tools demand.  Spans of a lane nest by construction; but their ends are
 * rounded to whole nanoseconds each by itself, so a child can seem to end a
 * nanosecond after its parent.  Here it ends with it. */
#ifndef RD_NEST_H
#define RD_NEST_H

#include "profiler/model/profile.h"

/* Called when a span begins, and when it ends, in the order of time; end_ns
 * is where it ends after cutting.  Every enter has its leave, the innermost
 * first. */
struct rd_nest_visitor {
  void (*enter) (const struct rd_span *span, uint64_t end_ns, void *context);
  void (*leave) (const struct rd_span *span, uint64_t end_ns, void *context);
  void *context;
};

/* Visit n spans, all of one lane and in the profile's order; either function
 * may be NULL.  RADIO_ERROR_MEMORY. */
enum radio_status rd_nest_visit (const struct rd_span *spans, size_t n,
                                 const struct rd_nest_visitor *visitor)
  RADIO_USE_RESULT;

/* The number of spans from `first' on that are in its lane. */
size_t rd_nest_lane_length (const struct radio_profile *profile,
                            size_t first);

/* The end of a span, UINT64_MAX at most. */
static inline uint64_t
rd_span_end (const struct rd_span *span)
{
  return span->duration_ns > UINT64_MAX - span->begin_ns
    ? UINT64_MAX : span->begin_ns + span->duration_ns;
}

#endif /* RD_NEST_H */
