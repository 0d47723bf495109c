/* SPDX-License-Identifier: MIT */
/* The part of a list that one of several processes takes.
 *
 * An array of jobs divides the list, and within a job the processes of a step
 * do.  MPI's own variables come before Slurm's: where mpirun starts its helpers
 * by srun, Slurm's variables are those of the helper of a machine.  PMI_RANK
 * and SLURM_PROCID are equal under srun.  The script of a Slurm job has a
 * SLURM_PROCID, too, which is 0, and SLURM_NTASKS, but it runs once: it is no
 * step, and has no SLURM_STEP_NUM_TASKS. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/text.h"
#include "tools/ingest/part.h"

/* More processes than this are a mistake, and products do not overflow. */
#define MAX_COUNT ((uint64_t) 1 << 31)

/* Reads a variable.  *has is false if it is not set, or empty.  False after a
 * usage error. */
static bool
read_variable (struct rd_args *args, const char *name, bool *has,
               uint64_t *value)
{
  const char *text = getenv (name);
  *has = text != NULL && *text != '\0';
  if (!*has || (rd_parse_u64 (text, value) && *value < MAX_COUNT))
    return true;
  rd_usage_error (args, "--part=auto: %s is '%s', not a number; use "
                  "--part=K/N", name, text);
  return false;
}

/* The place of this process among those that a pair of variables counts.
 * *has is false if the variables are not set.  False after a usage error. */
static bool
read_pair (struct rd_args *args, const char *rank, const char *size, bool *has,
           struct rd_part *part)
{
  bool has_size;
  if (!read_variable (args, rank, has, &part->index)
      || !read_variable (args, size, &has_size, &part->count))
    return false;
  *has = *has && has_size;
  if (!*has || part->index < part->count)
    return true;
  rd_usage_error (args, "--part=auto: %s is %" PRIu64 ", and %s only %" PRIu64
                  "; use --part=K/N", rank, part->index, size, part->count);
  return false;
}

/* The place of a job in its array, whose ids begin anywhere and may have
 * steps. */
static bool
read_array (struct rd_args *args, bool *has, struct rd_part *part)
{
  uint64_t id = 0, least = 0, step = 1;
  bool has_count, has_least, has_step;
  if (!read_variable (args, "SLURM_ARRAY_TASK_ID", has, &id)
      || !read_variable (args, "SLURM_ARRAY_TASK_COUNT", &has_count,
                         &part->count)
      || !read_variable (args, "SLURM_ARRAY_TASK_MIN", &has_least, &least)
      || !read_variable (args, "SLURM_ARRAY_TASK_STEP", &has_step, &step))
    return false;
  if (!*has)
    return true;
  if (has_count && step > 0 && id >= least && (id - least) % step == 0) {
    part->index = (id - least) / step;
    if (part->index < part->count)
      return true;
  }
  /* As of an array of "1,5,7", or one of which only some jobs run. */
  rd_usage_error (args, "--part=auto: SLURM_ARRAY_TASK_ID %" PRIu64 " is not "
                  "in a range of SLURM_ARRAY_TASK_COUNT jobs; use an array "
                  "without gaps, or --part=K/N", id);
  return false;
}

static bool
read_environment (struct rd_args *args, struct rd_part *part)
{
  static const char *const pairs[][2] = {
    { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
    { "PMI_RANK", "PMI_SIZE" },
    { "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
  };
  struct rd_part array = { 0, 1 }, step = { 0, 1 };
  bool has_array, has_step = false;
  if (!read_array (args, &has_array, &array))
    return false;
  for (size_t i = 0; i < 3 && !has_step; i++)
    if (!read_pair (args, pairs[i][0], pairs[i][1], &has_step, &step))
      return false;
  if (!has_array && !has_step) {
    rd_usage_error (args, "--part=auto: not in an array job of Slurm, nor in a "
                    "step of srun or mpirun; use --part=K/N");
    return false;
  }
  if (!has_array)
    array = (struct rd_part) { 0, 1 };
  if (!has_step)
    step = (struct rd_part) { 0, 1 };
  part->index = array.index * step.count + step.index;
  part->count = array.count * step.count;
  return true;
}

bool
rd_part_take (struct rd_args *args, struct rd_part *part)
{
  if (strcmp (args->value, "auto") == 0)
    return read_environment (args, part);
  const char *text = args->value;
  uint64_t k, n;
  if (rd_read_digits (&text, &k) && *text == '/' && rd_parse_u64 (text + 1, &n)
      && k > 0 && k <= n && n < MAX_COUNT) {
    *part = (struct rd_part) { k - 1, n };
    return true;
  }
  rd_usage_error (args, "--part: '%s' is not K/N with K from 1 to N, as 3/8, "
                  "or auto", args->value);
  return false;
}

bool
rd_part_has (const struct rd_part *part, uint64_t i)
{
  return part->count == 0 || i % part->count == part->index;
}
