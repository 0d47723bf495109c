/* SPDX-License-Identifier: MIT */
/* Finding the store in a full address.  All documents are asked for through
 * one handle, on the bucket or the host, so that there is one connection. */
#include <config.h>

#include <string.h>
#include <strings.h>

#include "tools/names.h"
#include "tools/url.h"

/* Each question is a trip, and no store is as deep. */
#define MAX_PARENTS 8

/* "s3://b/study/ct/a/", taken apart. */
struct address {
  const char *text;
  size_t top_nbytes;              /* of "s3://b" */
  size_t nbytes;                  /* without slashes at its end */
  struct radio_store *store;      /* at the top */
};

static size_t
scheme_nbytes (const char *operand)
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
  return scheme_nbytes (operand) > 0;
}

static int
hex_value (char c)
{
  static const char digits[] = "0123456789abcdef0123456789ABCDEF";
  const char *digit = c ? strchr (digits, c) : NULL;
  return digit ? (int) ((digit - digits) % 16) : -1;
}

/* "%" without two digits stands for itself; no path has a NUL. */
static void
decode_percent (char *text)
{
  char *to = text;
  for (const char *from = text; *from; to++) {
    int high = *from == '%' ? hex_value (from[1]) : -1;
    int low = high >= 0 ? hex_value (from[2]) : -1;
    bool is_code = low >= 0 && high + low > 0;
    *to = is_code ? (char) (16 * high + low) : *from;
    from += is_code ? 3 : 1;
  }
  *to = '\0';
}

/* The path of a node, as a store takes it; allocated.  Addresses in S3 are
 * not encoded. */
static char *
path_between (const char *text, size_t start, size_t end)
{
  while (start < end && text[start] == '/')
    start++;
  char *path = rd_format ("%.*s", (int) (end - start), text + start);
  if (path && text[0] != 's' && text[0] != 'S')
    decode_percent (path);
  return path;
}

/* The address as a whole is looked at first: of one that is refused nothing
 * may be shown, since it may hold a password. */
static int
open_address (const struct rd_args *args, const char *text,
              struct address *address)
{
  RD_CLOSE_STORE struct radio_store *whole = NULL;
  size_t scheme = scheme_nbytes (text), nbytes = strlen (text);
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

/* The length of the address without its last name. */
static size_t
parent_nbytes (const struct address *address, size_t n)
{
  while (n > address->top_nbytes && address->text[n - 1] != '/')
    n--;
  while (n > address->top_nbytes && address->text[n - 1] == '/')
    n--;
  return n;
}

/* What stands at the first n bytes of the address. */
static enum radio_status
look (const struct address *address, size_t n, enum radio_node *node)
{
  RD_FREE char *path = path_between (address->text, address->top_nbytes, n);
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  return radio_store_node (address->store, path, node);
}

/* Whether a group stands there.  What may not be looked at, or is something
 * else, belongs to others. */
static int
look_for_group (const struct address *address, size_t n, bool *found)
{
  enum radio_node node;
  enum radio_status status = look (address, n, &node);
  *found = status == RADIO_OK && node == RADIO_NODE_GROUP;
  /* Servers of files say all kinds of things of what they do not have. */
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

/* The node itself may be damaged, which is no reason not to remove it. */
static int
check_node (const struct address *address)
{
  enum radio_node node;
  enum radio_status status = look (address, address->nbytes, &node);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_error ("%s: there is no zarr.json, so neither a volume nor a "
                     "collection ('radio ls -s STORE' tells what a store "
                     "has)", address->text);
  bool is_there = status == RADIO_OK || status == RADIO_ERROR_FORMAT
                  || status == RADIO_ERROR_UNSUPPORTED;
  return is_there ? RD_EXIT_OK : rd_error_library (address->text);
}

/* The longest way up through groups. */
static int
find_root (const struct address *address, size_t *root_nbytes)
{
  size_t n = address->nbytes;
  *root_nbytes = n;
  for (int i = 0; n > address->top_nbytes; i++) {
    bool found;
    *root_nbytes = n;
    n = parent_nbytes (address, n);
    if (i == MAX_PARENTS)
      return rd_error ("%s: more than %d groups stand above it: name its "
                       "store by --store", address->text, MAX_PARENTS);
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
  int failed = open_address (args, operand, &address);
  if (!failed)
    failed = check_node (&address);
  if (!failed)
    failed = find_root (&address, &root_nbytes);
  if (failed)
    return failed;
  *root = rd_format ("%.*s", (int) root_nbytes, operand);
  *path = path_between (operand, root_nbytes, address.nbytes);
  return *root && *path ? RD_EXIT_OK : RD_EXIT_FAILED;
}

/* A group stands at the first n bytes. */
static int
complain_within (const struct address *address, size_t n)
{
  struct address group = *address;
  group.nbytes = n;
  int failed = find_root (&group, &n);
  return failed ? failed
    : rd_error ("%s: lies in the store %.*s: name that, and the copy by "
                "--name", address->text, (int) n, address->text);
}

/* "STORE/NEW" or "STORE/COLLECTION/NEW", where the collection need not be
 * there.  Further up stands what has nothing to do with it, as does a store
 * two above one that is there already. */
int
rd_url_check_apart (const struct rd_args *args, const char *text)
{
  RD_CLEANUP (close_address) struct address address = { 0 };
  int failed = open_address (args, text, &address);
  if (failed || address.nbytes == address.top_nbytes)
    return failed;
  bool found;
  size_t n = parent_nbytes (&address, address.nbytes);
  failed = look_for_group (&address, n, &found);
  if (failed || found)
    return failed ? failed : complain_within (&address, n);
  if (n == address.top_nbytes)
    return RD_EXIT_OK;
  n = parent_nbytes (&address, n);
  failed = look_for_group (&address, n, &found);
  if (failed || !found)
    return failed;
  failed = look_for_group (&address, address.nbytes, &found);
  return failed || found ? failed : complain_within (&address, n);
}
