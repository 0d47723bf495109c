/* SPDX-License-Identifier: MIT */
/* An image as a.nii.gz in the test's folder, and reads of it, for tests of gzip
 * files. */
#ifndef TESTS_ZIPPED_H
#define TESTS_ZIPPED_H

#include "tests/volume/fixture.h"

enum {
  PLANE_NBYTES = 300 * 200 * 2, NPLANES = 60, GAP_NBYTES = 100000, NFORMS = 7,
};

/* The file, its voxels in the order of the array, and the file gzipped. */
extern struct rd_buffer image, voxels, zipped;
extern unsigned char plane[PLANE_NBYTES];

int set_up_zipped (void **state);
int tear_down_zipped (void **state);

uint32_t next_random (uint32_t *seed);

/* In each 4 KiB the first nrandom bytes are random, the others have only these
 * bits. */
void make_image (size_t nrandom, unsigned bits);

/* One of three threads. */
struct radio_context *open_context (uint64_t memory_nbytes);

/* Opens a.nii.gz. */
struct radio_volume *open_file (struct radio_context *context,
                                bool keep_index);

size_t count_points (const struct radio_volume *volume);
enum radio_status read_plane (struct radio_volume *volume, uint64_t z);

/* Reads every k-th plane, the last one first, and compares. */
void assert_planes (struct radio_volume *volume, uint64_t k);
void assert_whole (struct radio_volume *volume);

/* Writes zipped as a.nii.gz. */
void write_image (void);

/* Reads a.nii.gz so that its points are kept. */
void keep_points (void);

/* Reads a file of less than 4 MiB. */
void read_back (const char *name, struct rd_buffer *bytes);

/* Members with the extra field of a kind, "BC", "IG", "MZ" or "": none. */
struct member_form {
  const char *kind;
  size_t first_nbytes, nbytes;
  bool has_name;
};

extern const struct member_form forms[NFORMS];

/* Appends such a member.  A lie is added to its length. */
void append_member (struct rd_buffer *out, const unsigned char *data,
                    size_t nbytes, const char *kind, bool has_name, int lie);

/* Writes the image in members of a form; the liar-th has a wrong length in its
 * header, or with a lie of 0 a wrong one in its trailer. */
void write_members (const struct member_form *form, size_t liar, int lie);

#endif /* TESTS_ZIPPED_H */
