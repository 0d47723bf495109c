/* SPDX-License-Identifier: MIT */
/* The steps of making a recorder out of an image: addresses, trees, logs. */
#ifndef RD_RECORD_RECOVER_H
#define RD_RECORD_RECOVER_H

#include <string.h>

#include "profiler/record/image.h"
#include "profiler/record/names.h"
#include "profiler/record/record.h"

#define MAX_NAME RD_NAME_NBYTES
#define MAX_FACT 65536        /* of the value of a fact */
#define MAX_WRITERS 65536
#define MAX_ITEMS 65536       /* of one array */
#define MAX_TICKS ((uint64_t) 1 << 60)  /* of times, and sums of them */
#define MAX_COUNT ((uint64_t) 1 << 56)
#define GRANULE 64            /* of the arena's blocks */

/* A writer of the image, and the one that is made of it. */
struct pair {
  const struct rd_writer_state *from;
  struct rd_writer_state *to;

  uint64_t last_event;        /* 0: there was none */

  /* The innermost open scope, which ends with the image. */
  uint64_t known_until;       /* rd_frame_observe */
  struct rd_node *open_node;  /* NULL: none is open */
  uint64_t open_ran;          /* ticks after that in which it may have run */
  struct rd_log_extra *open_extra;      /* of its span in the log; or NULL */
};

/* A cover of the image, and the shared that is made of it. */
struct made_shared {
  const struct rd_cover *from;
  struct rd_shared *shared;
  unsigned nchildren;         /* open ones */
};

/* Faults of logs, as bits. */
enum {
  RD_FAULT_LIST = 1,          /* a list of spans */
  RD_FAULT_SPAN = 2,          /* a span is not as it was written */
  RD_FAULT_ORDER = 4,         /* a span ends before the one before it */
};

struct image {
  unsigned char *at;
  size_t nbytes;
  uint64_t base;
  const struct rd_image_header *header;
  const char *where;
  struct radio_recorder *recorder;
  struct pair *pairs;         /* by number */
  size_t npairs;
  bool *taken;                /* chunks that a log has */
  size_t nchunks;
  struct rd_text_value **values;        /* copies, by their granule */
  RD_VECTOR (struct made_shared) shareds;
  uint64_t budget;            /* bytes that may still be copied */
  uint64_t now;               /* the latest time in it */
  uint64_t margin;            /* ticks by which clocks of CPUs may differ */
  bool has_limits;            /* spans are between the start and `now' */
  unsigned faults;            /* of the log of this writer; then of all */
  uint64_t nlost;             /* spans dropped since they were damaged */
};

/* Fails: the image is damaged, in this. */
enum radio_status rd_image_damaged (const struct image *image,
                                    const char *what);

/* Returns the n elements at an address of the image, or NULL if they are not
 * within it. */
const void *rd_image_resolve (const struct image *image, const void *address,
                              size_t n, size_t element_nbytes,
                              size_t alignment);

#define RESOLVE(image, address, n)                                      \
  ((__typeof__ (address)) (uintptr_t)                                   \
   rd_image_resolve ((image), (address), (n), sizeof *(address),        \
                     _Alignof (__typeof__ (*(address)))))

/* A text outside of the ring, of at most limit bytes; NULL: none. */
const char *rd_image_text (const struct image *image, const char *address,
                           size_t limit);

/* Memory for a copy, which is freed with the recorder; NULL: no memory, or the
 * image claims to have more than its size allows. */
void *rd_image_copy (struct image *image, size_t n, size_t element_nbytes);

/* True if a time is near the others; takes the latest one. */
bool rd_image_is_time (const struct image *image, uint64_t ticks);
void rd_image_note_time (struct image *image, uint64_t ticks);

/* Reads a bool, which is of any value in a damaged file. */
static inline bool
rd_image_bool (const bool *value)
{
  unsigned char byte;
  memcpy (&byte, value, 1);
  return byte & 1;
}

/* The copy of a scope's node of this writer, by its address in the image; or
 * NULL. */
struct rd_node *rd_image_own_node (const struct image *image,
                                   const struct pair *pair,
                                   const struct rd_node *address);

/* Copies the names of a counter in place. */
bool rd_image_counter (const struct image *image,
                       struct radio_counter *counter);

/* The depth of a writer's open scopes.  False: it is damaged. */
bool rd_image_depth (const struct image *image, const struct pair *pair,
                     size_t *depth);

/* True if the first of nslots slots may be a span of this writer, whose tree is
 * copied. */
bool rd_image_is_span (const struct image *image, const struct pair *pair,
                       const union rd_log_slot *slot, size_t nslots);

/* Drops spans that are out of order, and counts those that the log had and has
 * not any more.  The log is copied. */
enum radio_status rd_image_check_spans (struct image *image,
                                        const struct pair *pair)
  RADIO_USE_RESULT;

/* Copy the trees of all writers; then, of each, the log, the last run whose
 * figures are incomplete, and texts, samples and sessions. */
enum radio_status rd_image_copy_trees (struct image *image) RADIO_USE_RESULT;
enum radio_status rd_image_copy_log (struct image *image,
                                     const struct pair *pair)
  RADIO_USE_RESULT;

#endif /* RD_RECORD_RECOVER_H */
