/* SPDX-License-Identifier: MIT */
/* The profiles of a user: what the two files of AWS's clients say about a
 * name.  Where both say something, that of credentials counts. */
#ifndef RD_S3_PROFILE_H
#define RD_S3_PROFILE_H

#include "io/s3/ini.h"
#include "io/s3/settings.h"
#include "io/s3/sign.h"

struct rd_s3_profiles {
  struct rd_s3_ini config, credentials;
};

/* Read the files that the settings name, or those in the home folder.
 * Missing ones are empty. */
enum radio_status rd_s3_profiles_read (const struct rd_s3_settings *settings,
                                       struct rd_s3_profiles *profiles)
  RADIO_USE_RESULT;
void rd_s3_profiles_free (struct rd_s3_profiles *profiles);

#define RD_S3_PROFILES_SCOPE RD_CLEANUP (rd_s3_profiles_free)

/* The name of the profile that the settings choose: "default". */
const char *rd_s3_profile_name (const struct rd_s3_settings *settings);

/* Whether someone chose it. */
bool rd_s3_profile_is_chosen (const struct rd_s3_settings *settings);

bool rd_s3_profile_exists (const struct rd_s3_profiles *profiles,
                           const char *profile);

/* A property of a profile, as "region"; NULL: it has none. */
const char *rd_s3_profile_get (const struct rd_s3_profiles *profiles,
                               const char *profile, const char *name);

/* The address of a service, "s3" or "sts", that a profile has: of its own
 * section of services, or of all; NULL: it has none. */
const char *rd_s3_profile_endpoint (const struct rd_s3_profiles *profiles,
                                    const char *profile,
                                    const char *service);

/* Its keys: *credentials is NULL where it has none.  One without the other
 * is RADIO_ERROR_ARGUMENT. */
enum radio_status
rd_s3_profile_keys (const struct rd_s3_profiles *profiles,
                    const char *profile,
                    struct rd_s3_credentials **credentials) RADIO_USE_RESULT;

/* Keys that were given together, as where says, of which none or both must
 * be there; *credentials is NULL where none is. */
enum radio_status rd_s3_keys (const char *access_key, const char *secret_key,
                              const char *session_token, const char *where,
                              struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* The region: of the caller, the environment, the profile; NULL: none. */
const char *rd_s3_region (const struct rd_s3_settings *settings,
                          const struct rd_s3_profiles *profiles);

/* The configured address of a service, "s3" or "sts": of the environment or
 * the profile; NULL: none, or it is to be ignored. */
const char *rd_s3_endpoint (const struct rd_s3_settings *settings,
                            const struct rd_s3_profiles *profiles,
                            const char *service);

#endif /* RD_S3_PROFILE_H */
