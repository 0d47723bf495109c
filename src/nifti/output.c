/* SPDX-License-Identifier: MIT */
/* Images as files that appear whole, deflated where their name says so. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/text.h"
#include "src/base/whole-file.h"
#include "profiler/counters.h"
#include "src/nifti/gzip.h"
#include "src/nifti/output.h"

struct rd_output {
  struct rd_whole_file *whole;
  struct rd_gzip *gzip;       /* NULL: written as it is */
};

static enum radio_status
write_plain (void *user_data, const void *data, size_t nbytes)
{
  RD_SCOPE_BLOCKING ("write file", RD_IN_DISK);
  RD_COUNT (written, nbytes);
  return rd_whole_file_write (user_data, data, nbytes);
}

enum radio_status
rd_output_open (const char *file, bool overwrite, size_t member_nbytes,
                const struct rd_executor *executor,
                struct rd_output **result)
{
  RD_CLEANUP (rd_cleanup_output) struct rd_output *output
    = rd_calloc (1, sizeof *output);
  if (output == NULL)
    return rd_fail_memory (sizeof *output);
  RD_TRY (rd_whole_file_open (file, overwrite, 0666, &output->whole));
  if (rd_ends_with (file, ".gz"))
    RD_TRY (rd_gzip_open (executor, member_nbytes, write_plain, output->whole,
                          &output->gzip));
  *result = RD_STEAL (output);
  return RADIO_OK;
}

enum radio_status
rd_output_write (struct rd_output *output, const void *data, size_t nbytes)
{
  if (!output->gzip)
    return write_plain (output->whole, data, nbytes);
  return rd_gzip_write (output->gzip, data, nbytes);
}

enum radio_status
rd_output_commit (struct rd_output *output, radio_warning_fn *warning,
                  void *user_data)
{
  enum radio_status status = RADIO_OK;
  if (output->gzip)
    status = rd_gzip_finish (output->gzip);
  if (status == RADIO_OK) {
    RD_SCOPE_BLOCKING ("commit file", RD_IN_DISK);
    status = rd_whole_file_commit (RD_STEAL (output->whole), warning,
                                   user_data);
  }
  rd_output_abort (output);
  return status;
}

void
rd_output_abort (struct rd_output *output)
{
  if (output == NULL)
    return;
  rd_gzip_close (output->gzip);
  rd_whole_file_abort (output->whole);
  rd_free (output);
}
