/* SPDX-License-Identifier: MIT */
/* ListObjectsV2, page by page.  Keys are requested percent-encoded, since XML
 * cannot hold all of them; not every server does so, and one that does may
 * state it after them: so a page is read twice.  Keys must come in byte
 * order, so that none comes twice and the pages come to an end. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "io/percent.h"
#include "io/s3/store.h"
#include "io/s3/xml.h"

struct listing {
  struct rd_s3 *s3;
  bool recursive, is_root;
  const char *after;          /* names that are left out end here; NULL: none */
  char *below;                /* "store/prefix/", which keys begin with */
  struct rd_entries entries;  /* of this page, or without recursion all */
  uint64_t collected_nbytes;  /* that they take */

  /* In the pages before the current one. */
  char *last_before;          /* the last key of a recursive listing */
  char *token_before;
  size_t nentries_before;
  uint64_t nbytes_before;     /* that they take */

  /* The current page. */
  struct rd_s3_page page;
  char *last;                 /* its last key, of a recursive listing */
  char *token;                /* of the next page */
  char *key;                  /* of the current item */
  bool has_nbytes;
  uint64_t nbytes;
  int64_t written_s;          /* -1: not given */
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
rd_s3_query_copy (const struct rd_buffer *query)
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
fail_listing (const struct listing *listing, const char *why)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: invalid ListObjects response: %s",
                  listing->s3->base.uri, why);
}

static enum radio_status
add_item (struct listing *listing, bool is_prefix)
{
  const char *uri = listing->s3->base.uri;
  RD_FREE char *key = RD_STEAL (listing->key);
  size_t below_nbytes = strlen (listing->below);
  if (key == NULL
      || (listing->page.is_encoded && !rd_percent_decode (key, true)))
    return fail_listing (listing, "an item has no key");
  if (strncmp (key, listing->below, below_nbytes) != 0)
    return fail_listing (listing, "a key outside of the prefix");
  char *name = key + below_nbytes;
  size_t n = strlen (name);
  if (is_prefix && n > 0 && name[n - 1] == '/')
    name[--n] = '\0';
  if (listing->recursive) {
    const char *before = listing->last ? listing->last
                                       : listing->last_before;
    if (before && strcmp (before, key) >= 0)
      return fail_listing (listing, "not in order");
    rd_free (listing->last);
    listing->last = rd_strdup (key);
    if (listing->last == NULL)
      return rd_fail_memory (strlen (key) + 1);
  }
  /* Probes, markers of folders, and invalid keys are omitted. */
  if ((listing->is_root
       && strncmp (name, RD_S3_PROBE_NAME, strlen (RD_S3_PROBE_NAME)) == 0)
      || rd_key_check (&listing->s3->base, name) != RADIO_OK)
    return RADIO_OK;
  if (!is_prefix && !listing->has_nbytes)
    return fail_listing (listing, "an object has no size");
  listing->collected_nbytes += n + 1 + sizeof (struct rd_io_entry);
  if (listing->collected_nbytes > listing->s3->max_listed_nbytes)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: the names in a folder take more "
                    "than %" PRIu64 " bytes", uri,
                    listing->s3->max_listed_nbytes);
  RD_TRY (rd_entries_add (&listing->entries, name, n, is_prefix,
                          is_prefix ? 0 : listing->nbytes));
  /* Without a time, or with one in the future, it counts as young. */
  int64_t now_s = listing->page.now_s;
  if (!is_prefix && listing->written_s >= 0 && listing->written_s < now_s)
    listing->entries.items[listing->entries.n - 1].age_s
      = (uint64_t) (now_s - listing->written_s);
  return RADIO_OK;
}

#define ROOT "ListBucketResult"

