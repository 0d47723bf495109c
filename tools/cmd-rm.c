/* SPDX-License-Identifier: MIT */
/* radio rm: removes volumes. */
#include <config.h>

#include <string.h>

#include "tools/interrupt.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/text.h"

static int
remove_volume (const struct rd_target *node)
{
  bool is_url = rd_is_url (node->name);
  if (*node->path == '\0')
    return rd_error ("%s: a store, or a volume without one%s; remove its %s "
                     "instead", node->name,
                     is_url ? ", since no group is above it" : "",
                     is_url ? "objects" : "folder");
  if (radio_store_remove (node->store, node->path) != RADIO_OK)
    return rd_error_library (node->name);
  fputs ("removed ", stdout);
  rd_text_print (stdout, node->path);
  putchar ('\n');
  return RD_EXIT_OK;
}

static int
run_rm (struct rd_args *args)
{
  int id = rd_args_next (args);
  if (id < 0 || !rd_args_want (args, 1, SIZE_MAX, "VOLUME"))
    return args->status;
  RD_CLEAR_NODES struct rd_nodes nodes = { 0 };
  rd_interrupt_catch ();
  int status = rd_nodes_find (args, RD_NODES_CLOSED | RD_NODES_STRICT
                              | RD_NODES_SOME, &nodes);
  size_t i = 0;
  while (i < nodes.n && !rd_interrupted ())
    if (remove_volume (&nodes.list[i++]) != RD_EXIT_OK)
      status = RD_EXIT_FAILED;
  if (i < nodes.n)
    status = rd_error ("interrupted: %s and all after it were kept",
                       nodes.list[i].name);
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
  .operands = "[OPTION]... VOLUME|COLLECTION...",
  .summary = "remove volumes",
  .description =
    "Removes volumes from the store, at once and for good: those named, all "
    "of a collection, or those that match a pattern.",
  .options = options,
  .examples =
    "radio rm ct/sub-01\n"
    "radio rm -s study.zarr sub-01 'T1w/sub-0*'\n"
    "radio rm s3://bucket/study/ct/sub-01",
  .run = run_rm,
};
