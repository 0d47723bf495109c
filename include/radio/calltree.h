/* SPDX-License-Identifier: MIT */
/* Finished profiles: call trees that can be inspected, written in several
 * formats, read back, joined and compared.
 *
 * Times are in nanoseconds.  For a node, over all its runs:
 *   total  the sum of the intervals from begin to end;
 *   self   the intervals minus the union of their children's, clipped to them.
 *          Never negative, even if children ran concurrently;
 *   work   the part of self time in which the node's own thread ran; the sum
 *          over all nodes is the work of the profile;
 *   wait   the part in which its thread was blocked or waited for others;
 *   queue  from the handoff to the beginning.
 * A request has no thread: it has total and self, but neither work nor wait.
 */
#ifndef RADIO_CALLTREE_H
#define RADIO_CALLTREE_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable; may be shared between threads.  Pointers that the functions below
 * return are valid as long as the profile.  For an index that is too large they
 * return NULL, or fill zeros; output parameters may be NULL. */
struct radio_profile;

/* Releases a profile.  NULL is legal. */
RADIO_API void radio_profile_close (struct radio_profile *profile);

/*------------------------------------------------------------------------
 * Inspecting a profile
 *----------------------------------------------------------------------*/

/* The kind of a joined profile's parts. */
enum radio_profile_parts {
  RADIO_PARTS_NONE = 0,       /* one recording: a single part */
  RADIO_PARTS_RUNS,           /* repeated runs of one operation */
  RADIO_PARTS_RANKS,          /* concurrent processes */
};

/* Properties of a profile.  Strings are valid as long as it is; never NULL.  A
 * result: later versions may add members at its end. */
struct radio_profile_info {
  const char *title;
  const char *program;        /* its arguments are a fact: "command" */
  uint64_t started_unix_ns;   /* since 1970 */
  uint64_t wall_ns;           /* first begin to last end; of ranks by their
                                 start times, of runs the sum */
  uint64_t work_ns;           /* the sum of all nodes' work */
  uint64_t wait_ns;           /* the sum of all nodes' wait */
  size_t nnodes;
  size_t ncounters;
  size_t nlanes;              /* threads, and rows of requests */
  size_t nspans;              /* in the log */
  uint64_t dropped_count;     /* spans dropped from the log */
  uint64_t scope_count;       /* scopes opened in total */
  double scope_cost_ns;       /* of one scope, measured on this machine */
  uint64_t overhead_ns;       /* their product; shown as a share of work_ns */
  uint64_t open_count;        /* scopes still open at the end */
  uint64_t late_count;        /* children that ended after their parent */
  uint64_t alloc_count;       /* the library's allocations */
  uint64_t alloc_nbytes;
  uint64_t alloc_peak_nbytes; /* peak; of runs the maximum, of ranks the
                                 sum */
  uint64_t alloc_live_nbytes; /* never released; of runs the last one's, of
                                 ranks the sum */
  const char *clock;          /* "tsc" or "monotonic" */
  enum radio_profile_parts parts;
  size_t nparts;              /* at least 1 */
  size_t nfindings;
  size_t nfacts;
  uint64_t starved_ns;        /* part of work_ns: runnable, without a CPU */
};

/* Fills info.  Never fails. */
RADIO_API void radio_profile_get_info (const struct radio_profile *profile,
                                       struct radio_profile_info *info,
                                       size_t info_nbytes);
#define radio_profile_get_info(profile, info) \
  radio_profile_get_info (profile, info, \
                          sizeof (struct radio_profile_info))

/* How a node is caused by its parent. */
enum radio_edge {
  RADIO_EDGE_CALL = 0,        /* on the same thread */
  RADIO_EDGE_HANDOFF,         /* on another thread, by radio_scope_receive */
  RADIO_EDGE_ASYNC,           /* a request */
  RADIO_EDGE_PHASE,           /* of a request */
  RADIO_EDGE_INSTANT,         /* without duration */
};

/* Returns the prefix of a name in text trees: "=> ", "~> ", "~ ", "! "; "" for
 * a call.  Static storage. */
RADIO_API const char *radio_edge_mark (enum radio_edge edge);

#define RADIO_NO_PARENT SIZE_MAX
#define RADIO_HISTOGRAM_BUCKETS 48

