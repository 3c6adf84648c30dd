import type { Type } from '@nestjs/common';
import { Command, CommandRunner } from 'nest-commander';
import { COMMANDS, type CommandName } from './commands/commands.js';

type CommandClass = Pick<typeof CommandRunner, 'registerWithSubCommands'>;

/** The programs of the commands. Each loads the modules that it uses, and loading all of them takes seconds of CPU time. */
const PROGRAMS: Readonly<Record<CommandName, () => Promise<CommandClass>>> = {
  organization: async () => (await import('./commands/organization.command.js')).OrganizationCommand,
  client: async () => (await import('./commands/client.command.js')).ClientCommand,
  user: async () => (await import('./commands/user.command.js')).UserCommand,
  endpoint: async () => (await import('./commands/endpoint.command.js')).EndpointCommand,
  database: async () => (await import('./commands/database.command.js')).DatabaseCommand,
  'data-key': async () => (await import('./commands/data-key.command.js')).DataKeyCommand,
  detection: async () => (await import('./commands/detection.command.js')).DetectionCommand,
  application: async () => (await import('./commands/application.command.js')).ApplicationCommand,
  audit: async () => (await import('./commands/audit.command.js')).AuditCommand,
  'request-log': async () => (await import('./commands/request-log.command.js')).RequestLogCommand,
  'service-token': async () => (await import('./commands/service-token.command.js')).ServiceTokenCommand,
  'token-key': async () => (await import('./commands/token-key.command.js')).TokenKeyCommand,
  migrate: async () => (await import('./commands/migrate.command.js')).MigrateCommand,
  doctor: async () => (await import('./commands/doctor.command.js')).DoctorCommand,
};

/** Returns the providers of the command that the words name, or, for the help, of all commands without their programs. */
export async function commandsFor(words: readonly string[]): Promise<Type[]> {
  const name = words.find((word) => Object.hasOwn(COMMANDS, word));
  return name === undefined ? Object.values(COMMANDS).map(namedOnly) : load(name as CommandName);
}

async function load(name: CommandName): Promise<Type[]> {
  const [{ OperatorSession }, program] = await Promise.all([
    import('./operator-session.js'),
    PROGRAMS[name](),
  ]);
  return [OperatorSession, ...(program.registerWithSubCommands() as unknown as Type[])];
}

function namedOnly(description: (typeof COMMANDS)[CommandName]): Type {
  @Command(description)
  class NamedCommand extends CommandRunner {
    override async run(): Promise<void> {}
  }
  return NamedCommand;
}
