import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
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

interface CommandOption {
  readonly flags: string;
  readonly description: string;
  readonly parse: (text: string, previous?: unknown) => unknown;
  readonly isRequired: boolean;
}

interface CommandDescription {
  readonly name: string;
  readonly description: string;
  /** The description of each argument, such as `<file>`. */
  readonly arguments?: Readonly<Record<string, string>>;
  readonly options?: Readonly<Record<string, CommandOption>>;
}

/** @param run is called with the options, under the names that Commander derives from the flags, and the arguments */
export function command<Given extends object>(
  { name, description, arguments: parameters = {}, options = {} }: CommandDescription,
  run: (options: Given, parameters: readonly string[]) => Promise<void>,
): Command {
  const described = new Command(name).description(description);
  for (const [parameter, meaning] of Object.entries(parameters)) described.argument(parameter, meaning);
  for (const { flags, description: meaning, parse, isRequired } of Object.values(options)) {
    if (isRequired) described.requiredOption(flags, meaning, parse);
    else described.option(flags, meaning, parse);
  }
  return described.action(() => run(described.opts<Given>(), described.args));
}

/**
 * An option of a command, such as `--name <name>` with a text, or `--json` without one.
 *
 * @param parse gets also the result for the previous occurrence of an option that can be repeated
 */
export function option(
  flags: string,
  description: string,
  parse: CommandOption['parse'] = (text) => text,
): CommandOption {
  return { flags, description, parse, isRequired: false };
}

export function requiredOption(...described: Parameters<typeof option>): CommandOption {
  return { ...option(...described), isRequired: true };
}

/** A command that runs once on the application. If `run` returns a value, it is the result, which is printed. */
export function operatorCommand<Given extends object>(
  description: CommandDescription,
  run: (app: INestApplicationContext, options: Given, parameters: readonly string[]) => Promise<unknown>,
): Command {
  return command<Given>(description, async (options, parameters) => {
    // Takes long to load, and not every command of a group needs it.
    const { withApplication } = await import('./operator-session.js');
    await withApplication(async (app) => {
      const result = await run(app, options, parameters);
      if (result !== undefined) printResult(result);
    });
  });
}

/** A command that only has subcommands. Called without one, it shows its help on standard error, and fails. */
export function commandGroup(name: CommandName, ...subCommands: readonly Command[]): Command {
  const group = new Command(name).description(COMMANDS[name]);
  for (const each of subCommands) group.addCommand(each);
  return group;
}

/**
 * Parses a number in plain digits. Returns NaN for anything else, which every command rejects. `Number('')` is 0, so an
 * unset variable in a script would be read as 0.
 */
export function parseNumber(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}
