/* SPDX-License-Identifier: MIT */
/* Commands and their options.  The parser, --help and, through it, the shell
 * completion are all driven by one table of options per command. */
#ifndef RD_OPTIONS_H
#define RD_OPTIONS_H

#include "tools/tool.h"

/* An option; id is its letter, or a number from 256 when it has none. */
struct rd_option {
  int id;
  const char *name;
  const char *argument;       /* as --help shows it; NULL: takes none */
  const char *help;           /* lines are separated by \n */
};

/* Ids of options without a letter, of all commands. */
enum {
  RD_OPTION_THREADS = 256,
  RD_OPTION_MEMORY,
  RD_OPTION_TILING,
  RD_OPTION_CODEC,
  RD_OPTION_OVERWRITE,
  RD_OPTION_SKIP_EXISTING,
  RD_OPTION_STRIP,
  RD_OPTION_JSON,
  RD_OPTION_AXIS,
  RD_OPTION_TIME,
  RD_OPTION_CHANNEL,
  RD_OPTION_WINDOW,
  RD_OPTION_INTERPOLATE,
  RD_OPTION_NO_ASPECT,
  RD_OPTION_X,
  RD_OPTION_Y,
  RD_OPTION_Z,
  RD_OPTION_T,
  RD_OPTION_C,
  RD_OPTION_AT,
  RD_OPTION_SIZE,
  RD_OPTION_SCALED,
  RD_OPTION_FORMAT,
  RD_OPTION_RAW,
  RD_OPTION_DRY_RUN,
  RD_OPTION_SEED,
  RD_OPTION_RUNS,
  RD_OPTION_WARMUP,
  RD_OPTION_ROI,
  RD_OPTION_COLD,
  RD_OPTION_REDACT,
  RD_OPTION_REDACT_KEY,
  RD_OPTION_ARGUMENTS,
  RD_OPTION_PHANTOM,
  RD_OPTION_AS,
  RD_OPTION_ALL,
  RD_OPTION_FAIL_IF_SLOWER,
  RD_OPTION_SIZES,
  RD_OPTION_CSV,
  RD_OPTION_CHECK,
  RD_OPTION_ROUNDS,
  RD_OPTION_ROWS,
  RD_OPTION_DESTINATION,
  RD_OPTION_THREAD_COUNTS,
  RD_OPTION_GRACE,
  RD_OPTION_SINGLE_WRITER,
  RD_OPTION_TO,
  RD_OPTION_NAME,
  RD_OPTION_NO_READ_BACK,
  RD_OPTION_COLLECTION_FROM,
  RD_OPTION_SPACING,
  RD_OPTION_AFFINE,
  RD_OPTION_LIKE,
  RD_OPTION_AGAINST,
  RD_OPTION_APPLY,
  RD_OPTION_DRAW,
  RD_OPTION_KEEP,
  RD_OPTION_KEEP_INDEX,
  RD_OPTION_MAP,
  RD_OPTION_LIST_TILES,
  RD_OPTION_REMOVE,
  RD_OPTION_MEMBERS,
  RD_OPTION_OPS,
  RD_OPTION_TYPES,
  RD_OPTION_LAYOUT,
  RD_OPTION_PATTERN,
  RD_OPTION_PART,
  RD_OPTION_TSV,
  RD_OPTION_IMPORT,
  RD_OPTION_TABLE,
  RD_OPTION_KEY,
  RD_OPTION_TYPE,
  RD_OPTION_FORCE,
  RD_OPTION_SET,
  RD_OPTION_DROP,
  RD_OPTION_RENAME,
  RD_OPTION_COMPLETE,
  RD_OPTION_MASKS,
  RD_OPTION_TOLERANCE,
  RD_OPTION_WHERE,
  RD_OPTION_SUBJECT,
  RD_OPTION_SAMPLE,
  RD_OPTION_SAMPLE_SEED,
  RD_OPTION_HEAD,
  RD_OPTION_YES,
  RD_OPTION_POOL,
  RD_OPTION_BY,
  RD_OPTION_MASK,
  RD_OPTION_LABEL,
  RD_OPTION_IGNORE_LABEL,
  RD_OPTION_PERCENTILES,
  RD_OPTION_BINS,
  RD_OPTION_RANGE,
  RD_OPTION_FRACTIONS,
  RD_OPTION_FOLDS,
  RD_OPTION_STRATIFY,
  RD_OPTION_EXACT,
  RD_OPTION_COLUMN,
  RD_OPTION_COLUMNS,
  RD_OPTION_SUBJECTS_KEY,
  RD_OPTION_GENERATIONS,
  RD_OPTION_CHECK_VALUES,
  RD_OPTION_RECOVER,
  RD_OPTION_PAIRS,
};

