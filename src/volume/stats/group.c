/* SPDX-License-Identifier: MIT */
/* Statistics of the voxels of several volumes together.  Values of narrow types
 * are counted in tables, of each label and of each combination of type and
 * scaling, in one pass; if there are other types, or too many combinations, all
 * volumes are read again as scaled doubles. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/volume/grids.h"
#include "src/volume/stats/histogram.h"
#include "src/volume/stats/stats.h"
#include "src/volume/stats/values.h"
#include "src/volume/stream.h"
#include "src/volume/volume.h"

#define MAX_CLASSES 16
#define MAX_BINS ((size_t) 1 << 20)

/* Elements that are chosen by a mask before they are counted. */
#define BLOCK_NBYTES 4096

/* Volumes of a store on a network that are open at the same time: the first
 * slabs of the next ones are read while one is counted. */
#define MAX_TURNS 16

/* A combination of type and scaling, and its tables: one for each label. */
struct class {
  enum radio_dtype dtype;
  double slope, inter;
  uint64_t *counts;
};

/* A label's request and its result. */
struct label {
  struct rd_stats_more more;
  struct rd_range_bins bins;
  struct radio_stats stats;
  struct rd_wide_stats *wide;
};

struct group {
  const struct radio_group_options *options;
  size_t n;
  radio_group_open_fn *open;
  void *user_data;
  size_t nlabels;             /* at least 1 */
  struct label *labels;
  struct class classes[MAX_CLASSES];
  size_t nclasses;
  bool is_wide;
  struct member *turns;       /* MAX_TURNS: of volume i that at i % MAX_TURNS */
  uint64_t ahead_nbytes;      /* of the memory of those whose turn comes */
};

/* A volume that is read, with its mask or without (has_mask). */
struct member {
  struct radio_volume *volume, *mask_volume;  /* owned */
  struct rd_error error;              /* of opening it, until its turn */
  struct rd_stream image, mask;
  struct rd_scaling scaling, mask_scaling;
  bool has_mask, has_voxels;
  size_t mask_axis[RADIO_MAX_RANK];   /* of the image's axis; or the rank */
  const struct class *class;          /* NULL: counted as doubles */

  struct rd_slabs slabs;
  struct radio_box slab;              /* the one in hand */
  uint64_t nbytes;                    /* of the memory of a slab and its mask */
  void *elements;
  double *labels;
  size_t elements_nbytes, labels_nbytes;
  struct rd_slab_read reads[2];       /* that were started */
};

static void
clear_group (struct group *group)
{
  for (size_t i = 0; group->labels && i < group->nlabels; i++) {
    rd_wide_close (group->labels[i].wide);
    rd_free (group->labels[i].bins.counts);
  }
  rd_free (group->labels);
  for (size_t i = 0; i < group->nclasses; i++)
    rd_free (group->classes[i].counts);
  rd_free (group->turns);
}

/*------------------------------------------------------------------------
 * Reading
 *----------------------------------------------------------------------*/

/* Finds the mask's axis for each of the image's.  Those that the mask lacks
 * come before those that it has, so that it is repeated as a whole. */
static enum radio_status
match_axes (const struct radio_volume *volume, const struct radio_volume *mask,
            size_t mask_axis[RADIO_MAX_RANK])
{
  const struct radio_volume_info *a = &volume->info, *b = &mask->info;
  const uint64_t *shape = a->array.shape, *mask_shape = b->array.shape;
  size_t next = 0, rank = b->array.rank;
  bool has_any = false;
  for (size_t i = 0; i < a->array.rank; i++) {
    mask_axis[i] = rank;
    while (next < rank && mask_shape[next] == 1
           && b->axes[next] != a->axes[i])
      next++;
    bool has = next < rank && b->axes[next] == a->axes[i]
               && mask_shape[next] == shape[i];
    if (has)
      mask_axis[i] = next;
    if (next < rank && b->axes[next] == a->axes[i])
      next++;
    if (!has && has_any && shape[i] > 1)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: axes %s, which do not "
                      "follow those of %s, %s", b->path, b->axes, a->path,
                      a->axes);
    has_any |= has && shape[i] > 1;
  }
  while (next < rank && mask_shape[next] == 1)
    next++;
  if (next < rank)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: axes %s, which do not "
                    "follow those of %s, %s", b->path, b->axes, a->path,
                    a->axes);
  return RADIO_OK;
}

