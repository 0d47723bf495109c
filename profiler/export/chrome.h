/* SPDX-License-Identifier: MIT */
/* When events of a Chrome trace happen, to the picosecond: readers that take
 * an X event apart into a begin and an end, and sort them as floating-point
 * numbers of microseconds, lose the nesting of events in the same
 * nanosecond.  So events of one lane and one nanosecond are set apart, by so
 * little that each still rounds to its nanosecond. */
#ifndef RD_CHROME_H
#define RD_CHROME_H

#include "profiler/model/profile.h"

/* Added to a span's begin and end.  The two differ by less than half a
 * nanosecond, so that the duration rounds to the right one, too. */
struct rd_shift {
  int16_t begin_ps, end_ps;
};

/* A shift for each span of the profile, in its order.
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_shifts_make (const struct radio_profile *profile,
                                  struct rd_shift **shifts)
  RADIO_USE_RESULT;

#endif /* RD_CHROME_H */
