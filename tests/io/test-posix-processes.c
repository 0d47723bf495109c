/* SPDX-License-Identifier: MIT */
/* The store on disk between processes: racing, dying, without rights, on a
 * full disk. */
#include <config.h>

#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/fault.h"
#include "tests/io/child.h"
#include "tests/io/site.h"
#include "tests/io/store-asserts.h"

/* --- racing --- */

struct racer {
  struct rd_io *io;
  char letter;
};

/* Returns how many keys it won, or 100 for a failure. */
static int
put_if_absent (void *arg)
{
  const struct racer *racer = arg;
  int n_won = 0;
  char text[3000];
  memset (text, racer->letter, sizeof text);
  for (int i = 0; i < 20; i++) {
    char key[16];
    snprintf (key, sizeof key, "r/%d", i);
    enum radio_status status = rd_io_put (racer->io, key, text, sizeof text,
                                          RD_PUT_IF_ABSENT);
    if (status == RADIO_OK)
      n_won++;
    else if (status != RADIO_ERROR_EXISTS)
      return 100;
  }
  return n_won;
}

static void
assert_all_one_letter (struct rd_io *io, const char *key, size_t nbytes)
{
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_ok (rd_io_read_all (io, key, 1 << 20, &buffer));
  assert_int_equal (buffer.nbytes, nbytes);
  for (size_t i = 0; i < nbytes; i++)
    assert_int_equal (buffer.data[i], buffer.data[0]);
}

static void
of_racing_processes_exactly_one_wins_each_key (void **state)
{
  struct racer racers[3];
  pid_t pids[3];
  for (int i = 0; i < 3; i++) {
    racers[i] = (struct racer) { io_of (state), (char) ('a' + i) };
    pids[i] = child_start (put_if_absent, &racers[i]);
  }
  int n_won = 0;
  for (int i = 0; i < 3; i++) {
    int n = child_wait (pids[i]);
    assert_in_range (n, 0, 20);
    n_won += n;
  }
  assert_int_equal (n_won, 20);
  for (int i = 0; i < 20; i++) {
    char key[16];
    snprintf (key, sizeof key, "r/%d", i);
    assert_all_one_letter (io_of (state), key, 3000);
  }
  char folder[64];
  snprintf (folder, sizeof folder, "%s/r", place_of (state));
  assert_int_equal (place_count (folder), 20);
}

/* --- dying --- */

static int
die_at_commit (void *arg)
{
  const struct rd_fault faults[] = {
    { .op = RD_FAULT_COMMIT, .kind = RD_FAULT_EXIT, .status = 42 },
  };
  const struct rd_fault_plan plan = { .faults = faults, .n = 1 };
  struct rd_io *io;
  struct rd_io_writer *writer;
  CHILD_CHECK (rd_io_fault_open (arg, &plan, &io) == RADIO_OK);
  CHILD_CHECK (io->ops->create (io, "a/b/k", &writer) == RADIO_OK);
  CHILD_CHECK (writer->ops->append (writer,
                                    &(struct rd_part) { "dead", 4 }, 1)
               == RADIO_OK);
  writer->ops->commit (writer);
  return 1;
}

static void
a_writer_that_died_shows_nothing_and_is_swept (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_swept swept;
  put_text (io, "a/b/old", "x");
  assert_int_equal (child_run (die_at_commit, io), 42);
  char folder[64];
  snprintf (folder, sizeof folder, "%s/a/b", place_of (state));
  assert_int_equal (place_count (folder), 2);
  assert_list (io, "", true, "a/b/old 1\n");
  assert_list (io, "a/b", false, "old 1\n");
  assert_fails (read_key (io, "a/b/k"), RADIO_ERROR_NOT_FOUND, "a/b/k");

  assert_ok (io->ops->sweep (io, "", true, &swept));
  assert_int_equal (swept.n_files, 1);
  assert_int_equal (swept.nbytes, 4);
  assert_int_equal (place_count (folder), 2);
  assert_ok (io->ops->sweep (io, "a/c", false, &swept));
  assert_int_equal (swept.n_files, 0);
  assert_ok (io->ops->sweep (io, "a", false, &swept));
  assert_int_equal (swept.n_files, 1);
  assert_int_equal (swept.nbytes, 4);
  assert_int_equal (place_count (folder), 1);
  assert_text (io, "a/b/old", "x");
}

