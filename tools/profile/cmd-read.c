/* SPDX-License-Identifier: MIT */
/* radio profile full|slice|roi: reads of a volume, measured.  Each run takes
 * a fresh random place, since the same one again would be read from the
 * processor's caches. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/profile/commands.h"
#include "tools/profile/measure.h"
#include "tools/profile/temp.h"
#include "tools/text.h"

static const char *const plane_names[] = {
  "axial", "coronal", "sagittal", NULL
};

enum kind {
  FULL,
  SLICE,
  ROI,
};

struct read {
  enum kind kind;
  struct rd_measure measure;
  struct rd_subject_options subject_options;
  bool has_axis, has_index, has_at, has_roi;
  enum radio_plane plane;
  uint64_t index, at[3], roi[3];

  struct rd_subject subject;
  struct radio_box box;       /* of the next run */
  uint64_t place;             /* the next run's plane */
  uint64_t nbytes;            /* of one run */
  void *buffer;
};

static bool
take_roi (struct read *read, struct rd_args *args, const char *option)
{
  read->has_roi = true;
  if (rd_parse_triple (args->value, true, read->roi) && read->roi[0] > 0
      && read->roi[1] > 0 && read->roi[2] > 0)
    return true;
  rd_usage_error (args, "%s: '%s' is neither N nor X,Y,Z, from 1 on", option,
                  args->value);
  return false;
}

static bool
take_at (struct read *read, struct rd_args *args)
{
  read->has_at = true;
  if (rd_parse_triple (args->value, false, read->at))
    return true;
  rd_usage_error (args, "--at: '%s' is not X,Y,Z, counted from 0",
                  args->value);
  return false;
}

static bool
take_axis (struct read *read, struct rd_args *args)
{
  int plane = rd_args_choose (args, "--axis", plane_names);
  if (plane >= 0)
    read->plane = (enum radio_plane) plane;
  read->has_axis = true;
  return plane >= 0;
}

static bool
take_option (struct read *read, int id, struct rd_args *args)
{
  int taken = rd_measure_take (args, id, &read->measure);
  if (taken == 0)
    taken = rd_subject_take (args, id, &read->subject_options);
  if (taken != 0)
    return taken > 0;
  switch (id) {
  case RD_OPTION_AXIS:
    return take_axis (read, args);
  case 'i':
    read->has_index = true;
    return rd_take_number (args, "--index", 0, UINT64_MAX, &read->index);
  case RD_OPTION_ROI:
    return take_roi (read, args, "--roi");
  case RD_OPTION_SIZE:
    return take_roi (read, args, "--size");
  case RD_OPTION_AT:
    return take_at (read, args);
  default:
    return true;
  }
}

/* A slice with --roi is a box. */
static bool
settle_options (struct read *read, struct rd_args *args)
{
  const char *wrong = NULL;
  if (read->kind == SLICE && read->has_roi) {
    if (read->has_axis || read->has_index)
      wrong = "--roi reads a box: --axis and --index are of planes";
    read->kind = ROI;
  }
  if (read->has_index && read->has_at)
    wrong = "--index and --at exclude each other";
  if (wrong)
    rd_usage_error (args, "%s", wrong);
  return wrong == NULL;
}

static bool
parse (struct read *read, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!take_option (read, id, args))
      return false;
  return id == 0 && rd_args_want (args, 0, 1, "VOLUME")
         && settle_options (read, args)
         && rd_subject_settle (args, &read->subject_options);
}

/* The plane of the next run. */
static int
place_plane (struct read *read)
{
  const struct radio_volume_info *info = &read->subject.info;
  size_t axis = info->plane_axis[read->plane];
  uint64_t n = info->array.shape[axis];
  if (read->has_index)
    read->place = read->index;
  else if (read->has_at)
    for (size_t i = 0; i < 3; i++) {
      if (read->subject.axis_of[i] == axis)
        read->place = read->at[i];
    }
  else
    read->place = rd_random_below (&read->measure.random, n);
  if (read->place < n)
    return RD_EXIT_OK;
  return rd_error ("plane %" PRIu64 " is outside: the image has %" PRIu64
                   " %s ones, counted from 0", read->place, n,
                   plane_names[read->plane]);
}

