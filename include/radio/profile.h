/* SPDX-License-Identifier: MIT */
/* Recording: scopes and counters, and causal parents for work that moves to
 * another thread or into a request.
 *
 * A recorder makes an exact call tree of everything that runs while it is on
 * (calls, total, self, min, max, a histogram and counters of each path), and a
 * bounded log of spans.  It includes the library's own scopes; programs that
 * link the library add theirs with the same macros and get one tree.
 *
 *   static void
 *   segment (const struct image *image)
 *   {
 *     RADIO_SCOPE ("segment");        // ends with the block
 *     ...
 *   }
 *
 *   struct radio_recorder *recorder;
 *   struct radio_profile *profile;
 *   radio_recorder_start (NULL, &recorder);
 *   segment (image);
 *   radio_recorder_stop (recorder, &profile);
 *   radio_profile_write (profile, "segment.html", NULL);
 *   radio_profile_close (profile);
 *
 * or only radio_profile_from_env () at the beginning of main, and
 * RADIO_PROFILE=out.html in the environment.
 *
 * While nothing records, a scope costs a load and a predicted branch.  With
 * RADIO_NO_PROFILE defined before this header the macros expand to nothing.
 * They are for GCC and Clang; with other compilers call the functions, from any
 * thread.  Sites, counters and gauges are never NULL unless a comment says so.
 * See radio/calltree.h for finished profiles.
 */
#ifndef RADIO_PROFILE_H
#define RADIO_PROFILE_H

#include <radio/base.h>
#include <radio/calltree.h>

