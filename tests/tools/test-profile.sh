#!/bin/sh
# SPDX-License-Identifier: MIT
# Measurements and profiles by command, from outside.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"
unset RADIO_PROFILE RADIO_PROFILE_REDACT RADIO_PROFILE_SPANS
TMPDIR=$tmp/scratch
mkdir "$TMPDIR"
export TMPDIR

# succeeds ARGUMENT...: it exits with 0; stdout is in $tmp/out, stderr in
# $tmp/err.
succeeds () {
  status=0
  "$RADIO" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 0 ] && return 0
  echo "radio $*: status $status"
  cat "$tmp/out" "$tmp/err"
  return 1
}

nothing_is_left () {
  [ -z "$(ls -A "$TMPDIR")" ] || { ls -lA "$TMPDIR"; return 1; }
}

# Makes the profiles that are compared and converted below.
make_files () {
  "$RADIO" phantom -s s.zarr ct/one --size 96 >/dev/null
  succeeds profile slice -s s.zarr ct/one --roi 16 --runs 8 -o small.json \
    -o small.html
  succeeds profile slice -s s.zarr ct/one --roi 64 --runs 8 -o large.json
  nothing_is_left
}

without_a_store_a_phantom_is_measured_and_reported () {
  succeeds profile slice --roi 16 --phantom 32 --runs 3 -o a.html
  grep -q 'phantom of 32 x 32 x 32' "$tmp/err"
  says 'slice of phantoms/head' 'mean ms' 'median' 'MB/s' '16 x 16 x 16'
  says 'wrote a.html'
  [ -s a.html ]
  nothing_is_left
}

the_first_volume_is_measured_when_none_is_named () {
  succeeds profile roi -s s.zarr --roi 8 --runs 2 -o b.json
  grep -q 'measuring ct/one, the first one of s.zarr' "$tmp/err"
  says 'roi of ct/one: 96 x 96 x 96 int16'
}

the_figures_are_of_the_runs () {
  runs profile slice -s s.zarr ct/one --roi 16 --runs 7 --warmup 2 --seed 3 \
    --json -o c.json
  json 'j["time"]["n"] == 7 and len (j["times_s"]) == 7
        and j["time"]["nbytes"] == 16 ** 3 * 2
        and j["runs"] == "7" and j["warmup"] == "2"
        and j["seed"] == "3" and j["places"] == "random"
        and j["volume"] == "ct/one" and j["shape"] == "96 x 96 x 96"
        and j["dtype"] == "int16" and j["cache"] == "warm"
        and j["files"] == ["c.json"]'
  json 'abs (sum (j["times_s"]) / 7 - j["time"]["mean_s"]) < 1e-9
        and min (j["times_s"]) == j["time"]["min_s"]
        and sorted (j["times_s"])[3] == j["time"]["median_s"]'
  json 'abs (j["time"]["mb_per_s"]
             - 16 ** 3 * 2 / 1e6 / j["time"]["median_s"]) < 1e-6'
}

# Each operation has a root, entered once a run, which contains all below it.
the_tree_has_the_runs () {
  runs profile roi -s s.zarr ct/one --roi 32 --runs 5 --json -o d.json
  json 'len (j["scopes"]) > 3'
  json 'sum (s["calls"] for s in j["scopes"] if s["parent"] is None) == 5'
  json 'all (s["self_ns"] <= s["total_ns"] for s in j["scopes"])'
  json 'all (s["parent"] is None or s["parent"] < i
             for i, s in enumerate (j["scopes"]))'
  json 'sum (s["counters"].get ("bytes delivered", 0) for s in j["scopes"]
             if s["parent"] is None) == 5 * 32 ** 3 * 2'
}

planes_boxes_and_volumes_have_their_bytes () {
  for axis in axial coronal sagittal; do
    runs profile slice -s s.zarr ct/one --axis $axis --runs 2 --json -o \
      "$axis.json"
    json "j['time']['nbytes'] == 96 * 96 * 2 and j['axis'] == '$axis'"
  done
  runs profile roi -s s.zarr ct/one --size 5,6,7 --runs 2 --json -o e.json
  json 'j["time"]["nbytes"] == 5 * 6 * 7 * 2 and j["box"] == "5 x 6 x 7"'
  runs profile full -s s.zarr ct/one --runs 2 --json -o piped.json \
    --apply 'crop 0:20,:,: | znorm'
  json 'j["time"]["nbytes"] == 20 * 96 ** 2 * 4 and j["dtype"] == "float32"
        and j["pipeline"] == "crop :20,:,: | znorm"'
  runs profile full -s s.zarr ct/one --runs 2 --json -o f.json
  json 'j["time"]["nbytes"] == 96 ** 3 * 2'
}

fixed_places_are_checked () {
  runs profile roi -s s.zarr ct/one --at 90,0,0 --roi 6 --runs 2 --json \
    -o g.json
  json 'j["places"] == "fixed"'
  fails 1 "ct/one: --at: x = 91 is out of range (0-90) for a size of 6" \
    profile roi -s s.zarr ct/one --at 91,0,0 --roi 6 -o h.json
  fails 1 "ct/one: a box of 97 voxels exceeds the length of axis x (96)" \
    profile roi -s s.zarr ct/one --roi 97 -o h.json
  fails 1 "ct/one: axial plane 96 is out of range (0-95)" \
    profile slice -s s.zarr ct/one -i 96 -o h.json
  [ ! -e h.json ]
}

# from_disk COMMAND...: runs it, its output in $tmp/out and $tmp/err; prints
# the bytes that it read from a disk, as the kernel counts them.
from_disk () {
  "$python3" -c 'import resource, subprocess, sys
with open(sys.argv[1] + "/out", "w") as out, \
     open(sys.argv[1] + "/err", "w") as err:
    subprocess.run(sys.argv[2:], stdout=out, stderr=err, check=True)
print(512 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock)' \
    "$tmp" "$@"
}