/* Chooses of n elements those that a label has. */
static void
choose (const struct group *group, size_t label, const double *mask,
        size_t nmask, const unsigned char *elements, size_t item_nbytes,
        size_t n, rd_take_fn *give, void *sink)
{
  const struct radio_group_options *options = group->options;
  _Alignas (8) unsigned char block[BLOCK_NBYTES];
  size_t room = sizeof block / item_nbytes, nchosen = 0;
  double wanted = options->nlabels ? (double) options->labels[label] : 0;
  bool above = options->nlabels == 0;
  double ignored = options->has_ignored ? (double) options->ignored : NAN;
  for (size_t i = 0, at = 0; i < n; i++, at = at + 1 == nmask ? 0 : at + 1) {
    double value = mask[at];
    if (above ? !(value > 0) : value != wanted)
      continue;
    if (value == ignored)
      continue;
    memcpy (block + nchosen * item_nbytes, elements + i * item_nbytes,
            item_nbytes);
    if (++nchosen < room)
      continue;
    give (sink, block, nchosen);
    nchosen = 0;
  }
  if (nchosen > 0)
    give (sink, block, nchosen);
}

/* The table of a label among those of a class. */
static struct rd_counts
counts_of (const struct class *class, size_t label)
{
  size_t nkeys = (size_t) 1 << rd_values_key_nbits (class->dtype);
  return (struct rd_counts) {
    class->dtype, class->slope, class->inter,
    class->counts + label * 2 * nkeys
  };
}

/* Gives a slab to all labels: counted in class, or NULL: as doubles. */
static void
take_slab (struct group *group, const struct member *member,
           const struct class *class, const void *data, const double *mask,
           size_t nmask, size_t n)
{
  RD_SCOPE ("count values", RD_IN_OPERATION);
  for (size_t i = 0; i < group->nlabels; i++) {
    struct rd_counts counts = class ? counts_of (class, i)
                                    : (struct rd_counts) { 0 };
    rd_take_fn *give = class ? rd_counts_add : rd_wide_add;
    void *sink = class ? (void *) &counts : group->labels[i].wide;
    if (member->has_mask)
      choose (group, i, mask, nmask, data, member->image.item_nbytes, n, give,
              sink);
    else
      give (sink, data, n);
  }
}

/* The mask's box of the slab in hand. */
static struct radio_box
mask_box (const struct member *member)
{
  struct radio_box box = member->mask.box;
  for (size_t i = 0; i < member->slab.rank; i++)
    if (member->mask_axis[i] < box.rank) {
      box.start[member->mask_axis[i]] = member->slab.start[i];
      box.size[member->mask_axis[i]] = member->slab.size[i];
    }
  return box;
}

/* Plans the slabs of a volume, by which its mask is read, too, and makes room
 * for one. */
static enum radio_status
plan_slabs (struct member *member)
{
  const struct rd_stream *image = &member->image;
  uint64_t room;
  member->has_voxels = radio_box_count (&image->box) > 0;
  if (!member->has_voxels)
    return RADIO_OK;
  RD_TRY (rd_slabs_plan (image, &member->slabs, &room));
  uint64_t nelements = room / image->item_nbytes;
  uint64_t nbytes = room + 8 * nelements;
  RD_TRY (rd_context_allows (image->array->store->context, nbytes,
                             "a slab and its mask"));
  member->elements = rd_malloc (room);
  member->labels = rd_malloc (member->has_mask
                              ? nelements * sizeof *member->labels : 8);
  if (member->elements == NULL || member->labels == NULL)
    return rd_fail_memory (nbytes);
  member->nbytes = nbytes;
  rd_slabs_first (image, &member->slabs, &member->slab);
  return RADIO_OK;
}

/* Starts to read the first slab, if that takes no thread and little of the
 * memory. */
