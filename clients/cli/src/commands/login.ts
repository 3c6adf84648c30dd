import type { Command } from 'commander';
import { EXIT, Failure, reportOf, usage } from '../failures.js';
import { clientOf } from '../http.js';
import { action, type Session } from '../program.js';
import { checkedUrl, isSameOrigin, type Environment } from '../settings.js';
import { readText } from '../text-files.js';

const STANDARD_INPUT = 0;

/** The credentials of an API client, or a file that the service writes in development, with both environments. */
interface CredentialsFile {
  readonly base_url?: string;
  readonly dashboard_url?: string;
  readonly connector_url?: string;
  readonly client_id?: string;
  readonly secret?: string;
  readonly development?: CredentialsFile;
  readonly production?: CredentialsFile;
}

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('log in as a dashboard user, or store the credentials of an API client')
    .option('--open', 'open the browser')
    .option('--scope <scopes>', 'request these scopes only, separated by spaces')
    .option(
      '--credentials <file>',
      'store the credentials of an API client from a JSON file; - for standard input',
    )
    .option('--environment <name>', 'which client of the file: development or production', 'development')
    .action(action(login));
  program
    .command('whoami')
    .description('show who is logged in, in which environment, and for how long')
    .action(action(whoami));
  program
    .command('logout')
    .description('revoke the access token and delete the profile')
    .action(action(logout));
  program
    .command('access-token')
    .description('print the access token, for other programs')
    .action(action(accessToken));
}

const REFUSED_FILE =
  'Check the client_id and the secret of the file. If the secret only signs webhooks, set MCS_CLIENT_ID and MCS_API_KEY instead.';

interface LoginOptions {
  readonly open?: boolean;
  readonly scope?: string;
  readonly credentials?: string;
  readonly environment: string;
}

async function login(
  session: Session,
  { open, scope, credentials, environment }: LoginOptions,
): Promise<void> {
  if (credentials !== undefined)
    return storeCredentials(session, credentials, session.environment(environment));
  const token = await session.tokens.request({ opensBrowser: open, scope });
  if (token === undefined) throw new Failure('The code has expired.', EXIT.failure, 'Start again: mcs login');
  await whoami(session);
}

async function storeCredentials(
  { settings, output }: Session,
  path: string,
  environment: Environment,
): Promise<void> {
  const file = readCredentials(path);
  const { client_id: clientId, secret } = file[environment] ?? file;
  if (!clientId || !secret) throw usage(`${path} has no client_id and secret.`);
  const baseUrl = checkedUrl(file.base_url ?? settings.baseUrl);
  const [dashboardUrl, connectorUrl] = [file.dashboard_url, file.connector_url].map(
    (url) => url && checkedUrl(url),
  );
  settings.checkStorage();
  // Any request shows whether the credentials are right. This one changes nothing.
  await clientOf({
    baseUrl: dashboardUrl ?? baseUrl,
    clientId,
    clientSecret: secret,
  })
    .introspectToken({ token: 'none' })
    .catch((error: unknown) => {
      const { exitCode, message, details } = reportOf(error) ?? {};
      if (exitCode !== EXIT.notLoggedIn || message === undefined) throw error;
      throw new Failure(message, exitCode, REFUSED_FILE, details);
    });
  const keepsToken =
    settings.profile.client_id === clientId &&
    isSameOrigin(settings.storedFor.token, dashboardUrl ?? baseUrl);
  settings.store({
    base_url: baseUrl,
    dashboard_url: dashboardUrl,
    connector_url: connectorUrl,
    client_id: clientId,
    client_secret: secret,
    ...(!keepsToken && { access_token: undefined, expires_at: undefined }),
    environment,
  });
  output.result(
    { profile: settings.profileName, base_url: baseUrl, client_id: clientId, environment },
    `Stored the ${environment} client ${clientId} of ${baseUrl} in ${settings.file} (profile ${settings.profileName}).`,
  );
}

function readCredentials(path: string): CredentialsFile {
  try {
    return JSON.parse(readText(path === '-' ? STANDARD_INPUT : path)) as CredentialsFile;
  } catch (error) {
    throw usage(`${path} cannot be read: ${(error as Error).message}`);
  }
}

async function whoami(session: Session): Promise<void> {
  const { settings, output } = session;
  const user = await session.dashboard().getCurrentUser();
  const { expires_at: expiresAt } = session.tokens.details;
  const minutes = expiresAt && Math.floor((Date.parse(expiresAt) - Date.now()) / 60_000);
  const lines = [
    `${user.name} <${user.email}>, ${user.role}`,
    `environment  ${user.token?.environment}`,
    `scopes       ${user.token?.scopes.join(' ')}`,
    `service      ${settings.dashboardUrl}`,
    `profile      ${settings.profileName}`,
    ...(expiresAt ? [`expires      ${expiresAt} (${minutes} minutes)`] : []),
  ];
  output.result({ ...user, profile: settings.profileName, expires_at: expiresAt }, ...lines);
}

async function logout({ settings, tokens, output }: Session): Promise<void> {
  const { expires_at: end } = settings.profile;
  try {
    await tokens.revoke();
  } catch (error) {
    output.progress(
      `The access token could not be revoked, and is valid until ${end}: ${(error as Error).message}`,
    );
  }
  settings.remove();
  output.result({ profile: settings.profileName }, `Logged out (profile ${settings.profileName}).`);
}

function accessToken({ tokens, output }: Session): Promise<void> {
  const token = tokens.current();
  output.result({ access_token: token }, token);
  return Promise.resolve();
}
