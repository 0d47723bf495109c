/* SPDX-License-Identifier: MIT */
/* The log of heads: finding the newest one, and putting the next. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "src/base/checked.h"
#include "src/base/json-make.h"
#include "src/base/reserve.h"
#include "src/base/text.h"
#include "src/table/heads.h"
#include "io/store.h"
#include "profiler/counters.h"

#define NUMBER_NDIGITS 10
#define NUMBER_MAX UINT64_C (9999999999)

/* The longest document of a generation that the hint and the head repeat. */
#define MAX_REPEATED_NBYTES ((size_t) 256 << 10)

/* A head that is longer repeats a document. */
#define MAX_SHORT_NBYTES 1024

/* Heads in a row without their generations that are passed over: a table of
 * more is lost, and no one reads thousands of heads to say so. */
#define MAX_MISSING 8

/* Heads that are listed before the hint is known: one page, since more pages
 * would be listed one after the other; and heads below the hint's that are
 * listed then. */
#define MAX_LISTED 1000
#define NBELOW 16

/* A hint of a head that is so far above all that there are is wrong: no copy
 * lacks that many. */
#define MAX_AHEAD 1000000

/* Numbers below the highest one that are tried where nothing can be listed. */
#define MAX_TRIED 1000

void
rd_newest_free (struct rd_newest *newest)
{
  json_object_put (newest->folder);
  json_object_put (newest->generation);
  *newest = (struct rd_newest) { 0 };
}

/*------------------------------------------------------------------------
 * Names and kinds
 *----------------------------------------------------------------------*/

enum radio_status
rd_generation_name (char name[RD_GENERATION_NBYTES])
{
  uint32_t number;
  if (getentropy (&number, sizeof number) != 0)
    return rd_fail_errno (errno, "no random number for a table's name");
  snprintf (name, RD_GENERATION_NBYTES, "t-%08x", (unsigned) number);
  return RADIO_OK;
}

bool
rd_is_generation_name (const char *name)
{
  return strlen (name) == RD_GENERATION_NBYTES - 1 && name[0] == 't'
         && name[1] == '-' && strspn (name + 2, "0123456789abcdef") == 8;
}

enum radio_status
rd_kind_new (const char *kind, struct json_object **radio)
{
  struct rd_json_make make = { false };
  struct json_object *made = json_object_new_object ();
  rd_json_add_string (&make, made, "version", RD_FORMAT_VERSION);
  rd_json_add_string (&make, made, "kind", kind);
  return rd_json_make_end (&make, made, radio);
}

static struct json_object *
get_radio (struct json_object *document)
{
  return rd_json_member (rd_json_member (document, "attributes"), "radio");
}

const char *
rd_kind_of (struct json_object *document)
{
  struct json_object *kind = rd_json_member (get_radio (document), "kind");
  return kind && json_object_is_type (kind, json_type_string)
         ? json_object_get_string (kind) : NULL;
}

bool
rd_is_of_kind (struct json_object *document, const char *kind)
{
  const char *found = rd_kind_of (document);
  return found && strcmp (found, kind) == 0;
}

/* "PATH/heads/0000000007". */
static char *
head_path (const char *path, uint64_t number)
{
  char name[sizeof RD_HEADS_NAME + 1 + 20];
  snprintf (name, sizeof name, RD_HEADS_NAME "/%0*" PRIu64, NUMBER_NDIGITS,
            number);
  return rd_key_join (path, name);
}

/*------------------------------------------------------------------------
 * Finding
 *----------------------------------------------------------------------*/

void
rd_numbers_free (struct rd_numbers *numbers)
{
  rd_free (numbers->at);
  *numbers = (struct rd_numbers) { 0 };
}

static enum radio_status
add_number (struct rd_numbers *numbers, uint64_t number)
{
  RD_TRY (rd_reserve (&numbers->at, &numbers->capacity, numbers->n,
                      sizeof *numbers->at));
  numbers->at[numbers->n++] = number;
  return RADIO_OK;
}

/* Heads that are listed: the numbers, at most this many. */
struct listed {
  struct rd_numbers *numbers;
  size_t nmost;
  uint64_t least_nbytes;              /* of their documents */
};

