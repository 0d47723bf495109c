/* SPDX-License-Identifier: MIT */
/* The files that a profile is written to: checked before anything is measured,
 * and saved elsewhere when the disk is full. */
#ifndef RD_PROFILE_OUTPUT_H
#define RD_PROFILE_OUTPUT_H

#include "tools/options.h"

#define RD_PROFILE_MAX_FILES 16

struct rd_profile_output {
  const char *files[RD_PROFILE_MAX_FILES];
  size_t nfiles;
  bool overwrite;
  bool redact, arguments;
  const char *key_file;
  void *key;                  /* its bytes; allocated */
  size_t key_nbytes;
  char *default_name;         /* allocated; files[0] when none was given */
  const struct radio_profile *before;   /* for pages that compare, or NULL */
};

#define RD_PROFILE_OUTPUT_OPTIONS                                       \
  { 'o', "output", "FILE",                                              \
    "write to FILE; its suffix chooses the format: .html,\n"            \
    ".json, .trace.json, .pt.trace.json,\n"                             \
    ".speedscope.json, .folded, .pb.gz (or .pprof),\n"                  \
    ".svg, .txt, .tensorboard (a folder); can be given\n"               \
    "several times" },                                                  \
  { RD_OPTION_OVERWRITE, "overwrite", NULL, "replace FILE" },           \
  RD_REDACT_OPTIONS,                                                    \
  { RD_OPTION_ARGUMENTS, "arguments", NULL,                             \
    ".trace.json: texts and counters with each span" }

/* Handles one of the options above: 1, 0 for any other, -1 after a usage
 * error. */
int rd_profile_output_take (struct rd_args *args, int id,
                            struct rd_profile_output *output);

/* Checks before long work that every file can be written: none exists unless
 * --overwrite is given, the key can be read.  Without -o a name is chosen in
 * the current folder, radio-profile-WHAT.html, with a number when that exists
 * (WHAT NULL: none is chosen).  Returns an exit status; prints errors. */
int rd_profile_output_prepare (struct rd_profile_output *output,
                               const struct rd_args *args,
                               const char *what);

/* Writes all files, and prints a line for each on stdout unless quiet.  A
 * profile that cannot be written is saved as JSON in the folder for temporary
 * files.  Returns an exit status; prints errors. */
int rd_profile_output_write (const struct rd_profile_output *output,
                             const struct radio_profile *profile,
                             bool quiet);

/* Prints the tree and the findings of a profile on stdout, as wide as the
 * terminal.  Returns an exit status; prints errors. */
int rd_profile_print (const struct radio_profile *profile,
                      const struct rd_profile_output *output);

void rd_profile_output_clear (struct rd_profile_output *output);
#define RD_CLEAR_OUTPUT RD_CLEANUP (rd_profile_output_clear)

static inline void
rd_cleanup_profile (struct radio_profile **profile)
{
  radio_profile_close (*profile);
}

#define RD_CLOSE_PROFILE RD_CLEANUP (rd_cleanup_profile)

#endif /* RD_PROFILE_OUTPUT_H */
