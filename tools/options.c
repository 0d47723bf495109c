/* SPDX-License-Identifier: MIT */
/* The option parser, getopt_long driven by the table of options of a command,
 * and --help, printed from the same table. */
#include <config.h>

#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/parse.h"

#define MAX_OPTIONS 48

int
rd_usage_error (struct rd_args *args, const char *format, ...)
{
  char text[512];
  va_list list;
  va_start (list, format);
  vsnprintf (text, sizeof text, format, list);
  va_end (list);
  const char *name = args->command->name;
  if (args->command->is_program)
    rd_error ("%s (see '%s --help')", text, name);
  else
    rd_error ("%s: %s (see 'radio %s --help')", name, text, name);
  return args->status = RD_EXIT_USAGE;
}

/* Reports the option at which getopt stopped; always -1. */
static int
bad_option (struct rd_args *args, int id)
{
  const char *word = args->argv[optind - 1], *near = NULL;
  if (id == ':')
    rd_usage_error (args, "option '%s' needs a value", word);
  else if (optopt >= 256 || (optopt != 0 && strncmp (word, "--", 2) == 0))
    rd_usage_error (args, "option '%s' takes no value", word);
  else if (optopt != 0)
    rd_usage_error (args, "unknown option '-%c'", optopt);
  else {
    RD_FREE char *typed = strndup (word + 2, strcspn (word + 2, "="));
    if (typed == NULL) {
      args->status = rd_error_memory ();
      return -1;
    }
    size_t least = 3, nsame = 0;
    char same[256] = "";
    const struct rd_option *option = args->command->options;
    for (; option->id != 0; option++) {
      size_t distance = rd_text_distance (typed, option->name);
      size_t used = strlen (same);
      if (strncmp (typed, option->name, strlen (typed)) == 0)
        snprintf (same + used, sizeof same - used, "%s--%s",
                  nsame++ ? ", " : "", option->name);
      if (distance < least) {
        least = distance;
        near = option->name;
      }
    }
    if (nsame > 1)
      rd_usage_error (args, "option '%s' is one of %s; write more of it", word,
                      same);
    else if (near)
      rd_usage_error (args, "unknown option '%s', did you mean '--%s'?",
                      word, near);
    else
      rd_usage_error (args, "unknown option '%s'", word);
  }
  return -1;
}

/* With less than this, a unit was probably forgotten; a document of a store
 * takes some of it. */
#define LEAST_MEMORY_NBYTES 65536

/* Parses "SEED[,EPOCH[,I]]". */
static bool
take_draw (struct rd_args *args)
{
  const char *text = args->value;
  args->draws = true;
  memset (args->draw, 0, sizeof args->draw);
  for (int i = 0; i < 3 && rd_read_digits (&text, &args->draw[i]); i++) {
    if (*text == '\0')
      return true;
    if (*text++ != ',')
      break;
  }
  rd_usage_error (args, "--draw: '%s' is not SEED, SEED,EPOCH or SEED,EPOCH,I, "
                  "whole numbers", args->value);
  return false;
}

bool
rd_args_draw (struct rd_args *args)
{
  struct radio_pipeline *drawn;
  const uint64_t *draw = args->draw;
  if (!args->draws || !args->pipeline)
    return true;
  if (radio_pipeline_draw (args->pipeline, draw[0], draw[1], draw[2], &drawn)
      != RADIO_OK) {
    args->status = rd_error_library (NULL);
    return false;
  }
  args->random = args->pipeline;
  args->pipeline = drawn;
  return true;
}

int
rd_args_draw_again (const struct rd_args *args, size_t i,
                    struct radio_pipeline **drawn)
{
  const uint64_t *draw = args->draw;
  *drawn = NULL;
  if (i == 0 || !args->random)
    return RD_EXIT_OK;
  return radio_pipeline_draw (args->random, draw[0], draw[1], draw[2] + i,
                              drawn) == RADIO_OK
         ? RD_EXIT_OK : rd_error_library (NULL);
}

/* Ends the options: --draw belongs to a pipeline, which an option gives, or to
 * an operand. */
static bool
end_options (struct rd_args *args)
{
  const struct rd_option *option = args->command->options;
  while (option->id != 0 && option->id != RD_OPTION_APPLY)
    option++;
  if (!args->draws || args->pipeline || option->id == 0)
    return rd_args_draw (args);
  rd_usage_error (args, "--draw: no pipeline to draw; add --apply");
  return false;
}

