/* SPDX-License-Identifier: MIT */
/* ListObjectsV2, page by page.  Keys are to come percent-encoded, since XML
 * cannot hold all of them; not every server does so, and one that does says
 * it, maybe behind them: so a page is read twice.  Keys must come in byte
 * order, so that none comes twice and the pages come to an end. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "io/entries.h"
#include "io/key.h"
#include "io/percent.h"
#include "io/s3/list.h"
#include "io/s3/page.h"
#include "io/s3/xml.h"

struct listing {
  struct rd_s3 *s3;
  bool recursive, is_root;
  char *below;                /* "store/prefix/", what keys begin with */
  char *last;                 /* the last key of a recursive listing */
  struct rd_entries entries;  /* of this page, or without recursion all */
  uint64_t gathered_nbytes;   /* that they take */

  /* Of the page that is read. */
  struct rd_s3_page page;
  char *token;                /* of the next page */
  char *key;                  /* of the item that is read */
  bool has_nbytes;
  uint64_t nbytes;
  int64_t written_s;          /* -1: not told */
};

/*------------------------------------------------------------------------
 * Queries
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_query_add (struct rd_buffer *query, const char *name, const char *value)
{
  RD_FREE char *encoded = rd_percent_encode (value, strlen (value), false);
  if (encoded == NULL)
    return RADIO_ERROR_MEMORY;
  if (query->nbytes > 0)
    RD_TRY (rd_buffer_append (query, "&", 1));
  RD_TRY (rd_buffer_append (query, name, strlen (name)));
  RD_TRY (rd_buffer_append (query, "=", 1));
  return rd_buffer_append (query, encoded, strlen (encoded));
}

char *
rd_s3_query_take (struct rd_buffer *query)
{
  char *text = rd_strndup ((const char *) query->data, query->nbytes);
  if (text == NULL)
    rd_fail_memory (query->nbytes + 1);
  return text;
}

/*------------------------------------------------------------------------
 * Items
 *----------------------------------------------------------------------*/

static enum radio_status
fail_listing (const struct listing *listing, const char *what)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: the listing %s",
                  listing->s3->base.uri, what);
}

/* Folders' marks, and names that no key of a store can have, are not its. */
static bool
is_listed (const struct listing *listing, const char *name)
{
  bool is_probe = listing->is_root
    && strncmp (name, RD_S3_PROBE_NAME, strlen (RD_S3_PROBE_NAME)) == 0;
  return !is_probe && rd_key_check (&listing->s3->base, name) == RADIO_OK;
}

static enum radio_status
check_order (struct listing *listing, const char *key)
{
  if (!listing->recursive)
    return RADIO_OK;
  if (listing->last && strcmp (listing->last, key) >= 0)
    return fail_listing (listing, "is not in order");
  rd_free (listing->last);
  listing->last = rd_strdup (key);
  return listing->last ? RADIO_OK : rd_fail_memory (strlen (key) + 1);
}

/* What does not tell it, or tells the future, is young. */
static uint64_t
age_s (const struct listing *listing)
{
  bool is_past = listing->written_s >= 0
                 && listing->written_s < listing->page.now_s;
  return is_past ? (uint64_t) (listing->page.now_s - listing->written_s) : 0;
}

static enum radio_status
gather (struct listing *listing, const char *name, size_t n, bool is_prefix)
{
  listing->gathered_nbytes += n + 1 + sizeof (struct rd_io_entry);
  if (listing->gathered_nbytes > listing->s3->max_listed_nbytes)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: the names in a folder take more "
                    "than %" PRIu64 " bytes", listing->s3->base.uri,
                    listing->s3->max_listed_nbytes);
  return rd_entries_add (&listing->entries, name, n, is_prefix,
                         is_prefix ? 0 : listing->nbytes);
}

static enum radio_status
add_item (struct listing *listing, bool is_prefix)
{
  RD_FREE char *key = RD_STEAL (listing->key);
  size_t below_nbytes = strlen (listing->below);
  if (key == NULL
      || (listing->page.is_encoded && !rd_percent_decode (key, true)))
    return fail_listing (listing, "has an item without a key");
  if (strncmp (key, listing->below, below_nbytes) != 0)
    return fail_listing (listing, "has what was not asked for");
  char *name = key + below_nbytes;
  size_t n = strlen (name);
  if (is_prefix && n > 0 && name[n - 1] == '/')
    name[--n] = '\0';
  RD_TRY (check_order (listing, key));
  if (!is_listed (listing, name))
    return RADIO_OK;
  if (!is_prefix && !listing->has_nbytes)
    return fail_listing (listing, "has an object without a size");
  RD_TRY (gather (listing, name, n, is_prefix));
  if (!is_prefix)
    listing->entries.items[listing->entries.n - 1].age_s = age_s (listing);
  return RADIO_OK;
}

