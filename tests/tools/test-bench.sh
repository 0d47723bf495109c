#!/bin/sh
# SPDX-License-Identifier: MIT
# radio bench: its facts about a volume are correct, whatever the times are;
# and comparing two of its results.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

peers=$srcdir/tools/peers
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$peers
export PYTHONDONTWRITEBYTECODE PYTHONPATH
temp=$tmp/temp
mkdir -p "$temp"
TMPDIR=$temp
export TMPDIR

# bench ARGUMENT...: short, as JSON.
bench () {
  runs bench --rounds 1 --runs 2 --warmup 1 --json "$@"
}

an_image_is_measured_in_every_layout () {
  bench image.nii.gz --tiling balanced,axial --codec small,fast \
    --rows axial,box32
  json '[(l["tiling"], l["codec"]) for l in j["layouts"]]
        == [(t, c) for t in ("balanced", "axial") for c in ("small", "fast")]'
  json '[[r["row"] for r in l["rows"]] for l in j["layouts"]]
        == 4 * [["axial", "box32"]]'
  json 'j["shape"] == [70, 60, 50] and j["dtype"] == "int16"'
  json 'j["raw_nbytes"] == 2 * 70 * 60 * 50'
}

every_row_has_times_that_are_summed_up_right () {
  bench image.nii --runs 5
  json 'len(j["layouts"][0]["rows"]) == 16'
  json 'all(r["n"] == len(r["times_s"]) >= 3 and min(r["times_s"]) > 0
            for r in j["layouts"][0]["rows"] if "skipped" not in r)'
  json 'all(r["min_s"] == min(r["times_s"]) and r["max_s"] ==
            max(r["times_s"]) and r["min_s"] <= r["quartile_low_s"] <=
            r["median_s"] <= r["quartile_high_s"] <= r["p95_s"] <= r["max_s"]
            for r in j["layouts"][0]["rows"] if "skipped" not in r)'
  json 'all(r["median_s"] == __import__("statistics").median(r["times_s"])
            for r in j["layouts"][0]["rows"] if r.get("n", 0) % 2)'
}

rows_that_do_not_fit_are_reported_as_omitted () {
  bench image.nii
  json '[r["row"] for r in j["layouts"][0]["rows"] if "skipped" in r]
        == ["box64", "box128"]'
  json 'all("larger than" in r["skipped"] for r in j["layouts"][0]["rows"]
            if "skipped" in r)'
}

# Other code counts the tiles that each place touches, so this checks the
# places as well as the counters.
decoded_bytes_are_those_of_the_touched_tiles () {
  for tiling in balanced axial 7,9,11; do
    for seed in 0 5; do
      bench image.nii --tiling $tiling --seed $seed --runs 9 \
        --rows full,axial,coronal,sagittal,box32,scroll
      json '__import__("places") and all(
        r["decoded_nbytes"] == 2 * sum(
          __import__("places").decoded_voxels(
            r["row"], j["shape"][::-1], j["layouts"][0]["tile"][::-1],
            j["seed"], i) for i in range(9))
        for r in j["layouts"][0]["rows"])'
    done
  done
}

bytes_delivered_are_those_of_the_rows () {
  bench image.nii --rows full,axial,coronal,sagittal,box32,scroll,open
  json '[r["nbytes"] for r in j["layouts"][0]["rows"]]
        == [420000, 8400, 7000, 6000, 65536, 8400, 0]'
}

no_row_is_faster_than_no_time () {
  bench image.nii --rows full,ingest-nii,ingest-gz,export,loader,cold-plane
  json 'all(v > 0 for k, v in j["limits_bytes_per_s"].items()
            if k != "inflated_by")'
  json 'j["limits_bytes_per_s"]["inflated_by"] in ("ISA-L", "libdeflate")'
  json 'all(l["decode_one_bytes_per_s"] > 0 and l["decode_all_bytes_per_s"]
            > 0 for l in j["layouts"])'
  json '{r["row"] for r in j["layouts"][0]["rows"] if r.get("limit_s")}
        == {"full", "loader", "cold-plane", "ingest-gz"}'
}

a_volume_is_measured_where_it_is () {
  "$RADIO" ls -s s.zarr >before
  bench -s s.zarr one --rows full,loader,ingest-nii,export
  json 'j["subject"] == "ct/one" and len(j["layouts"]) == 1'
  json 'j["layouts"][0]["tiling"] == "axial"'
  json 'j["layouts"][0]["codec"] == "small"'
  "$RADIO" ls -s s.zarr | cmp - before
}

