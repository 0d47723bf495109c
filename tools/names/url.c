/* SPDX-License-Identifier: MIT */
/* URLs of nodes.  All documents are requested through one handle on the bucket
 * or host, so that they share its connections. */
#include <config.h>

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "src/base/text.h"
#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/names.h"

size_t
rd_scheme_nbytes (const char *operand)
{
  static const char *const schemes[] = { "http://", "https://", "s3://" };
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
    if (strncasecmp (operand, schemes[i], strlen (schemes[i])) == 0)
      return strlen (schemes[i]);
  return 0;
}

bool
rd_is_url (const char *operand)
{
  return rd_scheme_nbytes (operand) > 0;
}

size_t
rd_unslashed_nbytes (const char *path)
{
  size_t n = strlen (path);
  while (n > 1 && path[n - 1] == '/')
    n--;
  return n;
}

bool
rd_is_same_file (const char *a, const char *b)
{
  struct stat x, y;
  return strcmp (a, b) == 0
         || (stat (a, &x) == 0 && stat (b, &y) == 0 && x.st_ino == y.st_ino
             && x.st_dev == y.st_dev);
}

bool
rd_is_store_name (const char *path, size_t n)
{
  static const char suffix[] = ".zarr";
  size_t nsuffix = strlen (suffix);
  return n > nsuffix && memcmp (path + n - nsuffix, suffix, nsuffix) == 0
         && path[n - nsuffix - 1] != '/';
}

bool
rd_is_image_url (const char *operand)
{
  static const char *const suffixes[] = { ".nii", ".hdr", ".img" };
  if (!rd_is_url (operand))
    return false;
  size_t n = rd_shown_nbytes (operand);
  bool is_s3 = *operand == 's' || *operand == 'S';
  if (is_s3 && strpbrk (operand, "*?["))
    return false;                     /* a pattern */
  if (n > 3 && strncasecmp (operand + n - 3, ".gz", 3) == 0)
    n -= 3;
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
    if (n > 4 && strncasecmp (operand + n - 4, suffixes[i], 4) == 0
        && operand[n - 5] != '/')
      return true;
  return false;
}

size_t
rd_parent_length (const char *path, size_t n, size_t least)
{
  while (n > least && path[n - 1] != '/')
    n--;
  while (n > least && path[n - 1] == '/')
    n--;
  return n;
}

/* Each is a request, and no store is as deep. */
#define MAX_PARENTS 8

/* URLs that are split, and the handles on their buckets and hosts. */
struct splitting {
  const struct rd_args *args;
  struct rd_url *urls;
  struct top {
    struct top *next;
    struct radio_store *store;
    char name[];
  } *tops;
  pthread_mutex_t mutex;          /* of these */
};

/* "s3://b/study/ct/a/", split into parts. */
struct address {
  const char *text;
  size_t top_nbytes;              /* of "s3://b" */
  size_t nbytes;                  /* without slashes at its end */
  struct radio_store *store;      /* at the top */
  struct rd_url *url;             /* gets the error */
};

/* Keeps an error, allocated, until it is the URL's turn. */
static int
fail_later (struct rd_url *url, const char *subject, char *message)
{
  url->message = message;
  url->subject = subject;
  return RD_EXIT_FAILED;
}

static int
fail_by_library (struct rd_url *url, const char *subject)
{
  return fail_later (url, subject, strdup (radio_error_message ()));
}

static int
report (struct rd_url *url)
{
  if (url->message)
    return rd_error_message (url->subject, url->message);
  return rd_interrupted () ? RD_EXIT_FAILED : rd_error_memory ();
}

/* Returns the path of a node in a store, allocated: decoded from percent
 * encoding, unless in S3.  "%" without two digits stands for itself; no path
 * contains a NUL. */
static char *
path_between (const char *text, size_t start, size_t end)
{
  while (start < end && text[start] == '/')
    start++;
  char *path = rd_format ("%.*s", (int) (end - start), text + start);
  if (path == NULL || text[0] == 's' || text[0] == 'S')
    return path;
  char *to = path;
  for (const char *from = path; *from; to++) {
    int high = *from == '%' ? rd_hex_value (from[1]) : -1;
    int low = high >= 0 ? rd_hex_value (from[2]) : -1;
    bool is_code = low >= 0 && high + low > 0;
    *to = is_code ? (char) (16 * high + low) : *from;
    from += is_code ? 3 : 1;
  }
  *to = '\0';
  return path;
}

