/* SPDX-License-Identifier: MIT */
/* What S3 says is wrong, and what that means. */
#ifndef RD_S3_ERROR_H
#define RD_S3_ERROR_H

#include "io/http/http.h"

/* An answer that tells of a problem. */
struct rd_s3_problem {
  unsigned status;
  char code[64];              /* "NoSuchKey"; "": it says nothing */
  char region[64];            /* where the bucket is; "": untold */
  bool is_about_checksum;     /* its words name one */
  bool has_object_nbytes;
  uint64_t object_nbytes;     /* of a range that begins behind it */
};

/* Read the body of an answer, which may be none, or no XML. */
void rd_s3_problem_read (struct rd_s3_problem *problem,
                         const struct rd_http_answer *answer,
                         const struct rd_buffer *body);

/* Whether it passes: what to do then; else RD_HTTP_END. */
enum rd_http_next rd_s3_problem_next (const struct rd_s3_problem *problem);

/* Say what is wrong with what stands at where, and what to do.  asks_as_none
 * is whether the request was not signed. */
enum radio_status rd_s3_problem_fail (const struct rd_s3_problem *problem,
                                      const char *where, bool asks_as_none);

/* Whether it has one of these codes, which a NULL ends. */
bool rd_s3_problem_is (const struct rd_s3_problem *problem,
                       const char *const *codes);

#endif /* RD_S3_ERROR_H */
