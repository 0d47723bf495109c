/* SPDX-License-Identifier: MIT */
/* The places that credentials come from, for io/s3/chain.c.  Each gives
 * credentials or fails; none is asked unless it is set up. */
#ifndef RD_S3_SOURCES_H
#define RD_S3_SOURCES_H

#include "io/s3/profile.h"

/* What all of them are told. */
struct rd_s3_search {
  const struct rd_s3_settings *settings;
  const struct rd_s3_profiles *profiles;
  int64_t now_s;
};

/* A document of JSON that holds credentials, as a process prints them
 * ("Version", "SessionToken") or a metadata service answers ("Token").
 * where names it in messages, which show nothing of it. */
enum radio_status
rd_s3_credentials_from_json (const struct rd_buffer *document,
                             const char *where, bool is_process,
                             struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* "2026-01-31T12:34:56Z", with a fraction or another offset from UTC, too;
 * false for another text. */
bool rd_s3_parse_time (const char *text, int64_t *unix_s);

/* Split a command as a shell would: at blanks, but not within quotes or
 * behind a backslash.  Nothing else is special.  words is as long as the
 * command, and more by 1; *n words of it end in a NUL each.
 * RADIO_ERROR_ARGUMENT for a quote that does not end. */
enum radio_status rd_s3_split_command (const char *command, char *words,
                                       size_t *n) RADIO_USE_RESULT;

/* Run the command of a profile, and take what it prints. */
enum radio_status rd_s3_ask_process (const char *command,
                                     const char *profile,
                                     uint64_t timeout_ms,
                                     struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

#define RD_S3_PROCESS_TIMEOUT_MS 60000

/* A role to assume, as who source is, or as the token in the file says. */
struct rd_s3_role {
  const char *arn;
  const char *session_name;   /* NULL: one is made */
  const char *external_id;    /* or NULL */
  const char *duration_s;     /* a number; NULL: what the service does */
  const char *token_file;     /* NULL: source signs */
  const struct rd_s3_credentials *source;
};

enum radio_status rd_s3_assume_role (const struct rd_s3_search *search,
                                     const struct rd_s3_role *role,
                                     struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* The container's; *credentials stays NULL where none is set up. */
enum radio_status
rd_s3_look_at_container (const struct rd_s3_search *search,
                         struct rd_s3_credentials **credentials)
  RADIO_USE_RESULT;

/* The instance's. */
enum radio_status
rd_s3_ask_instance (const struct rd_s3_search *search,
                    struct rd_s3_credentials **credentials) RADIO_USE_RESULT;

#endif /* RD_S3_SOURCES_H */
