/* SPDX-License-Identifier: MIT */
/* The sources of credentials that the search (io/s3/chain.c) tries, and the
 * profiles that configure them.  Each source returns credentials or fails;
 * none is used unless it is configured. */
#ifndef RD_S3_SOURCES_H
#define RD_S3_SOURCES_H

#include "io/s3/credentials.h"

/*------------------------------------------------------------------------
 * INI files: ~/.aws/config and ~/.aws/credentials, in a dialect of its own
 *
 *   [profile NAME]           a section; its words may be quoted
 *   key = value # comment    after a blank, '#' or ';' begins a comment
 *   s3 =                     a property without value may have others
 *     key = value            below it, which are indented
 *   other = value
 *     more                   any other indented line continues the value
 *
 * Sections of one name are one, and of properties of one name the last one
 * counts.  Names of properties are case-insensitive.  Files may hold secrets:
 * no message shows their contents.
 *----------------------------------------------------------------------*/

#define RD_S3_INI_MAX_NBYTES 1048576

/* The texts are within the file's. */
struct rd_s3_property {
  const char *section;        /* "profile NAME", with one blank */
  const char *parent;         /* "s3"; NULL: none */
  const char *name;
  char *value;
  size_t value_nbytes;
};

struct rd_s3_ini {
  struct rd_buffer text;      /* as it was read, split in place */
  struct rd_s3_property *properties;
  size_t n, capacity;
};

/* Reads a file; one that is missing is empty.  RADIO_ERROR_FORMAT names the
 * file and the line. */
enum radio_status rd_s3_ini_read (const char *path, struct rd_s3_ini *ini)
  RADIO_USE_RESULT;

/* Parses bytes; where names them in messages. */
enum radio_status rd_s3_ini_parse (const void *bytes, size_t nbytes,
                                   const char *where, struct rd_s3_ini *ini)
  RADIO_USE_RESULT;

/* Returns a value, or NULL. */
const char *rd_s3_ini_get (const struct rd_s3_ini *ini, const char *section,
                           const char *parent, const char *name);

bool rd_s3_ini_has_section (const struct rd_s3_ini *ini,
                            const char *section);

/* Zeroizes the text; the struct is empty and usable again. */
void rd_s3_ini_free (struct rd_s3_ini *ini);

#define RD_S3_INI_SCOPE RD_CLEANUP (rd_s3_ini_free)

/*------------------------------------------------------------------------
 * Profiles: the entries of a name in both files, of which that in
 * credentials takes precedence
 *----------------------------------------------------------------------*/

struct rd_s3_profiles {
  struct rd_s3_ini config, credentials;
};

/* Reads the files that the settings name, or those in the home folder.
 * Missing ones are empty. */
enum radio_status rd_s3_profiles_read (const struct rd_s3_settings *settings,
                                       struct rd_s3_profiles *profiles)
  RADIO_USE_RESULT;
void rd_s3_profiles_free (struct rd_s3_profiles *profiles);

#define RD_S3_PROFILES_SCOPE RD_CLEANUP (rd_s3_profiles_free)

/* The name of the profile that the settings choose, or "default". */
const char *rd_s3_profile_name (const struct rd_s3_settings *settings);

/* True if the settings choose one. */
bool rd_s3_profile_is_chosen (const struct rd_s3_settings *settings);

bool rd_s3_profile_exists (const struct rd_s3_profiles *profiles,
                           const char *profile);

/* A property of a profile, such as "region", or NULL. */
const char *rd_s3_profile_get (const struct rd_s3_profiles *profiles,
                               const char *profile, const char *name);

/* The keys of a profile: *credentials is NULL where it has none.  One
 * without the other is RADIO_ERROR_ARGUMENT. */
enum radio_status
rd_s3_profile_keys (const struct rd_s3_profiles *profiles,
                    const char *profile,
                    struct rd_s3_credentials **credentials) RADIO_USE_RESULT;

/* Credentials of two keys that come from one place, which where names;
 * *credentials is NULL where both are NULL.  One without the other is
 * RADIO_ERROR_ARGUMENT. */
enum radio_status rd_s3_keys (const char *access_key, const char *secret_key,
                              const char *session_token, const char *where,
                              struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* The region: of the caller, the environment, the profile; NULL: none. */
const char *rd_s3_region (const struct rd_s3_settings *settings,
                          const struct rd_s3_profiles *profiles);

/* The configured URL of a service, "s3" or "sts", in the environment or the
 * profile; NULL: none, or it is to be ignored. */
const char *rd_s3_endpoint (const struct rd_s3_settings *settings,
                            const struct rd_s3_profiles *profiles,
                            const char *service);

/*------------------------------------------------------------------------
 * Sources
 *----------------------------------------------------------------------*/

/* The input of a search. */
struct rd_s3_search {
  const struct rd_s3_settings *settings;
  const struct rd_s3_profiles *profiles;
  int64_t now_s;
};

/* Parses a JSON document with credentials, as a process prints it
 * ("Version", "SessionToken") or a metadata service returns it ("Token").
 * where names it in messages, which show none of it. */
enum radio_status
rd_s3_credentials_from_json (const struct rd_buffer *document,
                             const char *where, bool is_process,
                             struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* Splits a command as a shell would: at blanks, but not within quotes or
 * after a backslash.  Nothing else is special.  words has room for the
 * command and one more byte; *n words of it end in a NUL each.
 * RADIO_ERROR_ARGUMENT for an unterminated quote. */
enum radio_status rd_s3_split_command (const char *command, char *words,
                                       size_t *n) RADIO_USE_RESULT;

/* Runs the command of a profile, and parses its output. */
enum radio_status
rd_s3_process_credentials (const char *command, const char *profile,
                           uint64_t timeout_ms,
                           struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

#define RD_S3_PROCESS_TIMEOUT_MS 60000

/* A role to assume, with the credentials source or a token of a file. */
struct rd_s3_role {
  const char *arn;
  const char *session_name;   /* NULL: a default */
  const char *external_id;    /* or NULL */
  const char *duration_s;     /* a number; NULL: the service's default */
  const char *token_file;     /* NULL: source signs */
  const struct rd_s3_credentials *source;
};

/* Assumes a role by STS. */
enum radio_status rd_s3_assume_role (const struct rd_s3_search *search,
                                     const struct rd_s3_role *role,
                                     struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* The container's; *credentials stays NULL where none is configured. */
enum radio_status
rd_s3_container_credentials (const struct rd_s3_search *search,
                             struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* The instance's. */
enum radio_status
rd_s3_instance_credentials (const struct rd_s3_search *search,
                            struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

#endif /* RD_S3_SOURCES_H */
