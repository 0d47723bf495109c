/* SPDX-License-Identifier: MIT */
/* The store on disk at the edge to the operating system: the linker sends
 * its calls here, which note them, interrupt them, cut them short, or end
 * the process in front of one. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <radio/profile.h>

#include "tests/io/child.h"
#include "tests/io/site.h"
#include "tests/io/store-asserts.h"

/* The behaviour of the calls; tests set it, set_up clears it. */
static struct {
  char log[4096];
  bool cuts;                  /* calls end early, every second with EINTR */
  unsigned int n_calls;
  bool has_no_noreplace;      /* as on file systems without it */
  const char *exit_before;    /* the process ends at this call */
  int fail_fsync;             /* with this errno */
  unsigned n_fsyncs;
  int fail_flock;
  const char *shrinks;        /* the file is cut before the first pread */
  int fail_nowait;            /* preadv2, with this errno; -1: the second one
                                 does so with EAGAIN, the first ends early */
  unsigned int n_preads;      /* of more than 4 KiB */
  unsigned int n_nowaits;
  struct rd_io *replaces_k;   /* "k" becomes "new" right after it is opened */
} os;

ssize_t __real_pread (int fd, void *data, size_t nbytes, off_t offset);
ssize_t __wrap_pread (int fd, void *data, size_t nbytes, off_t offset);
ssize_t __real_preadv2 (int fd, const struct iovec *vec, int n, off_t offset,
                        int flags);
ssize_t __wrap_preadv2 (int fd, const struct iovec *vec, int n, off_t offset,
                        int flags);
ssize_t __real_writev (int fd, const struct iovec *vec, int n);
ssize_t __wrap_writev (int fd, const struct iovec *vec, int n);
int __real_openat (int fd, const char *path, int flags, ...);
int __wrap_openat (int fd, const char *path, int flags, ...);
int __real_fsync (int fd);
int __wrap_fsync (int fd);
int __real_syncfs (int fd);
int __wrap_syncfs (int fd);
int __real_sync_file_range (int fd, off_t offset, off_t nbytes,
                            unsigned flags);
int __wrap_sync_file_range (int fd, off_t offset, off_t nbytes,
                            unsigned flags);
int __real_flock (int fd, int operation);
int __wrap_flock (int fd, int operation);
int __real_renameat (int fd, const char *from, int to_fd, const char *to);
int __wrap_renameat (int fd, const char *from, int to_fd, const char *to);
int __real_renameat2 (int fd, const char *from, int to_fd, const char *to,
                      unsigned int flags);
int __wrap_renameat2 (int fd, const char *from, int to_fd, const char *to,
                      unsigned int flags);
int __real_linkat (int fd, const char *from, int to_fd, const char *to,
                   int flags);
int __wrap_linkat (int fd, const char *from, int to_fd, const char *to,
                   int flags);

static void
note (const char *call, const char *what)
{
  if (os.exit_before && strcmp (os.exit_before, call) == 0)
    _exit (43);
  size_t used = strlen (os.log);
  snprintf (os.log + used, sizeof os.log - used, "%s %s\n", call, what);
}

