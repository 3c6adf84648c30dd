import { ArrayNotEmpty, ArrayUnique, IsIn, IsOptional, IsUrl } from 'class-validator';
import { Configuration, EnvironmentVariable } from './environment-variable.js';

/** The two environments of the platform (specification, "What the service does"). */
export const ENVIRONMENTS = ['development', 'production'] as const;
export type PlatformEnvironment = (typeof ENVIRONMENTS)[number];

/** The three groups of operations, each of which may have a host of its own. */
export const SURFACES = ['platform', 'dashboard', 'careers'] as const;
export type Surface = (typeof SURFACES)[number];

const PUBLIC_URL = { require_tld: false, require_protocol: true, protocols: ['http', 'https'] };

/** What this process is and where it is met. */
@Configuration('Service')
export class ServiceConfiguration {
  @EnvironmentVariable(
    'NODE_ENV',
    '`production` turns the conveniences of a developer off: the embedded database, generated keys, the first organization.',
  )
  nodeEnvironment: string = 'development';

  @EnvironmentVariable(
    'SURFACES',
    'Which of `platform`, `dashboard` and `careers` this process serves, separated by commas.',
  )
  @IsIn(SURFACES, { each: true, message: 'surfaces must be a list of platform, dashboard and careers' })
  @ArrayUnique()
  @ArrayNotEmpty()
  surfaces: string[] = [...SURFACES];

  @EnvironmentVariable(
    'PIN_ENVIRONMENT',
    'Makes this deployment the host of one environment (`development` or `production`): credentials of the other are unknown here.',
  )
  @IsOptional()
  @IsIn(ENVIRONMENTS)
  pinnedEnvironment?: string;

  @EnvironmentVariable(
    'BACKGROUND_WORK',
    'Whether this process also does the background work (partitions, retention). Turn it off where `worker.js` runs apart.',
  )
  backgroundWork: boolean = true;

  @EnvironmentVariable(
    'DATA_DIR',
    'Where a developer’s installation keeps its database, keys and credentials.',
  )
  dataDirectory: string = '.data';

  @EnvironmentVariable('PLATFORM_URL', 'Public address of the platform API, for the API document.')
  @IsOptional()
  @IsUrl(PUBLIC_URL)
  platformUrl?: string;

  @EnvironmentVariable(
    'DASHBOARD_URL',
    'Public address of the dashboard: the issuer of access tokens, the links in mails, the API document. Required in production.',
  )
  @IsOptional()
  @IsUrl(PUBLIC_URL)
  dashboardUrl?: string;

  @EnvironmentVariable('CAREERS_URL', 'Public address of the job-application endpoint, for the API document.')
  @IsOptional()
  @IsUrl(PUBLIC_URL)
  careersUrl?: string;

  get isProduction(): boolean {
    return this.nodeEnvironment === 'production';
  }

  serves(surface: Surface): boolean {
    return this.surfaces.includes(surface);
  }

  publicUrlOf(surface: Surface): string | undefined {
    return { platform: this.platformUrl, dashboard: this.dashboardUrl, careers: this.careersUrl }[surface];
  }
}
