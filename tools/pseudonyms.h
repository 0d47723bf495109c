/* SPDX-License-Identifier: MIT */
/* Pseudonyms of subjects, by a key in a file. */
#ifndef RD_TOOLS_PSEUDONYMS_H
#define RD_TOOLS_PSEUDONYMS_H

#include <radio/cohort.h>

#include "tools/text-set.h"
#include "tools/tool.h"

struct rd_key {
  unsigned char bytes[4096];
  size_t nbytes;
};

/* Reads a key: all of a file, without white space at its end, which an editor
 * or echo adds.  A file that others may read gets a warning.  Returns an exit
 * status; prints errors. */
int rd_key_read (const char *name, struct rd_key *key);

/* Zeroizes a key. */
void rd_key_clear (struct rd_key *key);

/* Makes the path of a volume with the pseudonym of its subject: "sub-" and
 * "tpl-" stay.  Allocated; NULL after an error. */
char *rd_key_path (const struct rd_key *key, const char *path);

/* Returns whether to_path has the id of the subject of path, as a word: in the
 * collection, or after the pseudonym. */
bool rd_shows_subject (const char *path, const char *to_path);

/* Returns whether two paths are of one subject by their names. */
bool rd_is_one_subject (const char *a, const char *b);

/* Adds a subject's id to a set, also without "sub-", unless that is a number or
 * has less than three bytes, as other texts may.  False without memory, after
 * an error. */
bool rd_ids_add_subject (struct rd_text_set *ids, const char *id, size_t n);

/* Returns whether n bytes have one of the ids, sorted, in them, as a word. */
bool rd_ids_are_in (const struct rd_text_set *ids, const char *at, size_t n);

#endif /* RD_TOOLS_PSEUDONYMS_H */
