/* SPDX-License-Identifier: MIT */
/* Stores of keyed objects behind one table of functions: POSIX, memory, HTTP
 * and S3; tests have wrappers of the same shape.
 *
 * A key is a path of names joined by '/', without a leading or trailing
 * one, as "ct/sub-01/zarr.json".  A prefix is a key of a folder; "" is the
 * root.  Keys are bytes; no name is "", "." or "..".  S3 accepts UTF-8 only,
 * and some endpoints cannot list prefixes with control characters, which XML
 * cannot represent.
 *
 * Every function of a store may be called from any thread, several at once.
 */
#ifndef RD_IO_H
#define RD_IO_H

#include <stdatomic.h>

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "src/base/file-identity.h"

struct rd_io;
struct rd_io_writer;
struct rd_io_lock;
struct rd_io_file;
struct rd_io_stage;

/* The bytes of an object to read. */
enum rd_range_kind {
  RD_RANGE_ALL,               /* the whole object */
  RD_RANGE_SPAN,              /* nbytes from offset on */
  RD_RANGE_SUFFIX,            /* the last nbytes */
};

/* Ends reads early; shared by those of one operation. */
struct rd_io_stop {
  atomic_bool is_cancelled;   /* set by any thread, which then calls rd_io_wake:
                                 RADIO_ERROR_CANCELLED */
  uint64_t deadline_ns;       /* by rd_now_ns: RADIO_ERROR_TIMEOUT; UINT64_MAX:
                                 none */
};

/* One read.  The caller fills in the first part and keeps the struct, the
 * key and the buffer alive until done was called. */
struct rd_io_get {
  const char *key;
  struct rd_io_file *file;    /* the same object, held open; or NULL */
  enum rd_range_kind range;
  uint64_t offset;            /* SPAN */
  size_t nbytes;              /* SPAN, SUFFIX; for ALL: the most to accept,
                                 a larger object is RADIO_ERROR_LIMIT */
  struct rd_buffer *into;     /* its content is replaced; a blocking store does
                                 not move one that has room for nbytes */
  uint64_t needed_nbytes;     /* of the requested bytes, for profiles; 0: all
                               */
  /* Called exactly once, maybe before get returns, maybe from another
   * thread; never with a lock of the store held. */
  void (*done) (struct rd_io_get *get);
  void *user_data;

  /* NULL, or valid until done was called.  Stores whose reads are short do not
   * look at it. */
  const struct rd_io_stop *stop;

  /* Set before done is called.  A range that reaches past the object's end is
   * RADIO_OK with fewer bytes (into->nbytes): the caller decides if that is an
   * error.  A missing object is RADIO_ERROR_NOT_FOUND. */
  struct rd_error error;

  /* Size of the whole object and, in stores that have versions (of its ETag),
   * a number that changes when it is replaced, else 0.  Also set on failure.
   * Set by the caller to what they must be, as far as he knows, or to 0: a
   * store on a network requests a response of another object again, and then
   * fails. */
  uint64_t object_nbytes;
  uint64_t version;

  /* The caller can read the whole object instead of the range: a server that
   * says twice that it has no ranges is believed. */
  bool may_be_whole;

  /* Set before done is called: it failed since the object is not the one that
   * the caller, or the first response for the held file, said.  That one may
   * have been wrong, too: let go of the file, and begin with the index. */
  bool is_other;
};

/* A piece of the data to write. */
struct rd_part {
  const void *data;
  size_t nbytes;
};

enum rd_put {
  RD_PUT_REPLACE,
  RD_PUT_IF_ABSENT,           /* RADIO_ERROR_EXISTS when it is there */
  RD_PUT_OWN,                 /* replaces; the key has a random name, so that
                                 no one else writes other bytes there: a store
                                 may write it twice, to find out what its
                                 server supports */
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

/* The files that sweep removed, or would remove. */
struct rd_io_swept {
  uint64_t n_files;
  uint64_t nbytes;
};

struct rd_io_ops {
  const char *name;           /* "posix", "memory" */

  /* get calls done before it returns, on the calling thread: callers read on
   * their worker threads (by rd_io_read, which is a scope in profiles).
   * Otherwise reads are started from one thread and are asynchronous: then
   * the store reports each as a request to profiles. */
  bool is_blocking;

  /* Nothing can be listed: list fails with RADIO_ERROR_UNSUPPORTED. */
  bool lists_nothing;

  /* A get reports by rd_scope_blocks and rd_scope_ran whether it waits. */
  bool reports_blocking;

  void (*close) (struct rd_io *io);

