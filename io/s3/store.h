/* SPDX-License-Identifier: MIT */
/* The S3 store: its address, its requests, listings and writes. */
#ifndef RD_S3_STORE_H
#define RD_S3_STORE_H

#include "profiler/counters.h"
#include "io/http/http.h"
#include "io/s3/s3.h"
#include "io/s3/sign.h"
#include "io/store.h"

/*------------------------------------------------------------------------
 * The address: endpoint, bucket and prefix
 *----------------------------------------------------------------------*/

struct rd_s3_place {
  bool is_https;
  bool is_virtual;            /* the bucket is part of the host's name */
  char *host;                 /* with the port unless it is the scheme's;
                                 NULL: that of AWS in a region */
  char *base;                 /* a path before the bucket, as sent; "" */
  char *bucket, *prefix;      /* "" or as "a/b" */
};

/* RADIO_ERROR_ARGUMENT; no message shows passwords. */
enum radio_status rd_s3_place_parse (struct rd_s3_place *place,
                                     const char *uri,
                                     const struct rd_s3_options *options)
  RADIO_USE_RESULT;
void rd_s3_place_free (struct rd_s3_place *place);

/* True if it can be the name of a region. */
bool rd_s3_is_region (const char *region);

/* The host, and the encoded path of a key below the prefix or, with NULL, of
 * the bucket.  Allocated; NULL without memory (the message is set). */
char *rd_s3_place_host (const struct rd_s3_place *place, const char *region);
char *rd_s3_place_path (const struct rd_s3_place *place, const char *key);

/* "PREFIX/KEY", or the one of them that is not "". */
char *rd_s3_place_key (const struct rd_s3_place *place, const char *key);

/*------------------------------------------------------------------------
 * Errors that S3 reports
 *----------------------------------------------------------------------*/

struct rd_s3_error {
  unsigned status;
  bool has_code;              /* also one that is too odd to be shown */
  char code[64];              /* "NoSuchKey"; "": none */
  char region[64];            /* where the bucket is; "": not given */
  char redirected_to[128];    /* where a redirection goes; the same */
  char message[160];          /* the begin of the server's, to be shown */
  bool is_about_checksum;     /* its message names one */
  bool has_object_nbytes;
  uint64_t object_nbytes;     /* of a range that begins after it */
};

/* Parses the body of a response, which may be empty, or no XML. */
void rd_s3_error_parse (struct rd_s3_error *error,
                        const struct rd_http_response *response,
                        const struct rd_buffer *body);

/* The kind of retry for a transient error; else RD_HTTP_FINISH. */
enum rd_http_next rd_s3_error_next (const struct rd_s3_error *error);

/*------------------------------------------------------------------------
 * The store: state that all its requests share
 *----------------------------------------------------------------------*/

/* Support of a feature by an endpoint. */
enum rd_s3_support {
  RD_S3_UNKNOWN,
  RD_S3_SUPPORTED,
  RD_S3_UNSUPPORTED,
};

/* A multipart upload, while its writer lives. */
struct rd_s3_upload {
  struct rd_s3_upload *next;
  const char *id;
};

struct rd_s3 {
  struct rd_io base;          /* first */
  struct rd_http *http;
  struct rd_s3_place place;
  struct rd_s3_provider *provider;    /* NULL: anonymous */
  struct rd_s3_key_cache keys;
  bool single_writer;
  uint64_t max_listed_nbytes; /* collected before it is reported */
  uint64_t max_lanes;         /* buffers of parts, of all writers, of which
                                 each has one in any case */
  struct rd_local_locks locks;
  pthread_mutex_t probe_mutex;        /* held while if_absent is probed */
  pthread_mutex_t mutex;
  struct {
    enum rd_s3_support if_absent;     /* conditional writes */
    enum rd_s3_support suffix_ranges; /* of reads */
    enum rd_s3_support removes_many;  /* DeleteObjects */
    struct rd_s3_upload *uploads;     /* of live writers */
    uint64_t nlanes;                  /* of all writers */
    char region[64];
    int64_t skew_s;           /* the server's clock minus ours */
    bool sends_sums;          /* writes carry checksums */
  } synced;
};

/*------------------------------------------------------------------------
 * Calls: one request to S3, signed for each attempt, with one correction
 * each of the causes that can be corrected
 *----------------------------------------------------------------------*/

#define RD_S3_NHEADERS 4

/* A CRC-32C in base64, and its NUL. */
#define RD_S3_CRC32C_NBYTES 9

struct rd_s3_call {
  struct rd_http_read read;           /* first; its task is the call's */
  struct rd_s3 *s3;
  char *name, *path, *query, *url;    /* owned; query: encoded, or NULL */
  struct rd_s3_credentials *credentials;
  char sha256[RD_S3_SHA256_NBYTES];   /* of the body, or UNSIGNED-PAYLOAD */
  struct rd_s3_header headers[RD_S3_NHEADERS];
  size_t nheaders;

  /* A checksum header, omitted (name NULL) where the server rejects it. */
  struct rd_s3_header sum;
  char crc32c[RD_S3_CRC32C_NBYTES];   /* of the body of a PUT */
  bool sent_sum;                      /* with the last attempt */
  bool keeps_sum;                     /* whatever the store learns meanwhile */

  /* Decides the result of a response, like conclude of a task.  NULL:
   * rd_s3_classify. */
  enum radio_status (*classify) (struct rd_s3_call *call,
                                 enum rd_http_next *next);

  struct rd_s3_error error;           /* of the last response */
  char region[64];                    /* that the last attempt was for */
  bool corrected_region, corrected_clock, refreshed_token, dropped_sum;
  unsigned nwrong_suffixes;           /* responses to a suffix range */
};