/* Finds or opens the handle on the first n bytes of a URL; that sends no
 * request. */
static enum radio_status
open_top (struct splitting *splitting, const char *text, size_t n,
          struct radio_store **store)
{
  struct top *top = splitting->tops;
  enum radio_status status = RADIO_OK;
  pthread_mutex_lock (&splitting->mutex);
  while (top && !(strncmp (top->name, text, n) == 0 && top->name[n] == '\0'))
    top = top->next;
  if (top == NULL) {
    top = calloc (1, sizeof *top + n + 1);
    if (top) {
      memcpy (top->name, text, n);
      status = rd_uri_open (splitting->args, top->name, RD_URI_EXISTING,
                            &top->store);
    }
    if (top && status == RADIO_OK) {
      top->next = splitting->tops;
      splitting->tops = top;
    } else {
      free (top);
      top = NULL;
    }
  }
  pthread_mutex_unlock (&splitting->mutex);
  if (top)
    *store = top->store;
  return top || status != RADIO_OK ? status : RADIO_ERROR_MEMORY;
}

static void
open_splitting (struct splitting *splitting, const struct rd_args *args,
                struct rd_url *urls)
{
  *splitting = (struct splitting) { .args = args, .urls = urls };
  pthread_mutex_init (&splitting->mutex, NULL);
}

static void
close_splitting (struct splitting *splitting)
{
  while (splitting->tops) {
    struct top *next = splitting->tops->next;
    radio_store_close (splitting->tops->store);
    free (splitting->tops);
    splitting->tops = next;
  }
  pthread_mutex_destroy (&splitting->mutex);
}

/* Opens the address as a whole first: one that is rejected must not be shown,
 * since it may contain a password. */
static int
open_address (struct splitting *splitting, struct rd_url *url,
              struct address *address)
{
  RD_CLOSE_STORE struct radio_store *whole = NULL;
  const char *text = url->text;
  size_t scheme = rd_scheme_nbytes (text), nbytes = strlen (text);
  if (rd_uri_open (splitting->args, text, RD_URI_EXISTING, &whole) != RADIO_OK)
    return fail_by_library (url, NULL);
  *address = (struct address) { .text = text, .nbytes = nbytes, .url = url };
  address->top_nbytes = scheme + strcspn (text + scheme, "/");
  while (address->nbytes > address->top_nbytes
         && text[address->nbytes - 1] == '/')
    address->nbytes--;
  if (open_top (splitting, text, address->top_nbytes, &address->store)
      != RADIO_OK)
    return fail_by_library (url, NULL);
  return RD_EXIT_OK;
}

/* Requests the kind of the node at the first n bytes of the address. */
static enum radio_status
request_node (const struct address *address, size_t n, enum radio_node *node)
{
  RD_FREE char *path = path_between (address->text, address->top_nbytes, n);
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  return radio_store_node (address->store, path, node);
}

/* Finds out if there is a group.  What is forbidden, or something else,
 * belongs to others. */
static int
look_for_group (const struct address *address, size_t n, bool *found)
{
  enum radio_node node;
  enum radio_status status = request_node (address, n, &node);
  *found = status == RADIO_OK && node == RADIO_NODE_GROUP;
  /* File servers report missing files in many ways. */
  if (status == RADIO_ERROR_IO && strncasecmp (address->text, "http", 4) == 0)
    return RD_EXIT_OK;
  switch (status) {
  case RADIO_OK:
  case RADIO_ERROR_NOT_FOUND:
  case RADIO_ERROR_PERMISSION:
  case RADIO_ERROR_FORMAT:
  case RADIO_ERROR_UNSUPPORTED:
    return RD_EXIT_OK;
  default:
    return fail_by_library (address->url, NULL);
  }
}

/* Finds the root of the store: the longest way up through groups. */
static int
find_root (const struct address *address, size_t *root_nbytes)
{
  size_t n = address->nbytes;
  *root_nbytes = n;
  for (int i = 0; n > address->top_nbytes; i++) {
    bool found;
    *root_nbytes = n;
    n = rd_parent_length (address->text, n, address->top_nbytes);
    if (i == MAX_PARENTS)
      return fail_later (address->url, NULL, rd_format (
        "%s: more than %d groups are above it; use --store", address->text,
        MAX_PARENTS));
    int failed = look_for_group (address, n, &found);
    if (failed || !found)
      return failed;
  }
  *root_nbytes = n;
  return RD_EXIT_OK;
}