/* Keeps the number of a folder of heads/, or of a document in one. */
static enum radio_status
take_number (const struct rd_io_entry *entry, void *user_data)
{
  static const char document[] = "/zarr.json";
  const struct listed *listed = user_data;
  char name[NUMBER_NDIGITS + 1] = "";
  uint64_t number;
  const char *rest = entry->is_prefix ? "" : document;
  if (strlen (entry->name) != NUMBER_NDIGITS + strlen (rest)
      || strcmp (entry->name + NUMBER_NDIGITS, rest) != 0
      || entry->nbytes < listed->least_nbytes)
    return RADIO_OK;
  memcpy (name, entry->name, NUMBER_NDIGITS);
  if (!rd_parse_u64 (name, &number) || number == 0)
    return RADIO_OK;
  RD_TRY (add_number (listed->numbers, number));
  return listed->numbers->n < listed->nmost ? RADIO_OK
                                            : RADIO_ERROR_CANCELLED;
}

static int
compare_downwards (const void *a, const void *b)
{
  const uint64_t *x = a, *y = b;
  return rd_compare_u64 (*y, *x);
}

/* Lists the numbers of heads above one, at most nmost of the lowest, the
 * highest first.  Where a page of a list is a request, by their documents, from
 * there on; else by their folders. */
static enum radio_status
list_numbers (struct radio_store *store, const char *path, uint64_t above,
              size_t nmost, struct rd_numbers *numbers)
{
  struct rd_io *io = store->io;
  struct listed listed = { .numbers = numbers, .nmost = nmost };
  char after[NUMBER_NDIGITS + 1 + sizeof "zarr.json"];
  RD_FREE char *heads = rd_key_join (path, RD_HEADS_NAME);
  if (!heads)
    return RADIO_ERROR_MEMORY;
  numbers->n = 0;
  snprintf (after, sizeof after, "%0*" PRIu64 "/zarr.json", NUMBER_NDIGITS,
            rd_min_u64 (above, NUMBER_MAX));
  enum radio_status status = io->ops->list_after
    ? io->ops->list_after (io, heads, after, take_number, &listed)
    : io->ops->list (io, heads, false, take_number, &listed);
  if (status != RADIO_ERROR_CANCELLED || numbers->n < nmost)
    RD_TRY (status);
  if (numbers->n > 1)
    qsort (numbers->at, numbers->n, sizeof *numbers->at, compare_downwards);
  while (numbers->n > 0 && numbers->at[numbers->n - 1] <= above)
    numbers->n--;
  return RADIO_OK;
}

enum radio_status
rd_heads_list (struct radio_store *store, const char *path, uint64_t above,
               struct rd_numbers *numbers)
{
  return list_numbers (store, path, above, SIZE_MAX, numbers);
}

/* Copies a generation's name from a document. */
static enum radio_status
get_name (struct json_object *radio, const char *member, const char *where,
          char name[RD_GENERATION_NBYTES])
{
  const char *text;
  RD_TRY (rd_json_string (radio, member, where, &text));
  if (!rd_is_generation_name (text))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: attributes.radio.%s is '%s', not "
                    "the name of a generation", where, member, text);
  memcpy (name, text, RD_GENERATION_NBYTES);
  return RADIO_OK;
}

/* Returns the generation's document that a hint or head repeats; NULL: none. */
static struct json_object *
repeated_in (struct json_object *object)
{
  struct json_object *document = rd_json_member (object, "document");
  return json_object_is_type (document, json_type_object) ? document : NULL;
}

/* Reads a head, and what it repeats: *repeated is a reference, or NULL. */
static enum radio_status
read_head (struct radio_store *store, const char *path, uint64_t number,
           struct rd_head *head, struct json_object **repeated)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_FREE char *where = head_path (path, number);
  bool is_radio;
  if (!where)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_store_read_document (store, where, &document));
  RD_TRY (rd_store_check_version (rd_json_member (document, "attributes"),
                                  where, &is_radio));
  struct json_object *radio = get_radio (document);
  *head = (struct rd_head) { .number = number };
  RD_TRY (get_name (radio, "table", where, head->generation));
  if (rd_json_member (radio, "follows"))
    RD_TRY (get_name (radio, "follows", where, head->follows));
  *repeated = json_object_get (repeated_in (radio));
  return RADIO_OK;
}

