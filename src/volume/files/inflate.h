/* SPDX-License-Identifier: MIT */
/* One way through a gzip file: from a point of entry on, what is not wanted is
 * skipped, and points are kept.  Shared by the parts of gunzip. */
#ifndef RD_INFLATE_H
#define RD_INFLATE_H

#include <isa-l/igzip_lib.h>

#include "src/array/linear.h"
#include "src/base/buffer.h"
#include "src/volume/files/index-file.h"

/* Input that is read at once. */
#define RD_INFLATE_INPUT_NBYTES ((size_t) 128 << 10)

struct rd_read_ahead;
struct rd_session;

/* A member, by what the members before it say. */
struct rd_claim {
  uint64_t output, input;
};

enum rd_gunzip_warning {
  RD_GUNZIP_WRONG_HINTS,
  RD_GUNZIP_GARBAGE,
  RD_GUNZIP_CUT,
  RD_GUNZIP_NOT_KEPT,
  RD_GUNZIP_REPEATED,
  RD_GUNZIP_NWARNINGS,
};

struct rd_gunzip {
  struct rd_linear base;
  struct radio_store *store;
  struct rd_linear_object object;
  bool is_remote;                     /* input is read ahead */
  uint64_t offset, nbytes;            /* of the elements */
  struct rd_points *points;
  struct rd_points *hints;            /* points that have to be proven, see
                                         rd_session_prove; or NULL */
  bool has_key, keep_index;
  radio_warning_fn *warning;          /* or NULL */
  void *user_data;
  uint64_t first_member_nbytes;       /* as it says; or 0 */
  struct rd_points_key points_key;
  struct rd_index_place place;        /* its strings are the gunzip's */
  pthread_mutex_t mutex;
  struct {
    struct rd_session *idle;             /* ended last, for a read that follows;
                                         or NULL */
    struct rd_claim frontier;            /* the last member that was reached */
    bool is_frontier_silent;          /* it does not say how long it is */
    bool distrusts_claims;            /* one was wrong */
    bool has_warned[RD_GUNZIP_NWARNINGS];
  } synced;
  char key[];
};

/* One way through the file. */
struct rd_session {
  struct rd_gunzip *gunzip;
  struct rd_read_stop *stop;          /* of the read */
  struct inflate_state inflate;
  unsigned char *input_end;           /* of the bytes read */
  uint64_t input;                     /* offset of input_end in the file */
  uint64_t output;                    /* offset of the next byte */
  bool at_end;                        /* nothing follows input_end */
  bool in_member;
  bool is_at_start;                   /* of a member */
  bool is_unchecked;                  /* began within this member, of which the
                                         checksum before is not known */
  uint64_t member_start;              /* output before this member */
  bool is_claimed;                    /* began at a claim, or a hint that is not
                                         proven yet: keeps no points */
  const struct rd_claim *next_claim, *end_claim;   /* that it has to meet */
  struct rd_point joint;              /* the next point that it passes; only one
                                         after its output is */
  struct rd_point last_joint;         /* that its task has to meet; or none, at
                                         output 0 */
  bool ignores_joints;                /* of a check of the file alone */
  bool awaits_member;                 /* a joint says that one begins here */
  struct rd_read_ahead *ahead;        /* of a remote file; NULL: not begun */
  const unsigned char *memory;        /* a part of the file, which is read from
                                         instead and taken for all of it; or
                                         NULL */
  uint64_t memory_start, memory_end;
  uint64_t needed_output;             /* wanted by the read, up to here, */
  uint64_t needed_input;              /* for which the file is expected to be
                                         read up to here */
  struct rd_points *points;           /* that are kept on the way */
  bool keeps_blocks;                  /* where a file of points may have one */
  bool has_kept;                      /* a block or member */
  struct inflate_state *saved;        /* before what may hold a block's begin;
                                         or NULL */
  size_t close_nbytes;                /* of input that holds one */
  size_t same_codes_nbytes;           /* that held none */
  struct rd_buffer window;            /* output from window_start on */
  uint64_t window_start;
  unsigned char history[ISAL_DEF_HIST_SIZE];
  unsigned char packed[RD_POINT_PACKED_NBYTES];
  unsigned char buffer[RD_INFLATE_INPUT_NBYTES];
};

/* A read, in tasks, each of which has some of the runs. */
struct rd_gunzip_job {
  struct rd_job job;
  struct rd_gunzip *gunzip;
  struct rd_tile_read *read;
  const struct rd_linear_run *runs;
  size_t *firsts;             /* run of each task, and the end */
};

