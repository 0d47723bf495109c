/* SPDX-License-Identifier: MIT */
/* The header of a .npy is a Python dictionary of three members in any order
 * (numpy.lib.format):
 *
 *   {'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }
 *
 * The file is mapped, so that the elements of a slab can be anywhere in it:
 * along z, those of the usual C order are apart. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/npy.h"
#include "tools/parse.h"
#include "tools/text.h"

/* numpy's own limit of a header that is not trusted. */
#define MAX_HEADER_NBYTES 10000

/* The bytes of a slab, as far as a plane is not larger. */
#define SLAB_NBYTES ((uint64_t) 8 << 20)

/*------------------------------------------------------------------------
 * The header
 *----------------------------------------------------------------------*/

RADIO_PRINTF (2, 3) static bool
fail (struct rd_npy *npy, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  vsnprintf (npy->error, sizeof npy->error, format, args);
  va_end (args);
  return false;
}

/* A text that ends with a NUL. */
static void
skip_space (const char **p)
{
  *p += strspn (*p, " \t\r\n");
}

static bool
take (const char **p, char c)
{
  skip_space (p);
  if (**p != c)
    return false;
  ++*p;
  return true;
}

static bool
take_string (const char **p, char *text, size_t room)
{
  skip_space (p);
  char quote = **p;
  if (quote != '\'' && quote != '"')
    return false;
  const char *end = strchr (*p + 1, quote);
  size_t n = end ? (size_t) (end - *p) - 1 : room;
  if (n >= room)
    return false;
  memcpy (text, *p + 1, n);
  text[n] = '\0';
  *p = end + 1;
  return true;
}

static bool
set_type (struct rd_npy *npy, const char *descr)
{
  static const struct {
    const char *name;                 /* after the byte order */
    enum radio_dtype dtype;
    size_t unit_nbytes;
  } types[] = {
    { "b1", RADIO_BOOL, 1 }, { "i1", RADIO_INT8, 1 },
    { "i2", RADIO_INT16, 2 }, { "i4", RADIO_INT32, 4 },
    { "i8", RADIO_INT64, 8 }, { "u1", RADIO_UINT8, 1 },
    { "u2", RADIO_UINT16, 2 }, { "u4", RADIO_UINT32, 4 },
    { "u8", RADIO_UINT64, 8 }, { "f4", RADIO_FLOAT32, 4 },
    { "f8", RADIO_FLOAT64, 8 }, { "c8", RADIO_COMPLEX64, 4 },
    { "c16", RADIO_COMPLEX128, 8 },
  };
  if (strchr (descr, 'O'))
    return fail (npy, "the elements are Python objects, which would have to "
                 "be unpickled; save numbers instead");
  if (descr[0] == '\0' || !strchr ("<>|=", descr[0]))
    return fail (npy, "unknown type '%.40s'", descr);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strcmp (descr + 1, types[i].name) == 0) {
      bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
      npy->dtype = types[i].dtype;
      npy->item_nbytes = radio_dtype_nbytes (types[i].dtype);
      npy->swapped = types[i].unit_nbytes > 1
                     && descr[0] == (is_little ? '>' : '<');
      return true;
    }
  return fail (npy, "NIfTI has no type '%.40s'; convert the elements, as by "
               "numpy's astype", descr);
}

static bool
take_shape (const char **p, struct rd_npy *npy)
{
  npy->rank = 0;
  if (!take (p, '('))
    return fail (npy, "the header has no shape");
  while (!take (p, ')')) {
    uint64_t n;
    skip_space (p);
    if (!rd_read_digits (p, &n))
      return fail (npy, "the header's shape is not a tuple of numbers");
    *p += **p == 'L';                 /* of Python 2 */
    if (npy->rank < RD_NPY_MAX_RANK)
      npy->shape[npy->rank] = n;
    npy->rank++;
    if (!take (p, ',') && (skip_space (p), **p != ')'))
      return fail (npy, "the header's shape is not a tuple of numbers");
  }
  return true;
}