enum radio_status
rd_head_read (struct radio_store *store, const char *path, uint64_t number,
              struct rd_head *head)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *repeated = NULL;
  return read_head (store, path, number, head, &repeated);
}

static void
wake (struct rd_io_get *get)
{
  rd_waiter_wake (get->user_data);
}

/* Reads the table's document and, in the same trip, lists its heads, or the
 * first MAX_LISTED.  *can_list is not set where nothing can be listed. */
static enum radio_status
read_folder (struct radio_store *store, const char *path,
             struct json_object **document, struct rd_numbers *numbers,
             bool *can_list)
{
  struct rd_io *io = store->io;
  RD_SCOPE ("find table", RD_IN_METADATA);
  RD_NOTE_NAME ("table", path);
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  struct rd_waiter waiter = RD_WAITER_INIT;
  char key[RD_KEY_NBYTES];
  rd_path_key (path, "zarr.json", key);
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_ALL, .into = &text,
    .nbytes = (size_t) rd_min_u64 (RD_DOCUMENT_MAX_NBYTES,
                                   store->context->memory_limit_nbytes),
    .done = wake, .user_data = &waiter,
  };
  io->ops->get (io, &get, 1);
  size_t nmost = io->ops->list_after ? MAX_LISTED : SIZE_MAX;
  enum radio_status status = list_numbers (store, path, 0, nmost, numbers);
  rd_waiter_wait (&waiter);
  *can_list = status != RADIO_ERROR_UNSUPPORTED;
  if (status != RADIO_OK && *can_list)
    return status;
  *document = NULL;
  if (get.error.status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (rd_error_raise (&get.error));
  RD_TRY (rd_buffer_append (&text, "", 1));
  text.nbytes--;
  return rd_store_parse_document (store, key, NULL, &text, document);
}

/* Gets the hint of the table's document; number 0 without a usable hint.
 * *document is the generation's, or NULL. */
static void
get_hint (struct json_object *folder, const char *path, struct rd_head *hint,
          struct json_object **document)
{
  struct json_object *latest = rd_json_member (get_radio (folder), "latest");
  uint64_t number;
  *hint = (struct rd_head) { 0 };
  *document = repeated_in (latest);
  if (latest
      && rd_json_u64 (rd_json_member (latest, "head"), "latest.head", path,
                      &number) == RADIO_OK
      && number <= NUMBER_MAX
      && get_name (latest, "table", path, hint->generation) == RADIO_OK)
    hint->number = number;
}

enum radio_status
rd_heads_hinted (struct radio_store *store, const char *path, bool *has_hint,
                 uint64_t *number)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *folder = NULL;
  struct json_object *document;
  struct rd_head hint = { 0 };
  enum radio_status status = rd_store_read_document (store, path, &folder);
  if (status != RADIO_ERROR_NOT_FOUND)
    RD_TRY (status);
  *has_hint = rd_json_member (get_radio (folder), "latest") != NULL;
  if (*has_hint)
    get_hint (folder, path, &hint, &document);
  *number = hint.number;
  return RADIO_OK;
}

bool
rd_heads_is_misled (const struct rd_newest *newest, const char *path)
{
  struct json_object *repeated;
  struct rd_head hint;
  if (newest->head.number == 0)
    return false;
  get_hint (newest->folder, path, &hint, &repeated);
  return hint.number == newest->head.number && repeated
         && (strcmp (hint.generation, newest->head.generation) != 0
             || !json_object_equal (repeated, newest->generation));
}

/* Finds the highest head upwards from the hint, where nothing lists, and
 * numbers those that may be heads. */
static enum radio_status
find_upwards (struct radio_store *store, const char *path,
              const struct rd_head *hint, struct rd_numbers *numbers)
{
  struct rd_head head;
  uint64_t highest = hint->number;
  for (;;) {
    enum radio_status status = rd_head_read (store, path, highest + 1, &head);
    if (status == RADIO_ERROR_NOT_FOUND)
      break;
    RD_TRY (status);
    highest++;
  }
  numbers->n = 0;
  while (highest > 0 && numbers->n < MAX_TRIED)
    RD_TRY (add_number (numbers, highest--));
  return RADIO_OK;
}

