/* SPDX-License-Identifier: MIT */
/* What dead writers left: uploads that are neither complete nor aborted, of
 * which a bucket's owner pays the parts, and probes.  Whose writer lives
 * cannot be seen from here, but for those of this store's handle: so what is
 * younger than a grace time is left alone. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "io/key.h"
#include "io/percent.h"
#include "io/s3/list.h"
#include "io/s3/page.h"
#include "io/s3/write.h"
#include "io/s3/xml.h"

#define ROOT "ListMultipartUploadsResult"

/* The first thousand parts, with their checksums. */
#define MAX_PARTS_NBYTES (UINT32_C (2) << 20)

RD_S3_SITE (list_site, "list uploads");
RD_S3_SITE (parts_site, "list parts");

struct sweep {
  struct rd_s3 *s3;
  bool dry_run;
  struct rd_io_swept *swept;
  char *below;                /* "store/prefix/" */

  /* Of the page, and of the upload in it that is read. */
  struct rd_s3_page page;
  char *next_key, *next_id;
  char *key, *id;
  int64_t begun_s;
};

static bool
is_of_living_writer (struct rd_s3 *s3, const char *id)
{
  RD_LOCK_SCOPE (&s3->mutex);
  const struct rd_s3_upload *upload = s3->synced.uploads;
  while (upload && strcmp (upload->id, id) != 0)
    upload = upload->next;
  return upload != NULL;
}

/* The key below the store's prefix, or NULL. */
static const char *
key_in_store (const struct sweep *sweep)
{
  const struct rd_s3_place *place = &sweep->s3->place;
  if (strncmp (sweep->key, sweep->below, strlen (sweep->below)) != 0)
    return NULL;
  const char *key = rd_key_below (sweep->key, place->prefix);
  bool is_key = key && rd_key_check (&sweep->s3->base, key) == RADIO_OK;
  return is_key ? key : NULL;
}

static enum radio_status
add_part (const char *path, const char *text, void *user_data)
{
  uint64_t *sum = user_data, nbytes;
  if (strcmp (path, "ListPartsResult/Part/Size") == 0
      && rd_s3_xml_number (text, &nbytes))
    *sum = rd_add_sat (*sum, nbytes);
  return RADIO_OK;
}

static enum radio_status
list_parts (const struct sweep *sweep, const char *key, uint64_t *nbytes)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (rd_s3_query_add (&text, "uploadId", sweep->id));
  char *query = rd_s3_query_take (&text);
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_call_init (&call, sweep->s3, RD_HTTP_GET, key, query));
  call.read.task.into = &text;
  call.read.task.max_nbytes = MAX_PARTS_NBYTES;
  RD_TRY (rd_s3_call_run (&call, &parts_site));
  return rd_s3_xml_read (&text, sweep->s3->base.uri, add_part, nbytes);
}

/* The bytes of an upload's parts, by one request: of a thousand at most,
 * which is far more than a shard has.  Who may not ask, or where nobody
 * answers, is told none. */
static enum radio_status
measure_upload (const struct sweep *sweep, const char *key, uint64_t *nbytes)
{
  enum radio_status status = list_parts (sweep, key, nbytes);
  switch (status) {
  case RADIO_ERROR_PERMISSION:
  case RADIO_ERROR_UNSUPPORTED:
  case RADIO_ERROR_ARGUMENT:
  case RADIO_ERROR_FORMAT:
  case RADIO_ERROR_LIMIT:
  case RADIO_ERROR_IO:
    return RADIO_OK;
  default:
    return status;
  }
}

/* NOT_FOUND: it is not the store's, or has ended. */
static enum radio_status
end_upload (const struct sweep *sweep)
{
  const char *key = key_in_store (sweep);
  uint64_t nbytes = 0;
  if (key == NULL)
    return RADIO_ERROR_NOT_FOUND;
  enum radio_status status = measure_upload (sweep, key, &nbytes);
  if (!sweep->dry_run
      && (status == RADIO_OK || status == RADIO_ERROR_NOT_FOUND))
    status = rd_s3_upload_abort (sweep->s3, key, sweep->id);
  if (status == RADIO_OK)
    sweep->swept->nbytes = rd_add_sat (sweep->swept->nbytes, nbytes);
  return status;
}

/* Ceph encodes keys here and does not say so.  An upload's id is of one key
 * alone, so that ending it under both does no harm. */
static enum radio_status
end_upload_of_either (struct sweep *sweep)
{
  enum radio_status status = RADIO_ERROR_NOT_FOUND;
  if (!sweep->page.is_encoded)
    status = end_upload (sweep);
  bool may_be_encoded = sweep->page.is_encoded || strpbrk (sweep->key, "%+");
  if (status != RADIO_ERROR_NOT_FOUND || !may_be_encoded
      || !rd_percent_decode (sweep->key, true))
    return status;
  return end_upload (sweep);
}

static enum radio_status
take_upload (struct sweep *sweep)
{
  int64_t age_s = sweep->page.now_s - sweep->begun_s;
  if (!sweep->key || !sweep->id || sweep->begun_s < 0 || age_s < 0
      || (uint64_t) age_s < sweep->s3->base.grace_s
      || is_of_living_writer (sweep->s3, sweep->id))
    return RADIO_OK;
  enum radio_status status = end_upload_of_either (sweep);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  sweep->swept->n_files += status == RADIO_OK;
  return status;
}

