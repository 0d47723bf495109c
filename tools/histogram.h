/* SPDX-License-Identifier: MIT */
/* A histogram as text bars. */
#ifndef RD_HISTOGRAM_H
#define RD_HISTOGRAM_H

#include "tools/tool.h"

/* Lines of the printed histogram; each takes several bins together. */
#define RD_HISTOGRAM_NLINES 16

/* Print the bars, in blocks of an eighth where the locale is UTF-8 and in
 * '#' elsewhere. */
void rd_histogram_print (FILE *file, const struct radio_stats *stats);

/* A bar of so many columns for part of a whole; text has room for
 * RD_BAR_NBYTES.  What is not nothing is never drawn as nothing. */
#define RD_BAR_WIDTH 40
#define RD_BAR_NBYTES (3 * (RD_BAR_WIDTH + 1) + 1)
const char *rd_histogram_bar (uint64_t part, uint64_t whole, bool utf8,
                              char text[RD_BAR_NBYTES]);

#endif /* RD_HISTOGRAM_H */