static enum radio_status
start_member (struct group *group, struct member *member)
{
  const struct radio_context *context = member->image.array->store->context;
  bool may_start = member->has_voxels && rd_slab_may_start (&member->image)
                   && (!member->has_mask
                       || rd_slab_may_start (&member->mask))
                   && group->ahead_nbytes <= context->memory_limit_nbytes / 8;
  if (!may_start)
    return RADIO_OK;
  RD_TRY (rd_slab_start (&member->image, &member->slab, member->elements,
                         &member->elements_nbytes, &member->reads[0]));
  if (!member->has_mask)
    return RADIO_OK;
  const struct radio_box box = mask_box (member);
  return rd_slab_start (&member->mask, &box, member->labels,
                        &member->labels_nbytes, &member->reads[1]);
}

/* Reads the slab in hand, or waits for it. */
static enum radio_status
read_slab (struct member *member)
{
  if (member->reads[0].read) {
    RD_TRY (rd_slab_wait (&member->reads[0]));
    if (member->has_mask)
      RD_TRY (rd_slab_wait (&member->reads[1]));
    rd_slab_end (&member->reads[0]);
    rd_slab_end (&member->reads[1]);
    return RADIO_OK;
  }
  RD_TRY (rd_slab_read (&member->image, &member->slab, member->elements,
                        &member->elements_nbytes));
  if (!member->has_mask)
    return RADIO_OK;
  const struct radio_box box = mask_box (member);
  return rd_slab_read (&member->mask, &box, member->labels,
                       &member->labels_nbytes);
}

static enum radio_status
read_member (struct group *group, struct member *member)
{
  if (!member->has_voxels)
    return RADIO_OK;
  do {
    RD_TRY (read_slab (member));
    take_slab (group, member, member->class, member->elements, member->labels,
               member->labels_nbytes / sizeof *member->labels,
               member->elements_nbytes / member->image.item_nbytes);
  } while (rd_slabs_next (&member->image, &member->slabs, &member->slab));
  return RADIO_OK;
}

static void
clear_member (struct group *group, struct member *member)
{
  rd_slab_end (&member->reads[0]);
  rd_slab_end (&member->reads[1]);
  group->ahead_nbytes -= member->nbytes;
  rd_free (member->elements);
  rd_free (member->labels);
  radio_volume_close (member->volume);
  radio_volume_close (member->mask_volume);
  *member = (struct member) { 0 };
}

/*------------------------------------------------------------------------
 * Passes
 *----------------------------------------------------------------------*/

/* Finds the class of a type and scaling, or adds it; NULL: there are too many,
 * or the type is not narrow. */
static enum radio_status
find_class (struct group *group, const struct radio_volume *volume,
            const struct rd_scaling *scaling, const struct class **found)
{
  enum radio_dtype dtype = volume->array->doc->type.dtype;
  *found = NULL;
  if (rd_values_key_nbits (dtype) > RD_MAX_NARROW_NBITS)
    return RADIO_OK;
  for (size_t i = 0; i < group->nclasses; i++) {
    const struct class *class = &group->classes[i];
    if (class->dtype == dtype && class->slope == scaling->slope
        && class->inter == scaling->inter)
      *found = class;
  }
  if (*found || group->nclasses == MAX_CLASSES)
    return RADIO_OK;
  size_t ncounts = ((size_t) 2 << rd_values_key_nbits (dtype))
                   * group->nlabels;
  RD_TRY (rd_context_allows (volume->array->store->context,
                             (group->nclasses + 1) * ncounts
                             * sizeof (uint64_t), "counting values"));
  struct class *class = &group->classes[group->nclasses];
  class->counts = rd_calloc (ncounts, sizeof *class->counts);
  if (class->counts == NULL)
    return rd_fail_memory (ncounts * sizeof *class->counts);
  class->dtype = dtype;
  class->slope = scaling->slope;
  class->inter = scaling->inter;
  group->nclasses++;
  *found = class;
  return RADIO_OK;
}

/* Prepares to add a volume where its mask chooses it.  Sets group->is_wide if
 * it cannot be counted. */
