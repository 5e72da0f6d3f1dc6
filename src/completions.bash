# Completions of stream_compaction_test in bash. The program itself says which options and names it knows.
_stream_compaction_test() {
    # Bash breaks words at = and :, and this does not.
    local line=${COMP_LINE:0:COMP_POINT} words=() choices=() choice before=''
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    local program=${words[0]} current=${words[-1]} option=${words[-2]}
    if [[ $current == --*=* ]]; then
        option=${current%%=*}
        before=$option=
    fi
    case $option in
        --op | --type | --variant | --hardware | --input | --mode)
            # Asked for a name that it does not know, it lists those that it does.
            read -ra choices <<<"$("$program" --list "$option" '?' 2>&1 |
                sed -n 's/:[KP],/:,/g; s/:[KP]$/:/; s/,//g; s/.*: expected //p')"
            local value=${current#"$before"}
            before+=${value%"${value##*,}"}
            [[ ${current#"$before"} == ^* ]] && choices=("${choices[@]/#/^}")
            compopt -o nospace 2>/dev/null
            ;;
        *)
            compopt -o default 2>/dev/null  # names of files
            local command=()
            [[ ${words[1]} == compare ]] && command=(compare)
            [[ ${#words[@]} -eq 2 ]] && choices=(compare)
            [[ $current == -* ]] &&
                read -ra choices -d '' <<<"$("$program" "${command[@]}" --help |
                    grep -oE '^  (-h,)?--[a-z-]+' | sed 's/.*,//')"
            ;;
    esac
    local breaks=${COMP_WORDBREAKS//[^:=]/} replaced=$current
    [[ $breaks ]] && replaced=${current##*["$breaks"]}
    for choice in "${choices[@]}"; do
        choice=$before$choice
        [[ $choice == "$current"* ]] && COMPREPLY+=("${choice#"${current%"$replaced"}"}")
    done
}
complete -F _stream_compaction_test stream_compaction_test
