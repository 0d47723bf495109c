#!/bin/sh
# SPDX-License-Identifier: MIT
# Names of a data set's volumes: --layout, --pattern; and --part of its files.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"
unset SLURM_ARRAY_TASK_ID SLURM_PROCID OMPI_COMM_WORLD_RANK PMI_RANK

fixtures=$tmp/fixtures
mkdir "$fixtures"
"$builddir/tests/fixtures/make-fixtures" "$fixtures" >/dev/null || exit 99
image=$fixtures/good-nifti1-le-int16-3d.nii

# An nnU-Net data set: two cases with two channels and masks, one to test.
mkdir -p nn/imagesTr nn/imagesTs nn/labelsTr bids/sub-01/anat bids/sub-02/anat
for case in a_1 b_2; do
  cp "$image" nn/imagesTr/${case}_0000.nii
  cp "$image" nn/imagesTr/${case}_0001.nii
  cp "$image" nn/labelsTr/$case.nii
done
cp "$image" nn/imagesTs/c_0000.nii
echo '{"channel_names": {"0": "T1", "1": "T2"},
       "labels": {"background": 0, "whole": [1, 2], "core": 2}}' \
  >nn/dataset.json
for subject in sub-01 sub-02; do
  cp "$image" bids/$subject/anat/${subject}_T1w.nii
  cp "$image" bids/$subject/anat/${subject}_desc-brain_mask.nii
done
cp "$image" bids/sub-01/anat/localizer.nii

# holds STORE PATH...: all volumes of the store.
holds () {
  runs ls -s "$1"
  shift
  printf '%s\n' "$@" | cmp - "$tmp/out"
}

nnunet_names_channels_and_labels () {
  runs ingest -q -s nn.zarr --layout nnunet nn
  holds nn.zarr T1/a_1 T1/b_2 T1/c T2/a_1 T2/b_2 labels/a_1 labels/b_2
  "$python3" - nn.zarr/labels/a_1/zarr.json <<'END'
import json, sys
ome = json.load(open(sys.argv[1]))["attributes"]["ome"]
assert ome["image-label"] == {"properties": [
    {"label-value": 0, "name": "background"},
    {"label-value": 1, "name": "whole"},
    {"label-value": 2, "name": "whole, core"}]}, ome
END
  not grep -q image-label nn.zarr/T1/a_1/zarr.json
  runs info -s nn.zarr labels/a_1
  says "labels: pipelines pick them"
  runs validate -s nn.zarr
  runs export -s nn.zarr labels/a_1 -o back.nii
  cmp back.nii nn/labelsTr/a_1.nii
}

a_float_mask_is_not_marked_and_said_so () {
  mkdir -p float/labelsTr
  cp "$fixtures/good-nifti1-le-float32-3d.nii" float/labelsTr/a.nii
  "$RADIO" ingest -q -s float.zarr --layout msd float 2>"$tmp/err"
  grep -q 'a.nii: a mask of float32, not of integers' "$tmp/err"
  not grep -q image-label float.zarr/labels/a/zarr.json
}

bids_skips_other_names () {
  "$RADIO" ingest -q -s bids.zarr --layout bids bids 2>"$tmp/err"
  [ "$(cat "$tmp/err")" = "radio: warning: 1 file skipped: \
bids/sub-01/anat/localizer.nii: not a BIDS name, as sub-01_T1w.nii.gz" ]
  holds bids.zarr T1w/sub-01 T1w/sub-02 \
    mask/sub-01_desc-brain mask/sub-02_desc-brain
  # One that is named is not skipped.
  status=0
  "$RADIO" ingest -q -s bids.zarr --layout bids \
    bids/sub-01/anat/localizer.nii 2>"$tmp/err" || status=$?
  [ $status -eq 1 ]
  grep -q 'localizer.nii: not a BIDS name' "$tmp/err"
  fails 1 "no file that was found is of the layout" \
    ingest -s none.zarr --layout bids nn
  [ ! -e none.zarr ]
}