# Succeeds if the kernel counts reads of files here: those of a file that was
# just dropped from memory.
disk_reads_are_counted () {
  "$python3" -c 'import os, resource
with open("probe.bin", "wb+") as file:
    file.write(bytes(1 << 20))
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    os.pread(file.fileno(), 1 << 20, 0)
raise SystemExit(resource.getrusage(resource.RUSAGE_SELF).ru_inblock < 2048)'
}

# Each cold run reads the whole volume from the disk; warm ones never do.
cold_runs_are_cold_or_a_message_says_so () {
  stored=$(find s.zarr/ct/one -path '*/c/*' -type f -exec cat {} + | wc -c)
  cold=$(from_disk "$RADIO" profile full -s s.zarr ct/one --cold --runs 3 \
    -o cold.json)
  says ', cold, places fixed'
  if [ -s "$tmp/err" ]; then
    grep -q 'warning: --cold: ' "$tmp/err"
    return
  fi
  disk_reads_are_counted || return 0
  echo "cold: $cold bytes from the disk in 3 runs of $stored"
  [ "$cold" -ge $((3 * stored)) ]
  warm=$(from_disk "$RADIO" profile full -s s.zarr ct/one --runs 3 \
    -o warm.json)
  echo "warm: $warm bytes"
  [ "$warm" -lt "$stored" ]
}

an_ingest_is_measured_beside_the_store () {
  "$RADIO" export -s s.zarr ct/one -o one.nii.gz >/dev/null
  before=$(find s.zarr | sort | cksum)
  runs profile ingest one.nii.gz -s s.zarr --runs 2 --codec small --json \
    -o j.json
  json 'j["time"]["n"] == 2 and j["codec"] == "small"
        and j["time"]["nbytes"] >= 96 ** 3 * 2
        and any (s["name"] == "ingest" for s in j["scopes"])'
  [ "$before" = "$(find s.zarr | sort | cksum)" ]
  ! ls -d radio-profile-?????? 2>/dev/null
}

an_ingest_of_a_phantom_leaves_nothing () {
  succeeds profile ingest --phantom 32 --runs 2 -o k.json
  says 'ingest of a phantom: 32 x 32 x 32 int16'
  nothing_is_left
}

a_sweep_gives_a_curve () {
  runs profile sweep -s s.zarr ct/one --sizes 8,16,32 --runs 7 --csv c.csv \
    -o l.json --json
  json '[p["size"] for p in j["curve"]] == [8, 16, 32]
        and all (p["n"] == 7 and p["nbytes"] == p["size"] ** 3 * 2
                 and p["min_s"] <= p["low_s"] <= p["median_s"] <= p["high_s"]
                 <= p["max_s"] for p in j["curve"])'
  json '[s["name"] for s in j["scopes"] if s["parent"] is None]
        == ["box 8", "box 16", "box 32"]'
  json 'any(f["id"] == "time-by-size" and f["evidence"].startswith("box 8 ")
            for f in j["findings"])'
  runs profile convert l.json l.html
  grep -q '<section id="curve"' l.html
  grep -q '>box 32</th><td>65.5.*kB</td><td>7</td>' l.html
  not grep -q 'id="curve"' small.html
  [ "$(wc -l <c.csv)" -eq 4 ]
  [ "$(sed -n 1p c.csv | tr ',' '\n' | wc -l)" -eq 13 ]
  sed -n 4p c.csv | grep -q '^32,65536,7,[0-9.e-]*,'
  succeeds profile sweep -s s.zarr ct/one --sizes 8 --runs 2 -o m.json \
    --csv few.csv
  says 'box 8' 'median ms' 'quartiles'
  sed -n 2p few.csv | grep -q '^8,1024,2,[0-9.e-]*,,,[0-9]'
  runs profile sweep -s s.zarr ct/one --sizes 8 --runs 2 --json
  json 'not any ("low_s" in p or "high_s" in p for p in j["curve"])'
}

the_file_of_a_curve_is_checked_before_the_work () {
  echo mine >old.csv
  fails 1 "old.csv: exists already; replace it by --overwrite" \
    profile sweep -s s.zarr ct/one --sizes 8 --runs 1 --csv old.csv -o cw.json
  fails 1 "nowhere/a.csv: cannot be written: nowhere: No such file" \
    profile sweep -s s.zarr ct/one --sizes 8 --runs 1 --csv nowhere/a.csv \
    -o cw.json
  fails 1 "/dev/null: not a regular file" \
    profile sweep -s s.zarr ct/one --sizes 8 --runs 1 --csv /dev/null \
    -o cw.json --overwrite
  [ ! -e cw.json ]
  [ "$(cat old.csv)" = mine ]
}

# Where no file may grow, the existing file stays.
a_curve_is_written_whole_or_not_at_all () {
  mkdir whole
  echo mine >whole/old.csv
  # The limit is 512 bytes; with 0, not even sanitizers can start.
  (ulimit -f 1
   not "$RADIO" profile sweep -s s.zarr ct/one --sizes 4,8,12,16,20 --runs 1 \
     --overwrite --csv whole/old.csv -o whole/a.json >/dev/null 2>&1)
  [ "$(cat whole/old.csv)" = mine ]
  [ "$(ls -A whole)" = old.csv ]
  runs profile sweep -s s.zarr ct/one --sizes 8 --runs 1 --overwrite \
    --csv whole/old.csv -o w.json
  grep -q '^size,' whole/old.csv
}

default_sizes_are_those_that_fit () {
  runs phantom -s fit.zarr ct/flat --size 40,48,12
  runs phantom -s fit.zarr ct/small --size 40
  runs profile sweep -s fit.zarr ct/small --runs 2 --json -o fit.json
  json '[p["size"] for p in j["curve"]] == [16, 32]'
  runs profile sweep -s fit.zarr ct/flat --runs 2 --json -o flat.json
  json '[p["size"] for p in j["curve"]] == [12]'
  fails 1 'ct/small: a box of 64 voxels exceeds the length of axis x (' \
    profile sweep -s fit.zarr ct/small --runs 2 --sizes 16,64
}

