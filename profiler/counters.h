/* SPDX-License-Identifier: MIT */
/* The library's counters, the categories of sites, and the macros of its
 * scopes: the vocabulary that users read in profiles, that findings search,
 * and that the page colours by.  docs/profile.md lists it for users. */
#ifndef RD_COUNTERS_H
#define RD_COUNTERS_H

#include <radio/profile.h>

/* Bytes of reads: stored bytes of the tiles and documents that are needed,
 * bytes from the store (with the gaps between tiles that are read at once),
 * from the codecs, and into the caller's memory.  Where elements are converted
 * on the way, "bytes converted" are those in the stored type, so that
 * decoded / delivered can be computed of like elements.  fetched / asked is
 * the read amplification of requests, decoded / delivered that of tiles. */
extern const struct radio_counter rd_count_asked;       /* "bytes asked" */
extern const struct radio_counter rd_count_fetched;     /* "bytes fetched" */
extern const struct radio_counter rd_count_decoded;     /* "bytes decoded" */
extern const struct radio_counter rd_count_delivered;   /* "bytes delivered"*/
extern const struct radio_counter rd_count_converted;   /* "bytes converted"*/

/* Values times the operations of a pipeline that were done with them; and of
 * those that interpolate or add noise, which work in memory, the bytes that
 * they are computed of, and those that they make. */
extern const struct radio_counter rd_count_operated; /* "elements operated" */
extern const struct radio_counter rd_count_sampled;     /* "bytes sampled" */
extern const struct radio_counter rd_count_computed;    /* "bytes computed" */

/* Bytes of writes. */
extern const struct radio_counter rd_count_inflated;    /* "bytes inflated" */
extern const struct radio_counter rd_count_encoded;     /* "bytes encoded":
                                                           before coding */
extern const struct radio_counter rd_count_written;     /* "bytes written" */

extern const struct radio_counter rd_count_requests;    /* "requests" */
extern const struct radio_counter rd_count_retries;     /* "retries" */
extern const struct radio_counter rd_count_refetches;   /* "fetched again" */
extern const struct radio_counter rd_count_hedges;      /* "hedges" */
extern const struct radio_counter rd_count_preconnect;  /* "connected ahead" */
extern const struct radio_counter rd_count_hits;        /* "cache hits" */
extern const struct radio_counter rd_count_misses;      /* "cache misses" */
extern const struct radio_counter rd_count_tiles;       /* "tiles" */
extern const struct radio_counter rd_count_errors;      /* "errors" */
extern const struct radio_counter rd_count_failures;    /* "failures": of
                                                           operations */

/* Categories. */
#define RD_IN_OPERATION "operation"     /* the function that the user called */
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

/* A scope below the one of a handoff; zero or from another thread. */
#define RD_SCOPE_RECEIVED(handoff, name, category) \
  RADIO_SCOPE_RECEIVED_FULL (handoff, name, category, RADIO_SCOPE_WORK)

/* The same for a site that is chosen at run time. */
#ifndef RADIO_NO_PROFILE
#define RD_SCOPE_OF(site)                                               \
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))       \
  const uint64_t RADIO_PASTE (radio_scope_, RADIO_UNIQUE) =             \
    radio_scope_begin_if_on (site)
#else
#define RD_SCOPE_OF(site) (void) (site)
#endif

/* Annotate the innermost scope; RD_NOTE_NAME for names of files, volumes and
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

/* The key of a failed scope's text, which is the status. */
#define RD_NOTE_FAILED "failed"

/* The key of the text of a scope that was left without its end: by longjmp,
 * pthread_exit or cancellation. */
#define RD_NOTE_LEFT "left"

/* Marks the innermost scope as failed, and the one within it where the
 * failure began, if that was on this thread. */
void rd_scope_failed (enum radio_status status);

/* The second half of it; see profiler/record/hooks.c. */
void rd_record_failed_within (enum radio_status status);

/* Passes on the status that an operation returns, while its scope is open: so
 * profiles show which calls failed, and why.
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

/* Adds to one of the counters above: RD_COUNT (fetched, nbytes). */
#define RD_COUNT(counter, value)                                \
  do {                                                          \
    if (radio_profile_is_on ())                                 \
      radio_scope_add (&rd_count_##counter, (value));           \
  } while (0)

/* Records that a tile was decoded or encoded in the innermost scope: adds one
 * to "tiles" and nbytes to one of the counters above, and notes the tile's
 * number (rd_layout_first_tile) and its bytes in the store. */
#define RD_TILE(counter, nbytes, tile, stored_nbytes)           \
  do {                                                          \
    if (radio_profile_is_on ())                                 \
      rd_scope_tile (&rd_count_##counter, (nbytes), (tile),     \
                     (stored_nbytes));                          \
  } while (0)

/* Its function.  A scope that was received from another thread does not keep
 * the number. */
void rd_scope_tile (const struct radio_counter *counter, uint64_t nbytes,
                    uint64_t tile, uint64_t stored_nbytes) RADIO_DIRECT;

/* The counters of scopes of one kind, by their places: adding to those of the
 * node's last set needs no search.  Counters in the places of bytes count
 * bytes, the others do not; NULL: none.  Static and constant. */
enum rd_amount_place {
  RD_AMOUNT_MAIN,
  RD_AMOUNT_BYTES,
  RD_AMOUNT_MORE_BYTES,
  RD_AMOUNT_OTHER,
  RD_NAMOUNTS
};

struct rd_counter_set {
  const struct radio_counter *counters[RD_NAMOUNTS];
  const char *text_key;       /* of their text, or NULL */
};

/* A scope that ends with its block, and adds its amounts then: one call for a
 * tile or a fetch instead of several.
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
  bool has_tile;              /* tile and stored_nbytes are set */
  const char *text;           /* a name, valid when the scope ends; or
                                 NULL */
};

static inline struct rd_counting
rd_count_in (const struct radio_site *site, const struct rd_counter_set *set)
{
  return (struct rd_counting) {
    .token = radio_scope_begin_if_on (site), .set = set
  };
}

/* The same for a site of kind BLOCKING whose call mostly runs, and reports, if
 * it can, that it will block (the thread's CPU clock is read then), or that it
 * did not.  If it reports neither, and takes long, the CPU clock is read at
 * its end, and all the time that the thread did not run since the last reading
 * counts as waiting, up to the scope's own time. */
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

/* The same for a scope that follows the end of another one on this thread at
 * once: it begins when that ended, if both are within the same scope, without
 * another reading of the clock. */
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

/* A number of stored bytes, as large as the log can keep. */
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

/* Ends the scope of the token, with its amounts and text. */
void rd_scope_end_counting (const struct rd_counting *counting) RADIO_DIRECT;

static inline void
rd_counting_end (const struct rd_counting *counting)
{
  if (__builtin_expect (counting->token != 0, 0))
    rd_scope_end_counting (counting);
}

#define RD_COUNTING_SCOPE __attribute__ ((__cleanup__ (rd_counting_end)))

#endif /* RD_COUNTERS_H */
