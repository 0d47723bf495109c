/* SPDX-License-Identifier: MIT */
/* radio profile ingest: an image into a temporary store.  The user's own store
 * is not changed; with -s the temporary one is made beside it, to write to the
 * same disk. */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/facts.h"
#include "tools/interrupt.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/profile/against.h"
#include "tools/text.h"

struct ingest {
  struct rd_measure measure;
  struct rd_subject_options options;    /* the phantom's, and the ingest's */
  char *temp, *store_name;
  struct radio_store *store;
  const char *file, *label;             /* label: its name in reports */
  char *phantom_file;                   /* allocated */
  uint64_t nbytes;                      /* decompressed */
  uint64_t stored_nbytes;
};

static bool
parse_ingest (struct ingest *ingest, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (rd_measure_take (args, id, &ingest->measure) < 0
        || rd_subject_take (args, id, &ingest->options) < 0)
      return false;
  if (id < 0 || !rd_args_want (args, 0, 1, "FILE")
      || !rd_against_check (&ingest->measure, args))
    return false;
  if (args->noperands == 1 && ingest->options.phantom) {
    rd_usage_error (args, "--phantom does not go with FILE");
    return false;
  }
  return true;
}

/* Makes a phantom as a compressed file, like most images. */
static int
make_file (struct ingest *ingest)
{
  const uint64_t *shape = ingest->options.shape;
  struct radio_phantom_options phantom = {
    .shape = { shape[0], shape[1], shape[2] },
    .ingest.codec = "none",
    .ingest.progress = rd_interrupt_stop,
  };
  struct radio_volume *volume = NULL;
  ingest->phantom_file = rd_format ("%s/head.nii.gz", ingest->temp);
  if (ingest->phantom_file == NULL)
    return RD_EXIT_FAILED;
  if (!ingest->measure.json)
    fprintf (stderr, "radio: no FILE given: ingesting a phantom of %" PRIu64
             " x %" PRIu64 " x %" PRIu64 " voxels\n", shape[2], shape[1],
             shape[0]);
  enum radio_status status = radio_phantom (ingest->store, "source/head",
                                            &phantom);
  if (status == RADIO_OK)
    status = radio_volume_open (ingest->store, "source/head", &volume);
  if (status == RADIO_OK)
    status = radio_volume_export (volume, NULL, ingest->phantom_file, NULL);
  radio_volume_close (volume);
  if (status == RADIO_OK)
    status = radio_store_remove (ingest->store, "source/head");
  if (status != RADIO_OK)
    return rd_interrupted () ? RD_EXIT_FAILED
                             : rd_error_library ("phantom");
  ingest->file = ingest->phantom_file;
  ingest->label = "a phantom";
  return RD_EXIT_OK;
}

static char *
run_path (size_t run)
{
  return rd_format ("profile/run-%zu", run);
}

static int
prepare_ingest (void *data, size_t run)
{
  struct ingest *ingest = data;
  (void) run;
  rd_measure_cool (&ingest->measure, ingest->file);
  return RD_EXIT_OK;
}

static int
perform_ingest (void *data, size_t run)
{
  struct ingest *ingest = data;
  struct radio_ingest_options options = {
    .tiling = ingest->options.tiling,
    .codec = ingest->options.codec,
    .progress = rd_interrupt_stop,
  };
  struct radio_ingest_result result = { 0 };
  RD_FREE char *path = run_path (run);
  if (path == NULL)
    return RD_EXIT_FAILED;
  if (radio_ingest (ingest->store, ingest->file, path, &options, &result)
      != RADIO_OK)
    return rd_interrupted () ? RD_EXIT_FAILED
                             : rd_error_library (ingest->file);
  ingest->nbytes = result.source_nbytes;
  ingest->stored_nbytes = result.stored_nbytes;
  return RD_EXIT_OK;
}

static int
remove_ingested (void *data, size_t run)
{
  struct ingest *ingest = data;
  RD_FREE char *path = run_path (run);
  if (path == NULL)
    return RD_EXIT_FAILED;
  if (radio_store_remove (ingest->store, path) != RADIO_OK)
    return rd_error_library (path);
  return RD_EXIT_OK;
}

