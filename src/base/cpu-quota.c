/* SPDX-License-Identifier: MIT */
/* Reading the quotas of control groups, and the number of processors. */
#include <config.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/cpu-quota.h"
#include "src/base/proc.h"
#include "src/base/text.h"

#define PATH_NBYTES 4096

/* The process's group in each kind of hierarchy; "": it has none. */
struct groups {
  char unified[PATH_NBYTES];  /* of version 2 */
  char cpu[PATH_NBYTES];      /* that of version 1 which controls CPUs */
};

/* The quota that was found so far. */
struct search {
  const char *root;
  struct groups groups;
  struct rd_cpu_quota *quota;
  bool is_found;
};

/* True if a list with commas has an item. */
static bool
has_item (const char *list, const char *item)
{
  size_t n = strlen (item);
  for (const char *at = list; at; at = strchr (at, ',')) {
    at += *at == ',';
    if (strncmp (at, item, n) == 0 && (at[n] == '\0' || at[n] == ','))
      return true;
  }
  return false;
}

/* False, and "": the result does not fit. */
static bool
join (char path[PATH_NBYTES], const char *a, const char *b, const char *c)
{
  int n = snprintf (path, PATH_NBYTES, "%s%s%s", a, b, c);
  bool fits = n >= 0 && n < PATH_NBYTES;
  path[fits ? n : 0] = '\0';
  return fits;
}

/* Reads the beginning of a group's file.  False, and "", if it is missing. */
static bool
read_text (const char *folder, const char *name, char *text, size_t capacity)
{
  char path[PATH_NBYTES];
  *text = '\0';
  return join (path, folder, "/", name)
         && rd_proc_read (path, text, capacity) > 0;
}

/*------------------------------------------------------------------------
 * The files of a group
 *----------------------------------------------------------------------*/

/* "QUOTA PERIOD", in microseconds; "max PERIOD" where there is no quota. */
static bool
read_limit_2 (const char *folder, uint64_t *quota, uint64_t *period)
{
  char text[128];
  const char *at = text;
  return read_text (folder, "cpu.max", text, sizeof text)
         && rd_read_digits (&at, quota) && *at++ == ' '
         && rd_read_digits (&at, period);
}

/* Two files, of which the first has -1 where there is no quota. */
static bool
read_limit_1 (const char *folder, uint64_t *quota, uint64_t *period)
{
  char text[64];
  const char *at = text;
  if (!read_text (folder, "cpu.cfs_quota_us", text, sizeof text)
      || !rd_read_digits (&at, quota))
    return false;
  at = text;
  return read_text (folder, "cpu.cfs_period_us", text, sizeof text)
         && rd_read_digits (&at, period);
}

/* The number of a line "KEY NUMBER"; 0 without such a line. */
static uint64_t
find_number (const char *text, const char *key)
{
  const size_t n = strlen (key);
  for (const char *at = text; at; at = strchr (at, '\n')) {
    uint64_t number;
    at += *at == '\n';
    if (strncmp (at, key, n) == 0 && at[n] == ' ') {
      at += n + 1;
      return rd_read_digits (&at, &number) ? number : 0;
    }
  }
  return 0;
}

static void
read_group (struct search *search, const char *folder, bool is_unified)
{
  char text[2048];
  uint64_t quota, period, throttled;
  if (!(is_unified ? read_limit_2 (folder, &quota, &period)
                   : read_limit_1 (folder, &quota, &period))
      || quota == 0 || period == 0)
    return;
  double cpus = (double) quota / (double) period;
  if (search->is_found && cpus >= search->quota->cpus)
    return;
  (void) read_text (folder, "cpu.stat", text, sizeof text);
  if (!is_unified)
    throttled = find_number (text, "throttled_time");
  else if (__builtin_mul_overflow (find_number (text, "throttled_usec"), 1000,
                                   &throttled))
    throttled = 0;
  *search->quota = (struct rd_cpu_quota) { cpus, throttled };
  search->is_found = true;
}

/*------------------------------------------------------------------------
 * Mounts and groups
 *----------------------------------------------------------------------*/

/* Replaces "\040" and the like by the characters, in place. */
static void
unescape (char *text)
{
  char *to = text;
  for (const char *at = text; *at; to++) {
    bool is_octal = at[0] == '\\' && at[1] >= '0' && at[1] <= '3'
                    && at[2] >= '0' && at[2] <= '7' && at[3] >= '0'
                    && at[3] <= '7';
    *to = is_octal ? (char) ((at[1] - '0') * 64 + (at[2] - '0') * 8
                             + (at[3] - '0'))
                   : *at;
    at += is_octal ? 4 : 1;
  }
  *to = '\0';
}

/* Reads the groups from the process's own up to the mount's.  A group outside
 * of the mount's root is not visible, as mostly in a container: the mount
 * itself is then the next one around it. */
