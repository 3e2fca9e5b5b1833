# Completion of pace for fish: pace completion fish | source

function __pace_complete
	set -l words (commandline -opc)
	set -l word (commandline -ct)
	set -l answer ($words[1] completion --words -- $words[2..-1] "$word" 2>/dev/null)
	set -q answer[1]; or return
	set -l directive $answer[-1]
	set -e answer[-1]
	set -q answer[1]; and printf '%s\n' $answer
	switch $directive
		case :files :folders
			set -l head (string match -r -- '^--[^=]*=' "$word")
			set -l paths (complete -C "__pace_no_command "(string replace -r -- '^--[^=]*=' '' "$word"))
			test $directive = :folders; and set paths (string match -- '*/' $paths)
			set -q paths[1]; and printf '%s\n' "$head"$paths
		case ':command*'
			set -l first (math (string replace ':command ' '' $directive) + 2)
			complete -C (string join ' ' -- $words[$first..-1] "$word")
	end
end

complete -c pace -f -a '(__pace_complete)'
