/* SPDX-License-Identifier: MIT */
/* How several processes shared the work, told. */
#ifndef RD_PROFILE_RANKS_H
#define RD_PROFILE_RANKS_H

#include "tools/json.h"

/* A row for each part: wall, work, share of the slowest.  Returns an exit
 * status, after complaining. */
int rd_ranks_print (const struct radio_profile *profile);

/* A row for each path that is shared unevenly, with who lags behind. */
int rd_imbalance_print (const struct radio_profile *profile);

struct json_object *rd_ranks_json (const struct radio_profile *profile);
struct json_object *rd_imbalance_json (const struct radio_profile *profile);

/* Title, wall, work, facts and the like; facts not when redacted. */
void rd_profile_info_put (struct json_object *object,
                          const struct radio_profile *profile, bool redacted);

/* Path of a node, "read / => tiles / decode"; allocated, NULL after
 * complaining. */
char *rd_profile_path (const struct radio_profile *profile, size_t node);

#endif /* RD_PROFILE_RANKS_H */
