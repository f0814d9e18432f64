/** `holdfast completion SHELL`: scripts that complete commands, options and the manager's flags. */
import { KINDS, SECTIONS } from '../options/index.ts';
import { COMMANDS, SHELLS } from './commands.ts';
import { type CliPorts, type OptionRow, UsageFault } from './ports.ts';
import { STATE_COMMANDS } from './state/commands.ts';

/** The words that may follow some first words. */
interface Step {
  /** Words before, e.g. "state journal"; "" for none. */
  readonly after: string;
  readonly words: readonly { readonly word: string; readonly about: string }[];
}

function optionWords(options: readonly OptionRow[]) {
  return options.map(({ name, help }) => ({ word: `--${name}`, about: help }));
}

function managerFlags() {
  return SECTIONS.flatMap(({ rows }) => rows)
    .filter(({ deprecated }) => deprecated === undefined)
    .map(({ name, kind, help }) => ({
      word: KINDS[kind].bare === undefined ? `--${name}=` : `--${name}`,
      about: help.split('\n')[0] ?? '',
    }))
    .sort((a, b) => (a.word < b.word ? -1 : 1));
}

function commandWords(commands: readonly { name: string; summary: string }[]) {
  return commands.map(({ name, summary }) => ({ word: name, about: summary }));
}

function steps(): Step[] {
  const flags = managerFlags();
  const named = (after: string) => COMMANDS.find(({ name }) => name === after)?.options ?? [];
  return [
    { after: '', words: [...commandWords(COMMANDS), ...flags] },
    { after: 'run', words: flags },
    { after: 'config', words: [...optionWords(named('config')), ...flags] },
    { after: 'version', words: optionWords(named('version')) },
    { after: 'completion', words: SHELLS.map((word) => ({ word, about: `for ${word}` })) },
    { after: 'help', words: commandWords(COMMANDS) },
    { after: 'help state', words: commandWords(STATE_COMMANDS) },
    { after: 'state', words: commandWords(STATE_COMMANDS) },
    ...STATE_COMMANDS.map(({ name, options }) => ({
      after: `state ${name}`,
      words: optionWords(options),
    })),
  ];
}

/** In single quotes for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function functionName(program: string): string {
  return `_${program.replace(/\W/g, '_')}`;
}

/** The case arms that set what may follow; the longest match of first words wins. */
function arms(line: (step: Step) => string): string {
  return steps()
    .sort((a, b) => b.after.length - a.after.length)
    .map((step) => `    ${quoted(step.after)}) ${line(step)} ;;\n`)
    .join('');
}

function bashScript(program: string): string {
  const name = functionName(program);
  const cases = arms(({ words }) => `words=${quoted(words.map(({ word }) => word).join(' '))}`);
  return `# bash completion for ${program}: source <(${program} completion bash)
${name}() {
  local current="\${COMP_LINE:0:COMP_POINT}" words='' path=''
  current="\${current##*[[:space:]]}"
  local word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*|=) break ;; esac
    path="\${path:+$path }$word"
  done
  case "$path" in state\\ *\\ *) path="\${path% *}" ;; esac
  case "$path" in
${cases}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *= ]]; then compopt -o nospace; fi
}
complete -o default -F ${name} ${program}
`;
}

function zshScript(program: string): string {
  const name = functionName(program);
  const item = ({ word, about }: Step['words'][number]) =>
    quoted(`${word.replaceAll(':', '\\:')}:${about.replaceAll(':', '\\:')}`);
  const cases = arms(({ words }) => `items=(${words.map(item).join(' ')})`);
  return `#compdef ${program}
# zsh completion for ${program}: put it on $fpath as _${program}, or source it
${name}() {
  local -a items
  local path_words='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] && break
    path_words="\${path_words:+$path_words }$word"
  done
  [[ "$path_words" == state\\ *\\ * ]] && path_words="\${path_words% *}"
  case "$path_words" in
${cases}  esac
  _describe -t commands ${quoted(program)} items -S ''
}
if [[ "\${funcstack[1]}" == "${name}" ]]; then ${name}; else compdef ${name} ${program}; fi
`;
}

function fishScript(program: string): string {
  const test = `${functionName(program)}_after`;
  const lines = steps().flatMap(({ after, words }) =>
    words.map(({ word, about }) => {
      const condition = quoted(`${test} ${quoted(after)}`);
      return `complete -c ${program} -f -n ${condition} -a ${quoted(word)} -d ${quoted(about)}`;
    }),
  );
  return `# fish completion for ${program}: ${program} completion fish | source
function ${test}
    set -l path
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; and break
        set -a path $word
    end
    if test "$path[1]" = state; and test (count $path) -gt 2
        set path $path[1..2]
    end
    test "$path" = "$argv"
end
${lines.join('\n')}
`;
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The completion script for a shell. Throws UsageFault for a shell that isn't known. */
export function completionScript(argv: readonly string[], ports: CliPorts): string {
  const [wanted] = argv;
  const shell = SHELLS.find((name) => name === wanted);
  if (shell !== undefined && argv.length === 1) return SCRIPTS[shell](ports.program);
  const found = argv.length === 0 ? 'which shell?' : `not ${JSON.stringify(argv.join(' '))}:`;
  throw new UsageFault(`${found} valid are: ${SHELLS.join(', ')}`);
}