static int
place_run (struct read *read)
{
  switch (read->kind) {
  case SLICE:
    return place_plane (read);
  case ROI:
    return rd_subject_box (&read->subject, read->roi,
                           read->has_at ? read->at : NULL,
                           &read->measure.random, &read->box);
  default:
    read->box.rank = read->subject.info.array.rank;
    memcpy (read->box.size, read->subject.info.array.shape,
            sizeof read->box.size);
    return RD_EXIT_OK;
  }
}

/* Cold also means that nothing is remembered of the store. */
static int
prepare (void *data, size_t run)
{
  struct read *read = data;
  (void) run;
  if (read->measure.cold) {
    rd_measure_cool (&read->measure, read->subject.folder);
    int failed = rd_subject_reopen (&read->subject);
    if (failed)
      return failed;
  }
  return place_run (read);
}

static int
perform (void *data, size_t run)
{
  struct read *read = data;
  struct radio_volume *volume = read->subject.target.volume;
  size_t nbytes = (size_t) read->nbytes;
  (void) run;
  enum radio_status status = read->kind == SLICE
    ? radio_volume_read_plane (volume, read->plane, read->place,
                               RADIO_STORED, read->buffer, nbytes, NULL)
    : radio_volume_read (volume, &read->box, RADIO_STORED, read->buffer,
                         nbytes, NULL);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (read->subject.target.name);
}

static enum radio_status
attach_facts (void *data, struct radio_recorder *recorder)
{
  const struct read *read = data;
  return rd_conditions_record (&read->measure.conditions, recorder);
}

/* Bytes of one run, and the memory for them. */
static int
find_nbytes (struct read *read)
{
  const struct radio_volume_info *info = &read->subject.info;
  struct radio_box box = read->box;
  if (read->kind == SLICE) {
    uint64_t shape[2];
    radio_volume_plane_shape (read->subject.target.volume, read->plane,
                              shape);
    box = (struct radio_box) { 2, { 0 }, { shape[0], shape[1] } };
  }
  uint64_t n = radio_box_count (&box);
  if (__builtin_mul_overflow (n, info->array.item_nbytes, &n)
      || n > SIZE_MAX / 2)
    return rd_error ("%s: a run would deliver more bytes than this "
                     "machine can address", read->subject.target.name);
  read->nbytes = n;
  read->buffer = malloc ((size_t) n + 1);
  if (read->buffer == NULL)
    return rd_error ("out of memory: a run delivers %" PRIu64 " bytes",
                     n);
  /* The first touch of fresh memory is not what is measured. */
  memset (read->buffer, 1, (size_t) n + 1);
  return RD_EXIT_OK;
}

