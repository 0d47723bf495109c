/* SPDX-License-Identifier: MIT */
/* The volume that is measured, and places in it. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "tools/facts.h"
#include "tools/interrupt.h"
#include "tools/profile/samples.h"
#include "tools/profile/subject.h"

int
rd_subject_take (struct rd_args *args, int id,
                 struct rd_subject_options *options)
{
  uint64_t size[3];
  switch (id) {
  case RD_OPTION_TILING:
    options->tiling = args->value;
    return 1;
  case RD_OPTION_CODEC:
    options->codec = args->value;
    return 1;
  case RD_OPTION_PHANTOM:
    if (!rd_args_shape (args, size))
      return -1;
    for (int i = 0; i < 3; i++)
      options->shape[i] = size[2 - i];
    options->phantom = true;
    return 1;
  default:
    return 0;
  }
}

bool
rd_subject_check (struct rd_args *args, struct rd_subject_options *options)
{
  if (options->tiling || options->codec)
    options->phantom = true;
  if (!options->phantom
      || (args->noperands == 0 && !rd_args_selects (args)))
    return true;
  rd_usage_error (args, "--phantom, --tiling and --codec exclude VOLUME, and "
                  "options that select volumes");
  return false;
}

static int
make_phantom (const struct rd_subject_options *options,
              struct rd_subject *subject)
{
  int failed = rd_temp_make (NULL, &subject->temp);
  if (failed)
    return failed;
  struct radio_phantom_options phantom = {
    .shape = { options->shape[0], options->shape[1], options->shape[2] },
    .ingest.tiling = options->tiling,
    .ingest.codec = options->codec,
    .ingest.progress = rd_interrupt_stop,
  };
  RD_CLOSE_STORE struct radio_store *store = NULL;
  subject->args.store = subject->temp;
  failed = rd_store_open (&subject->args, true, &store);
  if (failed)
    return failed;
  if (radio_phantom (store, "phantoms/head", &phantom) == RADIO_OK)
    return RD_EXIT_OK;
  return rd_interrupted () ? RD_EXIT_FAILED
                           : rd_error_library ("phantom");
}

static enum radio_status
keep_first (const struct radio_entry *entry, void *user_data)
{
  char **first = user_data;
  *first = strdup (entry->path);
  return RADIO_ERROR_CANCELLED;
}

/* Finds the path of the store's first volume; allocated. */
static int
find_first (const struct rd_args *args, char **first)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  int failed = rd_store_open (args, false, &store);
  if (failed)
    return failed;
  enum radio_status status = radio_store_list (store, NULL, keep_first,
                                               first);
  if (*first != NULL)
    return RD_EXIT_OK;
  if (status == RADIO_ERROR_CANCELLED)
    return rd_error_memory ();
  if (status != RADIO_OK)
    return rd_error_library (rd_store_name (args));
  return rd_error ("%s: the store has no volume to measure",
                   rd_store_name (args));
}

/* Sets what follows from the volume. */
static int
describe_volume (struct rd_subject *subject)
{
  RD_FREE char *root = NULL, *path = NULL;
  const char *name = subject->target.name;
  radio_volume_get_info (subject->target.volume, &subject->info);
  for (int i = 0; i < 3; i++) {
    const char *letter = strchr (subject->info.axes, "xyz"[i]);
    subject->axis_of[i] = letter ? (size_t) (letter - subject->info.axes)
                                 : subject->info.array.rank;
  }
  subject->folder = subject->target.files
                    || (rd_may_be_path (&subject->args, name)
                        && rd_split_path (name, &root, &path))
    ? rd_format ("%s", name)
    : rd_format ("%s/%s", rd_store_name (&subject->args),
                 subject->target.path);
  return subject->folder ? RD_EXIT_OK : RD_EXIT_FAILED;
}

int
rd_subject_open (const struct rd_args *args, const char *operand,
                 const struct rd_subject_options *options, bool quiet,
                 struct rd_subject *subject)
{
  memset (subject, 0, sizeof *subject);
  subject->args = *args;
  RD_FREE char *first = NULL;
  int failed = RD_EXIT_OK;
  const char *variable = getenv ("RADIO_STORE");
  bool has_store = args->store || (variable != NULL && *variable != '\0')
                   || access ("radio.zarr/zarr.json", F_OK) == 0;
  bool phantom = options->phantom || (operand == NULL && !has_store);
  if (phantom)
    failed = make_phantom (options, subject);
  else if (operand == NULL)
    failed = find_first (args, &first);
  if (failed)
    return failed;
  const char *name = phantom ? "phantoms/head" : first ? first : operand;
  const uint64_t *shape = options->shape;
  if (phantom && !quiet)
    fprintf (stderr, "radio: %s: measuring a phantom of %" PRIu64 " x %"
             PRIu64 " x %" PRIu64 " voxels in a temporary folder\n",
             options->phantom ? "--phantom" : "no store", shape[2], shape[1],
             shape[0]);
  else if (first && !quiet)
    fprintf (stderr, "radio: no VOLUME given: measuring %s, the first one of "
             "%s\n", name, rd_store_name (args));
  failed = rd_target_open (&subject->args, name, false, &subject->target);
  return failed ? failed : describe_volume (subject);
}