/* A call path.  Later versions add members at the end only. */
struct radio_profile_node {
  const char *name;
  const char *category;
  const char *function;       /* its source; may be "" */
  const char *file;
  unsigned line;
  size_t parent;              /* index, smaller than this node's, or
                                 RADIO_NO_PARENT */
  unsigned depth;             /* 0 for roots */
  enum radio_edge edge;
  uint64_t calls;
  uint64_t total_ns;
  uint64_t self_ns;
  uint64_t work_ns;           /* of this node alone */
  uint64_t wait_ns;           /* of this node alone */
  uint64_t queue_ns;
  uint64_t min_ns, max_ns;    /* of one run; 0 when calls is 0 */
  uint64_t tree_work_ns;      /* of this node and its descendants */
  uint64_t tree_wait_ns;
  uint64_t open_count;        /* of calls: still open at the end, or left
                                 without an end (longjmp, pthread_exit) */
  uint64_t late_count;        /* of calls: ended after the parent */
  uint64_t dropped_count;     /* of calls: not in the log */
  uint64_t alloc_count;       /* by this node alone */
  uint64_t alloc_nbytes;
  uint64_t alloc_peak_nbytes; /* joined as in radio_profile_info */
  uint64_t alloc_live_nbytes;
  /* Bucket i counts runs of 2^i to 2^(i+1) - 1 ns; bucket 0 also those of 0,
   * the last one all longer ones. */
  uint64_t histogram[RADIO_HISTOGRAM_BUCKETS];
  uint64_t starved_ns;        /* part of work_ns: runnable, without a CPU */
  uint64_t tree_starved_ns;   /* of this node and its descendants */
};

/* Returns node i, below info.nnodes; parents precede their children. */
RADIO_API const struct radio_profile_node *
radio_profile_get_node (const struct radio_profile *profile, size_t i);

/* Returns the value of a counter at a node: added by the node itself or, if
 * inclusive, by its descendants too.  0 for an unknown counter. */
RADIO_API uint64_t
radio_profile_counter (const struct radio_profile *profile, size_t node,
                       const char *counter, bool inclusive);

/* Returns the name of counter i, below info.ncounters, and its *unit. */
RADIO_API const char *
radio_profile_counter_name (const struct radio_profile *profile, size_t i,
                            const char **unit);

/* A node in one part (run or rank); all 0 if it does not occur there.  A
 * result: later versions may add members at its end. */
struct radio_profile_share {
  uint64_t calls, total_ns, self_ns;
  uint64_t work_ns;           /* of this node alone; 0 in joined profiles of
                                 radio 0.1 */
  uint64_t starved_ns;        /* part of that: runnable, without a CPU */
};

/* Fills share with node's times in one part, below info.nparts. */
RADIO_API void
radio_profile_node_part (const struct radio_profile *profile, size_t node,
                         size_t part, struct radio_profile_share *share,
                         size_t share_nbytes);
#define radio_profile_node_part(profile, node, part, share) \
  radio_profile_node_part (profile, node, part, share, \
                           sizeof (struct radio_profile_share))

/* Returns the name ("run 3", "rank 0") of part i, below info.nparts, and its
 * *wall_ns and *work_ns. */
RADIO_API const char *
radio_profile_part (const struct radio_profile *profile, size_t i,
                    uint64_t *wall_ns, uint64_t *work_ns);

/* Returns the value of fact i, below info.nfacts, and its *key. */
RADIO_API const char *
radio_profile_fact (const struct radio_profile *profile, size_t i,
                    const char **key);

/* The severity of a finding. */
enum radio_finding_weight {
  RADIO_FINDING_NOTE = 0,     /* information */
  RADIO_FINDING_HINT,         /* possible improvement */
  RADIO_FINDING_PROBLEM,      /* most of the time, or wrong */
};

/* A conclusion from the data, with its numbers.  Later versions may add
 * members at the end. */
struct radio_finding {
  const char *id;             /* stable, for programs: "bound-by-decode" */
  enum radio_finding_weight weight;
  const char *title;          /* "Bound by decoding" */
  const char *evidence;       /* "decode is 71 % of 812 ms work, ..." */
  size_t node;                /* where, or RADIO_NO_PARENT */
};