#ifdef __cplusplus
extern "C" {
#endif

/*------------------------------------------------------------------------
 * Sites: the source location of a scope
 *----------------------------------------------------------------------*/

/* How a scope's self time is counted. */
enum radio_scope_kind {
  RADIO_SCOPE_WORK = 0,       /* it runs: self time is work, unless its thread
                                 slept in 100 us or more of it (Linux) */
  RADIO_SCOPE_WAIT,           /* it waits for others: self time is wait */
  RADIO_SCOPE_BLOCKING,       /* a system call that may do either: split by
                                 the thread's CPU clock (some 0.5 us), unless
                                 it took less than 20 us, which counts as
                                 work */
};

/* A site is a static constant.  Recorders copy its texts when they first see
 * it, so the plug-in that has it may be unloaded; if another one is then loaded
 * at its place, runs of a site of that at the same address may be counted as
 * the first one's.  Scopes with equal name and category under the same parent
 * are one node of the tree.  Frozen: programs define it. */
struct radio_site {
  const char *name;           /* "decode": what users read */
  const char *category;       /* "decode", "disk", "network", "place", ...:
                                 scopes of one colour */
  const char *function;       /* __func__ */
  const char *file;           /* __FILE__ */
  unsigned line;              /* __LINE__ */
  enum radio_scope_kind kind;
};

/* A sum kept on the nodes of the tree.  A static constant; counters with equal
 * names and units are one.  A profile keeps a second unit of one name as
 * "NAME (UNIT)".  unit is "bytes", "count" or "flop" (arithmetic
 * operations, shown as GFLOP/s and operations a byte).  Frozen: programs define
 * it. */
struct radio_counter {
  const char *name;
  const char *unit;
};

/*------------------------------------------------------------------------
 * Scopes
 *----------------------------------------------------------------------*/

/* Functions called for each scope avoid the PLT, if the compiler can. */
#ifdef __has_attribute
#if __has_attribute (__noplt__)
#define RADIO_DIRECT __attribute__ ((__noplt__))
#endif
#endif
#ifndef RADIO_DIRECT
#define RADIO_DIRECT
#endif

/* Nonzero while any recorder of this process is on.  Read by the inline
 * functions below; never write it. */
extern RADIO_API unsigned radio_profile_switch;

/* Opens a scope on the calling thread.  Returns a token for radio_scope_end, 0
 * if this thread is not recorded.  Thread-safe; never fails: what cannot be
 * kept is counted and reported in the profile.
 *
 * A signal handler may record scopes, counts and texts, but what it records
 * while its thread is inside the recorder is dropped and counted.  The first
 * run of a path allocates memory: so block the signal where the program
 * allocates, or let it run once before. */
RADIO_API uint64_t radio_scope_begin (const struct radio_site *site)
  RADIO_DIRECT;

/* Closes a scope, on the thread that opened it; scopes inside it that are still
 * open end too, and are reported in the profile.  0 and tokens of a stopped
 * recorder are ignored. */
RADIO_API void radio_scope_end (uint64_t token) RADIO_DIRECT;

/* Opens a scope, like radio_scope_begin, that is a step of a loop; the log
 * keeps its number, if it is below 2^53, with its span.  The site's category
 * should be RADIO_STEP_CATEGORY, by which steps are found.  Any number of steps
 * takes no more memory than other scopes do. */
#define RADIO_STEP_CATEGORY "step"
RADIO_API uint64_t radio_step_begin (const struct radio_site *site,
                                     uint64_t number);

/* Adds to a counter of the calling thread's innermost open scope; saturates at
 * 2^63 - 1.  Outside of all scopes it is lost, and the profile has the number
 * of such calls.  NULL is ignored. */
RADIO_API void radio_scope_add (const struct radio_counter *counter,
                                uint64_t value) RADIO_DIRECT;

/* The kind of a text: some are replaced in a redacted profile. */
enum radio_text_kind {
  RADIO_TEXT_PLAIN = 0,       /* an axis, a codec, a shape */
  RADIO_TEXT_NAME,            /* of a file, a volume, a subject: replaced
                                 when a profile is written redacted */
};

/* Attaches a text to the innermost open scope, such as the file or the codec.
 * The value is copied; key is static.  In the log each span keeps its own; a
 * node of the tree keeps the first, and whether others differ.  Outside of
 * all scopes it is lost, and counted so.  A NULL is ignored. */
RADIO_API void radio_scope_text (const char *key, const char *value,
                                 enum radio_text_kind kind);

/* Records an event without duration as a node of its own, below the calling
 * thread's innermost open scope, or as a root outside of all. */
RADIO_API void radio_scope_instant (const struct radio_site *site);

/* Records the current value of a gauge (requests in flight, bytes held), in its
 * unit.  For the timeline only: the tree has no gauges. */
RADIO_API void radio_gauge_set (const struct radio_counter *gauge,
                                int64_t value);

/* Names the calling thread in profiles ("loader 3").  Copied; truncated to 63
 * bytes.  Default, and of NULL: the operating system's name for it. */
RADIO_API void radio_thread_name (const char *name);

/*------------------------------------------------------------------------
 * Handing work to another thread
 *----------------------------------------------------------------------*/

/* An open scope of one thread, as the parent of scopes on others.  Filled by
 * radio_handoff_give; zero if nothing records.  May be copied and used on any
 * thread, any number of times, until radio_handoff_release.  Frozen: it stands
 * in programs' structs. */
struct radio_handoff {
  void *parent;
  uint64_t submitted;         /* its time, by the recorder's clock */
};

/* Makes the calling thread's innermost scope a parent for other threads.  NULL
 * is ignored. */
RADIO_API void radio_handoff_give (struct radio_handoff *handoff);

/* Returns a copy of a handoff as if it were given now, for work that is queued
 * later than its parent was taken, or once more.  The reference is still the
 * first one's: release only that.  A zero handoff gives a zero one. */
RADIO_API struct radio_handoff
radio_handoff_again (const struct radio_handoff *handoff) RADIO_USE_RESULT;

/* Opens a scope on this thread under the handoff's parent; the time since the
 * handoff was given (again) counts as queued.  Scopes that this thread opens
 * until radio_scope_end are its children.  With a zero handoff it is
 * radio_scope_begin.  The parent may have ended: the child then counts as late,
 * and is not subtracted from its parent's self time.  If another recorder
 * records this thread, the handoff's recorder replaces it while the scope is
 * open.  A handoff whose recorder was stopped, or that fork copied, acts as a
 * zero one. */
RADIO_API uint64_t radio_scope_receive (const struct radio_handoff *handoff,
                                        const struct radio_site *site);

/* Releases a handoff, once, after its last use; it becomes zero. */
RADIO_API void radio_handoff_release (struct radio_handoff *handoff);

/*------------------------------------------------------------------------
 * Requests: asynchronous work without a thread of its own
 *----------------------------------------------------------------------*/

struct radio_async;

/* Begins a request under the calling thread's innermost scope; NULL if nothing
 * records (the other functions accept NULL and do nothing). */
RADIO_API struct radio_async *
radio_async_begin (const struct radio_site *site) RADIO_USE_RESULT;

/* The same, under the parent of a handoff. */
RADIO_API struct radio_async *
radio_async_receive (const struct radio_handoff *handoff,
                     const struct radio_site *site) RADIO_USE_RESULT;

/* Begins the request's next phase ("queued", "connect", "first byte"), ending
 * the current one.  From any thread, one at a time. */
RADIO_API void radio_async_phase (struct radio_async *async,
                                  const struct radio_site *phase);

/* Adds to a counter of the request. */
RADIO_API void radio_async_add (struct radio_async *async,
                                const struct radio_counter *counter,
                                uint64_t value);

/* Attaches a text to the request (see radio_scope_text). */
RADIO_API void radio_async_text (struct radio_async *async, const char *key,
                                 const char *value,
                                 enum radio_text_kind kind);

/* Ends the request and releases it, from any thread.  A request that is open
 * when its recorder stops is shown as open, and must still be ended. */
RADIO_API void radio_async_end (struct radio_async *async);

/*------------------------------------------------------------------------
 * Recorders
 *----------------------------------------------------------------------*/

struct radio_recorder;

/* Called with the profile of a slow run, which is valid during the call, by a
 * thread of the recorder, one run at a time, the last one before
 * radio_recorder_stop returns.  That thread is not recorded.  Must not stop the
 * recorder. */
typedef void radio_slow_fn (const struct radio_profile *profile,
                            void *user_data);

/* Triggers: each run of a scope or request that takes longer than is allowed
 * here gives a profile of its own: the run, its callees, here and by handoffs
 * on other threads, and its requests, with their times, bytes and texts from
 * the log.  A run's CPU time is its thread's during the run, which costs 1 us
 * a run to measure; requests have none. */
struct radio_slow_options {
  /* "read>50ms, decode*>5ms cpu": names of scopes, in which a '*' at the end
   * stands for any rest, and times in ns, us, ms or s, on the clock or on a
   * CPU; at most 64 names, without commas.  Copied. */
  const char *triggers;

  radio_slow_fn *report;
  void *user_data;

  /* Profiles a minute at most, up to 1000, of which each name can have an equal
   * share whatever the others do; further slow runs are counted.  0: 10. */
  unsigned per_minute;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[6];
};

struct radio_recorder_options {
  /* Record every thread of the process, not only the calling one and its
   * handoffs.  One such recorder at a time. */
  bool whole_process;

  /* Maximum spans in the log; the longest are kept, the rest is counted.  Spans
   * with bytes, a wait, a time without a CPU or a handoff, and steps, take the
   * space of two.  0: 1,048,576 (some 32 MiB). */
  size_t max_spans;

  /* No log, only the tree. */
  bool tree_only;

  /* Use clock_gettime even if the processor's time stamp counter is
   * reliable. */
  bool portable_clock;

  /* Also call the taps that the library was built with (USDT, ITT, NVTX), so
   * that perf, VTune or Nsight see the same scopes.  No lock is held during
   * these calls. */
  bool taps;

  /* A title for the profile; copied.  NULL: the program's name. */
  const char *title;

  /* Not 0: the log is a ring of this many bytes, which holds the last spans
   * instead of the longest, so that a program can always be recorded.  The
   * tree has all runs.  32 bytes a span, 64 for those that take the space of
   * two; at least 64 KiB.  max_spans and tree_only must be 0 then. */
  uint64_t ring_nbytes;

  /* With ring_nbytes: a file that has the ring, the tree and everything else
   * of the recording while it runs, and is removed when it stops.  When the
   * process is killed, the file stays, and radio_profile_recover makes the
   * profile of it.  A regular file of this name becomes FILE.old; a folder, a
   * device or a pipe is refused.  Best in memory, below $XDG_RUNTIME_DIR or
   * /dev/shm: a disk delays the recorded threads.  A thread of the library
   * notes there ten times a second that the process runs, and answers
   * readers.  NULL: none. */
  const char *ring_file;

  /* With ring_nbytes: profiles of slow runs, while recording goes on; copied.
   * NULL: none. */
  const struct radio_slow_options *slow;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[5];
};

/* Starts recording the calling thread, or the process.  *recorder is set to
 * NULL on failure.
 *
 * Errors: RADIO_ERROR_EXISTS (another recorder of its own records this thread,
 * or the process if whole_process is set), RADIO_ERROR_ARGUMENT (a ring that
 * is too small, or beside max_spans or tree_only),
 * RADIO_ERROR_MEMORY, RADIO_ERROR_UNSUPPORTED (the library was built with
 * --disable-profiler); with ring_file those of writing and of creating a
 * thread, and with slow, too (RADIO_ERROR_ARGUMENT: it has no ring, or its
 * text is not one of triggers). */
RADIO_API enum radio_status
radio_recorder_start (const struct radio_recorder_options *options,
                      struct radio_recorder **recorder) RADIO_USE_RESULT;

/* Attaches a fact to the recording ("operation", "slice"); copied.  Replaces a
 * fact with the same key; "title" replaces the profile's title.  From any
 * thread.
 * Errors: RADIO_ERROR_LIMIT (more than 1,024 facts, a title among them),
 * RADIO_ERROR_MEMORY, RADIO_ERROR_FORKED (started before fork). */
RADIO_API enum radio_status
radio_recorder_fact (struct radio_recorder *recorder, const char *key,
                     const char *value, enum radio_text_kind kind)
  RADIO_USE_RESULT;

/* Makes a profile of the recording until now, and goes on recording; for a
 * recorder with ring_nbytes.  From any thread, but not from a signal handler.
 * Open scopes end in it, and are marked as open; open requests and
 * the memory held are left out.  Threads wait while all but the log is copied:
 * less than a millisecond, but time slices where they lack CPUs.  *profile is
 * set to NULL on failure.
 *
 * Errors: RADIO_ERROR_UNSUPPORTED (there is no ring), RADIO_ERROR_MEMORY,
 * RADIO_ERROR_FORKED, RADIO_ERROR_ARGUMENT (NULL). */
RADIO_API enum radio_status
radio_recorder_snapshot (struct radio_recorder *recorder,
                         struct radio_profile **profile) RADIO_USE_RESULT;

/* Stops and releases the recorder, and makes the profile.  From any thread;
 * open scopes of other threads end here and are marked as open.  profile may be
 * NULL to discard it; the caller closes it, and it is set to NULL on failure.
 * The recorder is released even then.  Stopping it twice aborts the program,
 * with a line on standard error.
 *
 * Errors: RADIO_ERROR_MEMORY, RADIO_ERROR_FORKED (started before fork, stopped
 * in the child, which records nothing), RADIO_ERROR_ARGUMENT (recorder is NULL
 * and profile is not; or it is called by a radio_slow_fn of the recorder,
 * which then goes on). */
RADIO_API enum radio_status
radio_recorder_stop (struct radio_recorder *recorder,
                     struct radio_profile **profile) RADIO_USE_RESULT;

/* Makes a profile of a ring_file: of a process that was killed or ended without
 * stopping its recorder, which has all that was recorded until then; open
 * scopes end when the process was last seen, and are marked as open.  If the
 * process still runs, the profile is of one moment: the process makes a copy in
 * the file, which must be writable and have room for that; if it does not, the
 * file is read while it is written.  The memory held at the end is unknown.
 * The library must be of the version that recorded.  *profile is set to NULL on
 * failure.
 *
 * Errors: those of reading, RADIO_ERROR_FORMAT (no ring, damaged, cut),
 * RADIO_ERROR_UNSUPPORTED (another version or kind of machine),
 * RADIO_ERROR_TIMEOUT (a process that still runs writes the file and made no
 * copy). */
RADIO_API enum radio_status
radio_profile_recover (const char *path, struct radio_profile **profile)
  RADIO_USE_RESULT;

/* The file of a ring.  The strings are valid during the callback. */
struct radio_ring {
  const char *path;
  uint64_t nbytes;            /* that it takes on the disk, or in memory */
  int64_t written_unix_s;     /* when it was last written, as far as the file
                                 system knows */
  bool is_known;              /* this version can read it; else what follows is
                                 not known: 0, "" or false */
  bool runs;                  /* its process does, and records into it */
  uint64_t pid;
  const char *program;
  uint64_t started_unix_ns;   /* when the recording began */
};

/* Called with a ring.  Anything but RADIO_OK ends the list, which returns
 * it. */
typedef enum radio_status radio_ring_fn (const struct radio_ring *ring,
                                         void *user_data);

/* Lists the rings of the calling user that lie where programs put them that
 * were given no file ($XDG_RUNTIME_DIR and /dev/shm), by folder and name: those
 * of processes that run, and those that killed ones left, which stay until they
 * are removed.  Files that are no rings, and folders that cannot be read, are
 * left out.  Errors: RADIO_ERROR_MEMORY, what callback returns. */
RADIO_API enum radio_status
radio_profile_list_rings (radio_ring_fn *callback, void *user_data)
  RADIO_USE_RESULT;

/* If RADIO_PROFILE names a file, records the whole process from now on, and
 * writes the profile there when the program exits (return from main or exit).
 * The suffix selects the format (radio_profile_format_of); "%p" in the name is
 * the process ID.  Also read: RADIO_PROFILE_SPANS (max_spans),
 * RADIO_PROFILE_RING (ring_nbytes, with K, M or G for KiB, MiB or GiB),
 * RADIO_PROFILE_RING_FILE (ring_file; "%p" is the process ID; without it, or if
 * it cannot be made, radio-ring-%p in $XDG_RUNTIME_DIR or /dev/shm, if there is
 * room, else none),
 * RADIO_PROFILE_SIGNAL ("USR1,TERM,INT": on these the profile is written, too)
 * and RADIO_PROFILE_EVERY (seconds: it is also written at this interval),
 * RADIO_PROFILE_SLOW (the triggers of slow; each slow run is written as
 * NAME-PID-N beside the profile, in its format) and
 * RADIO_PROFILE_SLOW_PER_MINUTE (per_minute), RADIO_PROFILE_REDACT (not empty:
 * redacted), RADIO_PROFILE_REDACT_KEY (a file with the key of the pseudonyms,
 * of at most 1 MiB), RADIO_PROFILE_TAPS (not empty: taps).  Without
 * RADIO_PROFILE, but with RADIO_PROFILE_SLOW, only slow runs are written, as
 * pages in the current folder.  Without both, with empty ones, or called again,
 * the function does nothing and succeeds.  A program with rights that its user
 * lacks (set-user-ID) ignores the variables.
 *
 * If the file cannot be written at exit, the profile is written as JSON into
 * the folder for temporary files, and one line on standard error says where.
 * Such lines (also of a ring or slow run that cannot be written, and of
 * triggers that no scope had, where no profile says it) are the only ones that
 * this library prints unless it aborts, since no caller is left.  The exit
 * status stays the program's.
 *
 * Errors: RADIO_ERROR_ARGUMENT (an unknown suffix, an invalid number, an empty
 * or too large key), RADIO_ERROR_NOT_FOUND, RADIO_ERROR_PERMISSION and
 * RADIO_ERROR_IO (the key's file), those of radio_recorder_start. */
RADIO_API enum radio_status radio_profile_from_env (void) RADIO_USE_RESULT;

/* Attaches a fact to the recording of radio_profile_from_env, like
 * radio_recorder_fact; does nothing without one.  A program that fails
 * sets the fact "failed" to its message (RADIO_TEXT_NAME if it names a file),
 * which the profile then shows first; the fact "title" is the profile's title
 * instead of the program's name.
 * Errors: RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_profile_env_fact (const char *key, const char *value,
                        enum radio_text_kind kind) RADIO_USE_RESULT;

/* Stops the recording of radio_profile_from_env and writes the profile now
 * instead of at exit.  *path (may be NULL) is set to the name of the file,
 * which the caller frees with free (); NULL if nothing was recorded, as in a
 * child of fork.
 * Errors: those of radio_recorder_stop and radio_profile_write.  *path is then
 * the file in the folder for temporary files that has the data, or NULL if that
 * could not be written either. */
RADIO_API enum radio_status radio_profile_finish_env (char **path)
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * The macros
 *----------------------------------------------------------------------*/

/* Returns whether anything records: one relaxed load. */
static inline bool
radio_profile_is_on (void)
{
#if defined RADIO_NO_PROFILE
  return false;
#elif defined __GNUC__
  return __builtin_expect (
    __atomic_load_n (&radio_profile_switch, __ATOMIC_RELAXED) != 0, 0);
#else
  return *(volatile unsigned *) &radio_profile_switch != 0;
#endif
}

#if defined __GNUC__

static inline uint64_t
radio_scope_begin_if_on (const struct radio_site *site)
{
  return radio_profile_is_on () ? radio_scope_begin (site) : 0;
}

static inline uint64_t
radio_step_begin_if_on (const struct radio_site *site, uint64_t number)
{
  return radio_profile_is_on () ? radio_step_begin (site, number) : 0;
}

static inline uint64_t
radio_scope_receive_if_on (const struct radio_handoff *handoff,
                           const struct radio_site *site)
{
  return radio_profile_is_on () ? radio_scope_receive (handoff, site) : 0;
}

static inline void
radio_scope_cleanup (const uint64_t *token)
{
  if (__builtin_expect (*token != 0, 0))
    radio_scope_end (*token);
}

#define RADIO_PASTE_(a, b) a##b
#define RADIO_PASTE(a, b) RADIO_PASTE_ (a, b)

/* A number unique within the block. */
#ifdef __COUNTER__
#define RADIO_UNIQUE __COUNTER__
#else
#define RADIO_UNIQUE __LINE__
#endif

/* Defines a site as a static constant named VARIABLE. */
#define RADIO_SITE(variable, name, category, kind)                      \
  static const struct radio_site variable = {                           \
    (name), (category), __func__, __FILE__, __LINE__, (kind)            \
  }

/* Opens a scope that ends with the block, however it is left (except by
 * longjmp, pthread_exit or cancellation: it then ends with the enclosing scope
 * or the thread, and is marked so).
 * Not for the head of another statement. */
#ifndef RADIO_NO_PROFILE
#define RADIO_SCOPE_AS(number, name, category, kind)                    \
  RADIO_SITE (RADIO_PASTE (radio_site_, number), name, category, kind); \
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))       \
  const uint64_t RADIO_PASTE (radio_scope_, number) =                   \
    radio_scope_begin_if_on (&RADIO_PASTE (radio_site_, number))
