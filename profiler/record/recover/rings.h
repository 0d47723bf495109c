/* SPDX-License-Identifier: MIT */
/* The files of rings that have no name of their own, in a few folders. */
#ifndef RD_RECOVER_RINGS_H
#define RD_RECOVER_RINGS_H

#include <radio/profile.h>

#define RD_RING_PREFIX "radio-ring-"    /* and the process ID */

/* Calls each for the rings of this user in a folder, as
 * radio_profile_list_rings does. */
enum radio_status rd_rings_list (const char *folder, radio_ring_fn *each,
                                 void *user_data) RADIO_USE_RESULT;

#endif /* RD_RECOVER_RINGS_H */
