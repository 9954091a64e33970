# Completion of kubectl-crdx in fish: kubectl-crdx completion fish | source

function __kubectl_crdx_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l last (commandline --current-token --cut-at-cursor)
    set -l lines ($words[1] __complete -- $words[2..-1] "$last" 2>/dev/null)
    test (count $lines) -gt 0; or return
    set -l directive (string replace ':' '' -- $lines[-1])
    set -e lines[-1]
    if test (count $lines) -gt 0
        printf '%s\n' $lines
        return
    end
    # The name of a flag is not a part of the path.
    set -l flag (string match --regex -- '^--[^=]*=' "$last")
    set -l path (string sub --start (math (string length -- "$flag") + 1) -- "$last")
    if test (math "floor($directive / 16) % 2") -eq 1
        string replace --regex -- '^' "$flag" (__fish_complete_directories "$path")
    else if test (math "floor($directive / 4) % 2") -eq 0
        string replace --regex -- '^' "$flag" (__fish_complete_path "$path")
    end
end

complete --command kubectl-crdx --no-files --arguments '(__kubectl_crdx_complete)'
