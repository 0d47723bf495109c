/* SPDX-License-Identifier: MIT */
/* Removing objects, singly and by the thousand. */
#include <config.h>

#include <openssl/evp.h>
#include <string.h>

#include "src/base/base64.h"
#include "io/entries.h"
#include "io/s3/list.h"
#include "io/s3/write.h"
#include "io/s3/xml.h"

/* What DeleteObjects takes at one time. */
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

/* S3 does not tell whether there was one. */
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

/* Keys of a tree that are removed together. */
struct batch {
  struct rd_s3 *s3;
  const char *prefix;
  struct rd_entries keys;
  struct rd_buffer document;
  bool was_done, has_error;   /* as the answer has it */
};

static enum radio_status
take_result (const char *path, const char *text, void *user_data)
{
  struct batch *batch = user_data;
  if (strcmp (path, "DeleteResult/Error/Code") == 0)
    batch->has_error |= strcmp (text, "NoSuchKey") != 0;
  else if (strcmp (path, "DeleteResult") == 0)
    batch->was_done = true;
  return RADIO_OK;
}

/* DeleteObjects wants a digest of what it is told in any case. */
static enum radio_status
add_md5 (struct rd_s3_call *call, const struct rd_buffer *document,
         struct rd_buffer *text)
{
  unsigned char md5[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  if (EVP_Digest (document->data, document->nbytes, md5, &n, EVP_md5 (),
                  NULL) != 1)
    return rd_fail_memory (document->nbytes);
  RD_TRY (rd_base64_encode (md5, n, text));
  RD_TRY (rd_buffer_append (text, "", 1));
  rd_s3_call_header (call, "content-md5", (const char *) text->data);
  return RADIO_OK;
}

static enum radio_status
ask (struct batch *batch, struct rd_buffer *result)
{
  const struct rd_part part = {
    batch->document.data, batch->document.nbytes
  };
  RD_BUFFER_SCOPE struct rd_buffer md5 = { 0 };
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  char *query = RD_S3_JOIN ("delete=");
  if (query == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_call_init (&call, batch->s3, RD_HTTP_POST, NULL, query));
  RD_TRY (rd_s3_call_body (&call, &part, 1));
  RD_TRY (add_md5 (&call, &batch->document, &md5));
  call.read.task.into = result;
  call.read.task.max_nbytes = MAX_RESULT_NBYTES;
  return rd_s3_call_run (&call, &remove_site);
}

static enum radio_status
append (struct rd_buffer *document, const char *text)
{
  return rd_buffer_append (document, text, strlen (text));
}

static enum radio_status
write_batch (struct batch *batch)
{
  struct rd_buffer *document = &batch->document;
  document->nbytes = 0;
  RD_TRY (append (document, "<Delete><Quiet>true</Quiet>"));
  for (size_t i = 0; i < batch->keys.n; i++) {
    RD_FREE char *key = rd_s3_place_key (&batch->s3->place,
                                         batch->keys.items[i].name);
    if (key == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (append (document, "<Object><Key>"));
    RD_TRY (rd_s3_xml_append (document, key));
    RD_TRY (append (document, "</Key></Object>"));
  }
  return append (document, "</Delete>");
}

/* RADIO_ERROR_UNSUPPORTED: another way is to be taken. */
static enum radio_status
remove_together (struct batch *batch)
{
  RD_BUFFER_SCOPE struct rd_buffer result = { 0 };
  enum radio_status status = write_batch (batch);
  if (status == RADIO_ERROR_ARGUMENT)
    return RADIO_ERROR_UNSUPPORTED;   /* a key that XML cannot hold */
  RD_TRY (status);
  RD_TRY (ask (batch, &result));
  batch->was_done = batch->has_error = false;
  RD_TRY (rd_s3_xml_read (&result, batch->s3->base.uri, take_result, batch));
  return batch->was_done && !batch->has_error ? RADIO_OK
                                              : RADIO_ERROR_UNSUPPORTED;
}

/* Also where that tells what is wrong with which of them. */
static enum radio_status
remove_singly (struct batch *batch)
{
  for (size_t i = 0; i < batch->keys.n; i++)
    RD_TRY (remove_one (batch->s3, batch->keys.items[i].name));
  return RADIO_OK;
}

static enum radio_status
remove_batch (struct batch *batch)
{
  enum radio_status status = RADIO_ERROR_UNSUPPORTED;
  if (batch->keys.n > 1)
    status = remove_together (batch);
  if (status == RADIO_ERROR_UNSUPPORTED || status == RADIO_ERROR_FORMAT)
    status = remove_singly (batch);
  rd_entries_free (&batch->keys);
  return status;
}

static enum radio_status
add_key (const struct rd_io_entry *entry, void *user_data)
{
  struct batch *batch = user_data;
  RD_FREE char *key = rd_key_join (batch->prefix, entry->name);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_entries_add (&batch->keys, key, strlen (key), false, 0));
  return batch->keys.n == MAX_BATCH ? remove_batch (batch) : RADIO_OK;
}

static void
free_batch (struct batch *batch)
{
  rd_entries_free (&batch->keys);
  rd_buffer_free (&batch->document);
}

enum radio_status
rd_s3_remove_tree (struct rd_io *io, const char *prefix)
{
  RD_CLEANUP (free_batch) struct batch batch = {
    .s3 = (struct rd_s3 *) io, .prefix = prefix,
  };
  RD_TRY (rd_s3_list (io, prefix, true, add_key, &batch));
  return remove_batch (&batch);
}