pages_are_numbered_not_overwritten () {
  mkdir numbered
  cd numbered
  succeeds profile roi -s ../s.zarr ct/one --roi 8 --runs 1
  says 'wrote radio-profile-roi.html'
  first=$(cksum <radio-profile-roi.html)
  succeeds profile roi -s ../s.zarr ct/one --roi 8 --runs 1
  says 'wrote radio-profile-roi-2.html'
  [ "$first" = "$(cksum <radio-profile-roi.html)" ]
}

files_are_overwritten_only_on_request () {
  before=$(cksum <small.json)
  fails 1 "small.json: exists already; replace it by --overwrite" \
    profile roi -s s.zarr ct/one --runs 1 -o small.json
  [ "$before" = "$(cksum <small.json)" ]
  cp small.json again.json
  succeeds profile roi -s s.zarr ct/one --roi 8 --runs 1 -o again.json \
    --overwrite
  not cmp -s small.json again.json
}

a_profile_does_not_hold_the_build_folder () {
  grep -q '"src/array/read\.c"' small.json
  not grep -q "$(cd "$srcdir" && pwd)/src/" small.json
}

wrong_outputs_are_refused_before_the_work () {
  fails 1 "nowhere/a.html: cannot be written: nowhere: No such file" \
    profile full -s s.zarr ct/one -o nowhere/a.html
  fails 2 ".speedscope.json" profile full -s s.zarr ct/one -o a.png
  fails 1 "--redact-key: nokey: No such file" \
    profile full -s s.zarr ct/one -o n.html --redact-key nokey
  : >empty
  fails 1 "--redact-key: empty: empty" \
    profile full -s s.zarr ct/one -o n.html --redact-key empty
}

redacted_files_and_figures_hold_no_names () {
  "$RADIO" phantom -s s.zarr ct/janedoe --size 16 >/dev/null
  runs profile full -s s.zarr ct/janedoe --runs 1 --redact --json \
    -o r.json -o r.html -o r.txt -o r.folded -o r.trace.json
  not grep -l janedoe "$tmp/out" r.json r.html r.txt r.folded r.trace.json
  succeeds profile full -s s.zarr ct/janedoe --runs 1 --redact -o r2.json
  not grep janedoe "$tmp/out"
  "$RADIO" rm -s s.zarr ct/janedoe >/dev/null
}

show_prints_what_was_measured () {
  runs profile show small.json
  cp "$tmp/out" shown
  runs profile show small.html
  cmp "$tmp/out" shown
  grep -q read shown
  runs profile show small.json --json
  json 'j["nparts"] == 8 and j["facts"]["volume"] == "ct/one"
        and len (j["scopes"]) > 3'
}

convert_writes_every_format () {
  runs profile convert small.json v.html v.trace.json v.speedscope.json \
    v.folded v.pb.gz v.txt w.json
  for file in v.html v.trace.json v.speedscope.json v.folded v.pb.gz v.txt; do
    [ -s $file ]
    says "wrote $file"
  done
  cmp small.json w.json
  fails 1 "w.json: exists already" profile convert small.json w.json
  fails 2 "-o: " profile convert small.json v.what
}

merge_prints_ranks_and_imbalance () {
  runs profile merge small.json large.json -o merged.json
  says 'wall ms' 'rank 0' 'rank 1' 'wrote merged.json'
  runs profile merge small.json large.json --json -o merged2.json
  json 'len (j["parts"]) == 2 and j["nparts"] == 2
        and all (i["max_ns"] >= i["mean_ns"] for i in j["imbalance"])'
  runs profile merge small.json large.json --as runs --json -o merged3.json
  json 'len (j["parts"]) == 16'
  # What was measured may be even.
  makes long 3000
  makes short 1000
  runs profile merge long.json short.json -o uneven.json
  says 'rank 0' 'imbalance' 'read'
}

equal_profiles_differ_by_noise_only () {
  runs diff small.json small.html
  says 'noise' '0 slower, 0 faster, 0 new, 0 gone'
  runs diff small.json small.json --fail-if-slower 0
  runs diff small.json small.json --json
  json 'j["before_ns"] == j["after_ns"] > 0
        and all (p["change"] == "noise" for p in j["paths"])'
}

# makes NAME US [ROOT US]: a profile of 8 runs that took about US microseconds,
# each with another root after it.
makes () {
  PYTHONPATH=$srcdir/tests/interop "$python3" -B -c 'import sys
from profile_document import ProfileDocument
for run in range (8):
  made = ProfileDocument ("read")
  main = made.lane ("main")
  ns = 1000 * int (sys.argv[2]) + 5000 * (run * 3 % 8)
  read = made.span (main, "read", "operation", 0, ns)
  made.span (main, "decode", "decode", 100, ns // 2, read)
  if len (sys.argv) > 3:
    made.span (main, sys.argv[3], "user", ns, 1000 * int (sys.argv[4]))
  open (f"{sys.argv[1]}-{run}.json", "w").write (made.json ())' "$@"
  succeeds profile merge "$1"-?.json --as runs -o "$1.json"
}

a_slower_operation_is_seen_and_fails_the_check () {
  makes slow 3000
  makes fast 1000
  runs diff fast.json slow.json
  says '1.017 ms -> 3.018 ms (+196.6 %)' 'paths: 2 slower, 0 faster'
  status=0
  "$RADIO" diff fast.json slow.json --fail-if-slower 10 >"$tmp/out" \
    2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ]
  grep -q "'read' is slower by 196.[0-9] %, more than the 10 % allowed" \
    "$tmp/err"
  runs diff fast.json slow.json --fail-if-slower 200
  runs diff slow.json fast.json --fail-if-slower 10
  says 'paths: 0 slower, 2 faster'
}

a_renamed_operation_is_unclear () {
  makes named 1000 work 1000
  makes renamed 1000 task 3000
  makes beside 1000 work 1000
  status=0
  "$RADIO" diff named.json renamed.json --fail-if-slower 40 >"$tmp/out" \
    2>"$tmp/err" || status=$?
  [ "$status" -eq 3 ]
  grep -q "'work' is in the first profile alone, and takes more than 40 %" \
    "$tmp/err"
  runs diff named.json renamed.json --fail-if-slower 80
  runs diff named.json beside.json --fail-if-slower 5
}