/* Handles the options that commands share: 1 when id is one, 0 when not, -1
 * after a usage error or --help. */
static int
take_shared (struct rd_args *args, int id)
{
  uint64_t n;
  bool is_size;
  switch (id) {
  case 'h':
    rd_help_command (args->command);
    args->status = RD_EXIT_OK;
    return -1;
  case 's':
    args->store = args->value;
    if (*args->value != '\0')
      return 1;
    rd_usage_error (args, "--store: the name is empty");
    return -1;
  case 'q':
    return args->quiet = true;
  case RD_OPTION_THREADS:
    if (!rd_args_number (args, 1, 1024, &n))
      return -1;
    args->nthreads = (unsigned) n;
    return 1;
  case RD_OPTION_MEMORY:
    is_size = rd_parse_size (args->value, &args->memory_nbytes)
              && args->memory_nbytes > 0;
    if (is_size && args->memory_nbytes >= LEAST_MEMORY_NBYTES)
      return 1;
    rd_usage_error (args, is_size ? "--memory: '%s' is too little to read "
                    "anything (64K at least); give a size such as 512M or 2G"
                    : "--memory: '%s' is not a size such as 512M or 2G",
                    args->value);
    return -1;
  case RD_OPTION_APPLY:
    rd_args_clear (args);
    if (radio_pipeline_parse (args->value, &args->pipeline) == RADIO_OK)
      return 1;
    rd_usage_error (args, "--apply: %s", radio_error_message ());
    return -1;
  case RD_OPTION_DRAW:
    return take_draw (args) ? 1 : -1;
  case RD_OPTION_JSON:
    return args->json = true;
  case RD_OPTION_DRY_RUN:
    return args->dry_run = true;
  case RD_OPTION_OVERWRITE:
    return args->overwrite = true;
  case RD_OPTION_SKIP_EXISTING:
    return args->skip_existing = true;
  case RD_OPTION_KEEP_INDEX:
    return args->keep_index = true;
  case RD_OPTION_MAP:
    return args->map = true;
  case RD_OPTION_SINGLE_WRITER:
    return args->s3.single_writer = true;
  case RD_OPTION_WHERE:
    args->select.where = args->value;
    return 1;
  case RD_OPTION_SUBJECT:
    args->select.subject = args->value;
    return 1;
  case RD_OPTION_SAMPLE:
    return rd_args_number (args, 1, UINT64_MAX, &args->select.sample) ? 1 : -1;
  case RD_OPTION_SAMPLE_SEED:
    return rd_args_number (args, 0, UINT64_MAX, &args->select.seed) ? 1 : -1;
  case RD_OPTION_HEAD:
    return rd_args_number (args, 1, UINT64_MAX, &args->select.head) ? 1 : -1;
  default:
    return 0;
  }
}

int
rd_args_next (struct rd_args *args)
{
  const struct rd_option *options = args->command->options;
  struct option longs[MAX_OPTIONS] = { 0 };
  char letters[2 * MAX_OPTIONS + 2], *letter = letters;
  /* The leading ':' distinguishes a missing value from an unknown option. */
  *letter++ = ':';
  for (size_t i = 0; options[i].id != 0; i++) {
    bool takes_value = options[i].argument != NULL;
    longs[i] = (struct option) {
      options[i].name, takes_value ? required_argument : no_argument, NULL,
      options[i].id
    };
    if (options[i].id >= 256)
      continue;
    *letter++ = (char) options[i].id;
    if (takes_value)
      *letter++ = ':';
  }
  *letter = '\0';
  opterr = 0;
  for (;;) {
    int id = getopt_long (args->argc, args->argv, letters, longs, NULL);
    if (id == -1) {
      args->operands = args->argv + optind;
      args->noperands = (size_t) (args->argc - optind);
      return end_options (args) ? 0 : -1;
    }
    if (id == '?' || id == ':')
      return bad_option (args, id);
    args->value = optarg;
    args->option = options;
    while (args->option->id != id)
      args->option++;
    int taken = take_shared (args, id);
    if (taken <= 0)
      return taken < 0 ? -1 : id;
  }
}

size_t
rd_shown_nbytes (const char *operand)
{
  bool is_http = strncasecmp (operand, "http://", 7) == 0
                 || strncasecmp (operand, "https://", 8) == 0;
  return is_http ? strcspn (operand, "?") : strlen (operand);
}

