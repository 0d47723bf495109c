/* SPDX-License-Identifier: MIT */
/* Where the arrows of a Chrome trace begin and end: from the span that
 * handed work on, to the one that did it on another lane. */
#ifndef RD_CHROME_FLOW_H
#define RD_CHROME_FLOW_H

#include "profiler/model/profile.h"

struct rd_flows {
  const struct radio_profile *profile;
  uint32_t *by_id;            /* indexes of spans, in the order of ids */
};

/* An arrow to a span; both times lie within the spans that it joins. */
struct rd_flow {
  uint32_t from_lane;
  uint64_t from_ns;
  uint64_t to_ns;
};

/* RADIO_ERROR_MEMORY. */
enum radio_status rd_flows_make (const struct radio_profile *profile,
                                 struct rd_flows *flows) RADIO_USE_RESULT;

/* The arrow to a span of the profile.  False if there is none: the span
 * stands in its parent anyway, or the log has dropped that. */
bool rd_flows_find (const struct rd_flows *flows, const struct rd_span *span,
                    struct rd_flow *flow);

void rd_flows_free (struct rd_flows *flows);

#define RD_FLOWS_SCOPE RD_CLEANUP (rd_flows_free)

#endif /* RD_CHROME_FLOW_H */
