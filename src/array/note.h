/* SPDX-License-Identifier: MIT */
/* What operations say in profiles of where in an array they are: from that,
 * and from the numbers of tiles (RD_TILE), a viewer knows which tiles an
 * operation touched.  docs/profile.md lists the texts. */
#ifndef RD_NOTE_ARRAY_H
#define RD_NOTE_ARRAY_H

#include <radio/array.h>

#include "src/array/layout.h"

/* Note, of the innermost scope, the shapes that numbers of tiles follow
 * from. */
void rd_note_shapes (size_t rank, const uint64_t *array,
                     const uint64_t *shard, const uint64_t *tile);

/* That of a layout, and what is wanted of the array: the first box and, if
 * there are several, a list of them, of which a text has room for some
 * dozens.  Does nothing while nothing records. */
void rd_note_boxes (const struct rd_layout *layout,
                    const struct radio_request *requests, size_t n);

#endif /* RD_NOTE_ARRAY_H */
