/* SPDX-License-Identifier: MIT */
/* One question to a service that hands out credentials, and its answer,
 * waited for.  Each has an engine of its own, for a moment: they are asked
 * once an hour, and never through a proxy. */
#ifndef RD_S3_ASK_H
#define RD_S3_ASK_H

#include "io/http/http.h"
#include "io/s3/sign.h"

#define RD_S3_MAX_ANSWER_NBYTES 65536

struct rd_s3_question {
  const char *what;           /* "the container's credentials": messages say
                                 this, not the address, which may be secret */
  const char *url;
  enum rd_http_method method;
  const struct rd_s3_header *headers;
  size_t nheaders;
  const char *body;           /* NULL: none */
  const struct rd_s3_signing *signing;        /* NULL: not signed */
  unsigned nattempts;
  uint64_t timeout_ms;        /* to connect, and to answer */
  const char *ca_file;        /* NULL: the system's */
};

/* RADIO_OK for every answer, whatever its status, but one that asks to come
 * again and was not another the last time.  The buffer's content is
 * replaced; it is as large as it gets from the begin, so that no copy of a
 * secret is left behind. */
enum radio_status rd_s3_ask (const struct rd_s3_question *question,
                             struct rd_buffer *answer, unsigned *status)
  RADIO_USE_RESULT;

/* Whether a text can be the value of a header: a line without control
 * characters. */
bool rd_s3_is_line (const char *text);

#endif /* RD_S3_ASK_H */
