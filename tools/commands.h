/* SPDX-License-Identifier: MIT */
/* The commands and sub-commands. */
#ifndef RD_COMMANDS_H
#define RD_COMMANDS_H

#include "tools/options.h"

extern const struct rd_command rd_command_bench;
extern const struct rd_command rd_command_cp;
extern const struct rd_command rd_command_diff;
extern const struct rd_command rd_command_export;
extern const struct rd_command rd_command_gc;
extern const struct rd_command rd_command_info;
extern const struct rd_command rd_command_ingest;
extern const struct rd_command rd_command_ls;
extern const struct rd_command rd_command_phantom;
extern const struct rd_command rd_command_profile;
extern const struct rd_command rd_command_rm;
extern const struct rd_command rd_command_roi;
extern const struct rd_command rd_command_slice;
extern const struct rd_command rd_command_stats;
extern const struct rd_command rd_command_validate;

extern const struct rd_command rd_profile_convert;
extern const struct rd_command rd_profile_full;
extern const struct rd_command rd_profile_ingest;
extern const struct rd_command rd_profile_merge;
extern const struct rd_command rd_profile_roi;
extern const struct rd_command rd_profile_show;
extern const struct rd_command rd_profile_slice;
extern const struct rd_command rd_profile_sweep;

extern const struct rd_command rd_bench_compare;

#endif /* RD_COMMANDS_H */
