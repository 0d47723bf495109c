/* SPDX-License-Identifier: MIT */
/* Images: the headers of arenas, and the process that records. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "src/base/cleanup.h"
#include "src/base/cpu-quota.h"
#include "src/base/error.h"
#include "src/base/hash.h"
#include "src/base/proc.h"
#include "src/base/text.h"
#include "src/base/thread.h"
#include "profiler/record/image.h"

/*------------------------------------------------------------------------
 * The process
 *----------------------------------------------------------------------*/

/* Values of /proc/PID/stat. */
struct process_stat {
  char state;                 /* NUL: no such process, or no such file */
  uint64_t nthreads;
  uint64_t started;           /* clock ticks since the machine did */
};

/* They follow the program's name, which may have blanks and brackets. */
static struct process_stat
read_stat (uint64_t pid)
{
  char path[64], text[1024];
  uint64_t values[20] = { 0 };
  snprintf (path, sizeof path, "/proc/%llu/stat", (unsigned long long) pid);
  rd_proc_read (path, text, sizeof text);
  const char *at = strrchr (text, ')');
  char state = at && at[1] == ' ' ? at[2] : '\0';
  for (int i = 0; i < 20 && at; i++) {
    at = strchr (at + 1, ' ');
    for (const char *p = at ? at + 1 : ""; *p >= '0' && *p <= '9'; p++)
      values[i] = 10 * values[i] + (uint64_t) (*p - '0');
  }
  return (struct process_stat) { state, values[17], values[19] };
}

static void
read_boot_id (char *id, size_t capacity)
{
  rd_proc_read ("/proc/sys/kernel/random/boot_id", id, capacity);
  id[strcspn (id, "\n")] = '\0';
}

/* A number that processes of other machines, of other containers and at other
 * times do not have; 0 where the system does not say when this one began.  It
 * is of no name, so that redacted profiles may keep it. */
static uint64_t
number_process (const struct rd_origin *origin)
{
  char text[256];
  struct stat names;
  uint64_t inode = stat ("/proc/self/ns/pid", &names) == 0 ? names.st_ino : 0;
  snprintf (text, sizeof text, "%s %llu %llu %llu", origin->boot_id,
            (unsigned long long) inode, (unsigned long long) origin->pid,
            (unsigned long long) origin->started);
  return origin->started == 0 || *origin->boot_id == '\0' ? 0
         : rd_max_u64 (rd_hash_text (text) >> 11, 1);
}

/* Removes what may be a secret from an argument with an http URL: its query, as
 * of a presigned one, and a user's name and password.  Returns its new
 * length. */
static size_t
hide_secrets (char *argument, size_t n)
{
  static const char *const schemes[] = { "http://", "https://" };
  char *url = NULL;
  for (size_t i = 0; i < 2 && !url; i++) {
    url = strcasestr (argument, schemes[i]);
    url = url ? url + strlen (schemes[i]) : NULL;
  }
  if (!url)
    return n;
  n = (size_t) (url - argument) + strcspn (url, "?");
  argument[n] = '\0';
  size_t host_nbytes = strcspn (url, "/");
  char *at = memchr (url, '@', host_nbytes);
  for (char *next = at; next; at = next ? next : at)
    next = memchr (at + 1, '@', host_nbytes - (size_t) (at + 1 - url));
  if (!at)
    return n;
  memmove (url, at + 1, (size_t) (argument + n - at));
  return n - (size_t) (at + 1 - url);
}

