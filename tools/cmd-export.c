/* SPDX-License-Identifier: MIT */
/* radio export: a volume, or any Zarr v3 array, into a file.
 * radio roi: a box of a volume into a file. */
#include <config.h>

#include "tools/options.h"
#include "tools/output.h"

struct export {
  const char *file;
  struct rd_box_options box;
  struct radio_export_options options;
};

static bool
parse_export (struct rd_args *args, struct export *export)
{
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (rd_box_take (args, id, &export->box) < 0)
      return false;
    if (id == 'o')
      export->file = args->value;
    if (id == RD_OPTION_SCALED)
      export->options.scaled = true;
  }
  if (id < 0 || !rd_args_want (args, 1, 1, "VOLUME")
      || !rd_box_consistent (args, &export->box))
    return false;
  export->options.overwrite = args->overwrite;
  if (export->file == NULL) {
    rd_usage_error (args, "-o FILE is missing");
    return false;
  }
  return rd_output_check (args, export->file, false, export->options.scaled);
}

static int
export_volume (const struct export *export, const struct rd_target *target)
{
  struct radio_volume_info info;
  struct radio_box box;
  bool has_box = rd_box_given (&export->box);
  radio_volume_get_info (target->volume, &info);
  int failed = has_box ? rd_box_resolve (&export->box, info.axes,
                                         info.array.shape, &box)
                       : RD_EXIT_OK;
  return failed ? failed
    : rd_output_volume (target, has_box ? &box : NULL, export->file,
                        &export->options);
}

static int
export_array (const struct export *export, const struct rd_target *target)
{
  struct radio_array_info info;
  char axes[RADIO_MAX_RANK + 1];
  struct radio_box box;
  bool has_box = rd_box_given (&export->box);
  if (!rd_has_suffix (export->file, ".npy") || export->options.scaled)
    return rd_error ("%s: an array, not a volume: it goes into .npy files "
                     "only, as stored", target->name);
  radio_array_get_info (target->array, &info);
  rd_array_axes (&info, axes);
  int failed = has_box ? rd_box_resolve (&export->box, axes, info.shape,
                                         &box) : RD_EXIT_OK;
  return failed ? failed
    : rd_output_array (target, has_box ? &box : NULL, export->file,
                       &export->options);
}

/* radio roi wants a box, and takes no arrays. */
static int
run_export (struct rd_args *args)
{
  struct export export = { 0 };
  bool is_roi = args->command == &rd_command_roi;
  if (!parse_export (args, &export))
    return args->status;
  if (is_roi && !rd_box_given (&export.box))
    return rd_usage_error (args, "no box given: use --x, --y, --z, or --at "
                           "with --size; 'radio export' writes the whole");
  RD_CLOSE_TARGET struct rd_target target;
  int failed = rd_target_open (args, args->operands[0], !is_roi, &target);
  if (failed)
    return failed;
  return target.volume ? export_volume (&export, &target)
                       : export_array (&export, &target);
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

const struct rd_command rd_command_export = {
  .name = "export",
  .operands = "VOLUME|ARRAY -o FILE [OPTION]...",
  .summary = "write a volume or an array to a file",
  .description =
    "Writes a volume to a NIfTI or NumPy file. A whole volume as .nii is the "
    "image that was ingested, byte for byte. As .npy it is what nibabel "
    "returns: axes x, y, z. Any Zarr v3 array is written to .npy as stored; "
    "the axes of its box are its dimension names, or the last of t, c, z, y, "
    "x.",
  .options = options,
  .examples =
    "radio export sub-01 -o sub-01.nii.gz\n"
    "radio export sub-01 --scaled -o sub-01.npy\n"
    "radio export any/array.zarr/0 --z 10:20 -o slab.npy",
  .run = run_export,
};

const struct rd_command rd_command_roi = {
  .name = "roi",
  .operands = "VOLUME BOX... -o FILE [OPTION]...",
  .summary = "write a box of a volume to a file",
  .description =
    "Writes a box of a volume to a NIfTI or NumPy file. Only the tiles that "
    "it intersects are read. Voxels are counted from 0 along x, y, z as in "
    "the NIfTI file; the box keeps its place in space.",
  .options = options,
  .examples =
    "radio roi sub-01 --at 90,80,60 --size 64 -o box.nii.gz\n"
    "radio roi sub-01 --x 10:74 --z 100: -o part.nii.gz\n"
    "radio roi ct/sub-01 --size 128,128,32 --scaled -o centre.npy",
  .run = run_export,
};