static bool
parse_header (const char *p, struct rd_npy *npy)
{
  bool has_type = false, has_order = false, has_shape = false;
  char key[20], descr[64];
  if (!take (&p, '{'))
    return fail (npy, "the header is not a dictionary");
  while (!take (&p, '}')) {
    if (!take_string (&p, key, sizeof key) || !take (&p, ':'))
      return fail (npy, "the header is damaged");
    skip_space (&p);
    if (strcmp (key, "descr") == 0) {
      if (*p == '[')
        return fail (npy, "the elements are structured; save one field");
      if (!take_string (&p, descr, sizeof descr))
        return fail (npy, "the header's type is damaged");
      if (!set_type (npy, descr))
        return false;
      has_type = true;
    } else if (strcmp (key, "fortran_order") == 0) {
      npy->fortran_order = strncmp (p, "True", 4) == 0;
      if (!npy->fortran_order && strncmp (p, "False", 5) != 0)
        return fail (npy, "the header's fortran_order is neither True nor "
                     "False");
      p += npy->fortran_order ? 4 : 5;
      has_order = true;
    } else if (strcmp (key, "shape") == 0) {
      if (!take_shape (&p, npy))
        return false;
      has_shape = true;
    } else
      return fail (npy, "the header has an unknown member '%s'", key);
    if (!take (&p, ',') && (skip_space (&p), *p != '}'))
      return fail (npy, "the header is damaged");
  }
  if (!has_type || !has_order || !has_shape)
    return fail (npy, "the header has no %s", !has_type ? "descr"
                 : !has_order ? "fortran_order" : "shape");
  return true;
}

bool
rd_npy_parse (const unsigned char *bytes, size_t nbytes, struct rd_npy *npy)
{
  char text[MAX_HEADER_NBYTES + 1];
  *npy = (struct rd_npy) { 0 };
  if (nbytes < 10 || memcmp (bytes, "\x93NUMPY", 6) != 0)
    return fail (npy, nbytes > 2 && memcmp (bytes, "PK", 2) == 0
                 ? "an .npz archive; save one array by numpy.save"
                 : "not a .npy file");
  size_t start = bytes[6] == 1 ? 10 : 12;
  if (bytes[6] < 1 || bytes[6] > 3)
    return fail (npy, "version %d.%d of the format is unknown", bytes[6],
                 bytes[7]);
  size_t header_nbytes = bytes[8] | (size_t) bytes[9] << 8;
  if (start == 12 && nbytes >= 12)
    header_nbytes |= (size_t) bytes[10] << 16 | (size_t) bytes[11] << 24;
  if (nbytes < start || header_nbytes > nbytes - start)
    return fail (npy, "the header is cut short");
  if (header_nbytes > MAX_HEADER_NBYTES)
    return fail (npy, "the header has %zu bytes; the most is %d",
                 header_nbytes, MAX_HEADER_NBYTES);
  /* A NUL within ends the text. */
  memcpy (text, bytes + start, header_nbytes);
  text[header_nbytes] = '\0';
  if (!parse_header (text, npy))
    return false;
  npy->start_nbytes = start + header_nbytes;
  if (npy->rank < 2 || npy->rank > RD_NPY_MAX_RANK)
    return fail (npy, "%zu dimension%s, not 2 to %d", npy->rank,
                 rd_plural (npy->rank), RD_NPY_MAX_RANK);

  uint64_t size = npy->item_nbytes;
  for (size_t i = 0; i < npy->rank; i++)
    if (npy->shape[i] == 0)
      return fail (npy, "no elements (axis %zu is 0)", i);
  for (size_t i = 0; i < npy->rank; i++)
    if (__builtin_mul_overflow (size, npy->shape[i], &size)
        || size > nbytes - npy->start_nbytes)
      return fail (npy, "cut short: the header claims more elements than "
                   "%zu bytes hold", nbytes - npy->start_nbytes);
  return true;
}

/*------------------------------------------------------------------------
 * The geometry
 *----------------------------------------------------------------------*/

bool
rd_parse_spacing (const char *text, double spacing[3])
{
  RD_FREE char *copy = strdup (text);
  char *rest = copy;
  for (size_t i = 0; copy && i < 3; i++) {
    char *number = strsep (&rest, ",");
    if (number == NULL || !rd_parse_double (number, &spacing[i])
        || !(spacing[i] > 0))
      return false;
  }
  return copy && rest == NULL;
}

int
rd_affine_read (const char *file, double affine[3][4])
{
  char text[4096], *rest = text, *word;
  double numbers[16] = { 0 };
  size_t n = 0;
  bool is_affine = true;
  FILE *from = fopen (file, "re");
  if (from == NULL)
    return rd_error ("%s: %s", file, strerror (errno));
  size_t nbytes = fread (text, 1, sizeof text - 1, from);
  fclose (from);
  text[nbytes] = '\0';
  while (is_affine && (word = strsep (&rest, " \t\r\n,;[]")) != NULL)
    if (*word)
      is_affine = n < 16 && rd_parse_double (word, &numbers[n++]);
  if (n == 16)
    is_affine = is_affine && numbers[12] == 0 && numbers[13] == 0
                && numbers[14] == 0 && numbers[15] == 1;
  else
    is_affine = is_affine && n == 12;
  if (!is_affine || nbytes == sizeof text - 1)
    return rd_error ("%s: not an affine; give 3 rows of 4 numbers (a fourth of "
                     "0 0 0 1 may follow)", file);
  memcpy (affine, numbers, 12 * sizeof (double));
  return RD_EXIT_OK;
}

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