a_comparison_is_written_as_a_page () {
  runs diff fast.json slow.json -o changes.html
  says 'paths: 2 slower' 'wrote changes.html: open it in a browser'
  "$python3" -B - changes.html fast.json slow.json <<'END'
import json, re, sys
page, before, after = (open (f).read () for f in sys.argv[1:])
held = [re.search (f'id="{name}">(.*?)</script>', page, re.S)[1]
        for name in ("radio-before", "radio-profile")]
assert json.loads (held[0]) == json.loads (before)
assert json.loads (held[1]) == json.loads (after)
END
  runs profile convert changes.html back.json
  cmp back.json slow.json
  fails 1 "changes.html: exists already" diff fast.json slow.json \
    -o changes.html
  runs diff fast.json slow.json --overwrite --json -o changes.html
  json 'j["after_ns"] > j["before_ns"]'
  status=0
  "$RADIO" diff fast.json slow.json -o failed.html --fail-if-slower 10 \
    >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 1 ] && [ -s failed.html ]
  fails 2 "-o: 'changes.json' does not end in .html" diff fast.json \
    slow.json -o changes.json
}

# It redacts both profiles.
a_redacted_comparison_holds_no_names () {
  for name in janedoe johndoe; do
    "$RADIO" phantom -s s.zarr ct/$name --size 32 >/dev/null
    "$RADIO" profile full -s s.zarr ct/$name --runs 2 -o $name.json \
      --overwrite >/dev/null
    "$RADIO" rm -s s.zarr ct/$name >/dev/null
    grep -q $name $name.json
  done
  runs diff janedoe.json johndoe.json -o redacted.html --redact
  not grep -q -e janedoe -e johndoe redacted.html
  says 'differs: volume'
  not grep -q -e janedoe -e johndoe "$tmp/out"
  runs diff janedoe.json johndoe.json --json --redact
  not grep -q -e janedoe -e johndoe "$tmp/out"
  json '"volume" in [c["name"] for c in j["conditions"]]'
}

single_runs_give_no_estimate_of_noise () {
  "$RADIO" profile roi -s s.zarr ct/one --roi 8 --runs 1 -o x1.json \
    >/dev/null
  "$RADIO" profile roi -s s.zarr ct/one --roi 8 --runs 1 -o x2.json \
    >/dev/null
  runs diff x1.json x2.json
  says 'with a single run, changes'
}

records_earlier () {
  "$RADIO" profile roi -s s.zarr ct/one --roi 8 --runs 2 -o earlier.json \
    --overwrite >/dev/null
}

# rewritten FROM TO FILE: earlier.json with another text in how it was made.
rewritten () {
  sed "s|$1|$2|g" earlier.json >"$3"
  not cmp -s earlier.json "$3"
}

two_commands_are_measured_in_turn () {
  records_earlier
  runs profile roi -s s.zarr ct/one --roi 8 --runs 10 \
    --against earlier.json -o turn.html -o turn.json
  says ' rounds of both in turn, 2 runs each' 'wrote turn.html'
  not grep -q 'made by' "$tmp/out"
  [ "$(grep -c 'id="radio-before"' turn.html)" -eq 1 ]
  "$python3" -B - turn.json <<'END'
import json, sys
parts = json.load (open (sys.argv[1]))["parts"]
n = len (set (parts["pid"]))
assert 4 <= n <= 10 and len (parts["name"]) == 2 * n
END
  # Another store, from another folder.
  "$RADIO" phantom -s other.zarr ct/one --size 32 --codec fast >/dev/null
  mkdir -p elsewhere
  (cd elsewhere && "$RADIO" profile roi -s ../other.zarr ct/one --roi 8 \
    --runs 5 --against ../earlier.json --json -o ../turn2.html) >"$tmp/out"
  json 'j["same_operation"]
        and "store" in [c["name"] for c in j["conditions"]]'
}

the_pipeline_of_each_is_applied () {
  records_earlier
  runs profile roi -s s.zarr ct/one --roi 8 --runs 4 --overwrite \
    --apply 'random-crop 9' --draw 1 --against earlier.json -o drawn.json
  says 'differs: shape: ' ' -> 9 x 9 x 9'
  runs profile roi -s s.zarr ct/one --roi 8 --runs 4 --overwrite \
    --against drawn.json -o plain.json
  says 'differs: shape: 9 x 9 x 9 -> '
}

other_measurements_are_compared_in_turn () {
  # op has no store, and ingest makes its own: neither is of $RADIO_STORE.
  for measured in 'sweep --sizes 4,8 -s s.zarr' 'ingest --phantom 16' \
      'op clamp --size 16 --types int16'; do
    name=${measured%% *}
    # shellcheck disable=SC2086
    (
      export RADIO_STORE=none.zarr
      succeeds profile $measured --runs 1 -o "was-$name.json"
      runs profile $measured --runs 5 --against "was-$name.json" \
        -o "is-$name.html"
      says ' rounds of both in turn, 1 run each'
      not grep '^differs: limit' "$tmp/out"
      fails 2 "profile $name: --fail-if-slower needs --against" \
        profile $measured --fail-if-slower 5
    )
  done
  # The curve is written once, and by none of the rounds.
  succeeds profile sweep --sizes 4 -s s.zarr --runs 1 --csv gone.csv -o csv.json
  rm gone.csv
  runs profile sweep --sizes 4 -s s.zarr --runs 5 --against csv.json -o csv.html
  [ ! -e gone.csv ]
}