  /* Starts n reads. */
  void (*get) (struct rd_io *io, struct rd_io_get *gets, size_t n);

  /* Ends the reads that were cancelled.  NULL in stores that do not look at
   * their stop. */
  void (*wake) (struct rd_io *io);

  /* Holds an object open, so that reads of it (get->file) need not open it
   * again.  Its content stays the same when the object is replaced or
   * removed.  keep is for objects that never change: after their release they
   * stay open in a bounded cache.  NULL when it cannot be held for any
   * reason: a read by the key returns the error.  Both are NULL in stores
   * that do not support this. */
  struct rd_io_file *(*hold) (struct rd_io *io, const char *key, bool keep);
  void (*release) (struct rd_io *io, struct rd_io_file *file);

  /* Returns the bytes of a held file in memory, until it is released, and how
   * many of them there are now.  The first call, by one thread, maps it.  If
   * the file shrinks while they are read, the process gets SIGBUS.  NULL if
   * that is not possible; the function is NULL in stores that do not support
   * it. */
  const unsigned char *(*map) (struct rd_io_file *file, uint64_t *nbytes);

  /* Identifies the content of a held file as it is now; false if that is
   * unknown.  is_stable is false if it changed so recently that a change that
   * follows might have the same times.  NULL in stores that do not support
   * this. */
  bool (*identify) (struct rd_io_file *file, struct rd_file_identity *identity,
                    bool *is_stable);

  /* Closes the cached files of an object, or of those below a prefix; files
   * in use are closed when they are released.  NULL where none are cached. */
  void (*forget) (struct rd_io *io, const char *prefix);

  /* The size of an object.  NOT_FOUND. */
  enum radio_status (*size) (struct rd_io *io, const char *key,
                             uint64_t *nbytes);

  /* Calls fn for each child of a prefix, or with recursive for each object
   * below it, in byte order of their names.  A missing prefix is empty,
   * but where the root is a folder that was removed, "" is NOT_FOUND.
   * Temporary files of writers are not listed. */
  enum radio_status (*list) (struct rd_io *io, const char *prefix,
                             bool recursive, rd_io_list_fn *fn,
                             void *user_data);

  /* Lists recursively the objects whose names come after one, which need not
   * be there, in byte order.  NULL in stores that list no faster from there. */
  enum radio_status (*list_after) (struct rd_io *io, const char *prefix,
                                   const char *after, rd_io_list_fn *fn,
                                   void *user_data);

  /* Publishes a complete object, atomically and durably: a reader sees the
   * old one or the new one, also after a crash. */
  enum radio_status (*put) (struct rd_io *io, const char *key,
                            const struct rd_part *parts, size_t n,
                            enum rd_put how);

  /* The same for an object that is written in pieces. */
  enum radio_status (*create) (struct rd_io *io, const char *key,
                               struct rd_io_writer **writer);

  /* Makes an object with the nbytes of another, which never changes, durably,
   * without reading them: a second link, or the server's own copy.  Replaces an
   * object.  NOT_FOUND; UNSUPPORTED: it cannot be done here (NULL: in no case),
   * and the bytes are to be written.  The key has a random name. */
  enum radio_status (*duplicate) (struct rd_io *io, const char *from,
                                  uint64_t nbytes, const char *key);

  /* Begins a stage: new objects below a prefix, to which nothing refers yet,
   * need not be durable until the next object is published.  Only the caller
   * writes below it.  unstage ends it.  All three are NULL in stores where
   * each object is durable at once. */
  enum radio_status (*stage) (struct rd_io *io, const char *prefix,
                              struct rd_io_stage **stage);
  void (*unstage) (struct rd_io *io, struct rd_io_stage *stage);

  /* Makes the objects of n stages durable, then puts one that refers to them,
   * durably too.  Threads that do so at the same time share the work. */
  enum radio_status (*publish) (struct rd_io *io,
                                struct rd_io_stage *const *stages, size_t n,
                                const char *key, const struct rd_part *part,
                                enum rd_put how);

  /* Removes an object.  NOT_FOUND.  Where folders are real, as on disk, they
   * outlive their last object: list still reports them. */
  enum radio_status (*remove) (struct rd_io *io, const char *key);

  /* Removes n objects in any order, of which some may be missing: many by one
   * request.  NULL in stores that remove one after the other. */
  enum radio_status (*remove_many) (struct rd_io *io, char *const *keys,
                                    size_t n);