static void
read_mount (struct search *search, const char *root, const char *point,
            bool is_unified)
{
  const char *group = is_unified ? search->groups.unified
                                 : search->groups.cpu;
  char path[PATH_NBYTES];
  size_t n = strlen (root), base;
  if (*group != '/')
    return;
  n -= n > 0 && root[n - 1] == '/';
  bool is_below = strncmp (group, root, n) == 0
                  && (group[n] == '/' || group[n] == '\0')
                  && !strstr (group, "/..");
  group = is_below ? group + n : "";
  if (!join (path, search->root, point, group))
    return;
  base = strlen (search->root) + strlen (point);
  for (size_t end = strlen (path); end >= base;) {
    path[end] = '\0';
    if (end == base || path[end - 1] != '/')
      read_group (search, path, is_unified);
    while (end > base && path[end - 1] != '/')
      end--;
    if (end == base)
      break;
    end--;
  }
}

/* "ID PARENT DEVICE ROOT POINT OPTIONS [MORE]... - TYPE SOURCE OPTIONS" */
static void
parse_mount (struct search *search, char *line)
{
  char *fields[5], *rest = strstr (line, " - "), *state = NULL;
  if (!rest)
    return;
  *rest = '\0';
  rest += 3;
  const char *type = strtok_r (rest, " \n", &state);
  (void) strtok_r (NULL, " \n", &state);
  const char *options = strtok_r (NULL, " \n", &state);
  bool is_unified = type && strcmp (type, "cgroup2") == 0;
  bool is_cpu = type && strcmp (type, "cgroup") == 0 && options
                && has_item (options, "cpu");
  if (!is_unified && !is_cpu)
    return;
  fields[0] = strtok_r (line, " ", &state);
  for (size_t i = 1; i < 5; i++)
    fields[i] = fields[i - 1] ? strtok_r (NULL, " ", &state) : NULL;
  if (!fields[4])
    return;
  unescape (fields[3]);
  unescape (fields[4]);
  read_mount (search, fields[3], fields[4], is_unified);
}

/* "ID:CONTROLLERS:PATH", of version 2 without controllers. */
static void
parse_group (struct search *search, char *line)
{
  char *list = strchr (line, ':'), *path = list ? strchr (list + 1, ':') : NULL;
  if (!path)
    return;
  *path++ = '\0';
  path[strcspn (path, "\n")] = '\0';
  struct groups *groups = &search->groups;
  if (list[1] == '\0')
    (void) join (groups->unified, path, "", "");
  else if (has_item (list + 1, "cpu"))
    (void) join (groups->cpu, path, "", "");
}

/* Without those that are too long, as for mounts with many options. */
static void
read_lines (struct search *search, const char *name,
            void (*parse) (struct search *, char *))
{
  char path[PATH_NBYTES], line[2 * PATH_NBYTES];
  bool is_begin = true;
  FILE *file = join (path, search->root, name, "") ? fopen (path, "re") : NULL;
  if (!file)
    return;
  while (fgets (line, sizeof line, file)) {
    bool is_end = strchr (line, '\n') || feof (file);
    if (is_begin && is_end)
      parse (search, line);
    is_begin = is_end;
  }
  fclose (file);
}

/* Reads the group where it mostly is; false if it is not there.  The kernel
 * takes longer to list all mounts than for all else together. */
static bool
read_usual_mount (struct search *search)
{
  const struct groups *groups = &search->groups;
  bool is_unified = *groups->cpu == '\0';
  const char *point = is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
  const char *group = is_unified ? groups->unified : groups->cpu;
  static const char member[] = "/cgroup.procs";
  char path[PATH_NBYTES];
  if (strstr (group, "/..") || !join (path, search->root, point, group))
    return false;
  size_t n = strlen (path);
  if (sizeof path - n < sizeof member)
    return false;
  memcpy (path + n, member, sizeof member);
  if (access (path, F_OK) != 0)
    return false;
  read_mount (search, "/", point, is_unified);
  return true;
}

bool
rd_cpu_quota_read (const char *root, struct rd_cpu_quota *quota)
{
  struct search search = { .root = root, .quota = quota };
  read_lines (&search, "/proc/self/cgroup", parse_group);
  if ((*search.groups.unified || *search.groups.cpu)
      && !read_usual_mount (&search))
    read_lines (&search, "/proc/self/mountinfo", parse_mount);
  return search.is_found;
}

/*------------------------------------------------------------------------
 * Processors
 *----------------------------------------------------------------------*/

/* The set grows until the kernel's fits into it. */
static unsigned
count_allowed (void)
{
#ifdef CPU_COUNT_S
  for (int room = 1024; room <= 1 << 20; room *= 2) {
    cpu_set_t *set = CPU_ALLOC (room);
    if (!set)
      break;
    size_t nbytes = CPU_ALLOC_SIZE (room);
    int n = sched_getaffinity (0, nbytes, set) == 0
      ? CPU_COUNT_S (nbytes, set) : 0;
    CPU_FREE (set);
    if (n > 0)
      return (unsigned) n;
  }
#endif
  long n = sysconf (_SC_NPROCESSORS_ONLN);
  return n > 0 ? (unsigned) n : 1;
}

unsigned
rd_count_cpus (void)
{
  struct rd_cpu_quota quota;
  unsigned n = count_allowed ();
  if (n == 1 || !rd_cpu_quota_read ("", &quota) || quota.cpus >= n)
    return n;
  unsigned whole = (unsigned) quota.cpus;
  return whole + (quota.cpus > whole);
}
