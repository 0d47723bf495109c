/* SPDX-License-Identifier: MIT */
/* The array of header bytes: one chunk, not compressed. */
#include <config.h>

#include <string.h>

#include "src/volume/header.h"

/* Each attempt after the first means that another process has replaced a
 * document or a chunk in between. */
#define MAX_ATTEMPTS 10

static char *
chunk_key (const char *path, enum rd_header_key key)
{
  char *array RD_FREE = rd_key_join (path, RD_HEADER_NAME);
  return array ? rd_key_join (array, rd_header_keys[key].chunk) : NULL;
}

static enum radio_status
put_chunk (struct rd_io *io, const char *path, const struct rd_buffer *prefix,
           enum rd_header_key key, enum rd_put how)
{
  char *chunk RD_FREE = chunk_key (path, key);
  if (chunk == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_io_put (io, chunk, prefix->data, prefix->nbytes, how);
}

/* Compare a chunk with the header.  If it differs, the thread's message says
 * how. */
static enum radio_status
compare_chunk (struct rd_io *io, const char *path,
               const struct rd_buffer *prefix, enum rd_header_key key,
               bool *is_same)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  char *chunk RD_FREE = chunk_key (path, key);
  *is_same = false;
  if (chunk == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = rd_io_read_all (io, chunk, prefix->nbytes,
                                             &bytes);
  if (status == RADIO_ERROR_NOT_FOUND || status == RADIO_ERROR_LIMIT)
    return RADIO_OK;
  RD_TRY (status);
  *is_same = bytes.nbytes == prefix->nbytes
             && memcmp (bytes.data, prefix->data, prefix->nbytes) == 0;
  if (!*is_same)
    rd_fail (RADIO_ERROR_CHECKSUM, "%s: differs from the header in "
             "attributes.radio.nifti", chunk);
  return RADIO_OK;
}

enum radio_status
rd_header_put_document (struct radio_store *store, const char *path,
                        const struct rd_buffer *prefix,
                        enum rd_header_key key, enum rd_put how)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  char *array RD_FREE = rd_key_join (path, RD_HEADER_NAME);
  char *where RD_FREE = array ? rd_document_key (array) : NULL;
  if (where == NULL)
    return RADIO_ERROR_MEMORY;
  size_t nbytes;
  RD_TRY (rd_header_document (prefix->nbytes, key, &document));
  const char *text = rd_document_text (document, &nbytes);
  if (text == NULL)
    return RADIO_ERROR_MEMORY;
  return rd_io_put (store->io, where, text, nbytes, how);
}

/*------------------------------------------------------------------------
 * Reading the array as other programs do
 *----------------------------------------------------------------------*/

struct found {
  enum rd_header_key key;     /* NONE: no array, or one of another form */
  bool is_header;             /* it decodes to a NIfTI header, */
  bool is_same;               /* to the expected one */
};

static enum radio_status
read_bytes (struct radio_array *array, const char *where,
            const struct rd_buffer *prefix, struct found *found)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct radio_array_info info = { 0 };
  struct rd_nifti nifti;
  radio_array_get_info (array, &info);
  bool is_legal = info.rank == 1 && info.dtype == RADIO_UINT8
                  && info.shape[0] <= RD_DOCUMENT_MAX_NBYTES;
  if (!is_legal)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: not the bytes of a header",
                    where);
  const size_t nbytes = (size_t) info.shape[0];
  const struct radio_box box = { 1, { 0 }, { nbytes } };
  array->is_complete = true;          /* a missing chunk is no header */
  found->key = array->doc->keys_v2            ? RD_HEADER_KEY_V2
               : array->doc->separator == '.' ? RD_HEADER_KEY_DOT
                                              : RD_HEADER_KEY_SLASH;
  RD_TRY (rd_buffer_reserve (&bytes, nbytes + 1));
  RD_TRY (radio_array_read (array, &box, RADIO_UINT8, bytes.data, nbytes,
                            NULL));
  found->is_same = nbytes == prefix->nbytes
                   && memcmp (bytes.data, prefix->data, nbytes) == 0;
  if (!found->is_same)
    RD_TRY (rd_nifti_parse (bytes.data, nbytes, where, &nifti));
  found->is_header = true;
  return RADIO_OK;
}