# records_elsewhere N: elsewhere.json, by a program whose first N recordings
# are of a machine with other CPUs.
records_elsewhere () {
  records_earlier
  echo 0 >calls
  cat >elsewhere.sh <<END
#!/bin/sh
"$RADIO" "\$@" || exit
exec "$python3" -B "$PWD/elsewhere.py" $1 "\$@"
END
  cat >elsewhere.py <<'END'
import json, os, sys
calls = os.path.join (os.path.dirname (sys.argv[0]), "calls")
n = int (open (calls).read ())
open (calls, "w").write (str (n + 1))
if n < int (sys.argv[1]):
    profile = json.load (open (sys.argv[-1]))
    facts = profile["facts"]
    facts["value"][facts["key"].index ("ncpus")] = "4096"
    json.dump (profile, open (sys.argv[-1], "w"))
END
  chmod +x elsewhere.sh
  "$python3" -B - "$PWD/elsewhere.sh" <<'END'
import json, sys
profile = json.load (open ("earlier.json"))
facts = profile["facts"]
at = facts["key"].index ("made by")
made = json.loads (facts["value"][at])
made.update (program=sys.argv[1], files=[])
facts["value"][at] = json.dumps (made)
json.dump (profile, open ("elsewhere.json", "w"))
END
}

rounds_under_different_conditions_are_run_again () {
  records_elsewhere 1
  runs profile roi -s s.zarr ct/one --roi 8 --runs 40 \
    --against elsewhere.json -o rounds.json
  rounds=$(sed -n 's/^\([0-9]*\) rounds of both in turn.*/\1/p' "$tmp/out")
  left=$(sed -n 's/^\([0-9]*\) more [a-z]* left out: .*/\1/p' "$tmp/out")
  [ "$(cat calls)" -eq $((rounds + ${left:-0})) ]
  # On a busy machine the conditions of all rounds may differ: no more are run.
  [ "$(cat calls)" -ge 11 ] || grep '^differs: ' "$tmp/out"
}

an_unclear_answer_does_not_propose_what_was_done () {
  records_elsewhere 100
  status=0
  "$RADIO" profile roi -s s.zarr ct/one --roi 8 --runs 10 \
    --fail-if-slower 0 --against elsewhere.json -o unclear.json \
    >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$(cat calls)" -eq 5 ]
  not grep -e --against "$tmp/out" "$tmp/err"
  [ "$status" -ne 3 ] || grep -q 'it is unclear' "$tmp/err"
}

a_recording_runs_no_other_command () {
  records_earlier
  for made in '"-c","touch ran"' '"rm","ct/one"' '"profile","-o","ran"' \
      '"profile","roi","--output=ran"' '"profile","roi","-oran"' \
      '"profile","roi","--outp=ran"' '"profile"' ''; do
    "$python3" -B - earlier.json foreign.json "$made" <<'END'
import json, sys
document = json.load (open (sys.argv[1]))
facts = document["facts"]
at = facts["key"].index ("made by")
made = json.loads (facts["value"][at])
made["arguments"] = json.loads ("[" + sys.argv[3] + "]")
if made["arguments"][:1] == ["-c"]:
    made["program"], made["files"] = "/bin/sh", []
facts["value"][at] = json.dumps (made)
json.dump (document, open (sys.argv[2], "w"))
END
    fails 1 "foreign.json: " profile roi -s s.zarr --against foreign.json \
      -o never.html
    grep -q 'not made by\|does not have the command' "$tmp/err"
  done
  [ ! -e ran ] && [ ! -e never.html ]
}

a_command_that_cannot_be_run_again_is_an_error () {
  records_earlier
  fails 1 "no.json: " profile roi -s s.zarr --against no.json
  rewritten 'path\\":\\"/' 'path\\":\\"/gone/' gone.json
  fails 1 "gone.json: the program that made it is gone (" profile roi \
    -s s.zarr --against gone.json -o never.html
  rewritten 'changed_ns[^0-9]*' '&1' changed.json
  fails 1 "changed.json: the program that made it has changed (" profile roi \
    -s s.zarr --against changed.json -o never.html
  "$RADIO" profile roi -s s.zarr ct/one --roi 8 --runs 2 --redact \
    -o hidden.json >/dev/null
  fails 1 "hidden.json: cannot be run again, since it does not have how" \
    profile roi -s s.zarr --against hidden.json -o never.html
  RADIO_PROFILE=foreign.json "$RADIO" ls -s s.zarr >/dev/null
  fails 1 "foreign.json: cannot be run again" profile roi -s s.zarr \
    --against foreign.json -o never.html
  rewritten 'ct/one' 'ct/none' unknown.json
  fails 1 "ct/none: no such volume in s.zarr" profile roi -s s.zarr \
    --against unknown.json -o never.html
  [ ! -e never.html ]
}

damaged_and_foreign_files_are_refused () {
  head -c 200 small.json >cut.json
  : >nothing.json
  echo '{"traceEvents": []}' >chrome.json
  echo 'not JSON at all' >words.json
  echo '<html></html>' >other.html
  mkdir folder.json
  for file in cut.json nothing.json chrome.json words.json other.html \
      folder.json missing.json; do
    fails 1 "$file" diff "$file" small.json
    fails 1 "$file" diff small.json "$file"
    fails 1 "$file" profile merge small.json "$file" -o no.json
    fails 1 "$file" profile show "$file"
    fails 1 "$file" profile convert "$file" no.html
  done
  [ ! -e no.json ] && [ ! -e no.html ]
}

# wraps STATUS ARGUMENT...: stdout in $tmp/out, stderr in $tmp/err.
wraps () {
  want=$1
  shift
  status=0
  "$RADIO" profile "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq "$want" ] && return 0
  echo "radio profile $*: status $status, expected $want"
  cat "$tmp/out" "$tmp/err"
  return 1
}

a_wrapped_program_is_recorded () {
  wraps 0 -o wrap.html -o wrap.json -- "$RADIO" stats -s s.zarr ct/one
  says 'mean' 'wrote wrap.html'
  runs profile show wrap.json --json
  json 'j["nparts"] == 1 and len (j["scopes"]) > 3'
  nothing_is_left
}

children_are_joined () {
  wraps 0 -o kids.json -- sh -c \
    '"$0" info -s s.zarr ct/one >/dev/null; "$0" ls -s s.zarr' "$RADIO"
  says 'rank 0' 'rank 1' 'ct/one'
  runs profile show kids.json --json
  json 'j["nparts"] == 2'
}

