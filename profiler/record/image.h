/* SPDX-License-Identifier: MIT */
/* The begin of an arena, by which a reader finds everything else.  It is for
 * readers of the same version alone, on the same kind of machine: the layout
 * is that of the structs in record.h. */
#ifndef RD_RECORD_IMAGE_H
#define RD_RECORD_IMAGE_H

#include <sys/stat.h>

#include "profiler/record/record.h"

#define RD_IMAGE_MAGIC "radio\nring"
#define RD_IMAGE_NSIZES 16

/* The process that records. */
struct rd_origin {
  uint64_t pid;
  uint64_t started;           /* field 22 of /proc/PID/stat; 0: unknown */
  uint64_t process;           /* of rd_profile_part; 0: unknown */
  uint64_t ncpus;             /* 0: unknown */
  uint64_t clock_mhz;         /* rd_usage_clock_mhz */
  char cpu_model[128];
  char boot_id[64];           /* of the machine; "": unknown */
  char host[256];
  char program[256];
  char clock[16];
  char command[4096];         /* blanks between the arguments; "": unknown */
};

struct rd_image_header {
  char magic[16];
  char version[32];           /* the library's */
  uint32_t sizes[RD_IMAGE_NSIZES];      /* of structs: rd_image_sizes */
  uint64_t base;              /* its address when it was written */
  uint64_t nbytes;            /* of all in use; the file is not shorter */
  uint64_t ring, ring_nbytes; /* an address, and its size */
  uint64_t chunk_slots;
  struct rd_origin origin;
  uint64_t started_unix_ns;
  struct rd_anchor start;
  struct rd_rate rate;        /* as known at the start */
  double scope_cost_ns;
  const char *title;          /* or NULL */
  struct rd_writer_state *writers;      /* the newest; older ones follow */
  struct rd_writer_state *async_writer; /* or NULL */
  struct rd_recorder_fact *facts;
  uint64_t nfacts, nrefused;

  /* Signs of life (beat.h), in turn: the last one, and one before.  There are
   * none where the ring has no file. */
  struct rd_anchor beats[2];
  uint64_t nbeats;
  uint64_t observed;          /* when rd_recorder_observe was last called; 0:
                                 never */

  /* A reader of the file writes a number of its own into `wanted', and gets the
   * image of one moment, at copy_offset in the file, when `answered' is that
   * number; then it writes 0.  No bytes: there was no room. */
  uint64_t wanted, answered;
  uint64_t copy_offset, copy_nbytes;

  uint64_t own_cpu_ns;        /* of rd_thread_charge */

  /* Since the start: all of it in a snapshot; what a sign of life notes is the
   * time that a quota withheld. */
  struct rd_usage used;
};

/* The last sign of life, or NULL. */
static inline const struct rd_anchor *
rd_image_last_beat (const struct rd_image_header *header)
{
  return header->nbeats ? &header->beats[(header->nbeats - 1) % 2] : NULL;
}

void rd_image_sizes (uint32_t sizes[RD_IMAGE_NSIZES]);

/* Makes the arena of a recorder with a ring, and its header; file may be
 * NULL.  Errors: those of rd_arena_new, RADIO_ERROR_EXISTS (another recorder
 * uses that file). */
enum radio_status rd_image_new (struct radio_recorder *recorder,
                                const char *file) RADIO_USE_RESULT;

/* Fill the header: what is known when recording begins, and what has changed
 * since.  Without effect on recorders that have none.  The second is called
 * with the recorder's mutex. */
void rd_image_begin (struct radio_recorder *recorder, size_t chunk_slots);
void rd_image_update (struct radio_recorder *recorder);

/* Keeps the file as it is when the recording has ended: what is made of it
 * then is in memory alone.  Called with the recorder's mutex. */
void rd_image_end (struct radio_recorder *recorder);

/* Reads the calling process's. */
void rd_origin_read (struct rd_origin *origin, const struct rd_clock *clock);

/* True if that process runs; and if so, but a signal or debugger
 * stopped it. */
bool rd_origin_runs (const struct rd_origin *origin);
bool rd_origin_is_stopped (const struct rd_origin *origin);

/* False if that process has not mapped the file, as after exec, which keeps its
 * number, or the file is a copy.  True if that is not known. */
bool rd_origin_maps (const struct rd_origin *origin, const struct stat *file);

/* True if that process runs and has the file, which is open as fd: it is
 * locked, as is seen from another container, too (rd_image_is_locked), or, if
 * the process lost the lock, it is one of this namespace of processes. */
bool rd_origin_uses (const struct rd_origin *origin, int fd,
                     const struct stat *file);

/* True if another process than the calling one has a ring's file locked.  A
 * process loses its lock if it closes any descriptor of the file. */
bool rd_image_is_locked (int fd);

/* True if the header is one of this version and kind of machine. */
bool rd_image_is_known (const struct rd_image_header *header);

/* A recorder that was stopped, as if the process of the image had stopped its
 * own when it ended: of nbytes at a multiple of 64, which are changed, and kept
 * until the recorder is freed.  None of them is trusted.  where: names them in
 * messages.  Errors: RADIO_ERROR_FORMAT, RADIO_ERROR_UNSUPPORTED (another
 * version), RADIO_ERROR_MEMORY. */
enum radio_status rd_recover (unsigned char *image, size_t nbytes,
                              const char *where,
                              struct radio_recorder **recorder)
  RADIO_USE_RESULT;

#endif /* RD_RECORD_IMAGE_H */
