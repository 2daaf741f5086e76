/** Scripts that complete the program's words in a shell. They hold the words themselves: no process is started for a
 *  key that is pressed. */
import type { Place, Word } from "./tree.ts";

/** Text between single quotes, for bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** The same for fish, where a backslash counts between quotes. */
const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
const wordsOf = ({ commands, options }: Place): readonly Word[] => [...commands, ...options];
const names = (words: readonly Word[]): string => words.map(({ word }) => word).join(" ");
/** Paths that a word can lead to, as patterns of `case`. */
const steps = (places: readonly Place[]): string =>
  places
    .slice(1)
    .map(({ path }) => quoted(path))
    .join("|");

/** Bash and zsh find the place in the same way: each word that names a command leads on, all others are passed. */
const walk = (places: readonly Place[], words: string): string => `  local place="" word
  for word in ${words}; do
    case "\${place:+$place }$word" in
      ${steps(places)}) place="\${place:+$place }$word" ;;
    esac
  done`;

export function bashScript(places: readonly Place[]): string {
  const cases = places.map(
    (place) =>
      `    ${quoted(place.path)}) words=${quoted(names(wordsOf(place)))}; valued=${quoted(place.valued.join(" "))} ;;`,
  );
  return `# bash completion of assay: source this file, or write it to the folder of bash-completion
_assay() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" words valued
${walk(places, `"\${COMP_WORDS[@]:1:COMP_CWORD - 1}"`)}
  case "$place" in
${cases.join("\n")}
  esac
  COMPREPLY=()
  # What follows is a value: the shell offers files.
  case " $valued " in *" $previous "*) return ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _assay assay
`;
}

export function zshScript(places: readonly Place[]): string {
  const described = ({ word, description }: Word): string =>
    quoted(`${word.replaceAll(":", "\\:")}:${description.replaceAll(":", "\\:")}`);
  const cases = places.map(
    (place) =>
      `    ${quoted(place.path)}) described=(${wordsOf(place).map(described).join(" ")}); valued=${quoted(place.valued.join(" "))} ;;`,
  );
  return `#compdef assay
# zsh completion of assay: write it to a folder of $fpath as _assay
_assay() {
  local -a described
  local valued
${walk(places, `"\${(@)words[2,CURRENT-1]}"`)}
  case "$place" in
${cases.join("\n")}
  esac
  # What follows is a value: the shell offers files.
  if [[ " $valued " == *" \${words[CURRENT-1]} "* ]]; then _files; return; fi
  _describe assay described || _files
}
compdef _assay assay
`;
}

export function fishScript(places: readonly Place[]): string {
  const paths = places.slice(1).map(({ path }) => fishQuoted(path));
  const lines = places.flatMap((place) => {
    const here = `-n ${fishQuoted(`test "$(__assay_place)" = "${place.path}"`)}`;
    return [
      ...place.commands.map(
        ({ word, description }) => `complete -c assay -f ${here} -a ${word} -d ${fishQuoted(description)}`,
      ),
      ...place.options.map(({ word, description }) => {
        const takes = place.valued.includes(word) ? "-r " : "";
        return `complete -c assay ${here} ${takes}-l ${word.slice(2)} -d ${fishQuoted(description)}`;
      }),
    ];
  });
  return `# fish completion of assay: write it to ~/.config/fish/completions/assay.fish
function __assay_place
  set -l place ""
  for word in (commandline -opc)[2..-1]
    set -l next (string trim "$place $word")
    if contains -- "$next" ${paths.join(" ")}
      set place $next
    end
  end
  echo $place
end
${lines.join("\n")}
`;
}