#define RD_STORE_OPTION                                                 \
  { 's', "store", "STORE",                                              \
    "the store (else $RADIO_STORE, else ./radio.zarr)" }
#define RD_MEMORY_OPTION                                                \
  { RD_OPTION_MEMORY, "memory", "SIZE",                                 \
    "memory limit, as 512M (default: 1G)" }
#define RD_WORK_OPTIONS                                                 \
  { RD_OPTION_THREADS, "threads", "N",                                  \
    "number of threads (default: all processors)" },                    \
  RD_MEMORY_OPTION
#define RD_DRAW_OPTION                                                  \
  { RD_OPTION_DRAW, "draw", "N,N,N",                                         \
    "seed, epoch and sample of random operations" }
#define RD_APPLY_OPTION                                                 \
  { RD_OPTION_APPLY, "apply", "PIPELINE",                               \
    "operations to do as voxels are read, as\n"                         \
    "'reorient RAS | clamp -1000,400' (see radio(1))" },                \
  RD_DRAW_OPTION
#define RD_SELECT_VOLUMES_OPTIONS                                       \
  { RD_OPTION_WHERE, "where", "QUERY",                                  \
    "only what a query on the tables selects, as\n"                     \
    "'age >= 18 and has(seg)' (see radio(1))" },                        \
  { RD_OPTION_SUBJECT, "subject", "SUBJECT", "only of this subject" },  \
  { RD_OPTION_SAMPLE, "sample", "N", "only N of these, by the seed" },  \
  { RD_OPTION_HEAD, "head", "N", "only the first N of these" }
#define RD_SELECT_OPTIONS                                               \
  RD_SELECT_VOLUMES_OPTIONS,                                            \
  { RD_OPTION_SAMPLE_SEED, "seed", "N",                                 \
    "of the sample, which is the same everywhere\n"                     \
    "(default: 0)" }
#define RD_FILE_OPTIONS                                                 \
  { RD_OPTION_KEEP_INDEX, "keep-index", NULL,                           \
    "of .nii.gz files: keep points of entry beside\n"                   \
    "them, as FILE.points, for later reads" },                          \
  { RD_OPTION_MAP, "map", NULL,                                         \
    "map .nii files instead of reading them; if one\n"                  \
    "is cut short meanwhile, this ends by SIGBUS" }
#define RD_HELP_OPTION                                                  \
  { 'h', "help", NULL, "show this help" }
#define RD_JSON_OPTION                                                  \
  { RD_OPTION_JSON, "json", NULL, "print a JSON object" }
#define RD_JSON_NODES_OPTION                                            \
  { RD_OPTION_JSON, "json", NULL,                                       \
    "print a JSON object; a list of them for several\n"                  \
    "volumes" }
#define RD_JSON_FIGURES_OPTION                                          \
  { RD_OPTION_JSON, "json", NULL, "print the figures as a JSON object" }
#define RD_REDACT_OPTIONS                                               \
  { RD_OPTION_REDACT, "redact", NULL,                                   \
    "replace names of files, volumes, hosts by\n"                       \
    "pseudonyms" },                                                     \
  { RD_OPTION_REDACT_KEY, "redact-key", "FILE",                         \
    "redact, with pseudonyms keyed by the bytes of\n"                   \
    "FILE" }
#define RD_EXISTING_OPTIONS                                             \
  { RD_OPTION_OVERWRITE, "overwrite", NULL,                             \
    "replace volumes that exist" },                                     \
  { RD_OPTION_SKIP_EXISTING, "skip-existing", NULL,                     \
    "skip volumes that exist" }
#define RD_SINGLE_WRITER_OPTION                                         \
  { RD_OPTION_SINGLE_WRITER, "single-writer", NULL,                     \
    "no other process writes there: needed with S3\n"                   \
    "servers that lack conditional writes" }
#define RD_END_OF_OPTIONS { 0, NULL, NULL, NULL }

struct rd_args;

struct rd_command {
  const char *name;           /* "slice"; of a sub-command "profile slice" */
  bool is_program;            /* not a command of radio */
  const char *operands;       /* "VOLUME [OPTION]..." */
  const char *summary;        /* for the list of commands */
  const char *description;    /* a paragraph for --help */
  const struct rd_option *options;
  const struct rd_command *const *subs; /* sub-commands; NULL: none */
  const char *examples;       /* one per line */
  int (*run) (struct rd_args *args);
};

