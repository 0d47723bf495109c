/* SPDX-License-Identifier: MIT */
/* The tables of a BIDS data set beside its images: *_sessions.tsv have a row
 * for each session of a subject, *_scans.tsv one for each file.  Both become
 * columns of the volumes that they describe. */
#ifndef RD_TOOLS_TABLES_BIDS_H
#define RD_TOOLS_TABLES_BIDS_H

#include "tools/tables/import.h"

enum rd_bids_kind {
  RD_BIDS_SUBJECTS,           /* participants.tsv, and all other names */
  RD_BIDS_SESSIONS,
  RD_BIDS_SCANS,
};
#define RD_BIDS_NKINDS 3

/* A file that was ingested, or skipped since its volume is there. */
struct rd_bids_image {
  const char *file;
  const char *id;             /* of its volume, COLLECTION/NAME */
};

/* Files of tables: those that were given, and then those that were found. */
struct rd_bids {
  struct rd_bids_file {
    char *name;
    enum rd_bids_kind kind;
    bool is_given;            /* by an option, not found */
  } *files;
  size_t n, capacity;
  char *last_folder;          /* of the last image */
  struct rd_bids_image *images;       /* that lines of scans describe; not those
                                         of other data sets, whose files may
                                         have their names */
  size_t nimages;
};

/* Adds a file that was given, of the kind that its name says.  False without
 * memory, after an error. */
bool rd_bids_add (struct rd_bids *bids, const char *name);

/* Adds the tables in the folders above an image that are those of its session,
 * its subject, and the data set.  False without memory, after an error. */
bool rd_bids_find (struct rd_bids *bids, const char *image);

/* Reads the files that were given alone, so that their errors are found before
 * other work.  Returns an exit status; prints errors. */
int rd_bids_check (const struct rd_bids *bids,
                   const struct rd_import *import);

/* Imports all: the columns of subjects into their table, and those of sessions
 * and scans into the tables of the collections, whose rows must exist.  Prints
 * a summary unless quiet.  Types are inferred over all files of a kind.  Found
 * tables only fill missing cells: each ingest finds them again, after edits.
 * Those of subjects are left out if one was given.  Returns an exit status;
 * prints errors. */
int rd_bids_import (struct radio_store *store, struct rd_bids *bids,
                    const struct rd_import *import, bool quiet);

void rd_bids_clear (struct rd_bids *bids);

#endif /* RD_TOOLS_TABLES_BIDS_H */
