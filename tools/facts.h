/* SPDX-License-Identifier: MIT */
/* Descriptions of volumes and arrays, as text and as JSON. */
#ifndef RD_FACTS_H
#define RD_FACTS_H

#include "tools/json.h"
#include "tools/tool.h"

/* Bytes of all elements, unpacked; UINT64_MAX when that overflows. */
uint64_t rd_raw_nbytes (const struct radio_array_info *info);

/* Bytes of a voxel, with all components of its colour. */
size_t rd_voxel_nbytes (const struct radio_volume_info *info);

/* True if the c axis of the volume is the components of a colour. */
bool rd_is_colour (const struct radio_volume_info *info);

/* The number of planes of one kind. */
uint64_t rd_plane_count (const struct radio_volume_info *info,
                         enum radio_plane plane);

/* The array axes in the order for display: x, y, z, t, c, then others, without
 * the c of a colour.  Returns their number. */
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

/* "256 x 256 x 128", of the numbers of the given axes; allocated, NULL after
 * an error. */
char *rd_join_u64 (const uint64_t *numbers, const size_t *axes, size_t n,
                   const char *between);
/* The same with the letters of the axes, "256 x 256 x 128 (x, y, z)", unless
 * one is '?'. */
char *rd_join_axes (const uint64_t *shape, const size_t *axes, size_t n,
                    const char *letters);
char *rd_join_double (const double *numbers, const size_t *axes, size_t n,
                      const char *between);

/* "mm", "um", ... of an OME unit's name; the name itself when unknown. */
const char *rd_short_unit (const char *unit);

/* Facts of the NIfTI header that the volume does not have itself. */
struct rd_header_facts {
  int version;                /* 1 or 2; 0: no header */
  bool big_endian;
  int qform_code, sform_code, intent_code;
  char descrip[81], aux_file[25], intent_name[17];
  size_t extension_nbytes;
};

void rd_header_facts (const struct radio_volume_info *info,
                      struct rd_header_facts *facts);

/* The size in a store that cannot be listed. */
#define RD_UNKNOWN_NBYTES UINT64_MAX

/* All facts of a volume or an array. */
struct json_object *rd_volume_json (const char *name,
                                    const struct radio_volume_info *info,
                                    uint64_t stored_nbytes);
struct json_object *rd_array_json (const char *name,
                                   const struct radio_array_info *info);

#endif /* RD_FACTS_H */
