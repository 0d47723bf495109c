/* SPDX-License-Identifier: MIT */
/* Complaints, colours and the end of stdout: how the command talks. */
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"
#include "tools/text.h"

/* A name on the command line may hold anything: what steers a terminal or
 * breaks the line is shown as '?'. */
static void
print_complaint (const char *kind, const char *text)
{
  /* A bar of progress may stand there. */
  fprintf (stderr, "%s%sradio:%s %s",
           isatty (STDERR_FILENO) ? "\r\033[K" : "",
           rd_color (stderr, RD_RED),
           rd_color (stderr, RD_PLAIN), kind);
  rd_text_print (stderr, text);
  fputc ('\n', stderr);
}

static RADIO_PRINTF (1, 0) char *
format_args (const char *format, va_list args)
{
  char *text = NULL;
  if (vasprintf (&text, format, args) < 0)
    return NULL;
  return text;
}

/* Kept to be told in a profile as well. */
static char *first_complaint;

const char *
rd_first_error (void)
{
  return first_complaint;
}

int
rd_error (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  RD_FREE char *text = format_args (format, args);
  va_end (args);
  print_complaint ("", text ? text : "out of memory");
  if (first_complaint == NULL) {
    first_complaint = text;
    text = NULL;
  }
  return RD_EXIT_FAILED;
}

void
rd_warn (const char *message)
{
  print_complaint ("warning: ", message);
}

int
rd_error_memory (void)
{
  return rd_error ("out of memory");
}

/* The text as rd_text_print shows it. */
static char *
shown (const char *text)
{
  char *copy = NULL;
  size_t length;
  FILE *file = open_memstream (&copy, &length);
  if (file == NULL)
    return NULL;
  rd_text_print (file, text);
  fclose (file);
  return copy;
}

/* The library has its own way to show a name with control characters, so
 * both are compared as they will be seen. */
static bool
mentions (const char *message, const char *subject)
{
  RD_FREE char *seen = shown (message);
  RD_FREE char *sought = shown (subject);
  return seen != NULL && sought != NULL && strstr (seen, sought) != NULL;
}

int
rd_error_message (const char *subject, const char *message)
{
  if (subject == NULL || mentions (message, subject))
    return rd_error ("%s", message);
  return rd_error ("%s: %s", subject, message);
}

int
rd_error_library (const char *subject)
{
  return rd_error_message (subject, radio_error_message ());
}

char *
rd_format (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  char *text = format_args (format, args);
  va_end (args);
  if (text == NULL)
    rd_error_memory ();
  return text;
}

int
rd_close_stdout (int status)
{
  bool failed = ferror (stdout) != 0;
  errno = 0;
  if (fclose (stdout) != 0)
    failed = true;
  /* A descriptor that was closed from the start is nobody's fault unless
   * something was to be written, which ferror has seen. */
  if (!failed || (errno == EBADF && status != RD_EXIT_OK))
    return status;
  rd_error ("standard output: %s",
            errno ? strerror (errno) : "cannot be written");
  return status == RD_EXIT_OK ? RD_EXIT_FAILED : status;
}

const char *
rd_color (FILE *file, const char *sequence)
{
  const char *off = getenv ("NO_COLOR");
  const char *terminal = getenv ("TERM");
  if (off != NULL && *off != '\0')
    return "";
  if (terminal == NULL || strcmp (terminal, "dumb") == 0)
    return "";
  return isatty (fileno (file)) ? sequence : "";
}
