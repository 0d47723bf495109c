/* SPDX-License-Identifier: MIT */
/* Finished profiles: call trees to look at, to write in many formats, to
 * read back, to join and to compare.
 *
 * Times are in nanoseconds.  Of a node, and of all its runs together:
 *   total  the sum of the intervals from begin to end;
 *   self   the intervals less the union of their children's, cut to them:
 *          what nothing below accounts for.  Never negative, also where
 *          children ran at once on several threads;
 *   work   the part of self time in which the node's own thread ran; the sum
 *          over all nodes is the work of the whole;
 *   wait   the part in which its thread was blocked or waited for others;
 *   queue  from being handed on to being begun.
 * A request has no thread: it has total and self, but neither work nor wait.
 */
#ifndef RADIO_CALLTREE_H
#define RADIO_CALLTREE_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable; may be shared between threads. */
struct radio_profile;

/* Release a profile.  NULL is legal. */
RADIO_API void radio_profile_close (struct radio_profile *profile);

/*------------------------------------------------------------------------
 * Looking at one
 *----------------------------------------------------------------------*/

/* What the parts of a joined profile are. */
enum radio_profile_parts {
  RADIO_PARTS_NONE = 0,       /* one recording: a single part */
  RADIO_PARTS_RUNS,           /* one operation done again and again */
  RADIO_PARTS_RANKS,          /* processes that ran at the same time */
};

/* The whole.  Strings live as long as the profile; never NULL. */
struct radio_profile_info {
  const char *title;
  const char *program;        /* its arguments are a fact: "command" */
  uint64_t started_unix_ns;   /* since 1970 */
  uint64_t wall_ns;           /* first begin to last end, of ranks by the
                                 clocks they were started at; of runs: added
                                 up */
  uint64_t work_ns;           /* the sum of all nodes' work */
  uint64_t wait_ns;
  size_t nnodes;
  size_t ncounters;
  size_t nlanes;              /* threads, and rows of requests */
  size_t nspans;              /* in the log */
  uint64_t dropped_count;     /* spans that the log did not keep */
  uint64_t scope_count;       /* scopes opened in all */
  double scope_cost_ns;       /* of one, as measured on this machine */
  uint64_t overhead_ns;       /* the two multiplied; as a share, always of
                                 work_ns */
  uint64_t open_count;        /* scopes that were open at the end */
  uint64_t late_count;        /* children that ended after their parent */
  uint64_t alloc_count;       /* the library's allocations */
  uint64_t alloc_nbytes;
  uint64_t alloc_peak_nbytes; /* held at one time; of runs: the most of any;
                                 of ranks: added up */
  uint64_t alloc_live_nbytes; /* and never released; of runs: by the last;
                                 of ranks: added up */
  const char *clock;          /* "tsc" or "monotonic" */
  enum radio_profile_parts parts;
  size_t nparts;              /* at least 1 */
  size_t nfindings;
  size_t nfacts;
};

/* Fill info. */
RADIO_API void radio_profile_info (const struct radio_profile *profile,
                                   struct radio_profile_info *info);

/* How a node came below its parent. */
enum radio_edge {
  RADIO_EDGE_CALL = 0,        /* on the same thread */
  RADIO_EDGE_HANDOFF,         /* on another one, by radio_scope_receive */
  RADIO_EDGE_ASYNC,           /* a request */
  RADIO_EDGE_PHASE,           /* of a request */
  RADIO_EDGE_INSTANT,         /* something without duration */
};

/* What the text tree puts before a name to say so, with a blank behind:
 * "=> ", "~> ", "~ ", "! "; "" for a call. */
RADIO_API const char *radio_edge_mark (enum radio_edge edge);

#define RADIO_NO_PARENT SIZE_MAX
#define RADIO_HISTOGRAM_BUCKETS 48

/* A path of the tree.  Later versions add members at the end only. */
struct radio_profile_node {
  const char *name;
  const char *category;
  const char *function;       /* where in the program; may be "" */
  const char *file;
  unsigned line;
  size_t parent;              /* its index, which is smaller than this
                                 node's; RADIO_NO_PARENT */
  unsigned depth;             /* 0 for roots */
  enum radio_edge edge;
  uint64_t calls;
  uint64_t total_ns;
  uint64_t self_ns;
  uint64_t work_ns;           /* of this node alone */
  uint64_t wait_ns;           /* of this node alone */
  uint64_t queue_ns;
  uint64_t min_ns, max_ns;    /* of one run; 0 when calls is 0 */
  uint64_t tree_work_ns;      /* this node and all below it */
  uint64_t tree_wait_ns;
  uint64_t open_count;        /* of calls: still open at the end */
  uint64_t late_count;        /* of calls: ended after the parent */
  uint64_t dropped_count;     /* of calls: not in the log */
  uint64_t alloc_count;       /* by this node alone */
  uint64_t alloc_nbytes;
  uint64_t alloc_peak_nbytes; /* as in the whole, when joined */
  uint64_t alloc_live_nbytes;
  /* Bucket i counts runs of 2^i to 2^(i+1) - 1 ns; bucket 0 those of 0
   * too, the last all longer ones. */
  uint64_t histogram[RADIO_HISTOGRAM_BUCKETS];
};

