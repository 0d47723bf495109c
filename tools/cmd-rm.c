/* SPDX-License-Identifier: MIT */
/* radio rm: removes volumes. */
#include <config.h>

#include <string.h>

#include "tools/interrupt.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/text.h"

static int
remove_volume (const struct rd_args *args, const char *operand)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  RD_FREE char *root = NULL, *path = NULL;
  bool is_url = rd_is_url (operand);
  int failed = RD_EXIT_OK;
  if (is_url)
    failed = rd_url_split (args, operand, &root, &path);
  else if (rd_may_be_path (args, operand))
    rd_split_path (operand, &root, &path);
  if (failed)
    return failed;
  if (root && *path == '\0')
    return rd_error ("%s: a store, or a volume without one%s; remove its %s "
                     "instead", operand,
                     is_url ? ", since no group is above it" : "",
                     is_url ? "objects" : "folder");
  if (root == NULL)
    failed = rd_store_open (args, false, &store);
  else if (rd_uri_open (args, root, false, &store) != RADIO_OK)
    failed = rd_error_library (root);
  if (failed)
    return failed;
  if ((root == NULL
       && radio_store_find (store, operand, &path) != RADIO_OK)
      || radio_store_remove (store, path) != RADIO_OK)
    return rd_error_library (operand);
  fputs ("removed ", stdout);
  rd_text_print (stdout, path);
  putchar ('\n');
  return RD_EXIT_OK;
}

static int
run_rm (struct rd_args *args)
{
  int id = rd_args_next (args), status = RD_EXIT_OK;
  if (id < 0 || !rd_args_want (args, 1, SIZE_MAX, "VOLUME"))
    return args->status;
  rd_interrupt_catch ();
  size_t i = 0;
  while (i < args->noperands && !rd_interrupted ())
    if (remove_volume (args, args->operands[i++]) != RD_EXIT_OK)
      status = RD_EXIT_FAILED;
  if (i < args->noperands)
    status = rd_error ("interrupted: %s and all after it were kept",
                       args->operands[i]);
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
