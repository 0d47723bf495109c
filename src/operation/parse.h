/* SPDX-License-Identifier: MIT */
/* The parser of each operation's arguments.  The name is taken, the step is
 * zero except its operation, and what follows the arguments is an error. */
#ifndef RD_PARSE_H
#define RD_PARSE_H

#include "src/operation/words.h"

typedef enum radio_status rd_parse_fn (struct rd_parser *parser,
                                       struct rd_step *step);

/* parse-values.c */
rd_parse_fn rd_parse_linear;
rd_parse_fn rd_parse_clamp;
rd_parse_fn rd_parse_rescale;
rd_parse_fn rd_parse_window;
rd_parse_fn rd_parse_gamma;
rd_parse_fn rd_parse_znorm;
rd_parse_fn rd_parse_noise;

/* parse-grid.c */
rd_parse_fn rd_parse_crop;
rd_parse_fn rd_parse_pad;
rd_parse_fn rd_parse_crop_or_pad;
rd_parse_fn rd_parse_flip;
rd_parse_fn rd_parse_rot90;
rd_parse_fn rd_parse_reorient;

/* Takes two axes, "xy"; a size of one axis, from 1. */
rd_parse_fn rd_take_plane;
bool rd_parse_axis_size (struct rd_parser *parser, struct rd_word part,
                         struct rd_step *step, int axis);

/* parse-sampling.c */
rd_parse_fn rd_parse_resample;
rd_parse_fn rd_parse_to;
rd_parse_fn rd_parse_smooth;
rd_parse_fn rd_parse_affine;
rd_parse_fn rd_parse_like;

/* Takes the words that say how an image is sampled at any places, and what is
 * outside of it, in any order, each once: *taken has the bits of those that
 * were taken, below RD_TAKEN_BITS; 0 at first. */
#define RD_TAKEN_BITS 8
enum radio_status rd_take_placing (struct rd_parser *parser,
                                   struct rd_step *step, bool may_turn,
                                   unsigned *taken) RADIO_USE_RESULT;

/* parse-random.c; _amount is random-scale's and random-shift's. */
rd_parse_fn rd_parse_random_flip;
rd_parse_fn rd_parse_random_rot90;
rd_parse_fn rd_parse_random_crop;
rd_parse_fn rd_parse_random_affine;
rd_parse_fn rd_parse_random_amount;
rd_parse_fn rd_parse_random_gamma;
rd_parse_fn rd_parse_random_noise;

#endif /* RD_PARSE_H */