static enum radio_status
read_item_element (const char *path, const char *text, void *user_data)
{
  struct listing *listing = user_data;
  if (strcmp (path, ROOT "/Contents/Key") == 0
      || strcmp (path, ROOT "/CommonPrefixes/Prefix") == 0)
    return rd_s3_xml_keep (text, &listing->key);
  if (strcmp (path, ROOT "/NextContinuationToken") == 0)
    return rd_s3_xml_keep (text, &listing->token);
  if (strcmp (path, ROOT "/Contents/Size") == 0) {
    listing->has_nbytes = rd_s3_xml_number (text, &listing->nbytes);
  } else if (strcmp (path, ROOT "/Contents/LastModified") == 0) {
    listing->written_s = rd_s3_xml_time (text);
  } else if (strcmp (path, ROOT "/CommonPrefixes") == 0) {
    return add_item (listing, true);
  } else if (strcmp (path, ROOT "/Contents") == 0) {
    enum radio_status status = add_item (listing, false);
    listing->has_nbytes = false;
    listing->written_s = -1;
    return status;
  }
  return RADIO_OK;
}

/* Reads the page's items, maybe after a response that was wrong. */
static enum radio_status
read_items (struct rd_s3_page *page, const struct rd_buffer *text)
{
  struct listing *listing = page->user_data;
  rd_free (RD_STEAL (listing->key));
  rd_free (RD_STEAL (listing->last));
  rd_free (RD_STEAL (listing->token));
  rd_entries_cut (&listing->entries, listing->nentries_before);
  listing->collected_nbytes = listing->nbytes_before;
  listing->has_nbytes = false;
  listing->written_s = -1;
  RD_TRY (rd_s3_xml_read (text, listing->s3->base.uri, read_item_element,
                          listing));
  if (page->is_truncated
      && (!listing->token
          || rd_s3_is_same_text (listing->token_before, listing->token)))
    return fail_listing (listing, "it does not end");
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Pages
 *----------------------------------------------------------------------*/

RD_S3_SITE (list_site, "list");

static enum radio_status
report (struct listing *listing, rd_io_list_fn *fn, void *user_data)
{
  enum radio_status status = rd_entries_report (&listing->entries, fn,
                                                user_data);
  rd_entries_cut (&listing->entries, 0);
  listing->collected_nbytes = 0;
  return status;
}

static void
free_listing (struct listing *listing)
{
  rd_free (listing->below);
  rd_free (listing->last_before);
  rd_free (listing->token_before);
  rd_free (listing->last);
  rd_free (listing->token);
  rd_free (listing->key);
  rd_entries_free (&listing->entries);
}

static void
end_page (struct listing *listing)
{
  if (listing->last) {
    rd_free (listing->last_before);
    listing->last_before = RD_STEAL (listing->last);
  }
  rd_free (listing->token_before);
  listing->token_before = RD_STEAL (listing->token);
  listing->nentries_before = listing->entries.n;
  listing->nbytes_before = listing->collected_nbytes;
}

/* Lists the keys below a folder that begin with a text.  Objects come in the
 * order in which they are reported; folders do not, since "a.txt" comes before
 * "a/". */
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
  do {
    RD_BUFFER_SCOPE struct rd_buffer query = { 0 }, text = { 0 };
    RD_TRY (rd_s3_query_add (&query, "list-type", "2"));
    RD_TRY (rd_s3_query_add (&query, "encoding-type", "url"));
    if (*listing->below)
      RD_TRY (rd_s3_query_add (&query, "prefix", listing->below));
    if (!listing->recursive)
      RD_TRY (rd_s3_query_add (&query, "delimiter", "/"));
    RD_FREE char *after = listing->after && !listing->token_before
                          ? RD_S3_JOIN (listing->below, listing->after, "")
                          : NULL;
    if (listing->token_before)
      RD_TRY (rd_s3_query_add (&query, "continuation-token",
                               listing->token_before));
    else if (after)
      RD_TRY (rd_s3_query_add (&query, "start-after", after));
    else if (listing->after)
      return RADIO_ERROR_MEMORY;
    RD_TRY (rd_s3_page_read (listing->s3, &query, &list_site,
                             &listing->page, &text));
    if (listing->recursive)
      RD_TRY (report (listing, fn, user_data));
    end_page (listing);
  } while (listing->page.is_truncated);
  return listing->recursive ? RADIO_OK : report (listing, fn, user_data);
}