static void
a_sweep_spares_the_living_beside_the_dead (void **state)
{
  struct rd_io *io = io_of (state);
  struct rd_io_swept swept;
  assert_int_equal (child_run (die_at_commit, io), 42);
  struct rd_io_writer *writer;
  assert_ok (io->ops->create (io, "a/b/k", &writer));
  assert_ok (writer->ops->append (writer, &(struct rd_part) { "live", 4 },
                                  1));
  assert_ok (io->ops->sweep (io, "", false, &swept));
  assert_int_equal (swept.n_files, 1);
  assert_ok (writer->ops->commit (writer));
  assert_text (io, "a/b/k", "live");
}

static int
sweep_on_and_on (void *arg)
{
  struct rd_io *io = arg;
  struct rd_io_swept swept;
  uint64_t n_files = 0;
  /* Ends when the other one says that it is done. */
  while (read_key (io, "done") == RADIO_ERROR_NOT_FOUND) {
    CHILD_CHECK (io->ops->sweep (io, "s", false, &swept) == RADIO_OK);
    n_files += swept.n_files;
  }
  /* A file may be taken between its making and its being held: then the
   * writer makes another.  It is empty, and that is rare. */
  CHILD_CHECK (n_files < 50);
  return 0;
}

static void
writing_goes_on_while_others_sweep (void **state)
{
  struct rd_io *io = io_of (state);
  pid_t pid = child_start (sweep_on_and_on, io);
  enum radio_status status = RADIO_OK;
  for (int i = 0; i < 50 && status == RADIO_OK; i++) {
    char key[16];
    snprintf (key, sizeof key, "s/%d", i);
    status = rd_io_put (io, key, "text", 4, RD_PUT_IF_ABSENT);
  }
  put_text (io, "done", "");
  assert_int_equal (child_wait (pid), 0);
  assert_ok (status);
  struct listing listing = { 0 };
  assert_ok (io->ops->list (io, "s", false, note_entry, &listing));
  assert_int_equal (listing.n, 50);
}

/* A child that holds something until it is killed. */
struct holder {
  struct rd_io *io;
  int ready[2];
};

static int
hold_lock_for_ever (void *arg)
{
  const struct holder *holder = arg;
  struct rd_io *io = holder->io;
  struct rd_io_lock *lock;
  CHILD_CHECK (io->ops->lock (io, "l", true, &lock) == RADIO_OK);
  CHILD_CHECK (write (holder->ready[1], "r", 1) == 1);
  /* Should the test fail before it kills this child. */
  alarm (60);
  for (;;)
    pause ();
}

static void
a_killed_holder_frees_its_lock (void **state)
{
  struct holder holder = { .io = io_of (state) };
  struct rd_io *io = holder.io;
  struct rd_io_lock *lock;
  char byte;
  assert_int_equal (pipe (holder.ready), 0);
  pid_t pid = child_start (hold_lock_for_ever, &holder);
  assert_int_equal (read (holder.ready[0], &byte, 1), 1);
  assert_ok (io->ops->lock (io, "l", false, &lock));
  assert_null (lock);
  kill (pid, SIGKILL);
  assert_int_equal (child_wait (pid), -SIGKILL);
  assert_ok (io->ops->lock (io, "l", false, &lock));
  assert_non_null (lock);
  rd_io_unlock (lock);
  close (holder.ready[0]);
  close (holder.ready[1]);
}

/* --- a folder that is removed by the one who holds it --- */

