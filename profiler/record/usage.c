/* SPDX-License-Identifier: MIT */
/* Figures of the process and the machine, from getrusage and /proc. */
#include <config.h>

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/cleanup.h"
#include "profiler/record/usage.h"

#define BLOCK_NBYTES 512      /* of ru_inblock, whatever the disk's are */

/* The beginning of a file in /proc, as text; "" where there is none. */
static void
read_text (const char *path, char *text, size_t capacity)
{
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, text, capacity - 1) : 0;
  text[n > 0 ? n : 0] = '\0';
}

/* A number of digits, after blanks; moves the text behind it. */
static uint64_t
next_number (const char **text)
{
  uint64_t number = 0;
  *text += strspn (*text, " \t");
  for (; **text >= '0' && **text <= '9'; ++*text)
    number = 10 * number + (uint64_t) (**text - '0');
  return number;
}

/* "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..." */
static uint64_t
read_steal_ns (void)
{
  char text[256];
  const char *at = text + strlen ("cpu");
  long per_second = sysconf (_SC_CLK_TCK);
  uint64_t ticks = 0;
  read_text ("/proc/stat", text, sizeof text);
  if (per_second <= 0 || strncmp (text, "cpu ", 4) != 0)
    return 0;
  for (int i = 0; i < 8; i++)
    ticks = next_number (&at);
  return ticks * (1000000000 / (uint64_t) per_second);
}

/* "VmHWM:  1234 kB": getrusage has that of the program which called exec,
 * where it was larger. */
static uint64_t
read_resident_nbytes (void)
{
  static const char key[] = "\nVmHWM:";
  char text[2048];
  read_text ("/proc/self/status", text, sizeof text);
  const char *at = strstr (text, key);
  if (!at)
    return 0;
  at += strlen (key);
  return next_number (&at) * 1024;
}

void
rd_usage_read (struct rd_usage *usage)
{
  struct rusage process;
  *usage = (struct rd_usage) { .is_known = false };
  if (getrusage (RUSAGE_SELF, &process) != 0)
    return;
  *usage = (struct rd_usage) {
    .is_known = true,
    .nminor_faults = (uint64_t) process.ru_minflt,
    .nmajor_faults = (uint64_t) process.ru_majflt,
    .block_input_nbytes = (uint64_t) process.ru_inblock * BLOCK_NBYTES,
    .steal_ns = read_steal_ns (),
    .resident_nbytes = read_resident_nbytes (),
  };
}

void
rd_usage_since (struct rd_usage *usage)
{
  struct rd_usage before = *usage;
  rd_usage_read (usage);
  usage->is_known &= before.is_known;
  usage->nminor_faults -= before.nminor_faults;
  usage->nmajor_faults -= before.nmajor_faults;
  usage->block_input_nbytes -= before.block_input_nbytes;
  usage->steal_ns = usage->steal_ns > before.steal_ns
                    ? usage->steal_ns - before.steal_ns : 0;
}
