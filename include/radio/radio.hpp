/* SPDX-License-Identifier: MIT */
/* radio in C++17: handles that close themselves, exceptions instead of
 * statuses, and scopes.  It only calls the functions of radio/radio.h, which
 * document what each does.
 *
 *   radio::store store ("study.zarr");
 *   radio::volume volume (store, store.find ("sub-01"));
 *   std::vector<float> voxels = volume.read<float> (radio_box3 (...));
 *
 * A handle is also usable with the functions of C, which return a status:
 *
 *   radio::volume volume;
 *   if (radio_volume_open (store.get (), "ct/a", volume.put ()) != RADIO_OK)
 *
 * which is all there is without exceptions (-fno-exceptions, or if
 * RADIO_NO_EXCEPTIONS is defined). */
#ifndef RADIO_HPP
#define RADIO_HPP

#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include <radio/radio.h>

#if defined __cpp_exceptions && !defined RADIO_NO_EXCEPTIONS
#define RADIO_HAS_EXCEPTIONS 1
#include <new>
#include <stdexcept>
#include <string>
#include <vector>
#endif

namespace radio {

/* A handle of the C API, closed with its owner; movable. */
template <typename T, void (*Close) (T *)>
class handle {
public:
  handle () noexcept = default;
  explicit handle (T *pointer) noexcept : pointer_ (pointer) {}
  handle (handle &&other) noexcept : pointer_ (other.release ()) {}
  handle &operator= (handle &&other) noexcept
  {
    reset (other.release ());
    return *this;
  }
  ~handle () { reset (); }

  T *get () const noexcept { return pointer_; }
  explicit operator bool () const noexcept { return pointer_ != nullptr; }
  T *release () noexcept { return std::exchange (pointer_, nullptr); }
  void reset (T *pointer = nullptr) noexcept
  {
    T *old = std::exchange (pointer_, pointer);
    if (old)
      Close (old);
  }
  /* Closes it; for a function that returns a new one. */
  T **put () noexcept
  {
    reset ();
    return &pointer_;
  }

private:
  T *pointer_ = nullptr;
};

/* Ends a read and waits for it, since its buffers may go next. */
inline void
end_read (radio_read *read)
{
  radio_read_cancel (read);
  if (radio_read_wait (read) != RADIO_OK) {
    /* Its result is not wanted any more. */
  }
  radio_read_close (read);
}

/* Stops a recorder without making its profile. */
inline void
end_recorder (radio_recorder *recorder)
{
  if (radio_recorder_stop (recorder, nullptr) != RADIO_OK) {
    /* There is nothing to lose. */
  }
}

/* The type that integers of a C++ type have, which may be one of two of the
 * same size (long and long long). */
template <typename T>
constexpr radio_dtype
integer_dtype () noexcept
{
  if (std::is_same_v<T, bool>)
    return RADIO_BOOL;
  if (std::is_same_v<T, char> || std::is_same_v<T, wchar_t>
      || std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>)
    return RADIO_STORED;
  switch (sizeof (T)) {
  case 1: return std::is_signed_v<T> ? RADIO_INT8 : RADIO_UINT8;
  case 2: return std::is_signed_v<T> ? RADIO_INT16 : RADIO_UINT16;
  case 4: return std::is_signed_v<T> ? RADIO_INT32 : RADIO_UINT32;
  case 8: return std::is_signed_v<T> ? RADIO_INT64 : RADIO_UINT64;
  default: return RADIO_STORED;
  }
}

/* The type that elements of a C++ type have; RADIO_STORED: there is none. */
template <typename T>
constexpr radio_dtype dtype_of
  = std::is_integral_v<T> ? integer_dtype<T> () : RADIO_STORED;
template <> inline constexpr radio_dtype dtype_of<float> = RADIO_FLOAT32;
template <> inline constexpr radio_dtype dtype_of<double> = RADIO_FLOAT64;

/* A scope of a site (RADIO_SITE); RADIO_SCOPE ("name") has its own. */
class scope {
public:
  explicit scope (const radio_site &site) noexcept
    : token_ (radio_profile_is_on () ? radio_scope_begin (&site) : 0) {}
  scope (const scope &) = delete;
  scope &operator= (const scope &) = delete;
  ~scope ()
  {
    if (token_ != 0)
      radio_scope_end (token_);
  }

private:
  uint64_t token_;
};

#ifdef RADIO_HAS_EXCEPTIONS

/* A call that failed. */
class error : public std::runtime_error {
public:
  error (radio_status status, const char *message)
    : std::runtime_error (message), status_ (status) {}
  radio_status status () const noexcept { return status_; }

private:
  radio_status status_;
};

/* Throws unless a call succeeded; also std::bad_alloc. */
inline void
check (radio_status status)
{
  if (status == RADIO_ERROR_MEMORY)
    throw std::bad_alloc ();
  if (status != RADIO_OK)
    throw error (status, radio_error_message ());
}

/* n elements that read fills, which gets their address and bytes.
 * std::vector<bool> has bits instead of elements, and is made of them. */
template <typename T, typename Read>
std::vector<T>
read_elements (uint64_t n, const Read &read)
{
  static_assert (dtype_of<T> != RADIO_STORED, "no element of an array");
  using element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  std::vector<element> elements (n);
  check (read (elements.data (), elements.size () * sizeof (element)));
  if constexpr (std::is_same_v<T, bool>)
    return std::vector<T> (elements.begin (), elements.end ());
  else
    return elements;
}

#endif

class context : public handle<radio_context, radio_context_close> {
public:
  using handle::handle;
  context () noexcept = default;
#ifdef RADIO_HAS_EXCEPTIONS
  explicit context (const radio_context_options &options)
  {
    check (radio_context_open (&options, put ()));
  }
#endif
};

class store : public handle<radio_store, radio_store_close> {
public:
  using handle::handle;
  store () noexcept = default;
#ifdef RADIO_HAS_EXCEPTIONS
  explicit store (const std::string &uri,
                  const radio_store_options *options = nullptr)
  {
    check (radio_store_open (uri.c_str (), options, put ()));
  }