/* Reads the generation of a head.  RADIO_ERROR_NOT_FOUND. */
static enum radio_status
read_generation (struct radio_store *store, const char *path,
                 const struct rd_head *head, struct json_object **document)
{
  RD_FREE char *generation = rd_key_join (path, head->generation);
  if (!generation)
    return RADIO_ERROR_MEMORY;
  return rd_store_read_document (store, generation, document);
}

enum radio_status
rd_heads_generation_exists (struct radio_store *store, const char *path,
                            const struct rd_head *head, bool *exists)
{
  RD_FREE char *generation = rd_key_join (path, head->generation);
  if (!generation)
    return RADIO_ERROR_MEMORY;
  return rd_store_node_exists (store, generation, exists);
}

/* Takes the generation of a hint or head: what that repeats, or else its
 * document.  RADIO_ERROR_NOT_FOUND. */
static enum radio_status
take_generation (struct radio_store *store, const char *path,
                 const struct rd_head *head, struct json_object *repeated,
                 struct rd_newest *newest)
{
  bool exists = true;
  if (!repeated)
    return read_generation (store, path, head, &newest->generation);
  /* It may have been removed.  Over a network that would take another trip: it
   * is found out when a column is read. */
  if (store->io->ops->is_blocking)
    RD_TRY (rd_heads_generation_exists (store, path, head, &exists));
  if (!exists)
    return RADIO_ERROR_NOT_FOUND;
  newest->generation = json_object_get (repeated);
  newest->is_repeated = true;
  return RADIO_OK;
}

/* Finds the first of the descending numbers whose head exists and names a
 * generation that exists.  Number 0: no such head.  hinted: the document of the
 * hint's generation, or NULL. */
static enum radio_status
find_downwards (struct radio_store *store, const char *path, bool trusts,
                size_t max_missing, const struct rd_numbers *numbers,
                const struct rd_head *hint, struct json_object *hinted,
                struct rd_newest *newest)
{
  size_t nmissing = 0;
  for (size_t i = 0; i < numbers->n && nmissing < max_missing; i++) {
    RD_CLEANUP (rd_cleanup_json) struct json_object *in_head = NULL;
    struct rd_head head = *hint;
    enum radio_status status = RADIO_ERROR_NOT_FOUND;
    bool is_highest = newest->highest == 0;
    if (rd_store_is_cancelled (store))
      return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled", path);
    /* A hint is of use for the highest head, and may be wrong. */
    if (is_highest && numbers->at[i] == hint->number)
      status = take_generation (store, path, hint, trusts ? hinted : NULL,
                                newest);
    if (status == RADIO_ERROR_NOT_FOUND) {
      status = read_head (store, path, numbers->at[i], &head, &in_head);
      /* A folder that a killed writer left has no document. */
      if (status == RADIO_ERROR_NOT_FOUND)
        continue;
      RD_TRY (status);
      status = take_generation (store, path, &head,
                                trusts && is_highest ? in_head : NULL, newest);
    }
    newest->highest = rd_max_u64 (newest->highest, numbers->at[i]);
    if (status == RADIO_OK)
      newest->head = head;
    if (status != RADIO_ERROR_NOT_FOUND)
      return status;
    nmissing++;
  }
  return RADIO_OK;
}

static bool
has_number (const struct rd_numbers *numbers, uint64_t number)
{
  for (size_t i = 0; i < numbers->n; i++)
    if (numbers->at[i] == number)
      return true;
  return false;
}

/* Lists the heads from some below the hint's on, if there may be more than were
 * listed; all of them if the hint is of none, or without one. */
static enum radio_status
list_rest (struct radio_store *store, const char *path,
           const struct rd_head *hint, struct rd_numbers *numbers)
{
  if (numbers->n < MAX_LISTED || !store->io->ops->list_after)
    return RADIO_OK;
  if (hint->number > NBELOW)
    RD_TRY (rd_heads_list (store, path, hint->number - NBELOW, numbers));
  return hint->number > NBELOW && has_number (numbers, hint->number)
         ? RADIO_OK : rd_heads_list (store, path, 0, numbers);
}

/* max_missing: heads in a row without their generations that are passed over;
 * whole: all heads are listed. */
