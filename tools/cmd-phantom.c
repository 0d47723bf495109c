/* SPDX-License-Identifier: MIT */
/* radio phantom: makes a synthetic head CT, for tests without data. */
#include <config.h>

#include <string.h>

#include "tools/names.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/rows.h"
#include "tools/text.h"

struct phantom {
  struct radio_phantom_options options;
  struct rd_progress progress;
  char *path;
};

static enum radio_status
on_phantom_progress (const struct radio_progress *p, void *user_data)
{
  struct phantom *phantom = user_data;
  rd_progress_update (&phantom->progress, phantom->path, p->done_nbytes,
                      p->total_nbytes);
  return RADIO_OK;
}

static int
run_phantom (struct rd_args *args)
{
  struct phantom phantom = { .options.shape = { 128, 256, 256 } };
  struct radio_ingest_options *ingest = &phantom.options.ingest;
  uint64_t size[3];
  int id;
  ingest->progress = on_phantom_progress;
  ingest->user_data = &phantom;
  while ((id = rd_args_next (args)) > 0) {
    if (id == RD_OPTION_SIZE) {
      if (!rd_args_shape (args, size))
        return args->status;
      for (int i = 0; i < 3; i++)
        phantom.options.shape[i] = size[2 - i];
    }
    if (id == RD_OPTION_SEED
        && !rd_args_number (args, 0, UINT64_MAX, &phantom.options.seed))
      return args->status;
    if (id == RD_OPTION_TILING)
      ingest->tiling = args->value;
    if (id == RD_OPTION_CODEC)
      ingest->codec = args->value;
  }
  if (id < 0 || !rd_args_want (args, 1, 1, "NAME")
      || !rd_args_existing (args, &ingest->existing))
    return args->status;
  const char *name = args->operands[0];
  RD_FREE char *path = rd_format ("%s%s", strchr (name, '/') ? "" :
                                  "phantoms/", name);
  if (path == NULL)
    return RD_EXIT_FAILED;
  phantom.path = path;
  RD_CLOSE_STORE struct radio_store *store = NULL;
  const uint64_t *shape = phantom.options.shape;
  int failed = rd_store_open (args, true, &store);
  if (failed)
    return failed;
  rd_progress_start (&phantom.progress, "made");
  enum radio_status status = radio_phantom (store, path, &phantom.options);
  rd_progress_clear (&phantom.progress);
  if (status != RADIO_OK)
    return rd_error_library (path);
  char text[RD_TEXT_NBYTES], time[RD_TEXT_NBYTES];
  printf ("made %s: %llu x %llu x %llu int16, %s in %s\n", path,
          (unsigned long long) shape[2], (unsigned long long) shape[1],
          (unsigned long long) shape[0],
          rd_text_size (2 * shape[0] * shape[1] * shape[2], text),
          rd_text_time (rd_clock_s () - phantom.progress.start_s, time));
  RD_CLEANUP (rd_row_changes_clear) struct rd_row_changes rows = {
    .store = store, .name = rd_store_name (args),
  };
  rd_row_changes_add (&rows, path);
  return rd_row_changes_write (&rows);
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_SIZE, "size", "N|X,Y,Z",
    "size in voxels (default: 256,256,128)" },
  { RD_OPTION_SEED, "seed", "N", "seed of the noise (default: 0)" },
  { RD_OPTION_TILING, "tiling", "TILING", "see 'radio ingest'" },
  { RD_OPTION_CODEC, "codec", "CODEC", "see 'radio ingest'" },
  RD_EXISTING_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_phantom = {
  .name = "phantom",
  .operands = "[OPTION]... NAME",
  .summary = "make a synthetic head CT",
  .description =
    "Makes a synthetic head CT (int16 Hounsfield units) of any size as a "
    "volume, for tests without data. The same options give the same voxels on "
    "every machine. NAME without a collection is put into 'phantoms'.",
  .options = options,
  .examples =
    "radio phantom head\n"
    "radio phantom ct/large --size 1024,1024,512 --codec fast\n"
    "radio phantom test/small --size 64 --seed 7",
  .run = run_phantom,
};
