import type { INestApplicationContext, Type } from '@nestjs/common';
import { Command, CommandRunner, Option, SubCommand, type OptionMetadata } from 'nest-commander';
import { printResult } from './output.js';

/** The descriptions of the commands, apart from their programs, so that the help loads quickly. */
export const COMMANDS = {
  organization: 'Organizations, which are the customers of the platform',
  client: 'API clients and their secrets',
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
  doctor: 'Check settings, database, keys, Redis, mail and text messages, and say what to do',
} as const;

export type CommandName = keyof typeof COMMANDS;

interface CommandOption extends OptionMetadata {
  readonly parse?: (text: string, previous?: unknown) => unknown;
}

interface CommandDescription {
  readonly name: string;
  readonly description: string;
  readonly arguments?: string;
  readonly argsDescription?: Record<string, string>;
  /** Each option under the name of its flag. */
  readonly options?: Readonly<Record<string, CommandOption>>;
}

let commands = 0;

/**
 * A command, which nest-commander expects as a class with a method for each option, although most of these methods would only
 * return the option's text.
 *
 * @param run is called with the options and the arguments
 */
export function command<Given extends object>(
  { options = {}, ...description }: CommandDescription,
  run: (options: Given, parameters: readonly string[]) => Promise<void>,
  { isTopLevel = false } = {},
): typeof CommandRunner & Type<CommandRunner> {
  class DescribedCommand extends CommandRunner {
    override run(parameters: string[], given: Given): Promise<void> {
      return run(given, parameters);
    }
  }
  // nest-commander finds the options of a command by the name of its class.
  Object.defineProperty(DescribedCommand, 'name', { value: `${description.name} ${(commands += 1)}` });
  for (const [name, { parse = (text: string) => text, ...option }] of Object.entries(options)) {
    const descriptor = { value: (text: string, previous?: unknown) => parse(text, previous) };
    Option(option)(DescribedCommand.prototype, name, descriptor);
    Object.defineProperty(DescribedCommand.prototype, name, descriptor);
  }
  (isTopLevel ? Command : SubCommand)(description)(DescribedCommand);
  return DescribedCommand;
}

/**
 * An option of a command, such as `--name <name>` with a text, or `--json` without one.
 *
 * @param parse gets also the result for the previous occurrence of an option that can be repeated
 */
export function option(flags: string, description: string, parse?: CommandOption['parse']): CommandOption {
  return { flags, description, ...(parse && { parse }) };
}

export function requiredOption(...described: Parameters<typeof option>): CommandOption {
  return { ...option(...described), required: true };
}

/** A command that runs once on the application. If `run` returns a value, it is the result, which is printed. */
export function operatorCommand<Given extends object>(
  description: CommandDescription,
  run: (app: INestApplicationContext, options: Given, parameters: readonly string[]) => Promise<unknown>,
): Type<CommandRunner> {
  return command<Given>(description, async (options, parameters) => {
    // Takes long to load, and not every command of a group needs it.
    const { withApplication } = await import('./operator-session.js');
    await withApplication(async (app) => {
      const result = await run(app, options, parameters);
      if (result !== undefined) printResult(result);
    });
  });
}

/** A command that only has subcommands, and shows its help when called without one. */
export function commandGroup(name: CommandName, ...subCommands: Type<CommandRunner>[]): typeof CommandRunner {
  @Command({ name, description: COMMANDS[name], subCommands })
  class CommandGroup extends CommandRunner {
    override async run(): Promise<void> {
      this.command.help();
    }
  }
  return CommandGroup;
}

/**
 * Parses a number in plain digits. Returns NaN for anything else, which every command rejects. `Number('')` is 0, so an
 * unset variable in a script would be read as 0.
 */
export function parseNumber(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}