static enum radio_status
prepare_member (struct group *group, struct member *member)
{
  const struct radio_volume *volume = member->volume;
  const struct radio_volume *mask = member->mask_volume;
  bool scaled = !group->options->raw && !rd_volume_is_colour (volume);
  member->image = rd_stream_of (volume->array);
  member->has_mask = mask != NULL;
  member->scaling = (struct rd_scaling) {
    scaled ? volume->info.scl_slope : 1, scaled ? volume->info.scl_inter : 0
  };
  enum radio_status status = rd_stats_check (member->image.dtype);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", volume->info.path);
  if (mask) {
    member->mask = rd_stream_of (mask->array);
    status = rd_stats_check (member->mask.dtype);
    if (status != RADIO_OK)
      return rd_fail_in (status, "%s", mask->info.path);
    RD_TRY (rd_grids_check_mask (&mask->info, &volume->info));
    RD_TRY (match_axes (volume, mask, member->mask_axis));
    member->mask_scaling = (struct rd_scaling) {
      mask->info.scl_slope, mask->info.scl_inter
    };
    member->mask.dtype = RADIO_FLOAT64;
    member->mask.item_nbytes = sizeof (double);
    member->mask.scaling = &member->mask_scaling;
  } else if (group->options->nlabels > 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: without a mask, which labels "
                    "need", volume->info.path);
  if (!group->is_wide) {
    RD_TRY (find_class (group, volume, &member->scaling, &member->class));
    if (member->class)
      return plan_slabs (member);
    const struct rd_stats_more more = {
      .npercents = group->options->npercents,
    };
    uint64_t nbytes = rd_stats_nbytes (RADIO_FLOAT64, &more);
    RD_TRY (rd_context_allows (volume->array->store->context,
                               group->nlabels * nbytes, "selecting values"));
    group->is_wide = true;
    return RADIO_OK;
  }
  member->image.dtype = RADIO_FLOAT64;
  member->image.item_nbytes = sizeof (double);
  member->image.scaling = &member->scaling;
  return plan_slabs (member);
}

static enum radio_status
open_member (struct group *group, size_t i, struct member *member)
{
  RD_TRY (group->open (i, &member->volume, &member->mask_volume,
                       group->user_data));
  RD_NOT_NULL (member->volume);
  RD_TRY (prepare_member (group, member));
  group->ahead_nbytes += member->nbytes;
  return start_member (group, member);
}

/* Opens the next volumes: on a network several, as far as the memory allows, up
 * to one that fails.  Its error counts when it is its turn. */
static void
open_ahead (struct group *group, size_t i, size_t *nopened, bool was_wide)
{
  while (*nopened < group->n && group->is_wide == was_wide
         && *nopened < i + MAX_TURNS) {
    struct member *last = *nopened > i
      ? &group->turns[(*nopened - 1) % MAX_TURNS] : NULL;
    if (last && !last->reads[0].read)
      return;
    struct member *member = &group->turns[*nopened % MAX_TURNS];
    rd_error_save (&member->error, open_member (group, *nopened, member));
    ++*nopened;
  }
}

static void
clear_turns (struct group *group)
{
  for (size_t i = 0; i < MAX_TURNS; i++)
    clear_member (group, &group->turns[i]);
}

/* Reads all volumes; one that cannot be counted ends it. */
static enum radio_status
run_turns (struct group *group)
{
  bool was_wide = group->is_wide;
  size_t nopened = 0;
  for (size_t i = 0; i < group->n; i++) {
    struct member *member = &group->turns[i % MAX_TURNS];
    open_ahead (group, i, &nopened, was_wide);
    if (group->is_wide != was_wide && member->error.status == RADIO_OK)
      return RADIO_OK;
    if (member->error.status != RADIO_OK)
      return rd_error_raise (&member->error);
    RD_TRY (read_member (group, member));
    clear_member (group, member);
  }
  return RADIO_OK;
}

static enum radio_status
run_pass (struct group *group)
{
  enum radio_status status = run_turns (group);
  clear_turns (group);
  return status;
}

static enum radio_status
run_wide (struct group *group)
{
  bool is_done = false;
  for (size_t i = 0; i < group->nclasses; i++)
    rd_free (group->classes[i].counts);
  group->nclasses = 0;
  for (size_t i = 0; i < group->nlabels; i++) {
    struct label *label = &group->labels[i];
    RD_TRY (rd_wide_open (RADIO_FLOAT64, 1, 0, &label->more, &label->stats,
                          &label->wide));
  }
  while (!is_done) {
    RD_TRY (run_pass (group));
    is_done = true;
    for (size_t i = 0; i < group->nlabels; i++) {
      bool is_label_done;
      RD_TRY (rd_wide_end_pass (group->labels[i].wide, &is_label_done));
      is_done &= is_label_done;
    }
  }
  return RADIO_OK;
}

