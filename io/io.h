/* SPDX-License-Identifier: MIT */
/* Stores of keyed objects behind one table of functions: posix, memory and
 * http, later S3; and wrappers of the same shape (fault, deferred) that
 * stand in front of another store.
 *
 * A key is a path of names joined by '/', without a leading or trailing
 * one, as "ct/sub-01/zarr.json".  A prefix is a key of a folder; "" is the
 * root.  Keys are bytes; no name is "", "." or "..".  S3 has them in UTF-8
 * alone, and below a prefix with control characters some endpoints cannot
 * list: they answer in XML, which holds none.
 *
 * Every function of a store may be called from any thread, several at once.
 */
#ifndef RD_IO_H
#define RD_IO_H

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/error.h"

struct rd_io;
struct rd_io_writer;
struct rd_io_lock;
struct rd_io_file;

/* Which bytes of an object. */
enum rd_range {
  RD_RANGE_ALL,               /* the whole object */
  RD_RANGE_SPAN,              /* nbytes from offset on */
  RD_RANGE_SUFFIX,            /* the last nbytes */
};

/* One read.  The caller fills in the first part and keeps the struct, the
 * key and the buffer alive until done was called. */
struct rd_io_get {
  const char *key;
  struct rd_io_file *file;    /* the same object, held; or NULL */
  enum rd_range range;
  uint64_t offset;            /* SPAN */
  size_t nbytes;              /* SPAN, SUFFIX; for ALL: the most to accept,
                                 a larger object is RADIO_ERROR_LIMIT */
  struct rd_buffer *into;     /* its content is replaced */
  uint64_t needed_nbytes;     /* of what is asked for, as profiles tell it;
                                 0: all */
  /* Called exactly once, maybe before get returns, maybe from another
   * thread; never with a lock of the store held. */
  void (*done) (struct rd_io_get *get);
  void *user_data;

  /* Set before done is called.  A range that reaches past the object's end
   * is RADIO_OK with fewer bytes (into->nbytes): the caller knows better
   * what that means.  A missing object is RADIO_ERROR_NOT_FOUND. */
  struct rd_error error;
  uint64_t object_nbytes;     /* size of the whole object */

  /* Set to 0 by the caller; another number than before when the object was
   * replaced, in stores that tell (of its ETag).  Also set on failure. */
  uint64_t version;
};

/* A piece of what is written. */
struct rd_part {
  const void *data;
  size_t nbytes;
};

enum rd_put {
  RD_PUT_REPLACE,
  RD_PUT_IF_ABSENT,           /* RADIO_ERROR_EXISTS when it is there */
};

/* One child of a prefix. */
struct rd_io_entry {
  const char *name;           /* relative to the listed prefix */
  bool is_prefix;             /* a folder; never with recursion */
  uint64_t nbytes;            /* of an object */
  uint64_t age_s;             /* of an object, since it was written, in
                                 stores that have a grace time; else 0 */
};

typedef enum radio_status rd_io_list_fn (const struct rd_io_entry *entry,
                                         void *user_data);

/* What sweep removed, or would. */
struct rd_io_swept {
  uint64_t n_files;
  uint64_t nbytes;
};

struct rd_io_ops {
  const char *name;           /* "posix", "memory" */

  /* get calls done before it returns, on the calling thread: whoever reads
   * does so on its worker threads (by rd_io_read, which is a scope of
   * profiles).  Otherwise reads are started from one thread and go on by
   * themselves: then each is a request that the store tells profiles of. */
  bool is_blocking;

  /* A get tells by rd_scope_blocks and rd_scope_ran whether it waits. */
  bool reports_blocking;

  void (*close) (struct rd_io *io);

  /* Start n reads. */
  void (*get) (struct rd_io *io, struct rd_io_get *gets, size_t n);

  /* Hold an object, so that reads of it (get->file) need not find and open
   * it again.  What is held stays what it was, also when the object is
   * replaced or removed.  keep is for objects that never change: what was
   * released is then kept open for the next to hold it, within a bound.
   * NULL when it cannot be held for whatever reason: a read by the key
   * tells of it.  The three are NULL in stores that know no such thing. */
  struct rd_io_file *(*hold) (struct rd_io *io, const char *key, bool keep);
  void (*release) (struct rd_io *io, struct rd_io_file *file);

  /* Keep nothing open any more of an object, or of those below a prefix;
   * what is held meanwhile ends with its release. */
  void (*forget) (struct rd_io *io, const char *prefix);

  /* The size of an object.  NOT_FOUND. */
  enum radio_status (*size) (struct rd_io *io, const char *key,
                             uint64_t *nbytes);

  /* Call fn for each child of a prefix, or with recursive for each object
   * below it, in byte order of their names.  A missing prefix is empty.
   * Temporary files of writers are not listed. */
  enum radio_status (*list) (struct rd_io *io, const char *prefix,
                             bool recursive, rd_io_list_fn *fn,
                             void *user_data);

  /* Publish an object whole, at once and durably: a reader sees the old
   * one or the new one, also after a crash. */
  enum radio_status (*put) (struct rd_io *io, const char *key,
                            const struct rd_part *parts, size_t n,
                            enum rd_put how);

  /* The same for an object that is written piece by piece. */
  enum radio_status (*create) (struct rd_io *io, const char *key,
                               struct rd_io_writer **writer);

  /* Remove an object.  NOT_FOUND.  Where folders are real, as on disk, they
   * outlive their last object: list still tells of them. */
  enum radio_status (*remove) (struct rd_io *io, const char *key);

