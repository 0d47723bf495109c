/* SPDX-License-Identifier: MIT */
/* Figures of the process and the machine, from getrusage and /proc. */
#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "src/base/cpu-quota.h"
#include "src/base/proc.h"
#include "profiler/model/sum.h"
#include "profiler/record/usage.h"

#define BLOCK_NBYTES 512      /* of ru_inblock, whatever the disk's are */

/* Parses a number of digits, after blanks; moves the text past it. */
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
static void
read_machine (struct rd_usage *usage)
{
  enum { IDLE = 3, IOWAIT, STEAL = 7, NNUMBERS };
  char text[256];
  const char *at = text + strlen ("cpu");
  long per_second = sysconf (_SC_CLK_TCK);
  rd_proc_read ("/proc/stat", text, sizeof text);
  if (per_second <= 0 || strncmp (text, "cpu ", 4) != 0)
    return;
  uint64_t tick_ns = 1000000000 / (uint64_t) per_second;
  for (int i = 0; i < NNUMBERS; i++) {
    uint64_t ns = next_number (&at) * tick_ns;
    if (i == STEAL)
      usage->steal_ns = ns;
    else if (i == IOWAIT)
      usage->disk_wait_ns = ns;
    else if (i != IDLE)
      usage->machine_ns += ns;
  }
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS": pressure stall
 * information, of Linux from 4.20 on.  Exact to a microsecond, and known also
 * where CPUs had other work, both of which iowait is not. */
static void
read_pressure (struct rd_usage *usage)
{
  char text[256];
  static const char key[] = " total=";
  rd_proc_read ("/proc/pressure/io", text, sizeof text);
  const char *at = strncmp (text, "some ", 5) == 0 ? strstr (text, key) : NULL;
  if (!at)
    return;
  at += strlen (key);
  usage->is_pressure_known = true;
  usage->disk_pressure_ns = next_number (&at) * 1000;
}

/* "VmHWM:  1234 kB": getrusage has that of the program which called exec,
 * where it was larger. */
static uint64_t
read_resident_nbytes (void)
{
  static const char key[] = "\nVmHWM:";
  char text[2048];
  rd_proc_read ("/proc/self/status", text, sizeof text);
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
  struct rd_cpu_quota quota;
  *usage = (struct rd_usage) { .is_known = false };
  if (getrusage (RUSAGE_SELF, &process) != 0)
    return;
  *usage = (struct rd_usage) {
    .is_known = true,
    .nminor_faults = (uint64_t) process.ru_minflt,
    .nmajor_faults = (uint64_t) process.ru_majflt,
    .block_input_nbytes = (uint64_t) process.ru_inblock * BLOCK_NBYTES,
    .block_output_nbytes = (uint64_t) process.ru_oublock * BLOCK_NBYTES,
    .resident_nbytes = read_resident_nbytes (),
  };
  read_machine (usage);
  read_pressure (usage);
  usage->has_quota = rd_cpu_quota_read ("", &quota);
  if (usage->has_quota)
    usage->throttled_ns = quota.throttled_ns;
}

uint64_t
rd_usage_throttled_ns (const struct rd_usage *since)
{
  struct rd_cpu_quota quota;
  return since->has_quota && rd_cpu_quota_read ("", &quota)
         ? rd_subtract (quota.throttled_ns, since->throttled_ns) : 0;
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
  usage->block_output_nbytes -= before.block_output_nbytes;
  /* The system's sums may decrease. */
  usage->steal_ns = rd_subtract (usage->steal_ns, before.steal_ns);
  usage->throttled_ns = rd_subtract (usage->throttled_ns,
                                     before.throttled_ns);
  usage->machine_ns = rd_subtract (usage->machine_ns, before.machine_ns);
  usage->disk_wait_ns = rd_subtract (usage->disk_wait_ns,
                                     before.disk_wait_ns);
  usage->is_pressure_known &= before.is_pressure_known;
  usage->disk_pressure_ns = rd_subtract (usage->disk_pressure_ns,
                                         before.disk_pressure_ns);
}

/*------------------------------------------------------------------------
 * Processors
 *----------------------------------------------------------------------*/

static char cpu_model[64];

/* "model name\t: AMD EPYC 7543 32-Core Processor" */
static void
read_cpu_model (void)
{
  char text[1024];
  rd_proc_read ("/proc/cpuinfo", text, sizeof text);
  const char *at = strstr (text, "model name");
  at = at ? strchr (at, ':') : NULL;
  if (!at)
    return;
  at += 1 + strspn (at + 1, " \t");
  size_t n = strcspn (at, "\n");
  n = n < sizeof cpu_model ? n : sizeof cpu_model - 1;
  memcpy (cpu_model, at, n);
}

const char *
rd_usage_cpu_model (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once (&once, read_cpu_model);
  return cpu_model;
}

/* Eight sums, each of the one before: every processor that we know of takes a
 * cycle for each. */
#if defined __x86_64__
#define ADD_8_TIMES(sum) \
  __asm__ volatile (".rept 8\n\tadd %0, %0\n\t.endr" : "+r" (sum) : : "cc")
#elif defined __aarch64__
#define ADD_8_TIMES(sum) \
  __asm__ volatile (".rept 8\n\tadd %0, %0, %0\n\t.endr" : "+r" (sum))
#endif

/* 2 us at 4 GHz, so that reading the clock counts for little; of a few tries,
 * since one may be interrupted. */
#define CLOCK_CYCLES 8192
#define CLOCK_TRIES 3

uint64_t
rd_usage_clock_mhz (void)
{
  uint64_t best = 0;
#ifdef ADD_8_TIMES
  for (int i = 0; i < CLOCK_TRIES; i++) {
    struct timespec begin, end;
    uint64_t sum = 1;
    clock_gettime (CLOCK_MONOTONIC, &begin);
    for (int k = 0; k < CLOCK_CYCLES / 8; k++)
      ADD_8_TIMES (sum);
    clock_gettime (CLOCK_MONOTONIC, &end);
    int64_t ns = (int64_t) (end.tv_sec - begin.tv_sec) * 1000000000
                 + (end.tv_nsec - begin.tv_nsec);
    uint64_t mhz = ns > 0 ? UINT64_C (1000) * CLOCK_CYCLES / (uint64_t) ns
                          : 0;
    best = mhz > best ? mhz : best;
  }
#endif
  return best;
}
