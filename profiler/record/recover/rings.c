/* SPDX-License-Identifier: MIT */
/* The files of rings that processes left, or still write. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "profiler/record/image.h"
#include "profiler/record/recover/rings.h"

/* Fills in what is known of a file.  False: it is no ring of this user. */
static bool
read_ring (const char *path, struct rd_image_header *header,
           struct radio_ring *ring)
{
  struct stat status;
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK
                             | O_NOFOLLOW);
  if (fd < 0 || fstat (fd, &status) != 0 || !S_ISREG (status.st_mode)
      || status.st_uid != geteuid ()
      || pread (fd, header, sizeof *header, 0) != (ssize_t) sizeof *header
      || memcmp (header->magic, RD_IMAGE_MAGIC, sizeof RD_IMAGE_MAGIC) != 0)
    return false;
  *ring = (struct radio_ring) {
    .path = path, .program = "", .nbytes = (uint64_t) status.st_blocks * 512,
    .written_unix_s = status.st_mtime,
  };
  if (!rd_image_is_known (header))
    return true;
  header->origin.program[sizeof header->origin.program - 1] = '\0';
  ring->is_known = true;
  ring->program = header->origin.program;
  ring->pid = header->origin.pid;
  ring->started_unix_ns = header->started_unix_ns;
  ring->runs = rd_origin_uses (&header->origin, fd, &status);
  return true;
}

struct names {
  struct dirent **at;
  int n;
};

static void
free_names (struct names *names)
{
  for (int i = 0; i < names->n; i++)
    free (names->at[i]);
  free (names->at);
}

static int
is_ring_name (const struct dirent *entry)
{
  return strncmp (entry->d_name, RD_RING_PREFIX, strlen (RD_RING_PREFIX))
         == 0;
}

enum radio_status
rd_rings_list (const char *folder, radio_ring_fn *each, void *user_data)
{
  RD_CLEANUP (free_names) struct names names = { NULL, 0 };
  RD_FREE_PLAIN struct rd_image_header *header = malloc (sizeof *header);
  if (!header)
    return rd_fail_memory (sizeof *header);
  names.n = scandir (folder, &names.at, is_ring_name, alphasort);
  if (names.n < 0 && errno == ENOMEM)
    return rd_fail_memory (sizeof *names.at);
  for (int i = 0; i < names.n; i++) {
    char path[4096];
    struct radio_ring ring;
    int n = snprintf (path, sizeof path, "%s/%s", folder,
                      names.at[i]->d_name);
    if (n > 0 && (size_t) n < sizeof path && read_ring (path, header, &ring))
      RD_TRY (each (&ring, user_data));
  }
  return RADIO_OK;
}