static enum radio_status
run_group (struct group *group)
{
  RD_TRY (run_pass (group));
  if (group->is_wide)
    return run_wide (group);
  for (size_t i = 0; i < group->nlabels; i++) {
    struct rd_counts counts[MAX_CLASSES];
    struct label *label = &group->labels[i];
    for (size_t c = 0; c < group->nclasses; c++)
      counts[c] = counts_of (&group->classes[c], i);
    RD_TRY (rd_stats_of_counts (counts, group->nclasses, &label->more,
                                &label->stats));
  }
  return RADIO_OK;
}

static enum radio_status
check_options (const struct radio_group_options *options)
{
  RD_TRY (RD_CHECK_RESERVED (radio_group_options, options));
  RD_TRY (RD_CHECK_ARRAY (options, labels));
  RD_TRY (RD_CHECK_ARRAY (options, percents));
  if (options->npercents > RADIO_GROUP_MAX_PERCENTS)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%zu percentiles, more than %d",
                    options->npercents, RADIO_GROUP_MAX_PERCENTS);
  for (size_t i = 0; i < options->npercents; i++)
    if (!(options->percents[i] >= 0 && options->percents[i] <= 100))
      return rd_fail (RADIO_ERROR_ARGUMENT, "a percentage is not from 0 to "
                      "100");
  if (options->nbins > MAX_BINS)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%zu bins, more than %zu",
                    options->nbins, MAX_BINS);
  if (options->nbins > 0 && !(options->low < options->high
                              && isfinite (options->high - options->low)))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the range of bins ends before it "
                    "begins, or is not finite");
  return RADIO_OK;
}

static enum radio_status
prepare_labels (struct group *group)
{
  const struct radio_group_options *options = group->options;
  group->labels = rd_calloc (group->nlabels, sizeof *group->labels);
  if (group->labels == NULL)
    return rd_fail_memory (group->nlabels * sizeof *group->labels);
  for (size_t i = 0; i < group->nlabels; i++) {
    struct label *label = &group->labels[i];
    label->more.npercents = options->npercents;
    for (size_t p = 0; p < options->npercents; p++)
      label->more.percents[p] = options->percents[p];
    if (options->nbins == 0)
      continue;
    label->bins = (struct rd_range_bins) {
      options->nbins, options->low, options->high,
      rd_calloc (options->nbins, sizeof (uint64_t))
    };
    if (label->bins.counts == NULL)
      return rd_fail_memory (options->nbins * sizeof (uint64_t));
    label->more.bins = &label->bins;
  }
  return RADIO_OK;
}

static enum radio_status
report_labels (const struct group *group, radio_group_fn *report)
{
  const struct radio_group_options *options = group->options;
  for (size_t i = 0; i < group->nlabels; i++) {
    const struct label *label = &group->labels[i];
    const struct radio_group_figures figures = {
      options->nlabels ? &options->labels[i] : NULL, &label->stats,
      label->more.percentiles, label->bins.counts
    };
    RD_TRY (report (&figures, group->user_data));
  }
  return RADIO_OK;
}

enum radio_status
radio_group_stats (size_t n, radio_group_open_fn *open,
                   const struct radio_group_options *options,
                   radio_group_fn *report, void *user_data)
{
  static const struct radio_group_options none;
  struct group group RD_CLEANUP (clear_group) = {
    .options = options ? options : &none, .n = n, .open = open,
    .user_data = user_data,
  };
  RD_NOT_NULL (open);
  RD_NOT_NULL (report);
  RD_TRY (check_options (group.options));
  group.turns = rd_calloc (MAX_TURNS, sizeof *group.turns);
  if (group.turns == NULL)
    return rd_fail_memory (MAX_TURNS * sizeof *group.turns);
  group.nlabels = group.options->nlabels ? group.options->nlabels : 1;
  RD_SCOPE ("group stats", RD_IN_OPERATION);
  RD_TRY (prepare_labels (&group));
  enum radio_status status = run_group (&group);
  if (status == RADIO_OK)
    status = report_labels (&group, report);
  return rd_scope_end_with (status);
}
