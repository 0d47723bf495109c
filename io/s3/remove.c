/* SPDX-License-Identifier: MIT */
/* Removing objects, and the multipart uploads that dead writers left. */
#include <config.h>

#include <openssl/evp.h>
#include <string.h>

#include "src/base/base64.h"
#include "src/base/checked.h"
#include "src/base/digest.h"
#include "io/percent.h"
#include "io/s3/store.h"
#include "io/s3/xml.h"

/* The limit of DeleteObjects. */
#define MAX_BATCH 1000
#define MAX_RESULT_NBYTES (4 << 20)

RD_S3_SITE (remove_site, "remove");

static enum radio_status
remove_one (struct rd_s3 *s3, const char *key)
{
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_DELETE, key, NULL));
  return rd_s3_call_run (&call, &remove_site);
}

/* Queries the size first, since S3 does not report missing objects. */
enum radio_status
rd_s3_remove (struct rd_io *io, const char *key)
{
  uint64_t nbytes;
  RD_TRY (io->ops->size (io, key, &nbytes));
  return remove_one ((struct rd_s3 *) io, key);
}

/*------------------------------------------------------------------------
 * Batches
 *----------------------------------------------------------------------*/

/* Keys that are removed together. */
struct batch {
  struct rd_s3 *s3;
  char *const *keys;
  size_t n;
  bool was_done, has_error;   /* by the response */
};

static enum radio_status
read_result_element (const char *path, const char *text, void *user_data)
{
  struct batch *batch = user_data;
  if (strcmp (path, "DeleteResult/Error/Code") == 0)
    batch->has_error |= strcmp (text, "NoSuchKey") != 0;
  else if (strcmp (path, "DeleteResult") == 0)
    batch->was_done = true;
  return RADIO_OK;
}

/* Sends DeleteObjects, which requires a Content-MD5.
 * RADIO_ERROR_UNSUPPORTED: the caller removes them one by one. */
static enum radio_status
remove_together (struct batch *batch)
{
  struct rd_s3 *s3 = batch->s3;
  RD_BUFFER_SCOPE struct rd_buffer document = { 0 }, result = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer sum = { 0 };
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  unsigned char md5[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  RD_TRY (rd_s3_append (&document, "<Delete><Quiet>true</Quiet>"));
  for (size_t i = 0; i < batch->n; i++) {
    RD_FREE char *key = rd_s3_place_key (&s3->place, batch->keys[i]);
    if (key == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (rd_s3_append (&document, "<Object><Key>"));
    enum radio_status appended = rd_s3_xml_append (&document, key);
    /* XML cannot represent it. */
    if (appended == RADIO_ERROR_ARGUMENT)
      return RADIO_ERROR_UNSUPPORTED;
    RD_TRY (appended);
    RD_TRY (rd_s3_append (&document, "</Key></Object>"));
  }
  RD_TRY (rd_s3_append (&document, "</Delete>"));

  const struct rd_part part = { document.data, document.nbytes };
  char *query = RD_S3_JOIN ("delete=");
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_POST, NULL, query));
  RD_TRY (rd_s3_call_body (&call, &part, 1));
  if (!rd_digest_md5 ()
      || EVP_Digest (document.data, document.nbytes, md5, &n,
                     rd_digest_md5 (), NULL) != 1)
    return rd_fail_memory (document.nbytes);
  RD_TRY (rd_base64_encode (md5, n, &sum));
  RD_TRY (rd_buffer_append (&sum, "", 1));
  rd_s3_call_header (&call, "content-md5", (const char *) sum.data);
  call.read.task.into = &result;
  call.read.task.max_nbytes = MAX_RESULT_NBYTES;
  enum radio_status status = rd_s3_call_run (&call, &remove_site);
  if (status == RADIO_ERROR_UNSUPPORTED) {
    RD_LOCK_SCOPE (&s3->mutex);
    s3->synced.removes_many = RD_S3_UNSUPPORTED;
  }
  RD_TRY (status);

  batch->was_done = batch->has_error = false;
  RD_TRY (rd_s3_xml_read (&result, s3->base.uri, read_result_element,
                          batch));
  return batch->was_done && !batch->has_error ? RADIO_OK
                                              : RADIO_ERROR_UNSUPPORTED;
}

/* Keys are removed one by one also to find out which of them failed. */
static enum radio_status
remove_batch (struct batch *batch)
{
  enum radio_status status = RADIO_ERROR_UNSUPPORTED;
  struct rd_s3 *s3 = batch->s3;
  pthread_mutex_lock (&s3->mutex);
  bool is_possible = s3->synced.removes_many != RD_S3_UNSUPPORTED;
  pthread_mutex_unlock (&s3->mutex);
  if (batch->n > 1 && is_possible)
    status = remove_together (batch);
  if (status == RADIO_ERROR_UNSUPPORTED || status == RADIO_ERROR_FORMAT) {
    status = RADIO_OK;
    for (size_t i = 0; status == RADIO_OK && i < batch->n; i++)
      status = remove_one (batch->s3, batch->keys[i]);
  }
  return status;
}

