import { Command } from 'commander';
import { MerchantConnectivity } from '@merchant-connectivity/sdk';
import { AccessTokens } from './access-token.js';
import { usage } from './failures.js';
import { Output } from './output.js';
import { Settings, type Environment, type GlobalOptions } from './settings.js';

/** What a command works with. */
export class Session {
  readonly settings: Settings;
  readonly output: Output;
  readonly tokens: AccessTokens;

  constructor(command: Command) {
    const options = command.optsWithGlobals<GlobalOptions>();
    this.settings = new Settings(options);
    this.output = new Output(options.json === true);
    this.tokens = new AccessTokens(this.settings, this.output);
  }

  /** A client of the platform API, with the credentials of the API client. */
  platform(): MerchantConnectivity {
    return new MerchantConnectivity({ baseUrl: this.settings.baseUrl, ...this.settings.clientCredentials });
  }

  /** A client of the dashboard API, with the access token of the user. */
  dashboard(accessToken = (): string | Promise<string> => this.tokens.current()): MerchantConnectivity {
    return new MerchantConnectivity({ baseUrl: this.settings.dashboardUrl, accessToken });
  }

  /** The environment of an option, or of the access token. */
  environment(option: string | undefined): Environment {
    const environment = option ?? this.settings.profile.environment ?? 'development';
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
    await run(new Session(command), values.at(-2) as Options, ...(values.slice(0, -2) as string[]));
  };
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