/* What the next one does not tell is not this one's. */
static void
forget_upload (struct sweep *sweep)
{
  rd_free (RD_STEAL (sweep->key));
  rd_free (RD_STEAL (sweep->id));
  sweep->begun_s = -1;
}

static enum radio_status
take_item (const char *path, const char *text, void *user_data)
{
  struct sweep *sweep = user_data;
  if (strcmp (path, ROOT "/NextKeyMarker") == 0)
    return rd_s3_xml_keep (text, &sweep->next_key);
  if (strcmp (path, ROOT "/NextUploadIdMarker") == 0)
    return rd_s3_xml_keep (text, &sweep->next_id);
  if (strcmp (path, ROOT "/Upload/Key") == 0)
    return rd_s3_xml_keep (text, &sweep->key);
  if (strcmp (path, ROOT "/Upload/UploadId") == 0)
    return rd_s3_xml_keep (text, &sweep->id);
  if (strcmp (path, ROOT "/Upload/Initiated") == 0)
    sweep->begun_s = rd_s3_xml_time (text);
  else if (strcmp (path, ROOT "/Upload") == 0) {
    enum radio_status status = take_upload (sweep);
    forget_upload (sweep);
    return status;
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Pages
 *----------------------------------------------------------------------*/

static enum radio_status
make_query (const struct sweep *sweep, const char *key, const char *id,
            char **query)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  RD_TRY (rd_s3_query_add (&text, "encoding-type", "url"));
  if (*sweep->below)
    RD_TRY (rd_s3_query_add (&text, "prefix", sweep->below));
  if (key)
    RD_TRY (rd_s3_query_add (&text, "key-marker", key));
  if (id)
    RD_TRY (rd_s3_query_add (&text, "upload-id-marker", id));
  RD_TRY (rd_s3_query_add (&text, "uploads", ""));
  *query = rd_s3_query_take (&text);
  return *query ? RADIO_OK : RADIO_ERROR_MEMORY;
}

static bool
is_same (const char *a, const char *b)
{
  return a && b ? strcmp (a, b) == 0 : a == b;
}

static enum radio_status
read_page (struct sweep *sweep)
{
  RD_FREE char *key = RD_STEAL (sweep->next_key);
  RD_FREE char *id = RD_STEAL (sweep->next_id);
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  const char *where = sweep->s3->base.uri;
  char *query = NULL;
  if (key && sweep->page.is_encoded && !rd_percent_decode (key, true))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the list of uploads has no key "
                    "to go on from", where);
  RD_TRY (make_query (sweep, key, id, &query));
  RD_TRY (rd_s3_page_read (sweep->s3, query, &list_site, &sweep->page,
                           &text));
  RD_TRY (rd_s3_xml_read (&text, where, take_item, sweep));
  if (sweep->page.is_truncated && is_same (key, sweep->next_key)
      && is_same (id, sweep->next_id))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: the list of uploads does not "
                    "come to an end", where);
  return RADIO_OK;
}

static void
free_sweep (struct sweep *sweep)
{
  rd_free (sweep->below);
  rd_free (sweep->next_key);
  rd_free (sweep->next_id);
  rd_free (sweep->key);
  rd_free (sweep->id);
}

/* Not every endpoint lists uploads; those that do not have none to list. */
static enum radio_status
sweep_uploads (struct sweep *sweep)
{
  enum radio_status status;
  do
    status = read_page (sweep);
  while (status == RADIO_OK && sweep->page.is_truncated);
  return status == RADIO_ERROR_UNSUPPORTED ? RADIO_OK : status;
}

/* They are young while who put them lives. */
static enum radio_status
sweep_probe (const struct rd_io_entry *entry, void *user_data)
{
  struct sweep *sweep = user_data;
  struct rd_io *io = &sweep->s3->base;
  if (entry->age_s < io->grace_s)
    return RADIO_OK;
  sweep->swept->n_files++;
  sweep->swept->nbytes += entry->nbytes;
  if (sweep->dry_run)
    return RADIO_OK;
  RD_FREE char *key = RD_S3_JOIN (RD_S3_PROBE_NAME, entry->name);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = io->ops->remove (io, key);
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

enum radio_status
rd_s3_sweep (struct rd_io *io, const char *prefix, bool dry_run,
             struct rd_io_swept *swept)
{
  struct rd_s3 *s3 = (struct rd_s3 *) io;
  RD_CLEANUP (free_sweep) struct sweep sweep = {
    .s3 = s3, .dry_run = dry_run, .swept = swept, .begun_s = -1,
    .page = { .root = ROOT, .what = "list of uploads" },
  };
  *swept = (struct rd_io_swept) { 0 };
  RD_TRY (rd_prefix_check (io, prefix));
  RD_FREE char *folder = rd_s3_place_key (&s3->place, prefix);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  sweep.below = RD_S3_JOIN (folder, *folder ? "/" : "");
  if (sweep.below == NULL)
    return RADIO_ERROR_MEMORY;
  if (*prefix == '\0')
    RD_TRY (rd_s3_list_probes (s3, sweep_probe, &sweep));
  return sweep_uploads (&sweep);
}
