/* SPDX-License-Identifier: MIT */
/* What a store in S3 is opened with: what the caller says, then what the
 * environment says, then the files of profiles, as with AWS's other clients.
 * This is where the environment is read; below, nothing does. */
#ifndef RD_S3_OPTIONS_H
#define RD_S3_OPTIONS_H

#include <radio/store.h>

#include "io/s3/sources.h"
#include "io/s3/s3.h"

/* The texts of options live in the others. */
struct rd_s3_resolved {
  struct rd_s3_settings settings;
  struct rd_s3_profiles profiles;
  struct rd_s3_options options;
};

/* Nothing is asked yet, also not for credentials.  What fails is reading the
 * files of profiles. */
enum radio_status rd_s3_resolve (const struct radio_s3_options *asked,
                                 struct rd_s3_resolved *resolved)
  RADIO_USE_RESULT;
void rd_s3_resolved_free (struct rd_s3_resolved *resolved);

#define RD_S3_RESOLVED_SCOPE RD_CLEANUP (rd_s3_resolved_free)

#endif /* RD_S3_OPTIONS_H */