/* Runs that are inflated at once: as much as is in a processor's cache when its
 * checksum is computed, or it is placed. */
#define RD_GUNZIP_BATCH_NBYTES ((uint64_t) 512 << 10)

/* Inflates and places the runs from first to end - 1. */
enum radio_status rd_gunzip_read_runs (const struct rd_gunzip_job *job,
                                       struct rd_session *session,
                                       size_t first, size_t end)
  RADIO_USE_RESULT;

/* Returns how much of the rest of a read a task should inflate: tasks become
 * smaller, so that threads end at about the same time. */
uint64_t rd_gunzip_task_nbytes (const struct rd_gunzip *gunzip,
                                uint64_t left_nbytes, uint64_t min_nbytes);

/* Reads nbytes of the file, or fewer at its end. */
enum radio_status rd_gunzip_read_bytes (struct rd_gunzip *gunzip,
                                        uint64_t offset, size_t nbytes,
                                        struct rd_buffer *into,
                                        uint64_t *file_nbytes)
  RADIO_USE_RESULT;

/* Gives a warning about the file to the caller, once. */
void rd_gunzip_warn (struct rd_gunzip *gunzip, enum rd_gunzip_warning which,
                     const char *what);

/* Returns up to where a remote file is expected to be needed for an output,
 * from a place in it on. */
uint64_t rd_gunzip_expect (const struct rd_gunzip *gunzip,
                           const struct rd_claim *from,
                           uint64_t needed_output);

/* Opens a session of a read, which is nowhere yet.  Its needed_output is for
 * the caller to set, and again when a session goes on. */
enum radio_status rd_session_open (struct rd_gunzip *gunzip,
                                   struct rd_read_stop *stop,
                                   struct rd_session **session)
  RADIO_USE_RESULT;
void rd_session_close (struct rd_session *session);
RD_DEFINE_CLEANUP (session, struct rd_session, rd_session_close);

/* Sets a session to a point, whose history is in session->packed; or to the
 * last point of a kind that is not after an output. */
enum radio_status rd_session_enter_at (struct rd_session *session,
                                       const struct rd_point *point)
  RADIO_USE_RESULT;
enum radio_status rd_session_enter (struct rd_session *session,
                                    uint64_t output, enum rd_points_kind kind)
  RADIO_USE_RESULT;

/* Inflates from one hint to the next.  RADIO_ERROR_FORMAT: the output differs
 * from the next one's history; so one of them is not of this file, or the file
 * is damaged.  Else this session is right, since both would have to be wrong in
 * the same way; and its place is kept as a point. */
enum radio_status rd_session_prove (struct rd_session *session,
                                    const struct rd_point *from,
                                    const struct rd_point *hint)
  RADIO_USE_RESULT;

/* Expects how much of a remote file a session needs for its needed_output, from
 * where it is. */
void rd_session_expect (struct rd_session *session);

/* Skips to an output. */
enum radio_status rd_session_skip_to (struct rd_session *session,
                                      uint64_t output) RADIO_USE_RESULT;

/* Makes the window begin at an output, and have nbytes.  The outputs of
 * successive calls do not decrease. */
enum radio_status rd_session_fill (struct rd_session *session,
                                   uint64_t output, size_t nbytes)
  RADIO_USE_RESULT;

/* Inflates nbytes from an output on into the caller's memory.  Output before
 * that, or in the window, is lost to later calls. */
enum radio_status rd_session_fill_into (struct rd_session *session,
                                        uint64_t output, unsigned char *to,
                                        size_t nbytes) RADIO_USE_RESULT;

/* Where a member begins at the joint that the session's task has to meet, goes
 * on into it: the checksum of the one before is in between. */
enum radio_status rd_session_meet_last_joint (struct rd_session *session)
  RADIO_USE_RESULT;

/* Inflates one byte or more until the session has met its claims. */
enum radio_status rd_session_meet_claims (struct rd_session *session)
  RADIO_USE_RESULT;

/* Adds the beginning of the next block or member to a set of points, unless it
 * is after an output. */
enum radio_status rd_session_find_block (struct rd_session *session,
                                         struct rd_points *blocks,
                                         uint64_t end) RADIO_USE_RESULT;

/* Inflates what follows the voxels, mostly nothing but the trailer. */
enum radio_status rd_session_finish (struct rd_session *session)
  RADIO_USE_RESULT;

#endif /* RD_INFLATE_H */
