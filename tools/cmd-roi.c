/* SPDX-License-Identifier: MIT */
/* radio roi: a box of a volume into a file. */
#include <config.h>

#include "tools/box-file.h"
#include "tools/commands.h"

/* A box must be told: whoever forgets it would get the whole. */
static bool
parse (struct rd_args *args, struct rd_box_file *wanted)
{
  if (!rd_box_file_parse (args, wanted))
    return false;
  if (rd_box_given (&wanted->box))
    return true;
  rd_usage_error (args, "no box given: --x, --y, --z, or --at with "
                  "--size; 'radio export' takes the whole");
  return false;
}

static int
run_roi (struct rd_args *args)
{
  struct rd_box_file wanted = { 0 };
  if (!parse (args, &wanted))
    return args->status;
  RD_CLOSE_TARGET struct rd_target target;
  int failed = rd_target_open (args, args->operands[0], false, &target);
  if (failed)
    return failed;
  return rd_box_file_export (&wanted, &target);
}

const struct rd_command rd_command_roi = {
  .name = "roi",
  .operands = "VOLUME BOX... -o FILE [OPTION]...",
  .summary = "write a box of a volume to a file",
  .description =
    "Writes a box of a volume to a NIfTI or NumPy file. Only the tiles that "
    "it touches are read. Voxels are counted from 0 along x, y, z as in the "
    "NIfTI file; the box keeps its place in space.",
  .options = rd_box_file_options,
  .examples =
    "radio roi sub-01 --at 90,80,60 --size 64 -o box.nii.gz\n"
    "radio roi sub-01 --x 10:74 --z 100: -o part.nii.gz\n"
    "radio roi ct/sub-01 --size 128,128,32 --scaled -o centre.npy",
  .run = run_roi,
};