bool
rd_args_want (struct rd_args *args, size_t least, size_t most,
              const char *what)
{
  if (args->noperands < least)
    rd_usage_error (args, "%s is missing", what);
  else if (args->noperands > most)
    rd_usage_error (args, "'%.*s' is one operand too many",
                    (int) rd_shown_nbytes (args->operands[most]),
                    args->operands[most]);
  else
    return true;
  return false;
}

bool
rd_args_selects (const struct rd_args *args)
{
  const struct rd_select *select = &args->select;
  return select->where || select->subject || select->sample || select->head;
}

bool
rd_args_existing (struct rd_args *args, enum radio_existing *existing)
{
  if (args->overwrite && args->skip_existing) {
    rd_usage_error (args, "--overwrite and --skip-existing exclude each "
                    "other");
    return false;
  }
  if (args->overwrite)
    *existing = RADIO_EXISTING_REPLACE;
  if (args->skip_existing)
    *existing = RADIO_EXISTING_SKIP;
  return true;
}

const char **
rd_args_names (struct rd_args *args, size_t *n)
{
  size_t nbytes = strlen (args->value) + 1;
  *n = 1;
  for (const char *p = args->value; *p; p++)
    *n += *p == ',';
  const char **names = malloc (*n * sizeof *names + nbytes);
  if (names == NULL) {
    args->status = rd_error_memory ();
    return NULL;
  }
  char *text = memcpy (names + *n, args->value, nbytes);
  for (size_t i = 0; i < *n; i++) {
    size_t length = strcspn (text, ",");
    names[i] = text;
    text[length] = '\0';
    text += length + 1;
    if (length == 0) {
      rd_usage_error (args, "--%s: '%s' has an empty name",
                      args->option->name, args->value);
      free (names);
      return NULL;
    }
  }
  return names;
}

bool
rd_args_number (struct rd_args *args, uint64_t least, uint64_t most,
                uint64_t *number)
{
  uint64_t value;
  if (rd_parse_u64 (args->value, &value) && value >= least && value <= most) {
    *number = value;
    return true;
  }
  if (most == UINT64_MAX)
    rd_usage_error (args, "--%s: '%s' is not a number from %" PRIu64,
                    args->option->name, args->value, least);
  else
    rd_usage_error (args, "--%s: '%s' is not a number from %" PRIu64 " to %"
                    PRIu64, args->option->name, args->value, least, most);
  return false;
}

bool
rd_args_shape (struct rd_args *args, uint64_t shape[3])
{
  if (rd_parse_triple (args->value, true, shape) && shape[0] > 0
      && shape[1] > 0 && shape[2] > 0)
    return true;
  rd_usage_error (args, "--%s: '%s' is neither N nor X,Y,Z, from 1",
                  args->option->name, args->value);
  return false;
}

bool
rd_args_position (struct rd_args *args, uint64_t position[3])
{
  if (rd_parse_triple (args->value, false, position))
    return true;
  rd_usage_error (args, "--%s: '%s' is not X,Y,Z, counted from 0",
                  args->option->name, args->value);
  return false;
}

bool
rd_args_percentage (struct rd_args *args, double *percent)
{
  if (rd_parse_double (args->value, percent) && *percent >= 0)
    return true;
  rd_usage_error (args, "--%s: '%s' is not a percentage from 0",
                  args->option->name, args->value);
  return false;
}

int
rd_args_choose (struct rd_args *args, const char *const *words)
{
  char list[256] = "";
  for (int i = 0; words[i] != NULL; i++) {
    if (strcmp (args->value, words[i]) == 0)
      return i;
    size_t used = strlen (list);
    snprintf (list + used, sizeof list - used, "%s%s", i ? ", " : "",
              words[i]);
  }
  rd_usage_error (args, "--%s: unknown value '%s'; use one of %s",
                  args->option->name, args->value, list);
  return -1;
}

/*------------------------------------------------------------------------
 * Boxes: parsed strictly, and checked against the image, since a box that
 * was silently clipped would be noticed late
 *----------------------------------------------------------------------*/

static const char box_letters[RD_BOX_NAXES + 1] = "xyztc";

static const char out_of_range[] = "the number is out of range";

/* Returns what is wrong with a position, or NULL. */
static const char *
parse_position (const char *text, uint64_t *value)
{
  if (rd_parse_u64 (text, value))
    return NULL;
  return text[strspn (text, "0123456789")] == '\0'
         ? out_of_range
         : "not START:END, START:, :END, : or one position";
}

