import { Command } from 'commander';
import { VERSION } from '../infrastructure/project-files/index.js';
import { COMMANDS, type CommandName } from './operator-command.js';

/** The programs of the commands. Each loads the modules that it uses, and loading all of them takes seconds of CPU time. */
const PROGRAMS: Readonly<Record<CommandName, () => Promise<Command>>> = {
  organization: async () => (await import('./commands/organization.command.js')).ORGANIZATION_COMMAND,
  'api-key': async () => (await import('./commands/api-key.command.js')).API_KEY_COMMAND,
  client: async () => (await import('./commands/client.command.js')).CLIENT_COMMAND,
  user: async () => (await import('./commands/user.command.js')).USER_COMMAND,
  'external-user': async () => (await import('./commands/external-user.command.js')).EXTERNAL_USER_COMMAND,
  endpoint: async () => (await import('./commands/endpoint.command.js')).ENDPOINT_COMMAND,
  database: async () => (await import('./commands/database.command.js')).DATABASE_COMMAND,
  'data-key': async () => (await import('./commands/key.commands.js')).DATA_KEY_COMMAND,
  detection: async () => (await import('./commands/detection.command.js')).DETECTION_COMMAND,
  application: async () => (await import('./commands/application.command.js')).APPLICATION_COMMAND,
  audit: async () => (await import('./commands/audit.command.js')).AUDIT_COMMAND,
  'request-log': async () => (await import('./commands/request-log.command.js')).REQUEST_LOG_COMMAND,
  'service-token': async () => (await import('./commands/service-token.command.js')).SERVICE_TOKEN_COMMAND,
  'token-key': async () => (await import('./commands/key.commands.js')).TOKEN_KEY_COMMAND,
  migrate: async () => (await import('./commands/migrate.command.js')).MIGRATE_COMMAND,
  doctor: async () => (await import('./commands/doctor.command.js')).DOCTOR_COMMAND,
};

const isName = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

/** Returns the program with the command that the words name, or, for the help, with the descriptions of all commands. */
export async function programFor(words: readonly string[]): Promise<Command> {
  const program = new Command('mcs-admin').version(VERSION);
  const name = words.find(isName);
  for (const each of Object.keys(COMMANDS).filter(isName))
    if (name === undefined) program.command(each).description(COMMANDS[each]);
    else if (each === name) program.addCommand(await PROGRAMS[name]());
  return program;
}