/* The last name of an open file, "tmp" for a temporary one. */
static void
note_fd (const char *call, int fd)
{
  char link[64], path[512];
  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink (link, path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  const char *slash = strrchr (path, '/');
  const char *name = slash ? slash + 1 : path;
  if (strncmp (name, "radio-test-", 11) == 0)
    name = "root";
  note (call, strncmp (name, ".radio-tmp-", 11) == 0 ? "tmp" : name);
}

static bool
is_interrupted (void)
{
  os.n_calls++;
  if (!os.cuts || os.n_calls % 2 == 0)
    return false;
  errno = EINTR;
  return true;
}

ssize_t
__wrap_pread (int fd, void *data, size_t nbytes, off_t offset)
{
  if (os.shrinks && truncate (os.shrinks, 3) == 0)
    os.shrinks = NULL;
  os.n_preads += nbytes > 4096;    /* the recorder reads small files, too */
  if (is_interrupted ())
    return -1;
  return __real_pread (fd, data, os.cuts && nbytes > 7 ? 7 : nbytes, offset);
}

ssize_t
__wrap_preadv2 (int fd, const struct iovec *vec, int n, off_t offset,
                int flags)
{
  struct iovec some = vec[0];
  os.n_nowaits++;
  assert_int_equal (n, 1);
  if (os.fail_nowait > 0 || (os.fail_nowait < 0 && os.n_nowaits > 1)) {
    errno = os.fail_nowait > 0 ? os.fail_nowait : EAGAIN;
    return -1;
  }
  if (os.fail_nowait < 0)
    some.iov_len = 4096;
  (void) flags;               /* whether or not the page is cached */
  return __real_preadv2 (fd, &some, 1, offset, 0);
}

ssize_t
__wrap_writev (int fd, const struct iovec *vec, int n)
{
  if (is_interrupted ())
    return -1;
  if (!os.cuts)
    return __real_writev (fd, vec, n);
  /* Across the border of two pieces where there are two. */
  struct iovec two[2] = { vec[0], n > 1 ? vec[1] : vec[0] };
  if (n == 1 || two[1].iov_len == 1) {
    two[0].iov_len = two[0].iov_len / 2 + 1;
    return __real_writev (fd, two, 1);
  }
  two[1].iov_len = 1;
  return __real_writev (fd, two, 2);
}

int
__wrap_fsync (int fd)
{
  if (is_interrupted ())
    return -1;
  note_fd ("fsync", fd);
  os.n_fsyncs++;
  if (os.fail_fsync) {
    errno = os.fail_fsync;
    return -1;
  }
  return __real_fsync (fd);
}

/* A stage's, of whole files, are not noted. */
int
__wrap_sync_file_range (int fd, off_t offset, off_t nbytes, unsigned flags)
{
  if (nbytes > 0)
    note_fd ("flush", fd);
  return __real_sync_file_range (fd, offset, nbytes, flags);
}

int
__wrap_syncfs (int fd)
{
  note_fd ("syncfs", fd);
  if (os.fail_fsync) {
    errno = os.fail_fsync;
    return -1;
  }
  return __real_syncfs (fd);
}

int
__wrap_openat (int fd, const char *path, int flags, ...)
{
  int result = __real_openat (fd, path, flags, 0666);
  struct rd_io *io = os.replaces_k;
  if (io && strcmp (path, "k") == 0) {
    os.replaces_k = NULL;
    put_text (io, "k", "new");
  }
  return result;
}

int
__wrap_flock (int fd, int operation)
{
  if (os.fail_flock) {
    errno = os.fail_flock;
    return -1;
  }
  return __real_flock (fd, operation);
}

int
__wrap_renameat (int fd, const char *from, int to_fd, const char *to)
{
  note ("rename", to);
  return __real_renameat (fd, from, to_fd, to);
}

int
__wrap_renameat2 (int fd, const char *from, int to_fd, const char *to,
                  unsigned int flags)
{
  if (os.has_no_noreplace) {
    errno = EINVAL;
    return -1;
  }
  note ("rename2", to);
  return __real_renameat2 (fd, from, to_fd, to, flags);
}

int
__wrap_linkat (int fd, const char *from, int to_fd, const char *to,
               int flags)
{
  note ("link", to);
  int result = __real_linkat (fd, from, to_fd, to, flags);
  if (os.exit_before && strcmp (os.exit_before, "after link") == 0)
    _exit (43);
  return result;
}

/* --- the order of calls --- */

static void
a_put_is_on_disk_before_it_has_its_name (void **state)
{
  put_text (io_of (state), "k", "x");
  assert_string_equal (os.log, "fsync tmp\nrename k\nfsync root\n");
}

static void
new_folders_are_on_disk_before_the_object (void **state)
{
  put_text (io_of (state), "a/b/k", "x");
  assert_string_equal (os.log, "fsync root\nfsync a\n"
                       "fsync tmp\nrename a/b/k\nfsync b\n");
}

static void
a_writer_syncs_once_at_its_commit (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_writer *writer;
  assert_ok (io->ops->create (io, "k", &writer));
  for (int i = 0; i < 3; i++)
    assert_ok (writer->ops->append (writer, &(struct rd_part) { "x", 1 },
                                    1));
  assert_string_equal (os.log, "");
  assert_ok (writer->ops->commit (writer));
  assert_string_equal (os.log, "fsync tmp\nrename k\nfsync root\n");
}

static void
nothing_is_synced_if_that_was_asked_for (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_writer *writer;
  io->no_sync = true;
  put_text (io, "a/b/k", "x");
  assert_string_equal (os.log, "rename a/b/k\n");
  os.log[0] = '\0';
  assert_ok (io->ops->create (io, "l", &writer));
  assert_ok (writer->ops->append (writer, &(struct rd_part) { "x", 1 }, 1));
  assert_ok (writer->ops->commit (writer));
  assert_ok (io->ops->remove (io, "a/b/k"));
  assert_string_equal (os.log, "rename l\n");
}

/* So that the sync at its end waits less, if there is one. */
static void
a_large_file_is_flushed_early_if_it_is_synced (void **state)
{
  struct rd_io *io = io_of (state);
  static const char bytes[4 << 20];
  const struct rd_part part = { bytes, sizeof bytes };
  for (int i = 0; i < 2; i++) {
    struct rd_io_writer *writer;
    assert_ok (io->ops->create (io, "k", &writer));
    assert_ok (writer->ops->append (writer, &part, 1));
    assert_string_equal (os.log, io->no_sync ? "" : "flush tmp\n");
    assert_ok (writer->ops->commit (writer));
    os.log[0] = '\0';
    io->no_sync = true;
  }
}

static void
a_removal_is_made_durable (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/k", "x");
  os.log[0] = '\0';
  assert_ok (io->ops->remove (io, "a/k"));
  assert_string_equal (os.log, "fsync a\n");
  os.log[0] = '\0';
  assert_ok (io->ops->remove_tree (io, "a"));
  assert_string_equal (os.log, "fsync root\n");
}

/* A lock's folders, two objects of a stage (one in a folder of its own), and
 * the object that refers to them. */
static enum radio_status
publish_new (struct rd_io *io)
{
  static const struct rd_part part = { "shard", 5 };
  struct rd_io_lock *lock;
  struct rd_io_stage *stage;
  struct rd_io_writer *writer;
  assert_ok (io->ops->lock (io, "c/v", true, &lock));
  assert_ok (rd_io_stage (io, "c/v/l", &stage));
  assert_non_null (stage);
  assert_ok (rd_io_put (io, "c/v/l/a", "1", 1, RD_PUT_REPLACE));
  assert_ok (io->ops->create (io, "c/v/l/s/b", &writer));
  assert_ok (writer->ops->append (writer, &part, 1));
  assert_ok (writer->ops->commit (writer));
  assert_string_equal (os.log, "");
  enum radio_status status = rd_io_publish (io, &stage, 1, "c/v/doc", "doc",
                                            3, RD_PUT_IF_ABSENT);
  rd_io_unstage (io, stage);
  rd_io_unlock (lock);
  return status;
}

static void
a_stage_is_on_disk_before_the_object_that_refers_to_it (void **state)
{
  struct rd_io *io = io_of (state);
  assert_ok (publish_new (io));
  assert_string_equal (os.log,
                       "fsync a\nfsync b\nfsync tmp\n"
                       "fsync l\nfsync s\nfsync v\nfsync c\nfsync root\n"
                       "rename2 c/v/doc\nfsync v\n");
  assert_text (io, "c/v/l/a", "1");
  assert_text (io, "c/v/l/s/b", "shard");
  assert_text (io, "c/v/doc", "doc");
}

static void
the_folders_of_a_lock_are_on_disk_with_the_first_object (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_lock *lock;
  assert_ok (io->ops->lock (io, "c/v", true, &lock));
  assert_string_equal (os.log, "");
  put_text (io, "other", "x");
  assert_string_equal (os.log, "fsync tmp\nrename other\nfsync root\n");
  os.log[0] = '\0';
  put_text (io, "c/v/k", "x");
  assert_string_equal (os.log,
                       "fsync tmp\nrename c/v/k\nfsync v\nfsync c\n");
  os.log[0] = '\0';
  put_text (io, "c/v/k", "y");
  assert_string_equal (os.log, "fsync tmp\nrename c/v/k\nfsync v\n");
  rd_io_unlock (lock);
}

static void
a_failed_fsync_of_a_stage_publishes_nothing (void **state)
{
  struct rd_io *io = io_of (state);
  os.fail_fsync = EIO;
  assert_int_equal (publish_new (io), RADIO_ERROR_IO);
  assert_null (strstr (os.log, "rename"));
  os.fail_fsync = 0;
  assert_list (io, "c/v", true, "l/a 1\nl/s/b 5\n");
}

static void
a_large_object_of_a_stage_is_synced_when_it_is_complete (void **state)
{
  static const char large[1 << 20];
  struct rd_io *io = io_of (state);
  struct rd_io_stage *stage;
  assert_ok (rd_io_stage (io, "l", &stage));
  assert_ok (rd_io_put (io, "l/a", large, sizeof large, RD_PUT_REPLACE));
  assert_string_equal (os.log, "fsync a\n");
  rd_io_unstage (io, stage);
}

/* One call for the file system takes less than thousands for its files. */
static void
a_stage_of_many_objects_is_synced_at_once (void **state)
{
  struct rd_io *io = io_of (state);
  for (int fails = 1; fails >= 0; fails--) {
    struct rd_io_stage *stage;
    char key[32];
    assert_ok (rd_io_stage (io, "c/l", &stage));
    os.n_fsyncs = 0;
    os.fail_fsync = 0;
    for (int i = 0; i < 300; i++) {
      snprintf (key, sizeof key, "c/l/%d-%d/a", fails, i);
      assert_ok (rd_io_put (io, key, "1", 1, RD_PUT_REPLACE));
    }
    assert_true (os.n_fsyncs <= 256);
    os.log[0] = '\0';
    os.fail_fsync = fails ? EIO : 0;
    enum radio_status status = rd_io_publish (io, &stage, 1, "c/doc", "doc", 3,
                                              RD_PUT_IF_ABSENT);
    assert_int_equal (status, fails ? RADIO_ERROR_IO : RADIO_OK);
    assert_string_equal (os.log, fails ? "syncfs root\n"
                         : "syncfs root\nfsync tmp\nfsync c\nfsync root\n"
                           "rename2 c/doc\nfsync c\n");
    rd_io_unstage (io, stage);
    assert_true (os.n_fsyncs <= 260);
  }
}

/* An object that exists is replaced as always. */
static void
a_stage_replaces_atomically (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_stage *stage;
  put_text (io, "l/a", "old");
  os.log[0] = '\0';
  assert_ok (rd_io_stage (io, "l", &stage));
  put_text (io, "l/a", "new");
  assert_string_equal (os.log, "fsync tmp\nrename l/a\nfsync l\n");
  assert_text (io, "l/a", "new");
  rd_io_unstage (io, stage);
}

static void
an_aborted_writer_leaves_nothing_in_a_stage (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_stage *stage;
  struct rd_io_writer *writer;
  assert_ok (rd_io_stage (io, "l", &stage));
  assert_ok (io->ops->create (io, "l/a", &writer));
  rd_io_writer_abort (writer);
  assert_list (io, "l", true, "");
  rd_io_unstage (io, stage);
}

/* --- calls that do less than requested --- */

static void
interrupted_and_short_calls_lose_nothing (void **state)
{
  struct rd_io *io = io_of (state);
  os.cuts = true;
  const struct rd_part parts[] = {
    { "The quick brown fox ", 20 }, { "", 0 }, { "j", 1 }, { "umps ", 5 },
    { "over the lazy dog", 17 },
  };
  assert_ok (io->ops->put (io, "k", parts, 5, RD_PUT_REPLACE));
  assert_text (io, "k", "The quick brown fox jumps over the lazy dog");
  struct rd_io_writer *writer;
  assert_ok (io->ops->create (io, "w", &writer));
  assert_ok (writer->ops->append (writer, parts, 3));
  assert_ok (writer->ops->append (writer, parts + 3, 2));
  assert_ok (writer->ops->commit (writer));
  assert_text (io, "w", "The quick brown fox jumps over the lazy dog");
  assert_true (os.n_calls > 20);
}

static void
a_file_that_shrinks_ends_early (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "k", "a longer text");
  char path[64];
  snprintf (path, sizeof path, "%s/k", place_of (state));
  os.shrinks = path;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_ok (rd_io_read_all (io, "k", 100, &buffer));
  assert_null (os.shrinks);
  assert_int_equal (buffer.nbytes, 3);
  assert_string_equal ((char *) buffer.data, "a l");
}

