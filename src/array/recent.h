/* SPDX-License-Identifier: MIT */
/* What was read of an array lately, by which to tell tiles that are worth
 * keeping.  Whoever reads here and there pays nothing for a cache then:
 * kept is only what is wanted a second time, or will be, since plane follows
 * plane. */
#ifndef RD_RECENT_H
#define RD_RECENT_H

#include <pthread.h>

#include <radio/box.h>

#define RD_RECENT_MAX 4

struct rd_recent {
  pthread_mutex_t mutex;
  struct {
    unsigned n;                       /* noted, ever */
    struct radio_box boxes[RD_RECENT_MAX];
  } synced;
};

void rd_recent_init (struct rd_recent *recent);
void rd_recent_destroy (struct rd_recent *recent);

/* Which tiles of a read are worth keeping. */
struct rd_admission {
  bool is_next;                       /* a neighbour of its like follows */
  unsigned n;
  struct radio_box boxes[RD_RECENT_MAX];  /* that are read again */
};

/* Note that a box is read, which is not empty, and compare it with what was
 * read before. */
void rd_recent_note (struct rd_recent *recent, const struct radio_box *box,
                     struct rd_admission *admission);

/* Whether to keep a tile of that read of a box of an array.  Of what follows
 * its like only a tile that reaches beyond the box is wanted again. */
bool rd_recent_admits (const struct rd_admission *admission,
                       const struct radio_box *box,
                       const struct radio_box *tile, const uint64_t *shape);

#endif /* RD_RECENT_H */
