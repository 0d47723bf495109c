/* SPDX-License-Identifier: MIT */
/* Files read as streams.  gzip is inflated by ISA-L straight into the
 * caller's memory; its members are walked here, since readers differ
 * on the bytes between and after them: zeros are padding (as tapes have it,
 * and gzip itself), anything else is damage. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <isa-l/igzip_lib.h>

#include "src/base/checked.h"
#include "src/base/little.h"
#include "profiler/counters.h"
#include "src/nifti/gzip.h"
#include "src/nifti/input.h"

#define INPUT_BUFFER_NBYTES ((size_t) 256 << 10)

/* The first read: a header and what mostly follows it, which is all that
 * opening needs; from a source in about one round trip also over a new
 * connection. */
#define FIRST_NBYTES ((size_t) 8 << 10)
#define SOURCE_GROWTH 8

/* Deflate's limit: 258 bytes from 2 bits. */
#define DEFLATE_MAX_RATIO 1032

/* ISA-L counts output in 32 bits. */
#define INFLATE_STEP_NBYTES ((size_t) 1 << 30)

struct rd_input {
  char *file;
  struct rd_input_source *source;       /* NULL: fd */
  size_t source_nbytes;         /* of its next read */
  int fd;
  struct rd_file_identity identity;
  uint64_t taken_nbytes;        /* read from either */
  bool fd_ended;
  bool is_gzip;
  uint64_t member_nbytes;       /* of the first one, as it says; or 0 */
  bool in_member;
  bool is_finishing;            /* nothing more is wanted */
  const char *problem;          /* found then; or NULL */
  struct inflate_state inflate; /* next_in and avail_in are the unread part
                                   of buffer, also of a plain file */
  unsigned char buffer[INPUT_BUFFER_NBYTES];
};

/* Reads nbytes or less, but at least one before the end. */
static enum radio_status
read_source (struct rd_input *input, void *data, size_t nbytes, size_t *got)
{
  struct rd_input_source *source = input->source;
  size_t step = rd_min_u64 (nbytes, input->source_nbytes);
  input->source_nbytes = rd_min_u64 (SOURCE_GROWTH * input->source_nbytes,
                                     INPUT_BUFFER_NBYTES);
  RD_TRY (source->read (source, input->file, input->taken_nbytes, data, step,
                        got, &input->identity.nbytes));
  input->taken_nbytes += *got;
  input->fd_ended = *got < step
                    || input->taken_nbytes >= input->identity.nbytes;
  return RADIO_OK;
}

/* Read once, or until nbytes are there or the file ends. */
static enum radio_status
read_fd (struct rd_input *input, void *data, size_t nbytes, size_t *got)
{
  if (input->source)
    return read_source (input, data, nbytes, got);
  RD_SCOPE_BLOCKING ("read file", RD_IN_DISK);
  *got = 0;
  while (*got < nbytes && !input->fd_ended) {
    ssize_t n = read (input->fd, (unsigned char *) data + *got,
                      nbytes - *got);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return rd_fail_errno (errno, "%s: byte %" PRIu64, input->file,
                            input->taken_nbytes);
    input->fd_ended = n == 0;
    input->taken_nbytes += (uint64_t) n;
    *got += (size_t) n;
  }
  RD_COUNT (asked, *got);
  RD_COUNT (fetched, *got);
  return RADIO_OK;
}

/* Fills the buffer after the bytes left in it. */
static enum radio_status
refill (struct rd_input *input)
{
  size_t left = input->inflate.avail_in;
  if (left > 0)
    memmove (input->buffer, input->inflate.next_in, left);
  input->inflate.next_in = input->buffer;
  size_t got, nbytes = input->taken_nbytes == 0
    ? FIRST_NBYTES : sizeof input->buffer - left;
  RD_TRY (read_fd (input, input->buffer + left, nbytes, &got));
  input->inflate.avail_in += (uint32_t) got;
  return RADIO_OK;
}

static enum radio_status
open_regular (struct rd_input *input)
{
  /* Without O_NONBLOCK a FIFO without a writer would hang here. */
  input->fd = open (input->file, O_RDONLY | O_CLOEXEC | O_NOCTTY
                                   | O_NONBLOCK);
  if (input->fd < 0)
    return rd_fail_errno (errno, "%s", input->file);
  struct stat st;
  if (fstat (input->fd, &st) < 0)
    return rd_fail_errno (errno, "%s", input->file);
  if (S_ISDIR (st.st_mode))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: a folder, not a file",
                    input->file);
  if (!S_ISREG (st.st_mode))
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: not a regular file (a pipe, socket or device)",
                    input->file);
  input->identity = rd_file_identity_of (&st);
