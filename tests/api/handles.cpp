/* SPDX-License-Identifier: MIT */
/* What radio/radio.hpp promises: handles close themselves once, also after
 * moves and exceptions; failures are exceptions with their status; a writer
 * that is not committed leaves nothing; scopes end with their blocks.
 *
 *   handles FOLDER
 */
#include <cstdio>
#include <cstring>
#include <type_traits>

#include <radio/radio.hpp>

template <typename T>
constexpr bool is_handle
  = std::is_nothrow_default_constructible_v<T>
    && std::is_nothrow_move_constructible_v<T>
    && std::is_nothrow_move_assignable_v<T>
    && !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert (is_handle<radio::context> && is_handle<radio::store>
               && is_handle<radio::volume> && is_handle<radio::array>
               && is_handle<radio::async_read> && is_handle<radio::writer>
               && is_handle<radio::profile> && is_handle<radio::recorder>);

static void
require (bool is_true, const char *what)
{
  if (is_true)
    return;
  std::fprintf (stderr, "handles: not so: %s\n", what);
  std::exit (EXIT_FAILURE);
}
#define REQUIRE(condition) require ((condition), #condition)

static int nclosed;

static void
count_closed (int *)
{
  nclosed++;
}

using counted = radio::handle<int, count_closed>;

static void
handles_close_once ()
{
  int a = 0, b = 0;
  {
    counted first (&a), second (&b), none;
    first = std::move (second);
    REQUIRE (nclosed == 1 && first.get () == &b && !second);
    counted third (std::move (first));
    REQUIRE (nclosed == 1 && third && !first);
    counted &same = third;
    third = std::move (same);
    REQUIRE (nclosed == 1 && third.get () == &b);
    REQUIRE (*third.put () == nullptr && nclosed == 2);
    third.reset (&a);
    REQUIRE (third.release () == &a);
  }
  REQUIRE (nclosed == 2);
  try {
    counted handle (&a);
    throw std::runtime_error ("");
  } catch (const std::runtime_error &) {
    REQUIRE (nclosed == 3);
  }
}

static radio_create_options
labels_of (uint64_t z, uint64_t y, uint64_t x)
{
  radio_create_options options = {};
  options.rank = 3;
  options.shape[0] = z;
  options.shape[1] = y;
  options.shape[2] = x;
  options.dtype = RADIO_UINT8;
  return options;
}

static std::vector<uint8_t>
make_labels (size_t n)
{
  std::vector<uint8_t> labels (n);
  for (size_t i = 0; i < n; i++)
    labels[i] = static_cast<uint8_t> (i % 7);
  return labels;
}

static void
writers_commit_or_leave_nothing (const radio::store &store)
{
  const std::vector<uint8_t> labels = make_labels (4 * 5 * 6);
  const radio_box box = radio_box3 (0, 4, 0, 5, 0, 6);
  {
    radio::writer left (store, "labels/left", labels_of (4, 5, 6));
    left.write_slab (box, labels);
  }
  REQUIRE (store.list ("labels").empty ());
  radio::writer writer (store, "labels/a", labels_of (4, 5, 6));
  radio::writer moved (std::move (writer));
  moved.write_slab (box, labels);
  moved.commit ();
  REQUIRE (!moved && !writer);
  REQUIRE (store.list () == std::vector<std::string> { "labels/a" });

  radio::volume volume (store, store.find ("a"));
  REQUIRE (volume.read<uint8_t> (volume.whole ()) == labels);
  std::vector<uint8_t> later;
  radio::async_read read = volume.read_async (box, later);
  radio::async_read other = std::move (read);
  other.wait ();
  REQUIRE (other.is_done () && later == labels);
  REQUIRE (read.is_done ());          /* an empty handle */
  read.cancel ();
}

template <typename F>
static radio_status
status_of (F &&call)
{
  try {
    call ();
  } catch (const radio::error &error) {
    REQUIRE (std::strlen (error.what ()) > 0);
    return error.status ();
  }
  return RADIO_OK;
}

static void
failures_are_exceptions (const radio::store &store)
{
  REQUIRE (status_of ([&] { radio::volume volume (store, "labels/none"); })
           == RADIO_ERROR_NOT_FOUND);
  REQUIRE (status_of ([&] { (void) store.find ("none"); })
           == RADIO_ERROR_NOT_FOUND);
  REQUIRE (status_of ([&] {
    radio::volume volume (store, "labels/a");
    (void) volume.read<uint8_t> (radio_box3 (0, 9, 0, 1, 0, 1));
  }) == RADIO_ERROR_ARGUMENT);
  REQUIRE (status_of ([] { radio::writer ().commit (); })
           == RADIO_ERROR_ARGUMENT);
  bool is_thrown = false;
  try {
    radio::check (RADIO_ERROR_MEMORY);
  } catch (const std::bad_alloc &) {
    is_thrown = true;
  }
  REQUIRE (is_thrown);
}

static void
scopes_end_with_their_blocks (const char *folder)
{
  RADIO_SITE (site, "outer", "place", RADIO_SCOPE_WORK);
  const radio_recorder_options options = {};
  radio::recorder recorder;
  if (status_of ([&] { recorder = radio::recorder (options); })
      == RADIO_ERROR_UNSUPPORTED)
    return;                           /* built with --disable-profiler */
  try {
    radio::scope outer (site);
    RADIO_SCOPE ("inner");
    throw std::runtime_error ("");
  } catch (const std::runtime_error &) {
    RADIO_STEP (1U);
  }
  recorder.stop ().write (std::string (folder) + "/profile.folded");
}

int
main (int argc, char **argv)
{
  if (argc != 2)
    return 2;
  try {
    handles_close_once ();
    radio_store_options create = {};
    create.create = true;
    radio::store store (std::string (argv[1]) + "/s.zarr", &create);
    writers_commit_or_leave_nothing (store);
    failures_are_exceptions (store);
    scopes_end_with_their_blocks (argv[1]);
  } catch (const std::exception &e) {
    std::fprintf (stderr, "handles: %s\n", e.what ());
    return EXIT_FAILURE;
  }
  std::puts ("good");
}