/* The selection from the volumes that operands name. */
struct rd_select {
  const char *where, *subject;          /* NULL: not given */
  uint64_t sample, head;                /* 0: not given */
  uint64_t seed;                        /* of the sample */
};

/* A command line while it is parsed. */
struct rd_args {
  const struct rd_command *command;
  int argc;
  char **argv;
  const struct rd_option *option;       /* the one that was just returned */
  const char *value;          /* and its value */
  int status;                 /* exit status when rd_args_next is < 0 */

  /* Values of the options that commands share. */
  const char *store;          /* NULL: not given */
  unsigned nthreads;
  uint64_t memory_nbytes;
  uint64_t cache_nbytes;      /* of decoded tiles, as a context has it */
  struct radio_s3_options s3; /* including RADIO_S3 */
  struct radio_pipeline *pipeline;      /* of --apply, drawn; or NULL */
  struct radio_pipeline *random;        /* that it was drawn from; or NULL */
  bool draws;
  uint64_t draw[3];           /* of --draw */
  struct rd_select select;
  uint64_t generations;       /* that gc keeps */
  bool newest_tables;         /* fail where an older generation of a table would
                                 be read */
  bool json, quiet, dry_run, overwrite, skip_existing, keep_index, map;

  char **operands;            /* after the last option was returned */
  size_t noperands;
};

/* Returns the id of the next option that is not shared, 0 at the end, or -1
 * when the command is to return args->status at once (after --help or a
 * usage error). */
int rd_args_next (struct rd_args *args);

/* Prints a usage error.  Sets args->status and returns it. */
int rd_usage_error (struct rd_args *args, const char *format, ...)
  RADIO_PRINTF (2, 3);

/* The bytes of an operand that may be shown and recorded: of an http URL all
 * before its query, which may be a signature. */
size_t rd_shown_nbytes (const char *operand);

/* Each checks the command line, or parses the value of the option that was
 * just returned; false after a usage error. */

/* The number of operands, named `what' in the message. */
bool rd_args_want (struct rd_args *args, size_t least, size_t most,
                   const char *what);

/* Draws the pipeline by --draw, if it was given: for the first volume.  Called
 * at the end of the options, and by commands whose pipeline is an operand. */
bool rd_args_draw (struct rd_args *args);

/* Draws the pipeline again for the i-th volume, from 0, which has the i-th
 * sample after that of --draw; *drawn is allocated, or NULL if it is not random
 * or i is 0: that volume has args->pipeline.  Returns an exit status; prints
 * errors. */
int rd_args_draw_again (const struct rd_args *args, size_t i,
                        struct radio_pipeline **drawn);

/* True if --where, --subject, --sample or --head was given. */
bool rd_args_selects (const struct rd_args *args);

/* --overwrite and --skip-existing exclude each other. */
bool rd_args_existing (struct rd_args *args, enum radio_existing *existing);

/* Names between commas, in a list that is one allocation; NULL after an
 * error. */
const char **rd_args_names (struct rd_args *args, size_t *n);

/* A number from least to most. */
bool rd_args_number (struct rd_args *args, uint64_t least, uint64_t most,
                     uint64_t *number);

/* A shape along x, y, z: N or X,Y,Z, from 1. */
bool rd_args_shape (struct rd_args *args, uint64_t shape[3]);

/* A position: X,Y,Z, counted from 0. */
bool rd_args_position (struct rd_args *args, uint64_t position[3]);

/* A percentage from 0. */
bool rd_args_percentage (struct rd_args *args, double *percent);

/* The index of the value among words (ends with NULL), or -1 after a usage
 * error. */
int rd_args_choose (struct rd_args *args, const char *const *words);

/* The command that a word names, without the name of its parent; NULL: none.
 */
const struct rd_command *
rd_find_command (const struct rd_command *const *list, const char *word);

/* Prints that no command, or sub-command of parent unless that is NULL, has
 * this name, with a suggestion.  Returns an exit status. */
int rd_unknown_command (const struct rd_command *parent,
                        const struct rd_command *const *list,
                        const char *word);

/* Runs the sub-command that the command line names: true, with its exit
 * status in args->status.  A word that names none is a usage error unless
 * may_be_operand. */
bool rd_run_sub_command (struct rd_args *args, bool may_be_operand);

/* Print the help of a command, or of radio. */
void rd_help_command (const struct rd_command *command);
void rd_help (const struct rd_command *const *commands);

/* Fills args from the command line after a command and from RADIO_S3; false
 * after an error. */