/* Makes a call for a key, or with NULL for the bucket.  May wait for
 * credentials.  Owns query, also when this fails.  Before it is started the
 * body may be set by rd_s3_call_body, and the caller's fields of the task. */
enum radio_status rd_s3_call_init (struct rd_s3_call *call, struct rd_s3 *s3,
                                   enum rd_http_method method,
                                   const char *key, char *query)
  RADIO_USE_RESULT;
void rd_s3_call_free (struct rd_s3_call *call);

#define RD_S3_CALL_SCOPE RD_CLEANUP (rd_s3_call_free)

/* Sets the body of a PUT or POST: the parts stay the caller's.  A PUT
 * carries its checksum, where the store sends them. */
enum radio_status rd_s3_call_body (struct rd_s3_call *call,
                                   const struct rd_part *parts, size_t n)
  RADIO_USE_RESULT;

/* Adds a header.  Name and value live as long as the call. */
void rd_s3_call_header (struct rd_s3_call *call, const char *name,
                        const char *value);

/* Sets the message of the error that the server reported, and returns the
 * status. */
enum radio_status rd_s3_call_fail (const struct rd_s3_call *call);

/* Sends the request, and waits for the response; site names it in profiles.
 */
enum radio_status rd_s3_call_run (struct rd_s3_call *call,
                                  const struct radio_site *site)
  RADIO_USE_RESULT;

/* The same without waiting: done is called on the engine's thread, and ends
 * the request in profiles. */
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

/* The default of classify. */
enum radio_status rd_s3_classify (struct rd_s3_call *call,
                                  enum rd_http_next *next);

/* The result of reading the body of a response, for classify: one that is not
 * what S3 sends (RADIO_ERROR_FORMAT) says nothing of the object.  It is
 * requested again, and at last RADIO_ERROR_IO. */
enum radio_status rd_s3_classify_body (enum radio_status status,
                                       enum rd_http_next *next);

/* The time of a response, by the server's clock; ours where it does not say.
 */
int64_t rd_s3_response_time (const struct rd_s3_call *call);

/*------------------------------------------------------------------------
 * Listings
 *----------------------------------------------------------------------*/

/* A page of a listing: of objects, or of uploads. */
struct rd_s3_page {
  /* Set by the caller. */
  const char *root;           /* the root element of its document */
  const char *operation;      /* "ListObjects", for messages */

  /* Called with each document, on the engine's thread, after its properties
   * were parsed.  RADIO_ERROR_FORMAT: it is wrong, and requested again.  May
   * be NULL. */
  enum radio_status (*read_items) (struct rd_s3_page *page,
                                   const struct rd_buffer *text);
  void *user_data;

  /* Parsed; is_encoded: its keys are. */
  bool has_root, is_truncated, is_encoded;
  int64_t now_s;              /* time of the response */
};

/* Requests a page, and parses its properties, which may stand after its
 * items: these are then read from the text, once more.  Another document is
 * requested again, and at last RADIO_ERROR_IO; and errors of the request. */
enum radio_status rd_s3_page_read (struct rd_s3 *s3,
                                   const struct rd_buffer *query,
                                   const struct radio_site *site,
                                   struct rd_s3_page *page,
                                   struct rd_buffer *text) RADIO_USE_RESULT;

/* Appends "&NAME=VALUE", without '&' at the begin; the value is encoded. */
enum radio_status rd_s3_query_add (struct rd_buffer *query, const char *name,
                                   const char *value) RADIO_USE_RESULT;

/* Returns a copy of the buffer as a string.  NULL without memory. */
char *rd_s3_query_copy (const struct rd_buffer *query);

/* The prefix of the keys of probes, which test what an endpoint supports.
 * list omits them; this lists the rest of their keys. */
#define RD_S3_PROBE_NAME ".radio-probe-"
enum radio_status rd_s3_list_probes (struct rd_s3 *s3, rd_io_list_fn *fn,
                                     void *user_data) RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

/* Most bytes of one request. */
#define RD_S3_PART_NBYTES ((size_t) 8 << 20)

/* Ends an upload without an object; NOT_FOUND: it has ended. */
enum radio_status rd_s3_upload_abort (struct rd_s3 *s3, const char *key,
                                      const char *id) RADIO_USE_RESULT;

/* Entries of the store's table. */
enum radio_status rd_s3_list (struct rd_io *io, const char *prefix,
                              bool recursive, rd_io_list_fn *fn,
                              void *user_data) RADIO_USE_RESULT;
enum radio_status rd_s3_list_after (struct rd_io *io, const char *prefix,
                                    const char *after, rd_io_list_fn *fn,
                                    void *user_data) RADIO_USE_RESULT;
enum radio_status rd_s3_put (struct rd_io *io, const char *key,
                             const struct rd_part *parts, size_t n,
                             enum rd_put how) RADIO_USE_RESULT;
enum radio_status rd_s3_create (struct rd_io *io, const char *key,
                                struct rd_io_writer **writer)
  RADIO_USE_RESULT;
enum radio_status rd_s3_duplicate (struct rd_io *io, const char *from,
                                   uint64_t nbytes, const char *key)
  RADIO_USE_RESULT;
enum radio_status rd_s3_remove (struct rd_io *io, const char *key)
  RADIO_USE_RESULT;
enum radio_status rd_s3_remove_many (struct rd_io *io, char *const *keys,
                                     size_t n) RADIO_USE_RESULT;
enum radio_status rd_s3_remove_tree (struct rd_io *io, const char *prefix)
  RADIO_USE_RESULT;
enum radio_status rd_s3_sweep (struct rd_io *io, const char *prefix,
                               bool dry_run, struct rd_io_swept *swept)
  RADIO_USE_RESULT;

#endif /* RD_S3_STORE_H */
