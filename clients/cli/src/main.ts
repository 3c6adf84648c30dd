import { Command, CommanderError } from 'commander';
import { addAgent } from './commands/agent.js';
import { addEndpoints } from './commands/endpoints.js';
import { addListen } from './commands/listen.js';
import { addLogin } from './commands/login.js';
import { addLogs } from './commands/logs.js';
import { addTokens } from './commands/tokens.js';
import { addTrigger } from './commands/trigger.js';
import { addVerify } from './commands/verify.js';
import { EXIT } from './failures.js';
import { Output } from './output.js';
import packageFile from '../package.json' with { type: 'json' };

const program = new Command('mcs')
  .description('Command line of the Merchant Connectivity Service.')
  .version(packageFile.version)
  .option('--profile <name>', 'profile to use (MCS_PROFILE)')
  .option('--base-url <url>', 'address of the platform API (MCS_BASE_URL)')
  .option('--dashboard-url <url>', 'address of the dashboard API, if it has its own (MCS_DASHBOARD_URL)')
  .option('--json', 'print JSON')
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('Run mcs --help for help.')
  .addHelpText(
    'after',
    `
Credentials of an API client come from MCS_CLIENT_ID and MCS_CLIENT_SECRET, or from mcs login --credentials.
Exit codes: 0 success, 1 failure, 2 wrong usage, 4 not logged in.`,
  )
  .exitOverride();

for (const add of [addLogin, addTokens, addAgent, addTrigger, addListen, addLogs, addEndpoints, addVerify])
  add(program);

// A reader that has read enough, such as `head`, closes the pipe. Output that is lost in another way is a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? 0 : EXIT.failure),
);

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
  else process.exitCode = new Output(process.argv.includes('--json')).failure(error);
});