  /* Removes everything below a prefix, temporary files too, and the prefix
   * (not the root: "" empties the store); a missing one is no error. */
  enum radio_status (*remove_tree) (struct rd_io *io, const char *prefix);

  /* Locks a prefix exclusively, making it first when it is missing where
   * folders are real (durably only with the first object below it).  In a
   * store that has a grace time the lock excludes only holders by the same
   * handle: another process may be writing, and files younger than that must
   * be left alone as if they were locked.  The lock
   * ends with unlock or with the process, however that ends (a child that was
   * forked meanwhile and lives on holds it too).  With wait false a locked
   * prefix gives *lock NULL and RADIO_OK.  Holders of one process exclude each
   * other too.  Locks are advisory. */
  enum radio_status (*lock) (struct rd_io *io, const char *prefix, bool wait,
                             struct rd_io_lock **lock);

  /* Removes the temporary files of dead writers below a prefix, never one
   * whose writer lives, nor one that is younger than the grace time of the
   * store; with dry_run only counts them.  A missing prefix is as for list. */
  enum radio_status (*sweep) (struct rd_io *io, const char *prefix,
                              bool dry_run, struct rd_io_swept *swept);
};

/* Every store begins with this. */
struct rd_io {
  const struct rd_io_ops *ops;
  char *uri;                  /* as messages name it; owned */
  uint64_t grace_s;           /* 0: locks hold between processes, too */
  uint64_t writer_nbytes;     /* most that each writer buffers */
  bool no_sync;               /* nothing waits for a local disk */

  /* Two ranges of one object are read as one when the gap between them is at
   * most this, and the whole at most the cap. */
  uint64_t coalesce_gap_nbytes;
  uint64_t coalesce_cap_nbytes;

  /* The best size of the pieces of a sequential read. */
  uint64_t piece_nbytes;
};

/* True if a lock excludes the holders of other processes, too; else young
 * files may be theirs. */
static inline bool
rd_io_excludes_all (const struct rd_io *io)
{
  return io->grace_s == 0;
}

/* A writer begins with this.  append is called from one thread at a time;
 * after one that failed the others fail too, and so does commit: no object
 * with a hole is published.  commit publishes the object durably (replacing
 * an older one); commit and abort free the writer. */
struct rd_io_writer {
  const struct rd_io_writer_ops *ops;
};

struct rd_io_writer_ops {
  enum radio_status (*append) (struct rd_io_writer *writer,
                               const struct rd_part *parts, size_t n);
  enum radio_status (*commit) (struct rd_io_writer *writer);
  void (*abort) (struct rd_io_writer *writer);