/* Returns finding i, below info.nfindings, most important first. */
RADIO_API const struct radio_finding *
radio_profile_finding (const struct radio_profile *profile, size_t i);

/*------------------------------------------------------------------------
 * Files
 *----------------------------------------------------------------------*/

enum radio_profile_format {
  RADIO_PROFILE_JSON = 1,     /* radio's own: complete, can be read back */
  RADIO_PROFILE_HTML,         /* a page, with the JSON inside */
  RADIO_PROFILE_CHROME,       /* trace events: Perfetto, chrome://tracing */
  RADIO_PROFILE_SPEEDSCOPE,
  RADIO_PROFILE_FOLDED,       /* "a;b;c SELF" in ns: flamegraph.pl */
  RADIO_PROFILE_PPROF,        /* gzipped protobuf: go tool pprof */
  RADIO_PROFILE_TEXT,         /* a tree for the terminal */
  RADIO_PROFILE_KINETO,       /* trace events with PyTorch's origin of time, to
                                 be merged with its traces */
  RADIO_PROFILE_SVG,          /* a flame graph as a picture */
  RADIO_PROFILE_TENSORBOARD,  /* a folder: scalars, and a trace as KINETO; to
                                 a callback the scalars alone */
};

/* Gets the format for a file's suffix, in any case of letters: .json, .html,
 * .trace.json, .pt.trace.json (KINETO), .speedscope.json, .folded, .pb.gz or
 * .pprof, .txt, .svg, .tensorboard.
 * Errors: RADIO_ERROR_ARGUMENT (another suffix; the message lists them). */
RADIO_API enum radio_status
radio_profile_format_of (const char *path, enum radio_profile_format *format)
  RADIO_USE_RESULT;

struct radio_profile_write_options {
  enum radio_profile_format format; /* 0: by the name's suffix */

  /* Replace names of files, volumes and subjects, the command line and the
   * host by pseudonyms, the same for equal names in every format and every run
   * with the same key. */
  bool redact;

  /* The key of the pseudonyms: without it they cannot be guessed.  NULL: no
   * key; then candidate names can be tested. */
  const void *redact_key;
  size_t redact_key_nbytes;

  /* RADIO_PROFILE_CHROME: texts, bytes, waiting and time without a CPU as
   * arguments of each span.  Tools that compare spans by their arguments then
   * do not merge them. */
  bool arguments;

  /* RADIO_PROFILE_TEXT: ANSI colours, and the maximum width; 0: 80. */
  bool colour;
  unsigned columns;

  /* RADIO_PROFILE_JSON and HTML: do not deflate spans, for readers that cannot
   * inflate. */
  bool plain_blocks;

  /* RADIO_PROFILE_TEXT: draw bars and branches with non-ASCII characters. */
  bool utf8;

  /* RADIO_PROFILE_HTML: an earlier profile.  The page includes it, redacted if
   * redact is set, and shows what changed since; reading the page back gives
   * the profile only.  NULL: none. */
  const struct radio_profile *before;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[8];
};

/* Writes a file atomically: under a temporary name beside it, then renamed,
 * replacing an older one.  RADIO_PROFILE_TENSORBOARD makes the folder if needed
 * and writes two files into it, each atomically.
 * Errors: RADIO_ERROR_ARGUMENT (an unknown format or suffix, or the path is
 * that of a folder or device), RADIO_ERROR_NO_SPACE, RADIO_ERROR_PERMISSION,
 * RADIO_ERROR_NOT_FOUND (no such folder), RADIO_ERROR_EXISTS (a file where
 * TENSORBOARD needs a folder), RADIO_ERROR_IO.  An existing file is then
 * unchanged. */
RADIO_API enum radio_status
radio_profile_write (const struct radio_profile *profile, const char *path,
                     const struct radio_profile_write_options *options)
  RADIO_USE_RESULT;

/* Called with the next bytes of a profile, which are valid during the call;
 * anything but RADIO_OK ends the writing and is returned. */
typedef enum radio_status radio_profile_sink_fn (const void *data,
                                                 size_t nbytes,
                                                 void *user_data);

/* Writes to a callback.  options->format must be set.
 * Errors: RADIO_ERROR_ARGUMENT (no format), those of the callback. */
