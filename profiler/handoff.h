/* SPDX-License-Identifier: MIT */
/* What the library's own queues need beyond the public handoffs. */
#ifndef RD_HANDOFF_H
#define RD_HANDOFF_H

#include <radio/profile.h>

/* A copy of a handoff as if it were given now: for work that is queued later
 * than its parent was taken, as what a request brought.  The reference stays
 * the first one's.  A zero handoff gives a zero one. */
struct radio_handoff rd_handoff_again (const struct radio_handoff *handoff);

#endif /* RD_HANDOFF_H */
