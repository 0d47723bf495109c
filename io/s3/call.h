/* SPDX-License-Identifier: MIT */
/* One request to S3: signed anew for each attempt, with what its answer
 * means, and one repair each of what can be repaired. */
#ifndef RD_S3_CALL_H
#define RD_S3_CALL_H

#include "profiler/counters.h"
#include "io/holds.h"
#include "io/http/read.h"
#include "io/s3/error.h"
#include "io/s3/place.h"

#define RD_S3_NHEADERS 4

/* A CRC-32C in base64, and its NUL. */
#define RD_S3_CRC32C_NBYTES 9

struct rd_s3_upload;

/* Whether an endpoint can do something. */
enum rd_s3_skill {
  RD_S3_UNKNOWN,
  RD_S3_ABLE,
  RD_S3_UNABLE,
};

/* A store: what all its requests share. */
struct rd_s3 {
  struct rd_io base;          /* first */
  struct rd_http *http;
  struct rd_s3_place place;
  struct rd_s3_provider *provider;    /* NULL: nobody asks */
  struct rd_s3_key_cache keys;
  bool single_writer;
  uint64_t max_listed_nbytes; /* of what is gathered before it is told */
  uint64_t max_lanes;         /* buffers of parts, of all writers, of which
                                 each has one in any case */
  struct rd_holds holds;
  pthread_mutex_t probe_mutex;        /* held while it is asked what follows */
  pthread_mutex_t mutex;
  struct {
    enum rd_s3_skill if_absent;       /* conditional writes */
    struct rd_s3_upload *uploads;     /* of writers that live */
    uint64_t nlanes;                  /* of all writers */
    char region[64];
    int64_t ahead_s;          /* the server's clock is */
    bool sends_sums;          /* checksums of what is written go along */
  } synced;
};

struct rd_s3_call {
  struct rd_http_read read;           /* first; its task is the call's */
  struct rd_s3 *s3;
  char *name, *path, *query, *url;    /* owned; query: encoded, or NULL */
  struct rd_s3_credentials *credentials;
  char sha256[RD_S3_SHA256_NBYTES];   /* of the body, or UNSIGNED-PAYLOAD */
  struct rd_s3_header headers[RD_S3_NHEADERS];        /* to send besides */
  size_t nheaders;

  /* One about a checksum, left out where the server refuses it; its name
   * is NULL where there is none. */
  struct rd_s3_header sum;
  char crc32c[RD_S3_CRC32C_NBYTES];   /* of the body of a PUT */
  bool sent_sum;                      /* with the last attempt */
  bool keeps_sum;                     /* whatever the store learns meanwhile */

  /* What an answer comes to that is not worth another attempt by itself, as
   * conclude of a task has it.  NULL: whether its status is good. */
  enum radio_status (*judge) (struct rd_s3_call *call,
                              enum rd_http_next *next);

  struct rd_s3_problem problem;       /* of the last answer */
  char region[64];                    /* that the last attempt was for */
  bool mended_region, mended_clock, mended_token, mended_sum;
};

/* Make a call about a key, or with NULL about the bucket.  May wait for
 * credentials.  query is taken over, also when this fails.  Before it is
 * begun the body may be set by rd_s3_call_body, and what else is the
 * caller's of a task. */
enum radio_status rd_s3_call_init (struct rd_s3_call *call, struct rd_s3 *s3,
                                   enum rd_http_method method,
                                   const char *key, char *query)
  RADIO_USE_RESULT;
void rd_s3_call_free (struct rd_s3_call *call);

#define RD_S3_CALL_SCOPE RD_CLEANUP (rd_s3_call_free)

/* What a PUT or POST sends: the parts stay the caller's.  With a PUT goes
 * its checksum, where the store sends them. */
enum radio_status rd_s3_call_body (struct rd_s3_call *call,
                                   const struct rd_part *parts, size_t n)
  RADIO_USE_RESULT;

/* Name and value live as long as the call. */
void rd_s3_call_header (struct rd_s3_call *call, const char *name,
                        const char *value);

/* Ask, and wait for the answer; name is the request's in profiles. */
enum radio_status rd_s3_call_run (struct rd_s3_call *call,
                                  const struct radio_site *site)
  RADIO_USE_RESULT;

/* The same without waiting: done is called on the engine's thread, and ends
 * the request of profiles. */
enum radio_status rd_s3_call_start (struct rd_s3_call *call,
                                    const struct radio_site *site,
                                    void (*done) (struct rd_http_task *task))
  RADIO_USE_RESULT;

/* The site of a request. */
#define RD_S3_SITE(about, name)                                 \
  static const struct radio_site about = {                      \
    name, RD_IN_NETWORK, #about, __FILE__, __LINE__,            \
    RADIO_SCOPE_WORK                                            \
  }

/* Whether the checksums of what is written go along. */
bool rd_s3_sends_sums (struct rd_s3 *s3);

/* What judge is by default. */
enum radio_status rd_s3_judge (struct rd_s3_call *call,
                               enum rd_http_next *next);

/* The server's clock. */
int64_t rd_s3_now (struct rd_s3 *s3);

/* When a call was answered, by the clock of the server that tells when it
 * wrote what it has; ours where it does not say. */
int64_t rd_s3_answered_s (const struct rd_s3_call *call);

#endif /* RD_S3_CALL_H */