const char *
rd_range_parse (const char *text, struct rd_range *range)
{
  struct rd_range result = { .given = true };
  char part[24];
  if (strchr (text, '-') != NULL)
    return "positions count from 0 and are not negative";
  size_t n = strcspn (text, ":");
  if (n >= sizeof part || strlen (text) >= n + sizeof part)
    return out_of_range;
  memcpy (part, text, n);
  part[n] = '\0';
  result.has_start = n > 0;
  const char *wrong = n > 0 ? parse_position (part, &result.start) : NULL;
  if (wrong)
    return wrong;
  if (text[n] == '\0') {
    if (n == 0)
      return "no range is given";
    result.has_end = result.is_one = true;
    if (__builtin_add_overflow (result.start, 1, &result.end))
      return out_of_range;
  } else if (text[n + 1] != '\0') {
    result.has_end = true;
    wrong = parse_position (text + n + 1, &result.end);
    if (wrong)
      return wrong;
  }
  if (result.has_end && result.end <= result.start)
    return "END must be greater than START (END is not included)";
  *range = result;
  return NULL;
}

int
rd_box_take (struct rd_args *args, int id, struct rd_box_options *box)
{
  if (id >= RD_OPTION_X && id <= RD_OPTION_C) {
    size_t axis = (size_t) (id - RD_OPTION_X);
    const char *wrong = rd_range_parse (args->value, &box->ranges[axis]);
    if (wrong)
      rd_usage_error (args, "--%c: '%s': %s", box_letters[axis], args->value,
                      wrong);
    return wrong ? -1 : 1;
  }
  if (id == RD_OPTION_SIZE)
    return (box->has_size = rd_args_shape (args, box->size)) ? 1 : -1;
  if (id == RD_OPTION_AT)
    return (box->has_at = rd_args_position (args, box->at)) ? 1 : -1;
  return 0;
}

static bool
has_space_range (const struct rd_box_options *box)
{
  return box->ranges[0].given || box->ranges[1].given || box->ranges[2].given;
}

bool
rd_box_given (const struct rd_box_options *box)
{
  return has_space_range (box) || box->ranges[3].given
         || box->ranges[4].given || box->has_at || box->has_size;
}

bool
rd_box_consistent (struct rd_args *args, const struct rd_box_options *box)
{
  if (box->has_at && !box->has_size)
    rd_usage_error (args, "--at needs --size");
  else if (box->has_size && has_space_range (box))
    rd_usage_error (args, "--size does not go with --x, --y or --z");
  else
    return true;
  return false;
}

/* Finds the axis of a letter; the rank for the z that a 2-D image lacks. */
static int
find_axis (const char *name, char letter, const char *axes, size_t *axis)
{
  const char *place = strchr (axes, letter);
  *axis = place ? (size_t) (place - axes) : strlen (axes);
  if (place || (letter == 'z' && strchr (axes, 'y') && strchr (axes, 'x')))
    return RD_EXIT_OK;
  char list[3 * RADIO_MAX_RANK + 1] = "";
  for (size_t i = strlen (axes); i-- > 0;) {
    size_t used = strlen (list);
    snprintf (list + used, sizeof list - used, "%s%c", used ? ", " : "",
              axes[i]);
  }
  return rd_error ("%s: --%c: no axis %c; the axes are %s", name,
                   letter, letter, list);
}

