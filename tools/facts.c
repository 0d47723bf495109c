/* SPDX-License-Identifier: MIT */
/* What is told of volumes and arrays, in words. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/text.h"

uint64_t
rd_raw_nbytes (const struct radio_array_info *info)
{
  uint64_t nbytes = info->item_nbytes;
  for (size_t i = 0; i < info->rank; i++)
    if (__builtin_mul_overflow (nbytes, info->shape[i], &nbytes))
      return UINT64_MAX;
  return nbytes;
}

bool
rd_is_colour (const struct radio_volume_info *info)
{
  return strncmp (info->nifti_type, "rgb", 3) == 0
         && strchr (info->axes, 'c') != NULL;
}

size_t
rd_display_axes (const struct radio_volume_info *info,
                 size_t axes[RADIO_MAX_RANK])
{
  const char *order = rd_is_colour (info) ? "xyzt" : "xyztc";
  size_t n = 0;
  for (const char *letter = order; *letter; letter++) {
    const char *place = strchr (info->axes, *letter);
    if (place)
      axes[n++] = (size_t) (place - info->axes);
  }
  for (size_t i = 0; info->axes[i]; i++)
    if (strchr ("xyztc", info->axes[i]) == NULL)
      axes[n++] = i;
  return n;
}

const char *
rd_array_type (const struct radio_array_info *info, char text[32])
{
  if (info->dtype != RADIO_RAW)
    return radio_dtype_name (info->dtype);
  snprintf (text, 32, "r%zu", 8 * info->item_nbytes);
  return text;
}

const char *
rd_volume_type (const struct radio_volume_info *info, char text[32])
{
  if (*info->nifti_type)
    return info->nifti_type;
  return rd_array_type (&info->array, text);
}

const char *
rd_volume_tiling (const struct radio_volume_info *info,
                  char text[RD_TILING_NBYTES])
{
  const char *tiling = info->tiling;
  const char *first = strchr (tiling, 'x'), *last = strrchr (tiling, 'x');
  if (*tiling == '\0')
    return "unknown";
  if (*tiling < '0' || *tiling > '9' || first == last)
    return tiling;
  snprintf (text, RD_TILING_NBYTES, "%s,%.*s,%.*s", last + 1,
            (int) (last - first - 1), first + 1, (int) (first - tiling),
            tiling);
  return text;
}

/* Append to allocated text; false (text freed) without memory. */
static bool
append (char **text, const char *between, const char *part)
{
  char *longer = rd_format ("%s%s%s", *text ? *text : "",
                            *text ? between : "", part);
  free (*text);
  *text = longer;
  return longer != NULL;
}

char *
rd_join_u64 (const uint64_t *numbers, const size_t *axes, size_t n,
             const char *between)
{
  char *text = NULL, part[RD_TEXT_NBYTES];
  for (size_t i = 0; i < n; i++) {
    snprintf (part, sizeof part, "%" PRIu64, numbers[axes[i]]);
    if (!append (&text, between, part))
      return NULL;
  }
  return text ? text : rd_format ("%s", "-");
}

char *
rd_join_double (const double *numbers, const size_t *axes, size_t n,
                const char *between)
{
  char *text = NULL, part[RD_TEXT_NBYTES];
  for (size_t i = 0; i < n; i++)
    if (!append (&text, between, rd_text_number (numbers[axes[i]], part)))
      return NULL;
  return text ? text : rd_format ("%s", "-");
}

const char *
rd_short_unit (const char *unit)
{
  static const char *const units[][2] = {
    { "millimeter", "mm" }, { "micrometer", "um" }, { "meter", "m" },
    { "second", "s" }, { "millisecond", "ms" }, { "microsecond", "us" },
    { "hertz", "Hz" },
  };
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (unit, units[i][0]) == 0)
      return units[i][1];
  return unit;
}

/* An integer of the header, of 2 or 4 bytes. */
static int
header_int (const unsigned char *p, size_t nbytes, bool big_endian)
{
  uint32_t value = 0;
  for (size_t i = 0; i < nbytes; i++)
    value = value << 8 | p[big_endian ? i : nbytes - 1 - i];
  return nbytes == 2 ? (int16_t) value : (int32_t) value;
}

/* A text field, which need not end in a zero; trailing spaces go. */
static void
header_text (const unsigned char *p, size_t nbytes, char *text)
{
  size_t n = strnlen ((const char *) p, nbytes);
  memcpy (text, p, n);
  while (n > 0 && text[n - 1] == ' ')
    n--;
  text[n] = '\0';
}

static void
facts_of_nifti1 (const unsigned char *p, struct rd_header_facts *facts)
{
  facts->qform_code = header_int (p + 252, 2, facts->big_endian);
  facts->sform_code = header_int (p + 254, 2, facts->big_endian);
  facts->intent_code = header_int (p + 68, 2, facts->big_endian);
  header_text (p + 148, 80, facts->descrip);
  header_text (p + 228, 24, facts->aux_file);
  header_text (p + 328, 16, facts->intent_name);
}

static void
facts_of_nifti2 (const unsigned char *p, struct rd_header_facts *facts)
{
  facts->qform_code = header_int (p + 344, 4, facts->big_endian);
  facts->sform_code = header_int (p + 348, 4, facts->big_endian);
  facts->intent_code = header_int (p + 504, 4, facts->big_endian);
  header_text (p + 240, 80, facts->descrip);
  header_text (p + 320, 24, facts->aux_file);
  header_text (p + 508, 16, facts->intent_name);
}

void
rd_header_facts (const struct radio_volume_info *info,
                 struct rd_header_facts *facts)
{
  const unsigned char *p = info->header;
  memset (facts, 0, sizeof *facts);
  if (info->header_nbytes < 348)
    return;
  facts->big_endian = p[0] == 0;
  int size = header_int (p, 4, facts->big_endian);
  size_t used;
  if (size == 348) {
    facts->version = 1;
    facts_of_nifti1 (p, facts);
    used = 352;
  } else if (size == 540 && info->header_nbytes >= 540) {
    facts->version = 2;
    facts_of_nifti2 (p, facts);
    used = 544;
  } else
    return;
  if (info->header_nbytes > used)
    facts->extension_nbytes = info->header_nbytes - used;
}
