/* SPDX-License-Identifier: MIT */
/* The folder that TensorBoard reads: its event file and its trace. */
#ifndef RD_TENSORBOARD_H
#define RD_TENSORBOARD_H

#include "profiler/export/export.h"

/* Makes the folder, unless it is there and overwrite is set: files of other
 * profiles in it stay. */
enum radio_status rd_tensorboard_make_folder (const char *folder,
                                              bool overwrite, mode_t mode)
  RADIO_USE_RESULT;

/* The file of a format within it: RADIO_PROFILE_KINETO, or
 * RADIO_PROFILE_TENSORBOARD for the events. */
enum radio_status rd_tensorboard_name (const struct radio_profile *profile,
                                       const char *folder,
                                       enum radio_profile_format format,
                                       char *name, size_t nbytes)
  RADIO_USE_RESULT;

#endif /* RD_TENSORBOARD_H */
