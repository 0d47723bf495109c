/* SPDX-License-Identifier: MIT */
/* A main () for fuzz targets where there is no libFuzzer: runs every seed,
 * cuts of it and mutations of it, the same ones in every run, and prints
 * TAP.  With a folder as argument it writes the seeds there instead, as the
 * corpus that libFuzzer starts from. */
#include <config.h>

#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { MUTATIONS = 150, CUTS = 40, STEPS_MAX = 6 };

static uint64_t
next_random (uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* Numbers at which size arithmetic goes wrong. */
static uint64_t
edge_number (uint64_t *state)
{
  static const uint64_t edges[] = {
    0, 1, 2, 7, 8, 15, 16, 127, 128, 255, 256, 65535, 65536, 0x7fffffff,
    0x80000000, 0xfffffff0, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
    0x8000000000000000, 0xfffffffffffffff0, 0xfffffffffffffffe,
    0xffffffffffffffff,
  };
  uint64_t edge = edges[next_random (state)
                        % (sizeof edges / sizeof edges[0])];
  return edge + next_random (state) % 3 - 1;
}

static void
put_number (unsigned char *data, size_t nbytes, uint64_t *state)
{
  size_t width = (size_t) 1 << next_random (state) % 4;
  uint64_t number = edge_number (state);
  if (width > nbytes)
    return;
  size_t at = next_random (state) % (nbytes - width + 1);
  for (size_t i = 0; i < width; i++)
    data[at + i] = (unsigned char) (number >> 8 * i);
}

/* Copy one run of the input over another. */
static void
copy_run (unsigned char *data, size_t nbytes, uint64_t *state)
{
  size_t length = 1 + next_random (state) % (nbytes < 64 ? nbytes : 64);
  size_t from = next_random (state) % (nbytes - length + 1);
  size_t to = next_random (state) % (nbytes - length + 1);
  memmove (data + to, data + from, length);
}

/* Take out or repeat a run; returns the new size. */
static size_t
change_size (unsigned char *data, size_t nbytes, uint64_t *state)
{
  size_t length = 1 + next_random (state) % (nbytes < 64 ? nbytes : 64);
  size_t at = next_random (state) % (nbytes - length + 1);
  if (next_random (state) % 2 || nbytes + length > RD_FUZZ_ROOM) {
    memmove (data + at, data + at + length, nbytes - at - length);
    return nbytes - length;
  }
  memmove (data + at + length, data + at, nbytes - at);
  return nbytes + length;
}

/* One change in place; returns the new size. */
static size_t
mutate (unsigned char *data, size_t nbytes, uint64_t *state)
{
  if (nbytes == 0)
    return 0;
  /* Headers are at the front, and half of all changes should meet one. */
  size_t reach = next_random (state) % 2 && nbytes > 64 ? 64 : nbytes;
  size_t at = next_random (state) % reach;
  switch (next_random (state) % 6) {
  case 0: data[at] ^= (unsigned char) (1u << next_random (state) % 8); break;
  case 1: data[at] = (unsigned char) next_random (state); break;
  case 2: put_number (data, reach, state); break;
  case 3: put_number (data, nbytes, state); break;
  case 4: copy_run (data, nbytes, state); break;
  default: return change_size (data, nbytes, state);
  }
  return nbytes;
}

/* Run a target on a copy that ends where its memory does, so that reading
 * past the end is noticed. */
static void
run (const unsigned char *data, size_t nbytes)
{
  unsigned char *copy = malloc (nbytes ? nbytes : 1);
  FUZZ_CHECK (copy != NULL);
  memcpy (copy, data, nbytes);
  LLVMFuzzerTestOneInput (copy, nbytes);
  free (copy);
}

static void
run_seed (const unsigned char *seed, size_t nbytes, unsigned char *room,
          uint64_t *state)
{
  run (seed, nbytes);
  for (size_t i = 0; i < CUTS; i++)
    run (seed, nbytes <= CUTS ? (i < nbytes ? i : nbytes)
                              : next_random (state) % nbytes);
  for (int i = 0; i < MUTATIONS; i++) {
    memcpy (room, seed, nbytes);
    size_t n = nbytes;
    for (uint64_t k = next_random (state) % STEPS_MAX + 1; k > 0; k--)
      n = mutate (room, n, state);
    run (room, n);
  }
}

static int
write_seed (const char *folder, unsigned i, const unsigned char *seed,
            size_t nbytes)
{
  char path[4096];
  int n = snprintf (path, sizeof path, "%s/seed-%03u", folder, i);
  FILE *file = n > 0 && (size_t) n < sizeof path ? fopen (path, "wb") : NULL;
  if (!file || fwrite (seed, 1, nbytes, file) != nbytes || fclose (file)) {
    perror (path);
    return 1;
  }
  return 0;
}

int
main (int argc, char **argv)
{
  unsigned char *seed = malloc (RD_FUZZ_ROOM);
  unsigned char *room = malloc (RD_FUZZ_ROOM);
  FUZZ_CHECK (seed != NULL && room != NULL);
  uint64_t state = 1;
  unsigned i;
  int status = 0;
  run ((const unsigned char *) "", 0);
  for (i = 0; status == 0; i++) {
    size_t nbytes = rd_fuzz_seed (i, seed, RD_FUZZ_ROOM);
    if (nbytes == 0)
      break;
    if (argc > 1) {
      status = write_seed (argv[1], i, seed, nbytes);
      continue;
    }
    run_seed (seed, nbytes, room, &state);
    printf ("ok %u - seed of %zu bytes, cut and mutated\n", i + 1, nbytes);
  }
  if (argc == 1)
    printf ("1..%u\n", i);
  free (seed);
  free (room);
  return status;
}
