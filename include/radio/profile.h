/* SPDX-License-Identifier: MIT */
/* Recording: scopes, what is counted in them, and how work that moves to
 * another thread or into a request keeps its parent.
 *
 * A recorder makes an exact call tree of whatever runs while it is on (calls,
 * total, self, min, max, a histogram and counters of each path), and a
 * bounded log of single spans.  The library's own scopes are in it; programs
 * that link the library add theirs with the same macros and get one tree.
 *
 *   static void
 *   segment (const struct image *image)
 *   {
 *     RADIO_SCOPE ("segment");        // closed on every way out
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
 * or, without any of this, radio_profile_from_env () at the beginning of main
 * and RADIO_PROFILE=out.html in the environment.
 *
 * While nothing records, a scope costs a load and a branch that is predicted.
 * With RADIO_NO_PROFILE defined before this header the macros vanish.  The
 * file radio/calltree.h is about finished profiles.
 */
#ifndef RADIO_PROFILE_H
#define RADIO_PROFILE_H

#include <radio/base.h>
#include <radio/calltree.h>

#ifdef __cplusplus
extern "C" {
#endif

/*------------------------------------------------------------------------
 * Sites: where a scope stands in the program
 *----------------------------------------------------------------------*/

/* What the thread does in a scope, as far as its self time goes. */
enum radio_scope_kind {
  RADIO_SCOPE_WORK = 0,       /* it runs: self time is work */
  RADIO_SCOPE_WAIT,           /* it waits for others: self time is wait */
  RADIO_SCOPE_BLOCKING,       /* a system call that may do either: the
                                 thread's CPU clock tells them apart (some
                                 0.5 us), unless it took less than 20 us,
                                 which counts as work */
};

/* A site is static and constant, and must stay until every recorder that
 * saw it was stopped (a plug-in is not unloaded before).  Scopes with equal
 * name and category below the same parent are one node of the tree. */
struct radio_site {
  const char *name;           /* "decode": what users read */
  const char *category;       /* "decode", "disk", "network", "place", ...:
                                 scopes of one colour */
  const char *function;       /* __func__ */
  const char *file;           /* __FILE__ */
  unsigned line;              /* __LINE__ */
  enum radio_scope_kind kind;
};

/* Something that is added up on the nodes of the tree.  Static and constant;
 * counters of equal names are one.  unit is "bytes" or "count". */
struct radio_counter {
  const char *name;
  const char *unit;
};

/*------------------------------------------------------------------------
 * Scopes
 *----------------------------------------------------------------------*/

/* What is called for each scope is called without a jump between, where the
 * compiler can. */
#ifdef __has_attribute
#if __has_attribute (__noplt__)
#define RADIO_DIRECT __attribute__ ((__noplt__))
#endif
#endif
#ifndef RADIO_DIRECT
#define RADIO_DIRECT
#endif

/* Not zero while any recorder of this process is on.  Read by the inline
 * functions below; never to be written. */
extern RADIO_API unsigned radio_profile_switch;

/* Open a scope on the calling thread.  Returns a token for radio_scope_end,
 * 0 when this thread is not recorded.  Thread-safe; never fails: what cannot
 * be kept is counted and told in the profile. */
RADIO_API uint64_t radio_scope_begin (const struct radio_site *site)
  RADIO_DIRECT;

/* Close the scope of a token, on the thread that opened it; scopes inside it
 * that were left open end here too, and are told so in the profile.  0, and
 * tokens of a recorder that was stopped meanwhile, are ignored. */
RADIO_API void radio_scope_end (uint64_t token) RADIO_DIRECT;

/* Add to a counter of the innermost open scope of the calling thread; it
 * stops at 2^63 - 1 instead of wrapping. */
RADIO_API void radio_scope_add (const struct radio_counter *counter,
                                uint64_t value) RADIO_DIRECT;

/* Whether a text may go into an exported profile as it is. */
enum radio_text_kind {
  RADIO_TEXT_PLAIN = 0,       /* an axis, a codec, a shape */
  RADIO_TEXT_NAME,            /* of a file, a volume, a subject: replaced
                                 when a profile is written redacted */
};

/* Attach a text to the innermost open scope: which file, which codec.  The
 * value is copied; key is static.  In the log each span keeps its own; a
 * node of the tree keeps the first, and whether there were others. */
RADIO_API void radio_scope_text (const char *key, const char *value,
                                 enum radio_text_kind kind);

/* Something happened now, in the innermost open scope.  Counted as a node
 * of its own, without duration. */
RADIO_API void radio_scope_instant (const struct radio_site *site);

/* The value of something that goes up and down (requests in flight, bytes
 * held), now.  For the timeline only. */
RADIO_API void radio_gauge_set (const struct radio_counter *gauge,
                                int64_t value);

/* What the calling thread is called in profiles ("loader 3").  Copied; cut
 * at 63 bytes.  Without it, the name that the operating system knows. */
RADIO_API void radio_thread_name (const char *name);

/*------------------------------------------------------------------------
 * Work that another thread does
 *----------------------------------------------------------------------*/

/* The open scope of one thread, as the parent of scopes on others.  Filled
 * by radio_handoff_give, zero when nothing records.  May be copied and used
 * on any thread, any number of times, until radio_handoff_release. */
struct radio_handoff {
  void *parent;
  uint64_t submitted;         /* when it was given; the recorder's clock */
};

/* Take the calling thread's innermost scope as a parent for others. */
RADIO_API void radio_handoff_give (struct radio_handoff *handoff);

/* Open a scope on this thread that hangs under the parent of the handoff,
 * wherever that stands; the time since the handoff was given counts as
 * queued.  Scopes that this thread opens until radio_scope_end are its
 * children.  With a zero handoff it is radio_scope_begin.  The parent may
 * have ended: the child is then counted as late, and takes nothing away
 * from its parent's self time.  A thread that another recorder records is
 * recorded by the handoff's as long as the scope is open.  A handoff whose
 * recorder was stopped, or that fork copied, is as good as a zero one. */
RADIO_API uint64_t radio_scope_receive (const struct radio_handoff *handoff,
                                        const struct radio_site *site);

/* Release a handoff, once, when nobody uses it any more; it becomes zero. */
RADIO_API void radio_handoff_release (struct radio_handoff *handoff);

/*------------------------------------------------------------------------
 * Requests: work without a thread of its own
 *----------------------------------------------------------------------*/

struct radio_async;

/* Begin a request under the calling thread's innermost scope; NULL when
 * nothing records (the other functions take NULL and do nothing). */
RADIO_API struct radio_async *
radio_async_begin (const struct radio_site *site) RADIO_USE_RESULT;

/* The same under the parent of a handoff. */
RADIO_API struct radio_async *
radio_async_receive (const struct radio_handoff *handoff,
                     const struct radio_site *site) RADIO_USE_RESULT;

/* The request enters its next phase ("queued", "connect", "first byte"),
 * which ends the one before.  From any thread, one at a time. */
RADIO_API void radio_async_phase (struct radio_async *async,
                                  const struct radio_site *phase);

/* Add to a counter of the request. */
RADIO_API void radio_async_add (struct radio_async *async,
                                const struct radio_counter *counter,
                                uint64_t value);

/* Attach a text to the request (see radio_scope_text). */
RADIO_API void radio_async_text (struct radio_async *async, const char *key,
                                 const char *value,
                                 enum radio_text_kind kind);

/* End the request and release it; from any thread.  A request that is still
 * open when its recorder stops is in the profile as open, and must be ended
 * all the same. */
RADIO_API void radio_async_end (struct radio_async *async);

/*------------------------------------------------------------------------
 * Recorders
 *----------------------------------------------------------------------*/

struct radio_recorder;

struct radio_recorder_options {
  /* Record every thread of the process, not only the calling one and what
   * is handed on from it.  One such recorder at a time. */
  bool whole_process;

  /* Spans that the log holds at most; what is longest is kept, the rest is
   * counted.  Those with bytes, that waited, or that were handed on take the
   * room of two.  0: 1,048,576 (some 32 MiB). */
  size_t max_spans;

  /* No log, only the tree. */
  bool tree_only;

  /* Use clock_gettime even where the processor's time stamp counter can be
   * trusted. */
  bool portable_clock;

  /* Also call the taps that the library was built with (USDT, ITT, NVTX),
   * so that perf, VTune or Nsight see the same scopes.  Nothing is locked
   * meanwhile: what they call may record, take its time, or stop. */
  bool taps;

  /* A title for the profile; copied.  NULL: the program's name. */
  const char *title;
};

/* Start recording the calling thread (or the process).  options may be NULL.
 *
 * Errors: RADIO_ERROR_EXISTS (this thread is recorded by another recorder of
 * its own, or the process is and whole_process is asked for),
 * RADIO_ERROR_MEMORY, RADIO_ERROR_UNSUPPORTED (the library was built with
 * --disable-profiler). */
RADIO_API enum radio_status
radio_recorder_start (const struct radio_recorder_options *options,
                      struct radio_recorder **recorder) RADIO_USE_RESULT;

/* Attach a fact to the whole recording ("operation", "slice"); copied.
 * Facts with equal keys replace each other.  RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_recorder_fact (struct radio_recorder *recorder, const char *key,
                     const char *value, enum radio_text_kind kind)
  RADIO_USE_RESULT;

/* Stop, release the recorder, and make the profile.  From any thread; other
 * threads may be within scopes: these end here, as open.  profile may be
 * NULL to throw everything away.  The recorder is gone also on failure.
 *
 * Errors: RADIO_ERROR_MEMORY, RADIO_ERROR_FORKED (the recorder was started
 * before fork, and this is the child: it records nothing). */
RADIO_API enum radio_status
radio_recorder_stop (struct radio_recorder *recorder,
                     struct radio_profile **profile) RADIO_USE_RESULT;

/* If RADIO_PROFILE names a file, record the whole process from now on, and
 * write the profile there when the program exits (return from main or
 * exit).  The suffix chooses the format (radio_profile_format_of); "%p" in
 * the name is the process's number.  Also read: RADIO_PROFILE_SPANS (a
 * number: max_spans), RADIO_PROFILE_REDACT (not empty: redacted),
 * RADIO_PROFILE_REDACT_KEY (a file whose bytes key the pseudonyms),
 * RADIO_PROFILE_TAPS (not empty: taps).  Without RADIO_PROFILE nothing
 * happens and the call succeeds.
 *
 * When the file cannot be written at exit, the profile is written as JSON
 * into the folder for temporary files instead, and one line on the standard
 * error says where: the only line that this library ever prints, since
 * nobody is left to tell.  The exit status stays the program's.
 *
 * Errors: RADIO_ERROR_ARGUMENT (a suffix that stands for no format, a bad
 * number), those of radio_recorder_start. */
RADIO_API enum radio_status radio_profile_from_env (void) RADIO_USE_RESULT;

/* Attach a fact to the recording that radio_profile_from_env began, as
 * radio_recorder_fact does; nothing happens where none is on.  A program
 * that fails says so by a fact "failed", its message (RADIO_TEXT_NAME, where
 * it names a file): this comes first in the profile then.
 * RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_profile_env_fact (const char *key, const char *value,
                        enum radio_text_kind kind) RADIO_USE_RESULT;

/* Write the profile of radio_profile_from_env now, and stop recording; what
 * would happen at exit then does not.  *path (may be NULL) is set to the
 * name of the file written, allocated for free (); NULL when nothing was
 * recorded.
 * Errors: those of radio_profile_write; then *path, if not NULL, names the
 * file in the folder for temporary files that holds the data. */
RADIO_API enum radio_status radio_profile_finish_env (char **path)
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * The macros
 *----------------------------------------------------------------------*/

/* Whether anything records: one relaxed load. */
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

static inline void
radio_scope_cleanup (const uint64_t *token)
{
  if (__builtin_expect (*token != 0, 0))
    radio_scope_end (*token);
}

#define RADIO_PASTE_(a, b) a##b
#define RADIO_PASTE(a, b) RADIO_PASTE_ (a, b)

/* A number that no other scope of the block has. */
#ifdef __COUNTER__
#define RADIO_UNIQUE __COUNTER__
#else
#define RADIO_UNIQUE __LINE__
#endif

/* A site as a static constant named VARIABLE. */
#define RADIO_SITE(variable, name, category, kind)                      \
  static const struct radio_site variable = {                           \
    (name), (category), __func__, __FILE__, __LINE__, (kind)            \
  }

/* From here to the end of the block is a scope, whichever way the block is
 * left (but longjmp, exit and the cancelling of a thread: the scope then
 * ends with the one around it).  Not in the head of another statement. */
#ifndef RADIO_NO_PROFILE
#define RADIO_SCOPE_AS(number, name, category, kind)                    \
  RADIO_SITE (RADIO_PASTE (radio_site_, number), name, category, kind); \
  __attribute__ ((__cleanup__ (radio_scope_cleanup), __unused__))       \
  const uint64_t RADIO_PASTE (radio_scope_, number) =                   \
    radio_scope_begin_if_on (&RADIO_PASTE (radio_site_, number))
#define RADIO_SCOPE_FULL(name, category, kind)                          \
  RADIO_SCOPE_AS (RADIO_UNIQUE, name, category, kind)
#else
#define RADIO_SCOPE_FULL(name, category, kind)                          \
  struct radio_scope_needs_semicolon
#endif

#define RADIO_SCOPE(name) \
  RADIO_SCOPE_FULL (name, "user", RADIO_SCOPE_WORK)

/* Add to a counter of the innermost scope: RADIO_COUNT ("rows", "count", n);
 * free of cost while nothing records (VALUE is not evaluated then). */
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
