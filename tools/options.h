/* SPDX-License-Identifier: MIT */
/* Commands and their options.  One table a command is all there is: the
 * parser, --help and through it the shell completion are made from it. */
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
};

#define RD_STORE_OPTION                                                 \
  { 's', "store", "STORE",                                              \
    "the store (else $RADIO_STORE, else ./radio.zarr)" }
#define RD_MEMORY_OPTION                                                \
  { RD_OPTION_MEMORY, "memory", "SIZE",                                 \
    "memory to stay within, as 512M (default: 1G)" }
#define RD_WORK_OPTIONS                                                 \
  { RD_OPTION_THREADS, "threads", "N",                                  \
    "threads to work with (default: all processors)" },                 \
  RD_MEMORY_OPTION
#define RD_HELP_OPTION                                                  \
  { 'h', "help", NULL, "show this help" }
#define RD_END_OF_OPTIONS { 0, NULL, NULL, NULL }

struct rd_args;

struct rd_command {
  const char *name;
  const char *operands;       /* "VOLUME [OPTION]..." */
  const char *summary;        /* for the list of commands */
  const char *description;    /* a paragraph for --help */
  const struct rd_option *options;
  const struct rd_command *const *subs; /* sub-commands, "profile slice";
                                           NULL: none */
  const char *examples;       /* a line each */
  int (*run) (struct rd_args *args);
};

/* A command line on its way through the parser. */
struct rd_args {
  const struct rd_command *command;
  int argc;
  char **argv;
  const char *value;          /* of the option that was just returned */
  int status;                 /* to exit with when rd_args_next is < 0 */

  /* What the options that commands share said. */
  const char *store;          /* NULL: not given */
  unsigned nthreads;
  uint64_t memory_nbytes;
  uint64_t cache_nbytes;      /* of decoded tiles, as a context has it */
  struct radio_s3_options s3; /* what RADIO_S3 says, too */

  char **operands;            /* after the last option was taken */
  size_t noperands;
};

/* Take the next option: its id, 0 at the end, or -1 when the command shall
 * return args->status at once (--help was shown, or a mistake was told). */
int rd_args_next (struct rd_args *args);

/* Tell a mistake in the command line.  Sets args->status and returns it. */
int rd_usage_error (struct rd_args *args, const char *format, ...)
  RADIO_PRINTF (2, 3);

/* Check the number of operands, which are called `what'; false after
 * telling. */
bool rd_args_want (struct rd_args *args, size_t least, size_t most,
                   const char *what);

/* Print a command's help, or that of the whole. */
void rd_help_command (const struct rd_command *command);
void rd_help (const struct rd_command *const *commands);

/* The value is one of the words (ends with NULL)?  Its place, or -1 after
 * telling. */
int rd_args_choose (struct rd_args *args, const char *option,
                    const char *const *words);

#endif /* RD_OPTIONS_H */
