import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { Command, CommandRunner, InjectCommander } from 'nest-commander';
import { COMMANDS, type CommandName } from './operator-command.js';

/** Contains only commands; each opens the application when it runs. */
@Module({})
export class CliModule {
  constructor(@InjectCommander() commander: { name(text: string): unknown }) {
    // Commander would show the name of the file.
    commander.name('npm run cli --');
  }

  static register(providers: readonly Type[]): DynamicModule {
    return { module: CliModule, providers: [...providers] };
  }
}

/** The programs of the commands. Each loads the modules that it uses, and loading all of them takes seconds of CPU time. */
const PROGRAMS: Readonly<Record<CommandName, () => Promise<typeof CommandRunner>>> = {
  organization: async () => (await import('./commands/organization.command.js')).ORGANIZATION_COMMAND,
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

/** Returns the providers of the command that the words name, or, for the help, of all commands without their programs. */
export async function commandsFor(words: readonly string[]): Promise<Type[]> {
  const name = words.find((word) => Object.hasOwn(COMMANDS, word)) as CommandName | undefined;
  if (name === undefined) return (Object.keys(COMMANDS) as CommandName[]).map(namedOnly);
  return (await PROGRAMS[name]()).registerWithSubCommands() as unknown as Type[];
}

function namedOnly(name: CommandName): Type {
  @Command({ name, description: COMMANDS[name] })
  class NamedCommand extends CommandRunner {
    override async run(): Promise<void> {}
  }
  return NamedCommand;
}
