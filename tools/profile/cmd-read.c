/* SPDX-License-Identifier: MIT */
/* radio profile full|slice|roi: profiles reads of volumes, one after the
 * other.  Each run reads a new random place, since the same one would be read
 * from the processor's caches. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/options.h"
#include "tools/profile/against.h"

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

  struct rd_subjects subjects;
  struct rd_subject *subject; /* of the next run */
  struct radio_box box;
  uint64_t place;             /* its plane */
  uint64_t nbytes;            /* that it delivers */
  void *buffer;
};

static bool
parse_read (struct read *read, struct rd_args *args)
{
  int id, plane;
  while ((id = rd_args_next (args)) > 0) {
    int taken = rd_measure_take (args, id, &read->measure);
    bool ok = true;
    if (taken == 0)
      taken = rd_subject_take (args, id, &read->subject_options);
    switch (id) {
    case RD_OPTION_AXIS:
      plane = rd_args_choose (args, plane_names);
      read->plane = plane < 0 ? 0 : (enum radio_plane) plane;
      ok = read->has_axis = plane >= 0;
      break;
    case 'i':
      ok = read->has_index = rd_args_number (args, 0, UINT64_MAX,
                                             &read->index);
      break;
    case RD_OPTION_ROI:
    case RD_OPTION_SIZE:
      ok = read->has_roi = rd_args_shape (args, read->roi);
      break;
    case RD_OPTION_AT:
      ok = read->has_at = rd_args_position (args, read->at);
      break;
    }
    if (taken < 0 || !ok)
      return false;
  }
  if (id < 0 || !rd_args_want (args, 0, SIZE_MAX, "VOLUME"))
    return false;
  bool is_box = read->kind == SLICE && read->has_roi;
  if (!rd_against_check (&read->measure, args))
    return false;
  if (read->has_index && read->has_at)
    rd_usage_error (args, "--index and --at exclude each other");
  else if (is_box && (read->has_axis || read->has_index))
    rd_usage_error (args, "--roi reads a box: --axis and --index are for "
                    "planes");
  else {
    if (is_box)
      read->kind = ROI;
    return rd_subject_check (args, &read->subject_options);
  }
  return false;
}

/* Chooses the plane or the box of the next run, and sets its bytes. */
static int
place_run (struct read *read)
{
  const struct rd_subject *subject = read->subject;
  const struct radio_array_info *array = &subject->info.array;
  if (read->kind == FULL) {
    read->box.rank = array->rank;
    memcpy (read->box.size, array->shape, sizeof read->box.size);
    read->nbytes = rd_subject_nbytes (subject, &read->box);
    return RD_EXIT_OK;
  }
  if (read->kind == ROI) {
    int failed = rd_subject_box (subject, read->roi,
                                 read->has_at ? read->at : NULL,
                                 &read->measure.random, &read->box);
    read->nbytes = rd_subject_nbytes (subject, &read->box);
    return failed;
  }
  struct radio_box plane = { .rank = 2 };
  radio_volume_plane_shape (subject->target.volume, read->plane, plane.size);
  read->nbytes = rd_subject_nbytes (subject, &plane);
  size_t axis = subject->info.plane_axis[read->plane];
  uint64_t n = rd_plane_count (&subject->info, read->plane);
  if (read->has_index)
    read->place = read->index;
  else if (!read->has_at)
    read->place = rd_random_below (&read->measure.random, n);
  for (size_t i = 0; i < 3 && read->has_at; i++)
    if (subject->axis_of[i] == axis)
      read->place = read->at[i];
  if (read->place < n)
    return RD_EXIT_OK;
  return rd_error ("%s: %s plane %" PRIu64 " is out of range (0-%" PRIu64 ")",
                   subject->target.name, plane_names[read->plane],
                   read->place, n - 1);
}

/* With --cold the store is opened again, too. */
static int
prepare_read (void *data, size_t run)
{
  struct read *read = data;
  read->subject = &read->subjects.list[run % read->subjects.n];
  if (read->measure.cold) {
    rd_measure_cool (&read->measure, read->subject->folder);
    int failed = rd_subject_reopen (read->subject);
    if (failed)
      return failed;
  }
  return place_run (read);
}