enum radio_status
rd_s3_list (struct rd_io *io, const char *prefix, bool recursive,
            rd_io_list_fn *fn, void *user_data)
{
  RD_CLEANUP (free_listing) struct listing listing = {
    .s3 = (struct rd_s3 *) io, .recursive = recursive,
    .is_root = *prefix == '\0',
    .page = { .root = ROOT, .operation = "ListObjects",
              .read_items = read_items, .user_data = &listing },
  };
  RD_TRY (rd_prefix_check (io, prefix));
  return list_below (&listing, prefix, "", fn, user_data);
}

enum radio_status
rd_s3_list_after (struct rd_io *io, const char *prefix, const char *after,
                  rd_io_list_fn *fn, void *user_data)
{
  RD_CLEANUP (free_listing) struct listing listing = {
    .s3 = (struct rd_s3 *) io, .recursive = true, .after = after,
    .is_root = *prefix == '\0',
    .page = { .root = ROOT, .operation = "ListObjects",
              .read_items = read_items, .user_data = &listing },
  };
  RD_TRY (rd_prefix_check (io, prefix));
  return list_below (&listing, prefix, "", fn, user_data);
}

enum radio_status
rd_s3_list_probes (struct rd_s3 *s3, rd_io_list_fn *fn, void *user_data)
{
  RD_CLEANUP (free_listing) struct listing listing = {
    .s3 = s3, .recursive = true,
    .page = { .root = ROOT, .operation = "ListObjects",
              .read_items = read_items, .user_data = &listing },
  };
  return list_below (&listing, "", RD_S3_PROBE_NAME, fn, user_data);
}

/*------------------------------------------------------------------------
 * Pages of any listing
 *----------------------------------------------------------------------*/

/* A thousand keys of 1,024 bytes, percent-encoded, with their markup. */
#define MAX_PAGE_NBYTES (UINT32_C (8) << 20)

static enum radio_status
read_page_element (const char *path, const char *text, void *user_data)
{
  struct rd_s3_page *page = user_data;
  size_t n = strlen (page->root);
  if (strncmp (path, page->root, n) != 0)
    return RADIO_OK;
  if (strcmp (path + n, "/IsTruncated") == 0)
    page->is_truncated = strcmp (text, "true") == 0;
  else if (strcmp (path + n, "/EncodingType") == 0)
    page->is_encoded = strcmp (text, "url") == 0;
  else if (path[n] == '\0')
    page->has_root = true;
  return RADIO_OK;
}

struct page_call {
  struct rd_s3_call call;     /* first */
  struct rd_s3_page *page;
};

/* Reads a page while its request may still be repeated: its XML may have
 * changed on the way. */
static enum radio_status
classify_page (struct rd_s3_call *call, enum rd_http_next *next)
{
  struct rd_s3_page *page = ((struct page_call *) call)->page;
  const struct rd_buffer *text = call->read.task.into;
  const char *uri = call->s3->base.uri;
  RD_TRY (rd_s3_classify (call, next));
  page->now_s = rd_s3_response_time (call);
  page->has_root = page->is_truncated = page->is_encoded = false;
  enum radio_status status = rd_s3_xml_read (text, uri, read_page_element,
                                             page);
  if (status == RADIO_OK && !page->has_root)
    status = rd_fail (RADIO_ERROR_FORMAT, "%s: invalid %s response", uri,
                      page->operation);
  if (status == RADIO_OK && page->read_items)
    status = page->read_items (page, text);
  return rd_s3_classify_body (status, next);
}

enum radio_status
rd_s3_page_read (struct rd_s3 *s3, const struct rd_buffer *query,
                 const struct radio_site *site, struct rd_s3_page *page,
                 struct rd_buffer *text)
{
  struct page_call listing = { .page = page };
  char *query_text = rd_s3_query_copy (query);
  if (query_text == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = rd_s3_call_init (&listing.call, s3, RD_HTTP_GET,
                                              NULL, query_text);
  listing.call.read.task.into = text;
  listing.call.read.task.max_nbytes = MAX_PAGE_NBYTES;
  listing.call.classify = classify_page;
  if (status == RADIO_OK)
    status = rd_s3_call_run (&listing.call, site);
  rd_s3_call_free (&listing.call);
  return status;
}