a_pattern_names_volumes () {
  runs ingest -q -s pattern.zarr -c mr \
    --pattern '{collection}/{subject}_{channel}' nn/imagesTr
  holds pattern.zarr mr_0000/a_1 mr_0000/b_2 mr_0001/a_1 mr_0001/b_2
  fails 1 "both map to 0000/a_1; use a --pattern that distinguishes them" \
    ingest -s clash.zarr --pattern '{subject}_{channel}.nii' \
    nn/imagesTr/a_1_0000.nii "$(cp -r nn/imagesTr again && echo again)"
  [ ! -e clash.zarr ]
}

wrong_options_are_usage_errors () {
  fails 2 "unknown value 'x'; use one of bids, msd, nnunet" \
    ingest --layout x nn
  fails 2 "has no {subject}" ingest --pattern 'a.nii' nn
  fails 2 "at character 3: unknown field '{sbject}'" \
    ingest --pattern 'x/{sbject}' nn
  fails 2 "--layout and --pattern exclude each other" \
    ingest --layout bids --pattern '{subject}' nn
  fails 2 "--layout and --collection exclude each other" \
    ingest --layout bids -c ct nn
  fails 2 "--pattern and --collection-from exclude each other" \
    ingest --pattern '{subject}' --collection-from folder nn
  for part in 0/3 4/3 3 /3 3/ a/b 1/0 -1/3 auto/2; do
    fails 2 "is not K/N with K from 1 to N" ingest --part $part nn
  done
}

parts_are_each_file_once () {
  for k in 1 2 3; do
    runs ingest -s parts.zarr --layout nnunet --part $k/3 nn
    says "part $k of 3: $([ $k = 1 ] && echo 3 || echo 2) of 7 files"
  done
  "$RADIO" ls -s nn.zarr >"$tmp/all"
  runs ls -s parts.zarr
  cmp "$tmp/all" "$tmp/out"
  # Nothing is done, and no store made, for a part without files.
  runs ingest -s no.zarr --part 8/8 --layout nnunet nn
  says 'part 8 of 8: 0 of 7 files'
  [ ! -e no.zarr ]
}

# part_is N/M VARIABLE=VALUE...: of those that the environment counts.
part_is () {
  part=$1
  shift
  ( export "$@" && runs ingest -s auto.zarr --skip-existing --layout nnunet \
      --part auto nn ) || return 1
  says "part ${part%/*} of ${part#*/}: "
}

slurm_and_mpi_are_asked () {
  part_is 3/4 SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=5 \
    SLURM_ARRAY_TASK_COUNT=4
  part_is 2/3 SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_MIN=10 \
    SLURM_ARRAY_TASK_STEP=4 SLURM_ARRAY_TASK_COUNT=3
  part_is 1/2 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=9
  part_is 6/8 SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=0 \
    SLURM_ARRAY_TASK_COUNT=4 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2
  part_is 4/5 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=5 SLURM_PROCID=0 \
    SLURM_STEP_NUM_TASKS=1
  part_is 2/2 PMI_RANK=1 PMI_SIZE=2
}

an_environment_that_counts_nothing_is_an_error () {
  fails 2 "not in an array job of Slurm, nor in a step" ingest --part auto nn
  # The script of a job runs once, whatever the number of its tasks.
  ( export SLURM_PROCID=0 SLURM_NTASKS=4
    fails 2 "not in an array job of Slurm, nor in a step" ingest --part auto nn )
  ( export PMI_RANK=2 PMI_SIZE=2
    fails 2 "PMI_RANK is 2, and PMI_SIZE only 2" ingest --part auto nn )
  ( export PMI_RANK=x PMI_SIZE=2
    fails 2 "PMI_RANK is 'x', not a number" ingest --part auto nn )
  ( export SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=1 \
      SLURM_ARRAY_TASK_COUNT=3
    fails 2 "use an array without gaps" ingest --part auto nn )
}

check_json nnunet_names_channels_and_labels
check a_float_mask_is_not_marked_and_said_so
check bids_skips_other_names
check a_pattern_names_volumes
check wrong_options_are_usage_errors
check parts_are_each_file_once
check slurm_and_mpi_are_asked
check an_environment_that_counts_nothing_is_an_error
plan