the_status_is_the_programs () {
  wraps 7 -o st1.json -- sh -c '"$0" info -s s.zarr ct/one; exit 7' "$RADIO"
  [ -s st1.json ]
  wraps 1 -o st2.json -- "$RADIO" info -s s.zarr ct/none
  wraps 137 -o st3.json -- sh -c 'kill -9 $$'
  wraps 143 -o st4.json -- sh -c 'kill $$'
  wraps 127 -o st5.json -- ./no-such-program
  grep -q 'no-such-program: cannot be run: No such file' "$tmp/err"
  wraps 126 -o st6.json -- ./s.zarr
  grep -q 's.zarr: cannot be run: Permission denied' "$tmp/err"
  wraps 125 -o small.json -- true
  nothing_is_left
}

# The command itself exits with these statuses if it could not run anything.
every_status_of_the_program_keeps_its_profile () {
  for status in 125 126 127; do
    wraps $status -o own$status.json -- sh -c \
      '"$0" info -s s.zarr ct/one; exit $1' "$RADIO" $status
    says 'ct/one' "wrote own$status.json"
    [ -s own$status.json ]
  done
  nothing_is_left
}

a_program_that_records_nothing_is_reported () {
  wraps 0 -o none.json -- true
  grep -q 'true: recorded nothing; link it with' "$tmp/err"
  [ ! -e none.json ]
  wraps 3 -o none.json -- sh -c 'exit 3'
  grep -q 'recorded nothing' "$tmp/err"
}

# The program may not write a byte into any file.
a_profile_that_cannot_be_written_is_an_error () {
  for ends in 0 3; do
    wraps $((ends ? ends : 1)) -o none.json -- sh -c '(ulimit -f 1
      "$0" ls -s s.zarr) >/dev/null 2>&1; exit $1' "$RADIO" $ends
    grep -q 'sh: its profile could not be written into .*; set TMPDIR to an' \
      "$tmp/err"
    not grep -q 'recorded nothing' "$tmp/err"
  done
  [ ! -e none.json ]
  nothing_is_left
}

a_full_temporary_folder_is_an_error () {
  mkdir little
  mount -t tmpfs -o size=64k none little
  head -c 65536 /dev/zero >little/ballast 2>/dev/null || :
  status=0
  TMPDIR=$PWD/little "$RADIO" profile -o none.json -- "$RADIO" ls -s s.zarr \
    >"$tmp/out" 2>"$tmp/err" || status=$?
  left=$(ls little)
  umount little
  [ "$status" -eq 1 ]
  says ct/one
  grep -q 'its profile could not be written into .*/little' "$tmp/err"
  [ "$left" = ballast ]
}

# Children may go to other folders before they write.
a_relative_temporary_folder_is_accepted () {
  mkdir -p relative
  (TMPDIR=./relative
   wraps 0 -o rel.json -- sh -c 'cd / && "$0" ls -s "$1"' "$RADIO" \
     "$PWD/s.zarr")
  [ -s rel.json ]
  [ -z "$(ls -A relative)" ]
}

a_folder_that_would_become_a_number_is_refused () {
  mkdir -p 'a%p'
  (TMPDIR=$PWD/a%p
   wraps 125 -o per.json -- "$RADIO" ls -s s.zarr)
  grep -q "a%p: '%p' in the folder for temporary files" "$tmp/err"
  [ ! -s "$tmp/out" ] && [ ! -e per.json ]
  [ -z "$(ls -A 'a%p')" ]
}

a_damaged_profile_takes_nothing_from_the_others () {
  wraps 0 -o rest.json -- sh -c '"$0" ls -s s.zarr
    echo damaged >"${RADIO_PROFILE%/*}/1.json"' "$RADIO"
  grep -q "warning: a process's profile is skipped: .*/1.json" "$tmp/err"
  says 'ct/one' 'wrote rest.json'
  runs profile show rest.json
  says 'list'
  nothing_is_left
}

# kept: prints the folder of the profiles that the last line names.
kept () {
  sed -n '$s/.*of the single processes.* are in //p' "$tmp/err"
}

profiles_that_cannot_be_read_are_kept () {
  wraps 1 -o bad.json -- sh -c 'echo damaged >"${RADIO_PROFILE%/*}/1.json"'
  grep -q 'sh: none of its profiles can be read' "$tmp/err"
  [ "$(cat "$(kept)/1.json")" = damaged ]
  rm -r "$(kept)"
  nothing_is_left
}

# The library allows 4096 counters in a profile.
profiles_that_cannot_be_joined_are_kept () {
  PYTHONPATH=$srcdir/tests/interop "$python3" -B -c '
from profile_document import ProfileDocument
for name in "many", "more":
  made = ProfileDocument (name)
  made.span (made.lane ("main"), "read", "operation", 0, 1000, counters={
             f"{name} {i}": 1 for i in range (3000)})
  open (name + ".json", "w").write (made.json ())'
  wraps 1 -o joined.json -- sh -c 'cp many.json "${RADIO_PROFILE%/*}/1.json"
    cp more.json "${RADIO_PROFILE%/*}/2.json"'
  grep -q 'cannot be joined: .*4096 counters' "$tmp/err"
  cmp many.json "$(kept)/1.json"
  cmp more.json "$(kept)/2.json"
  rm -r "$(kept)"
  [ ! -e joined.json ]
  nothing_is_left
}

# waits_for COMMAND...: until it succeeds, for a minute at most.
waits_for () {
  for i in $(seq 600); do
    "$@" && return 0
    sleep 0.1
  done
  echo "in vain: $*"
  return 1
}

# ends_as SIGNAL COMMAND: sends the wrapper the signal once the command, which
# first makes a profile, has written its process number into the file `number'.
ends_as () {
  rm -f number sent.json
  "$RADIO" profile -o sent.json -- sh -c '"$0" ls -s s.zarr; '"$2" \
    "$RADIO" >"$tmp/out" 2>"$tmp/err" &
  pid=$!
  waits_for test -s number
  kill -s "$1" "$pid"
  status=0
  wait "$pid" || status=$?
  [ "$(kill -l "$status")" = "$1" ]
  not kill -0 "$(cat number)"
  says 'ct/one' 'wrote sent.json'
  runs profile show sent.json
  nothing_is_left
}

