/* SPDX-License-Identifier: MIT */
/* --help, made from the tables of commands and options. */
#include <config.h>

#include <string.h>

#include "tools/options.h"

static size_t
option_width (const struct rd_option *option)
{
  size_t width = strlen ("  -x, --") + strlen (option->name);
  if (option->argument)
    width += 1 + strlen (option->argument);
  return width;
}

static size_t
options_width (const struct rd_option *options)
{
  size_t widest = 0;
  for (; options->id != 0; options++)
    if (option_width (options) > widest)
      widest = option_width (options);
  return widest;
}

static void
print_option (const struct rd_option *option, size_t width)
{
  if (option->id < 256)
    printf ("  -%c, --%s", option->id, option->name);
  else
    printf ("      --%s", option->name);
  if (option->argument)
    printf ("=%s", option->argument);
  printf ("%*s", (int) (width - option_width (option) + 2), "");
  for (const char *p = option->help; *p; p++) {
    putchar (*p);
    if (*p == '\n')
      printf ("%*s", (int) width + 2, "");
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
print_indented (const char *lines)
{
  fputs ("  ", stdout);
  for (const char *p = lines; *p; p++) {
    putchar (*p);
    if (*p == '\n' && p[1] != '\0')
      fputs ("  ", stdout);
  }
  putchar ('\n');
}

/* Break a paragraph into lines of at most 78 columns. */
static void
print_paragraph (const char *text)
{
  size_t column = 0;
  while (*text) {
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
}

void
rd_help_command (const struct rd_command *command)
{
  printf ("Usage: radio %s %s\n\n", command->name, command->operands);
  print_paragraph (command->description);
  if (command->subs) {
    print_title ("What");
    for (const struct rd_command *const *sub = command->subs; *sub; sub++)
      printf ("  %-10s %s\n", strchr ((*sub)->name, ' ') + 1,
              (*sub)->summary);
  }
  print_title ("Options");
  size_t width = options_width (command->options);
  for (const struct rd_option *o = command->options; o->id != 0; o++)
    print_option (o, width);
  print_title ("Examples");
  print_indented (command->examples);
}

void
rd_help (const struct rd_command *const *commands)
{
  puts ("Usage: radio COMMAND [OPTION]... [OPERAND]...\n\n"
        "Keeps 3-D radiology volumes as tiles in a Zarr v3 store, and "
        "reads planes and\nboxes of them fast.");
  print_title ("Commands");
  for (; *commands; commands++)
    printf ("  %-10s %s\n", (*commands)->name, (*commands)->summary);
  print_title ("Words");
  puts ("  STORE      a folder; -s/--store, else $RADIO_STORE, else "
        "./radio.zarr\n"
        "  VOLUME     COLLECTION/NAME, or NAME where it is unique, or the "
        "path of\n"
        "             a volume's folder, as study.zarr/ct/sub-01");
  print_title ("Examples");
  puts ("  radio ingest scans/*.nii.gz          make a store of some images\n"
        "  radio ls -l                          see what is in it\n"
        "  radio slice sub-01                   its middle plane as a PNG\n"
        "  radio roi sub-01 --at 90,80,60 --size 64 -o box.nii.gz");
  puts ("\n'radio help COMMAND' tells more of each.  Exit status: 0 done, "
        "1 failed,\n2 the command line is wrong.");
}