reads_have_the_pipeline_that_is_applied () {
  bench -s s.zarr one --rows full,axial,open,loader \
    --apply 'crop 0:20,0:10,0:8 |  clamp 0,9'
  json 'j["pipeline"] == "crop :20,:10,:8 | clamp 0,9"'
  json '{r["row"]: r["nbytes"] for r in j["layouts"][0]["rows"]}
        == {"full": 6400, "axial": 800, "open": 0, "loader": 6400}'
}

the_loader_reads_the_volumes_of_the_collection () {
  # One is a quarter of the other, so both are in the sum, barring chance.
  bench -s s.zarr one --rows loader --runs 40
  json '420000 / 8 < j["layouts"][0]["rows"][0]["nbytes"] < 420000'
}

each_destination_is_one () {
  for destination in fresh numpy reused; do
    bench image.nii --destination $destination --rows full,axial
    json "j['destination'] == '$destination'"
    json 'all(r["n"] == 2 for r in j["layouts"][0]["rows"])'
  done
}

# Computes the ratios again from the times.  The output is kept for comparing,
# since much of the time goes into decoding at the machine's limit.
threads_and_volumes_are_measured_beside_each_other () {
  bench -s s.zarr ct/one two --threads 1,2 --rounds 7 --runs 3 \
    --rows full,axial,ingest-nii
  cp "$tmp/out" threads.json
  json '[(l["volume"], l["threads"]) for l in j["layouts"]]
        == [(v, t) for v in ("ct/one", "ct/two") for t in (1, 2)]'
  json '[l["raw_nbytes"] for l in j["layouts"]] == [420000] * 2 + [52500] * 2'
  json '[l["rows"][0]["nbytes"] for l in j["layouts"]]
        == [420000] * 2 + [52500] * 2'
  json '[l["rows"][2]["nbytes"] for l in j["layouts"]]
        == [420352] * 2 + [52852] * 2'
  json 'not any("speed_up" in r for r in j["layouts"][0]["rows"])'
  json '(lambda m: all(abs(l["rows"][k]["speed_up"]["ratio"] - m (
          a / b for a, b in zip (*([m (r["rows"][k]["times_s"][i:i + 3])
            for i in range(0, 21, 3)] for r in (j["layouts"][0], l)))))
          < 1e-9 * l["rows"][k]["speed_up"]["ratio"]
          for l in j["layouts"][1:] for k in range(3)))(
          __import__("statistics").median)'
  json 'all(s["low"] <= s["ratio"] <= s["high"] for l in j["layouts"][1:]
            for s in [r["speed_up"] for r in l["rows"]])'
}

the_table_distinguishes_layouts () {
  runs bench -s s.zarr one two --threads 1,2 --rounds 1 --runs 1 --rows full
  says '2 volumes; up to 2 threads' 'ct/one, axial small, 1 thread: ' \
    'ct/two, balanced medium, 2 threads: ' 'speed-up' \
    'decode, ct/two, balanced medium, 1 thread'
  runs bench image.nii --codec small,fast --rounds 1 --runs 1 --rows full
  says 'balanced small: ' 'balanced fast: ' 'speed-up'
}

errors_of_comparing_are_reported () {
  fails 2 "'image.nii' is an image, which is measured alone" \
    bench -s s.zarr one image.nii
  fails 2 "--threads: '0' is not a number from 1 to 1024" \
    bench -s s.zarr one --threads 1,0
  fails 2 "--threads: '1x' is not a number" bench -s s.zarr one --threads 1x
  fails 2 "has an empty word" bench -s s.zarr one --threads 1,
  fails 2 "more than can be compared" \
    bench -s s.zarr one --threads 1,2,3,4,5,6,7,8,9
  fails 1 "36 layouts: at most 16 are compared" \
    bench image.nii --tiling balanced,axial,isotropic --rows full \
    --codec small,medium,fast --threads 1,2,3,4
}

the_table_names_what_was_measured () {
  runs bench image.nii --rounds 1 --runs 1 --codec none
  says 'image.nii: 70 x 60 x 50 int16, 420 kB; ' 'balanced none: tiles of' \
    'median ms' 'of limit' 'scroll' 'ingest-gz' 'box128: not measured' \
    'memcpy' 'inflate by'
  awk 'length ($0) > 80 { print; bad = 1 } END { exit bad }' "$tmp/out"
}

without_anything_a_phantom_is_measured () {
  runs bench --phantom 20,18,16 --rounds 1 --runs 1 --rows full,ingest-gz
  says 'a phantom: 20 x 18 x 16 int16' 'full' 'ingest-gz'
}