#define LONG_NBYTES ((size_t) 100 << 10)

/* Reads a long object while recording, and expects these numbers of calls. */
static void
check_recorded_read (struct rd_io *io, int fail_nowait,
                     unsigned int n_nowaits, unsigned int n_preads)
{
  static unsigned char content[LONG_NBYTES];
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  for (size_t i = 0; i < LONG_NBYTES; i++)
    content[i] = (unsigned char) (i * i >> 3);
  assert_ok (rd_io_put (io, "k", content, LONG_NBYTES, RD_PUT_REPLACE));
  os.fail_nowait = fail_nowait;
  os.n_nowaits = os.n_preads = 0;
  assert_ok (rd_io_read_all (io, "k", LONG_NBYTES, &buffer));
  assert_int_equal (buffer.nbytes, LONG_NBYTES);
  assert_memory_equal (buffer.data, content, LONG_NBYTES);
  assert_int_equal (os.n_nowaits, n_nowaits);
  assert_int_equal (os.n_preads, n_preads);
}

#if defined RWF_NOWAIT && !defined RADIO_NO_PROFILE

/* Cached bytes are read first, without waiting; the outcome of that read makes
 * no difference. */
static void
recorded_reads_try_first_without_waiting (void **state)
{
  struct rd_io *io = io_of (state);
  struct radio_recorder *recorder;
  check_recorded_read (io, 0, 0, 1);
  assert_ok (radio_recorder_start (NULL, &recorder));
  check_recorded_read (io, 0, 1, 0);
  check_recorded_read (io, -1, 2, 1);
  check_recorded_read (io, EAGAIN, 1, 1);
  check_recorded_read (io, EOPNOTSUPP, 1, 1);
  check_recorded_read (io, ENOSYS, 1, 1);
  assert_ok (radio_recorder_stop (recorder, NULL));
  check_recorded_read (io, 0, 0, 1);
}

