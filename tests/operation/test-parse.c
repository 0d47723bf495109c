/* SPDX-License-Identifier: MIT */
/* The text of pipelines: what is accepted has one canonical form, and an error
 * names the byte, the word and what is allowed. */
#include <config.h>

#include <locale.h>

#include <radio/pipeline.h>

#include "src/base/alloc.h"
#include "src/base/cleanup.h"
#include "src/operation/pipeline.h"
#include "tests/alloc-fail.h"
#include "tests/unit.h"

static void
assert_canonical (const char *text, const char *canonical)
{
  for (int i = 0; i < 2; i++) {
    struct radio_pipeline *pipeline;
    assert_ok (radio_pipeline_parse (text, &pipeline));
    assert_string_equal (radio_pipeline_text (pipeline), canonical);
    radio_pipeline_free (pipeline);
    text = canonical;
  }
}

static const char *const canonical_texts[][2] = {
  { "linear 2,-1", NULL },
  { "  linear\t02.50,-1e0|saturate ", "linear 2.5,-1 | saturate" },
  { "linear 1e3,-0", "linear 1000,0" },
  { "linear 123456789012345678901234567890,0.1",
    "linear 1.2345678901234568e+29,0.1" },
  { "clamp -1000,400", NULL },
  { "rescale 0,1", NULL },
  { "rescale 1,0 from -5,5", NULL },
  { "rescale 0,1 from p0.5,p99.5", NULL },
  { "window bone | window 40,400", NULL },
  { "gamma 0.70", "gamma 0.7" },
  { "znorm of all | znorm | znorm of nonzero",
    "znorm | znorm | znorm of nonzero" },
  { "znorm  of mask  seg | znorm of mask ./a.nii", "znorm of mask seg "
    "| znorm of mask ./a.nii" },
  { "crop 10:74,:,5:20", NULL },
  { "crop 0:,:7,3", "crop :,:7,3:4" },
  { "pad 2,2,2 by 0 | pad 1:1,1,1:2 | pad 1:0 by -1024",
    "pad 2 | pad 1,1,1:2 | pad 1:0 by -1024" },
  { "pad 1 edge | pad 0,1,2 reflect | pad 3 wrap", NULL },
  { "crop-or-pad 64,64,64", "crop-or-pad 64" },
  { "crop-or-pad 1,2,3 at -1,0,5 by 7", NULL },
  { "crop-or-pad 9 within 0.5", "crop-or-pad 9 within 0.5,0.5,0.5" },
  { "random-flip x,y,z p 0.5", "random-flip" },
  { "random-flip y p 0.25", NULL },
  { "random-rot90 xy", "random-rot90" },
  { "random-rot90 zx p 1", NULL },
  { "random-crop 64,64,64", "random-crop 64" },
  { "random-affine shift 0 degrees 10,10,10 p 0.5", "random-affine" },
  { "random-affine linear", NULL },
  { "random-affine by -1024 nearest shift 1,2,3 scale 0 degrees 5 p 1",
    "random-affine degrees 5 scale 0 shift 1,2,3 nearest by -1024 p 1" },
  { "random-scale 0.1 | random-shift 3 p 0", "random-scale "
    "| random-shift 3 p 0" },
  { "random-gamma 0.7,1.5", "random-gamma" },
  { "random-gamma 1,2 p 0.1", NULL },
  { "noise 0.50 seed 0 | noise 3 seed 9007199254740991",
    "noise 0.5 | noise 3 seed 9007199254740991" },
  { "random-noise 0.1 p 0.5 | random-noise 0,2 | random-noise 3,3 p 1",
    "random-noise | random-noise 0,2 | random-noise 3 p 1" },
  { "flip z,x", "flip x,z" },
  { "rot90 xy 1 | rot90 zx 3", "rot90 xy | rot90 zx 3" },
  { "rot90 xy -1 | rot90 zx -3", "rot90 xy 3 | rot90 zx" },
  { "reorient LPS", NULL },
  { "resample 1.50,1.5,1.5 | resample 1,:,0.5 linear corner",
    "resample 1.5 | resample 1,:,0.5 linear" },
  { "resample 2 centre cubic | to 64,64,64 majority",
    "resample 2 cubic centre | to 64 majority" },
  { "to 64,:,1 nearest", NULL },
  { "resample 2 smooth corner | to 8 smooth cubic centre",
    "resample 2 smooth | to 8 cubic centre smooth" },
  { "smooth 1.50 | smooth :,2,:", "smooth 1.5 | smooth :,2,:" },
  { "affine 1,0,0,-0.5,0,1,0,0,0,0,-1,0.0 by 3 nearest about centre",
    "affine 1,0,0,-0.5,0,1,0,0,0,0,-1,0 nearest about centre by 3" },
  { "like  ct/b by -1024 | like ./a.nii cubic by 0",
    "like ct/b by -1024 | like ./a.nii cubic" },
};