static enum radio_status
find_newest (struct radio_store *store, const char *path, bool trusts,
             size_t max_missing, bool whole, struct rd_newest *newest)
{
  static const struct rd_head none = { 0 };
  RD_NUMBERS_SCOPE struct rd_numbers numbers = { 0 };
  bool can_list, is_radio;
  struct rd_head hint;
  struct json_object *repeated;
  RD_TRY (read_folder (store, path, &newest->folder, &numbers, &can_list));
  if (!newest->folder)
    return RADIO_OK;
  newest->is_frame = !rd_is_of_kind (newest->folder, RD_KIND_OF_TABLE);
  if (newest->is_frame)
    return RADIO_OK;
  RD_TRY (rd_store_check_version (
    rd_json_member (newest->folder, "attributes"), path, &is_radio));
  get_hint (newest->folder, path, &hint, &repeated);
  if (can_list)
    RD_TRY (list_rest (store, path, whole ? &none : &hint, &numbers));
  else
    RD_TRY (find_upwards (store, path, &hint, &numbers));
  RD_TRY (find_downwards (store, path, trusts, max_missing, &numbers, &hint,
                          repeated, newest));
  bool is_near = hint.number <= newest->highest
                 || hint.number - newest->highest <= MAX_AHEAD;
  newest->hinted = is_near ? hint.number : 0;
  newest->is_lost = newest->head.number == 0
                    && (newest->highest > 0 || hint.number > 0);
  return RADIO_OK;
}

enum radio_status
rd_heads_find (struct radio_store *store, const char *path, bool trusts,
               struct rd_newest *newest)
{
  *newest = (struct rd_newest) { 0 };
  trusts = trusts && !atomic_load (&store->was_misled);
  RD_TRY (find_newest (store, path, trusts, MAX_MISSING, false, newest));
  bool has_none = newest->folder && !newest->is_frame
                  && newest->head.number == 0;
  if (!has_none)
    return RADIO_OK;
  /* A collector may have removed what was the newest in between. */
  rd_newest_free (newest);
  return find_newest (store, path, false, MAX_MISSING, true, newest);
}

static bool
seems_stale (const struct rd_newest *newest)
{
  return newest->head.number > 0
         && newest->head.number < rd_max_u64 (newest->highest, newest->hinted);
}

enum radio_status
rd_heads_find_stale (struct radio_store *store, const char *path,
                     const struct rd_newest *newest, bool *is_stale)
{
  RD_NEWEST_SCOPE struct rd_newest again = { 0 };
  *is_stale = false;
  if (!seems_stale (newest))
    return RADIO_OK;
  /* A writer or a collector may have been here while heads were looked up. */
  RD_TRY (rd_heads_find (store, path, false, &again));
  *is_stale = seems_stale (&again)
              && again.head.number == newest->head.number;
  return RADIO_OK;
}

enum radio_status
rd_heads_recover (struct radio_store *store, const char *path,
                  struct rd_newest *newest)
{
  struct json_object *repeated;
  struct rd_head hint;
  RD_TRY (rd_heads_find (store, path, false, newest));
  bool is_lost = newest->is_lost;
  if (is_lost) {
    rd_newest_free (newest);
    RD_TRY (find_newest (store, path, false, SIZE_MAX, true, newest));
    newest->is_lost = true;
  }
  newest->highest = rd_max_u64 (newest->highest, newest->hinted);
  if (newest->head.number > 0 || !is_lost)
    return RADIO_OK;
  get_hint (newest->folder, path, &hint, &repeated);
  enum radio_status status
    = hint.number == 0 ? RADIO_ERROR_NOT_FOUND
                       : read_generation (store, path, &hint,
                                          &newest->generation);
  if (status == RADIO_OK)
    newest->head = hint;
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

enum radio_status
rd_heads_fail_lost (const char *path)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: its last heads, or the generations "
                  "that they name, are missing; finish copying the store, or "
                  "recover what remains by 'radio index --recover'", path);
}

