/* SPDX-License-Identifier: MIT */
/* Output of the command, for its unit tests. */
#include <config.h>

#include <string.h>
#include <unistd.h>

#include "tests/tools/capture.h"
#include "tests/unit.h"

void
capture_begin (struct capture *capture)
{
  fflush (stdout);
  capture->file = tmpfile ();
  assert_non_null (capture->file);
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
    capture->saved[fd - STDOUT_FILENO] = dup (fd);
    assert_true (dup2 (fileno (capture->file), fd) >= 0);
  }
}

void
capture_end (struct capture *capture)
{
  fflush (stdout);
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
    dup2 (capture->saved[fd - STDOUT_FILENO], fd);
    close (capture->saved[fd - STDOUT_FILENO]);
  }
  rewind (capture->file);
  size_t n = fread (capture->text, 1, sizeof capture->text - 1,
                    capture->file);
  capture->text[n] = '\0';
  fclose (capture->file);
}

void
assert_says (const struct capture *capture, const char *part)
{
  if (strstr (capture->text, part) == NULL)
    fail_msg ("'%s' is not in:\n%s", part, capture->text);
}

void
assert_says_not (const struct capture *capture, const char *part)
{
  if (strstr (capture->text, part) != NULL)
    fail_msg ("'%s' is in:\n%s", part, capture->text);
}
