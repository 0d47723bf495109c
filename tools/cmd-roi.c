/* SPDX-License-Identifier: MIT */
/* radio roi: a box of a volume into a file. */
#include <config.h>

#include "tools/boxes.h"
#include "tools/commands.h"
#include "tools/names.h"
#include "tools/output.h"

struct roi {
  const char *file;
  struct rd_box_options box;
  struct radio_export_options options;
};

static bool
parse (struct roi *roi, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0) {
    int taken = rd_box_take (args, id, &roi->box);
    if (taken < 0)
      return false;
    if (id == 'o')
      roi->file = args->value;
    if (id == RD_OPTION_OVERWRITE)
      roi->options.overwrite = true;
    if (id == RD_OPTION_SCALED)
      roi->options.scaled = true;
  }
  if (id < 0 || !rd_args_want (args, 1, 1, "VOLUME")
      || !rd_box_consistent (args, &roi->box))
    return false;
  if (roi->file == NULL)
    rd_usage_error (args, "-o FILE is missing");
  else if (!rd_box_given (&roi->box))
    rd_usage_error (args, "no box given: --x, --y, --z, or --at with "
                    "--size; 'radio export' takes the whole");
  else
    return rd_output_check (args, roi->file, false, roi->options.scaled);
  return false;
}

static int
run_roi (struct rd_args *args)
{
  struct roi roi = { 0 };
  if (!parse (&roi, args))
    return args->status;
  RD_CLOSE_TARGET struct rd_target target;
  int failed = rd_target_open (args, args->operands[0], false, &target);
  if (failed)
    return failed;
  struct radio_volume_info info;
  struct radio_box box;
  radio_volume_info (target.volume, &info);
  failed = rd_box_resolve (&roi.box, info.axes, info.array.shape, &box);
  if (failed)
    return failed;
  return rd_output_volume (&target, &box, roi.file, &roi.options);
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { 'o', "output", "FILE", "write to FILE: .nii, .nii.gz or .npy" },
  RD_BOX_OPTIONS,
  { RD_OPTION_SCALED, "scaled", NULL,
    "scaled values as float32 (.npy only)" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL, "replace FILE" },
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_roi = {
  .name = "roi",
  .operands = "VOLUME BOX... -o FILE [OPTION]...",
  .summary = "write a box of a volume to a file",
  .description =
    "Writes a box of a volume to a NIfTI or NumPy file. Only the tiles that "
    "it touches are read. Voxels are counted from 0 along x, y, z as in the "
    "NIfTI file; the box keeps its place in space.",
  .options = options,
  .examples =
    "radio roi sub-01 --at 90,80,60 --size 64 -o box.nii.gz\n"
    "radio roi sub-01 --x 10:74 --z 100: -o part.nii.gz\n"
    "radio roi ct/sub-01 --size 128,128,32 --scaled -o centre.npy",
  .run = run_roi,
};
