# Completion of kubectl-crdx in bash: source <(kubectl-crdx completion bash)

_kubectl_crdx() {
    local line=${COMP_LINE:0:${COMP_POINT:-${#COMP_LINE}}} words=() count=0 word i
    [[ -n $COMP_LINE ]] || line="${COMP_WORDS[*]:0:COMP_CWORD+1}"
    # bash also divides words at these characters: join what has no space between.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $line != [[:space:]]* ]]; then
            words[count - 1]+=$word
        else
            words[count]=$word
            count=$((count + 1))
        fi
        line=${line#"${line%%[![:space:]]*}"}
        line=${line#"$word"}
    done
    local last=${words[count - 1]} arguments=()
    for ((i = 1; i < count; i++)); do
        word=${words[i]//[\"\'\\]/}
        case $word in "~/"*) word=$HOME/${word#"~/"} ;; esac
        arguments[i]=$word
    done

    local answer directive=0
    COMPREPLY=()
    # The part of the word that bash does not replace.
    local kept=${last%"${last##*[=:@]}"} candidates=()
    answer=$("${words[0]}" __complete -- "${arguments[@]}" 2>/dev/null) || return
    while IFS= read -r word; do
        case $word in
            :*) directive=${word#:} ;;
            ?*)
                word=${word%%$'\t'*}
                candidates+=("${word#"$kept"}")
                ;;
        esac
    done <<<"$answer"

    local files=
    if ((${#candidates[@]} == 0 && directive & 16)); then files=-d; fi
    if ((${#candidates[@]} == 0 && (directive & 20) == 0)); then files=-f; fi
    if [[ -n $files ]]; then
        while IFS= read -r word; do
            candidates+=("${word#"${kept##*=}"}")
        done < <(compgen "$files" -- "${last#"${last%%=*}="}")
        compopt -o filenames 2>/dev/null
    else
        compopt +o default 2>/dev/null
    fi
    if ((directive & 2)); then compopt -o nospace 2>/dev/null; fi
    COMPREPLY=("${candidates[@]}")
}

complete -o default -F _kubectl_crdx kubectl-crdx