/* Ingests once, unmeasured, to describe the image. */
static int
describe_ingest (struct ingest *ingest, const struct rd_args *args)
{
  struct rd_conditions *c = &ingest->measure.conditions;
  struct rd_subject subject;
  struct rd_args other = *args;
  other.store = ingest->store_name;
  int failed = perform_ingest (ingest, 0);
  if (failed)
    return failed;
  RD_FREE char *path = run_path (0);
  if (path == NULL)
    return RD_EXIT_FAILED;
  struct rd_subject_options options = { 0 };
  const struct rd_subjects one = { .list = &subject, .n = 1 };
  failed = rd_subject_open (&other, path, &options, true, &subject);
  if (!failed)
    failed = rd_measure_describe (&ingest->measure, &one);
  if (!failed)
    failed = rd_conditions_add (c, "volume", ingest->label, RADIO_TEXT_NAME);
  if (!failed && ingest->phantom_file)
    failed = rd_conditions_add (c, "store", "a phantom's", RADIO_TEXT_NAME);
  else if (!failed)
    failed = rd_conditions_add (c, "store", args->store ? args->store
                                : "a temporary one", RADIO_TEXT_NAME);
  rd_subject_close (&subject);
  return failed ? failed : remove_ingested (ingest, 0);
}

static int
measure_ingest (struct ingest *ingest, struct rd_args *args)
{
  int failed = rd_measure_begin (&ingest->measure, args);
  if (!failed && ingest->measure.against)
    return rd_against_run (&ingest->measure, args);
  if (!failed)
    failed = rd_temp_make (args->store, &ingest->temp);
  if (failed)
    return failed;
  struct rd_args other = *args;
  ingest->store_name = rd_format ("%s/store.zarr", ingest->temp);
  if (ingest->store_name == NULL)
    return RD_EXIT_FAILED;
  other.store = ingest->store_name;
  failed = rd_store_open (&other, true, &ingest->store);
  if (!failed && args->noperands == 0)
    failed = make_file (ingest);
  else if (!failed)
    ingest->file = ingest->label = args->operands[0];
  if (!failed)
    failed = describe_ingest (ingest, args);
  if (!failed)
    failed = rd_against_describe (&ingest->measure, args);
  if (failed)
    return failed;
  if (!ingest->measure.json) {
    const struct rd_conditions *c = &ingest->measure.conditions;
    char raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES];
    fputs ("ingest of ", stdout);
    rd_text_print (stdout, ingest->measure.output.redact ? "an image"
                                                         : ingest->label);
    printf (": %s %s, %s -> %s,\ntiles of %s (%s), codec %s, %s\n\n",
            rd_conditions_find (c, "shape"),
            rd_conditions_find (c, "dtype"),
            rd_text_size (ingest->nbytes, raw),
            rd_text_size (ingest->stored_nbytes, stored),
            rd_conditions_find (c, "tile"),
            rd_conditions_find (c, "tiling"),
            rd_conditions_find (c, "codec"),
            rd_conditions_find (c, "cache"));
  }
  struct rd_operation operation = {
    .title = "ingest",
    .prepare = prepare_ingest,
    .perform = perform_ingest,
    .finish = remove_ingested,
    .data = ingest,
  };
  return rd_measure_run (&ingest->measure, &operation, "ingest",
                         ingest->nbytes);
}

static int
run_ingest (struct rd_args *args)
{
  struct ingest ingest = {
    .measure = { .operation = "ingest", .nruns = 5, .nwarm = SIZE_MAX,
                 .fail_percent = -1 },
    .options.shape = RD_SUBJECT_SHAPE,
  };
  int status = parse_ingest (&ingest, args) ? measure_ingest (&ingest, args)
                                            : args->status;
  radio_store_close (ingest.store);
  rd_temp_remove (ingest.temp);
  rd_measure_clear (&ingest.measure);
  free (ingest.store_name);
  free (ingest.phantom_file);
  return status;
}

static const struct rd_option options[] = {
  { 's', "store", "STORE",
    "write to the disk of STORE, which is not changed\n"
    "(default: to $TMPDIR)" },
  { RD_OPTION_TILING, "tiling", "TILING", "see 'radio ingest'" },
  { RD_OPTION_CODEC, "codec", "CODEC", "see 'radio ingest'" },
  { RD_OPTION_PHANTOM, "phantom", "N|X,Y,Z",
    "without FILE: the size of the phantom (default: 256)" },
  RD_MEASURE_OPTIONS ("5"),
  RD_AGAINST_OPTIONS,
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_JSON_FIGURES_OPTION,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_ingest = {
  .name = "profile ingest",
  .operands = "[FILE] [OPTION]...",
  .summary = "profile adding an image to a store",
  .description =
    "Ingests a NIfTI image into a temporary store repeatedly, and reports how "
    "long it took, where the time went, and how to improve it. MB/s are of "
    "decompressed bytes. Default FILE: a phantom.",
  .options = options,
  .examples =
    "radio profile ingest scan.nii.gz\n"
    "radio profile ingest scan.nii.gz --codec small --runs 3\n"
    "radio profile ingest --phantom 512 -s study.zarr --threads 1",
  .run = run_ingest,
};