#else

static void
recorded_reads_try_first_without_waiting (void **state)
{
  check_recorded_read (io_of (state), 0, 0, 1);
}

#endif

/* Hold "k" and read all of it. */
static void
assert_held_text (struct rd_io *io, const char *text)
{
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  struct rd_io_file *file = rd_io_hold (io, "k", true);
  assert_non_null (file);
  struct rd_io_get get = {
    .key = "k", .file = file, .range = RD_RANGE_ALL, .nbytes = 100,
    .into = &buffer,
  };
  assert_ok (rd_io_read (io, &get));
  assert_int_equal (buffer.nbytes, strlen (text));
  assert_memory_equal (buffer.data, text, strlen (text));
  rd_io_release (io, file);
}

/* The file that was opened before the object was replaced may be used by
 * the caller, but must not be kept for the next one. */
static void
a_file_replaced_while_it_is_opened_is_not_kept (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "k", "old");
  os.replaces_k = io;
  assert_held_text (io, "old");
  assert_null (os.replaces_k);
  assert_held_text (io, "new");
}

static void
a_failed_fsync_publishes_nothing (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "k", "old");
  os.fail_fsync = EIO;
  assert_fails (rd_io_put (io, "k", "new", 3, RD_PUT_REPLACE),
                RADIO_ERROR_IO, "/k: cannot write to disk");
  struct rd_io_writer *writer;
  assert_ok (io->ops->create (io, "k", &writer));
  assert_fails (writer->ops->commit (writer), RADIO_ERROR_IO, "/k");
  os.fail_fsync = 0;
  assert_text (io, "k", "old");
  assert_int_equal (place_count (place_of (state)), 1);
}

