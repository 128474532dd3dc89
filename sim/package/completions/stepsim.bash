# Completion of stepsim's command line in bash: the program itself says what may follow.
_stepsim() {
  local words=() i typed
  # Readline cuts words at = and :, which are parts of stepsim's.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:]* || ${COMP_WORDS[i - 1]} == *[=:] ]]; then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  # What readline leaves in its place: all of the word but its last piece.
  typed=${COMP_WORDS[COMP_CWORD]#[=:]}
  mapfile -t COMPREPLY < <("$1" complete -- "${words[@]}" 2>/dev/null | cut -f1)
  COMPREPLY=("${COMPREPLY[@]#"${words[-1]%"$typed"}"}")
  if [[ ${COMPREPLY[0]-} == *[.=] ]]; then compopt -o nospace; fi
}
complete -o default -F _stepsim stepsim
