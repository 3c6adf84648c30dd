import { Command } from 'commander';
import type { MerchantConnectivity } from '@merchant-connectivity/sdk';
import { AccessTokens } from './access-token.js';
import { usage } from './failures.js';
import { clientOf } from './http.js';
import { Output } from './output.js';
import { Settings, type Environment, type GlobalOptions } from './settings.js';

/** Commands that create a profile, or use none. */
const NEEDS_NO_PROFILE: ReadonlySet<string> = new Set([
  'login',
  'logout',
  'profiles',
  'completion',
  'verify',
]);

/** The settings, output and requests that a command works with. */
export class Session {
  readonly settings: Settings;
  readonly output: Output;
  readonly tokens: AccessTokens;

  constructor(command: Command) {
    const options = command.optsWithGlobals<GlobalOptions>();
    this.settings = new Settings(options);
    if (!NEEDS_NO_PROFILE.has(command.name())) this.settings.checkProfile();
    this.output = new Output(options.json === true);
    this.tokens = new AccessTokens(this.settings, this.output);
  }

  /** A client of the platform API, with the credentials of the API client. */
  platform(): MerchantConnectivity {
    return clientOf({ baseUrl: this.settings.baseUrl, ...this.settings.clientCredentials });
  }

  /** A client of the dashboard API, with the access token of the user. */
  dashboard(accessToken = (): string | Promise<string> => this.tokens.current()): MerchantConnectivity {
    return clientOf({ baseUrl: this.settings.dashboardUrl, accessToken });
  }

  /** The environment of an option, or of the access token. */
  environment(option: string | undefined): Environment {
    const environment = option ?? this.tokens.details.environment ?? 'development';
    if (environment === 'development' || environment === 'production') return environment;
    throw usage(`The environment must be development or production, not ${environment}.`);
  }
}

/** Adapts an action for commander, which calls it with the arguments, the options and the command. */
export function action<Options = object>(
  run: (session: Session, options: Options, ...arguments_: string[]) => Promise<void>,
): (...values: unknown[]) => Promise<void> {
  return async (...values) => {
    const command = values.at(-1) as Command;
    // The values of an argument that can be repeated are a list.
    const arguments_ = values.slice(0, -2).flat() as string[];
    await run(new Session(command), values.at(-2) as Options, ...arguments_);
  };
}

/** Returns a controller that aborts when the user stops the command. */
export function stoppedByUser(): AbortController {
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
  return stopped;
}

/** The options of lists that come in pages. */
export interface ListOptions {
  readonly limit: string;
  readonly all?: boolean;
}

export function withListOptions(command: Command): Command {
  return command.option('--limit <number>', 'number of entries', '25').option('--all', 'all entries');
}

/** Returns how many entries a list shows. */
export function countOf({ limit, all }: ListOptions): number {
  return all ? Infinity : (integerOption('--limit', limit) ?? 0);
}

/** Returns the first items of a list, and requests no more pages than they need. */
export async function first<Item>(count: number, items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  if (count === 0) return found;
  for await (const item of items) {
    found.push(item);
    if (found.length >= count) break;
  }
  return found;
}

/** Milliseconds. */
const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns the timestamp that an option gives, either as a time or as a duration before now, such as `2h`. */
export function timeOption(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (unit) return new Date(Date.now() - Number(number) * UNITS[unit as keyof typeof UNITS]).toISOString();
  if (Number.isNaN(Date.parse(text)))
    throw usage(`${name} must be a time such as 2026-01-31T08:00:00Z or 2h.`);
  return text;
}

/** Returns an object of a JSON option. */
export function jsonOption(name: string, text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw usage(`${name} must be a JSON object.`);
}

export function integerOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw usage(`${name} must be a whole number, not ${text}.`);
  return Number(text);
}
