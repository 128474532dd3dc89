# Completion of stepsim's command line in fish: the program itself says what may follow.
function __stepsim_words
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    $words[1] complete -- $words[2..] (commandline --current-token --cut-at-cursor) 2>/dev/null
end
complete --command stepsim --arguments '(__stepsim_words)'
# Files stand only where the program knows no word.
complete --command stepsim --no-files --condition 'count (__stepsim_words) >/dev/null'
