/* SPDX-License-Identifier: MIT */
/* radio phantom: a synthetic head CT, for trying things without data. */
#include <config.h>

#include <string.h>

#include "tools/commands.h"
#include "tools/names.h"
#include "tools/progress.h"
#include "tools/text.h"

struct phantom {
  bool overwrite, skip_existing;
  struct radio_phantom_options options;
  struct rd_progress progress;
  const char *path;
};

static bool
take_size (struct phantom *phantom, struct rd_args *args)
{
  uint64_t size[3];
  if (!rd_parse_triple (args->value, true, size)
      || size[0] == 0 || size[1] == 0 || size[2] == 0) {
    rd_usage_error (args, "--size: '%s' is neither N nor X,Y,Z, from 1 on",
                    args->value);
    return false;
  }
  for (int i = 0; i < 3; i++)
    phantom->options.shape[i] = size[2 - i];
  return true;
}

static bool
take_option (struct phantom *phantom, int id, struct rd_args *args)
{
  struct radio_ingest_options *ingest = &phantom->options.ingest;
  switch (id) {
  case RD_OPTION_SIZE:
    return take_size (phantom, args);
  case RD_OPTION_SEED:
    if (rd_parse_u64 (args->value, &phantom->options.seed))
      return true;
    rd_usage_error (args, "--seed: '%s' is not a number from 0 on",
                    args->value);
    return false;
  case RD_OPTION_TILING:
    ingest->tiling = args->value;
    return true;
  case RD_OPTION_CODEC:
    ingest->codec = args->value;
    return true;
  case RD_OPTION_OVERWRITE:
    return phantom->overwrite = true;
  default:
    return phantom->skip_existing = true;
  }
}

static bool
parse (struct phantom *phantom, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!take_option (phantom, id, args))
      return false;
  if (id < 0 || !rd_args_want (args, 1, 1, "NAME"))
    return false;
  if (phantom->overwrite && phantom->skip_existing) {
    rd_usage_error (args, "--overwrite and --skip-existing exclude each "
                    "other");
    return false;
  }
  if (phantom->overwrite)
    phantom->options.ingest.existing = RADIO_EXISTING_REPLACE;
  if (phantom->skip_existing)
    phantom->options.ingest.existing = RADIO_EXISTING_SKIP;
  return true;
}

static enum radio_status
on_progress (const struct radio_progress *p, void *user_data)
{
  struct phantom *phantom = user_data;
  rd_progress_update (&phantom->progress, phantom->path, p->done_nbytes,
                      p->total_nbytes);
  return RADIO_OK;
}

static void
tell (const struct phantom *phantom, double seconds)
{
  const uint64_t *shape = phantom->options.shape;
  char size[RD_TEXT_NBYTES], time[RD_TEXT_NBYTES];
  printf ("made %s: %llu x %llu x %llu int16, %s in %s\n", phantom->path,
          (unsigned long long) shape[2], (unsigned long long) shape[1],
          (unsigned long long) shape[0],
          rd_text_size (2 * shape[0] * shape[1] * shape[2], size),
          rd_text_time (seconds, time));
}

static int
make (struct phantom *phantom, const struct rd_args *args)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  int failed = rd_store_open (args, true, &store);
  if (failed)
    return failed;
  rd_progress_start (&phantom->progress, "made");
  enum radio_status status = radio_phantom (store, phantom->path,
                                            &phantom->options);
  rd_progress_clear (&phantom->progress);
  if (status != RADIO_OK)
    return rd_error_library (phantom->path);
  tell (phantom, rd_clock_s () - phantom->progress.start_s);
  return RD_EXIT_OK;
}

static int
run_phantom (struct rd_args *args)
{
  struct phantom phantom = { .options.shape = { 128, 256, 256 } };
  phantom.options.ingest.progress = on_progress;
  phantom.options.ingest.user_data = &phantom;
  if (!parse (&phantom, args))
    return args->status;
  const char *name = args->operands[0];
  RD_FREE char *path = rd_format ("%s%s", strchr (name, '/') ? "" :
                                  "phantoms/", name);
  if (path == NULL)
    return RD_EXIT_FAILED;
  phantom.path = path;
  return make (&phantom, args);
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_SIZE, "size", "N|X,Y,Z",
    "size in voxels (default: 256,256,128)" },
  { RD_OPTION_SEED, "seed", "N", "another noise (default: 0)" },
  { RD_OPTION_TILING, "tiling", "TILING", "as of 'radio ingest'" },
  { RD_OPTION_CODEC, "codec", "CODEC", "as of 'radio ingest'" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL,
    "replace the volume when it is there" },
  { RD_OPTION_SKIP_EXISTING, "skip-existing", NULL,
    "leave the volume when it is there" },
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
    "volume, for trying things without data. The same options give the same "
    "voxels everywhere. Without a collection NAME goes into 'phantoms'.",
  .options = options,
  .examples =
    "radio phantom head\n"
    "radio phantom ct/large --size 1024,1024,512 --codec fast\n"
    "radio phantom test/small --size 64 --seed 7",
  .run = run_phantom,
};
