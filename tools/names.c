/* SPDX-License-Identifier: MIT */
/* Resolves names on the command line to stores, volumes and arrays.  A path
 * or URL of a node is split into the root of its store and the path below
 * it. */
#include <config.h>

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/base/text.h"
#include "tools/interrupt.h"
#include "tools/names.h"

const char *
rd_store_name (const struct rd_args *args)
{
  if (args->store)
    return args->store;
  const char *name = getenv ("RADIO_STORE");
  return name != NULL && *name != '\0' ? name : "radio.zarr";
}

enum radio_status
rd_uri_open (const struct rd_args *args, const char *uri, bool create,
             struct radio_store **store)
{
  struct radio_context_options context_options = {
    .nthreads = args->nthreads,
    .memory_limit_nbytes = args->memory_nbytes,
    .cache_nbytes = args->cache_nbytes,
  };
  struct radio_context *context;
  enum radio_status status = radio_context_open (&context_options, &context);
  if (status != RADIO_OK)
    return status;
  struct radio_store_options options = {
    .context = context, .create = create, .s3 = args->s3,
    .cancel = rd_interrupt_cancel,
  };
  status = radio_store_open (uri, &options, store);
  radio_context_close (context);
  return status;
}

/* Prints the library's message, which names a URL unless it is not to be
 * shown. */
static int
store_error (const char *store)
{
  return rd_error_library (rd_is_url (store) ? NULL : store);
}

static int
no_store_error (const char *name)
{
  return rd_error ("no store at '%s'; use --store or RADIO_STORE, or create "
                   "it with 'radio ingest'", name);
}

int
rd_store_open (const struct rd_args *args, bool create,
               struct radio_store **store)
{
  const char *name = rd_store_name (args);
  enum radio_status status = rd_uri_open (args, name, create, store);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  if (status == RADIO_ERROR_NOT_FOUND && !create)
    return no_store_error (name);
  return store_error (name);
}

/* True if a folder, named by the first n bytes of a path, is a Zarr node. */
static bool
is_node (const char *path, size_t n)
{
  RD_FREE char *file = NULL;
  return asprintf (&file, "%.*s/zarr.json", (int) n, path) >= 0
         && access (file, F_OK) == 0;
}

/* The length of a path without its last part; least when it has only one. */
static size_t
parent_length (const char *path, size_t n, size_t least)
{
  while (n > least && path[n - 1] != '/')
    n--;
  while (n > least && path[n - 1] == '/')
    n--;
  return n;
}

bool
rd_split_path (const char *operand, char **root, char **path)
{
  size_t n = strlen (operand), top, below;
  if (rd_is_url (operand))
    top = below = n;
  else {
    while (n > 1 && operand[n - 1] == '/')
      n--;
    if (n == 0 || n > 4096 || !is_node (operand, n))
      return false;
    top = n;
    for (size_t up = parent_length (operand, n, 0);
         up > 0 && is_node (operand, up); up = parent_length (operand, up, 0))
      top = up;
    below = top;
    while (below < n && operand[below] == '/')
      below++;
  }
  *root = strndup (operand, top);
  *path = strndup (operand + below, n - below);
  if (*root != NULL && *path != NULL)
    return true;
  free (*root);
  free (*path);
  *root = *path = NULL;
  return false;
}

static enum radio_status
open_volume (struct rd_target *target)
{
  enum radio_status status
    = radio_volume_open (target->store, target->path, &target->volume);
  if (status == RADIO_OK)
    target->array = radio_volume_array (target->volume);
  return status;
}

static bool
is_array (const struct rd_target *target, const char *path)
{
  enum radio_node node;
  return radio_store_node (target->store, path, &node) == RADIO_OK
         && node == RADIO_NODE_ARRAY;
}

/* Opens the node at the target's path: a volume or, with arrays, also an
 * array.  Its kind is not requested first: over a network that is another
 * round trip. */
static int
open_node (struct rd_target *target, bool arrays)
{
  enum radio_status status = open_volume (target);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  RD_FREE char *message = rd_format ("%s", radio_error_message ());
  if (status != RADIO_ERROR_FORMAT || !arrays
      || !is_array (target, target->path))
    return rd_error_message (target->name, message ? message : "");
  status = radio_array_open (target->store, target->path, &target->array);
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (target->name);
}

