#compdef pace
# Completion of pace for zsh: source <(pace completion zsh), after compinit

_pace()
{
	local line word directive
	local -a answer rows space

	answer=("${(@f)$("${(Q)words[1]/#\~/$HOME}" completion --words -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
	directive=$answer[-1]
	answer[-1]=()
	for line in "${(@)answer}"; do
		word=${line%%$'\t'*}
		rows+=("${word//:/\\:}:${line#*$'\t'}")
	done
	[[ $directive == :list ]] && space=(-S '')
	(($#rows)) && _describe pace rows $space
	case $directive in
	:files | :folders)
		[[ $PREFIX == --*=* ]] && compset -P '*='
		[[ $directive == :files ]] && _files || _files -/
		;;
	:command*)
		word=${directive#:command }
		words=("${(@)words[word+2,-1]}")
		((CURRENT -= word + 1))
		_normal
		;;
	esac
}

if [[ $funcstack[1] == _pace ]]; then
	_pace "$@"
else
	compdef _pace pace
fi