enum radio_status
rd_heads_check_newest (struct radio_store *store, const char *path,
                       const struct rd_newest *newest)
{
  bool is_stale;
  RD_TRY (rd_heads_find_stale (store, path, newest, &is_stale));
  if (!is_stale)
    return RADIO_OK;
  if (store->newest_tables)
    return rd_heads_fail_lost (path);
  if (!store->warning || atomic_exchange (&store->has_warned, true))
    return RADIO_OK;
  char message[RD_ERROR_NBYTES];
  snprintf (message, sizeof message, "%s: its last heads, or the generations "
            "that they name, are missing, and an older one is read; finish "
            "copying the store, or recover what remains by 'radio index "
            "--recover'", path);
  store->warning (message, store->user_data);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

/* Makes a group's document. */
static enum radio_status
new_group (struct json_object *radio, struct json_object **document)
{
  struct rd_json_make make = { false };
  struct json_object *attributes = json_object_new_object ();
  rd_json_add (&make, attributes, "radio", json_object_get (radio));
  RD_TRY (rd_json_make_end (&make, attributes, &attributes));
  enum radio_status status = rd_group_doc_write (attributes, NULL, document);
  json_object_put (attributes);
  return status;
}

/* Adds a generation's document to a hint or head, unless it is long or NULL. */
static void
repeat (struct rd_json_make *make, struct json_object *object,
        struct json_object *generation)
{
  size_t nbytes = 0;
  const char *text = generation ? rd_document_text (generation, &nbytes)
                                : NULL;
  if (text && nbytes <= MAX_REPEATED_NBYTES)
    rd_json_add (make, object, "document", json_object_get (generation));
}

static enum radio_status
new_head (const struct rd_head *head, struct json_object *generation,
          struct json_object **document)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *radio = NULL;
  struct rd_json_make make = { false };
  RD_TRY (rd_kind_new (RD_KIND_OF_HEAD, &radio));
  rd_json_add_string (&make, radio, "table", head->generation);
  if (head->follows[0])
    rd_json_add_string (&make, radio, "follows", head->follows);
  repeat (&make, radio, generation);
  if (make.failed)
    return rd_fail_memory (0);
  return new_group (radio, document);
}

enum radio_status
rd_head_put (struct radio_store *store, const char *path,
             const struct rd_head *head, struct json_object *generation,
             struct rd_io_stage *stage, bool *is_ours)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_FREE char *where = head_path (path, head->number);
  char key[RD_KEY_NBYTES];
  size_t nbytes;
  struct rd_error error;
  struct rd_head found;
  *is_ours = false;
  if (!where)
    return RADIO_ERROR_MEMORY;
  if (head->number > NUMBER_MAX)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: there are %" PRIu64 " heads; "
                    "export the table, and import it into another store",
                    path, NUMBER_MAX);
  RD_TRY (new_head (head, generation, &document));
  const char *text = rd_document_text (document, &nbytes);
  if (!text)
    return RADIO_ERROR_MEMORY;
  rd_path_key (where, "zarr.json", key);
  struct rd_io_stage *const stages[] = { stage };
  enum radio_status status
    = rd_io_publish (store->io, stages, stage ? 1 : 0, key, text, nbytes,
                     RD_PUT_IF_ABSENT);
  *is_ours = status == RADIO_OK;
  if (status == RADIO_OK)
    return RADIO_OK;
  /* A request that was sent again may have met itself. */
  rd_error_save (&error, status);
  if (rd_head_read (store, path, head->number, &found) == RADIO_OK) {
    *is_ours = strcmp (found.generation, head->generation) == 0;
    if (*is_ours)
      return RADIO_OK;
    return rd_fail (RADIO_ERROR_EXISTS, "%s: another writer has put head %"
                    PRIu64, path, head->number);
  }
  return rd_error_raise (&error);
}

void
rd_heads_hint (struct radio_store *store, const char *path,
               const struct rd_head *head, struct json_object *generation)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *radio = NULL;
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  struct rd_json_make make = { false };
  if (rd_kind_new (RD_KIND_OF_TABLE, &radio) != RADIO_OK)
    return;
  struct json_object *latest = rd_json_add_object (&make, radio, "latest");
  rd_json_add_u64 (&make, latest, "head", head->number);
  rd_json_add_string (&make, latest, "table", head->generation);
  repeat (&make, latest, generation);
  if (make.failed || new_group (radio, &document) != RADIO_OK)
    return;
  if (rd_store_put_document (store, path, document, RD_PUT_REPLACE)
      != RADIO_OK)
    return;
}

