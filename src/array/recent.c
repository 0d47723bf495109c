/* SPDX-License-Identifier: MIT */
/* The last few boxes, one of which each new one replaces. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/array/recent.h"
#include "src/element/box.h"

void
rd_recent_init (struct rd_recent *recent)
{
  pthread_mutex_init (&recent->mutex, NULL);
  recent->synced.n = 0;
}

void
rd_recent_destroy (struct rd_recent *recent)
{
  pthread_mutex_destroy (&recent->mutex);
}

/* Whether boxes of one size touch or overlap without being the same. */
static bool
is_neighbour (const struct radio_box *a, const struct radio_box *b)
{
  bool differs = false;
  for (size_t i = 0; i < a->rank; i++) {
    uint64_t distance = a->start[i] > b->start[i]
      ? a->start[i] - b->start[i] : b->start[i] - a->start[i];
    if (a->size[i] != b->size[i] || distance > a->size[i])
      return false;
    differs |= distance > 0;
  }
  return differs;
}

void
rd_recent_note (struct rd_recent *recent, const struct radio_box *box,
                struct rd_admission *admission)
{
  admission->is_next = false;
  RD_LOCK_SCOPE (&recent->mutex);
  admission->n = recent->synced.n < RD_RECENT_MAX ? recent->synced.n
                                                  : RD_RECENT_MAX;
  for (unsigned i = 0; i < admission->n; i++) {
    admission->boxes[i] = recent->synced.boxes[i];
    admission->is_next |= is_neighbour (box, &admission->boxes[i]);
  }
  recent->synced.boxes[recent->synced.n++ % RD_RECENT_MAX] = *box;
  /* Only its rest and whether it is small matter. */
  if (recent->synced.n == 2 * RD_RECENT_MAX)
    recent->synced.n = RD_RECENT_MAX;
}

static bool
reaches_beyond (const struct radio_box *tile, const struct radio_box *box,
                const uint64_t *shape)
{
  for (size_t i = 0; i < box->rank; i++) {
    uint64_t end = tile->start[i]
      + rd_min_u64 (tile->size[i], shape[i] - tile->start[i]);
    if (tile->start[i] < box->start[i]
        || end > box->start[i] + box->size[i])
      return true;
  }
  return false;
}

bool
rd_recent_admits (const struct rd_admission *admission,
                  const struct radio_box *box,
                  const struct radio_box *tile, const uint64_t *shape)
{
  struct radio_box shared;
  if (admission->is_next && reaches_beyond (tile, box, shape))
    return true;
  for (unsigned i = 0; i < admission->n; i++)
    if (rd_box_intersect (tile, &admission->boxes[i], &shared))
      return true;
  return false;
}