#define RADIO_SCOPE_FULL(name, category, kind)                          \
  RADIO_SCOPE_AS (RADIO_UNIQUE, name, category, kind)
#define RADIO_RECEIVED_AS(number, handoff, name, category, kind)        \
  RADIO_SITE (RADIO_PASTE (radio_site_, number), name, category, kind); \
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))       \
  const uint64_t RADIO_PASTE (radio_scope_, number) =                   \
    radio_scope_receive_if_on ((handoff),                               \
                               &RADIO_PASTE (radio_site_, number))
#define RADIO_SCOPE_RECEIVED_FULL(handoff, name, category, kind)        \
  RADIO_RECEIVED_AS (RADIO_UNIQUE, handoff, name, category, kind)
#else
#define RADIO_SCOPE_FULL(name, category, kind)                          \
  struct radio_scope_needs_semicolon
#define RADIO_SCOPE_RECEIVED_FULL(handoff, name, category, kind)        \
  struct radio_scope_needs_semicolon
#endif

#define RADIO_SCOPE(name) \
  RADIO_SCOPE_FULL (name, "user", RADIO_SCOPE_WORK)

/* The same below the parent of a handoff, given on another thread: see
 * radio_scope_receive. */
#define RADIO_SCOPE_RECEIVED(handoff, name) \
  RADIO_SCOPE_RECEIVED_FULL (handoff, name, "user", RADIO_SCOPE_WORK)