int
rd_subject_reopen (struct rd_subject *subject)
{
  struct rd_target fresh;
  int failed = rd_target_open (&subject->args,
                               rd_target_operand (&subject->target), false,
                               &fresh);
  if (failed) {
    rd_target_close (&fresh);
    return failed;
  }
  if (!subject->is_borrowed)
    rd_target_close (&subject->target);
  subject->is_borrowed = false;
  subject->target = fresh;
  radio_volume_get_info (subject->target.volume, &subject->info);
  return RD_EXIT_OK;
}

void
rd_subject_close (struct rd_subject *subject)
{
  if (!subject->is_borrowed)
    rd_target_close (&subject->target);
  free (subject->folder);
  rd_temp_remove (subject->temp);
}

int
rd_subjects_open (const struct rd_args *args,
                  const struct rd_subject_options *options, bool quiet,
                  struct rd_subjects *subjects)
{
  struct rd_nodes *nodes = &subjects->nodes;
  int failed = args->noperands == 0 && !rd_args_selects (args) ? RD_EXIT_OK
    : rd_nodes_find (args, RD_NODES_SOME, nodes);
  if (failed)
    return failed;
  size_t n = nodes->n ? nodes->n : 1;
  subjects->list = calloc (n, sizeof *subjects->list);
  if (subjects->list == NULL)
    return rd_error_memory ();
  subjects->n = n;
  if (nodes->n == 0)
    return rd_subject_open (args, NULL, options, quiet, subjects->list);
  for (size_t i = 0; i < n && !failed; i++) {
    struct rd_subject *subject = &subjects->list[i];
    subject->args = *args;
    if (nodes->list[i].drawn)
      subject->args.pipeline = nodes->list[i].drawn;
    subject->is_borrowed = true;
    failed = rd_node_open (&nodes->list[i]);
    if (!failed) {
      subject->target = nodes->list[i];
      failed = describe_volume (subject);
    }
  }
  return failed;
}

void
rd_subjects_close (struct rd_subjects *subjects)
{
  for (size_t i = 0; i < subjects->n; i++)
    rd_subject_close (&subjects->list[i]);
  free (subjects->list);
  rd_nodes_clear (&subjects->nodes);
}

int
rd_subject_box (const struct rd_subject *subject, const uint64_t size[3],
                const uint64_t *at, uint64_t *state, struct radio_box *box)
{
  const struct radio_array_info *array = &subject->info.array;
  const char *name = subject->target.name;
  memset (box, 0, sizeof *box);
  box->rank = array->rank;
  for (size_t i = 0; i < array->rank; i++)
    box->size[i] = 1;
  /* The components of a colour are read together. */
  const char *channel = strchr (subject->info.axes, 'c');
  if (channel && rd_is_colour (&subject->info))
    box->size[channel - subject->info.axes]
      = array->shape[channel - subject->info.axes];
  for (size_t i = 0; i < 3; i++) {
    size_t axis = subject->axis_of[i];
    uint64_t length = axis < array->rank ? array->shape[axis] : 1;
    if (size[i] > length)
      return rd_error ("%s: a box of %" PRIu64 " voxels exceeds the length of "
                       "axis %c (%" PRIu64 ")", name, size[i], "xyz"[i],
                       length);
    if (at && at[i] > length - size[i])
      return rd_error ("%s: --at: %c = %" PRIu64 " is out of range (0-%" PRIu64
                       ") for a size of %" PRIu64, name, "xyz"[i], at[i],
                       length - size[i], size[i]);
    if (axis >= array->rank)
      continue;
    box->size[axis] = size[i];
    box->start[axis] = at ? at[i] : rd_random_below (state,
                                                     length - size[i] + 1);
  }
  return RD_EXIT_OK;
}

char *
rd_subject_shape_text (const struct rd_subject *subject,
                       const uint64_t *shape)
{
  size_t axes[RADIO_MAX_RANK];
  size_t n = rd_display_axes (&subject->info, axes);
  return rd_join_u64 (shape, axes, n, " x ");
}

uint64_t
rd_subject_nbytes (const struct rd_subject *subject,
                   const struct radio_box *box)
{
  uint64_t n = radio_box_count (box);
  if (__builtin_mul_overflow (n, subject->info.array.item_nbytes, &n))
    return 0;
  return n;
}