RADIO_API enum radio_status
radio_profile_write_to (const struct radio_profile *profile,
                        const struct radio_profile_write_options *options,
                        radio_profile_sink_fn *sink, void *user_data)
  RADIO_USE_RESULT;

/* Reads a profile: radio's JSON, or a page that contains it; from a file, or
 * from a pipe, which is read to its end (at most 2 GiB) if its first bytes
 * arrive within 5 s.
 * Errors: RADIO_ERROR_FORMAT (damaged, or not a profile of radio; the message
 * names a known format), RADIO_ERROR_UNSUPPORTED (a newer version, a
 * write-only format, or more than 2 GiB), RADIO_ERROR_NOT_FOUND,
 * RADIO_ERROR_PERMISSION, RADIO_ERROR_IO (also of a pipe without data). */
RADIO_API enum radio_status
radio_profile_read (const char *path, struct radio_profile **profile)
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * Several profiles
 *----------------------------------------------------------------------*/

/* Joins profiles; nodes are matched by their call paths.  RADIO_PARTS_RUNS puts
 * them one after the other, RADIO_PARTS_RANKS at their start times.  A joined
 * profile contributes all its parts if they are of the same kind; runs become
 * one rank, and ranks one run: a job of several processes, repeated.  The n
 * profiles stay the caller's, and may be closed before the joined one.
 * Errors: RADIO_ERROR_ARGUMENT (n is 0),
 * RADIO_ERROR_UNSUPPORTED (more than 2^32 nodes or spans). */
RADIO_API enum radio_status
radio_profile_join (struct radio_profile *const *profiles, size_t n,
                    enum radio_profile_parts parts,
                    struct radio_profile **joined) RADIO_USE_RESULT;

/* The distribution of a node's time over the parts of a joined profile.  A
 * result: later versions may add members at its end. */
struct radio_imbalance {
  uint64_t mean_ns, max_ns, min_ns; /* of total, over the parts */
  double imbalance;           /* max / mean; 1: even; 0: no time */
  size_t slowest;             /* the part with the maximum */
  bool straggler;             /* the slowest exceeds the median by half, by
                                 more than the others' spread, by 1 ms and by
                                 1 % of the longest part */
};

/* Fills imbalance with the distribution of a node's time; all 0 if no part has
 * any. */
RADIO_API void
radio_profile_imbalance (const struct radio_profile *profile, size_t node,
                         struct radio_imbalance *imbalance,
                         size_t imbalance_nbytes);
#define radio_profile_imbalance(profile, node, imbalance) \
  radio_profile_imbalance (profile, node, imbalance, \
                           sizeof (struct radio_imbalance))

/* The change of a path between two profiles.  A change is called where the
 * medians of the runs differ by more than the runs scatter, with 95 %
 * confidence for all paths together, by more than the floor of the comparison,
 * and by more than 0.5 % of the whole: 1 % of one process each, 2 % where
 * conditions differ. */
enum radio_change {
  RADIO_CHANGE_NONE = 0,      /* the difference is within the noise */
  RADIO_CHANGE_FASTER,
  RADIO_CHANGE_SLOWER,
  RADIO_CHANGE_NEW,           /* in no run of the first, in all or
                                 significantly most of the second */
  RADIO_CHANGE_GONE,          /* the reverse */
  RADIO_CHANGE_UNKNOWN,       /* one run each: the noise is unknown */
};

/* The times that are compared. */
enum radio_basis {
  RADIO_BASIS_WALL = 0,
  RADIO_BASIS_CPU,            /* on CPUs: wall times cannot be compared, since
                                 conditions differ or threads lacked CPUs */
  RADIO_BASIS_NONE,           /* the same, but the recordings do not know which
                                 scopes had CPUs: all is unknown */
};

/* One path in both profiles, summed over threads: scopes that were handed to
 * other threads are one path with those that were called.  If there were both,
 * the path is followed by its parts, which have is_split, itself as parent, and
 * no change of their own.  Times and calls are means over the runs of each
 * profile, so they add up; of ranks they are the sum.  Later versions may add
 * members at the end. */