static void
a_pipeline_is_printed_in_its_canonical_form (void **state)
{
  (void) state;
  for (size_t i = 0; i < sizeof canonical_texts / sizeof *canonical_texts;
       i++) {
    const char *text = canonical_texts[i][0];
    const char *canonical = canonical_texts[i][1];
    assert_canonical (text, canonical ? canonical : text);
  }
}

static void
numbers_have_a_decimal_point_in_every_locale (void **state)
{
  (void) state;
  if (setlocale (LC_ALL, "de_DE.UTF-8") == NULL)
    skip ();
  assert_canonical ("rescale 0.5,1.25 | gamma 0.1",
                    "rescale 0.5,1.25 | gamma 0.1");
  setlocale (LC_ALL, "C");
}

static void
an_error_names_the_byte_the_word_and_what_is_allowed (void **state)
{
  (void) state;
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "", "byte 0: an operation is missing; use one of linear, clamp" },
    { "znorm |", "byte 7: an operation is missing" },
    { "znorm || znorm", "byte 7: an operation is missing" },
    { "znorm | blur 3", "byte 8, 'blur': unknown operation; use one of" },
    { "resample 1,0,1", "byte 11, '0': expected a spacing S or X,Y,Z" },
    { "resample 1e-10", "byte 9, '1e-10': expected a spacing" },
    { "resample 1,1", "byte 9, '1,1': expected a spacing" },
    { "resample nearest", "byte 9, 'nearest': expected a spacing" },
    { "resample 1 blur", "byte 11, 'blur': resample has all" },
    { "to 8 smooth majority", "byte 5, 'smooth': majority takes voxels as" },
    { "random-affine degrees 181", "byte 22, '181': expected the most deg" },
    { "random-affine scale 0.91", "byte 20, '0.91': expected the most N or" },
    { "random-affine shift 1,2", "byte 20, '1,2': expected the most N or" },
    { "random-affine about centre", "byte 14, 'about': random-affine has all" },
    { "noise -1", "byte 6, '-1': expected a standard deviation" },
    { "noise 1 seed -1", "byte 13, '-1': expected a whole number" },
    { "random-noise 2,1", "byte 13, '2,1': expected a standard deviation" },
    { "random-noise x", "byte 13, 'x': expected a standard deviation" },
    { "resample 1 linear cubic", "byte 18, 'cubic': the interpolation is given "
      "a second time" },
    { "to 8 corner centre", "byte 12, 'centre': centre or corner is given" },
    { "to 8 smooth cubic smooth", "byte 18, 'smooth': smooth is given" },
    { "like a by 1 nearest by 2", "byte 20, 'by': by is given" },
    { "random-affine scale 0.1 p 1 scale 0", "byte 28, 'scale'" },
    { "random-affine scale 0.1 cubic scale 0", "byte 30, 'scale': it is" },
    { "random-affine by 1 degrees 3 by 2", "byte 29, 'by': by is given" },
    { "smooth 0", "byte 7, '0': expected a standard deviation" },
    { "affine 1,0,0", "byte 7, '1,0,0': expected 12 numbers" },
    { "affine 1,0,0,0,0,1,0,0,0,0,inf,0", "byte 27, 'inf': expected a number" },
    { "affine 1,0,0,0,0,1,0,0,0,0,2e9,0", "byte 27, '2e9': expected a number" },
    { "affine 0,0,0,0,0,0,0,0,0,0,0,0", "the matrix is singular" },
    { "affine 1,0,0,0,0,1,0,0,0,0,1,0 majority", "expected nearest, linear" },
    { "affine 1,0,0,0,0,1,0,0,0,0,1,0 about x", "byte 37, 'x': expected" },
    { "like", "byte 4: expected the name of a volume" },
    { "like a by b", "byte 10, 'b': expected the value outside" },
    { "like a about centre", "byte 7, 'about': like has all" },
    { "to 1,2.5,3", "byte 5, '2.5': expected a shape N or X,Y,Z" },
    { "random-blur x", "byte 0, 'random-blur': unknown operation" },
    { "Clamp 0,1", "byte 0, 'Clamp': unknown operation" },
    { "clamp", "byte 5: expected a range LO,HI" },
    { "clamp 0,1 2", "byte 10, '2': clamp has all of its arguments" },
    { "clamp 0,x", "byte 8, 'x': not a number" },
    { "clamp 0,", "byte 6, '0,': not a number" },
    { "clamp 5,1", "byte 6, '5,1': LO is greater than HI" },
    { "clamp nan,1", "byte 6, 'nan': not a number" },
    { "clamp 0,inf", "byte 8, 'inf': not a number" },
    { "clamp 0,1e999", "byte 8, '1e999': not a number" },
    { "clamp 0x1,2", "byte 6, '0x1': not a number" },
    { "rescale 0,1 from p5,p5", "byte 17, 'p5,p5': expected percentiles" },
    { "rescale 0,1 from p-1,p5", "expected percentiles" },
    { "rescale 0,1 from p1,p101", "expected percentiles" },
    { "window teeth", "byte 7, 'teeth': expected a window: brain, bone" },
    { "window 1,0", "byte 7, '1,0': the width is not greater than 0" },
    { "gamma 0", "byte 6, '0': expected an exponent greater than 0" },
    { "znorm of x", "byte 9, 'x': expected all, nonzero or mask" },
    { "znorm of mask", "byte 13: expected the collection of the mask" },
    { "znorm of mask a b", "byte 16, 'b': znorm has all" },
    { "znorm of mask http://a/b.nii?c", "byte 14: a URL with a query" },
    { "crop 1,2", "byte 5, '1,2': expected three ranges" },
    { "crop 1,5:5,:", "byte 7, '5:5': expected three ranges" },
    { "crop 1,,:", "byte 5, '1,,:': expected three ranges" },
    { "crop -1:4,:,:", "byte 5, '-1:4': expected three ranges" },
    { "pad 1,99999999999999999999,3", "byte 6, '99999999999999999999'" },
    { "pad 1 by", "byte 8: expected a number to pad by" },
    { "pad 1 mirror", "byte 6, 'mirror': pad has all of its arguments" },
    { "crop-or-pad 0", "byte 12, '0': expected a size" },
    { "crop-or-pad 1 within 2", "expected fractions X,Y,Z" },
    { "random-flip p 2", "byte 14, '2': expected a probability" },
    { "random-gamma 2,1", "byte 13, '2,1': expected exponents" },
    { "random-scale -1", "byte 13, '-1': expected the most" },
    { "flip x,x", "byte 5, 'x,x': expected axes" },
    { "flip x,", "byte 5, 'x,': expected axes" },
    { "rot90 xx", "byte 6, 'xx': expected two axes" },
    { "rot90 xy 4", "byte 9, '4': expected 1, 2 or 3 quarters" },
    { "rot90 xy -4", "byte 9, '-4': expected 1, 2 or 3 quarters" },
    { "rot90 xy -", "byte 9, '-': expected 1, 2 or 3 quarters" },
    { "reorient RAL", "byte 9, 'RAL': expected the directions of x, y and z" },
    { "reorient ras", "byte 9, 'ras': expected the directions of x, y and z" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct radio_pipeline *pipeline = NULL;
    assert_fails (radio_pipeline_parse (cases[i].text, &pipeline),
                  RADIO_ERROR_ARGUMENT, cases[i].message);
    assert_null (pipeline);
  }
}

