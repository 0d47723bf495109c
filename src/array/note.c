/* SPDX-License-Identifier: MIT */
/* Texts of shapes and boxes. */
#include <config.h>

#include <stdio.h>

#include "profiler/counters.h"
#include "src/array/note.h"
#include "src/element/box.h"

/* What the recorder keeps of a text. */
#define LIST_NBYTES 1024

/* Behind a list that goes on. */
#define MORE " ..."

void
rd_note_shapes (size_t rank, const uint64_t *array, const uint64_t *shard,
                const uint64_t *tile)
{
  char text[RD_SHAPE_NBYTES];
  RD_NOTE ("array shape", rd_shape_text (rank, array, text));
  RD_NOTE ("shard shape", rd_shape_text (rank, shard, text));
  RD_NOTE ("tile shape", rd_shape_text (rank, tile, text));
}

/* "8,0,0+1,512,512 9,0,0+1,512,512 ...": starts and sizes. */
static void
list_boxes (const struct radio_request *requests, size_t n,
            char list[LIST_NBYTES])
{
  char start[RD_SHAPE_NBYTES], size[RD_SHAPE_NBYTES];
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    const struct radio_box *box = &requests[i].box;
    size_t room = LIST_NBYTES - used;
    int nbytes = snprintf (list + used, room, "%s%s+%s", i ? " " : "",
                           rd_shape_text (box->rank, box->start, start),
                           rd_shape_text (box->rank, box->size, size));
    if ((size_t) nbytes + sizeof MORE > room) {
      snprintf (list + used, room, "%s", MORE);
      return;
    }
    used += (size_t) nbytes;
  }
}

void
rd_note_boxes (const struct rd_layout *layout,
               const struct radio_request *requests, size_t n)
{
  char text[RD_SHAPE_NBYTES], list[LIST_NBYTES];
  if (!radio_profile_is_on ())
    return;
  rd_note_shapes (layout->rank, layout->shape, layout->chunk.shape,
                  layout->tile.shape);
  if (n == 0)
    return;
  const struct radio_box *box = &requests[0].box;
  RD_NOTE ("box start", rd_shape_text (box->rank, box->start, text));
  RD_NOTE ("box shape", rd_shape_text (box->rank, box->size, text));
  if (n == 1)
    return;
  list_boxes (requests, n, list);
  RD_NOTE ("boxes", list);
}