struct radio_difference {
  const char *name;           /* of the last scope of the path */
  size_t before, after;       /* its (first) node in each, or
                                 RADIO_NO_PARENT */
  size_t parent;              /* index of the difference above it, or
                                 RADIO_NO_PARENT */
  unsigned depth;             /* 0 for roots */
  enum radio_change change;   /* of self, by the basis: what the scope itself
                                 did, so a change is of one path.  Waiting for
                                 other threads follows from what they do, and
                                 has none */
  int64_t total_before_ns, total_after_ns;
  int64_t self_before_ns, self_after_ns; /* without children */
  uint64_t calls_before, calls_after; /* runs of the scope */
  /* The interval of the change of the median total, by the basis: those of all
   * paths together hold with 95 % confidence.  Both 0 if unknown. */
  int64_t delta_low_ns, delta_high_ns;

  /* The same of self; what total did; times on CPUs; and medians of the total,
   * by the basis. */
  int64_t self_low_ns, self_high_ns;
  enum radio_change total_change;     /* not NEW or GONE */
  bool is_split;
  int64_t cpu_before_ns, cpu_after_ns;
  int64_t self_cpu_before_ns, self_cpu_after_ns;
  int64_t median_before_ns, median_after_ns;
  bool is_unclear;            /* of a root: its total changed beyond the spread
                                 of its runs, by 5 % or more (1 % of four
                                 processes or more; of one run each: at all),
                                 but by root_floor at most, so total_change is
                                 NONE (or UNKNOWN) */

  /* For a root whose times on CPUs are compared: the median time that a run
   * waited on all its threads, except for other threads, and its change. */
  enum radio_change wait_change;      /* not NEW or GONE */
  int64_t wait_before_ns, wait_after_ns;

  /* For a root: the medians of its total in wall time. */
  int64_t wall_before_ns, wall_after_ns;

  /* The interval of the change of the median wait, as for the total. */
  int64_t wait_low_ns, wait_high_ns;
};

/* A condition of the recordings that differs, or for which wall times are not
 * comparable.  A result: later versions may add members at its end. */
struct radio_condition {
  const char *name;           /* "CPU share", "load", ... or a fact's key */
  const char *before, *after; /* texts */
  bool is_fact;               /* given to the recording, and may have names */
  bool is_unfair;             /* it affects times: see below */
};

/* A result: later versions may add members at its end. */
struct radio_comparison_info {
  enum radio_basis basis;
  bool is_unfair;             /* a condition is: if the whole got slower is
                                 unclear, since it may be by that */
  bool is_same_operation;
  bool is_summed;             /* times are of the wall, and roots ran on several
                                 threads: their sum is of these */
  size_t nconditions;
  double floor;               /* part of a path's time: smaller differences may
                                 come from the conditions, or from the chances
                                 of one process */
  double root_floor;          /* the same of the total of a root; the floor if
                                 both sides are of four processes or more */
};

struct radio_comparison;

/* Compares two profiles, path by path.  They must outlive the comparison.
 * Errors: RADIO_ERROR_UNSUPPORTED (more than 2^32 paths). */
RADIO_API enum radio_status
radio_profile_compare (const struct radio_profile *before,
                       const struct radio_profile *after,
                       struct radio_comparison **comparison)
  RADIO_USE_RESULT;

/* Fills info. */
RADIO_API void
radio_comparison_get_info (const struct radio_comparison *comparison,
                           struct radio_comparison_info *info,
                           size_t info_nbytes);
#define radio_comparison_get_info(comparison, info) \
  radio_comparison_get_info (comparison, info, \
                             sizeof (struct radio_comparison_info))

/* Returns condition i, below info.nconditions: measured ones first.  Strings
 * are valid as long as the comparison and both profiles are. */
RADIO_API const struct radio_condition *
radio_comparison_condition (const struct radio_comparison *comparison,
                            size_t i);

/* Returns the number of paths in the union of both, with their parts. */
RADIO_API size_t
radio_comparison_count (const struct radio_comparison *comparison);

/* Returns path i; parents precede their children.  Valid as long as the
 * comparison; NULL if out of range. */
RADIO_API const struct radio_difference *
radio_comparison_get (const struct radio_comparison *comparison, size_t i);

/* Releases a comparison.  NULL is legal. */
RADIO_API void radio_comparison_close (struct radio_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_CALLTREE_H */