int
rd_box_resolve (const struct rd_box_options *options, const char *name,
                const char *axes, const uint64_t *shape,
                struct radio_box *box)
{
  size_t axis;
  memset (box, 0, sizeof *box);
  box->rank = strlen (axes);
  memcpy (box->size, shape, box->rank * sizeof *shape);
  for (size_t i = 0; i < RD_BOX_NAXES; i++) {
    const struct rd_range *range = &options->ranges[i];
    if (!range->given)
      continue;
    int failed = find_axis (name, box_letters[i], axes, &axis);
    if (failed)
      return failed;
    uint64_t n = axis < box->rank ? shape[axis] : 1;
    uint64_t end = range->has_end ? range->end : n;
    if (end > n && !range->is_one)
      return rd_error ("%s: --%c: the end %" PRIu64 " is out of range (1-%"
                       PRIu64 ")", name, box_letters[i], end, n);
    if (range->start >= n)
      return rd_error ("%s: --%c: %" PRIu64 " is out of range (0-%" PRIu64
                       ")", name, box_letters[i], range->start, n - 1);
    if (axis == box->rank)
      continue;
    box->start[axis] = range->start;
    box->size[axis] = end - range->start;
  }
  for (size_t i = 0; i < 3 && options->has_size; i++) {
    int failed = find_axis (name, box_letters[i], axes, &axis);
    if (failed)
      return failed;
    uint64_t n = axis < box->rank ? shape[axis] : 1;
    uint64_t size = options->size[i];
    if (size > n)
      return rd_error ("%s: --size: %" PRIu64 " exceeds the length of axis %c "
                       "(%" PRIu64 ")", name, size, box_letters[i], n);
    uint64_t start = options->has_at ? options->at[i] : (n - size) / 2;
    if (start > n - size)
      return rd_error ("%s: --at: %c = %" PRIu64 " is out of range (0-%" PRIu64
                       ") for a size of %" PRIu64, name, box_letters[i],
                       start, n - size, size);
    if (axis == box->rank)
      continue;
    box->start[axis] = start;
    box->size[axis] = size;
  }
  return RD_EXIT_OK;
}

void
rd_array_axes (const struct radio_array_info *info,
               char axes[RADIO_MAX_RANK + 1])
{
  static const char usual[] = "tczyx";
  size_t nusual = sizeof usual - 1;
  for (size_t i = 0; i < info->rank; i++) {
    size_t from_end = info->rank - i;
    axes[i] = from_end <= nusual ? usual[nusual - from_end] : '?';
    if (info->dimension_names) {
      const char *name = info->dimension_names[i];
      const char *letter = name && name[0] && name[1] == '\0'
        ? strchr (box_letters, name[0] | 0x20) : NULL;
      axes[i] = letter ? *letter : '?';
    }
  }
  axes[info->rank] = '\0';
}

/*------------------------------------------------------------------------
 * Commands
 *----------------------------------------------------------------------*/

static const char *
last_word (const struct rd_command *command)
{
  const char *space = strchr (command->name, ' ');
  return space ? space + 1 : command->name;
}

const struct rd_command *
rd_find_command (const struct rd_command *const *list, const char *word)
{
  for (; *list; list++)
    if (strcmp (last_word (*list), word) == 0)
      return *list;
  return NULL;
}

int
rd_unknown_command (const struct rd_command *parent,
                    const struct rd_command *const *list, const char *word)
{
  const struct rd_command *near = NULL;
  size_t least = 3;
  for (; *list; list++) {
    const char *name = last_word (*list);
    size_t distance = rd_text_distance (word, name);
    if (distance < least && distance < strlen (name)) {
      least = distance;
      near = *list;
    }
  }
  const char *name = parent ? parent->name : "";
  const char *colon = parent ? ": " : "";
  if (near)
    rd_error ("%s%sunknown command '%s', did you mean '%s%s'?", name, colon,
              word, parent ? "radio " : "", near->name);
  else
    rd_error ("%s%sunknown command '%s' (see 'radio %s%s--help')", name,
              colon, word, name, parent ? " " : "");
  return RD_EXIT_USAGE;
}

bool
rd_run_sub_command (struct rd_args *args, bool may_be_operand)
{
  const struct rd_command *const *subs = args->command->subs;
  if (args->argc < 2 || args->argv[1][0] == '-')
    return false;
  const struct rd_command *sub = rd_find_command (subs, args->argv[1]);
  if (sub == NULL && may_be_operand)
    return false;
  if (sub == NULL) {
    args->status = rd_unknown_command (args->command, subs, args->argv[1]);
    return true;
  }
  args->command = sub;
  args->argc--;
  args->argv++;
  args->status = sub->run (args);
  return true;
}

bool
rd_args_init (struct rd_args *args, const struct rd_command *command,
              int argc, char **argv)
{
  *args = (struct rd_args) {
    .command = command, .argc = argc, .argv = argv
  };
  /* The library applies it; here only to be an error of usage if it is. */
  struct radio_s3_options s3 = { 0 };
  if (radio_s3_options_parse (getenv ("RADIO_S3"), &s3) == RADIO_OK)
    return true;
  return rd_error ("RADIO_S3: %s", radio_error_message ()), false;
}

void
rd_args_clear (struct rd_args *args)
{
  radio_pipeline_free (args->pipeline);
  radio_pipeline_free (args->random);
  args->pipeline = args->random = NULL;
}

