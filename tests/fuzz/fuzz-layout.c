/* SPDX-License-Identifier: MIT */
/* Layouts: a line with a pattern, one with a path, and dataset.json.  A path
 * that matches gives a volume's, one that does not an error about it. */
#include <config.h>

#include <radio/layout.h>

#include "src/volume/ingest/dataset.h"
#include "tests/fuzz/fuzz.h"

static void
check_pattern (const char *pattern, const char *path)
{
  struct radio_layout *layout;
  struct radio_layout_file to;
  if (strpbrk (pattern, "{}") == NULL)
    return;
  if (radio_layout_open (pattern, &layout) != RADIO_OK) {
    FUZZ_CHECK (strstr (radio_error_message (), "pattern '") != NULL);
    return;
  }
  enum radio_status status = radio_layout_name (layout, path, NULL, &to);
  if (status == RADIO_OK) {
    const char *slash = strchr (to.path, '/');
    FUZZ_CHECK (slash && slash > to.path && strchr (slash + 1, '/') == NULL);
    free (to.path);
  } else
    FUZZ_CHECK (status == RADIO_ERROR_NOT_FOUND
                || status == RADIO_ERROR_ARGUMENT);
  radio_layout_close (layout);
}

static void
check_dataset (const char *text)
{
  struct rd_dataset *dataset;
  size_t n;
  if (rd_dataset_parse (text, strlen (text), "fuzz", &dataset) != RADIO_OK) {
    FUZZ_CHECK (strncmp (radio_error_message (), "fuzz: ", 6) == 0);
    return;
  }
  const struct radio_label *labels = rd_dataset_labels (dataset, &n);
  for (size_t i = 1; i < n; i++)
    FUZZ_CHECK (labels[i].value > labels[i - 1].value
                && strlen (labels[i].name) < strlen (text) * 2);
  for (uint64_t channel = 0; channel < 3; channel++)
    (void) rd_dataset_channel (dataset, channel);
  rd_dataset_free (dataset);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  char *text = fuzz_text (data, nbytes);
  char *path = text + strcspn (text, "\n");
  char *rest = path + (*path != '\0');
  *path = '\0';
  path = rest;
  rest += strcspn (rest, "\n");
  char *json = rest + (*rest != '\0');
  *rest = '\0';
  check_pattern (text, path);
  check_dataset (json);
  rd_free (text);
  return 0;
}

static const char *const seeds[] = {
  "imagesTr/{subject}_{channel}.nii.gz\n/d/imagesTr/a_b_0000.nii.gz\n{}",
  "{subject}/*/{subject}_{run}\nx/y/x_2.nii\n{\"labels\": {\"0\": \"a\"}}",
  ("/*/{collection}/{session}/{subject}\n/a/b/c/d.hdr\n"
   "{\"labels\": {\"a\": 0, \"b\": [1, 2], \"c\": [2, 2]}}"),
  ("{subject}{run}\nx\n"
   "{\"modality\": {\"0\": \"CT\"}, \"channel_names\": {\"1\": \"T1\"}}"),
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
