import { Argument, type Command } from 'commander';
import { action, type Session } from '../program.js';

const SHELLS = ['bash', 'zsh'] as const;
type Shell = (typeof SHELLS)[number];

/** The functions with which each shell completes the words before the cursor. */
const ADAPTERS: Readonly<Record<Shell, string>> = {
  bash: `_mcs() {
  _mcs_candidates "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _mcs mcs`,
  zsh: `_mcs() {
  _mcs_candidates "\${(@)words[2,CURRENT-1]}"
  compadd -- \${=candidates} || _files
}
compdef _mcs mcs`,
};

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script with which a shell completes commands and options')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(action((session, _options, shell = 'bash') => print(session, program, shell as Shell)));
}

async function print({ output }: Session, program: Command, shell: Shell): Promise<void> {
  const script = `${candidatesFunction(program)}\n${ADAPTERS[shell]}`;
  output.result({ shell, script }, ...script.split('\n'));
}

/** Returns a function for both shells, which sets `candidates` to what can follow the words. */
function candidatesFunction(program: Command): string {
  const commands = withPaths(program, '');
  return `_mcs_candidates() {
  local word at=
  for word in "$@"; do
    case "$at $word" in
${commands
  .slice(1)
  .map(([path]) => `      '${path}') at='${path}' ;;`)
  .join('\n')}
    esac
  done
  case "$at" in
${commands.map(([path, command]) => `    '${path}') candidates='${wordsOf(command, program).join(' ')}' ;;`).join('\n')}
  esac
}`;
}

function withPaths(command: Command, path: string): [path: string, command: Command][] {
  return [
    [path, command],
    ...command.commands.flatMap((child) => withPaths(child, `${path} ${child.name()}`)),
  ];
}

function wordsOf(command: Command, program: Command): string[] {
  const options = new Set([...command.options, ...program.options].map(({ long }) => long));
  return [...command.commands.map((child) => child.name()), ...options, '--help'].filter(
    (word) => word != null,
  );
}