/* Only the widths of letters follow the user's locale; numbers are written
 * the same everywhere.  A file that reached the size that `ulimit -f' allows is
 * an error like any other, not a silent death, and a closed pipe does not end
 * a command before its work is done. */
void
rd_program_init (void)
{
  if (setlocale (LC_CTYPE, "") == NULL)
    setlocale (LC_CTYPE, "C.UTF-8");
  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
}

int
rd_program_main (const struct rd_command *command, int argc, char **argv)
{
  struct rd_args args;
  rd_program_init ();
  rd_set_program (command->name);
  int status = rd_args_init (&args, command, argc, argv)
               ? command->run (&args) : RD_EXIT_USAGE;
  rd_args_clear (&args);
  rd_interrupt_die ();
  return rd_close_stdout (status);
}

/*------------------------------------------------------------------------
 * --help
 *----------------------------------------------------------------------*/

static size_t
option_width (const struct rd_option *option)
{
  size_t width = strlen ("  -x, --") + strlen (option->name);
  return option->argument ? width + 1 + strlen (option->argument) : width;
}

/* Prints lines with an indentation, except the first one. */
static void
print_indented (const char *lines, size_t indentation)
{
  for (; *lines; lines++) {
    putchar (*lines);
    if (*lines == '\n')
      printf ("%*s", (int) indentation, "");
  }
  putchar ('\n');
}

static void
print_title (const char *title)
{
  printf ("\n%s%s:%s\n", rd_color (stdout, RD_BOLD), title,
          rd_color (stdout, RD_PLAIN));
}

static void
print_commands (const struct rd_command *const *list)
{
  print_title ("Commands");
  for (; *list; list++)
    printf ("  %-10s %s\n", last_word (*list), (*list)->summary);
}

void
rd_help_command (const struct rd_command *command)
{
  printf ("Usage: %s%s %s\n\n", command->is_program ? "" : "radio ",
          command->name, command->operands);
  /* The paragraph, in lines of at most 78 columns. */
  size_t column = 0;
  for (const char *text = command->description; *text;) {
    size_t length = strcspn (text, " ");
    if (column > 0 && column + 1 + length > 78) {
      putchar ('\n');
      column = 0;
    }
    column += (size_t) printf ("%s%.*s", column > 0 ? " " : "", (int) length,
                               text);
    text += length + strspn (text + length, " ");
  }
  putchar ('\n');
  if (command->subs)
    print_commands (command->subs);
  print_title ("Options");
  size_t width = 0;
  for (const struct rd_option *o = command->options; o->id != 0; o++)
    width = option_width (o) > width ? option_width (o) : width;
  for (const struct rd_option *o = command->options; o->id != 0; o++) {
    if (o->id < 256)
      printf ("  -%c, --%s", o->id, o->name);
    else
      printf ("      --%s", o->name);
    if (o->argument)
      printf ("=%s", o->argument);
    printf ("%*s", (int) (width - option_width (o) + 2), "");
    print_indented (o->help, width + 2);
  }
  print_title ("Examples");
  fputs ("  ", stdout);
  print_indented (command->examples, 2);
}

void
rd_help (const struct rd_command *const *commands)
{
  puts ("Usage: radio COMMAND [OPTION]... [OPERAND]...\n\n"
        "Stores 3-D radiology volumes as tiles in a Zarr v3 store, and "
        "reads planes and\nboxes of them fast.");
  print_commands (commands);
  print_title ("Operands");
  puts ("  STORE      a folder or URL: -s/--store, else $RADIO_STORE, else "
        "./radio.zarr\n"
        "  VOLUME     COLLECTION/NAME, or NAME where it is unique, or the "
        "path of\n"
        "             a volume's folder, as study.zarr/ct/sub-01, or an image "
        "in its file,\n"
        "             as scan.nii.gz");
  print_title ("Examples");
  puts ("  radio ingest scans/*.nii.gz          make a store of some images\n"
        "  radio ls -l                          list its volumes\n"
        "  radio slice sub-01                   write the middle plane as PNG"
        "\n"
        "  radio roi sub-01 --at 90,80,60 --size 64 -o box.nii.gz\n"
        "  radio slice scan.nii.gz              of an image that is in no "
        "store");
  puts ("\nSee 'radio help COMMAND' for the options of a command.  Exit "
        "status: 0 success,\n1 failure, 2 usage error; others as a command's "
        "help says.");
}