/* Puts a head again without what it repeats. */
static enum radio_status
shorten_head (struct radio_store *store, const char *path, uint64_t number)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *repeated = NULL;
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  struct rd_head head;
  RD_FREE char *where = head_path (path, number);
  if (!where)
    return RADIO_ERROR_MEMORY;
  RD_TRY (read_head (store, path, number, &head, &repeated));
  if (!repeated)
    return RADIO_OK;
  RD_TRY (new_head (&head, NULL, &document));
  return rd_store_put_document (store, where, document, RD_PUT_REPLACE);
}

enum radio_status
rd_heads_shorten (struct radio_store *store, const char *path, uint64_t below)
{
  RD_NUMBERS_SCOPE struct rd_numbers numbers = { 0 };
  struct listed listed = {
    .numbers = &numbers, .nmost = SIZE_MAX, .least_nbytes = MAX_SHORT_NBYTES,
  };
  RD_FREE char *heads = rd_key_join (path, RD_HEADS_NAME);
  if (!heads)
    return RADIO_ERROR_MEMORY;
  RD_TRY (store->io->ops->list (store->io, heads, true, take_number,
                                &listed));
  for (size_t i = 0; i < numbers.n; i++)
    if (numbers.at[i] < below)
      RD_TRY (shorten_head (store, path, numbers.at[i]));
  return RADIO_OK;
}

/* How often a collector may remove what a dead writer left, while a group is
 * made there. */
#define MAX_REMOVALS 10

static enum radio_status
refuse_object (const struct rd_io_entry *entry, void *user_data)
{
  const char *path = user_data;
  if (strcmp (entry->name, "zarr.json") == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_EXISTS, "%s: a collection of volumes, in the "
                  "place of the store's tables; rename it by 'radio mv %s "
                  "NAME'", path, path);
}

/* Makes the store's tables of a group of another kind, which must be empty: a
 * collection whose volumes were moved or removed leaves one. */
static enum radio_status
take_over (struct radio_store *store, const char *path,
           struct json_object *document)
{
  char name[] = RD_TABLES_NAME;
  RD_TRY (store->io->ops->list (store->io, path, true, refuse_object, name));
  return rd_store_put_document (store, path, document, RD_PUT_REPLACE);
}

/* Puts a group of a kind if nothing is there; else it must be one. */
static enum radio_status
make_group (struct radio_store *store, const char *path, const char *kind)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *radio = NULL;
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_CLEANUP (rd_cleanup_json) struct json_object *found = NULL;
  enum radio_status status;
  RD_TRY (rd_kind_new (kind, &radio));
  RD_TRY (new_group (radio, &document));
  for (unsigned i = 0;; i++) {
    status = rd_store_put_document (store, path, document, RD_PUT_IF_ABSENT);
    if (status != RADIO_ERROR_EXISTS)
      return status;
    status = rd_store_read_document (store, path, &found);
    if (status != RADIO_ERROR_NOT_FOUND || i == MAX_REMOVALS)
      break;
  }
  RD_TRY (status);
  if (rd_is_of_kind (found, kind))
    return RADIO_OK;
  const char *type;
  RD_TRY (rd_json_string (found, "node_type", path, &type));
  if (strchr (path, '/') == NULL && strcmp (type, "group") == 0)
    return take_over (store, path, document);
  return rd_fail (RADIO_ERROR_EXISTS, "%s: the group there is not part of the "
                  "store's tables; remove it first", path);
}

enum radio_status
rd_heads_make_above (struct radio_store *store, const char *path)
{
  char above[RD_PATH_MAX_NBYTES + 1];
  RD_TRY (rd_path_check (path, true));
  memcpy (above, path, strlen (path) + 1);
  for (char *slash = strchr (above, '/'); slash;
       slash = strchr (slash + 1, '/')) {
    *slash = '\0';
    RD_TRY (make_group (store, above, RD_KIND_OF_TABLES));
    *slash = '/';
  }
  return RADIO_OK;
}

enum radio_status
rd_heads_make (struct radio_store *store, const char *path)
{
  RD_FREE char *heads = rd_key_join (path, RD_HEADS_NAME);
  if (!heads)
    return RADIO_ERROR_MEMORY;
  RD_TRY (make_group (store, path, RD_KIND_OF_TABLE));
  return make_group (store, heads, RD_KIND_OF_HEADS);
}