/* --- file systems that lack something --- */

/* A put needs no lock; taking one fails with a message. */
static void
without_locks_on_folders_only_locking_fails (void **state)
{
  static const int errnums[] = { EBADF, ENOLCK, EOPNOTSUPP };
  struct rd_io *io = io_of (state);
  struct rd_io_lock *lock;
  for (size_t i = 0; i < 3; i++) {
    os.fail_flock = errnums[i];
    assert_fails (io->ops->lock (io, "a", i == 0, &lock),
                  RADIO_ERROR_UNSUPPORTED, "/a: cannot lock the folder: its "
                  "file system has no such locks");
    assert_null (lock);
    put_text (io, "k", "old");
  }
  os.fail_flock = EIO;
  assert_fails (io->ops->lock (io, "a", true, &lock), RADIO_ERROR_IO,
                "/a: cannot lock the folder");
}

static void
without_exclusive_rename_a_link_does_it (void **state)
{
  struct rd_io *io = io_of (state);
  os.has_no_noreplace = true;
  assert_ok (rd_io_put (io, "k", "1", 1, RD_PUT_IF_ABSENT));
  assert_string_equal (os.log, "fsync tmp\nlink k\nfsync root\n");
  assert_fails (rd_io_put (io, "k", "2", 1, RD_PUT_IF_ABSENT),
                RADIO_ERROR_EXISTS, "/k");
  assert_text (io, "k", "1");
  assert_int_equal (place_count (place_of (state)), 1);
}

/* --- death between two calls --- */

static int
put_replacing (void *arg)
{
  return rd_io_put (arg, "k", "new", 3, RD_PUT_REPLACE) == RADIO_OK ? 0 : 1;
}

static int
put_if_absent (void *arg)
{
  return rd_io_put (arg, "n", "new", 3, RD_PUT_IF_ABSENT) == RADIO_OK ? 0
                                                                      : 1;
}