enum radio_status
rd_s3_remove_many (struct rd_io *io, char *const *keys, size_t n)
{
  for (size_t i = 0; i < n; i++)
    RD_TRY (rd_key_check (io, keys[i]));
  for (size_t i = 0; i < n; i += MAX_BATCH) {
    struct batch batch = {
      .s3 = (struct rd_s3 *) io, .keys = keys + i,
      .n = rd_min_u64 (n - i, MAX_BATCH),
    };
    RD_TRY (remove_batch (&batch));
  }
  return RADIO_OK;
}

/* Keys of a tree, until they are a batch. */
struct tree {
  struct rd_io *io;
  const char *prefix;
  char *keys[MAX_BATCH];
  size_t n;
};

static void
free_tree (struct tree **tree)
{
  for (size_t i = 0; *tree && i < (*tree)->n; i++)
    rd_free ((*tree)->keys[i]);
  rd_free (*tree);
}

static enum radio_status
remove_keys (struct tree *tree)
{
  enum radio_status status = rd_s3_remove_many (tree->io, tree->keys,
                                                tree->n);
  for (; tree->n > 0; tree->n--)
    rd_free (tree->keys[tree->n - 1]);
  return status;
}

static enum radio_status
add_key (const struct rd_io_entry *entry, void *user_data)
{
  struct tree *tree = user_data;
  char *key = rd_key_join (tree->prefix, entry->name);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  tree->keys[tree->n++] = key;
  return tree->n == MAX_BATCH ? remove_keys (tree) : RADIO_OK;
}

enum radio_status
rd_s3_remove_tree (struct rd_io *io, const char *prefix)
{
  RD_CLEANUP (free_tree) struct tree *tree = rd_calloc (1, sizeof *tree);
  if (tree == NULL)
    return rd_fail_memory (sizeof *tree);
  tree->io = io;
  tree->prefix = prefix;
  RD_TRY (rd_s3_list (io, prefix, true, add_key, tree));
  return remove_keys (tree);
}

/*------------------------------------------------------------------------
 * Sweeping: uploads that dead writers neither completed nor aborted, whose
 * parts are billed to the bucket's owner, and probes.  Only writers of this
 * store's handle are known to live: uploads that are younger than a grace
 * time are left alone.  MinIO lists uploads of a whole key only, and none by a
 * prefix; it ends those that are older than a day itself.
 *----------------------------------------------------------------------*/

#define ROOT "ListMultipartUploadsResult"

/* A thousand parts, with their checksums. */
#define MAX_PARTS_NBYTES (UINT32_C (2) << 20)

RD_S3_SITE (uploads_site, "list uploads");
RD_S3_SITE (parts_site, "list parts");

struct sweep {
  struct rd_s3 *s3;
  bool dry_run;
  struct rd_io_swept *swept;
  char *below;                /* "store/prefix/" */

  /* The current page, and the current upload in it. */
  struct rd_s3_page page;
  char *next_key, *next_id;
  char *key, *id;
  int64_t begun_s;
};

static enum radio_status
add_part (const char *path, const char *text, void *user_data)
{
  uint64_t *sum = user_data, nbytes;
  if (strcmp (path, "ListPartsResult/Part/Size") == 0
      && rd_s3_xml_number (text, &nbytes))
    *sum = rd_add_sat (*sum, nbytes);
  return RADIO_OK;
}

/* Sums the sizes of an upload's parts, by one request: for a thousand at
 * most, which is far more than a shard has. */
static enum radio_status
sum_parts (const struct sweep *sweep, const char *key, uint64_t *nbytes)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (rd_s3_query_add (&text, "uploadId", sweep->id));
  char *query = rd_s3_query_copy (&text);
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_call_init (&call, sweep->s3, RD_HTTP_GET, key, query));
  text.nbytes = 0;
  call.read.task.into = &text;
  call.read.task.max_nbytes = MAX_PARTS_NBYTES;
  RD_TRY (rd_s3_call_run (&call, &parts_site));
  return rd_s3_xml_read (&text, sweep->s3->base.uri, add_part, nbytes);
}