static int
open_name (const struct rd_args *args, const char *operand, bool arrays,
           struct rd_target *target)
{
  int failed = rd_store_open (args, false, &target->store);
  if (failed)
    return failed;
  /* The path of a volume is opened without looking for it, which would be
   * another round trip over a network. */
  if (strchr (operand, '/') != NULL) {
    target->name = target->path = strdup (operand);
    enum radio_status status = target->path ? open_volume (target)
                                            : RADIO_ERROR_MEMORY;
    if (status == RADIO_OK)
      return RD_EXIT_OK;
    free (target->path);
    target->path = NULL;
    if (status == RADIO_ERROR_IO)
      return rd_error_library (operand);
  }
  enum radio_status status = radio_store_find (target->store, operand,
                                               &target->path);
  /* Looking for an array overwrites the message, which suggests names. */
  RD_FREE char *message = rd_format ("%s", radio_error_message ());
  enum radio_node node;
  if (message == NULL)
    return RD_EXIT_FAILED;
  if (status == RADIO_ERROR_NOT_FOUND && arrays
      && is_array (target, operand)) {
    target->path = strdup (operand);
    if (target->path == NULL)
      return rd_error_memory ();
  } else if (status == RADIO_ERROR_NOT_FOUND
             && radio_store_node (target->store, "", &node)
                == RADIO_ERROR_NOT_FOUND) {
    /* There is not even a store. */
    return no_store_error (rd_store_name (args));
  } else if (status != RADIO_OK) {
    return rd_error ("%s", message);
  }
  target->name = target->path;
  return open_node (target, arrays);
}

bool
rd_may_be_path (const struct rd_args *args, const char *operand)
{
  return args->store == NULL || *operand == '/' || rd_is_url (operand)
         || strncmp (operand, "./", 2) == 0
         || strncmp (operand, "../", 3) == 0;
}

int
rd_target_open (const struct rd_args *args, const char *operand, bool arrays,
                struct rd_target *target)
{
  memset (target, 0, sizeof *target);
  RD_FREE char *root = NULL;
  if (rd_may_be_path (args, operand)
      && rd_split_path (operand, &root, &target->path)) {
    target->name = operand;
    return rd_uri_open (args, root, false, &target->store) == RADIO_OK
           ? open_node (target, arrays) : store_error (root);
  }
  return open_name (args, operand, arrays, target);
}

void
rd_target_close (struct rd_target *target)
{
  if (target->volume)
    radio_volume_close (target->volume);
  else
    radio_array_close (target->array);
  radio_store_close (target->store);
  free (target->path);
}

char *
rd_base_name (const char *path)
{
  size_t n = strlen (path);
  while (n > 1 && path[n - 1] == '/')
    n--;
  size_t start = n;
  while (start > 0 && path[start - 1] != '/')
    start--;
  const char *suffix = ".zarr";
  size_t length = n - start, nsuffix = strlen (suffix);
  if (length > nsuffix
      && strncmp (path + n - nsuffix, suffix, nsuffix) == 0)
    length -= nsuffix;
  return rd_format ("%.*s", (int) length, path + start);
}

/*------------------------------------------------------------------------
 * URLs.  All documents are requested through one handle on the bucket or
 * host, so that there is one connection.
 *----------------------------------------------------------------------*/

/* Each is a request, and no store is as deep. */
#define MAX_PARENTS 8

/* "s3://b/study/ct/a/", split into parts. */
struct address {
  const char *text;
  size_t top_nbytes;              /* of "s3://b" */
  size_t nbytes;                  /* without slashes at its end */
  struct radio_store *store;      /* at the top */
};

/* The length of the scheme of a URL; 0 for other operands. */
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
    n = parent_length (address->text, n, address->top_nbytes);
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
    : rd_error ("%s: is in the store %.*s; use that store, and --name "
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
  size_t n = parent_length (text, address.nbytes, address.top_nbytes);
  failed = look_for_group (&address, n, &found);
  if (failed || found)
    return failed ? failed : within_store_error (&address, n);
  if (n == address.top_nbytes)
    return RD_EXIT_OK;
  n = parent_length (text, n, address.top_nbytes);
  failed = look_for_group (&address, n, &found);
  if (failed || !found)
    return failed;
  failed = look_for_group (&address, address.nbytes, &found);
  return failed || found ? failed : within_store_error (&address, n);
}
