/* SPDX-License-Identifier: MIT */
/* The parser: getopt_long, driven by a command's table of options. */
#include <config.h>

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "tools/options.h"
#include "tools/text.h"

#define MAX_OPTIONS 40

int
rd_usage_error (struct rd_args *args, const char *format, ...)
{
  char text[512];
  va_list list;
  va_start (list, format);
  vsnprintf (text, sizeof text, format, list);
  va_end (list);
  const char *name = args->command->name;
  rd_error ("%s: %s (see 'radio %s --help')", name, text, name);
  return args->status = RD_EXIT_USAGE;
}

/* The table in getopt's terms.  The leading ':' of letters makes a missing
 * argument tell itself from an unknown option. */
static void
make_getopt_tables (const struct rd_option *options, struct option *longs,
                    char *letters)
{
  *letters++ = ':';
  for (; options->id != 0; options++, longs++) {
    bool takes = options->argument != NULL;
    *longs = (struct option) { options->name,
                               takes ? required_argument : no_argument,
                               NULL, options->id };
    if (options->id >= 256)
      continue;
    *letters++ = (char) options->id;
    if (takes)
      *letters++ = ':';
  }
  *letters = '\0';
  *longs = (struct option) { NULL, 0, NULL, 0 };
}

/* The long option nearest to what was typed, or NULL. */
static const char *
near_option (const struct rd_option *options, const char *typed)
{
  const char *best = NULL;
  size_t least = 3;
  for (; options->id != 0; options++) {
    size_t distance = rd_text_distance (typed, options->name);
    if (distance < least) {
      least = distance;
      best = options->name;
    }
  }
  return best;
}

static void
tell_unknown (struct rd_args *args)
{
  const char *word = args->argv[optind - 1];
  if (optopt >= 256 || (optopt != 0 && strncmp (word, "--", 2) == 0)) {
    rd_usage_error (args, "option '%s' takes no value", word);
    return;
  }
  if (optopt != 0) {
    rd_usage_error (args, "unknown option '-%c'", optopt);
    return;
  }
  RD_FREE char *typed = strdup (word + 2);
  if (typed == NULL) {
    args->status = rd_error_memory ();
    return;
  }
  typed[strcspn (typed, "=")] = '\0';
  const char *near = near_option (args->command->options, typed);
  if (near)
    rd_usage_error (args, "unknown option '%s', did you mean '--%s'?", word,
                    near);
  else
    rd_usage_error (args, "unknown or ambiguous option '%s'", word);
}

static int
tell_mistake (struct rd_args *args, int id)
{
  if (id == ':')
    rd_usage_error (args, "option '%s' needs a value",
                    args->argv[optind - 1]);
  else
    tell_unknown (args);
  return -1;
}

static bool
take_threads (struct rd_args *args)
{
  uint64_t n;
  if (!rd_parse_u64 (args->value, &n) || n < 1 || n > 1024) {
    rd_usage_error (args, "--threads: '%s' is not a number from 1 to 1024",
                    args->value);
    return false;
  }
  args->nthreads = (unsigned) n;
  return true;
}

/* A document of a store takes some of it: with less there is a unit that was
 * forgotten. */
#define LEAST_MEMORY_NBYTES 65536

static bool
take_memory (struct rd_args *args)
{
  bool is_size = rd_parse_size (args->value, &args->memory_nbytes)
                 && args->memory_nbytes > 0;
  if (is_size && args->memory_nbytes >= LEAST_MEMORY_NBYTES)
    return true;
  if (is_size) {
    rd_usage_error (args, "--memory: '%s' means bytes, too few to read "
                    "anything: give a size such as 512M or 2G",
                    args->value);
    return false;
  }
  rd_usage_error (args, "--memory: '%s' is not a size such as 512M or 2G",
                  args->value);
  return false;
}

/* The options that many commands share: 1 when id is one, -1 on a mistake
 * or when help was asked for, 0 when it is the command's own. */
static int
take_shared (struct rd_args *args, int id)
{
  switch (id) {
  case 'h':
    rd_help_command (args->command);
    args->status = RD_EXIT_OK;
    return -1;
  case 's':
    if (*args->value == '\0') {
      rd_usage_error (args, "--store: the name is empty");
      return -1;
    }
    args->store = args->value;
    return 1;
  case RD_OPTION_THREADS:
    return take_threads (args) ? 1 : -1;
  case RD_OPTION_MEMORY:
    return take_memory (args) ? 1 : -1;
  default:
    return 0;
  }
}

int
rd_args_next (struct rd_args *args)
{
  struct option longs[MAX_OPTIONS];
  char letters[2 * MAX_OPTIONS + 2];
  make_getopt_tables (args->command->options, longs, letters);
  opterr = 0;
  for (;;) {
    int id = getopt_long (args->argc, args->argv, letters, longs, NULL);
    if (id == -1) {
      args->operands = args->argv + optind;
      args->noperands = (size_t) (args->argc - optind);
      return 0;
    }
    if (id == '?' || id == ':')
      return tell_mistake (args, id);
    args->value = optarg;
    int taken = take_shared (args, id);
    if (taken <= 0)
      return taken < 0 ? -1 : id;
  }
}

bool
rd_args_want (struct rd_args *args, size_t least, size_t most,
              const char *what)
{
  if (args->noperands < least)
    rd_usage_error (args, "%s is missing", what);
  else if (args->noperands > most)
    rd_usage_error (args, "'%s' is one operand too many",
                    args->operands[most]);
  else
    return true;
  return false;
}

int
rd_args_choose (struct rd_args *args, const char *option,
                const char *const *words)
{
  char list[256] = "";
  for (int i = 0; words[i] != NULL; i++) {
    if (strcmp (args->value, words[i]) == 0)
      return i;
    size_t used = strlen (list);
    snprintf (list + used, sizeof list - used, "%s%s", i ? ", " : "",
              words[i]);
  }
  rd_usage_error (args, "%s: '%s' is none of %s", option, args->value, list);
  return -1;
}