static int
describe (struct read *read, char **name)
{
  struct rd_conditions *c = &read->measure.conditions;
  int failed = rd_measure_describe (&read->measure, &read->subject);
  RD_FREE char *box = read->kind == SLICE ? NULL
    : rd_subject_shape_text (&read->subject, read->box.size);
  if (!failed && read->kind == SLICE)
    failed = rd_conditions_add (c, "axis", plane_names[read->plane],
                                RADIO_TEXT_PLAIN);
  else if (!failed && box)
    failed = rd_conditions_add (c, "box", box, RADIO_TEXT_PLAIN);
  bool fixed = read->has_at || read->has_index || read->kind == FULL;
  if (!failed)
    failed = rd_measure_describe_places (&read->measure, !fixed);
  *name = read->kind == SLICE
    ? rd_format ("%s plane", plane_names[read->plane])
    : rd_format ("%s", box ? box : "");
  return failed || *name == NULL ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static int
measure (struct read *read, struct rd_args *args)
{
  const char *operand = args->noperands ? args->operands[0] : NULL;
  RD_FREE char *name = NULL;
  int failed = rd_measure_begin (&read->measure);
  if (!failed)
    failed = rd_subject_open (args, operand, &read->subject_options,
                              read->measure.json, &read->subject);
  if (!failed)
    failed = place_run (read);
  if (!failed)
    failed = find_nbytes (read);
  if (!failed)
    failed = describe (read, &name);
  if (failed)
    return failed;
  rd_measure_tell (&read->measure);
  read->measure.random = read->measure.seed;
  RD_FREE char *title = rd_format ("%s: %s", read->measure.operation, name);
  if (title == NULL)
    return RD_EXIT_FAILED;
  struct rd_operation operation = {
    .title = title,
    .prepare = prepare,
    .perform = perform,
    .facts = attach_facts,
    .data = read,
  };
  return rd_measure_run (&read->measure, &operation, name, read->nbytes);
}

static int
run (struct rd_args *args, enum kind kind, size_t nruns)
{
  struct read read = {
    .kind = kind,
    .roi = { 64, 64, 64 },
    .subject_options.shape = RD_SUBJECT_SHAPE,
  };
  read.measure.operation = strrchr (args->command->name, ' ') + 1;
  read.measure.nruns = nruns;
  read.measure.nwarm = SIZE_MAX;
  int status = parse (&read, args) ? measure (&read, args) : args->status;
  rd_subject_close (&read.subject);
  rd_measure_clear (&read.measure);
  free (read.buffer);
  rd_interrupt_die ();
  return status;
}

static int
run_full (struct rd_args *args)
{
  return run (args, FULL, 5);
}

static int
run_slice (struct rd_args *args)
{
  return run (args, SLICE, 20);
}

static int
run_roi (struct rd_args *args)
{
  return run (args, ROI, 20);
}

#define JSON_OPTION                                                     \
  { RD_OPTION_JSON, "json", NULL, "print the figures as a JSON object" }

#define AT_OPTION                                                       \
  { RD_OPTION_AT, "at", "X,Y,Z", "always there (default: a random place\n" \
    "in each run)" }

static const struct rd_option full_options[] = {
  RD_STORE_OPTION,
  RD_MEASURE_OPTIONS ("5"),
  RD_PROFILE_OUTPUT_OPTIONS,
  JSON_OPTION,
  RD_SUBJECT_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

static const struct rd_option slice_options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_AXIS, "axis", "AXIS",
    "axial (default), coronal or sagittal" },
  { 'i', "index", "N", "always this plane (default: a random one)" },
  { RD_OPTION_ROI, "roi", "N|X,Y,Z",
    "a box of this size instead, as 'radio profile roi'" },
  AT_OPTION,
  RD_SEED_OPTION,
  RD_MEASURE_OPTIONS ("20"),
  RD_PROFILE_OUTPUT_OPTIONS,
  JSON_OPTION,
  RD_SUBJECT_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

static const struct rd_option roi_options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_ROI, "roi", "N|X,Y,Z", "the box's size (default: 64)" },
  { RD_OPTION_SIZE, "size", "N|X,Y,Z", "the same" },
  AT_OPTION,
  RD_SEED_OPTION,
  RD_MEASURE_OPTIONS ("20"),
  RD_PROFILE_OUTPUT_OPTIONS,
  JSON_OPTION,
  RD_SUBJECT_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_full = {
  .name = "profile full",
  .operands = "[VOLUME] [OPTION]...",
  .summary = "reading a whole volume",
  .description =
    "Reads all voxels of a volume into memory, again and again, and tells "
    "how long it took, where the time went, and what to do about it. Without "
    "VOLUME it is the store's first one and, without a store, a phantom.",
  .options = full_options,
  .examples =
    "radio profile full sub-01\n"
    "radio profile full sub-01 --cold --runs 3 -o cold.html\n"
    "radio profile full --phantom 512 --threads 1 --json",
  .run = run_full,
};

const struct rd_command rd_profile_slice = {
  .name = "profile slice",
  .operands = "[VOLUME] [OPTION]...",
  .summary = "reading planes, or boxes with --roi",
  .description =
    "Reads planes of a volume, a random one in each run, and tells how long "
    "it took, where the time went, and what to do about it. With --roi it "
    "reads boxes. Without VOLUME it is the store's first one and, without a "
    "store, a phantom.",
  .options = slice_options,
  .examples =
    "radio profile slice sub-01 --axis sagittal\n"
    "radio profile slice --roi 64\n"
    "radio profile slice sub-01 -i 120 --cold -o cold.html -o cold.json",
  .run = run_slice,
};

const struct rd_command rd_profile_roi = {
  .name = "profile roi",
  .operands = "[VOLUME] [OPTION]...",
  .summary = "reading boxes",
  .description =
    "Reads boxes of a volume, a random one in each run, and tells how long "
    "it took, where the time went, and what to do about it. Without VOLUME "
    "it is the store's first one and, without a store, a phantom.",
  .options = roi_options,
  .examples =
    "radio profile roi sub-01 --roi 128,128,16\n"
    "radio profile roi --roi 64 --runs 100 --json\n"
    "radio profile roi sub-01 --at 90,80,60 --cold",
  .run = run_roi,
};
