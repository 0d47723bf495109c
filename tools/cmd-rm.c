/* SPDX-License-Identifier: MIT */
/* radio rm: removes volumes. */
#include <config.h>

#include <string.h>
#include <unistd.h>

#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/rows.h"
#include "tools/text.h"

struct removal {
  const struct rd_args *args;
  unsigned how;
  bool yes;                           /* do not ask */
  bool is_by_row;                     /* --where or --subject */
  struct rd_nodes nodes;
  struct outcome {
    enum radio_status status;
    char *message;                    /* of one that failed */
  } *outcomes;
  char **unknown;                     /* operands to be looked for */
  size_t nunknown;
  int status;
  struct rd_jobs jobs;
};

static void
remove_volume (void *data, size_t i)
{
  struct removal *removal = data;
  const struct rd_target *node = &removal->nodes.list[i];
  struct outcome *outcome = &removal->outcomes[i];
  bool is_url = rd_is_url (node->name);
  if (*node->path == '\0') {
    outcome->status = RADIO_ERROR_ARGUMENT;
    outcome->message
      = rd_format ("a store, or a volume without one%s; remove its %s "
                   "instead", is_url ? ", since no group is above it" : "",
                   is_url ? "objects" : "folder");
    return;
  }
  outcome->status = removal->is_by_row
    ? radio_store_remove_level (node->store, node->path, node->level)
    : radio_store_remove (node->store, node->path);
  if (outcome->status != RADIO_OK)
    outcome->message = rd_format ("%s", radio_error_message ());
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
  const struct outcome *outcome = &removal->outcomes[i];
  if (outcome->status == RADIO_ERROR_NOT_FOUND
      && (removal->how & RD_NODES_UNCHECKED)) {
    removal->unknown[removal->nunknown++] = node->name;
  } else if (outcome->status != RADIO_OK) {
    removal->status = rd_error_message (node->name, outcome->message
                                        ? outcome->message : "failed");
  } else {
    fputs ("removed ", stdout);
    rd_text_print (stdout, node->path);
    putchar ('\n');
  }
}

/* Removes the rows of the volumes that were removed, store by store. */
static int
remove_rows (const struct removal *removal)
{
  const struct rd_nodes *nodes = &removal->nodes;
  int status = RD_EXIT_OK;
  rd_interrupt_finish ();
  for (size_t k = 0; k < nodes->nroots; k++) {
    const struct rd_root *root = &nodes->roots[k];
    struct rd_row_changes rows RD_CLEANUP (rd_row_changes_clear) = {
      .store = root->store,
      .name = root->name ? root->name : rd_store_name (removal->args),
    };
    for (size_t i = 0; i < removal->jobs.synced.nreported; i++)
      if (nodes->list[i].store != root->store)
        continue;
      else if (removal->outcomes[i].status == RADIO_OK)
        rd_row_changes_add (&rows, nodes->list[i].path);
      else if (removal->outcomes[i].status != RADIO_ERROR_NOT_FOUND
               && removal->outcomes[i].status != RADIO_ERROR_ARGUMENT)
        rd_row_changes_add_gone (&rows, nodes->list[i].path);
    if (rd_row_changes_write (&rows))
      status = RD_EXIT_FAILED;
  }
  return status;
}

/* Shows what a query selected, and asks.  Returns an exit status. */
static int
confirm (const struct removal *removal)
{
  const struct rd_nodes *nodes = &removal->nodes;
  char answer[8] = "";
  for (size_t i = 0; i < nodes->n; i++) {
    fputs ("to remove: ", stdout);
    rd_text_print (stdout, nodes->list[i].path);
    putchar ('\n');
  }
  fflush (stdout);
  if (!isatty (STDIN_FILENO) || !isatty (STDERR_FILENO))
    return rd_error ("nothing was removed; --yes removes %s",
                     nodes->n == 1 ? "it" : "them");
  fprintf (stderr, "Remove %zu volume%s? [y/N] ", nodes->n,
           rd_plural (nodes->n));
  if (fgets (answer, sizeof answer, stdin) && (*answer == 'y'
                                               || *answer == 'Y'))
    return RD_EXIT_OK;
  return rd_error ("nothing was removed");
}

static int
remove_volumes (struct removal *removal)
{
  const struct rd_args *args = removal->args;
  struct rd_nodes *nodes = &removal->nodes;
  removal->status = rd_nodes_find (args, removal->how, nodes);
  if (rd_args_selects (args)) {
    int failed = removal->status;
    if (!failed && !removal->yes)
      failed = confirm (removal);
    if (failed)
      return failed;
  }
  rd_interrupt_catch ();
  removal->outcomes = calloc (nodes->n + 1, sizeof *removal->outcomes);
  removal->unknown = calloc (nodes->n + 1, sizeof *removal->unknown);
  if (removal->outcomes == NULL || removal->unknown == NULL)
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
  int failed = remove_rows (removal);
  if (failed && removal->status == RD_EXIT_OK)
    removal->status = failed;
  size_t ndone = jobs->synced.nreported;
  if (ndone < nodes->n)
    return rd_error ("interrupted: %s and all after it were kept",
                     nodes->list[ndone].name);
  return removal->status;
}

static void
clear_removal (struct removal *removal)
{
  for (size_t i = 0; removal->outcomes && i < removal->nodes.n; i++)
    free (removal->outcomes[i].message);
  free (removal->outcomes);
  free (removal->unknown);
  rd_nodes_clear (&removal->nodes);
}

/* Names are taken for volumes first; those that are none are then looked for,
 * as collections or with suggestions. */
static int
run_rm (struct rd_args *args)
{
  bool yes = false;
  int id;
  while ((id = rd_args_next (args)) > 0)
    yes = true;
  if (id < 0
      || !rd_args_want (args, !rd_args_selects (args), SIZE_MAX, "VOLUME"))
    return args->status;
  bool is_by_row = args->select.where || args->select.subject;
  args->newest_tables = rd_args_selects (args);
  unsigned how = RD_NODES_CLOSED | RD_NODES_STRICT | RD_NODES_SOME;
  struct removal removal = {
    .args = args, .yes = yes, .is_by_row = is_by_row,
    .how = how | (is_by_row ? RD_NODES_LEVELS : 0)
           | (rd_args_selects (args) ? 0 : RD_NODES_UNCHECKED),
  };
  int status = remove_volumes (&removal);
  if (removal.nunknown > 0 && !rd_interrupted ()) {
    struct rd_args rest = *args;
    rest.operands = removal.unknown;
    rest.noperands = removal.nunknown;
    struct removal second = { .args = &rest, .how = how };
    int failed = remove_volumes (&second);
    clear_removal (&second);
    status = failed ? failed : status;
  }
  clear_removal (&removal);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  { RD_OPTION_YES, "yes", NULL,
    "do not ask whether to remove what was selected" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_rm = {
  .name = "rm",
  .operands = "[OPTION]... VOLUME|COLLECTION...",
  .summary = "remove volumes",
  .description =
    "Removes volumes from the store, at once and for good: those named, all "
    "of a collection, or those that match a pattern. What a query selects is "
    "shown first, and removed if you say yes, or with --yes.",
  .options = options,
  .examples =
    "radio rm -s study.zarr sub-01 'T1w/sub-0*'\n"
    "radio rm s3://bucket/study/ct/sub-01\n"
    "radio rm seg --where 'rater == \"test\"' --yes",
  .run = run_rm,
};