static enum radio_status
end_item (struct listing *listing)
{
  enum radio_status status = add_item (listing, false);
  listing->has_nbytes = false;
  listing->written_s = -1;
  return status;
}

#define ROOT "ListBucketResult"

static enum radio_status
take_item (const char *path, const char *text, void *user_data)
{
  struct listing *listing = user_data;
  if (strcmp (path, ROOT "/Contents/Key") == 0
      || strcmp (path, ROOT "/CommonPrefixes/Prefix") == 0)
    return rd_s3_xml_keep (text, &listing->key);
  if (strcmp (path, ROOT "/NextContinuationToken") == 0)
    return rd_s3_xml_keep (text, &listing->token);
  if (strcmp (path, ROOT "/Contents/Size") == 0)
    listing->has_nbytes = rd_s3_xml_number (text, &listing->nbytes);
  else if (strcmp (path, ROOT "/Contents/LastModified") == 0)
    listing->written_s = rd_s3_xml_time (text);
  else if (strcmp (path, ROOT "/Contents") == 0)
    return end_item (listing);
  else if (strcmp (path, ROOT "/CommonPrefixes") == 0)
    return add_item (listing, true);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Pages
 *----------------------------------------------------------------------*/

RD_S3_SITE (list_site, "list");

static enum radio_status
make_query (const struct listing *listing, const char *token, char **query)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  RD_TRY (rd_s3_query_add (&text, "list-type", "2"));
  RD_TRY (rd_s3_query_add (&text, "encoding-type", "url"));
  if (*listing->below)
    RD_TRY (rd_s3_query_add (&text, "prefix", listing->below));
  if (!listing->recursive)
    RD_TRY (rd_s3_query_add (&text, "delimiter", "/"));
  if (token)
    RD_TRY (rd_s3_query_add (&text, "continuation-token", token));
  *query = rd_s3_query_take (&text);
  return *query ? RADIO_OK : RADIO_ERROR_MEMORY;
}

static enum radio_status
read_page (struct listing *listing)
{
  RD_FREE char *token = RD_STEAL (listing->token);
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  char *query = NULL;
  RD_TRY (make_query (listing, token, &query));
  RD_TRY (rd_s3_page_read (listing->s3, query, &list_site, &listing->page,
                           &text));
  listing->written_s = -1;
  RD_TRY (rd_s3_xml_read (&text, listing->s3->base.uri, take_item, listing));
  if (!listing->page.is_truncated)
    return RADIO_OK;
  if (!listing->token || (token && strcmp (token, listing->token) == 0))
    return fail_listing (listing, "does not come to an end");
  return RADIO_OK;
}

static enum radio_status
tell (struct listing *listing, rd_io_list_fn *fn, void *user_data)
{
  enum radio_status status = rd_entries_tell (&listing->entries, fn,
                                              user_data);
  rd_entries_free (&listing->entries);
  listing->gathered_nbytes = 0;
  return status;
}

/* Objects come in the order in which they are told; folders do not, since
 * "a.txt" stands before "a/". */
static enum radio_status
read_pages (struct listing *listing, rd_io_list_fn *fn, void *user_data)
{
  do {
    RD_TRY (read_page (listing));
    if (listing->recursive)
      RD_TRY (tell (listing, fn, user_data));
  } while (listing->page.is_truncated);
  return listing->recursive ? RADIO_OK : tell (listing, fn, user_data);
}

static void
free_listing (struct listing *listing)
{
  rd_free (listing->below);
  rd_free (listing->last);
  rd_free (listing->token);
  rd_free (listing->key);
  rd_entries_free (&listing->entries);
}

/* What is below a folder and begins with a text. */
static enum radio_status
list_below (struct listing *listing, const char *prefix, const char *begin,
            rd_io_list_fn *fn, void *user_data)
{
  RD_FREE char *folder = rd_s3_place_key (&listing->s3->place, prefix);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  listing->below = RD_S3_JOIN (folder, *folder ? "/" : "", begin);
  if (listing->below == NULL)
    return RADIO_ERROR_MEMORY;
  return read_pages (listing, fn, user_data);
}

enum radio_status
rd_s3_list (struct rd_io *io, const char *prefix, bool recursive,
            rd_io_list_fn *fn, void *user_data)
{
  RD_CLEANUP (free_listing) struct listing listing = {
    .s3 = (struct rd_s3 *) io, .recursive = recursive,
    .is_root = *prefix == '\0', .page = { .root = ROOT, .what = "listing" },
  };
  RD_TRY (rd_prefix_check (io, prefix));
  return list_below (&listing, prefix, "", fn, user_data);
}

enum radio_status
rd_s3_list_probes (struct rd_s3 *s3, rd_io_list_fn *fn, void *user_data)
{
  RD_CLEANUP (free_listing) struct listing listing = {
    .s3 = s3, .recursive = true, .page = { .root = ROOT, .what = "listing" },
  };
  return list_below (&listing, "", RD_S3_PROBE_NAME, fn, user_data);
}
