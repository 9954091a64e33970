#compdef kubectl-crdx
# Completion of kubectl-crdx in zsh: source <(kubectl-crdx completion zsh), or write it to a file _kubectl-crdx in a
# directory of $fpath.

_kubectl-crdx() {
    local answer line directive=0
    local -a candidates suffix
    answer=$("${words[1]}" __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null) || return 1
    for line in "${(@f)answer}"; do
        case $line in
            :*) directive=${line#:} ;;
            *$'\t'*) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            ?*) candidates+=("${line//:/\\:}") ;;
        esac
    done
    if (( $#candidates )); then
        (( directive & 2 )) && suffix=(-S '')
        _describe -V 'candidates' candidates "$suffix[@]"
    elif (( directive & 16 )); then
        compset -P '--*='
        _files -/
    elif (( ! (directive & 4) )); then
        compset -P '--*='
        _files
    fi
}

if [ "$funcstack[1]" = "_kubectl-crdx" ]; then
    _kubectl-crdx "$@"
else
    compdef _kubectl-crdx kubectl-crdx
fi
