/* SPDX-License-Identifier: MIT */
/* URLs of nodes.  All documents are requested through one handle on the bucket
 * or host, so that there is one connection. */
#include <config.h>

#include <string.h>
#include <strings.h>

#include "src/base/text.h"
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

/* "s3://b/study/ct/a/", split into parts. */
struct address {
  const char *text;
  size_t top_nbytes;              /* of "s3://b" */
  size_t nbytes;                  /* without slashes at its end */
  struct radio_store *store;      /* at the top */
};

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

/* Opens the address as a whole first: one that is rejected must not be shown,
 * since it may contain a password. */
static int
open_address (const struct rd_args *args, const char *text,
              struct address *address)
{
  RD_CLOSE_STORE struct radio_store *whole = NULL;
  size_t scheme = rd_scheme_nbytes (text), nbytes = strlen (text);
  if (rd_uri_open (args, text, false, &whole) != RADIO_OK)
    return rd_error_library (NULL);
  *address = (struct address) { .text = text, .nbytes = nbytes };
  address->top_nbytes = scheme + strcspn (text + scheme, "/");
  while (address->nbytes > address->top_nbytes
         && text[address->nbytes - 1] == '/')
    address->nbytes--;
  RD_FREE char *top = rd_format ("%.*s", (int) address->top_nbytes, text);
  if (top == NULL)
    return RD_EXIT_FAILED;
  if (rd_uri_open (args, top, false, &address->store) != RADIO_OK)
    return rd_error_library (NULL);
  return RD_EXIT_OK;
}

static void
close_address (struct address *address)
{
  radio_store_close (address->store);
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
    return rd_error_library (NULL);
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
      return rd_error ("%s: more than %d groups are above it; use --store",
                       address->text, MAX_PARENTS);
    int failed = look_for_group (address, n, &found);
    if (failed || !found)
      return failed;
  }
  *root_nbytes = n;
  return RD_EXIT_OK;
}

int
rd_url_split (const struct rd_args *args, const char *operand, char **root,
              char **path)
{
  RD_CLEANUP (close_address) struct address address = { 0 };
  size_t root_nbytes = 0;
  enum radio_node node;
  int failed = open_address (args, operand, &address);
  if (failed)
    return failed;
  /* The node itself may be damaged: it can still be removed. */
  enum radio_status status = request_node (&address, address.nbytes, &node);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_error ("%s: no zarr.json, so neither a volume nor a collection "
                     "('radio ls -s STORE' lists volumes)", operand);
  if (status != RADIO_OK && status != RADIO_ERROR_FORMAT
      && status != RADIO_ERROR_UNSUPPORTED)
    return rd_error_library (operand);
  failed = find_root (&address, &root_nbytes);
  if (failed)
    return failed;
  *root = rd_format ("%.*s", (int) root_nbytes, operand);
  *path = path_between (operand, root_nbytes, address.nbytes);
  return *root && *path ? RD_EXIT_OK : RD_EXIT_FAILED;
}

/* Reports an address within the store of the group at the first n bytes. */
static int
within_store_error (const struct address *address, size_t n)
{
  struct address group = *address;
  group.nbytes = n;
  int failed = find_root (&group, &n);
  return failed ? failed
    : rd_error ("%s: in the store %.*s; use that store, and --name "
                "for the copy", address->text, (int) n, address->text);
}

/* Looks for a store above "STORE/NEW" or "STORE/COLLECTION/NEW", where the
 * collection need not exist.  A group further up is unrelated, and so is one
 * two levels above a store that exists already. */
int
rd_url_check_apart (const struct rd_args *args, const char *text)
{
  RD_CLEANUP (close_address) struct address address = { 0 };
  int failed = open_address (args, text, &address);
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
