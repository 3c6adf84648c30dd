import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';

/** The descriptions of the commands, apart from their programs, so that the help loads quickly. */
export const COMMANDS = {
  organization: 'Organizations, which are the customers of the platform',
  client: 'API clients and their secrets',
  'api-key': 'Keys with scopes for the programs of API clients',
  user: 'Dashboard users',
  'external-user': 'Users of the clients, and their erasure',
  endpoint: 'Webhook endpoints',
  database: 'The database: its size, and its distribution over several servers',
  'data-key': 'The keys that encrypt secrets and personal data',
  detection: 'Detected accounts',
  application: 'Job applications, which are personal data',
  audit: 'The audit log: who did what in the dashboard',
  'request-log': 'The request log: API requests and webhook delivery attempts',
  'service-token': 'Credentials of the platform’s own services',
  'token-key': 'The keys that sign access tokens',
  migrate: 'Update the schema of the database',
  doctor: 'Check settings, the database and what else the service uses, and say what to do',
} as const;

export type CommandName = keyof typeof COMMANDS;

export class OperatorCommand extends Command {
  override createCommand(name?: string): OperatorCommand {
    return new OperatorCommand(name);
  }

  /** Runs the command once on the application. If `run` returns a value, it is the result, which is printed. */
  onApplication<Options extends object>(
    run: (app: INestApplicationContext, options: Options, ...parameters: string[]) => Promise<unknown>,
  ): this {
    return this.action(async () => {
      // The modules take long to load, and not every command of a group needs them.
      const [{ withApplication }, { printResult }] = await Promise.all([
        import('./command-process.js'),
        import('./output.js'),
      ]);
      await withApplication(async (app) => {
        const result = await run(app, this.opts<Options>(), ...this.args);
        if (result !== undefined) printResult(result);
      });
    });
  }
}

/** Creates a command that only has subcommands. Called without one, it shows its help on standard error, and fails. */
export function commandGroup(name: CommandName): OperatorCommand {
  return new OperatorCommand(name).description(COMMANDS[name]);
}

/** Creates an option that can be given to several commands, which require it. */
export function requiredOption(flags: string, description: string): Option {
  return new Option(flags, description).makeOptionMandatory();
}

/**
 * Parses a number in plain digits. Returns NaN for anything else, which every command rejects. `Number('')` is 0, so an
 * unset variable in a script would be read as 0.
 */
export function parseNumber(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}
