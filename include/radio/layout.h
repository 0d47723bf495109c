/* SPDX-License-Identifier: MIT */
/* Layouts: how a data set's files are named, and with that the volumes that
 * they become.
 *
 * A volume's name says whose it is: SUBJECT[_ses-SESSION][_run-RUN], or a BIDS
 * name without its suffix.  So an image and its mask have one name, in two
 * collections. */
#ifndef RADIO_LAYOUT_H
#define RADIO_LAYOUT_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_layout;

/* A value of a mask, and its name in UTF-8.  Frozen: it stands in arrays. */
struct radio_label {
  int64_t value;
  const char *name;
};

/* Opens a layout:
 *
 *  "bids"    names as sub-01_ses-2_T1w.nii.gz, in any folder: the collection is
 *            the suffix (T1w), the name all before it; mask and dseg are masks.
 *  "msd"     the Medical Segmentation Decathlon: imagesTr, imagesTs, labelsTr
 *            and labelsTs with SUBJECT.nii.gz, in the collections images and
 *            labels.
 *  "nnunet"  nnU-Net's raw data: SUBJECT_NNNN.nii.gz in imagesTr and imagesTs,
 *            where NNNN is the channel, whose name in dataset.json is the
 *            collection (images_NNNN if it is not there, or not unique); and
 *            SUBJECT.nii.gz in labelsTr and labelsTs, collection labels.
 *  PATTERN   any text with fields in braces, as
 *            "imagesTr/{subject}_{channel}.nii.gz".
 *
 * A pattern is compared with the last parts of a path, as many as it has, or
 * with all if it begins with '/'; without a suffix as .nii.gz it is compared
 * with the path without its suffix.  The fields {subject}, {session}, {run},
 * {collection} and {channel} stand for one character or more, '*' for any
 * number, none of them '/'; the first ones take as much as they can.  A field
 * that is there twice is the same text.  {subject} is required.  The collection
 * is {collection}, or {channel}, or both joined by '_'; else images.
 *
 * Errors: RADIO_ERROR_ARGUMENT (no layout of that name; an unknown field, one
 * that is not closed, two without a text between them, no {subject}: with the
 * place). */
RADIO_API enum radio_status
radio_layout_open (const char *text, struct radio_layout **layout)
  RADIO_USE_RESULT;

/* NULL is legal. */
RADIO_API void radio_layout_close (struct radio_layout *layout);

/* The volume that a file becomes.  A result: later versions may add members at
 * its end. */
struct radio_layout_file {
  char *path;                         /* of the volume, "collection/name"; the
                                         caller frees it with free () */
  bool is_labels;                     /* a mask */
  const struct radio_label *labels;   /* of a mask, by ascending value, from
                                         dataset.json; belong to the layout */
  size_t nlabels;
};

/* Names the volume of a file by its path, which is not opened; the data set's
 * dataset.json, beside the folder of an image of msd or nnunet, is read once.
 * collection replaces the layout's, before "_CHANNEL"; NULL: does not.  One
 * thread at a time may use a layout.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (the path does not match the layout);
 * RADIO_ERROR_ARGUMENT (the name is not legal for a Zarr node);
 * RADIO_ERROR_FORMAT (of dataset.json: the message names the member);
 * RADIO_ERROR_IO, RADIO_ERROR_PERMISSION (reading it). */
RADIO_API enum radio_status
radio_layout_name (struct radio_layout *layout, const char *file,
                   const char *collection, struct radio_layout_file *result,
                   size_t result_nbytes) RADIO_USE_RESULT;
#define radio_layout_name(layout, file, collection, result) \
  radio_layout_name (layout, file, collection, result, \
                     sizeof (struct radio_layout_file))

#ifdef __cplusplus
}
#endif

#endif /* RADIO_LAYOUT_H */