# The parent of the tests may ignore a signal, as nohup does; all processes
# that they start inherit that.
is_ignored () {
  [ "$(sh -c "kill -s $1 \$\$; echo alive" 2>/dev/null)" = alive ]
}

signals_are_forwarded_and_nothing_is_left () {
  for signal in TERM HUP; do
    is_ignored $signal ||
      ends_as $signal 'echo $$ >number.new; mv number.new number
      exec sleep 1000'
  done
}

a_program_may_exit_normally_on_a_signal () {
  ends_as TERM 'trap "echo caught >how; exit 0" TERM
    echo $$ >number.new; mv number.new number
    while :; do sleep 0.1; done'
  [ "$(cat how)" = caught ]
}

the_page_is_named_after_the_program () {
  mkdir named
  cd named
  wraps 0 -- "$RADIO" ls -s ../s.zarr
  [ -s radio-profile-radio.html ]
}

a_profile_that_cannot_be_written_is_saved () {
  mkdir goes
  wraps 1 -o goes/a.html -- sh -c 'rmdir goes; "$0" ls -s s.zarr' "$RADIO"
  says 'ct/one'
  saved=$(sed -n 's/.*the profile was saved as \([^ ]*\).*/\1/p' "$tmp/err")
  [ -s "$saved" ]
  runs profile show "$saved"
  says 'list'
  rm "$saved"
  nothing_is_left
}

a_full_disk_loses_nothing () {
  mkdir full
  mount -t tmpfs -o size=64k none full
  head -c 65536 /dev/zero >full/ballast 2>/dev/null || :
  status=0
  "$RADIO" profile roi -s s.zarr ct/one --roi 8 --runs 2 -o full/a.html \
    >"$tmp/out" 2>"$tmp/err" || status=$?
  umount full
  [ "$status" -eq 1 ]
  says 'mean ms'
  saved=$(sed -n 's/.*the profile was saved as \([^ ]*\).*/\1/p' "$tmp/err")
  [ -s "$saved" ]
  runs profile show "$saved"
  rm "$saved"
}

every_command_honours_the_environment () {
  RADIO_PROFILE=env-%p.json "$RADIO" stats -s s.zarr ct/one >"$tmp/out" \
    2>"$tmp/err"
  [ ! -s "$tmp/err" ]
  file=$(ls env-*.json)
  runs profile show "$file" --json
  json 'any (s["name"] == "stats" for s in j["scopes"])'
  json 'j["title"] == "radio stats" and j["program"] == "radio"'
  json '"title" not in j["facts"]'
}

# The wall time is the command's, and so is the CPU time beside it.
all_steps_of_a_command_are_in_its_scope () {
  RADIO_PROFILE=slice.json "$RADIO" slice -s s.zarr ct/one -o slice.png \
    >"$tmp/out"
  runs profile show slice.json --json
  json '[s["name"] for s in j["scopes"] if s["parent"] is None] ==
    ["radio slice"]'
  json 'j["scopes"][0]["total_ns"] == j["wall_ns"]'
  json '{"open store", "read plane", "percentiles", "grey", "write PNG"} <=
    {s["name"] for s in j["scopes"]}'
  json 'all (0 <= s["starved_ns"] <= s["work_ns"] for s in j["scopes"])'
}

