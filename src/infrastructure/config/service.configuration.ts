import { ArrayNotEmpty, ArrayUnique, IsEmail, IsIn, IsUrl } from 'class-validator';
import { IsHostUrl, parsedUrl } from './checks.js';
import { Configuration, EnvironmentVariable } from './environment-variable.js';
import type { LoadedConfiguration } from './load-configuration.js';

/** The two environments of the platform (specification, "What the service does"). */
export const ENVIRONMENTS = ['development', 'production'] as const;
export type PlatformEnvironment = (typeof ENVIRONMENTS)[number];

/** The surfaces: groups of operations, each of which may have its own host. */
const SURFACES = ['platform', 'connector', 'dashboard', 'careers', 'internal'] as const;
export type Surface = (typeof SURFACES)[number];

/** The values that a configuration class does not accept in production, although they are fine in development. */
export interface ProductionRules {
  /** @param servesHttp whether the process serves its surfaces */
  productionProblems(service: ServiceConfiguration, servesHttp: boolean): string[];
}

/** The values that a configuration class does not accept together with the settings of other classes. */
export interface FurtherRules {
  /** @param servesHttp whether the process serves its surfaces */
  furtherProblems(configuration: LoadedConfiguration, servesHttp: boolean): string[];
}

/** Which connections to other machines a configuration class leaves without TLS. */
export interface EncryptionRules {
  /** Returns the variables with the addresses of these connections. */
  unencryptedSettings(): string[];
}

/** Surfaces whose pages, texts and responses contain the address of another surface, or their own. */
const LINKS: Readonly<Partial<Record<Surface, readonly Surface[]>>> = {
  platform: ['platform'],
  connector: ['platform', 'connector'],
  dashboard: ['dashboard', 'platform', 'connector'],
};

const PAGE = { require_protocol: true, protocols: ['http', 'https'] };

/** The surfaces that this process serves, and their public addresses. */
@Configuration('Service')
export class ServiceConfiguration implements ProductionRules {
  @EnvironmentVariable(
    'NODE_ENV',
    '`development`, `test` or `production`. `production` disables the features for developers: the embedded database, generated keys, and the first organization.',
  )
  @IsIn(['development', 'test', 'production'])
  nodeEnvironment: string = 'development';

  @EnvironmentVariable(
    'SURFACES',
    'Comma-separated list of the surfaces that this process serves: `platform`, `connector`, `dashboard`, `careers` and `internal`. The default is all of them; in production, all but `internal`.',
  )
  @IsIn(SURFACES, {
    each: true,
    message: 'surfaces must be a list of platform, connector, dashboard, careers and internal',
  })
  @ArrayUnique()
  @ArrayNotEmpty()
  surfaces?: string[];

  @EnvironmentVariable(
    'PIN_ENVIRONMENT',
    'Restricts this deployment to one environment (`development` or `production`). Credentials of the other environment are rejected, and the dashboard shows nothing of it except audit log entries.',
  )
  @IsIn(ENVIRONMENTS)
  pinnedEnvironment?: PlatformEnvironment;

  @EnvironmentVariable(
    'BACKGROUND_WORK',
    'Whether this process also runs the background work (partitions, expiry, webhook deliveries). Disable it if you run `worker.js`.',
  )
  backgroundWork: boolean = true;

  @EnvironmentVariable(
    'DATA_DIR',
    'Directory for files: request log entries that a process could not write before it ended; messages that are not sent, which are deleted after a day; and in a development installation, the embedded database, generated keys and credentials. The service creates it with mode 0700. A relative path is relative to the folder in which a process starts, also that of a command.',
  )
  dataDirectory: string = '.data';

  @EnvironmentVariable(
    'PLATFORM_URL',
    'Public URL of the platform API: agents and the dashboard refer to it. Required in production if the process serves the platform API, the agent connector or the dashboard.',
  )
  @IsHostUrl('https://api.example.com')
  platformUrl?: string;

  @EnvironmentVariable(
    'CONNECTOR_URL',
    'Public URL of the agent connector: agents connect to its path `/mcp`, and sign-in links in text messages begin with it. The default is `PLATFORM_URL`.',
  )
  @IsHostUrl('https://agents.example.com')
  connectorUrl?: string;

  @EnvironmentVariable(
    'DASHBOARD_URL',
    'Public URL of the dashboard: used as the issuer of access tokens, in email links, and in the API document. Required in production if the process serves the dashboard.',
  )
  @IsHostUrl('https://dashboard.example.com')
  dashboardUrl?: string;

  @EnvironmentVariable('CAREERS_URL', 'Public URL of the job application endpoint, for the API document.')
  @IsHostUrl('https://careers.example.com')
  careersUrl?: string;

  @EnvironmentVariable(
    'INTERNAL_URL',
    'URL at which the other services of the platform reach the internal API, for the API document.',
  )
  @IsHostUrl('http://internal.example.com')
  internalUrl?: string;

  @EnvironmentVariable(
    'SUPPORT_URL',
    'Page where integrators get help, for the API document and `/.well-known/security.txt`.',
  )
  @IsUrl(PAGE)
  supportUrl?: string;

  @EnvironmentVariable(
    'SUPPORT_EMAIL',
    'Email address where integrators get help, for the API document and `/.well-known/security.txt`.',
  )
  @IsEmail()
  supportEmail?: string;

  @EnvironmentVariable('TERMS_URL', 'Page with the terms of use of the API, for the API document.')
  @IsUrl(PAGE)
  termsUrl?: string;

  get isProduction(): boolean {
    return this.nodeEnvironment === 'production';
  }

  get servedSurfaces(): readonly Surface[] {
    const all = this.isProduction ? SURFACES.filter((surface) => surface !== 'internal') : SURFACES;
    return (this.surfaces as Surface[] | undefined) ?? all;
  }

  serves(surface: Surface): boolean {
    return this.servedSurfaces.includes(surface);
  }

  /** Returns the URL in its usual spelling, without a slash at the end: tokens and passkeys contain it, and must match. */
  publicUrlOf(surface: Surface): string | undefined {
    const configured = {
      platform: this.platformUrl,
      connector: this.connectorUrl ?? this.platformUrl,
      dashboard: this.dashboardUrl,
      careers: this.careersUrl,
      internal: this.internalUrl,
    }[surface];
    return configured === undefined ? undefined : parsedUrl(configured)?.origin;
  }

  /** Without its address, a surface would be linked to as `http://127.0.0.1`. */
  productionProblems(_service: ServiceConfiguration, servesHttp: boolean): string[] {
    const linked = new Set(
      servesHttp ? this.servedSurfaces.flatMap((surface) => LINKS[surface] ?? []) : undefined,
    );
    return [
      ...(this.dashboardUrl || !this.serves('dashboard')
        ? []
        : ['DASHBOARD_URL is required in production: it is the issuer of access tokens.']),
      ...(this.platformUrl || !linked.has('platform')
        ? []
        : [
            'PLATFORM_URL is required in production: agents and the dashboard refer to it, and without CONNECTOR_URL, sign-in links begin with it.',
          ]),
    ];
  }

  get environments(): readonly PlatformEnvironment[] {
    return this.pinnedEnvironment === undefined ? ENVIRONMENTS : [this.pinnedEnvironment];
  }
}
