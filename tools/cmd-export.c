/* SPDX-License-Identifier: MIT */
/* radio export: a volume, or any Zarr v3 array, back into a file. */
#include <config.h>

#include "tools/box-file.h"
#include "tools/commands.h"
#include "tools/output.h"

static int
export_array (const struct rd_box_file *wanted,
              const struct rd_target *target)
{
  struct radio_array_info info;
  char axes[RADIO_MAX_RANK + 1];
  struct radio_box box;
  if (!rd_has_suffix (wanted->file, ".npy") || wanted->options.scaled)
    return rd_error ("%s: an array, not a volume: it goes into .npy "
                     "files only, as it is stored", target->name);
  radio_array_info (target->array, &info);
  rd_array_axes (&info, axes);
  if (!rd_box_given (&wanted->box))
    return rd_output_array (target, NULL, wanted->file, &wanted->options);
  int failed = rd_box_resolve (&wanted->box, axes, info.shape, &box);
  if (failed)
    return failed;
  return rd_output_array (target, &box, wanted->file, &wanted->options);
}

static int
run_export (struct rd_args *args)
{
  struct rd_box_file wanted = { 0 };
  if (!rd_box_file_parse (args, &wanted))
    return args->status;
  RD_CLOSE_TARGET struct rd_target target;
  int failed = rd_target_open (args, args->operands[0], true, &target);
  if (failed)
    return failed;
  if (target.volume)
    return rd_box_file_export (&wanted, &target);
  return export_array (&wanted, &target);
}

const struct rd_command rd_command_export = {
  .name = "export",
  .operands = "VOLUME|ARRAY -o FILE [OPTION]...",
  .summary = "write a volume or an array to a file",
  .description =
    "Writes a volume to a NIfTI or NumPy file. A whole volume as .nii is the "
    "image that was ingested, byte for byte. As .npy it is what nibabel "
    "gives: axes x, y, z. Any Zarr v3 array goes into .npy as it is stored; "
    "its box is named by its dimension names, or as the last of t, c, z, y, "
    "x.",
  .options = rd_box_file_options,
  .examples =
    "radio export sub-01 -o sub-01.nii.gz\n"
    "radio export sub-01 --scaled -o sub-01.npy\n"
    "radio export any/array.zarr/0 --z 10:20 -o slab.npy",
  .run = run_export,
};