the_environment_changes_no_status () {
  status=0
  RADIO_PROFILE=nowhere/a.json "$RADIO" ls -s s.zarr >"$tmp/out" \
    2>"$tmp/err" || status=$?
  [ "$status" -eq 0 ]
  says ct/one
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  grep -q '^radio: RADIO_PROFILE: .*nowhere' "$tmp/err"
  # The message names the other path once.
  [ "$(grep -o 'radio-profile-[0-9]*.json' "$tmp/err" | wc -l)" -eq 1 ]
  rm -f "$TMPDIR"/*
  status=0
  RADIO_PROFILE=a.what "$RADIO" ls -s s.zarr >"$tmp/out" 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 0 ]
  says ct/one
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  grep -q '^radio: RADIO_PROFILE: a.what' "$tmp/err"
}

a_command_that_failed_says_so_first_in_its_profile () {
  status=0
  RADIO_PROFILE=z.json "$RADIO" info -s s.zarr ct/none 2>"$tmp/err" ||
    status=$?
  [ "$status" -eq 1 ]
  [ "$(wc -l <"$tmp/err")" -eq 1 ]
  runs profile show z.json --json
  json 'j["findings"][0]["id"] == "failed"'
  json '"ct/none" in j["findings"][0]["evidence"]'
  RADIO_PROFILE=z2.json "$RADIO" info -s s.zarr ct/one >"$tmp/out"
  runs profile show z2.json --json
  json 'all (f["id"] != "failed" for f in j["findings"])'
  # The message names a volume.
  RADIO_PROFILE=z3.json RADIO_PROFILE_REDACT=1 \
    "$RADIO" info -s s.zarr ct/none 2>"$tmp/err" || status=$?
  not grep -q ct/none z3.json
  grep -q '"failed"' z3.json
}

measurements_ignore_the_environment () {
  RADIO_PROFILE=ignored.json succeeds profile roi -s s.zarr ct/one --roi 8 \
    --runs 1 -o y.json
  grep -q "^radio: RADIO_PROFILE is ignored: 'radio profile'" "$tmp/err"
  [ -s y.json ] && [ ! -e ignored.json ]
  RADIO_PROFILE_SLOW='read>1ns' succeeds profile roi -s s.zarr ct/one \
    --roi 8 --runs 1 -o y2.json
  grep -q "^radio: RADIO_PROFILE_SLOW is ignored: 'radio profile'" "$tmp/err"
  [ -z "$(ls | grep '^read-')" ]
}

# The program's profile alone, not those of its slow runs, is reported.
a_profiled_program_looks_for_no_slow_runs () {
  RADIO_PROFILE_SLOW='open store>1ns' succeeds profile -o y3.json -- \
    "$RADIO" info -s s.zarr ct/one
  grep -q '"open store"' y3.json
  not grep -qE '"(bytes of the ring|trigger)"' y3.json
}

a_command_writes_its_slow_runs () {
  mkdir "$tmp/slow-runs"
  (cd "$tmp/slow-runs"
   RADIO_PROFILE_SLOW='open store>1ns' "$RADIO" info \
     -s "$OLDPWD/s.zarr" ct/one >"$tmp/out" 2>"$tmp/err")
  [ ! -s "$tmp/err" ]
  [ "$(ls "$tmp/slow-runs" | grep -c '^open-store-[0-9]*-1\.html$')" -eq 1 ]
  [ "$(ls "$tmp/slow-runs" | wc -l)" -eq 1 ]
}

has_folder () {
  [ -n "$(ls -A "$TMPDIR")" ]
}

# Once the folder of its phantom is there, which is before the first run.
an_interrupted_measurement_leaves_nothing () {
  "$RADIO" profile full --phantom 64 --runs 100000 -o int.json \
    >"$tmp/out" 2>"$tmp/err" &
  pid=$!
  waits_for has_folder
  kill "$pid"
  # As timeout(1) does: one to the process, one to its group.
  kill "$pid"
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 143 ]
  nothing_is_left
}

the_bench_prints_its_targets () {
  RADIO=$builddir/tools/bench/bench-profiler
  fails 2 "--rounds: '5' is not a number from 6" --rounds 5
  # An interval of the median needs six ratios (rd_median_interval), and a round
  # under load may give none: its empty loop took longer than the bare pair.
  runs -s s.zarr ct/one --rounds 24 --runs 6 --json
  json 'j["off"]["bar"] == 1 and j["log_ratio"]["bar"] == 1.3
        and j["box"]["ratio"]["bar"] == 1.03
        and j["whole"]["ratio"]["bar"] == 1.01
        and j["off_ns"]["median"] >= 0 and j["bare_ns"]["median"] > 0
        and j["box"]["nbytes"] == 64 ** 3 * 2
        and j["whole"]["nbytes"] == 96 ** 3 * 2
        and j["log_ratio"]["verdict"] in ("met", "unclear", "missed")
        and j["log_ratio"]["low"] <= j["log_ratio"]["value"]
        <= j["log_ratio"]["high"]'
  succeeds -s s.zarr ct/one --rounds 24 --runs 6
  says 'cost of a scope' 'x bare' 'box of 64 each way' 'whole volume' '<= 3 %'
}

names_of_terminals_are_harmless () {
  name=$(printf 'a\033[2Jb.json')
  fails 1 "a?[2Jb.json" profile show "$name"
}

# A library without its profiler cannot measure.
"$RADIO" profile roi --phantom 8 --roi 4 --runs 1 -o probe.json \
  >"$tmp/out" 2>"$tmp/err" || :
if grep -q disable-profiler "$tmp/err"; then
  skip profile "built without the profiler"
  plan
  exit 0
fi

for test in make_files \
    without_a_store_a_phantom_is_measured_and_reported \
    the_first_volume_is_measured_when_none_is_named \
    fixed_places_are_checked \
    an_ingest_of_a_phantom_leaves_nothing \
    pages_are_numbered_not_overwritten \
    files_are_overwritten_only_on_request \
    a_profile_does_not_hold_the_build_folder \
    wrong_outputs_are_refused_before_the_work \
    redacted_files_and_figures_hold_no_names \
    a_redacted_comparison_holds_no_names \
    convert_writes_every_format \
    single_runs_give_no_estimate_of_noise \
    damaged_and_foreign_files_are_refused \
    the_status_is_the_programs \
    every_status_of_the_program_keeps_its_profile \
    a_program_that_records_nothing_is_reported \
    a_profile_that_cannot_be_written_is_an_error \
    a_relative_temporary_folder_is_accepted \
    a_folder_that_would_become_a_number_is_refused \
    a_damaged_profile_takes_nothing_from_the_others \
    profiles_that_cannot_be_read_are_kept \
    signals_are_forwarded_and_nothing_is_left \
    a_program_may_exit_normally_on_a_signal \
    the_page_is_named_after_the_program \
    a_profile_that_cannot_be_written_is_saved \
    the_environment_changes_no_status \
    a_command_that_failed_says_so_first_in_its_profile \
    measurements_ignore_the_environment \
    a_profiled_program_looks_for_no_slow_runs \
    a_command_writes_its_slow_runs \
    an_interrupted_measurement_leaves_nothing \
    a_command_that_cannot_be_run_again_is_an_error \
    a_recording_runs_no_other_command \
    names_of_terminals_are_harmless; do
  check $test
done
for test in the_figures_are_of_the_runs \
    the_tree_has_the_runs \
    planes_boxes_and_volumes_have_their_bytes \
    cold_runs_are_cold_or_a_message_says_so \
    an_ingest_is_measured_beside_the_store \
    a_sweep_gives_a_curve \
    the_file_of_a_curve_is_checked_before_the_work \
    a_curve_is_written_whole_or_not_at_all \
    default_sizes_are_those_that_fit \
    show_prints_what_was_measured \
    merge_prints_ranks_and_imbalance \
    equal_profiles_differ_by_noise_only \
    a_slower_operation_is_seen_and_fails_the_check \
    a_renamed_operation_is_unclear \
    a_comparison_is_written_as_a_page \
    two_commands_are_measured_in_turn \
    the_pipeline_of_each_is_applied \
    other_measurements_are_compared_in_turn \
    rounds_under_different_conditions_are_run_again \
    an_unclear_answer_does_not_propose_what_was_done \
    profiles_that_cannot_be_joined_are_kept \
    a_wrapped_program_is_recorded \
    children_are_joined \
    every_command_honours_the_environment \
    all_steps_of_a_command_are_in_its_scope \
    the_bench_prints_its_targets; do
  check_json $test
done
mkdir probe
if mount -t tmpfs none probe 2>/dev/null; then
  umount probe
  check a_full_disk_loses_nothing
  check a_full_temporary_folder_is_an_error
else
  skip a_full_disk_loses_nothing "no file system can be mounted"
  skip a_full_temporary_folder_is_an_error \
    "no file system can be mounted"
fi
plan