  /* Passes an estimate of the object's size, so that a store on a network can
   * prepare for a large one.  May be called between appends, and again; NULL
   * in stores that do not need it. */
  void (*expect) (struct rd_io_writer *writer, uint64_t nbytes);
};

/* A lock begins with this. */
struct rd_io_lock {
  void (*unlock) (struct rd_io_lock *lock);
};

/* Opens a store by its URI: a local path, "file:///PATH", "http(s)://..."
 * (without a request) or "memory:" (a new empty one each time); other schemes
 * are RADIO_ERROR_UNSUPPORTED.  A missing folder is made with create, else it
 * is RADIO_ERROR_NOT_FOUND. */
enum radio_status rd_io_open (const char *uri, bool create,
                              struct rd_io **io) RADIO_USE_RESULT;

/* The same with options of an S3 store ("s3://BUCKET/PREFIX", without a
 * request); NULL: its defaults. */
struct rd_s3_options;
enum radio_status rd_io_open_with (const char *uri, bool create,
                                   const struct rd_s3_options *s3,
                                   struct rd_io **io) RADIO_USE_RESULT;

/* True if a URI is of a store or file on a network: http(s):// or s3://. */
bool rd_io_is_remote (const char *uri);

/* Opens the store of the folder of a file on a network, without a request, and
 * returns the file's key there, allocated.  Of "http(s)://" the key is
 * percent-encoded, as in the URL; a query follows the URL of each request, and
 * is in no message. */
enum radio_status rd_io_open_file (const char *url,
                                   const struct rd_s3_options *s3,
                                   struct rd_io **io, char **key)
  RADIO_USE_RESULT;

/* Opens a new empty store in this process's memory. */
enum radio_status rd_io_memory_open (struct rd_io **io) RADIO_USE_RESULT;

/* Opens the folder `path'; with create it is made when missing. */
enum radio_status rd_io_posix_open (const char *path, bool create,
                                    struct rd_io **io) RADIO_USE_RESULT;

/* NULL is legal in all of these. */
static inline void
rd_io_close (struct rd_io *io)
{
  if (io)
    io->ops->close (io);
}

static inline void
rd_io_writer_expect (struct rd_io_writer *writer, uint64_t nbytes)
{
  if (writer->ops->expect)
    writer->ops->expect (writer, nbytes);
}

static inline void
rd_io_writer_abort (struct rd_io_writer *writer)
{
  if (writer)
    writer->ops->abort (writer);
}

static inline void
rd_io_unlock (struct rd_io_lock *lock)
{
  if (lock)
    lock->unlock (lock);
}

/* Reads one object, or one range of it, and waits for it; done and user_data
 * of get are overwritten.  It would deadlock on the thread on which a
 * non-blocking store calls done. */
enum radio_status rd_io_read (struct rd_io *io, struct rd_io_get *get)
  RADIO_USE_RESULT;

/* Reads a whole object of at most max_nbytes.  A NUL byte follows the
 * content (not counted), so that text can be parsed in place. */
enum radio_status rd_io_read_all (struct rd_io *io, const char *key,
                                  size_t max_nbytes, struct rd_buffer *into)
  RADIO_USE_RESULT;

/* As hold, release and forget of the table, in any store; the file may be
 * NULL. */
static inline struct rd_io_file *
rd_io_hold (struct rd_io *io, const char *key, bool keep)
{
  return io->ops->hold ? io->ops->hold (io, key, keep) : NULL;
}

static inline void
rd_io_release (struct rd_io *io, struct rd_io_file *file)
{
  if (file)
    io->ops->release (io, file);
}

static inline const unsigned char *
rd_io_map (struct rd_io *io, struct rd_io_file *file, uint64_t *nbytes)
{
  return file && io->ops->map ? io->ops->map (file, nbytes) : NULL;
}

static inline bool
rd_io_identify (struct rd_io *io, struct rd_io_file *file,
                struct rd_file_identity *identity, bool *is_stable)
{
  return file && io->ops->identify
         && io->ops->identify (file, identity, is_stable);
}

static inline void
rd_io_forget (struct rd_io *io, const char *prefix)
{
  if (io->ops->forget)
    io->ops->forget (io, prefix);
}

/* As wake of the table, in any store. */
static inline void
rd_io_wake (struct rd_io *io)
{
  if (io->ops->wake)
    io->ops->wake (io);
}

/* As stage, unstage and publish of the table, in any store; a stage may be
 * NULL. */
RADIO_USE_RESULT static inline enum radio_status
rd_io_stage (struct rd_io *io, const char *prefix, struct rd_io_stage **stage)
{
  *stage = NULL;
  return io->ops->stage ? io->ops->stage (io, prefix, stage) : RADIO_OK;
}

static inline void
rd_io_unstage (struct rd_io *io, struct rd_io_stage *stage)
{
  if (stage)
    io->ops->unstage (io, stage);
}

RADIO_USE_RESULT static inline enum radio_status
rd_io_publish (struct rd_io *io, struct rd_io_stage *const *stages, size_t n,
               const char *key, const void *data, size_t nbytes,
               enum rd_put how)
{
  const struct rd_part part = { data, nbytes };
  return n > 0 ? io->ops->publish (io, stages, n, key, &part, how)
               : io->ops->put (io, key, &part, 1, how);
}

/* Publishes one object from one piece. */
RADIO_USE_RESULT static inline enum radio_status
rd_io_put (struct rd_io *io, const char *key, const void *data,
           size_t nbytes, enum rd_put how)
{
  const struct rd_part part = { data, nbytes };
  return io->ops->put (io, key, &part, 1, how);
}

/* As remove_many of the table, in any store. */
enum radio_status rd_io_remove_many (struct rd_io *io, char *const *keys,
                                     size_t n) RADIO_USE_RESULT;

/* The same for one object, which may be missing. */
RADIO_USE_RESULT static inline enum radio_status
rd_io_remove (struct rd_io *io, const char *key)
{
  char *const keys[] = { (char *) key };
  return rd_io_remove_many (io, keys, 1);
}

/* "PREFIX/NAME", or "NAME" below the root; allocated, NULL without memory
 * (the message is set). */
char *rd_key_join (const char *prefix, const char *name);

RD_DEFINE_CLEANUP (io, struct rd_io, rd_io_close);
RD_DEFINE_CLEANUP (io_writer, struct rd_io_writer, rd_io_writer_abort);
RD_DEFINE_CLEANUP (io_lock, struct rd_io_lock, rd_io_unlock);

#endif /* RD_IO_H */