static int
perform_read (void *data, size_t run)
{
  struct read *read = data;
  struct radio_volume *volume = read->subject->target.volume;
  size_t nbytes = (size_t) read->nbytes;
  (void) run;
  enum radio_status status = read->kind == SLICE
    ? radio_volume_read_plane (volume, read->plane, read->place,
                               RADIO_STORED, read->buffer, nbytes, NULL)
    : radio_volume_read (volume, &read->box, RADIO_STORED, read->buffer,
                         nbytes, NULL);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (read->subject->target.name);
}

static int
measure_read (struct read *read, struct rd_args *args)
{
  struct rd_measure *measure = &read->measure;
  int failed = rd_measure_begin (measure, args);
  if (!failed && measure->against)
    return rd_against_run (measure, args);
  if (!failed)
    failed = rd_subjects_open (args, &read->subject_options, measure->json,
                               &read->subjects);
  /* Every run has to fit, and they may deliver different numbers of bytes. */
  uint64_t nbytes = 0;
  bool is_equal = true;
  for (size_t i = read->subjects.n; i-- > 0 && !failed;) {
    read->subject = &read->subjects.list[i];
    failed = place_run (read);
    bool is_first = i + 1 == read->subjects.n;
    is_equal = is_equal && (is_first || read->nbytes == nbytes);
    nbytes = read->nbytes > nbytes ? read->nbytes : nbytes;
    if (!failed && (read->nbytes == 0 || read->nbytes > SIZE_MAX / 2))
      return rd_error ("%s: a run would deliver more bytes than this "
                       "machine can address", read->subject->target.name);
  }
  if (failed)
    return failed;
  const struct rd_subject *subject = read->subjects.list;
  read->buffer = malloc ((size_t) nbytes + 1);
  if (read->buffer == NULL)
    return rd_error ("out of memory: a run delivers %" PRIu64 " bytes",
                     nbytes);
  /* First-touch page faults are not measured. */
  memset (read->buffer, 1, (size_t) nbytes + 1);

  bool is_plane = read->kind == SLICE;
  bool fixed = read->has_at || read->has_index || read->kind == FULL;
  RD_FREE char *name = is_plane
    ? rd_format ("%s plane", plane_names[read->plane])
    : rd_subject_shape_text (subject, read->box.size);
  RD_FREE char *title = name ? rd_format ("%s: %s", measure->operation, name)
                             : NULL;
  if (title == NULL)
    return RD_EXIT_FAILED;
  failed = rd_measure_describe (measure, &read->subjects);
  if (!failed)
    failed = rd_conditions_add (&measure->conditions,
                                is_plane ? "axis" : "box",
                                is_plane ? plane_names[read->plane] : name,
                                RADIO_TEXT_PLAIN);
  if (!failed)
    failed = rd_measure_describe_places (measure, !fixed);
  if (!failed)
    failed = rd_against_describe (measure, args);
  if (failed)
    return failed;
  rd_measure_print (measure);
  measure->random = measure->seed;
  struct rd_operation operation = {
    .title = title,
    .prepare = prepare_read,
    .perform = perform_read,
    .data = read,
  };
  return rd_measure_run (measure, &operation, name, is_equal ? nbytes : 0);
}

static int
run_reads (struct rd_args *args)
{
  const struct rd_command *command = args->command;
  struct read read = {
    .kind = command == &rd_profile_full ? FULL
            : command == &rd_profile_slice ? SLICE : ROI,
    .roi = { 64, 64, 64 },
    .subject_options.shape = RD_SUBJECT_SHAPE,
  };
  read.measure.operation = strrchr (command->name, ' ') + 1;
  read.measure.nruns = read.kind == FULL ? 5 : 20;
  read.measure.nwarm = SIZE_MAX;
  read.measure.fail_percent = -1;
  int status = parse_read (&read, args) ? measure_read (&read, args)
                                        : args->status;
  rd_subjects_close (&read.subjects);
  rd_measure_clear (&read.measure);
  free (read.buffer);
  return status;
}

