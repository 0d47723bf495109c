/* SPDX-License-Identifier: MIT */
/* radio rm: volumes out of the store. */
#include <config.h>

#include <string.h>

#include "tools/commands.h"
#include "tools/names.h"
#include "tools/profile/temp.h"
#include "tools/text.h"
#include "tools/url.h"

/* A path of the disk names its store itself. */
static int
remove_path (const struct rd_args *args, const char *root, const char *path,
             const char *operand)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  if (*path == '\0')
    return rd_error ("%s: a store, or a volume without one: remove its "
                     "folder instead", operand);
  if (rd_uri_open (args, root, false, &store) != RADIO_OK)
    return rd_error_library (root);
  if (radio_store_remove (store, path) != RADIO_OK)
    return rd_error_library (operand);
  return RD_EXIT_OK;
}

static int
remove_url (const struct rd_args *args, const char *operand, char **path)
{
  RD_FREE char *root = NULL;
  int failed = rd_url_split (args, operand, &root, path);
  if (failed)
    return failed;
  if (**path == '\0')
    return rd_error ("%s: a store, or a volume without one, since no group "
                     "stands above it: remove its objects instead",
                     operand);
  return remove_path (args, root, *path, operand);
}

static int
remove_name (const struct rd_args *args, const char *operand, char **path)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  int failed = rd_store_open (args, false, &store);
  if (failed)
    return failed;
  if (radio_store_find (store, operand, path) != RADIO_OK
      || radio_store_remove (store, *path) != RADIO_OK)
    return rd_error_library (operand);
  return RD_EXIT_OK;
}

static int
remove_one (const struct rd_args *args, const char *operand)
{
  RD_FREE char *root = NULL, *path = NULL;
  int failed;
  if (rd_is_url (operand))
    failed = remove_url (args, operand, &path);
  else if (rd_may_be_path (args, operand)
           && rd_split_path (operand, &root, &path))
    failed = remove_path (args, root, path, operand);
  else
    failed = remove_name (args, operand, &path);
  if (failed)
    return failed;
  fputs ("removed ", stdout);
  rd_text_print (stdout, path);
  putchar ('\n');
  return RD_EXIT_OK;
}

/* The volumes in turn, until a signal comes. */
static int
remove_all (const struct rd_args *args)
{
  int status = RD_EXIT_OK;
  size_t i = 0;
  while (i < args->noperands && !rd_interrupted ())
    if (remove_one (args, args->operands[i++]) != RD_EXIT_OK)
      status = RD_EXIT_FAILED;
  if (i < args->noperands)
    return rd_error ("interrupted: %s and what follows it stay",
                     args->operands[i]);
  return status;
}

static int
run_rm (struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    continue;
  if (id < 0 || !rd_args_want (args, 1, SIZE_MAX, "VOLUME"))
    return args->status;
  rd_interrupt_catch ();
  int status = remove_all (args);
  rd_interrupt_die ();
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_rm = {
  .name = "rm",
  .operands = "[OPTION]... VOLUME...",
  .summary = "remove volumes",
  .description =
    "Removes volumes from the store, at once and for good.",
  .options = options,
  .examples =
    "radio rm ct/sub-01\n"
    "radio rm -s study.zarr sub-01 sub-02\n"
    "radio rm s3://bucket/study/ct/sub-01",
  .run = run_rm,
};
