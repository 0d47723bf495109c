/* SPDX-License-Identifier: MIT */
/* Boxes of volumes into files: the options, and the export. */
#include <config.h>

#include "tools/box-file.h"
#include "tools/output.h"

const struct rd_option rd_box_file_options[] = {
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

static bool
take_options (struct rd_args *args, struct rd_box_file *wanted)
{
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (rd_box_take (args, id, &wanted->box) < 0)
      return false;
    if (id == 'o')
      wanted->file = args->value;
    if (id == RD_OPTION_OVERWRITE)
      wanted->options.overwrite = true;
    if (id == RD_OPTION_SCALED)
      wanted->options.scaled = true;
  }
  return id == 0;
}

bool
rd_box_file_parse (struct rd_args *args, struct rd_box_file *wanted)
{
  if (!take_options (args, wanted) || !rd_args_want (args, 1, 1, "VOLUME")
      || !rd_box_consistent (args, &wanted->box))
    return false;
  if (wanted->file == NULL) {
    rd_usage_error (args, "-o FILE is missing");
    return false;
  }
  return rd_output_check (args, wanted->file, false, wanted->options.scaled);
}

int
rd_box_file_export (const struct rd_box_file *wanted,
                    const struct rd_target *target)
{
  struct radio_volume_info info;
  struct radio_box box;
  if (!rd_box_given (&wanted->box))
    return rd_output_volume (target, NULL, wanted->file, &wanted->options);
  radio_volume_info (target->volume, &info);
  int failed = rd_box_resolve (&wanted->box, info.axes, info.array.shape,
                               &box);
  if (failed)
    return failed;
  return rd_output_volume (target, &box, wanted->file, &wanted->options);
}
