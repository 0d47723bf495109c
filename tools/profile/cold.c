/* SPDX-License-Identifier: MIT */
/* Making files cold, by posix_fadvise.  That is only advice: pages that
 * another process has mapped stay, and file systems that live in memory cannot
 * drop them, so mincore counts those that stayed. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/profile/cold.h"
#include "tools/text.h"
#include "tools/tool.h"

/* Bytes of a file that are mapped and asked for at one time. */
#define WINDOW ((uint64_t) 64 << 20)

static uint64_t
resident_nbytes (int file, uint64_t nbytes)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  RD_FREE unsigned char *pages = malloc (WINDOW / page + 1);
  uint64_t sum = 0;
  for (uint64_t start = 0; start < nbytes && pages; start += WINDOW) {
    uint64_t left = nbytes - start, n = 0;
    size_t window = (size_t) (left < WINDOW ? left : WINDOW);
    void *map = mmap (NULL, window, PROT_READ, MAP_SHARED, file,
                      (off_t) start);
    if (map == MAP_FAILED)
      continue;
    if (mincore (map, window, pages) == 0)
      for (size_t i = 0; i * page < window; i++)
        n += page * (pages[i] & 1);
    munmap (map, window);
    sum += n < left ? n : left;
  }
  return sum;
}

static void
refuse (struct rd_cold *cold, int number)
{
  if (cold->refused_count++ == 0)
    cold->error = number;
}

/* nftw hands nothing through to its callback. */
static _Thread_local struct rd_cold *current;

static int
visit (const char *path, const struct stat *entry, int type,
       struct FTW *place)
{
  struct rd_cold *cold = current;
  struct stat st;
  (void) entry;
  (void) place;
  if (type == FTW_DNR || type == FTW_NS)
    refuse (cold, EACCES);
  if (type != FTW_F)
    return 0;
  cold->nfiles++;
  int file = open (path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    refuse (cold, errno);
    return 0;
  }
  if (fstat (file, &st) == 0 && S_ISREG (st.st_mode)) {
    /* Pages that wait to be written cannot be dropped. */
    (void) fdatasync (file);
    int number = posix_fadvise (file, 0, 0, POSIX_FADV_DONTNEED);
    if (number != 0)
      refuse (cold, number);
    cold->nbytes += (uint64_t) st.st_size;
    cold->resident_nbytes += resident_nbytes (file, (uint64_t) st.st_size);
  }
  close (file);
  return 0;
}

void
rd_cold_drop (const char *path, struct rd_cold *cold)
{
  memset (cold, 0, sizeof *cold);
  /* A URI, "s3://...", or a store in memory: nothing of this machine's page
   * cache. */
  cold->elsewhere = strstr (path, "://") != NULL
                    || strncmp (path, "memory:", 7) == 0;
  if (cold->elsewhere)
    return;
  current = cold;
  if (nftw (path, visit, 16, FTW_PHYS) != 0)
    refuse (cold, errno);
  current = NULL;
}

char *
rd_cold_problem (const struct rd_cold *cold)
{
  char resident[RD_TEXT_NBYTES], all[RD_TEXT_NBYTES];
  if (cold->elsewhere)
    return rd_format ("--cold: the store is not on a local disk, there is "
                      "no page cache to drop it from");
  if (cold->refused_count > 0)
    return rd_format ("--cold: %" PRIu64 " of %" PRIu64 " files could not be "
                      "dropped from memory (%s)", cold->refused_count,
                      cold->nfiles, strerror (cold->error));
  if (cold->resident_nbytes == 0)
    return NULL;
  return rd_format ("--cold: %s of %s stayed in memory: another program maps "
                    "the files, or the file system lives there",
                    rd_text_size (cold->resident_nbytes, resident),
                    rd_text_size (cold->nbytes, all));
}
