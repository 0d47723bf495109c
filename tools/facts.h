/* SPDX-License-Identifier: MIT */
/* What is told of volumes and arrays: in words, and as JSON. */
#ifndef RD_FACTS_H
#define RD_FACTS_H

#include "tools/json.h"
#include "tools/tool.h"

/* Bytes of all elements, unpacked; UINT64_MAX when that overflows. */
uint64_t rd_raw_nbytes (const struct radio_array_info *info);

/* Whether the volume's c axis is the parts of a colour. */
bool rd_is_colour (const struct radio_volume_info *info);

/* The array axes in the order that people count them: x, y, z, t, c, then
 * others.  A colour's c is left out.  Returns their number. */
size_t rd_display_axes (const struct radio_volume_info *info,
                        size_t axes[RADIO_MAX_RANK]);

/* The type's name: NIfTI's where there is a header, else Zarr's. */
const char *rd_volume_type (const struct radio_volume_info *info,
                            char text[32]);
const char *rd_array_type (const struct radio_array_info *info,
                           char text[32]);

/* The tiling as --tiling takes it: its name, or X,Y,Z where the store has
 * ZxYxX; "unknown". */
#define RD_TILING_NBYTES 80
const char *rd_volume_tiling (const struct radio_volume_info *info,
                              char text[RD_TILING_NBYTES]);

/* "256 x 256 x 128", of so many numbers taken by the given axes; allocated,
 * NULL after complaining. */
char *rd_join_u64 (const uint64_t *numbers, const size_t *axes, size_t n,
                   const char *between);
char *rd_join_double (const double *numbers, const size_t *axes, size_t n,
                      const char *between);

/* "mm", "um", ... of an OME unit's name; the name itself when unknown. */
const char *rd_short_unit (const char *unit);

/* What the NIfTI header tells beyond the volume's own facts. */
struct rd_header_facts {
  int version;                /* 1 or 2; 0: no header */
  bool big_endian;
  int qform_code, sform_code, intent_code;
  char descrip[81], aux_file[25], intent_name[17];
  size_t extension_nbytes;
};

void rd_header_facts (const struct radio_volume_info *info,
                      struct rd_header_facts *facts);

/* Of a store that cannot be listed. */
#define RD_UNKNOWN_NBYTES UINT64_MAX

/* Everything about a volume or an array. */
struct json_object *rd_volume_json (const char *name,
                                    const struct radio_volume_info *info,
                                    uint64_t stored_nbytes);
struct json_object *rd_array_json (const char *name,
                                   const struct radio_array_info *info);

#endif /* RD_FACTS_H */