/* Node i, below info.nnodes; parents come before their children. */
RADIO_API const struct radio_profile_node *
radio_profile_node (const struct radio_profile *profile, size_t i);

/* The value of a counter at a node: added by the node itself, or, with
 * inclusive, by all below it too.  0 when there is no such counter. */
RADIO_API uint64_t
radio_profile_counter (const struct radio_profile *profile, size_t node,
                       const char *counter, bool inclusive);

/* Name and unit of counter i, below info.ncounters. */
RADIO_API const char *
radio_profile_counter_name (const struct radio_profile *profile, size_t i,
                            const char **unit);

/* A node in one part (run or rank); all 0 where it does not occur. */
struct radio_profile_share {
  uint64_t calls, total_ns, self_ns;
};

RADIO_API void
radio_profile_node_part (const struct radio_profile *profile, size_t node,
                         size_t part, struct radio_profile_share *share);

/* Name ("run 3", "rank 0"), wall and work of part i, below info.nparts. */
RADIO_API const char *
radio_profile_part (const struct radio_profile *profile, size_t i,
                    uint64_t *wall_ns, uint64_t *work_ns);

/* Fact i, below info.nfacts: its value, and its key in *key. */
RADIO_API const char *
radio_profile_fact (const struct radio_profile *profile, size_t i,
                    const char **key);

/* How much a finding matters. */
enum radio_finding_weight {
  RADIO_FINDING_NOTE = 0,     /* good to know */
  RADIO_FINDING_HINT,         /* could be better */
  RADIO_FINDING_PROBLEM,      /* most of the time, or wrong */
};

/* Something that the data says, with its numbers. */
struct radio_finding {
  const char *id;             /* "bound-by-decode": for programs */
  enum radio_finding_weight weight;
  const char *title;          /* "Bound by decoding" */
  const char *evidence;       /* "decode is 71 % of 812 ms work, ..." */
  size_t node;                /* where, or RADIO_NO_PARENT */
};

/* Finding i, below info.nfindings, what matters most first. */
RADIO_API const struct radio_finding *
radio_profile_finding (const struct radio_profile *profile, size_t i);

/*------------------------------------------------------------------------
 * Files
 *----------------------------------------------------------------------*/

enum radio_profile_format {
  RADIO_PROFILE_JSON = 1,     /* radio's own: complete, read back */
  RADIO_PROFILE_HTML,         /* a page to look at, with the JSON inside */
  RADIO_PROFILE_CHROME,       /* trace events: Perfetto, chrome://tracing */
  RADIO_PROFILE_SPEEDSCOPE,
  RADIO_PROFILE_FOLDED,       /* "a;b;c SELF" in ns: flamegraph.pl */
  RADIO_PROFILE_PPROF,        /* gzipped protobuf: go tool pprof */
  RADIO_PROFILE_TEXT,         /* a tree for the terminal */
};

/* The format that a file's name asks for: .html, .json, .trace.json,
 * .speedscope.json, .folded, .pb.gz (or .pprof), .txt.
 * RADIO_ERROR_ARGUMENT: none of these; the message lists them. */
RADIO_API enum radio_status
radio_profile_format_of (const char *path, enum radio_profile_format *format)
  RADIO_USE_RESULT;

struct radio_profile_write_options {
  enum radio_profile_format format; /* 0: by the name's suffix */

  /* Replace names of files, volumes and subjects, the command line and the
   * host by pseudonyms: equal names get equal ones, in every format and
   * every run with the same key. */
  bool redact;

  /* Makes the pseudonyms impossible to guess for whoever lacks it.  NULL:
   * none, then somebody who knows the candidates can test them. */
  const void *redact_key;
  size_t redact_key_nbytes;

  /* RADIO_PROFILE_CHROME: texts and counters as arguments of each span.
   * Tools that tell spans apart by their arguments then do not merge them. */
  bool arguments;

  /* RADIO_PROFILE_TEXT: with colours (ANSI), and at most this many columns;
   * 0: 80. */
  bool colour;
  unsigned columns;

  /* RADIO_PROFILE_JSON and HTML: spans are not deflated, for readers that
   * cannot inflate. */
  bool plain_blocks;

  /* RADIO_PROFILE_TEXT: bars and branches are drawn with characters beyond
   * ASCII. */
  bool utf8;

  /* RADIO_PROFILE_HTML: what was measured before.  The page holds it too,
   * redacted when the profile is, and shows what changed since; reading the
   * page back gives the profile alone.  NULL: none. */
  const struct radio_profile *before;
};

