# SPDX-License-Identifier: MIT
# Completion of radio for bash: commands, their options as --help has them,
# the words that an option takes, and the volumes of the store.

# The options of a command or sub-command, from its help.
_radio_options () {
  "$1" help "${@:2}" 2>/dev/null | sed -n \
    's/^ *\(\(-[a-zA-Z]\), \)\{0,1\}\(--[a-z-]*\).*/\2 \3/p'
}

_radio_commands () {
  "$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
  echo help
}

# The sub-commands of "profile" and "bench", from the help.
_radio_subs () {
  "$1" help "$2" 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The volumes of the store that the line names, or of the default one.
# "--store=NAME" comes as three words, as bash breaks them at the equals
# sign.
_radio_volumes () {
  local i store=()
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -s | --store)
        store=(-s "${COMP_WORDS[i + 1]}")
        [[ ${store[1]} != "=" ]] || store=(-s "${COMP_WORDS[i + 2]}")
        ;;
    esac
  done
  "$1" ls "${store[@]}" 2>/dev/null
}

_radio_collections () {
  _radio_volumes "$1" | sed -n 's|/[^/]*$||p' | sort -u
}

# The values of an option; fails when they are not known.
_radio_values () {
  case $2 in
    --axis) echo axial coronal sagittal ;;
    --interpolate) echo nearest linear ;;
    --collection-from) echo name folder ;;
    --layout) echo bids msd nnunet ;;
    --part) echo auto ;;
    --format) echo nii.gz nii npy ;;
    --tiling) echo balanced axial isotropic ;;
    --codec) echo small medium fast none ;;
    --window) echo brain bone lung soft ;;
    --as) echo ranks runs ;;
    --destination) echo fresh numpy reused ;;
    --types) echo float32 float64 int16 int32 int8 uint16 uint8 ;;
    -c | --collection | --complete | --masks | --mask) _radio_collections "$1" ;;
    --like) _radio_volumes "$1" ;;
    *) return 1 ;;
  esac
}

# Options whose value is a file or a folder.
_radio_takes_value () {
  case $1 in
    -s | --store | --to | -o | --output | --redact-key | --csv | --affine | \
      --table | --import | --subjects-key | \
      --against) return 0 ;;
  esac
  return 1
}

_radio_reply () {
  local IFS=$' \t\n'
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_radio_files () {
  compopt -o filenames 2>/dev/null
  local IFS=$'\n'
  COMPREPLY+=($(compgen -f -- "$1"))
}

# The operands of a command.
_radio_operands () {
  case $2 in
    ingest | diff | bench | "bench compare" | "profile ingest" | \
      "profile merge" | "profile show" | "profile convert" | \
      "profile recover")
      _radio_files "$3"
      ;;
    phantom | gc | split | "bench ops") ;;
    table) _radio_reply "subjects $(_radio_collections "$1")" "$3" ;;
    index | check) _radio_reply "$(_radio_collections "$1")" "$3" ;;
    apply | cp)
      _radio_reply "$(_radio_collections "$1") $(_radio_volumes "$1")" "$3"
      _radio_files "$3"
      ;;
    ls | info | export | roi | stats | validate | mv | rm)
      _radio_reply "$(_radio_collections "$1") $(_radio_volumes "$1")" "$3"
      [[ ${#COMPREPLY[@]} -gt 0 ]] || _radio_files "$3"
      ;;
    *)
      _radio_reply "$(_radio_volumes "$1")" "$3"
      # Arrays, and volumes elsewhere, are named by path.
      [[ ${#COMPREPLY[@]} -gt 0 ]] || _radio_files "$3"
      ;;
  esac
}

# True after "profile ... --", where another command follows.
_radio_wraps () {
  local i
  [[ ${COMP_WORDS[1]-} == profile ]] || return 1
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} != -- ]] || return 0
  done
  return 1
}

_radio () {
  local radio=$1 word=$2 before=$3 values
  local command=${COMP_WORDS[1]-} subs=
  if [[ $command == profile || $command == bench ]]; then
    subs=$(_radio_subs "$radio" "$command")
    # The operands of bench may be there as well.
    if [[ $COMP_CWORD -gt 2 && ${COMP_WORDS[2]-} != -* &&
          ($command == profile ||
           " ${subs//$'\n'/ } " == *" ${COMP_WORDS[2]} "*) ]]; then
      command="$command ${COMP_WORDS[2]}"
    fi
  fi
  COMPREPLY=()
  # "--axis=c" comes as three words.
  if [[ $word == "=" ]]; then
    word=
  elif [[ $before == "=" ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    _radio_reply "$(_radio_commands "$radio") --help --version" "$word"
  elif [[ $command == help && $COMP_CWORD -eq 3 ]]; then
    _radio_reply "$(_radio_subs "$radio" "${COMP_WORDS[2]}")" "$word"
  elif [[ $command == help ]]; then
    _radio_reply "$(_radio_commands "$radio")" "$word"
  elif _radio_wraps; then
    COMPREPLY=($(compgen -c -- "$word"))
    _radio_files "$word"
  elif values=$(_radio_values "$radio" "$before"); then
    _radio_reply "$values" "$word"
  elif _radio_takes_value "$before"; then
    _radio_files "$word"
  elif [[ $word == -* ]]; then
    # Two words for a sub-command.
    _radio_reply "$(_radio_options "$radio" $command)" "$word"
  elif [[ -n $subs && $COMP_CWORD -eq 2 ]]; then
    _radio_reply "$subs" "$word"
    [[ $command != bench ]] || _radio_files "$word"
  else
    _radio_operands "$radio" "$command" "$word"
  fi
}

complete -F _radio radio