/* Makes the block a numbered step: an iteration of a training loop, a batch.
 * Findings and pages compare the first and the slowest steps with the median.
 * NUMBER is a uint64_t, from 0 or 1 on; 2^53 and more count as no number. */
#ifndef RADIO_NO_PROFILE
#define RADIO_STEP_AS(unique, number)                                   \
  RADIO_SITE (RADIO_PASTE (radio_site_, unique), "step",                \
              RADIO_STEP_CATEGORY, RADIO_SCOPE_WORK);                   \
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))       \
  const uint64_t RADIO_PASTE (radio_scope_, unique) =                   \
    radio_step_begin_if_on (&RADIO_PASTE (radio_site_, unique), (number))
#define RADIO_STEP(number) RADIO_STEP_AS (RADIO_UNIQUE, number)
#else
#define RADIO_STEP(number) struct radio_scope_needs_semicolon
#endif

/* Adds to a counter of the innermost scope: RADIO_COUNT ("rows", "count", n).
 * VALUE is evaluated only while something records. */
#define RADIO_COUNT(name, unit, value)                                  \
  do {                                                                  \
    if (radio_profile_is_on ()) {                                       \
      static const struct radio_counter radio_counter_ = {              \
        (name), (unit)                                                  \
      };                                                                \
      radio_scope_add (&radio_counter_, (value));                       \
    }                                                                   \
  } while (0)

#define RADIO_INSTANT(name)                                             \
  do {                                                                  \
    if (radio_profile_is_on ()) {                                       \
      RADIO_SITE (radio_site_, name, "user", RADIO_SCOPE_WORK);         \
      radio_scope_instant (&radio_site_);                               \
    }                                                                   \
  } while (0)

#endif /* __GNUC__ */

#ifdef __cplusplus
}
#endif

#endif /* RADIO_PROFILE_H */
