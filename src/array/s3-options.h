/* SPDX-License-Identifier: MIT */
/* The options of a store in S3: from the caller, else from the environment
 * (RADIO_S3, and the variables of AWS's clients), else from the files of
 * profiles.  Only this module causes the environment to be read. */
#ifndef RD_S3_OPTIONS_H
#define RD_S3_OPTIONS_H

#include <radio/store.h>

#include "io/s3/sources.h"
#include "io/s3/s3.h"

/* The strings of options point into the others. */
struct rd_s3_resolved {
  struct rd_s3_settings settings;
  struct rd_s3_profiles profiles;
  struct rd_s3_options options;
};

/* Sends no request, also not for credentials.  Fails if the files of profiles
 * cannot be read. */
enum radio_status rd_s3_resolve (const struct radio_s3_options *asked,
                                 struct rd_s3_resolved *resolved)
  RADIO_USE_RESULT;
void rd_s3_resolved_free (struct rd_s3_resolved *resolved);

#define RD_S3_RESOLVED_SCOPE RD_CLEANUP (rd_s3_resolved_free)

#endif /* RD_S3_OPTIONS_H */