/* If the array is not a header, the thread's message says why. */
static enum radio_status
read_array (struct radio_store *store, const char *path,
            const struct rd_buffer *prefix, struct found *found)
{
  struct radio_array *array RD_CLEANUP (rd_cleanup_array) = NULL;
  char *where RD_FREE = rd_key_join (path, RD_HEADER_NAME);
  *found = (struct found) { 0 };
  if (where == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = radio_array_open (store, where, &array);
  if (status == RADIO_OK)
    status = read_bytes (array, where, prefix, found);
  bool is_damaged = status == RADIO_ERROR_NOT_FOUND
                    || status == RADIO_ERROR_FORMAT
                    || status == RADIO_ERROR_UNSUPPORTED
                    || status == RADIO_ERROR_CHECKSUM;
  return is_damaged ? RADIO_OK : status;
}

enum radio_status
rd_header_inspect (struct radio_store *store, const char *path,
                   const struct rd_buffer *prefix, enum rd_header_key named,
                   enum rd_header_state *state)
{
  struct found found;
  bool is_same = true;
  *state = RD_HEADER_BAD;
  RD_TRY (read_array (store, path, prefix, &found));
  if (!found.is_header)
    return RADIO_OK;
  if (found.is_same && (found.key == named || named == RD_HEADER_KEY_NONE)) {
    *state = RD_HEADER_CURRENT;
    return RADIO_OK;
  }
  if (found.key == named) {
    rd_fail (RADIO_ERROR_CHECKSUM, "%s/" RD_HEADER_NAME ": differs from the "
             "header in attributes.radio.nifti; radio gc repairs it", path);
    return RADIO_OK;
  }
  if (named != RD_HEADER_KEY_NONE)
    RD_TRY (compare_chunk (store->io, path, prefix, named, &is_same));
  if (!is_same)
    return RADIO_OK;
  *state = RD_HEADER_STALE;
  rd_fail (RADIO_ERROR_CHECKSUM, "%s/" RD_HEADER_NAME ": the header of an "
           "earlier volume; radio gc or the next write of the volume repairs "
           "it", path);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

/* The ages of the chunks; those that do not exist are the oldest. */
static enum radio_status
add_age (const struct rd_io_entry *entry, void *user_data)
{
  uint64_t *ages_s = user_data;
  for (int key = RD_HEADER_KEY_SLASH; key < RD_HEADER_NKEYS; key++)
    if (strcmp (entry->name, rd_header_keys[key].chunk) == 0)
      ages_s[key] = entry->age_s;
  return RADIO_OK;
}

/* Replace the oldest of the chunks that may be replaced.  *is_ours is not set
 * if another process did the same at the same time. */
static enum radio_status
replace_oldest (struct rd_io *io, const char *path,
                const struct rd_buffer *prefix,
                const enum rd_header_key *candidates, size_t n,
                enum rd_header_key *key, bool *is_ours)
{
  uint64_t ages_s[RD_HEADER_NKEYS];
  char *array RD_FREE = rd_key_join (path, RD_HEADER_NAME);
  if (array == NULL)
    return RADIO_ERROR_MEMORY;
  for (size_t i = 0; i < RD_HEADER_NKEYS; i++)
    ages_s[i] = UINT64_MAX;
  RD_TRY (io->ops->list (io, array, true, add_age, ages_s));
  *key = candidates[0];
  for (size_t i = 1; i < n; i++)
    if (ages_s[candidates[i]] > ages_s[*key])
      *key = candidates[i];
  RD_TRY (put_chunk (io, path, prefix, *key, RD_PUT_REPLACE));
  return compare_chunk (io, path, prefix, *key, is_ours);
}

enum radio_status
rd_header_put_chunk (struct radio_store *store, const char *path,
                     const struct rd_buffer *prefix,
                     const struct rd_existing *existing,
                     enum rd_header_key *key, bool *is_written)
{
  enum rd_header_key candidates[RD_HEADER_NKEYS];
  const enum rd_header_key named = existing->meta.header_key;
  struct found found = { 0 };
  struct rd_io *io = store->io;
  size_t n = 0;
  *is_written = false;
  /* Without a volume no one reads the array. */
  if (existing->exists)
    RD_TRY (read_array (store, path, prefix, &found));
  if (found.is_same) {
    *key = found.key;
    *is_written = true;
    return RADIO_OK;
  }
  /* In turn, so that what was just replaced stays longest. */
  for (int i = 0; i < RD_HEADER_NKEYS - 1; i++) {
    enum rd_header_key next = 1 + (named + i) % (RD_HEADER_NKEYS - 1);
    if (next != named && next != found.key)
      candidates[n++] = next;
  }
  if (rd_io_excludes_all (io)) {
    *key = candidates[0];
    return put_chunk (io, path, prefix, *key, RD_PUT_REPLACE);
  }
  for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    bool is_ours = false;
    for (size_t i = 0; i < n; i++) {
      enum radio_status status
        = put_chunk (io, path, prefix, candidates[i], RD_PUT_IF_ABSENT);
      *key = candidates[i];
      if (status != RADIO_ERROR_EXISTS && status != RADIO_ERROR_UNSUPPORTED)
        return status;
    }
    RD_TRY (replace_oldest (io, path, prefix, candidates, n, key, &is_ours));
    if (is_ours)
      return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_IO, "%s/%s: other processes are replacing the "
                  "volume; try again", io->uri, path);
}

/* Where locks do not exclude other processes, each process that has removed
 * or written the array, or has changed the document, compares both
 * afterwards: the last one to do so sees the final state. */
enum radio_status
rd_header_repair (struct radio_store *store, const char *path)
{
  struct rd_io *io = store->io;
  for (int i = 0; i < MAX_ATTEMPTS; i++) {
    struct rd_existing now RD_EXISTING_SCOPE = { 0 };
    struct rd_buffer *prefix = &now.meta.prefix;
    enum rd_header_state state;
    RD_TRY (rd_existing_read_v3 (store, path, &now));
    enum rd_header_key key = now.meta.header_key;
    if (!now.is_ours || !now.meta.has_nifti)
      return RADIO_OK;
    RD_TRY (rd_header_inspect (store, path, prefix, key, &state));
    if (state == RD_HEADER_CURRENT)
      return RADIO_OK;
    if (key == RD_HEADER_KEY_NONE) {
      bool is_written;
      RD_TRY (rd_header_put_chunk (store, path, prefix, &now, &key,
                                   &is_written));
    } else if (state == RD_HEADER_BAD)
      RD_TRY (put_chunk (io, path, prefix, key, RD_PUT_REPLACE));
    RD_TRY (rd_header_put_document (store, path, prefix, key,
                                    RD_PUT_REPLACE));
    if (rd_io_excludes_all (io))
      return RADIO_OK;
  }
  return RADIO_OK;
}

enum radio_status
rd_header_repair_own (struct radio_store *store, const char *path,
                      const struct rd_buffer *prefix, enum rd_header_key key,
                      bool was_last)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  enum rd_header_state state = RD_HEADER_BAD;
  if (rd_io_excludes_all (store->io))
    return RADIO_OK;
  RD_TRY (store->io->ops->lock (store->io, path, true, &lock));
  if (!was_last)
    RD_TRY (rd_header_inspect (store, path, prefix, key, &state));
  return state == RD_HEADER_CURRENT ? RADIO_OK
                                    : rd_header_repair (store, path);
}
