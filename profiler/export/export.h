/* SPDX-License-Identifier: MIT */
/* The exporters: each writes a finished profile, as it is (redacting is done
 * before), into a writer that keeps the first failure, so that an exporter
 * may write on and ask once at its end. */
#ifndef RD_EXPORT_H
#define RD_EXPORT_H

#include <sys/types.h>

#include "src/base/buffer.h"
#include "profiler/model/profile.h"

/* Buffers the bytes written and hands them to a sink in large pieces. */
struct rd_writer {
  radio_profile_sink_fn *sink;
  void *user_data;
  enum radio_status status;   /* the first failure; then all is ignored */
  size_t nbytes;              /* in bytes[] */
  char bytes[8192];
};

void rd_writer_init (struct rd_writer *writer, radio_profile_sink_fn *sink,
                     void *user_data);
void rd_write_bytes (struct rd_writer *writer, const void *data,
                     size_t nbytes);
void rd_write_text (struct rd_writer *writer, const char *text);

/* Numbers in decimal, whatever the locale. */
void rd_write_u64 (struct rd_writer *writer, uint64_t value);
void rd_write_i64 (struct rd_writer *writer, int64_t value);

/* Nanoseconds as microseconds with three decimals: 1234567 -> 1234.567. */
void rd_write_us (struct rd_writer *writer, uint64_t ns);

/* printf for text and integers only. */
void rd_write_format (struct rd_writer *writer, const char *format, ...)
  RADIO_PRINTF (2, 3);

/* A JSON string with its quotes; '<', U+2028 and U+2029 are escaped too, so
 * that it may stand in a script of a page. */
void rd_write_json_string (struct rd_writer *writer, const char *text);

/* Hands over the remaining bytes; returns the first failure. */
enum radio_status rd_writer_end (struct rd_writer *writer) RADIO_USE_RESULT;

/* One exporter. */
typedef enum radio_status
rd_export_fn (const struct radio_profile *profile,
              const struct radio_profile_write_options *options,
              struct rd_writer *writer);

rd_export_fn rd_export_json;
rd_export_fn rd_export_html;
rd_export_fn rd_export_chrome;
rd_export_fn rd_export_kineto;
rd_export_fn rd_export_speedscope;
rd_export_fn rd_export_folded;
rd_export_fn rd_export_pprof;
rd_export_fn rd_export_text;
rd_export_fn rd_export_svg;
rd_export_fn rd_export_events;

/* The suffix of a format's files: ".html". */
const char *rd_profile_suffix (enum radio_profile_format format);

/* As radio_profile_write, with options->format set.  Without overwrite
 * RADIO_ERROR_EXISTS when there is such a file.  mode has the permissions of a
 * new file, less the process's umask. */
enum radio_status
rd_profile_write_file (const struct radio_profile *profile, const char *path,
                       const struct radio_profile_write_options *options,
                       bool overwrite, mode_t mode) RADIO_USE_RESULT;

#endif /* RD_EXPORT_H */