temporary_files_are_removed () {
  [ -z "$(ls -A "$temp")" ]
  [ ! -e radio.zarr ]
}

errors_of_measuring_are_reported () {
  fails 1 "nosuch" bench -s s.zarr nosuch
  fails 1 "no store" bench -s none.zarr a
  fails 1 "none.nii.gz" bench none.nii.gz --rows full
  fails 1 "none.nii.gz: no such volume in" bench -s s.zarr none.nii.gz
  printf 'no image' >bad.nii
  fails 1 "bad.nii" bench bad.nii --rows full
  fails 1 "tiling" bench image.nii --tiling sideways --rows full
  fails 1 "codec" bench image.nii --codec tiny --rows full
  temporary_files_are_removed
}

an_interrupted_benchmark_cleans_up_and_dies_by_the_signal () {
  "$RADIO" bench --phantom 64 --rounds 1000 >out 2>err &
  child=$!
  # Waits until its folder exists, so that it has begun.
  while [ -z "$(ls -A "$temp")" ] && kill -0 $child; do sleep 0.1; done
  kill -TERM $child
  status=0
  wait $child || status=$?
  [ "$status" -eq 143 ]
  [ ! -s out ]
  temporary_files_are_removed
}

# results FACTOR: two layouts, six rounds of two runs, all times times FACTOR.
results () {
  awk -v f="$1" 'BEGIN {
    printf "{\"radio_bench\":1,\"threads\":2,\"layouts\":["
    for (l = 0; l < 2; l++) {
      printf "%s{\"tiling\":\"t%d\",\"codec\":\"c\",\"stored_nbytes\":9,", \
        l ? "," : "", l
      printf "\"rows\":[{\"row\":\"full\",\"runs_of_a_round\":2,\"times_s\":["
      for (i = 0; i < 12; i++)
        printf "%s%.9f", i ? "," : "", (10 + i % 5 + l) * (l ? 1 : f)
      printf "]},{\"row\":\"box64\",\"skipped\":\"large\"}]}"
    }
    printf "]}" }'
}

a_change_is_distinguished_from_noise () {
  results 1 >one.json
  results 2 >two.json
  results 0.5 >half.json
  runs bench compare one.json two.json --json
  json '[r["change"] for r in j["rows"]] == ["slower", "noise"]'
  json 'abs(j["rows"][0]["ratio"] - 2) < 1e-6'
  json 'j["rows"][0]["low"] <= 2 <= j["rows"][0]["high"]'
  json 'j["rows"][1]["ratio"] == 1 and j["rows"][1]["tiling"] == "t1"'
  json 'abs(j["geometric_mean"] - 2 ** 0.5) < 1e-6'
  runs bench compare one.json half.json
  says 't0 c' 'faster' '2 rows: 1 faster, 0 slower, 1 within noise'
}

a_change_below_two_percent_is_noise () {
  results 1.015 >little.json
  runs bench compare one.json little.json --json
  json '[r["change"] for r in j["rows"]] == 2 * ["noise"]'
}

# Both have 20 voxels along x only if the second is turned, and the first not.
random_operations_are_drawn_for_each_volume () {
  turn='random-rot90 xz p 0.5 | crop 0:20,:,:'
  runs phantom -s draws.zarr ct/a --size 20,16,12
  runs phantom -s draws.zarr ct/b --size 12,16,20
  runs info -s draws.zarr ct/a ct/b --apply "$turn" --draw 1
  fails 1 'the end 20 is out of range' info -s draws.zarr ct/b \
    --apply "$turn" --draw 1
  runs bench -s draws.zarr ct/a ct/b --apply "$turn" --draw 1 --rows full \
    --rounds 1 --runs 1
  runs profile full -s draws.zarr ct/a ct/b --apply "$turn" --draw 1 \
    --cold --runs 2 -o draws.json
}

slower_than_allowed_fails () {
  "$RADIO" bench compare one.json two.json --fail-if-slower 120 >"$tmp/out"
  status=0
  "$RADIO" bench compare one.json two.json --fail-if-slower 50 \
    >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q 't0 c, full: slower by 100.0 %, more than the 50 %' "$tmp/err"
}

other_conditions_are_warned_of () {
  sed 's/"threads":2/"threads":1/' one.json >other.json
  "$RADIO" bench compare one.json other.json >"$tmp/out" 2>"$tmp/err"
  grep -q 'warning: threads differs: 2 before, 1 after' "$tmp/err"
}

