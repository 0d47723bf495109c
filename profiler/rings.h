/* SPDX-License-Identifier: MIT */
/* The folders for the files of rings that have no name of their own. */
#ifndef RD_RINGS_H
#define RD_RINGS_H

#include <stddef.h>

#define RD_RING_PREFIX "radio-ring-"    /* and the process ID */
#define RD_RING_NFOLDERS 2

/* The i-th folder, in the order in which they are tried; NULL: there is none,
 * or it is an earlier one. */
const char *rd_ring_folder (size_t i);

#endif /* RD_RINGS_H */
