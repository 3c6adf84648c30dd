import { Argument, type Command } from 'commander';
import { action, type Session } from '../program.js';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof SHELLS)[number];

/** The functions with which each shell completes the words before the cursor. */
const ADAPTERS: Readonly<Record<'bash' | 'zsh', string>> = {
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
  const script =
    shell === 'fish'
      ? fishScript(program)
      : shell === 'powershell'
        ? powerShellScript(program)
        : `${candidatesFunction(program)}\n${ADAPTERS[shell]}`;
  output.result({ shell, script }, ...script.split('\n'));
}

/** In fish, a function prints what can follow the words. */
function fishScript(program: Command): string {
  const commands = withPaths(program, '');
  return `function __mcs_candidates
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at $word"
${commands
  .slice(1)
  .map(([path]) => `      case '${path}'; set at '${path}'`)
  .join('\n')}
    end
  end
  switch "$at"
${commands.map(([path, command]) => `    case '${path}'; printf '%s\\n' ${wordsOf(command, program).join(' ')}`).join('\n')}
  end
end
complete -c mcs -a '(__mcs_candidates)'`;
}

function powerShellScript(program: Command): string {
  const commands = withPaths(program, '');
  return `Register-ArgumentCompleter -Native -CommandName mcs -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $candidates = @{
${commands.map(([path, command]) => `    '${path}' = '${wordsOf(command, program).join(' ')}'`).join('\n')}
  }
  $at = ''
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    if ($element.Extent.EndOffset -lt $cursorPosition -and $candidates.ContainsKey("$at $element")) { $at = "$at $element" }
  }
  $candidates[$at] -split ' ' | Where-Object { $_ -like "$wordToComplete*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}`;
}

/** Returns a function for bash and zsh, which sets `candidates` to what can follow the words. */
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