its_own_output_is_read_back () {
  runs bench image.nii --rounds 4 --runs 1 --json --rows full,box32
  cp "$tmp/out" mine.json
  runs bench compare mine.json mine.json --json
  json '[(r["row"], r["ratio"]) for r in j["rows"]]
        == [("full", 1), ("box32", 1)]'
}

layouts_are_identified_by_threads_and_volume () {
  runs bench compare threads.json threads.json --json
  json '[(r["volume"], r["threads"], r["row"], r["ratio"]) for r in j["rows"]]
        == [(v, t, r, 1) for v in ("ct/one", "ct/two") for t in (1, 2)
            for r in ("full", "axial", "ingest-nii")]'
  runs bench compare threads.json threads.json
  says 'ct/one, axial small, 2 threads' 'ct/two, balanced medium, 1 thread'
}

damaged_results_are_reported () {
  fails 1 "nosuch.json: No such file" bench compare nosuch.json one.json
  fails 1 "not a file that 'radio bench --json' wrote" bench compare /dev/zero one.json
  fails 1 "not a file that 'radio bench --json' wrote" bench compare . one.json
  printf '{"radio_bench":2}' >bad.json
  fails 1 "bad.json: radio_bench is 2" bench compare bad.json one.json
  printf '{"radio_bench":1}' >bad.json
  fails 1 "'layouts' is missing" bench compare bad.json one.json
  for bad in '' '[]' '{' 'x' '{"a":1}'; do
    printf '%s' "$bad" >bad.json
    fails 1 "bad.json: not the output of 'radio bench --json'" bench compare one.json bad.json
  done
  sed 's/"times_s":\[[0-9.]*,/"times_s":[0,/' one.json >bad.json
  fails 1 "bad.json: a time of row 'full' is not above 0" \
    bench compare bad.json one.json
  sed 's/"times_s":\[/"times_s":["x",/' one.json >bad.json
  fails 1 "is not above 0" bench compare bad.json one.json
  for key in rows row times_s runs_of_a_round tiling codec stored_nbytes; do
    sed "s/\"$key\"/\"other\"/g" one.json >bad.json
    fails 1 "'$key' is missing" bench compare bad.json one.json
    sed "s/\"$key\":[^,]*/\"$key\":null/" one.json >bad.json
    status=0
    "$RADIO" bench compare bad.json one.json >out 2>err || status=$?
    [ "$status" -eq 1 ] && [ "$(wc -l <err)" -eq 1 ]
  done
  printf '{"radio_bench":1,"layouts":[]}' >bad.json
  fails 1 "have no layout and row in common" bench compare bad.json one.json
}

"$RADIO" phantom -s s.zarr ct/one --size 70,60,50 --tiling axial \
  --codec small >/dev/null
"$RADIO" phantom -s s.zarr ct/two --size 35,30,25 >/dev/null
"$RADIO" export -s s.zarr one -o image.nii >/dev/null
"$RADIO" export -s s.zarr one -o image.nii.gz >/dev/null

for name in an_image_is_measured_in_every_layout \
    every_row_has_times_that_are_summed_up_right \
    rows_that_do_not_fit_are_reported_as_omitted \
    bytes_delivered_are_those_of_the_rows no_row_is_faster_than_no_time \
    a_volume_is_measured_where_it_is reads_have_the_pipeline_that_is_applied \
    the_loader_reads_the_volumes_of_the_collection each_destination_is_one \
    threads_and_volumes_are_measured_beside_each_other; do
  check_json "$name"
done
if "$RADIO" profile full -s s.zarr one -o p.json >/dev/null 2>&1; then
  check_json decoded_bytes_are_those_of_the_touched_tiles
else
  skip decoded_bytes_are_those_of_the_touched_tiles "built without the profiler"
fi
check the_table_names_what_was_measured
check the_table_distinguishes_layouts
check errors_of_comparing_are_reported
check without_anything_a_phantom_is_measured
check errors_of_measuring_are_reported
check an_interrupted_benchmark_cleans_up_and_dies_by_the_signal
check_json a_change_is_distinguished_from_noise
results 1 >one.json
results 2 >two.json
check_json a_change_below_two_percent_is_noise
check random_operations_are_drawn_for_each_volume
check slower_than_allowed_fails
check other_conditions_are_warned_of
check_json its_own_output_is_read_back
check_json layouts_are_identified_by_threads_and_volume
check damaged_results_are_reported
check temporary_files_are_removed
plan