/* Write a file, whole or not at all: under a temporary name beside it, then
 * renamed.  options may be NULL.
 * Errors: RADIO_ERROR_ARGUMENT (no such format), RADIO_ERROR_NO_SPACE,
 * RADIO_ERROR_PERMISSION, RADIO_ERROR_NOT_FOUND (no such folder),
 * RADIO_ERROR_IO, RADIO_ERROR_MEMORY.  A file that was there is then as it
 * was. */
RADIO_API enum radio_status
radio_profile_write (const struct radio_profile *profile, const char *path,
                     const struct radio_profile_write_options *options)
  RADIO_USE_RESULT;

/* Takes the next bytes of a profile; anything but RADIO_OK ends the writing
 * and becomes its result. */
typedef enum radio_status radio_profile_sink_fn (const void *data,
                                                 size_t nbytes,
                                                 void *user_data);

/* Write to wherever sink puts it.  options->format must be set. */
RADIO_API enum radio_status
radio_profile_write_to (const struct radio_profile *profile,
                        const struct radio_profile_write_options *options,
                        radio_profile_sink_fn *sink, void *user_data)
  RADIO_USE_RESULT;

/* Read a profile back: radio's JSON, or a page that holds it; from a file,
 * or a pipe, which is read to its end (at most 2 GiB) when its first bytes
 * come within 5 s.
 * Errors: RADIO_ERROR_FORMAT (damaged, or no profile of radio's: the message
 * says what it is where it can tell), RADIO_ERROR_UNSUPPORTED (of a newer
 * version, or written in a format that is only written),
 * RADIO_ERROR_NOT_FOUND, RADIO_ERROR_PERMISSION, RADIO_ERROR_IO,
 * RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_profile_read (const char *path, struct radio_profile **profile)
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * Several
 *----------------------------------------------------------------------*/

/* Join profiles: nodes by their paths of names.  RADIO_PARTS_RUNS puts them
 * one after the other, RADIO_PARTS_RANKS at the same time, by the clock they
 * were started at.  Profiles that are joined themselves bring all their
 * parts when these are of the same kind; runs become one rank.
 * Errors: RADIO_ERROR_ARGUMENT (n is 0, or ranks among runs),
 * RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_profile_join (struct radio_profile *const *profiles, size_t n,
                    enum radio_profile_parts parts,
                    struct radio_profile **joined) RADIO_USE_RESULT;

/* How the ranks of a joined profile shared the work, at one node. */
struct radio_imbalance {
  uint64_t mean_ns, max_ns, min_ns; /* of total, over the parts */
  double imbalance;           /* max / mean; 1: even; 0: nothing there */
  size_t slowest;             /* the part with the most */
  bool straggler;             /* it takes more than the median by half, and
                                 by more than the others' spread; and by
                                 1 ms and 1 % of the longest part */
};

RADIO_API void
radio_profile_imbalance (const struct radio_profile *profile, size_t node,
                         struct radio_imbalance *imbalance);

/* What became of a path between two profiles. */
enum radio_change {
  RADIO_CHANGE_NONE = 0,      /* the difference is within the noise */
  RADIO_CHANGE_FASTER,
  RADIO_CHANGE_SLOWER,
  RADIO_CHANGE_NEW,           /* in no run of the first, in all or surely
                                 in most of the second */
  RADIO_CHANGE_GONE,          /* the other way round */
  RADIO_CHANGE_UNKNOWN,       /* one run each: no spread to judge by */
};

/* One path in both profiles.  Times are of one run: the median over the
 * runs of each profile. */
struct radio_difference {
  const char *name;
  size_t before, after;       /* its node in each, or RADIO_NO_PARENT */
  size_t parent;              /* index of the difference above it */
  unsigned depth;
  enum radio_change change;
  int64_t total_before_ns, total_after_ns;
  int64_t self_before_ns, self_after_ns;
  uint64_t calls_before, calls_after;
  /* Of the delta of total: an interval that holds it with 95 %
   * confidence, from the spread over the runs; both 0 if unknown. */
  int64_t delta_low_ns, delta_high_ns;
};

struct radio_comparison;

/* Compare two profiles, path by path.
 * Errors: RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_profile_compare (const struct radio_profile *before,
                       const struct radio_profile *after,
                       struct radio_comparison **comparison)
  RADIO_USE_RESULT;

/* How many paths there are in both together. */
RADIO_API size_t
radio_comparison_count (const struct radio_comparison *comparison);

/* Path i; parents come before their children. */
RADIO_API const struct radio_difference *
radio_comparison_get (const struct radio_comparison *comparison, size_t i);

/* Release a comparison; the profiles must still be there while it is used.
 * NULL is legal. */
RADIO_API void radio_comparison_close (struct radio_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_CALLTREE_H */