#ifdef POSIX_FADV_SEQUENTIAL
  (void) posix_fadvise (input->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  return RADIO_OK;
}

static bool
has_gzip_magic (const struct rd_input *input)
{
  return input->inflate.avail_in >= 2 && input->inflate.next_in[0] == 0x1f
         && input->inflate.next_in[1] == 0x8b;
}

enum radio_status
rd_input_open (const char *file, struct rd_input **input)
{
  return rd_input_open_from (NULL, file, input);
}

enum radio_status
rd_input_open_from (struct rd_input_source *source, const char *file,
                    struct rd_input **result)
{
  RD_CLEANUP (rd_cleanup_input) struct rd_input *input
    = rd_malloc (sizeof *input);
  if (!input)
    return rd_fail_memory (sizeof *input);
  memset (input, 0, offsetof (struct rd_input, inflate));
  input->fd = -1;
  isal_inflate_init (&input->inflate);
  input->inflate.next_in = input->buffer;
  input->inflate.avail_in = 0;
  input->file = rd_strdup (file);
  if (!input->file)
    return rd_fail_memory (strlen (file) + 1);
  input->source = source;
  input->source_nbytes = FIRST_NBYTES;
  if (!source)
    RD_TRY (open_regular (input));
  RD_TRY (refill (input));
  input->is_gzip = has_gzip_magic (input);
  input->member_nbytes = rd_gzip_member_nbytes (input->inflate.next_in,
                                                input->inflate.avail_in);
  *result = RD_STEAL (input);
  return RADIO_OK;
}

void
rd_input_close (struct rd_input *input)
{
  if (!input)
    return;
  if (input->fd >= 0)
    close (input->fd);
  rd_free (input->file);
  rd_free (input);
}

const char *
rd_input_file (const struct rd_input *input)
{
  return input->file;
}

const struct rd_file_identity *
rd_input_identity (const struct rd_input *input)
{
  return &input->identity;
}

uint64_t
rd_input_position (const struct rd_input *input)
{
  return input->taken_nbytes - input->inflate.avail_in;
}

uint64_t
rd_input_file_nbytes (const struct rd_input *input)
{
  return input->identity.nbytes;
}

bool
rd_input_is_gzip (const struct rd_input *input)
{
  return input->is_gzip;
}

uint64_t
rd_input_member_nbytes (const struct rd_input *input)
{
  return input->member_nbytes;
}

uint64_t
rd_input_max_nbytes (const struct rd_input *input)
{
  uint64_t nbytes;
  if (!input->is_gzip)
    return input->identity.nbytes;
  if (rd_mul_overflows (input->identity.nbytes, DEFLATE_MAX_RATIO, &nbytes))
    return UINT64_MAX;
  return nbytes;
}

/* Takes buffered bytes first; then large reads go straight from the file,
 * small ones through the buffer. */
static enum radio_status
read_plain (struct rd_input *input, unsigned char *data, size_t nbytes,
            size_t *got)
{
  size_t done = 0;
  while (done < nbytes) {
    size_t n = rd_min_u64 (nbytes - done, input->inflate.avail_in);
    memcpy (data + done, input->inflate.next_in, n);
    input->inflate.next_in += n;
    input->inflate.avail_in -= (uint32_t) n;
    done += n;
    if (done == nbytes || input->fd_ended)
      break;
    n = 0;
    if (nbytes - done < sizeof input->buffer || input->source)
      RD_TRY (refill (input));
    else
      RD_TRY (read_fd (input, data + done, nbytes - done, &n));
    done += n;
  }
  *got = done;
  return RADIO_OK;
}

/* True if what is wrong here is after all that was wanted: it is noted, and the
 * input is at its end. */
static bool
ends_early (struct rd_input *input, const char *problem)
{
  if (!input->is_finishing)
    return false;
  input->problem = problem;
  input->in_member = false;
  input->fd_ended = true;
  input->inflate.avail_in = 0;
  return true;
}

/* Begins the next member; in_member stays false at the end of the file. */
static enum radio_status
begin_member (struct rd_input *input)
{
  while (input->inflate.avail_in < RD_GZIP_HEADER_NBYTES && !input->fd_ended
         && !rd_gzip_header_is_whole (input->inflate.next_in,
                                      input->inflate.avail_in))
    RD_TRY (refill (input));
  if (has_gzip_magic (input)) {
    isal_inflate_reset (&input->inflate);
    input->inflate.crc_flag = ISAL_GZIP;
    input->in_member = true;
    return RADIO_OK;
  }
  /* Zeros are padding. */
  for (;;) {
    while (input->inflate.avail_in > 0 && *input->inflate.next_in == 0) {
      input->inflate.next_in++;
      input->inflate.avail_in--;
    }
    if (input->inflate.avail_in > 0 || input->fd_ended)
      break;
    RD_TRY (refill (input));
  }
  if (input->inflate.avail_in > 0
      && !ends_early (input, RD_GZIP_GARBAGE_WARNING))
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: trailing garbage after the gzip data, from byte %"
                    PRIu64 " of %" PRIu64 " on", input->file,
                    rd_input_position (input), input->identity.nbytes);
  return RADIO_OK;
}

