/* SPDX-License-Identifier: MIT */
/* Operations of pipelines that are measured: each on generated volumes of
 * several sizes, types and numbers of threads, which lie in memory. */
#ifndef RD_BENCH_OPS_H
#define RD_BENCH_OPS_H

#include "tools/bench/destination.h"
#include "tools/bench/layout.h"
#include "tools/bench/limits.h"
#include "tools/profile/report.h"

#define RD_OPS_MAX_SIZES 32
#define RD_OPS_MAX_TYPES 16

/* A generated volume in memory, opened with a number of threads. */
struct rd_op_source {
  uint64_t size;
  bool is_plane;              /* of size x size voxels; else a cube */
  enum radio_dtype dtype;
  unsigned nthreads;
  uint64_t nbytes;            /* of its voxels */
  char *skipped;              /* why it is not measured; or NULL; allocated */
  struct radio_store *store;  /* of a cube; or NULL */
  void *memory;               /* of a plane: its voxels; allocated */
  struct radio_volume *volume;
  double copy;                /* memcpy of as many bytes, by its threads: the
                                 most bytes a second; 0: not measured */
  double limit;               /* the faster of it and of copying past the
                                 caches */
};

/* Seconds of the parts of a run. */
struct rd_op_parts {
  double allocate_s;          /* and release */
  double fault_in_s;          /* the first touch of each page */
  double read_s;              /* into that memory */
  double whole_s;
};

/* The parts of a read's time, as fractions of 1. */
struct rd_op_fractions {
  double convert;             /* bringing the voxels into memory as values */
  double operate;             /* the operation's time beyond that */
  double plan;                /* the fixed cost of a read and of its tiles:
                                 checks, plans, handing tiles to threads */
};

/* Page faults of the parts of one run. */
struct rd_op_faults {
  uint64_t allocate, fault_in, read;
};

/* An operation on a volume. */
struct rd_op_case {
  const struct rd_op_source *source;
  char *name;                 /* "clamp", "scale", "read"; allocated */
  char *text;                 /* the pipeline; "" for none; allocated */
  char *skipped;              /* why it is not measured; or NULL; allocated */
  char *root, *branch;        /* names of its scopes; allocated */
  struct radio_site sites[2]; /* of these */
  struct radio_volume *volume;        /* to be read */
  bool is_derived;            /* it has the pipeline, and is to be closed */
  bool in_place;              /* its results go to where the voxels are */
  enum radio_dtype dtype;     /* of the values delivered */
  struct radio_box box;       /* all of it */
  uint64_t noutput;           /* elements delivered */
  uint64_t output_nbytes;

  struct rd_sample sample;    /* whole runs */
  struct rd_op_parts sum;     /* of the runs in it */
  struct rd_op_fractions fraction_sum;        /* of the runs recorded */
  struct rd_op_faults faults;         /* of the last one recorded */
  size_t nrecorded;
};

struct rd_ops {
  const struct rd_args *args;
  char **chosen;              /* names and pipelines; none: all; allocated */
  size_t nchosen;
  uint64_t sizes[RD_OPS_MAX_SIZES];
  size_t nsizes;
  enum radio_dtype dtypes[RD_OPS_MAX_TYPES];
  size_t ndtypes;
  struct rd_counts threads;
  bool only_volumes;          /* measure no planes */
  struct rd_destination destination;
  uint64_t nrounds, nruns, nwarm;     /* nruns 0: by the clock */

  struct rd_op_source *sources;       /* allocated */
  size_t nsources;
  struct rd_op_case *cases;   /* allocated; those of a source lie together,
                                 the first one is the plain read */
  size_t ncases;
};

/* Adds what a value names: "clamp,flip", or one pipeline, which has a blank or
 * '|'.  False after a usage error. */
bool rd_ops_choose (struct rd_args *args, const char *value,
                    struct rd_ops *ops);

/* Take the value of the option that was just returned: "32,64", and
 * "float32,int16". */
bool rd_ops_choose_sizes (struct rd_args *args, struct rd_ops *ops);
bool rd_ops_choose_types (struct rd_args *args, struct rd_ops *ops);

/* Makes the volumes, as far as they fit into the memory of the machine, and
 * the cases; without operations, sizes and types there are defaults.  Returns
 * an exit status; prints errors; to be closed in any case. */
int rd_ops_open (struct rd_ops *ops);
void rd_ops_close (struct rd_ops *ops);

/* Runs all cases once, each within scopes of its names, to be recorded. */
int rd_ops_run_all (struct rd_ops *ops);

/* Measures all cases in rounds, and the limits of the machine in each.  A
 * recording of one run of each case a round is added to profiles, which have
 * room for one a round, with the conditions, to which caches and limits are
 * added.  Ctrl-C ends it early.  Returns an exit status; prints errors. */
int rd_ops_measure (struct rd_ops *ops, struct rd_limits *limits,
                    struct rd_conditions *conditions,
                    struct radio_profile **profiles, size_t *nprofiles);

/* Measures the limits of the machine once, and adds them and its caches to the
 * conditions. */
int rd_ops_measure_limits (struct rd_ops *ops, struct rd_limits *limits,
                           struct rd_conditions *conditions);

/* The seconds of copying and, unless it is reused, touching the memory that a
 * case delivers.  0: unknown. */
double rd_op_limit_s (const struct rd_ops *ops,
                      const struct rd_limits *limits,
                      const struct rd_op_case *one);

/* The means of the runs of a case; and of its reads, parts of 1 that add up to
 * 1: all 0 if none was recorded. */
struct rd_op_parts rd_op_mean_parts (const struct rd_op_case *one);
struct rd_op_fractions rd_op_mean_fractions (const struct rd_op_case *one);

/* "256 x 256 x 256 int16". */
const char *rd_op_source_text (const struct rd_op_source *source,
                               char text[80]);

#endif /* RD_BENCH_OPS_H */