static void
more_operations_than_allowed_are_refused (void **state)
{
  (void) state;
  struct radio_pipeline *pipeline;
  char *text = malloc (8 * RADIO_PIPELINE_MAX_STEPS + 16);
  assert_non_null (text);
  for (size_t i = 0; i <= RADIO_PIPELINE_MAX_STEPS; i++)
    memcpy (text + 8 * i, "flip x |", 8);
  text[8 * RADIO_PIPELINE_MAX_STEPS + 7] = '\0';
  assert_fails (radio_pipeline_parse (text, &pipeline), RADIO_ERROR_LIMIT,
                "more than 16384 operations");
  text[8 * RADIO_PIPELINE_MAX_STEPS - 1] = '\0';
  assert_ok (radio_pipeline_parse (text, &pipeline));
  radio_pipeline_free (pipeline);
  free (text);
}

static void
a_failed_allocation_is_reported (void **state)
{
  (void) state;
  for (size_t nth = 1;; nth++) {
    struct radio_pipeline *pipeline = NULL, *drawn = NULL;
    alloc_fail_nth (nth);
    enum radio_status status = radio_pipeline_parse (
      "linear 1,2 | clamp 0.5,1 | flip x | flip x | flip x | flip x | flip x "
      "| flip x | crop 1:2,:,: | pad 1 by 0.5 | random-flip", &pipeline);
    if (status == RADIO_OK)
      status = radio_pipeline_draw (pipeline, 1, 2, 3, &drawn);
    radio_pipeline_free (pipeline);
    pipeline = drawn;
    if (!alloc_fail_end ()) {
      assert_ok (status);
      radio_pipeline_free (pipeline);
      assert_true (nth > 4);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
    assert_null (pipeline);
    assert_int_equal (rd_alloc_live_count (), 0);
  }
}

static void
every_operation_has_an_example_that_parses (void **state)
{
  char text[RADIO_EXAMPLE_NBYTES];
  size_t n = 0;
  (void) state;
  /* Random ones are not applied as they are. */
  for (size_t i = 0; i < RD_OP_FIRST_RANDOM; i++) {
    const char *name = rd_operation_name ((enum rd_operation) i);
    if (i == RD_OP_LIKE)              /* needs a second volume */
      continue;
    assert_ptr_equal (radio_pipeline_example (n, 64, text), text);
    struct radio_pipeline *pipeline;
    assert_ok (radio_pipeline_parse (text, &pipeline));
    assert_int_equal (strcspn (text, " "), strlen (name));
    assert_memory_equal (text, name, strlen (name));
    radio_pipeline_free (pipeline);
    n++;
  }
  assert_null (radio_pipeline_example (n, 64, text));
  assert_null (radio_pipeline_example (0, 64, NULL));
  /* Also of the largest size. */
  for (size_t i = 0; i < n; i++)
    assert_non_null (radio_pipeline_example (i, UINT64_MAX / 8, text));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_pipeline_is_printed_in_its_canonical_form),
    cmocka_unit_test (numbers_have_a_decimal_point_in_every_locale),
    cmocka_unit_test (an_error_names_the_byte_the_word_and_what_is_allowed),
    cmocka_unit_test (more_operations_than_allowed_are_refused),
    cmocka_unit_test (every_operation_has_an_example_that_parses),
    cmocka_unit_test (a_failed_allocation_is_reported),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
