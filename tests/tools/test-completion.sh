#!/bin/sh
# SPDX-License-Identifier: MIT
# Completion for bash, called as bash calls it.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/command.sh"

script=$srcdir/tools/completion/radio.bash
bash=$(command -v bash) || bash=

# completes WANTED WORD...: the last word is being typed; WANTED is all that
# is offered, sorted, in one line.
completes () {
  wanted=$1
  shift
  got=$("$bash" -c '
    script=$1 radio=$2
    shift 2
    . "$script"
    COMP_WORDS=(radio "$@") COMP_CWORD=$#
    COMP_LINE="radio $*" COMP_POINT=${#COMP_LINE}
    _radio "$radio" "${COMP_WORDS[COMP_CWORD]}" \
      "${COMP_WORDS[COMP_CWORD - 1]}"
    printf "%s\n" "${COMPREPLY[@]}" | LC_ALL=C sort | tr "\n" " "
  ' bash "$script" "$RADIO" "$@")
  [ "$got" = "$wanted " ] && return 0
  echo "radio $*: offered '$got', expected '$wanted'"
  return 1
}

the_script_parses () {
  "$bash" -n "$script"
}

commands_are_completed () {
  completes 'index info ingest' in
  completes 'slice split stats' s
  completes 'validate' help v
  completes '--help --version' --
}

options_are_those_of_the_help () {
  completes '--json' info --j
  completes '--single-writer --skip-existing --spacing --store --strip' \
    ingest --s
  completes '--head --help --json --long --sample --seed --store --subject '\
'--where -h -l -s' ls -
}

words_of_options_are_completed () {
  completes 'axial coronal sagittal' slice a --axis ''
  completes 'coronal' slice a --axis = c
  completes 'nearest' slice a --interpolate n
  completes 'lung' slice a --window l
  completes 'balanced' ingest --tiling b
  completes 'bids msd nnunet' ingest --layout ''
  completes 'fast' phantom --codec f
}

sub_commands_are_completed () {
  completes 'show slice sweep' profile s
  completes 'compare' bench c
  completes 'ops' bench o
  completes '--ops' bench ops --op
  completes 'int16 int32 int8' bench ops --types i
  completes 'ingest' profile i
  completes 'merge' help profile m
  completes '--redact --redact-key' profile show x.json --r
  completes '--redact --redact-key --roi --runs' profile slice --r
  completes 'sagittal' profile slice --axis s
  completes 'ranks runs' profile merge a.json --as ''
}

arguments_of_sub_commands_are_completed () {
  "$RADIO" phantom -s p.zarr ct/one --size 8 >/dev/null
  touch run1.json run2.json
  completes 'ct/one' profile slice -s p.zarr c
  completes 'run1.json run2.json' profile merge ru
  completes 'run1.json run2.json' diff ru
  completes 'run1.json' profile -- cat run1
  completes 'run1.json' bench run1
  completes 'run1.json run2.json' bench compare ru
  completes '--rounds --rows --runs' bench run1.json --r
  completes '--json' bench compare --j
  completes 'numpy' bench run1.json --destination n
}

volumes_of_the_store_are_completed () {
  "$RADIO" phantom -s c.zarr ct/one --size 8 >/dev/null
  "$RADIO" phantom -s c.zarr mr/two --size 8 >/dev/null
  completes 'ct ct/one mr mr/two' info -s c.zarr ''
  completes 'mr/two' slice --store = c.zarr m
  completes 'ct ct/one mr mr/two' ls -s c.zarr ''
  export RADIO_STORE=c.zarr
  completes 'ct ct/one' stats c
  completes 'nii nii.gz npy' export ct -o f --format n
  completes 'ct mr' ingest -c ''
}

files_are_completed_where_they_are_wanted () {
  touch scan1.nii scan2.nii
  completes 'scan1.nii scan2.nii' ingest sc
  completes 'scan1.nii scan2.nii' export a -o sc
}

if [ -n "$bash" ]; then
  check the_script_parses
  check commands_are_completed
  check options_are_those_of_the_help
  check words_of_options_are_completed
  check sub_commands_are_completed
  check arguments_of_sub_commands_are_completed
  check volumes_of_the_store_are_completed
  check files_are_completed_where_they_are_wanted
else
  skip completion "no bash"
fi
if command -v zsh >/dev/null; then
  check zsh -n "$srcdir/tools/completion/_radio"
else
  skip the_zsh_function_parses "no zsh"
fi
plan