/* Copy a box of elements with strides, reversing the bytes of each. */
static void
copy_swapped (const unsigned char *from, const struct radio_box *box,
              const int64_t *strides, const struct rd_npy *npy,
              unsigned char *to)
{
  bool is_complex = npy->dtype == RADIO_COMPLEX64
                    || npy->dtype == RADIO_COMPLEX128;
  size_t unit = npy->item_nbytes / (is_complex ? 2 : 1);
  uint64_t at[RADIO_MAX_RANK] = { 0 }, n = radio_box_count (box);
  for (uint64_t i = 0; i < n; i++) {
    const unsigned char *p = from;
    for (size_t k = 0; k < box->rank; k++)
      p += (int64_t) at[k] * strides[k];
    for (size_t k = 0; k < npy->item_nbytes; k++)
      *to++ = p[k / unit * unit + unit - 1 - k % unit];
    for (size_t k = box->rank; k-- > 0 && ++at[k] == box->size[k];)
      at[k] = 0;
  }
}

struct writing {
  const struct rd_npy *npy;
  const unsigned char *elements;
  struct radio_create_options create;
  int64_t strides[RADIO_MAX_RANK];    /* in array order */
  unsigned char *room;                /* for swapped elements */
};

/* Numpy's axes are x, y, z, t, c; the array's t, c, z, y, x. */
static void
set_axes (struct writing *writing)
{
  const struct rd_npy *npy = writing->npy;
  struct radio_create_options *create = &writing->create;
  int64_t step = (int64_t) npy->item_nbytes, stride[RD_NPY_MAX_RANK];
  for (size_t i = 0; i < npy->rank; i++) {
    size_t axis = npy->fortran_order ? i : npy->rank - 1 - i;
    stride[axis] = step;
    step *= (int64_t) npy->shape[axis];
  }
  create->rank = npy->rank < 3 ? 3 : npy->rank;
  for (size_t i = 0; i < create->rank; i++) {
    size_t axis = create->rank == 5 && i < 2 ? 3 + i : create->rank - 1 - i;
    bool is_there = axis < npy->rank;
    create->shape[i] = is_there ? npy->shape[axis] : 1;
    writing->strides[i] = is_there ? stride[axis] : step;
  }
}

/* The size of a slab: planes along z, at least one. */
static struct radio_box
slab_of (const struct radio_create_options *create, size_t item_nbytes)
{
  const size_t z = create->rank - 3;
  struct radio_box box = { .rank = create->rank };
  for (size_t i = 0; i < z; i++)
    box.size[i] = 1;
  memcpy (box.size + z, create->shape + z, 3 * sizeof *box.size);
  box.size[z] = 1;
  uint64_t plane_nbytes = radio_box_count (&box) * item_nbytes;
  uint64_t n = plane_nbytes < SLAB_NBYTES ? SLAB_NBYTES / plane_nbytes : 1;
  box.size[z] = n < create->shape[z] ? n : create->shape[z];
  return box;
}

/* RADIO_ERROR_CANCELLED without a message if the progress says so. */
static enum radio_status
write_slabs (const struct writing *writing, struct radio_writer *writer,
             struct radio_box box)
{
  const struct radio_create_options *create = &writing->create;
  const struct radio_ingest_options *options = &create->ingest;
  const struct rd_npy *npy = writing->npy;
  /* Along z, then t, then c. */
  const size_t z = create->rank - 3;
  const size_t order[3] = { z, 0, 1 };
  const uint64_t thickness = box.size[z];
  struct radio_progress progress = { 0, npy->item_nbytes };
  for (size_t i = 0; i < create->rank; i++)
    progress.total_nbytes *= create->shape[i];
  for (;;) {
    uint64_t left = create->shape[z] - box.start[z];
    box.size[z] = thickness < left ? thickness : left;
    const unsigned char *from = writing->elements;
    const int64_t *strides = writing->strides;
    size_t nbytes = radio_box_count (&box) * npy->item_nbytes;
    for (size_t i = 0; i < box.rank; i++)
      from += (int64_t) box.start[i] * strides[i];
    if (npy->swapped) {
      copy_swapped (from, &box, strides, npy, writing->room);
      from = writing->room;
      strides = NULL;
    }
    enum radio_status status
      = radio_volume_write_slab (writer, &box, from, nbytes, strides);
    if (status != RADIO_OK)
      return status;
    progress.done_nbytes += nbytes;
    if (options->progress
        && options->progress (&progress, options->user_data) != RADIO_OK)
      return RADIO_ERROR_CANCELLED;
    size_t k = 0;
    for (; k < 1 + z; k++) {
      size_t axis = order[k];
      box.start[axis] += box.size[axis];
      if (box.start[axis] < create->shape[axis])
        break;
      box.start[axis] = 0;
    }
    if (k == 1 + z)
      return RADIO_OK;
  }
}

