import { ServiceConfiguration, type LoadedConfiguration, type Surface } from '../config/index.js';
import { CryptoConfiguration } from '../crypto/index.js';
import { DatabaseConfiguration } from '../database/index.js';
import { HttpClientConfiguration } from '../http-client/index.js';
import { HttpConfiguration, isLoopback } from '../http/index.js';
import { parsedUrl } from '../urls/index.js';

/** Surfaces whose pages, texts and responses contain the address of another surface, or their own. */
const LINKS: Readonly<Partial<Record<Surface, readonly Surface[]>>> = {
  platform: ['platform'],
  connector: ['platform', 'connector'],
  dashboard: ['dashboard', 'platform', 'connector'],
};

/**
 * Lists settings that are acceptable in development but not in production.
 *
 * @param servesHttp whether the process serves its surfaces; other processes send only emails, with links to the dashboard
 */
export function findProductionProblems(configuration: LoadedConfiguration, servesHttp: boolean): string[] {
  const service = configuration.get(ServiceConfiguration);
  if (!service.isProduction) return [];
  return [
    ...(configuration.get(DatabaseConfiguration).url
      ? []
      : ['DATABASE_URL is required in production: the embedded database is for development.']),
    ...keyProblems(configuration.get(CryptoConfiguration)),
    ...missingAddresses(service, servesHttp),
    ...insecureAddresses(service, configuration.get(HttpConfiguration).host),
    ...(configuration.get(HttpClientConfiguration).allowsAnyTarget
      ? [
          'WEBHOOK_TARGETS=any is not allowed in production: clients could send requests to the internal network.',
        ]
      : []),
  ];
}

function keyProblems({ secretPepper, keyEncryptionKey }: CryptoConfiguration): string[] {
  const keys = Object.entries({ SECRET_PEPPER: secretPepper, KEY_ENCRYPTION_KEY: keyEncryptionKey });
  const problems = keys.flatMap(([name, key]) => {
    if (key === undefined) return [`${name} is required in production.`];
    return new Set(Buffer.from(key, 'base64')).size > 1
      ? []
      : [`${name} repeats one byte: generate a random key (openssl rand -base64 32).`];
  });
  if (secretPepper !== undefined && secretPepper === keyEncryptionKey)
    problems.push('SECRET_PEPPER and KEY_ENCRYPTION_KEY are equal: generate a key for each.');
  return problems;
}

/** Without its address, a surface would be linked to as `http://127.0.0.1`. */
function missingAddresses(service: ServiceConfiguration, servesHttp: boolean): string[] {
  const linked = new Set(
    servesHttp ? service.servedSurfaces.flatMap((surface) => LINKS[surface] ?? []) : undefined,
  );
  return [
    ...(service.dashboardUrl || !service.serves('dashboard')
      ? []
      : ['DASHBOARD_URL is required in production: it is the issuer of access tokens.']),
    ...(service.platformUrl || !linked.has('platform')
      ? []
      : [
          'PLATFORM_URL is required in production: agents and the dashboard refer to it, and without CONNECTOR_URL, sign-in links begin with it.',
        ]),
  ];
}

/** `http` is accepted for a trial on one machine: if neither the address nor the port can be reached from another one. */
function insecureAddresses(service: ServiceConfiguration, host: string | undefined): string[] {
  const { platformUrl, connectorUrl, dashboardUrl, careersUrl } = service;
  const addresses = Object.entries({
    PLATFORM_URL: platformUrl,
    CONNECTOR_URL: connectorUrl,
    DASHBOARD_URL: dashboardUrl,
    CAREERS_URL: careersUrl,
  });
  return addresses.flatMap(([name, address = '']) => {
    const url = parsedUrl(address);
    if (url?.protocol !== 'http:') return [];
    return isLoopback(url.hostname) && isLoopback(host ?? '')
      ? []
      : [
          `${name} must begin with https:// in production. http:// is accepted only if both ${name} and HOST are addresses of this machine, such as 127.0.0.1.`,
        ];
  });
}