static void *
lock_and_write (void *arg)
{
  struct rd_io *io = arg;
  struct rd_io_lock *lock, *second;
  if (io->ops->lock (io, "g/level", true, &lock) != RADIO_OK || !lock)
    return (void *) "no lock";
  /* The locked folder is the one that has the name: no one else gets it. */
  enum radio_status status = io->ops->lock (io, "g/level", false, &second);
  if (status != RADIO_OK || second != NULL)
    return (void *) "held twice";
  if (rd_io_put (io, "g/level/k", "x", 1, RD_PUT_REPLACE) != RADIO_OK)
    return (void *) "no put";
  rd_io_unlock (lock);
  return NULL;
}

static void
who_waited_for_a_removed_folder_holds_the_new_one (void **state)
{
  struct rd_io *io = io_of (state);
  for (int i = 0; i < 30; i++) {
    struct rd_io_lock *lock;
    pthread_t thread;
    void *failed;
    assert_ok (io->ops->lock (io, "g/level", true, &lock));
    assert_int_equal (pthread_create (&thread, NULL, lock_and_write, io),
                      0);
    /* Mostly the thread waits by now; either way must be right. */
    usleep (i % 3 * 300);
    assert_ok (io->ops->remove_tree (io, "g/level"));
    rd_io_unlock (lock);
    pthread_join (thread, &failed);
    assert_null (failed);
    assert_text (io, "g/level/k", "x");
    assert_ok (io->ops->remove_tree (io, "g"));
  }
}

/* --- without rights --- */

/* Drops root's rights for good; false when that fails. */
static bool
drop_root (void)
{
  if (geteuid () != 0)
    return true;
  return setgroups (0, NULL) == 0 && setgid (65534) == 0
         && setuid (65534) == 0;
}

static bool
is_rejected (enum radio_status status, const char *name)
{
  return status == RADIO_ERROR_PERMISSION
         && strstr (radio_error_message (), name) != NULL;
}

static int
try_without_rights (void *arg)
{
  struct rd_io *io = arg;
  struct listing listing = { 0 };
  struct rd_io_writer *writer;
  struct rd_io_lock *lock;
  if (!drop_root ())
    return CHILD_SKIP;
  CHILD_CHECK (is_rejected (read_key (io, "secret"), "/secret"));
  CHILD_CHECK (is_rejected (rd_io_put (io, "ro/k", "x", 1, RD_PUT_REPLACE),
                           "/ro"));
  CHILD_CHECK (is_rejected (io->ops->create (io, "ro/new/k", &writer),
                           "/ro/new"));
  CHILD_CHECK (is_rejected (io->ops->remove (io, "ro/k"), "/ro/k"));
  CHILD_CHECK (is_rejected (io->ops->remove_tree (io, "ro"), "/ro"));
  CHILD_CHECK (is_rejected (io->ops->list (io, "shut", false, note_entry,
                                          &listing), "/shut"));
  CHILD_CHECK (is_rejected (io->ops->list (io, "", true, note_entry,
                                          &listing), "/shut"));
  CHILD_CHECK (is_rejected (io->ops->lock (io, "shut", false, &lock),
                           "/shut"));
  /* Locking needs no right to write. */
  CHILD_CHECK (io->ops->lock (io, "ro", false, &lock) == RADIO_OK && lock);
  CHILD_CHECK (read_key (io, "ro/k") == RADIO_OK);
  return 0;
}

static void
permission_errors_name_the_path (void **state)
{
  struct rd_io *io = io_of (state);
  char path[64];
  put_text (io, "secret", "x");
  put_text (io, "ro/k", "x");
  put_text (io, "shut/k", "x");
  assert_int_equal (chmod (place_of (state), 0755), 0);
  snprintf (path, sizeof path, "%s/ro", place_of (state));
  assert_int_equal (chmod (path, 0555), 0);
  snprintf (path, sizeof path, "%s/secret", place_of (state));
  assert_int_equal (chmod (path, 0), 0);
  snprintf (path, sizeof path, "%s/shut", place_of (state));
  assert_int_equal (chmod (path, 0), 0);
  int result = child_run (try_without_rights, io);
  assert_int_equal (chmod (path, 0755), 0);
  snprintf (path, sizeof path, "%s/ro", place_of (state));
  assert_int_equal (chmod (path, 0755), 0);
  assert_int_equal (result, 0);
  assert_text (io, "ro/k", "x");
}

