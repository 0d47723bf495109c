/* SPDX-License-Identifier: MIT */
/* What the library counts, and the sites' categories: the vocabulary that
 * users read in profiles, that findings look for, and that the page colours
 * by.  docs/profile.md lists it for users. */
#ifndef RD_COUNTERS_H
#define RD_COUNTERS_H

#include <radio/profile.h>

/* How a read goes: the stored bytes of the tiles and documents that are
 * needed, what came from the store (with the gaps between tiles that are
 * read at once), what came out of the codecs, what went into the caller's
 * memory.  fetched / asked is the read amplification of requests, decoded /
 * delivered that of tiles. */
extern const struct radio_counter rd_count_asked;       /* "bytes asked" */
extern const struct radio_counter rd_count_fetched;     /* "bytes fetched" */
extern const struct radio_counter rd_count_decoded;     /* "bytes decoded" */
extern const struct radio_counter rd_count_delivered;   /* "bytes delivered"*/

/* How a write goes. */
extern const struct radio_counter rd_count_inflated;    /* "bytes inflated" */
extern const struct radio_counter rd_count_encoded;     /* "bytes encoded":
                                                           before coding */
extern const struct radio_counter rd_count_written;     /* "bytes written" */

extern const struct radio_counter rd_count_requests;    /* "requests" */
extern const struct radio_counter rd_count_retries;     /* "retries" */
extern const struct radio_counter rd_count_hedges;      /* "hedges" */
extern const struct radio_counter rd_count_ahead;       /* "connected ahead" */
extern const struct radio_counter rd_count_hits;        /* "cache hits" */
extern const struct radio_counter rd_count_misses;      /* "cache misses" */
extern const struct radio_counter rd_count_tiles;       /* "tiles" */
extern const struct radio_counter rd_count_errors;      /* "errors" */
extern const struct radio_counter rd_count_failures;    /* "failures": of
                                                           operations */

/* Categories. */
#define RD_IN_OPERATION "operation"     /* what the user called */
#define RD_IN_METADATA "metadata"       /* documents, plans, indexes */
#define RD_IN_DISK "disk"               /* reading and writing files */
#define RD_IN_NETWORK "network"
#define RD_IN_DECODE "decode"           /* codecs, inflating */
#define RD_IN_ENCODE "encode"
#define RD_IN_PLACE "place"             /* moving and converting elements */
#define RD_IN_QUEUE "queue"             /* waiting for other threads */

/* The macros of the library's own sources: RADIO_SCOPE_FULL, or nothing with
 * --disable-profiler. */
#define RD_SCOPE(name, category) \
  RADIO_SCOPE_FULL (name, category, RADIO_SCOPE_WORK)
#define RD_SCOPE_WAIT(name, category) \
  RADIO_SCOPE_FULL (name, category, RADIO_SCOPE_WAIT)
#define RD_SCOPE_BLOCKING(name, category) \
  RADIO_SCOPE_FULL (name, category, RADIO_SCOPE_BLOCKING)

/* The same for a site that is chosen at run time. */
#ifndef RADIO_NO_PROFILE
#define RD_SCOPE_OF(site)                                               \
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))       \
  const uint64_t RADIO_PASTE (radio_scope_, RADIO_UNIQUE) =             \
    radio_scope_begin_if_on (site)
#else
#define RD_SCOPE_OF(site) (void) (site)
#endif

/* Say what the innermost scope is about: RD_NOTE_NAME for files, volumes and
 * subjects.  value is not evaluated while nothing records. */
#define RD_NOTE(key, value)                                     \
  do {                                                          \
    if (radio_profile_is_on ())                                 \
      radio_scope_text ((key), (value), RADIO_TEXT_PLAIN);      \
  } while (0)
#define RD_NOTE_NAME(key, value)                                \
  do {                                                          \
    if (radio_profile_is_on ())                                 \
      radio_scope_text ((key), (value), RADIO_TEXT_NAME);       \
  } while (0)

/* For failure.c: mark the scope within the innermost one. */
void rd_record_failed_within (enum radio_status status);

/* The key of the text by which a scope says that it failed, and of what. */
#define RD_NOTE_FAILED "failed"

/* Say that the innermost scope failed, and so did the one within it where
 * the failure began, if that was on this thread; the caller gets the same
 * status. */
void rd_scope_failed (enum radio_status status);

/* Through this goes what an operation returns, while its scope is open: the
 * profile shows which calls failed, and of what.
 *
 *   RD_SCOPE ("read", RD_IN_OPERATION);
 *   return rd_scope_end_with (read_box (array, box));
 */
static inline enum radio_status
rd_scope_end_with (enum radio_status status)
{
  if (status != RADIO_OK && radio_profile_is_on ())
    rd_scope_failed (status);
  return status;
}

