/* SPDX-License-Identifier: MIT */
/* Names of image files. */
#ifndef RD_INGEST_NAMES_H
#define RD_INGEST_NAMES_H

#include <radio/base.h>

/* Returns the length of a name without the suffix of an image, as .nii.gz, in
 * either case. */
size_t rd_stem_length (const char *name);

/* Returns the suffix of a BIDS name, whose stem has length bytes: "T1w" of
 * "sub-01_T1w", as a pointer into it; NULL if it is no BIDS name. */
const char *rd_bids_suffix (const char *stem, size_t length);

/* Joins a collection and a name to the path of a volume, both checked; for the
 * caller's free ().  file is named by messages. */
enum radio_status rd_name_join (const char *file, const char *collection,
                                size_t ncollection, const char *name,
                                size_t nname, char **path) RADIO_USE_RESULT;

#endif /* RD_INGEST_NAMES_H */
