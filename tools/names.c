/* SPDX-License-Identifier: MIT */
/* What names on the command line stand for. */
#include <config.h>

#include <string.h>
#include <unistd.h>

#include "tools/names.h"
#include "tools/profile/temp.h"
#include "tools/url.h"

const char *
rd_store_name (const struct rd_args *args)
{
  if (args->store)
    return args->store;
  const char *name = getenv ("RADIO_STORE");
  return name != NULL && *name != '\0' ? name : "radio.zarr";
}

/* The library's own message names a URL, unless it is one that is not to be
 * shown. */
static int
complain_of (const char *store)
{
  return rd_error_library (rd_is_url (store) ? NULL : store);
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

static int
complain_no_store (const char *name)
{
  return rd_error ("there is no store at '%s': name one by --store or "
                   "RADIO_STORE, or make it by 'radio ingest'", name);
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
    return complain_no_store (name);
  return complain_of (name);
}

/* Whether a folder, named by the first n bytes of a path, is a Zarr node. */
static bool
is_node (const char *path, size_t n)
{
  char *file = NULL;
  if (asprintf (&file, "%.*s/zarr.json", (int) n, path) < 0)
    return false;
  bool found = access (file, F_OK) == 0;
  free (file);
  return found;
}

/* The length of a path without its last part; 0 when it has only one. */
static size_t
parent_length (const char *path, size_t n)
{
  while (n > 0 && path[n - 1] != '/')
    n--;
  while (n > 0 && path[n - 1] == '/')
    n--;
  return n;
}

/* "https://host/study.zarr/ct/a", "s3://bucket/study/ct/a": the volume is a
 * store by itself, so that nothing is asked to find another. */
static bool
split_url (const char *operand, char **root, char **path)
{
  *root = strdup (operand);
  *path = strdup ("");
  if (*root != NULL && *path != NULL)
    return true;
  free (*root);
  free (*path);
  *root = *path = NULL;
  return false;
}

bool
rd_split_path (const char *operand, char **root, char **path)
{
  size_t n = strlen (operand);
  if (rd_is_url (operand))
    return split_url (operand, root, path);
  while (n > 1 && operand[n - 1] == '/')
    n--;
  if (n == 0 || n > 4096 || !is_node (operand, n))
    return false;
  size_t top = n;
  for (size_t up = parent_length (operand, n);
       up > 0 && is_node (operand, up); up = parent_length (operand, up))
    top = up;
  size_t below = top;
  while (below < n && operand[below] == '/')
    below++;
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

/* Open what is at the target's path: a volume or, where arrays are wanted,
 * maybe an array.  What stands there is not asked for first: over a network
 * each question is a trip. */
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
  return status == RADIO_OK ? RD_EXIT_OK
                            : rd_error_library (target->name);
}

static int
open_path (const struct rd_args *args, const char *operand, const char *root,
           bool arrays, struct rd_target *target)
{
  target->name = operand;
  if (rd_uri_open (args, root, false, &target->store) != RADIO_OK)
    return complain_of (root);
  return open_node (target, arrays);
}

/* There is neither a volume nor an array of that name, and message is what
 * the library says of it: maybe there is not even a store. */
static int
complain_absent (const struct rd_args *args, const struct rd_target *target,
                 const char *message)
{
  enum radio_node node;
  if (radio_store_node (target->store, "", &node) == RADIO_ERROR_NOT_FOUND)
    return complain_no_store (rd_store_name (args));
  return rd_error ("%s", message);
}

/* Find the path of a name. */
static int
find_name (const struct rd_args *args, const char *operand, bool arrays,
           struct rd_target *target)
{
  enum radio_status status = radio_store_find (target->store, operand,
                                               &target->path);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  /* Looking for an array overwrites the message, which suggests names. */
  RD_FREE char *message = rd_format ("%s", radio_error_message ());
  if (message == NULL)
    return RD_EXIT_FAILED;
  if (status != RADIO_ERROR_NOT_FOUND)
    return rd_error ("%s", message);
  if (!arrays || !is_array (target, operand))
    return complain_absent (args, target, message);
  target->path = strdup (operand);
  return target->path ? RD_EXIT_OK : rd_error_memory ();
}

/* The path of a volume is not looked for first, which would be another trip
 * over a network. */
static enum radio_status
open_at_once (struct rd_target *target, const char *operand)
{
  if (strchr (operand, '/') == NULL)
    return RADIO_ERROR_NOT_FOUND;
  target->name = target->path = strdup (operand);
  enum radio_status status = target->path ? open_volume (target)
                                          : RADIO_ERROR_MEMORY;
  if (status != RADIO_OK) {
    free (target->path);
    target->path = NULL;
  }
  return status;
}

static int
open_name (const struct rd_args *args, const char *operand, bool arrays,
           struct rd_target *target)
{
  int failed = rd_store_open (args, false, &target->store);
  if (failed)
    return failed;
  enum radio_status status = open_at_once (target, operand);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  if (status == RADIO_ERROR_IO)
    return rd_error_library (operand);
  failed = find_name (args, operand, arrays, target);
  if (failed)
    return failed;
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
      && rd_split_path (operand, &root, &target->path))
    return open_path (args, operand, root, arrays, target);
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
