/* SPDX-License-Identifier: MIT */
/* radio rm: removes volumes. */
#include <config.h>

#include <string.h>

#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/text.h"

struct removal {
  struct rd_nodes nodes;
  char **messages;                    /* of those that failed */
  int status;
  struct rd_jobs jobs;
};

static void
remove_volume (void *data, size_t i)
{
  struct removal *removal = data;
  const struct rd_target *node = &removal->nodes.list[i];
  bool is_url = rd_is_url (node->name);
  if (*node->path == '\0')
    removal->messages[i]
      = rd_format ("a store, or a volume without one%s; remove its %s "
                   "instead", is_url ? ", since no group is above it" : "",
                   is_url ? "objects" : "folder");
  else if (radio_store_remove (node->store, node->path) != RADIO_OK)
    removal->messages[i] = rd_format ("%s", radio_error_message ());
}

static bool
end_volume (void *data, size_t i)
{
  (void) data;
  (void) i;
  return !rd_interrupted ();
}

static void
report_volume (void *data, size_t i)
{
  struct removal *removal = data;
  const struct rd_target *node = &removal->nodes.list[i];
  if (removal->messages[i]) {
    removal->status = rd_error_message (node->name, removal->messages[i]);
    return;
  }
  fputs ("removed ", stdout);
  rd_text_print (stdout, node->path);
  putchar ('\n');
}

static int
remove_volumes (const struct rd_args *args, struct removal *removal)
{
  struct rd_nodes *nodes = &removal->nodes;
  removal->status = rd_nodes_find (args, RD_NODES_CLOSED | RD_NODES_STRICT
                                   | RD_NODES_SOME, nodes);
  removal->messages = calloc (nodes->n + 1, sizeof *removal->messages);
  if (removal->messages == NULL)
    return rd_error_memory ();
  struct rd_jobs *jobs = &removal->jobs;
  *jobs = (struct rd_jobs) {
    .n = rd_interrupted () ? 0 : nodes->n,
    .nthreads = rd_nodes_nthreads (args, nodes),
    .run = remove_volume,
    .end = end_volume,
    .report = report_volume,
    .data = removal,
  };
  if (!rd_jobs_run (jobs))
    return RD_EXIT_FAILED;
  size_t ndone = jobs->synced.nreported;
  if (ndone < nodes->n)
    return rd_error ("interrupted: %s and all after it were kept",
                     nodes->list[ndone].name);
  return removal->status;
}

static int
run_rm (struct rd_args *args)
{
  int id = rd_args_next (args);
  if (id < 0 || !rd_args_want (args, 1, SIZE_MAX, "VOLUME"))
    return args->status;
  struct removal removal = { .status = RD_EXIT_OK };
  rd_interrupt_catch ();
  int status = remove_volumes (args, &removal);
  for (size_t i = 0; removal.messages && i < removal.nodes.n; i++)
    free (removal.messages[i]);
  free (removal.messages);
  rd_nodes_clear (&removal.nodes);
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
