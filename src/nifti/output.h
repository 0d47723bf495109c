/* SPDX-License-Identifier: MIT */
/* A file that appears whole or not at all: written under a temporary name
 * in the same folder, synced, renamed.  A name that ends in ".gz" is
 * deflated on the way.  A symbolic link is followed, so that it stays a link
 * to the new content; an existing file that is not regular (a device, a
 * folder) is refused rather than replaced. */
#ifndef RD_OUTPUT_H
#define RD_OUTPUT_H

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "src/base/cleanup.h"

struct rd_executor;
struct rd_output;

/* overwrite false: RADIO_ERROR_EXISTS when the file exists (checked again
 * at commit, atomically).  member_nbytes is as rd_gzip_open has it.  executor
 * deflates; it may be NULL, and must outlive the output. */
enum radio_status rd_output_open (const char *file, bool overwrite,
                                  size_t member_nbytes,
                                  const struct rd_executor *executor,
                                  struct rd_output **output)
  RADIO_USE_RESULT;
enum radio_status rd_output_write (struct rd_output *output,
                                   const void *data, size_t nbytes)
  RADIO_USE_RESULT;

/* Make it appear; the output is gone, also on failure.  warning as for
 * rd_whole_file_commit. */
enum radio_status rd_output_commit (struct rd_output *output,
                                    radio_warning_fn *warning,
                                    void *user_data) RADIO_USE_RESULT;
void rd_output_abort (struct rd_output *output);
RD_DEFINE_CLEANUP (output, struct rd_output, rd_output_abort);

#endif /* RD_OUTPUT_H */