/* Add to one of the counters above: RD_COUNT (fetched, nbytes). */
#define RD_COUNT(counter, value)                                \
  do {                                                          \
    if (radio_profile_is_on ())                                 \
      radio_scope_add (&rd_count_##counter, (value));           \
  } while (0)

/* A tile was decoded or encoded in the innermost scope: one more of "tiles",
 * its nbytes to one of the counters above, and which one it is, by its
 * number (rd_layout_first_tile), with the bytes that it has in the store. */
#define RD_TILE(counter, nbytes, tile, stored_nbytes)           \
  do {                                                          \
    if (radio_profile_is_on ())                                 \
      rd_scope_tile (&rd_count_##counter, (nbytes), (tile),     \
                     (stored_nbytes));                          \
  } while (0)

/* The function behind it.  Of a scope that was handed over from another
 * thread the number is not kept. */
void rd_scope_tile (const struct radio_counter *counter, uint64_t nbytes,
                    uint64_t tile, uint64_t stored_nbytes) RADIO_DIRECT;

/* The counters that scopes of one kind end with, by their places: where a
 * node has had those of the set before, adding to them looks at none.  Those
 * in the places of bytes count bytes, the others do not; NULL: there is
 * none.  Static and constant. */
enum rd_amount_place {
  RD_AMOUNT_MAIN,
  RD_AMOUNT_BYTES,
  RD_AMOUNT_MORE_BYTES,
  RD_AMOUNT_OTHER,
  RD_NAMOUNTS
};

struct rd_counter_set {
  const struct radio_counter *counters[RD_NAMOUNTS];
  const char *text_key;       /* of the text that they may end with */
};

/* A scope that ends with its block, and has amounts by then: one call where
 * a tile or a fetch would have some.
 *
 *   RD_COUNTING_SCOPE struct rd_counting counting = rd_count_in (&site, &set);
 *   ...
 *   counting.amounts[RD_AMOUNT_BYTES] = nbytes;
 */
struct rd_counting {
  uint64_t token;             /* 0: nothing records */
  const struct rd_counter_set *set;
  uint64_t amounts[RD_NAMOUNTS];
  uint64_t tile;              /* its number, as with RD_TILE */
  uint32_t stored_nbytes;
  bool has_tile;              /* it is about one */
  const char *text;           /* a name, there when the scope ends; or
                                 NULL */
};

static inline struct rd_counting
rd_count_in (const struct radio_site *site, const struct rd_counter_set *set)
{
  return (struct rd_counting) {
    .token = radio_scope_begin_if_on (site), .set = set
  };
}

/* The same for a site of kind BLOCKING whose call mostly runs, and says more
 * of itself where it can: that it will block (the thread's CPU clock is
 * looked at then), or that it did not.  Of one that said neither, and took
 * long, that clock is asked at its end, and all that the thread was off its
 * processor since the clock was last asked counts, though for no more than
 * the scope itself. */
uint64_t rd_scope_begin_running (const struct radio_site *site) RADIO_DIRECT;
void rd_scope_blocks (void) RADIO_DIRECT;
void rd_scope_ran (void) RADIO_DIRECT;

static inline struct rd_counting
rd_count_running_in (const struct radio_site *site,
                     const struct rd_counter_set *set)
{
  return (struct rd_counting) {
    .token = radio_profile_is_on () ? rd_scope_begin_running (site) : 0,
    .set = set,
  };
}

/* The same for what follows the end of another scope on this thread with
 * next to nothing between: it begins when that ended, as far as it is within
 * the same scope, and the clock is not read once more. */
uint64_t rd_scope_begin_next (const struct radio_site *site) RADIO_DIRECT;

static inline struct rd_counting
rd_count_next_in (const struct radio_site *site,
                  const struct rd_counter_set *set)
{
  return (struct rd_counting) {
    .token = radio_profile_is_on () ? rd_scope_begin_next (site) : 0,
    .set = set,
  };
}

/* What the log keeps of a number of stored bytes. */
static inline uint32_t
rd_stored_nbytes (uint64_t nbytes)
{
  return nbytes < UINT32_MAX ? (uint32_t) nbytes : UINT32_MAX;
}

static inline void
rd_counting_tile (struct rd_counting *counting, uint64_t tile,
                  uint64_t stored_nbytes)
{
  counting->has_tile = true;
  counting->tile = tile;
  counting->stored_nbytes = rd_stored_nbytes (stored_nbytes);
}

/* Close the scope of the token; the amounts and the text are its. */
void rd_scope_end_counting (const struct rd_counting *counting) RADIO_DIRECT;

static inline void
rd_counting_end (const struct rd_counting *counting)
{
  if (__builtin_expect (counting->token != 0, 0))
    rd_scope_end_counting (counting);
}

#define RD_COUNTING_SCOPE __attribute__ ((__cleanup__ (rd_counting_end)))

/* A copy of a handoff as if it were given now, for work that is queued later
 * than its parent was taken, as the response of a request.  The reference
 * stays the first one's.  A zero handoff gives a zero one. */
struct radio_handoff rd_handoff_again (const struct radio_handoff *handoff);

#endif /* RD_COUNTERS_H */
