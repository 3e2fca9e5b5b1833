# Completion of pace for bash: source <(pace completion bash)

_pace()
{
	local rest=${COMP_LINE:0:COMP_POINT} word i breaks= cut= directive line
	local -a words=() starts=() answer=() found=()

	# bash breaks words at ':' and '=': parts without a blank between them are one word.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i)) && [[ -z $rest || $rest != [[:space:]]* ]]; then
			((i == COMP_CWORD)) && word=$rest
			words[${#words[@]} - 1]+=$word
		else
			rest=${rest#"${rest%%[![:space:]]*}"}
			((i == COMP_CWORD)) && word=$rest
			words+=("$word")
			starts+=("$i")
		fi
		rest=${rest#"$word"}
	done
	word=${words[${#words[@]} - 1]}
	mapfile -t answer < <("${words[0]/#\~/$HOME}" completion --words -- "${words[@]:1}" 2>/dev/null)
	((${#answer[@]})) || return
	directive=${answer[${#answer[@]} - 1]}
	unset "answer[${#answer[@]} - 1]"
	# What readline replaces begins after the last of them.
	[[ $COMP_WORDBREAKS == *:* ]] && breaks+=:
	[[ $COMP_WORDBREAKS == *=* ]] && breaks+==
	[[ $breaks ]] && cut=${word%"${word##*["$breaks"]}"}
	COMPREPLY=()
	for line in "${answer[@]}"; do
		line=${line%%$'\t'*}
		line=${line#"$cut"}
		[[ $line == *[[:space:]\<\>\(\)\&\;\|\*\'\"\$\`]* ]] && printf -v line %q "$line"
		COMPREPLY+=("$line")
	done
	[[ $word == --*=* ]] && word=${word#*=}
	case $directive in
	:list)
		compopt -o nospace 2>/dev/null
		;;
	:files | :folders)
		compopt -o filenames 2>/dev/null
		[[ $directive == :files ]] && i=-f || i=-d
		mapfile -t found < <(compgen "$i" -- "$word")
		COMPREPLY+=("${found[@]}")
		;;
	:command*)
		i=$((${directive#:command } + 1))
		if ((i == ${#words[@]} - 1)); then
			mapfile -t found < <(compgen -c -- "$word")
			COMPREPLY+=("${found[@]}")
		elif declare -F _command_offset >/dev/null; then
			_command_offset "${starts[i]}"
		else
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		;;
	esac
}

complete -F _pace pace