/* --- a full disk --- */

static bool
is_full (enum radio_status status)
{
  return status == RADIO_ERROR_NO_SPACE
         && strstr (radio_error_message (), "/a/k") != NULL;
}

static int
fill_disk (struct rd_io *io, const char *place)
{
  static char much[1 << 20];
  const struct rd_part part = { much, sizeof much };
  struct rd_io_writer *writer;
  char folder[64];
  snprintf (folder, sizeof folder, "%s/a", place);
  CHILD_CHECK (rd_io_put (io, "a/k", "old", 3, RD_PUT_REPLACE) == RADIO_OK);
  CHILD_CHECK (is_full (rd_io_put (io, "a/k", much, sizeof much,
                                   RD_PUT_REPLACE)));
  CHILD_CHECK (place_count (folder) == 1);
  CHILD_CHECK (io->ops->create (io, "a/k", &writer) == RADIO_OK);
  CHILD_CHECK (is_full (writer->ops->append (writer, &part, 1)));
  /* An object without one of its pieces is never published, even if the rest
   * fits. */
  CHILD_CHECK (is_full (writer->ops->append (writer, NULL, 0)));
  CHILD_CHECK (is_full (writer->ops->commit (writer)));
  CHILD_CHECK (place_count (folder) == 1);
  CHILD_CHECK (io->ops->create (io, "a/k", &writer) == RADIO_OK);
  CHILD_CHECK (is_full (writer->ops->append (writer, &part, 1)));
  rd_io_writer_abort (writer);
  CHILD_CHECK (place_count (folder) == 1);
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  CHILD_CHECK (rd_io_read_all (io, "a/k", 10, &buffer) == RADIO_OK);
  CHILD_CHECK (buffer.nbytes == 3 && memcmp (buffer.data, "old", 3) == 0);
  return 0;
}

static int
fill_small_disk (void *arg)
{
  const char *place = arg;
  struct rd_io *io;
  /* A file system that only this child sees, and that goes with it. */
  if (unshare (CLONE_NEWNS) < 0
      || mount ("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
      || mount ("radio", place, "tmpfs", 0, "size=256k") < 0)
    return CHILD_SKIP;
  CHILD_CHECK (rd_io_open (place, false, &io) == RADIO_OK);
  int result = fill_disk (io, place);
  rd_io_close (io);
  return result;
}

static void
a_full_disk_keeps_the_old_and_leaves_no_rubbish (void **state)
{
  assert_int_equal (child_run (fill_small_disk,
                               (void *) place_of (state)), 0);
}

static int
fill_planned_disk (void *arg)
{
  const struct rd_fault_plan plan = { .capacity_nbytes = 1000 };
  struct rd_io *inner, *io;
  CHILD_CHECK (rd_io_open (arg, false, &inner) == RADIO_OK);
  CHILD_CHECK (rd_io_fault_open (inner, &plan, &io) == RADIO_OK);
  int result = fill_disk (io, arg);
  rd_io_close (io);
  return result;
}

static void
a_planned_full_disk_is_like_a_real_one (void **state)
{
  assert_int_equal (child_run (fill_planned_disk,
                               (void *) place_of (state)), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    SITE_CASE (of_racing_processes_exactly_one_wins_each_key),
    SITE_CASE (a_writer_that_died_shows_nothing_and_is_swept),
    SITE_CASE (a_sweep_spares_the_living_beside_the_dead),
    SITE_CASE (writing_goes_on_while_others_sweep),
    SITE_CASE (a_killed_holder_frees_its_lock),
    SITE_CASE (who_waited_for_a_removed_folder_holds_the_new_one),
    SITE_CASE (permission_errors_name_the_path),
    SITE_CASE (a_full_disk_keeps_the_old_and_leaves_no_rubbish),
    SITE_CASE (a_planned_full_disk_is_like_a_real_one),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