static void
assert_swept (struct rd_io *io, uint64_t n_files, uint64_t nbytes)
{
  struct rd_io_swept swept;
  assert_ok (io->ops->sweep (io, "", false, &swept));
  assert_int_equal (swept.n_files, n_files);
  assert_int_equal (swept.nbytes, nbytes);
}

static void
death_before_the_rename_leaves_the_old_object (void **state)
{
  static const char *const calls[] = { "fsync", "rename" };
  struct rd_io *io = io_of (state);
  put_text (io, "k", "old");
  for (size_t i = 0; i < 2; i++) {
    os.exit_before = calls[i];
    int result = child_run (put_replacing, io);
    os.exit_before = NULL;
    assert_int_equal (result, 43);
    assert_text (io, "k", "old");
    assert_list (io, "", false, "k 3\n");
    assert_swept (io, 1, 3);
  }
}

static void
death_before_an_exclusive_rename_leaves_nothing (void **state)
{
  struct rd_io *io = io_of (state);
  os.exit_before = "rename2";
  int result = child_run (put_if_absent, io);
  os.exit_before = NULL;
  assert_int_equal (result, 43);
  assert_list (io, "", false, "");
  assert_swept (io, 1, 3);
  assert_ok (rd_io_put (io, "n", "x", 1, RD_PUT_IF_ABSENT));
}

static int
publish_in_child (void *arg)
{
  return publish_new (arg) == RADIO_OK ? 0 : 1;
}

static void
death_before_a_stage_is_published_leaves_no_reference (void **state)
{
  static const char *const calls[] = { "fsync", "rename2" };
  struct rd_io *io = io_of (state);
  for (size_t i = 0; i < 2; i++) {
    os.log[0] = '\0';
    os.exit_before = calls[i];
    int result = child_run (publish_in_child, io);
    os.exit_before = NULL;
    assert_int_equal (result, 43);
    assert_list (io, "c/v", true, "l/a 1\nl/s/b 5\n");
    assert_swept (io, 1, 3);
    assert_ok (io->ops->remove_tree (io, "c"));
  }
}

static void
death_after_the_link_leaves_a_whole_object (void **state)
{
  struct rd_io *io = io_of (state);
  os.has_no_noreplace = true;
  os.exit_before = "after link";
  int result = child_run (put_if_absent, io);
  os.exit_before = NULL;
  assert_int_equal (result, 43);
  assert_text (io, "n", "new");
  /* The second name goes, the bytes stay. */
  assert_swept (io, 1, 0);
  assert_text (io, "n", "new");
  assert_int_equal (place_count (place_of (state)), 1);
}

static int
set_up (void **state)
{
  memset (&os, 0, sizeof os);
  return site_set_up (state);
}

#define CASE(fn) cmocka_unit_test_setup_teardown (fn, set_up, \
                                                  site_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    CASE (a_put_is_on_disk_before_it_has_its_name),
    CASE (new_folders_are_on_disk_before_the_object),
    CASE (a_writer_syncs_once_at_its_commit),
    CASE (nothing_is_synced_if_that_was_asked_for),
    CASE (a_large_file_is_flushed_early_if_it_is_synced),
    CASE (a_removal_is_made_durable),
    CASE (a_stage_is_on_disk_before_the_object_that_refers_to_it),
    CASE (the_folders_of_a_lock_are_on_disk_with_the_first_object),
    CASE (a_failed_fsync_of_a_stage_publishes_nothing),
    CASE (a_large_object_of_a_stage_is_synced_when_it_is_complete),
    CASE (a_stage_of_many_objects_is_synced_at_once),
    CASE (a_stage_replaces_atomically),
    CASE (an_aborted_writer_leaves_nothing_in_a_stage),
    CASE (interrupted_and_short_calls_lose_nothing),
    CASE (a_file_that_shrinks_ends_early),
    CASE (recorded_reads_try_first_without_waiting),
    CASE (a_file_replaced_while_it_is_opened_is_not_kept),
    CASE (a_failed_fsync_publishes_nothing),
    CASE (without_locks_on_folders_only_locking_fails),
    CASE (without_exclusive_rename_a_link_does_it),
    CASE (death_before_the_rename_leaves_the_old_object),
    CASE (death_before_an_exclusive_rename_leaves_nothing),
    CASE (death_before_a_stage_is_published_leaves_no_reference),
    CASE (death_after_the_link_leaves_a_whole_object),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
