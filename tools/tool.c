/* SPDX-License-Identifier: MIT */
/* Errors, colours and the end of stdout. */
#include <config.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "tools/text.h"
#include "tools/tool.h"

static const char *program = "radio";

void
rd_set_program (const char *name)
{
  program = name;
}

/* A message until it is printed. */
struct rd_message {
  struct rd_message *next;
  bool is_error;
  char text[];
};

/* Where the thread's messages are kept; NULL: they are printed. */
static _Thread_local struct rd_messages *kept;

/* Keeps a message; false: it is to be printed. */
static bool
keep_message (bool is_error, const char *text)
{
  size_t nbytes = strlen (text) + 1;
  struct rd_message *message = kept ? malloc (sizeof *message + nbytes) : NULL;
  if (message == NULL)
    return false;
  *message = (struct rd_message) { .is_error = is_error };
  memcpy (message->text, text, nbytes);
  *(kept->first ? &kept->last->next : &kept->first) = message;
  kept->last = message;
  return true;
}

/* Prints a line.  A name on the command line may contain control characters:
 * they are shown as '?'. */
static void
print_message (const char *kind, const char *text)
{
  /* The line may hold a progress bar. */
  fprintf (stderr, "%s%s%s:%s %s",
           isatty (STDERR_FILENO) ? "\r\033[K" : "",
           rd_color (stderr, RD_RED), program,
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

/* Kept for the profile. */
static char *first_error;

const char *
rd_first_error (void)
{
  return first_error;
}

int
rd_error (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  RD_FREE char *text = format_args (format, args);
  va_end (args);
  if (text && keep_message (true, text))
    return RD_EXIT_FAILED;
  print_message ("", text ? text : "out of memory");
  if (first_error == NULL) {
    first_error = text;
    text = NULL;
  }
  return RD_EXIT_FAILED;
}

void
rd_warn (const char *message)
{
  if (!keep_message (false, message))
    print_message ("warning: ", message);
}

void
rd_messages_keep (struct rd_messages *messages)
{
  kept = messages;
}

void
rd_messages_print (struct rd_messages *messages)
{
  while (messages->first) {
    struct rd_message *message = messages->first;
    messages->first = message->next;
    if (message->is_error)
      rd_error ("%s", message->text);
    else
      rd_warn (message->text);
    free (message);
  }
}

void
rd_on_warning (const char *message, void *user_data)
{
  (void) user_data;
  rd_warn (message);
}

int
rd_error_memory (void)
{
  return rd_error ("out of memory");
}

/* Returns the text as rd_text_print shows it, allocated. */
static char *
displayed (const char *text)
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

int
rd_error_message (const char *subject, const char *message)
{
  if (subject == NULL)
    return rd_error ("%s", message);
  /* The library displays control characters in its own way, so both are
   * compared as displayed. */
  RD_FREE char *seen = displayed (message);
  RD_FREE char *sought = displayed (subject);
  /* The library's message has a URL without its last '/'. */
  for (size_t n = sought ? strlen (sought) : 0;
       n > 1 && sought[n - 1] == '/'; n--)
    sought[n - 1] = '\0';
  if (seen != NULL && sought != NULL && strstr (seen, sought) != NULL)
    return rd_error ("%s", message);
  /* The library names a node by its path in the store, the end of a path or
   * URL to it. */
  for (const char *end = strchr (subject, '/'); end; end = strchr (end, '/')) {
    size_t n = strlen (++end);
    if (n > 0 && strncmp (message, end, n) == 0
        && (message[n] == '/' || message[n] == ':'))
      return rd_error ("%.*s%s", (int) (end - subject), subject, message);
  }
  return rd_error ("%s: %s", subject, message);
}

int
rd_error_library (const char *subject)
{
  return rd_error_message (subject, radio_error_message ());
}

const char *
rd_errno_text (int errnum)
{
  return errnum == EMFILE
         ? "Too many open files; raise the process's limit (ulimit -n)"
         : strerror (errnum);
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

char *
rd_string_copy (const struct radio_strings *strings, uint64_t i)
{
  int64_t start = strings->offsets[i];
  size_t n = (size_t) (strings->offsets[i + 1] - start);
  char *copy = n ? strndup (strings->bytes + start, n) : strdup ("");
  if (copy == NULL)
    rd_error_memory ();
  return copy;
}

int
rd_close_stdout (int status)
{
  bool failed = ferror (stdout) != 0;
  errno = 0;
  if (fflush (stdout) != 0)
    failed = true;
  /* The reader has closed the pipe: as with other commands that is not
   * reported, and SIGPIPE ends this one, now that its work is done. */
  struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };
  if (failed && status == RD_EXIT_OK && poll (&output, 1, 0) == 1
      && (output.revents & POLLERR)) {
    signal (SIGPIPE, SIG_DFL);
    raise (SIGPIPE);
  }
  int errnum = errno;
  if (fclose (stdout) != 0)
    failed = true;
  errno = errnum ? errnum : errno;
  /* A descriptor that was closed from the start is no error unless something
   * was to be written, which ferror has seen. */
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
