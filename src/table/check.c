/* SPDX-License-Identifier: MIT */
/* Checking all of a table: that the last heads name generations that are there,
 * and that every column of the newest one can be read. */
#include <config.h>

#include <inttypes.h>

#include "src/table/frame.h"
#include "src/table/heads.h"
#include "src/table/tables.h"
#include "profiler/counters.h"

/* A generation may be collected while its heads are looked at: then there are
 * newer ones, and these are looked at, this many times. */
#define MAX_TRIES 8

struct checking {
  struct radio_store *store;
  const char *path;
  rd_table_fault_fn *fault;
  void *user_data;
  bool is_sound;
};

/* Reports the thread's message, unless it is one of the store or the machine,
 * which says nothing of the table. */
static enum radio_status
take_status (struct checking *checking, enum radio_status status)
{
  switch (status) {
  case RADIO_ERROR_FORMAT:
  case RADIO_ERROR_CHECKSUM:
  case RADIO_ERROR_NOT_FOUND:
  case RADIO_ERROR_UNSUPPORTED:
  case RADIO_ERROR_EXISTS:
    checking->is_sound = false;
    return checking->fault (checking->user_data);
  default:
    return status;
  }
}

/* Finds whether the generation of a head is there.  *above is the next higher
 * one, and becomes this one.  If that does not follow this one, its writer has
 * passed it over, since the generation was missing: then *is_head is not
 * set. */
static enum radio_status
check_head (struct checking *checking, uint64_t number, struct rd_head *above,
            bool *is_head, bool *is_missing)
{
  struct radio_store *store = checking->store;
  struct rd_head head;
  bool exists;
  *is_missing = false;
  enum radio_status status = rd_head_read (store, checking->path, number,
                                           &head);
  /* A folder without a document is no head. */
  *is_head = status != RADIO_ERROR_NOT_FOUND;
  if (!*is_head)
    return RADIO_OK;
  if (status != RADIO_OK)
    return take_status (checking, status);
  *is_head = above->number == 0
             || strcmp (above->follows, head.generation) == 0;
  *above = head;
  if (!*is_head)
    return RADIO_OK;
  RD_TRY (rd_heads_generation_exists (store, checking->path, &head, &exists));
  *is_missing = !exists;
  if (*is_missing)
    rd_fail (RADIO_ERROR_FORMAT, "%s: head %" PRIu64 " names the generation "
             "%s, which is missing", checking->path, number, head.generation);
  return RADIO_OK;
}

/* Checks the last heads, up to the number of generations that are kept.  A
 * collector that was asked to keep fewer may have removed the generation of any
 * but the highest one, and then those of all lower ones. */
static enum radio_status
check_heads (struct checking *checking)
{
  RD_NUMBERS_SCOPE struct rd_numbers numbers = { 0 };
  struct rd_error missing[RD_KEPT_GENERATIONS];
  size_t nmissing = 0, next = 0;
  unsigned ntries = 0, nheads = 0;
  struct rd_head above = { 0 };
  RD_TRY (rd_heads_list (checking->store, checking->path, 0, &numbers));
  while (next < numbers.n && nheads < RD_KEPT_GENERATIONS) {
    bool is_head, is_missing;
    RD_TRY (check_head (checking, numbers.at[next++], &above, &is_head,
                        &is_missing));
    nheads += is_head;
    if (is_missing) {
      RD_NUMBERS_SCOPE struct rd_numbers now = { 0 };
      rd_error_save (&missing[nmissing++], RADIO_ERROR_FORMAT);
      RD_TRY (rd_heads_list (checking->store, checking->path, 0, &now));
      if (now.n > 0 && now.at[0] != numbers.at[0] && ntries++ < MAX_TRIES) {
        const struct rd_numbers before = numbers;
        numbers = now;
        now = before;
        nheads = 0;
        nmissing = 0;
        next = 0;
        above.number = 0;
        continue;
      }
    }
    bool are_faults = is_head && (!is_missing || nheads == 1);
    for (size_t i = 0; are_faults && i < nmissing; i++)
      RD_TRY (take_status (checking, rd_error_raise (&missing[i])));
    nmissing = are_faults ? 0 : nmissing;
  }
  return RADIO_OK;
}

/* Reads all columns, and the ids. */
static enum radio_status
check_columns (struct checking *checking, struct rd_dataframe *frame)
{
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  enum radio_status status = rd_dataframe_read_ids (frame, &ids);
  if (status != RADIO_OK)
    RD_TRY (take_status (checking, status));
  for (size_t i = 0; i < frame->n; i++) {
    RD_CLEANUP (rd_cleanup_column) struct rd_column *column = NULL;
    status = rd_dataframe_read (frame, &frame->fields[i], &column);
    if (status != RADIO_OK)
      RD_TRY (take_status (checking, status));
  }
  return RADIO_OK;
}

/* Opens the newest generation, also another one if it was collected
 * meanwhile. */
static enum radio_status
check_newest (struct checking *checking)
{
  const char *path = checking->path;
  RD_NEWEST_SCOPE struct rd_newest newest = { 0 };
  RD_CLEANUP (rd_cleanup_dataframe) struct rd_dataframe *frame = NULL;
  bool is_stale;
  enum radio_status status = rd_heads_find (checking->store, path, false,
                                            &newest);
  if (status != RADIO_OK)
    return take_status (checking, status);
  if (newest.is_lost)
    return take_status (checking, rd_heads_fail_lost (path));
  if (newest.head.number == 0)
    return RADIO_OK;
  if (newest.hinted > newest.highest) {
    RD_TRY (rd_heads_find_stale (checking->store, path, &newest, &is_stale));
    if (is_stale)
      RD_TRY (take_status (checking, rd_heads_fail_lost (path)));
  }
  RD_FREE char *generation = rd_key_join (path, newest.head.generation);
  if (!generation)
    return RADIO_ERROR_MEMORY;
  if (rd_heads_is_misled (&newest, path))
    RD_TRY (take_status (checking, rd_fail (
      RADIO_ERROR_FORMAT, "%s: attributes.radio.latest.document is not that of "
      "the newest generation, %s; write it again by 'radio index'", path,
      newest.head.generation)));
  status = rd_dataframe_open (checking->store, generation, newest.generation,
                              true, &frame);
  return status == RADIO_OK ? check_columns (checking, frame)
                            : take_status (checking, status);
}

enum radio_status
rd_table_check (struct radio_store *store, const char *path,
                rd_table_fault_fn *fault, void *user_data, bool *is_sound)
{
  struct checking checking = { store, path, fault, user_data, true };
  RD_SCOPE ("check table", RD_IN_METADATA);
  RD_NOTE_NAME ("table", path);
  enum radio_status status = check_heads (&checking);
  if (status == RADIO_OK)
    status = check_newest (&checking);
  *is_sound = checking.is_sound;
  return rd_scope_end_with (status);
}