#define AT_OPTION                                                       \
  { RD_OPTION_AT, "at", "X,Y,Z", "this place (default: a random one in\n" \
    "each run)" }

static const struct rd_option full_options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  RD_MEASURE_OPTIONS ("5"),
  RD_AGAINST_OPTIONS,
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_JSON_FIGURES_OPTION,
  RD_APPLY_OPTION,
  RD_SUBJECT_OPTIONS,
  RD_FILE_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

static const struct rd_option slice_options[] = {
  RD_STORE_OPTION,
  RD_SELECT_VOLUMES_OPTIONS,
  { RD_OPTION_AXIS, "axis", "AXIS",
    "axial (default), coronal or sagittal" },
  { 'i', "index", "N", "this plane (default: a random one in each run)" },
  { RD_OPTION_ROI, "roi", "N|X,Y,Z",
    "read boxes of this size, like 'radio profile roi'" },
  AT_OPTION,
  RD_SEED_OPTION,
  RD_MEASURE_OPTIONS ("20"),
  RD_AGAINST_OPTIONS,
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_JSON_FIGURES_OPTION,
  RD_APPLY_OPTION,
  RD_SUBJECT_OPTIONS,
  RD_FILE_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

static const struct rd_option roi_options[] = {
  RD_STORE_OPTION,
  RD_SELECT_VOLUMES_OPTIONS,
  { RD_OPTION_ROI, "roi", "N|X,Y,Z", "the size of the box (default: 64)" },
  { RD_OPTION_SIZE, "size", "N|X,Y,Z", "the same" },
  AT_OPTION,
  RD_SEED_OPTION,
  RD_MEASURE_OPTIONS ("20"),
  RD_AGAINST_OPTIONS,
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_JSON_FIGURES_OPTION,
  RD_APPLY_OPTION,
  RD_SUBJECT_OPTIONS,
  RD_FILE_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_full = {
  .name = "profile full",
  .operands = "[VOLUME|COLLECTION]... [OPTION]...",
  .summary = "profile reading a whole volume",
  .description =
    "Reads all voxels of a volume, or of several in turn, into memory "
    "repeatedly, and reports how long it took, where the time went, and how "
    "to improve it. Default VOLUME: the first one of the store or, without a "
    "store, a phantom.",
  .options = full_options,
  .examples =
    "radio profile full sub-01\n"
    "radio profile full sub-01 --cold --runs 3 -o cold.html\n"
    "radio profile full --phantom 512 --threads 1 --json",
  .run = run_reads,
};

const struct rd_command rd_profile_slice = {
  .name = "profile slice",
  .operands = "[VOLUME|COLLECTION]... [OPTION]...",
  .summary = "profile reading planes, or boxes with --roi",
  .description =
    "Reads planes (with --roi boxes) of a volume, or of several in turn, a "
    "random one in each run, and reports how long it took, where the time "
    "went, and how to improve it. Default VOLUME: the first one of the store "
    "or, without a store, a phantom.",
  .options = slice_options,
  .examples =
    "radio profile slice sub-01 --axis sagittal\n"
    "radio profile slice --roi 64 --against old.json\n"
    "radio profile slice sub-01 -i 120 --cold -o cold.html -o cold.json",
  .run = run_reads,
};

const struct rd_command rd_profile_roi = {
  .name = "profile roi",
  .operands = "[VOLUME|COLLECTION]... [OPTION]...",
  .summary = "profile reading boxes",
  .description =
    "Reads boxes of a volume, or of several in turn, a random one in each "
    "run, and reports how long it took, where the time went, and how to "
    "improve it. Default VOLUME: the first one of the store or, without a "
    "store, a phantom.",
  .options = roi_options,
  .examples =
    "radio profile roi sub-01 --roi 128,128,16\n"
    "radio profile roi --roi 64 --runs 100 --json\n"
    "radio profile roi sub-01 --at 90,80,60 --cold",
  .run = run_reads,
};