void
rd_origin_read (struct rd_origin *origin, const struct rd_clock *clock)
{
#if HAVE_DECL_PROGRAM_INVOCATION_SHORT_NAME
  const char *program = program_invocation_short_name;
#else
  const char *program = "";
#endif
  memset (origin, 0, sizeof *origin);
  origin->pid = (uint64_t) getpid ();
  origin->started = read_stat (origin->pid).started;
  origin->ncpus = rd_count_cpus ();
  origin->clock_mhz = rd_usage_clock_mhz ();
  snprintf (origin->cpu_model, sizeof origin->cpu_model, "%s",
            rd_usage_cpu_model ());
  read_boot_id (origin->boot_id, sizeof origin->boot_id);
  origin->process = number_process (origin);
  if (gethostname (origin->host, sizeof origin->host - 1) != 0)
    origin->host[0] = '\0';
  snprintf (origin->program, sizeof origin->program, "%s", program);
  snprintf (origin->clock, sizeof origin->clock, "%s",
            clock->tsc ? "tsc" : "monotonic");

  /* The command line, with blanks between its arguments. */
  size_t n = rd_proc_read ("/proc/self/cmdline", origin->command,
                           sizeof origin->command);
  char *to = origin->command;
  for (size_t i = 0; i < n;) {
    char *argument = origin->command + i;
    size_t nbytes = strlen (argument);
    i += nbytes + 1;
    nbytes = hide_secrets (argument, nbytes);
    memmove (to, argument, nbytes);
    to += nbytes;
    *to++ = ' ';
  }
  while (to > origin->command && to[-1] == ' ')
    to--;
  memset (to, 0, (size_t) (origin->command + sizeof origin->command - to));
}

/* The state of the process, as in /proc/PID/stat; NUL: it does not run.  One
 * that ended is there until its parent waits for it. */
static char
read_state (const struct rd_origin *origin)
{
  char boot_id[sizeof origin->boot_id];
  read_boot_id (boot_id, sizeof boot_id);
  struct process_stat stat = read_stat (origin->pid);
  bool ended = (stat.state == 'Z' || stat.state == 'X') && stat.nthreads <= 1;
  return origin->started != 0 && !ended
         && strncmp (boot_id, origin->boot_id, sizeof boot_id) == 0
         && stat.started == origin->started ? stat.state : '\0';
}

bool
rd_origin_runs (const struct rd_origin *origin)
{
  return read_state (origin) != '\0';
}

bool
rd_origin_maps (const struct rd_origin *origin, const struct stat *file)
{
  char path[64];
  RD_FREE_PLAIN char *line = NULL;
  size_t capacity = 0;
  bool is_known = false, is_mapped = false;
  snprintf (path, sizeof path, "/proc/%llu/maps",
            (unsigned long long) origin->pid);
  FILE *maps = fopen (path, "re");
  if (!maps)
    return true;
  while (!is_mapped && getline (&line, &capacity, maps) > 0) {
    /* "ADDRESSES RIGHTS OFFSET DEVICE INODE NAME"; some file systems have other
     * devices there than stat has. */
    const char *at = line;
    uint64_t number;
    for (int i = 0; i < 4 && at; i++) {
      at = strchr (at, ' ');
      at = at ? at + 1 : NULL;
    }
    is_known = true;
    is_mapped = at && rd_read_digits (&at, &number) && number == file->st_ino;
  }
  fclose (maps);
  return is_mapped || !is_known;
}