/* NOT_FOUND: it is outside of the store's prefix, or has ended. */
static enum radio_status
end_upload (const struct sweep *sweep)
{
  const char *key = NULL;
  uint64_t nbytes = 0;
  if (strncmp (sweep->key, sweep->below, strlen (sweep->below)) == 0)
    key = rd_key_below (sweep->key, sweep->s3->place.prefix);
  if (!key || rd_key_check (&sweep->s3->base, key) != RADIO_OK)
    return RADIO_ERROR_NOT_FOUND;
  enum radio_status status = sum_parts (sweep, key, &nbytes);
  switch (status) {
  case RADIO_ERROR_PERMISSION:
  case RADIO_ERROR_UNSUPPORTED:
  case RADIO_ERROR_ARGUMENT:
  case RADIO_ERROR_FORMAT:
  case RADIO_ERROR_LIMIT:
  case RADIO_ERROR_IO:
    /* Its size is only for the report. */
    status = RADIO_OK;
    break;
  default:
    break;
  }
  if (!sweep->dry_run
      && (status == RADIO_OK || status == RADIO_ERROR_NOT_FOUND))
    status = rd_s3_upload_abort (sweep->s3, key, sweep->id);
  if (status == RADIO_OK)
    sweep->swept->nbytes = rd_add_sat (sweep->swept->nbytes, nbytes);
  return status;
}

static enum radio_status
sweep_upload (struct sweep *sweep)
{
  struct rd_s3 *s3 = sweep->s3;
  int64_t age_s = sweep->page.now_s - sweep->begun_s;
  if (!sweep->key || !sweep->id || sweep->begun_s < 0 || age_s < 0
      || (uint64_t) age_s < s3->base.grace_s)
    return RADIO_OK;
  {
    RD_LOCK_SCOPE (&s3->mutex);
    for (const struct rd_s3_upload *upload = s3->synced.uploads; upload;
         upload = upload->next)
      if (strcmp (upload->id, sweep->id) == 0)
        return RADIO_OK;
  }
  /* Ceph encodes keys here without saying so.  An upload's id belongs to one
   * key, so that ending it under both is harmless. */
  enum radio_status status = RADIO_ERROR_NOT_FOUND;
  bool may_be_encoded = sweep->page.is_encoded || strpbrk (sweep->key, "%+");
  if (!sweep->page.is_encoded)
    status = end_upload (sweep);
  if (status == RADIO_ERROR_NOT_FOUND && may_be_encoded
      && rd_percent_decode (sweep->key, true))
    status = end_upload (sweep);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  sweep->swept->n_files += status == RADIO_OK;
  return status;
}

static enum radio_status
read_upload_element (const char *path, const char *text, void *user_data)
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
  if (strcmp (path, ROOT "/Upload/Initiated") == 0) {
    sweep->begun_s = rd_s3_xml_time (text);
  } else if (strcmp (path, ROOT "/Upload") == 0) {
    enum radio_status status = sweep_upload (sweep);
    rd_free (RD_STEAL (sweep->key));
    rd_free (RD_STEAL (sweep->id));
    sweep->begun_s = -1;
    return status;
  }
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

/* Probes are young while their writer lives. */
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
  return rd_io_remove (io, key);
}

enum radio_status
rd_s3_sweep (struct rd_io *io, const char *prefix, bool dry_run,
             struct rd_io_swept *swept)
{
  struct rd_s3 *s3 = (struct rd_s3 *) io;
  RD_CLEANUP (free_sweep) struct sweep sweep = {
    .s3 = s3, .dry_run = dry_run, .swept = swept, .begun_s = -1,
    .page = { .root = ROOT, .operation = "ListMultipartUploads" },
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
  do {
    RD_FREE char *key = RD_STEAL (sweep.next_key);
    RD_FREE char *id = RD_STEAL (sweep.next_id);
    RD_BUFFER_SCOPE struct rd_buffer query = { 0 }, text = { 0 };
    if (key && sweep.page.is_encoded && !rd_percent_decode (key, true))
      return rd_fail (RADIO_ERROR_FORMAT, "%s: invalid ListMultipartUploads "
                      "response: invalid NextKeyMarker", io->uri);
    RD_TRY (rd_s3_query_add (&query, "encoding-type", "url"));
    if (*sweep.below)
      RD_TRY (rd_s3_query_add (&query, "prefix", sweep.below));
    if (key)
      RD_TRY (rd_s3_query_add (&query, "key-marker", key));
    if (id)
      RD_TRY (rd_s3_query_add (&query, "upload-id-marker", id));
    RD_TRY (rd_s3_query_add (&query, "uploads", ""));
    enum radio_status status = rd_s3_page_read (s3, &query, &uploads_site,
                                                &sweep.page, &text);
    if (status == RADIO_OK)
      status = rd_s3_xml_read (&text, io->uri, read_upload_element, &sweep);
    /* Endpoints that cannot list uploads have none; gofakes3 answers
     * NoSuchUpload where it has none. */
    if (status == RADIO_ERROR_UNSUPPORTED || status == RADIO_ERROR_NOT_FOUND)
      return RADIO_OK;
    RD_TRY (status);
    if (sweep.page.is_truncated
        && rd_s3_is_same_text (key, sweep.next_key)
        && rd_s3_is_same_text (id, sweep.next_id))
      return rd_fail (RADIO_ERROR_FORMAT, "%s: invalid ListMultipartUploads "
                      "response: it does not end", io->uri);
  } while (sweep.page.is_truncated);
  return RADIO_OK;
}