static enum radio_status
write_volume (struct writing *writing, struct radio_store *store,
              const char *path, struct radio_ingest_result *result)
{
  struct radio_writer *writer;
  set_axes (writing);
  enum radio_status status
    = radio_volume_create (store, path, &writing->create, &writer);
  if (status != RADIO_OK)
    return status;
  result->skipped = writer == NULL;
  if (writer == NULL)
    return RADIO_OK;
  const size_t item_nbytes = writing->npy->item_nbytes;
  struct radio_box box = slab_of (&writing->create, item_nbytes);
  if (writing->npy->swapped)
    writing->room = malloc (radio_box_count (&box) * item_nbytes);
  status = writing->npy->swapped && writing->room == NULL
    ? RADIO_ERROR_MEMORY : write_slabs (writing, writer, box);
  free (writing->room);
  if (status == RADIO_OK)
    return radio_volume_commit (writer, result);
  radio_volume_abort (writer);
  return status;
}

enum radio_status
rd_npy_ingest (struct radio_store *store, const char *file, const char *path,
               const struct rd_npy_geometry *geometry,
               const struct radio_ingest_options *options,
               struct radio_ingest_result *result, char **message,
               int *errnum)
{
  struct rd_npy npy;
  struct stat st;
  enum radio_status status;
  int fd = open (file, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat (fd, &st) != 0 || !S_ISREG (st.st_mode)) {
    *errnum = fd < 0 ? errno : ESPIPE;
    if (fd >= 0)
      close (fd);
    *message = rd_format ("%s: %s", file, *errnum == ESPIPE
                          ? "is not a regular file"
                          : rd_errno_text (*errnum));
    return *errnum == ENOENT ? RADIO_ERROR_NOT_FOUND : RADIO_ERROR_IO;
  }
  *errnum = 0;
  size_t nbytes = (size_t) st.st_size;
  void *map = nbytes ? mmap (NULL, nbytes, PROT_READ, MAP_PRIVATE, fd, 0)
                     : MAP_FAILED;
  int unmapped = errno;
  close (fd);
  if (nbytes && map == MAP_FAILED) {
    *errnum = unmapped;
    *message = rd_format ("%s: cannot map it: %s", file, strerror (unmapped));
    return RADIO_ERROR_IO;
  }
  if (!rd_npy_parse (nbytes ? map : NULL, nbytes, &npy)) {
    *message = rd_format ("%s: %s", file, npy.error);
    status = RADIO_ERROR_FORMAT;
  } else if (!geometry->is_given) {
    *message = rd_format ("%s: a .npy file has no geometry; give --spacing, "
                          "--affine or --like", file);
    status = RADIO_ERROR_ARGUMENT;
  } else {
    /* The folder's name may be any bytes. */
    RD_FREE char *name = malloc (3 * strlen (file) + 1);
    if (name)
      rd_utf8_repair (file, name);
    struct writing writing = {
      .npy = &npy,
      .elements = (const unsigned char *) map + npy.start_nbytes,
      .create = {
        .dtype = npy.dtype, .like = geometry->like, .source_name = name,
        .ingest = *options,
      },
    };
    size_t rank = npy.rank < 3 ? 3 : npy.rank;
    for (size_t i = 0; i < 3; i++)
      writing.create.spacing[rank - 1 - i] = geometry->spacing[i];
    memcpy (writing.create.affine, geometry->affine, sizeof geometry->affine);
    status = write_volume (&writing, store, path, result);
    *errnum = status == RADIO_ERROR_IO ? radio_error_errno () : 0;
    if (status != RADIO_OK)
      *message = strdup (status == RADIO_ERROR_CANCELLED ? "cancelled"
                         : radio_error_message ());
  }
  if (nbytes)
    munmap (map, nbytes);
  return status;
}