bool
rd_image_is_locked (int fd)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  return fcntl (fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool
rd_origin_uses (const struct rd_origin *origin, int fd,
                const struct stat *file)
{
  return rd_image_is_locked (fd)
         || (rd_origin_runs (origin) && rd_origin_maps (origin, file));
}

bool
rd_origin_is_stopped (const struct rd_origin *origin)
{
  char state = read_state (origin);
  return state == 'T' || state == 't';
}

/*------------------------------------------------------------------------
 * The header
 *----------------------------------------------------------------------*/

void
rd_image_sizes (uint32_t sizes[RD_IMAGE_NSIZES])
{
  static const size_t of[] = {
    1,                        /* the order of bytes */
    sizeof (void *),
    sizeof (struct rd_image_header),
    sizeof (struct rd_writer_state),
    sizeof (struct rd_frame),
    sizeof (struct rd_node),
    sizeof (struct rd_tally),
    sizeof (struct rd_text_note),
    sizeof (struct rd_log_chunk),
    sizeof (union rd_log_slot),
    sizeof (struct rd_log_text),
    sizeof (struct rd_text_value),
    sizeof (struct rd_log_sample),
    sizeof (struct rd_session),
    sizeof (struct rd_cover),
    sizeof (struct rd_recorder_fact),
  };
  _Static_assert (sizeof of / sizeof of[0] == RD_IMAGE_NSIZES, "");
  for (size_t i = 0; i < RD_IMAGE_NSIZES; i++)
    sizes[i] = (uint32_t) of[i];
}

bool
rd_image_is_known (const struct rd_image_header *header)
{
  uint32_t sizes[RD_IMAGE_NSIZES];
  rd_image_sizes (sizes);
  return memcmp (header->sizes, sizes, sizeof sizes) == 0
         && strncmp (header->version, PACKAGE_VERSION, sizeof header->version)
            == 0;
}

/* True if a file has the image of a process that runs, and uses it, or is about
 * to: of processes that start at once each sees another's file without a
 * header, which is locked. */
static bool
is_in_use (const char *path)
{
  struct rd_image_header header;
  struct stat status;
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK
                             | O_NOFOLLOW);
  if (fd < 0 || fstat (fd, &status) != 0)
    return false;
  if (read (fd, &header, sizeof header) != sizeof header
      || memcmp (header.magic, RD_IMAGE_MAGIC, sizeof RD_IMAGE_MAGIC) != 0)
    return rd_image_is_locked (fd);
  return rd_origin_uses (&header.origin, fd, &status);
}

enum radio_status
rd_image_new (struct radio_recorder *recorder, const char *file)
{
  _Static_assert (sizeof *recorder->header <= RD_ARENA_HEADER_NBYTES, "");
  if (file && is_in_use (file))
    return rd_arena_fail_used (file);
  /* Whole pages, so that what follows the ring is not in it. */
  RD_TRY (rd_arena_new ((size_t) (recorder->ring_nbytes + 4095)
                        & ~(size_t) 4095, file, &recorder->arena));
  recorder->header = rd_arena_header (recorder->arena);
  return RADIO_OK;
}

void
rd_image_begin (struct radio_recorder *recorder, size_t chunk_slots)
{
  struct rd_image_header *header = recorder->header;
  if (!header)
    return;
  rd_image_sizes (header->sizes);
  snprintf (header->version, sizeof header->version, "%s", PACKAGE_VERSION);
  rd_origin_read (&header->origin, &recorder->clock);
  header->base = (uintptr_t) header;
  rd_arena_report (recorder->arena, &header->nbytes);
  header->ring = (uintptr_t) rd_arena_ring (recorder->arena);
  header->ring_nbytes = recorder->ring_nbytes;
  header->chunk_slots = chunk_slots;
  header->started_unix_ns = recorder->started_unix_ns;
  header->start = recorder->start;
  header->rate = recorder->rate;
  header->scope_cost_ns = recorder->scope_cost_ns;
  header->title = recorder->title;
  rd_image_update (recorder);
  rd_commit ();
  memcpy (header->magic, RD_IMAGE_MAGIC, sizeof RD_IMAGE_MAGIC);
}

void
rd_image_update (struct radio_recorder *recorder)
{
  struct rd_image_header *header = recorder->header;
  if (!header)
    return;
  header->facts = recorder->synced.facts.at;
  rd_commit ();
  header->nfacts = recorder->synced.facts.n;
  header->nrefused = recorder->synced.nrefused;
}

void
rd_image_end (struct radio_recorder *recorder)
{
  struct rd_image_header *header = recorder->header;
  if (!header || header->nbeats == 0)
    return;
  header->used = recorder->usage;
  header->beats[header->nbeats % 2] = recorder->stop;
  rd_commit ();
  header->nbeats++;
  rd_arena_detach (recorder->arena);
}