bool rd_args_init (struct rd_args *args, const struct rd_command *command,
                   int argc, char **argv);

/* Releases what the options have made. */
void rd_args_clear (struct rd_args *args);

/* Sets up locale and signals, at the start of main. */
void rd_program_init (void);

/* The main function of a program with one command. */
int rd_program_main (const struct rd_command *command, int argc,
                     char **argv);

/*------------------------------------------------------------------------
 * Boxes on the command line, in NIfTI order with named axes:
 * --x 10:74 --y : --z 100:164, or --at X,Y,Z --size 64
 *----------------------------------------------------------------------*/

#define RD_BOX_OPTIONS                                                  \
  { RD_OPTION_X, "x", "RANGE",                                          \
    "voxels along x: 10:74 is 10 to 73, 10: from 10,\n"                 \
    ":74 up to 73, 10 only that one, : all (default)" },                \
  { RD_OPTION_Y, "y", "RANGE", "voxels along y" },                      \
  { RD_OPTION_Z, "z", "RANGE", "voxels along z" },                      \
  { RD_OPTION_T, "t", "RANGE", "points in time of a 4-D image" },       \
  { RD_OPTION_C, "c", "RANGE", "channels" },                            \
  { RD_OPTION_AT, "at", "X,Y,Z", "the box's first voxel; with --size" },\
  { RD_OPTION_SIZE, "size", "N|X,Y,Z",                                  \
    "the box's size in voxels; without --at it is centred" }

struct rd_range {
  bool given, has_start, has_end;
  bool is_one;                /* "10": a position, not a range */
  uint64_t start, end;
};

/* The axes x, y, z, t, c. */
#define RD_BOX_NAXES 5

struct rd_box_options {
  struct rd_range ranges[RD_BOX_NAXES];
  bool has_at, has_size;
  uint64_t at[3], size[3];
};

/* Parses "10:74", ":", "10:", ":74" or "10".  NULL, or why it is invalid. */
const char *rd_range_parse (const char *text, struct rd_range *range);

/* Handles one of the options above: 1, 0 for any other, -1 after a usage
 * error. */
int rd_box_take (struct rd_args *args, int id, struct rd_box_options *box);

/* True if any was given; and if they are consistent (false after a usage
 * error). */
bool rd_box_given (const struct rd_box_options *box);
bool rd_box_consistent (struct rd_args *args,
                        const struct rd_box_options *box);

/* Resolves the box in an array whose axes are named by one letter each,
 * slowest first ("zyx").  Returns an exit status; prints errors, with the
 * array's name. */
int rd_box_resolve (const struct rd_box_options *options, const char *name,
                    const char *axes, const uint64_t *shape,
                    struct radio_box *box);

/* Names the axes of an array: by its dimension names or, where it has none,
 * as the last of "tczyx".  '?' is an axis without a known name. */
void rd_array_axes (const struct radio_array_info *info,
                    char axes[RADIO_MAX_RANK + 1]);

/*------------------------------------------------------------------------
 * The commands and sub-commands
 *----------------------------------------------------------------------*/

extern const struct rd_command rd_command_apply;
extern const struct rd_command rd_command_bench;
extern const struct rd_command rd_command_check;
extern const struct rd_command rd_command_cp;
extern const struct rd_command rd_command_diff;
extern const struct rd_command rd_command_export;
extern const struct rd_command rd_command_gc;
extern const struct rd_command rd_command_index;
extern const struct rd_command rd_command_info;
extern const struct rd_command rd_command_ingest;
extern const struct rd_command rd_command_ls;
extern const struct rd_command rd_command_phantom;
extern const struct rd_command rd_command_profile;
extern const struct rd_command rd_command_mv;
extern const struct rd_command rd_command_rm;
extern const struct rd_command rd_command_roi;
extern const struct rd_command rd_command_slice;
extern const struct rd_command rd_command_split;
extern const struct rd_command rd_command_stats;
extern const struct rd_command rd_command_table;
extern const struct rd_command rd_command_validate;

extern const struct rd_command rd_profile_convert;
extern const struct rd_command rd_profile_recover;
extern const struct rd_command rd_profile_full;
extern const struct rd_command rd_profile_ingest;
extern const struct rd_command rd_profile_merge;
extern const struct rd_command rd_profile_op;
extern const struct rd_command rd_profile_roi;
extern const struct rd_command rd_profile_show;
extern const struct rd_command rd_profile_slice;
extern const struct rd_command rd_profile_sweep;

extern const struct rd_command rd_bench_compare;
extern const struct rd_command rd_bench_ops;

#endif /* RD_OPTIONS_H */