  /* The path of a volume by its path or bare name. */
  std::string find (const std::string &name) const
  {
    char *path;
    check (radio_store_find (get (), name.c_str (), &path));
    const handle<char, free_text> owned (path);
    return path;
  }

  /* The paths of all volumes, or of a collection's. */
  std::vector<std::string> list (const char *collection = nullptr) const
  {
    std::vector<std::string> paths;
    check (radio_store_list (get (), collection, add_path, &paths));
    return paths;
  }

private:
  static void free_text (char *text) { std::free (text); }

  static radio_status
  add_path (const radio_entry *entry, void *paths)
  {
    try {
      static_cast<std::vector<std::string> *> (paths)->push_back (entry->path);
    } catch (const std::bad_alloc &) {
      return RADIO_ERROR_MEMORY;
    }
    return RADIO_OK;
  }
#endif
};

/* A read that goes on by itself.  Its end cancels it and waits, since buffers
 * may go with it. */
class async_read : public handle<radio_read, end_read> {
public:
  using handle::handle;
  async_read () noexcept = default;
  bool is_done () const noexcept { return radio_read_is_done (get ()); }
  void cancel () const noexcept { radio_read_cancel (get ()); }
#ifdef RADIO_HAS_EXCEPTIONS
  void wait () const { check (radio_read_wait (get ())); }
#endif
};

class array : public handle<radio_array, radio_array_close> {
public:
  using handle::handle;
  array () noexcept = default;
  radio_array_info info () const noexcept
  {
    radio_array_info filled;
    radio_array_get_info (get (), &filled);
    return filled;
  }
#ifdef RADIO_HAS_EXCEPTIONS
  array (const store &from, const std::string &path)
  {
    check (radio_array_open (from.get (), path.c_str (), put ()));
  }