  /* Remove whatever is below a prefix, temporary files too, and the prefix
   * (not the root: "" empties the store); none is no error. */
  enum radio_status (*remove_tree) (struct rd_io *io, const char *prefix);

  /* Hold a prefix exclusively, making it first when it is missing where
   * folders are real.  In a store that has a grace time only who takes the
   * lock by the same handle is excluded: another process may be at work, and
   * what is younger than that must be left alone as if it were held.  The
   * hold ends with unlock or with the process, however that ends (a child
   * that was forked meanwhile and lives on holds it too).  With wait false
   * a prefix that another holder has gives *lock NULL and RADIO_OK.  Holders
   * of one process exclude each other too.  A lock does not hinder readers
   * or writers that take none. */
  enum radio_status (*lock) (struct rd_io *io, const char *prefix, bool wait,
                             struct rd_io_lock **lock);

  /* Remove the temporary files below a prefix that dead writers left, never
   * one whose writer lives, nor one that is younger than the grace time of
   * the store; with dry_run only count them. */
  enum radio_status (*sweep) (struct rd_io *io, const char *prefix,
                              bool dry_run, struct rd_io_swept *swept);
};

/* Every store begins with this. */
struct rd_io {
  const struct rd_io_ops *ops;
  char *uri;                  /* as messages name it; owned */
  uint64_t grace_s;           /* 0: locks hold between processes, too */
  uint64_t writer_nbytes;     /* that each writer holds of what it was given,
                                 until it is sent */

  /* Two ranges of one object are better read as one when the gap between
   * them is at most this, and the whole at most the cap. */
  uint64_t coalesce_gap_nbytes;
  uint64_t coalesce_cap_nbytes;

  /* What who reads a whole object, piece after piece, best asks for. */
  uint64_t piece_nbytes;
};

/* Whether a lock excludes the holders of other processes, too; else what is
 * young may be theirs. */
static inline bool
rd_io_excludes_all (const struct rd_io *io)
{
  return io->grace_s == 0;
}

/* A writer begins with this.  append is called from one thread at a time;
 * after one that failed the others fail too, and so does commit: nothing
 * with a hole is published.  commit makes the object appear, durably
 * (replacing an older one); after commit or abort the writer is gone. */
struct rd_io_writer {
  const struct rd_io_writer_ops *ops;
};

struct rd_io_writer_ops {
  enum radio_status (*append) (struct rd_io_writer *writer,
                               const struct rd_part *parts, size_t n);
  enum radio_status (*commit) (struct rd_io_writer *writer);
  void (*abort) (struct rd_io_writer *writer);
};

/* A lock begins with this. */
struct rd_io_lock {
  void (*unlock) (struct rd_io_lock *lock);
};

/* Open a store by its URI: a local path, "file:///PATH", "http(s)://..." (of
 * which nothing is asked yet) or "memory:" (a new empty one each time);
 * other schemes are RADIO_ERROR_UNSUPPORTED.  The
 * folder need not exist: then with create it is made, else
 * RADIO_ERROR_NOT_FOUND. */
enum radio_status rd_io_open (const char *uri, bool create,
                              struct rd_io **io) RADIO_USE_RESULT;

/* The same with what a store in S3 is to know besides ("s3://BUCKET/PREFIX",
 * of which nothing is asked yet); NULL: its defaults. */
struct rd_s3_options;
enum radio_status rd_io_open_with (const char *uri, bool create,
                                   const struct rd_s3_options *s3,
                                   struct rd_io **io) RADIO_USE_RESULT;

/* Opens a new empty store in this process's memory. */
enum radio_status rd_io_memory_open (struct rd_io **io) RADIO_USE_RESULT;

/* Opens the folder `path'; with create it is made when missing. */
enum radio_status rd_io_posix_open (const char *path, bool create,
                                    struct rd_io **io) RADIO_USE_RESULT;

/* NULL is legal in all of these. */
void rd_io_close (struct rd_io *io);
void rd_io_writer_abort (struct rd_io_writer *writer);
void rd_io_unlock (struct rd_io_lock *lock);

/* Read one object, or one range of it, and wait for it; done and user_data
 * of get are overwritten.  From a thread that
 * a non-blocking store calls done on this would never return. */
enum radio_status rd_io_read (struct rd_io *io, struct rd_io_get *get)
  RADIO_USE_RESULT;

/* Read a whole object of at most max_nbytes.  A NUL byte follows the
 * content (not counted), so that text can be parsed in place. */
enum radio_status rd_io_read_all (struct rd_io *io, const char *key,
                                  size_t max_nbytes, struct rd_buffer *into)
  RADIO_USE_RESULT;

/* As hold, release and forget of the table, in any store; the file may be
 * NULL. */
struct rd_io_file *rd_io_hold (struct rd_io *io, const char *key, bool keep);
void rd_io_release (struct rd_io *io, struct rd_io_file *file);
void rd_io_forget (struct rd_io *io, const char *prefix);

/* Publish one object from one piece. */
enum radio_status rd_io_put (struct rd_io *io, const char *key,
                             const void *data, size_t nbytes,
                             enum rd_put how) RADIO_USE_RESULT;

/* "PREFIX/NAME", or "NAME" below the root; allocated, NULL without memory
 * (the message is set). */
char *rd_key_join (const char *prefix, const char *name);

RD_DEFINE_CLEANUP (io, struct rd_io, rd_io_close);
RD_DEFINE_CLEANUP (io_writer, struct rd_io_writer, rd_io_writer_abort);
RD_DEFINE_CLEANUP (io_lock, struct rd_io_lock, rd_io_unlock);

#endif /* RD_IO_H */
