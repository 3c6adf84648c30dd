import { Command, CommanderError } from 'commander';
import { addAccounts } from './commands/accounts.js';
import { addAgent } from './commands/agent.js';
import { addAgents } from './commands/agents.js';
import { addApi } from './commands/api.js';
import { addAudit } from './commands/audit.js';
import { addCompletion } from './commands/completion.js';
import { addDetected } from './commands/detected.js';
import { addEndpoints } from './commands/endpoints.js';
import { addEvents } from './commands/events.js';
import { addLinks } from './commands/links.js';
import { addListen } from './commands/listen.js';
import { addLogin } from './commands/login.js';
import { addLogs } from './commands/logs.js';
import { addMerchants } from './commands/merchants.js';
import { addProfiles } from './commands/profiles.js';
import { addSandbox } from './commands/sandbox.js';
import { addSessions } from './commands/sessions.js';
import { addTokens } from './commands/tokens.js';
import { addTrigger } from './commands/trigger.js';
import { addUsers } from './commands/users.js';
import { addVerify } from './commands/verify.js';
import { EXIT, Failure } from './failures.js';
import { Output } from './output.js';
import packageFile from '../package.json' with { type: 'json' };

const output = new Output(process.argv.includes('--json'));

const program = new Command('mcs')
  .description('Command line of the Merchant Connectivity Service.')
  .version(packageFile.version)
  .option('--profile <name>', 'profile to use (MCS_PROFILE)')
  .option('--base-url <url>', 'address of the platform API (MCS_BASE_URL)')
  .option('--dashboard-url <url>', 'address of the dashboard API, if it has its own (MCS_DASHBOARD_URL)')
  .option('--json', 'print JSON')
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({
    // Reported below, like every failure.
    outputError: () => undefined,
    writeErr: (help) => void (output.isJson || process.stderr.write(help)),
  })
  .addHelpText(
    'after',
    `
Credentials of an API client come from MCS_CLIENT_ID, and MCS_API_KEY or MCS_CLIENT_SECRET, or from mcs login --credentials.
Exit codes: 0 success, 1 failure, 2 wrong usage, 4 not logged in.`,
  )
  .exitOverride();

for (const add of [
  addLogin,
  addProfiles,
  addTokens,
  addSessions,
  addAgent,
  addAgents,
  addLinks,
  addMerchants,
  addAccounts,
  addDetected,
  addSandbox,
  addTrigger,
  addListen,
  addEvents,
  addEndpoints,
  addLogs,
  addAudit,
  addUsers,
  addApi,
  addVerify,
  addCompletion,
])
  add(program);

// A reader that has read enough, such as `head`, closes the pipe. Output that is lost in another way is a failure.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0);
  const reason = code === 'ENOSPC' ? 'the disk is full' : message;
  process.exit(output.failure(new Failure(`The output cannot be written: ${reason}.`)));
});

/** Ends with the command, for programs that load this one. */
export const ended = program.parseAsync().catch((error: unknown) => {
  if (!(error instanceof CommanderError)) process.exitCode = output.failure(error);
  else if (error.exitCode !== 0) process.exitCode = reportUsage(error);
});

/** @returns the exit code */
function reportUsage({ code, message }: CommanderError): number {
  // Without a subcommand, commander has printed the help.
  if (code === 'commander.help' && !output.isJson) return EXIT.usage;
  const text = code === 'commander.help' ? 'Give a command.' : message.replace(/^error: /, '');
  const sentence = text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase()).replace(/\n/g, '. ');
  return output.failure(
    new Failure(
      sentence,
      EXIT.usage,
      `Run ${[...commandOf(process.argv.slice(2)), '--help'].join(' ')} for help.`,
    ),
  );
}

/** Returns the words of the command that the arguments name, as far as they are right. */
function commandOf(words: readonly string[]): string[] {
  const path = ['mcs'];
  let command: Command = program;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (!next) continue;
    command = next;
    path.push(word);
  }
  return path;
}
