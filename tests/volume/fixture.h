/* SPDX-License-Identifier: MIT */
/* Shared by the tests of volumes: a folder of their own, images as sources
 * that can be stopped anywhere, and the expected content of an array, by a
 * naive walk through the file. */
#ifndef RD_TESTS_VOLUME_FIXTURE_H
#define RD_TESTS_VOLUME_FIXTURE_H

#include "tests/unit.h"

#include <radio/radio.h>

#include "src/array/context.h"
#include "src/volume/header.h"
#include "src/volume/ingest/ingest.h"
#include "tests/nifti/make-nifti.h"

/* cmocka's setup and teardown: a fresh folder, entered and left. */
int enter_folder (void **state);
int leave_folder (void **state);

/* Remove a file or a folder with all that is in it. */
void remove_all (const char *path);

/* An image in memory as a source. */
struct bytes_source {
  struct rd_source source;
  struct rd_buffer file;      /* header and voxels */
  size_t at;                  /* the next byte to read */
  size_t trailing_nbytes;     /* the result of finish */
  /* Called before each read; a failure becomes the read's. */
  enum radio_status (*hook) (struct bytes_source *source, void *user_data);
  void *user_data;
};

void bytes_source_open (struct bytes_source *source,
                        const struct nifti_spec *spec);
void bytes_source_close (struct bytes_source *source);
#define BYTES_SOURCE_SCOPE RD_CLEANUP (bytes_source_close)

/* A spec of a small image whose voxels depend on its seed. */
struct nifti_spec small_spec (void);

/* A spec of an image of the same shape, another type and a longer header,
 * which replaces the small one. */
struct nifti_spec other_spec (void);

/* Open a store, made when it is missing; a failure ends the test. */
struct radio_store *must_open_store (const char *uri);

/* Ingest an image of a spec, or fail the test. */
void must_ingest (struct radio_store *store, const char *path,
                  const struct nifti_spec *spec,
                  const struct radio_ingest_options *options);

/* Ingests an image as "ct/a" into a new store in memory, and opens it. */
struct radio_volume *must_open_image (struct radio_store **store,
                                      const struct nifti_spec *spec,
                                      const char *tiling);

struct radio_pipeline *must_parse_pipeline (const char *text);

/* Applies a pipeline to a volume, which stays open. */
struct radio_volume *must_apply (struct radio_volume *volume,
                                 const char *text);

/* The same of a volume that is closed. */
struct radio_volume *must_derive (struct radio_volume *volume,
                                  const char *text);

/* The elements that the array of an image must hold, in C order and the
 * machine's byte order. */
void expected_elements (const struct nifti_spec *spec,
                        const struct rd_buffer *file, struct rd_buffer *out);

/* A volume holds just this image: header, voxels, validation. */
void assert_volume_is (struct radio_store *store, const char *path,
                       const struct nifti_spec *spec);

void assert_open_volume_is (struct radio_volume *volume,
                            const struct nifti_spec *spec);

/* True if a write that ended so, with the thread's message, has published its
 * volume: all that failed is the header array's last step. */
bool was_published (enum radio_status status);

/* The state of a volume's header array. */
enum rd_header_state header_state (struct radio_store *store,
                                   const char *path);

/* The paths that a store lists, joined by blanks. */
void list_paths (struct radio_store *store, char *text, size_t nbytes);

/* The number of objects and folders below a prefix. */
size_t count_objects (struct radio_store *store, const char *prefix);
size_t count_folders (struct radio_store *store, const char *prefix);

/* Reads a box and returns the number of tiles that it took. */
uint64_t count_tiles (struct radio_volume *volume,
                      const struct radio_box *box);

#endif /* RD_TESTS_VOLUME_FIXTURE_H */
