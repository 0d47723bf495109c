/* SPDX-License-Identifier: MIT */
/* Checks that all values of a volume are integers. */
#ifndef RD_INTEGERS_H
#define RD_INTEGERS_H

#include <radio/volume.h>

/* Reads a volume and finds out whether all its values (scaled) are integers; if
 * not, the thread's message has the number of the others, and the first one and
 * its place.  Errors are those of reading. */
enum radio_status rd_check_integers (struct radio_volume *volume,
                                     bool *is_integer) RADIO_USE_RESULT;

#endif /* RD_INTEGERS_H */
