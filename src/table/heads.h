/* SPDX-License-Identifier: MIT */
/* The log of a table: heads, numbered from 1, each of which names a generation.
 * A head is put only if its number is free, and never removed, so writers that
 * follow the newest one cannot lose each other's edits.  The table's own
 * document has a hint, which names the newest head that its writer knew. */
#ifndef RD_TABLE_HEADS_H
#define RD_TABLE_HEADS_H

#include "src/array/array.h"
#include "src/table/texts.h"

/* The kinds of groups, in attributes.radio.kind. */
#define RD_KIND_OF_TABLES "tables"
#define RD_KIND_OF_TABLE "table"
#define RD_KIND_OF_HEADS "heads"
#define RD_KIND_OF_HEAD "head"
#define RD_KIND_OF_GENERATION "generation"

/* The generations that are kept, unless fewer are asked for. */
#define RD_KEPT_GENERATIONS 3

/* "t-5f3a91c7", with the NUL. */
#define RD_GENERATION_NBYTES 11

/* One head. */
struct rd_head {
  uint64_t number;                    /* 0: the table has none */
  char generation[RD_GENERATION_NBYTES];
  char follows[RD_GENERATION_NBYTES]; /* the generation that it was made of;
                                         "": none */
};

/* A table's newest head, with the documents that were read on the way. */
struct rd_newest {
  struct rd_head head;
  uint64_t highest;                   /* of all heads, also if the generation
                                         of the last ones is gone */
  uint64_t hinted;                    /* the head of the hint; 0: none, or one
                                         that can be of no head */
  bool is_lost;                       /* there are heads, or a hint, but not
                                         the generations that they name */
  struct json_object *folder;         /* the table's own document; NULL: there
                                         is no table */
  struct json_object *generation;     /* its group's document; NULL: there is
                                         no head, or the table is a frame */
  bool is_repeated;                   /* generation is what the hint or the head
                                         repeats */
  bool is_frame;                      /* the group at the path is no table of
                                         radio's */
};

void rd_newest_free (struct rd_newest *newest);
#define RD_NEWEST_SCOPE RD_CLEANUP (rd_newest_free)

/* Finds the newest head of a table, and its generation's document: with trusts
 * that which the hint repeats, if it is the newest one's, or that which the
 * newest head repeats; else it is read.  Over a network the existence of a
 * generation whose document is repeated is not checked.  A missing table or
 * head is no error, nor is a lost table: see rd_heads_fail_lost. */
enum radio_status rd_heads_find (struct radio_store *store, const char *path,
                                 bool trusts, struct rd_newest *newest)
  RADIO_USE_RESULT;

/* Finds whether the newest head that was found is stale: later heads name
 * missing generations, or the hint a missing later head.  Readers skip these;
 * an edit's head would hide them if they arrive later. */
enum radio_status rd_heads_find_stale (struct radio_store *store,
                                       const char *path,
                                       const struct rd_newest *newest,
                                       bool *is_stale) RADIO_USE_RESULT;

/* Fails if the newest head that was found is stale, and the store accepts only
 * the newest ones; else warns of it, once for a store. */
enum radio_status rd_heads_check_newest (struct radio_store *store,
                                         const char *path,
                                         const struct rd_newest *newest)
  RADIO_USE_RESULT;

/* As rd_heads_find, without a limit to the heads that are passed over; without
 * any, a hint counts as one.  The highest number is also of the hint. */
enum radio_status rd_heads_recover (struct radio_store *store,
                                    const char *path,
                                    struct rd_newest *newest)
  RADIO_USE_RESULT;

/* Says what can be done about a table that is lost, or whose newest head is an
 * older one; returns RADIO_ERROR_FORMAT. */
enum radio_status rd_heads_fail_lost (const char *path);

/* The numbers of a table's heads, the highest first. */
struct rd_numbers {
  uint64_t *at;
  size_t n, capacity;
};

void rd_numbers_free (struct rd_numbers *numbers);
#define RD_NUMBERS_SCOPE RD_CLEANUP (rd_numbers_free)

/* Lists the numbers of a table's heads above one, in place of those that
 * numbers has.  A listed one whose document is missing is no head. */
enum radio_status rd_heads_list (struct radio_store *store, const char *path,
                                 uint64_t above, struct rd_numbers *numbers)
  RADIO_USE_RESULT;

/* Finds whether the generation that a head names is there. */
enum radio_status rd_heads_generation_exists (struct radio_store *store,
                                              const char *path,
                                              const struct rd_head *head,
                                              bool *exists) RADIO_USE_RESULT;

/* Returns whether the hint of the table's document is of the newest head, but
 * repeats another document than that of the generation, which was read. */
bool rd_heads_is_misled (const struct rd_newest *newest, const char *path);

/* Finds whether the table's document has a hint, and the number of the head
 * that it names; 0: of none, or the hint is not usable. */
enum radio_status rd_heads_hinted (struct radio_store *store,
                                   const char *path, bool *has_hint,
                                   uint64_t *number) RADIO_USE_RESULT;

/* Reads one head.  RADIO_ERROR_NOT_FOUND. */
enum radio_status rd_head_read (struct radio_store *store, const char *path,
                                uint64_t number, struct rd_head *head)
  RADIO_USE_RESULT;

/* Puts a head, which repeats the generation's document unless that is long,
 * after making the objects of stages durable, only if its number is free: else,
 * and if it is not known whether it was put, this is looked up.  *is_ours is
 * set if it is there and names the generation.  RADIO_ERROR_EXISTS: the number
 * is taken. */
enum radio_status rd_head_put (struct radio_store *store, const char *path,
                               const struct rd_head *head,
                               struct json_object *generation,
                               struct rd_io_stage *stage, bool *is_ours)
  RADIO_USE_RESULT;

/* Puts the heads below a number again that repeat documents of generations,
 * without these: heads stay, and should be short. */
enum radio_status rd_heads_shorten (struct radio_store *store,
                                    const char *path, uint64_t below)
  RADIO_USE_RESULT;

/* Sets the hint of the table's document, which repeats the generation's unless
 * that is long.  It costs readers two trips if this fails, so failures are
 * ignored. */
void rd_heads_hint (struct radio_store *store, const char *path,
                    const struct rd_head *head,
                    struct json_object *generation);

/* The group of a table's heads. */
#define RD_HEADS_NAME "heads"

/* Makes the groups above a table that are missing.  A group without volumes in
 * the place of the tables is taken over. */
enum radio_status rd_heads_make_above (struct radio_store *store,
                                       const char *path) RADIO_USE_RESULT;

/* Makes the groups of a table that are missing, below those above it. */
enum radio_status rd_heads_make (struct radio_store *store, const char *path)
  RADIO_USE_RESULT;

/* A new name for a generation; RADIO_ERROR_IO without random numbers. */
enum radio_status rd_generation_name (char name[RD_GENERATION_NBYTES])
  RADIO_USE_RESULT;
bool rd_is_generation_name (const char *name);

/* New attributes.radio of a kind; the caller puts them. */
enum radio_status rd_kind_new (const char *kind, struct json_object **radio)
  RADIO_USE_RESULT;

/* The kind of a node's document; NULL if it has none. */
const char *rd_kind_of (struct json_object *document);
bool rd_is_of_kind (struct json_object *document, const char *kind);

#endif /* RD_TABLE_HEADS_H */