static void
split_url (void *data, size_t i)
{
  struct splitting *splitting = data;
  struct rd_url *url = &splitting->urls[i];
  struct address address;
  size_t root_nbytes = 0;
  enum radio_node node;
  if (open_address (splitting, url, &address) != RD_EXIT_OK)
    return;
  /* The node itself may be damaged: it can still be removed. */
  enum radio_status status = request_node (&address, address.nbytes, &node);
  if (status == RADIO_ERROR_NOT_FOUND)
    (void) fail_later (url, NULL, rd_format (
      "%s: no zarr.json, so neither a volume nor a collection ('radio ls -s "
      "STORE' lists volumes)", url->text));
  else if (status != RADIO_OK && status != RADIO_ERROR_FORMAT
           && status != RADIO_ERROR_UNSUPPORTED)
    (void) fail_by_library (url, url->text);
  else if (find_root (&address, &root_nbytes) == RD_EXIT_OK) {
    url->root = rd_format ("%.*s", (int) root_nbytes, url->text);
    url->path = path_between (url->text, root_nbytes, address.nbytes);
  }
}

static bool
go_on (void *data, size_t i)
{
  (void) data;
  (void) i;
  return !rd_interrupted ();
}

static void
report_nothing (void *data, size_t i)
{
  (void) data;
  (void) i;
}

int
rd_urls_split (const struct rd_args *args, struct rd_url *urls, size_t n)
{
  RD_CLEANUP (close_splitting) struct splitting splitting;
  open_splitting (&splitting, args, urls);
  struct rd_jobs jobs = {
    .n = n, .nthreads = args->nthreads ? args->nthreads : RD_JOBS_MAX_THREADS,
    .run = split_url, .end = go_on, .report = report_nothing,
    .data = &splitting,
  };
  return rd_jobs_run (&jobs) ? RD_EXIT_OK : RD_EXIT_FAILED;
}

int
rd_url_take (struct rd_url *url, char **root, char **path)
{
  if (url->root == NULL || url->path == NULL)
    return report (url);
  *root = url->root;
  *path = url->path;
  url->root = url->path = NULL;
  return RD_EXIT_OK;
}

void
rd_url_clear (struct rd_url *url)
{
  free (url->root);
  free (url->path);
  free (url->message);
}

/* Fails for an address within the store of the group at the first n bytes. */
static int
within_store_error (const struct address *address, size_t n)
{
  struct address group = *address;
  group.nbytes = n;
  int failed = find_root (&group, &n);
  return failed ? failed
    : fail_later (address->url, NULL, rd_format (
        "%s: in the store %.*s; use that store, and --name for the copy",
        address->text, (int) n, address->text));
}

/* Looks for a store above "STORE/NEW" or "STORE/COLLECTION/NEW", where the
 * collection need not exist.  A group further up is unrelated, and so is one
 * two levels above a store that exists already. */
static int
check_apart (struct splitting *splitting, struct rd_url *url)
{
  struct address address;
  const char *text = url->text;
  int failed = open_address (splitting, url, &address);
  if (failed || address.nbytes == address.top_nbytes)
    return failed;
  bool found;
  size_t n = rd_parent_length (text, address.nbytes, address.top_nbytes);
  failed = look_for_group (&address, n, &found);
  if (failed || found)
    return failed ? failed : within_store_error (&address, n);
  if (n == address.top_nbytes)
    return RD_EXIT_OK;
  n = rd_parent_length (text, n, address.top_nbytes);
  failed = look_for_group (&address, n, &found);
  if (failed || !found)
    return failed;
  failed = look_for_group (&address, address.nbytes, &found);
  return failed || found ? failed : within_store_error (&address, n);
}

int
rd_url_check_apart (const struct rd_args *args, const char *text)
{
  RD_CLEANUP (close_splitting) struct splitting splitting;
  RD_CLEANUP (rd_url_clear) struct rd_url url = { .text = text };
  open_splitting (&splitting, args, &url);
  int failed = check_apart (&splitting, &url);
  return failed ? report (&url) : RD_EXIT_OK;
}