bool
rd_gzip_header_is_whole (const unsigned char *bytes, size_t nbytes)
{
  enum { CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16 };
  size_t at = 10;
  if (nbytes < at)
    return false;
  unsigned flags = bytes[3];
  if (flags & EXTRA) {
    if (nbytes < at + 2)
      return false;
    at += 2 + (size_t) rd_get_little (bytes + at, 2);
  }
  for (unsigned text = NAME; text <= COMMENT; text <<= 1) {
    if (!(flags & text))
      continue;
    const unsigned char *end = at < nbytes
      ? memchr (bytes + at, '\0', nbytes - at) : NULL;
    if (!end)
      return false;
    at = (size_t) (end - bytes) + 1;
  }
  return nbytes >= at + (flags & CRC ? 2 : 0);
}

const char *
rd_inflate_error (int result)
{
  switch (result) {
  case ISAL_INVALID_WRAPPER:
    return "its header is invalid";
  case ISAL_UNSUPPORTED_METHOD:
    return "its method is not deflate";
  case ISAL_INCORRECT_CHECKSUM:
    return "checksum or length do not match; copy the file again, or inflate "
           "it by gzip -dc, which delivers the data all the same";
  default:
    return "invalid deflate data";
  }
}

/* Inflates once into the free part of the output. */
static enum radio_status
inflate_some (struct rd_input *input)
{
  struct inflate_state *state = &input->inflate;
  /* ISA-L may have output of its own. */
  if (state->avail_in == 0 && !input->fd_ended
      && state->tmp_out_processed == state->tmp_out_valid)
    RD_TRY (refill (input));
  uint32_t avail_in = state->avail_in, avail_out = state->avail_out;
  enum isal_block_state block_state = state->block_state;
  int result = isal_inflate (state);
  if (result != ISAL_DECOMP_OK)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: the gzip data is damaged near byte %" PRIu64
                    ": %s", input->file, rd_input_position (input),
                    rd_inflate_error (result));
  input->in_member = state->block_state != ISAL_BLOCK_FINISH;
  if (!input->in_member || avail_in != state->avail_in
      || avail_out != state->avail_out || block_state != state->block_state)
    return RADIO_OK;
  if (!input->fd_ended)
    return refill (input);
  /* The data is complete; only the trailer is missing. */
  if (state->block_state == ISAL_CHECKSUM_CHECK
      && ends_early (input, RD_GZIP_CUT_WARNING))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT,
                  "%s: the gzip data is cut short: it ends within a member "
                  "at byte %" PRIu64, input->file,
                  rd_input_position (input));
}

static enum radio_status
read_gzip (struct rd_input *input, unsigned char *data, size_t nbytes,
           size_t *got)
{
  RD_SCOPE ("inflate", RD_IN_DECODE);
  size_t done = 0;
  while (done < nbytes) {
    if (!input->in_member) {
      RD_TRY (begin_member (input));
      if (!input->in_member)
        break;
    }
    size_t step = rd_min_u64 (nbytes - done, INFLATE_STEP_NBYTES);
    input->inflate.next_out = data + done;
    input->inflate.avail_out = (uint32_t) step;
    RD_TRY (inflate_some (input));
    done += step - input->inflate.avail_out;
  }
  RD_COUNT (inflated, done);
  *got = done;
  return RADIO_OK;
}

enum radio_status
rd_input_read (struct rd_input *input, void *data, size_t nbytes,
               size_t *got)
{
  return input->is_gzip ? read_gzip (input, data, nbytes, got)
                        : read_plain (input, data, nbytes, got);
}

enum radio_status
rd_input_finish (struct rd_input *input, uint64_t *nbytes,
                 const char **problem)
{
  const size_t room_nbytes = INPUT_BUFFER_NBYTES;
  RD_FREE unsigned char *room = rd_malloc (room_nbytes);
  size_t got;
  if (!room)
    return rd_fail_memory (room_nbytes);
  *nbytes = 0;
  input->is_finishing = true;
  do {
    RD_TRY (rd_input_read (input, room, room_nbytes, &got));
    *nbytes += got;
  } while (got > 0);
  *problem = input->problem;
  return RADIO_OK;
}