  template <typename T>
  std::vector<T> read (const radio_box &box,
                       const radio_read_options *options = nullptr) const
  {
    return read_elements<T> (
      radio_box_count (&box), [&] (void *elements, size_t nbytes) {
        return radio_array_read (get (), &box, dtype_of<T>, elements, nbytes,
                                 options);
      });
  }
#endif
};

class volume : public handle<radio_volume, radio_volume_close> {
public:
  using handle::handle;
  volume () noexcept = default;
  radio_volume_info info () const noexcept
  {
    radio_volume_info filled;
    radio_volume_get_info (get (), &filled);
    return filled;
  }
#ifdef RADIO_HAS_EXCEPTIONS
  volume (const store &from, const std::string &path)
  {
    check (radio_volume_open (from.get (), path.c_str (), put ()));
  }

  /* The finest level, whole. */
  radio_box whole () const noexcept
  {
    const radio_volume_info filled = info ();
    radio_box box = {};
    box.rank = filled.array.rank;
    for (size_t i = 0; i < box.rank; i++)
      box.size[i] = filled.array.shape[i];
    return box;
  }

  template <typename T>
  std::vector<T> read (const radio_box &box,
                       const radio_read_options *options = nullptr) const
  {
    return read_elements<T> (
      radio_box_count (&box), [&] (void *elements, size_t nbytes) {
        return radio_volume_read (get (), &box, dtype_of<T>, elements, nbytes,
                                  options);
      });
  }

  /* shape is that of the plane: rows, columns. */
  template <typename T>
  std::vector<T> read_plane (radio_plane plane, uint64_t index,
                             uint64_t (&shape)[2],
                             const radio_read_options *options = nullptr) const
  {
    radio_volume_plane_shape (get (), plane, shape);
    return read_elements<T> (
      shape[0] * shape[1], [&] (void *elements, size_t nbytes) {
        return radio_volume_read_plane (get (), plane, index, dtype_of<T>,
                                        elements, nbytes, options);
      });
  }

  /* Starts to read a box into memory that outlives the read. */
  template <typename T>
  async_read read_async (const radio_box &box, std::vector<T> &elements,
                         const radio_read_options *options = nullptr,
                         radio_read_done_fn *done = nullptr,
                         void *user_data = nullptr) const
  {
    static_assert (dtype_of<T> != RADIO_STORED && !std::is_same_v<T, bool>,
                   "no element of a volume in memory");
    elements.resize (radio_box_count (&box));
    const radio_request request = {
      box, elements.data (), elements.size () * sizeof (T), nullptr
    };
    async_read read;
    check (radio_volume_read_async (get (), &request, 1, dtype_of<T>, options,
                                    done, user_data, read.put ()));
    return read;
  }
#endif
};

/* A volume that is being written; not committed, it is aborted. */
class writer : public handle<radio_writer, radio_volume_abort> {
public:
  using handle::handle;
  writer () noexcept = default;
#ifdef RADIO_HAS_EXCEPTIONS
  writer (const store &into, const std::string &path,
          const radio_create_options &options)
  {
    check (radio_volume_create (into.get (), path.c_str (), &options, put ()));
  }

  /* The elements are in C order. */
  template <typename T>
  void write_slab (const radio_box &box, const std::vector<T> &elements) const
  {
    static_assert (!std::is_same_v<T, bool>,
                   "std::vector<bool> has no elements in memory; take uint8_t");
    check (radio_volume_write_slab (get (), &box, elements.data (),
                                    elements.size () * sizeof (T), nullptr));
  }

  void commit () { check (radio_volume_commit (release (), nullptr)); }
#endif
};

class profile : public handle<radio_profile, radio_profile_close> {
public:
  using handle::handle;
  profile () noexcept = default;
#ifdef RADIO_HAS_EXCEPTIONS
  void write (const std::string &path,
              const radio_profile_write_options *options = nullptr) const
  {
    check (radio_profile_write (get (), path.c_str (), options));
  }
#endif
};

class recorder : public handle<radio_recorder, end_recorder> {
public:
  using handle::handle;
  recorder () noexcept = default;
#ifdef RADIO_HAS_EXCEPTIONS
  explicit recorder (const radio_recorder_options &options)
  {
    check (radio_recorder_start (&options, put ()));
  }

  profile stop ()
  {
    profile result;
    check (radio_recorder_stop (release (), result.put ()));
    return result;
  }
#endif
};

} /* namespace radio */

#endif /* RADIO_HPP */
