import { Injectable } from '@nestjs/common';
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { BoundedCache } from '../../../infrastructure/caching/index.js';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { HttpClient, HttpClientConfiguration } from '../../../infrastructure/http-client/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { lazyModule } from '../../../infrastructure/lazy-values/index.js';
import { MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { fieldError } from '../../../infrastructure/validation/index.js';
import type { SsoConfiguration } from '../sso-configuration.entity.js';
import { SsoSettingsRepository } from '../settings/sso-settings.repository.js';
import { usedPart } from './provider-documents.js';
import { claimIn, mailboxIn, nameIn, subjectIn } from '../identity-claims.js';
import {
  PROVIDER_CLOCK_TOLERANCE,
  IdentityProvider,
  MAX_ADDRESS_LENGTH,
  REASONS,
  RefusedLogin,
  RefusedScope,
  type BegunRequest,
  type LoginOptions,
  type LoginSecrets,
  type ProviderIdentity,
} from '../identity-provider.js';

/** Bytes. Discovery documents have about 4,000, and sets of keys up to 20,000. */
const MAX_DOCUMENT_SIZE = 262_144;
const DEADLINE = 5 * SECOND;
/** Milliseconds for which the documents of a provider are used. Keys that are new are fetched earlier. */
const CACHE_LIFETIME = 10 * MINUTE;
const MAX_CACHED = 200;
/** Bytes. A person in 400 groups has an ID token of 30,000. */
const MAX_RESPONSE_SIZE = 262_144;
const TOO_LARGE =
  'The response of the identity provider is larger than 256 KiB. Send fewer claims or groups.';
const CUT_OFF = 'The response of the identity provider was cut off.';
/** Not every provider sends the time of the login, and some send it only if it is requested (OpenID Connect Core, section 5.5.1). */
const REQUESTED_CLAIMS = JSON.stringify({ id_token: { auth_time: { essential: true } } });
const NOT_REPEATED =
  'The identity provider did not ask the person to log in again, although it was requested.';

const notAUrl = (field: string): string =>
  `The ${field} field must be an https URL, such as https://login.example.com.`;
const UNREADABLE = 'The discovery document of the issuer cannot be read:';
const OTHER_ISSUER = `${UNREADABLE} it is that of another issuer.`;
const WELL_KNOWN = '/.well-known/openid-configuration';
const NO_USER_INFO = 'and the UserInfo endpoint of the identity provider cannot be used.';
/** Scopes of OpenID Connect Core, which every provider knows. */
const SCOPES = ['openid', 'email', 'profile'];

/** Statuses with which a provider refuses an access token. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403]);

/** The provider refuses the access token that it has issued. */
class ProviderRefusal extends RefusedLogin {}

/** Loading the library takes time and memory, which processes without logins save. */
const openidClient = lazyModule<typeof import('openid-client')>('openid-client', import.meta.url);

type Credentials = Pick<
  SsoConfiguration,
  'id' | 'organizationId' | 'entityId' | 'clientId' | 'clientSecretSealed'
>;

/** A client of the library, and what it was made from. */
interface ConfiguredClient {
  readonly credentials: string;
  readonly client: Promise<Configuration>;
}

/**
 * Identity providers that speak OpenID Connect: the code flow with PKCE, `state`, `nonce` and `iss`. The library `openid-client`
 * does all of the verification; the requests go through the HTTP client that cannot reach private addresses.
 */
@Injectable()
export class OpenidProvider extends IdentityProvider {
  /** By the ID of the configuration: credentials that were changed must not keep what belonged to the old ones. */
  private readonly cache = new BoundedCache<ConfiguredClient>({
    max: MAX_CACHED,
    ttl: CACHE_LIFETIME,
  });

  constructor(
    private readonly http: HttpClient,
    private readonly httpConfiguration: HttpClientConfiguration,
    private readonly publicAddress: PublicAddress,
    private readonly settings: SsoSettingsRepository,
    private readonly sealer: Sealer,
  ) {
    super();
  }

  /** The address of ours that the provider redirects to. One per configuration, so that two cannot be mixed up. */
  override address(configurationId: string): string {
    return `${this.publicAddress.of('dashboard')}/sso/oidc/${configurationId}`;
  }

  /**
   * Returns the issuer as its discovery document spells it: whether it ends with a slash is easily missed, and so is that it is not
   * the address of the document.
   *
   * @throws RefusedLogin if it cannot be used, or ApiError INVALID_FIELD
   */
  async issuerOf(url: string, clientId: string): Promise<string> {
    const problem = this.http.urlProblem(url);
    if (problem === 'SYNTAX' || problem === 'NOT_HTTPS') throw fieldError({ field: 'issuer', rule: notAUrl });
    const expected = withoutSlash(url.replace(WELL_KNOWN, ''));
    const { issuer } = (await this.discover(expected + WELL_KNOWN, clientId)).serverMetadata();
    if (withoutSlash(issuer) !== expected) throw new RefusedLogin(OTHER_ISSUER);
    return issuer;
  }

  override async begin(
    configuration: Credentials,
    { state, nonce, verifier, hasRoleScopes }: LoginSecrets,
    { forceLogin, email }: LoginOptions,
  ): Promise<BegunRequest> {
    const client = openidClient();
    const configured = await this.configured(configuration);
    const roleScopes = hasRoleScopes === false ? [] : await this.roleScopes(configuration, configured);
    const url = client.buildAuthorizationUrl(configured, {
      redirect_uri: this.address(configuration.id),
      scope: [...new Set([...SCOPES, ...roleScopes])].join(' '),
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      claims: REQUESTED_CLAIMS,
      ...(email !== undefined && { login_hint: email }),
      ...(forceLogin && { max_age: '0', prompt: 'login' }),
    });
    return { url: url.href };
  }

  /** @param query the query of the redirect */
  override async finish(
    configuration: Credentials,
    { state, nonce, verifier, hasRoleScopes }: LoginSecrets,
    query: string,
    startedAt: Date,
  ): Promise<ProviderIdentity> {
    const client = openidClient();
    const configured = await this.configured(configuration);
    const { roleAttribute } = await this.settings.get(configuration.organizationId);
    const url = new URL(this.address(configuration.id));
    url.search = query;
    try {
      const tokens = await client.authorizationCodeGrant(configured, url, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const token = tokens.claims();
      if (!token) throw new RefusedLogin(REASONS.subject);
      const hasAddress = addressIn(token) !== undefined;
      const hasRole = roleAttribute === null || claimIn(token, roleAttribute) !== undefined;
      // Some providers send only the address in the ID token (PingOne), or nothing.
      const isComplete =
        (hasAddress && hasRole && nameIn(token) !== undefined) ||
        !configured.serverMetadata().userinfo_endpoint;
      const info = isComplete
        ? {}
        : await client.fetchUserInfo(configured, tokens.access_token, token.sub).catch((error: unknown) => {
            // AD FS refuses its own access tokens there. The ID token says enough if it has the address.
            if (!hasAddress)
              throw new RefusedLogin(`The ID token contains no email address, ${NO_USER_INFO}`);
            // Nobody must lose a role because the provider does not respond, or responds to others first.
            if (!hasRole && !causesOf(error).some((each) => each instanceof ProviderRefusal))
              throw new RefusedLogin(
                `The ID token does not contain “${roleAttribute}”, which decides the role, ${NO_USER_INFO}`,
              );
            return {};
          });
      return identityFrom(configuration.entityId, { ...info, ...token }, startedAt);
    } catch (error) {
      if (hasRoleScopes !== false && (error as LibraryError).error === 'invalid_scope')
        throw new RefusedScope(reasonFor(error));
      throw error instanceof RefusedLogin ? error : new RefusedLogin(reasonFor(error));
    }
  }

  /** Returns the scopes without which some providers do not send the claim that decides roles, if the provider lists them. */
  private async roleScopes({ organizationId }: Credentials, configured: Configuration): Promise<string[]> {
    const { roleAttribute } = await this.settings.get(organizationId);
    const { scopes_supported: supported } = configured.serverMetadata();
    // Some documents have null.
    return roleAttribute === null || !supported
      ? []
      : ['groups', roleAttribute, ...roleAttribute.split('.')].filter((scope) => supported.includes(scope));
  }

  /** Logins that begin together share one request for the documents of their provider. A failure is not kept. */
  private configured(configuration: Credentials): Promise<Configuration> {
    const { id, entityId, clientId, clientSecretSealed } = configuration;
    const credentials = JSON.stringify([entityId, clientId, clientSecretSealed?.toString('base64')]);
    const cached = this.cache.get(id);
    if (cached?.credentials === credentials) return cached.client;
    const begun = { credentials, client: this.discoverConfigured(configuration) };
    this.cache.set(id, begun);
    begun.client.catch(() => {
      if (this.cache.peek(id) === begun) this.cache.delete(id);
    });
    return begun.client;
  }

  private async discoverConfigured(configuration: Credentials): Promise<Configuration> {
    const { id, entityId, clientId, clientSecretSealed } = configuration;
    const secret = clientSecretSealed ? this.sealer.open(clientSecretSealed, ownerOfSecret(id)) : undefined;
    const configured = await this.discover(entityId, clientId ?? '', secret);
    // The library accepts any tenant for some addresses of Microsoft.
    if (configured.serverMetadata().issuer !== entityId) throw new RefusedLogin(OTHER_ISSUER);
    return configured;
  }

  private async discover(issuer: string, clientId: string, secret?: string): Promise<Configuration> {
    const client = openidClient();
    const execute = [client.enableNonRepudiationChecks];
    if (this.httpConfiguration.allowsAnyTarget) execute.push(client.allowInsecureRequests);
    const authentication: Parameters<typeof client.discovery>[3] = (server, ...rest) => {
      if (secret === undefined) return client.None()(server, ...rest);
      // OpenID Connect Discovery, section 3: the default is Basic.
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
      const isBasic = methods.includes('client_secret_basic');
      (isBasic ? basicCredentials(secret) : client.ClientSecretPost(secret))(server, ...rest);
    };
    try {
      const metadata = { client_secret: secret, [client.clockTolerance]: PROVIDER_CLOCK_TOLERANCE / SECOND };
      const configured = await client.discovery(new URL(issuer), clientId, metadata, authentication, {
        execute,
        [client.customFetch]: this.send,
      });
      const { authorization_endpoint: address = '' } = configured.serverMetadata();
      if (address.length > MAX_ADDRESS_LENGTH || this.http.urlProblem(address) !== undefined)
        throw new RefusedLogin(
          `${UNREADABLE} its authorization_endpoint is not an allowed URL of at most ${MAX_ADDRESS_LENGTH} characters.`,
        );
      return configured;
    } catch (error) {
      throw error instanceof RefusedLogin ? error : new RefusedLogin(`${UNREADABLE} ${reasonFor(error)}`);
    }
  }

  private readonly send: CustomFetch = async (url, { method, headers, body }) => {
    const { statusCode, explanation, problem, text } =
      method === 'POST'
        ? await this.http.post({
            url,
            headers,
            body: Buffer.from(String(body)),
            wantsText: () => true,
            maxBytes: MAX_RESPONSE_SIZE,
          })
        : await this.http.getDocument({ url, headers, maxBytes: MAX_DOCUMENT_SIZE, deadline: DEADLINE });
    const isOutage = statusCode === 0 || statusCode >= 500;
    const reason =
      explanation ?? problem ?? (isOutage ? `The server responded with status ${statusCode}.` : null);
    if (reason !== null)
      throw REFUSALS.has(statusCode) ? new ProviderRefusal(reason) : new RefusedLogin(reason);
    if (text?.isComplete === false) throw new RefusedLogin(text.isTooLong ? TOO_LARGE : CUT_OFF);
    const content = text?.text ?? '';
    // Only requests for documents, which are kept, have no credentials.
    const isDocument = method !== 'POST' && !Object.hasOwn(headers, 'authorization');
    const used = method === 'POST' ? withoutNulls(content) : isDocument ? usedPart(content) : content;
    return new Response(used, {
      status: statusCode,
      headers: { 'content-type': text ? 'application/json' : 'text/plain' },
    });
  };
}

/**
 * Returns the response of a token endpoint without members that are null, such as `refresh_token` and `expires_in`: they stand for
 * absent ones, and the library would refuse them. A text that is no JSON stays as it is.
 */
function withoutNulls(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text, (_, value: unknown) => value ?? undefined)) ?? text;
  } catch {
    return text;
  }
}

export function ownerOfSecret(configurationId: string): string[] {
  return ['saml_configuration', configurationId, 'client_secret'];
}

/**
 * Sends the client ID and the secret as Basic credentials (RFC 6749, section 2.3.1). Only what has to be encoded is: not every
 * provider decodes them, and the library encodes hyphens, too, which are in most IDs.
 */
function basicCredentials(secret: string): ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    const [user, password] = [id, secret].map((part) => encodeURIComponent(part).replaceAll('%20', '+'));
    headers.set('authorization', `Basic ${btoa(`${user}:${password}`)}`);
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

const GOOGLE = 'https://accounts.google.com';
/** Accounts of Microsoft that belong to no organization. */
const MICROSOFT_CONSUMERS = 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0';

/**
 * Returns whether the address belongs to the person. Trusts the address unless the provider says that it is not verified, or
 * anybody can have an account there: not every provider sends `email_verified`, and the organization has proved the domain and
 * chosen the provider. At Google, an account with the address does not belong to the organization unless `hd` says so.
 */
export function isVerified(issuer: string, email = '', claims: ProviderIdentity['claims']): boolean {
  const { email_verified: confirmed = true, hd } = claims;
  // Some providers send texts, such as AWS Cognito and older versions of Keycloak's mappers.
  const isConfirmed = confirmed === true || confirmed === 'true';
  if (issuer === GOOGLE) return isConfirmed && hd === email.slice(email.lastIndexOf('@') + 1);
  return isConfirmed && issuer !== MICROSOFT_CONSUMERS;
}

/** Returns the claim with the address, also from a list of one: Keycloak can send lists, and Azure AD B2C sends `emails`. */
function addressIn({ email, emails }: ProviderIdentity['claims']): unknown {
  const value = email ?? emails;
  return Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
}

function identityFrom(issuer: string, claims: ProviderIdentity['claims'], startedAt: Date): ProviderIdentity {
  const { sub, auth_time: time, session_expiry: end } = claims;
  const address = mailboxIn(addressIn(claims));
  const authenticatedAt = typeof time === 'number' ? new Date(time * SECOND) : undefined;
  return {
    issuer,
    subject: subjectIn(String(sub)),
    email: address,
    isEmailVerified: isVerified(issuer, address, claims),
    name: nameIn(claims),
    authenticatedAt,
    // OpenID Connect Enterprise Extensions, a draft.
    sessionEndsAt: end === undefined || end === null ? undefined : new Date(Number(end) * SECOND),
    recencyProblem: recencyProblemOf(authenticatedAt, startedAt),
    claims,
  };
}

function recencyProblemOf(authenticatedAt: Date | undefined, startedAt: Date): string | undefined {
  if (!authenticatedAt) return REASONS.noTime;
  return authenticatedAt.getTime() < startedAt.getTime() - PROVIDER_CLOCK_TOLERANCE
    ? NOT_REPEATED
    : undefined;
}

/** Reasons for the codes of the library's errors about claims and signatures. */
const CLAIMS: Readonly<Record<string, string>> = {
  nonce: 'The ID token belongs to another login (the nonce differs).',
  aud: 'The ID token is meant for another client (the claim aud differs).',
  iss: 'The ID token comes from another issuer (the claim iss differs).',
  auth_time: 'The claim auth_time of the ID token must be a number.',
  exp: 'The ID token has expired. Check the clock of the identity provider.',
  nbf: 'The ID token is not valid yet. Check the clock of the identity provider.',
};

/** The properties of the library's errors. The cause of a wrong claim or signature is another error, or its details. */
interface LibraryError {
  readonly message?: string;
  readonly code?: string;
  /** The error code that the provider sent. */
  readonly error?: string;
  readonly claim?: string;
  readonly cause?: LibraryError;
}

/** Returns an error of the library and its causes. */
function causesOf(thrown: unknown): LibraryError[] {
  const chain: LibraryError[] = [];
  for (let each = thrown as LibraryError | undefined; typeof each === 'object'; each = each.cause)
    chain.push(each);
  return chain;
}

/** Returns the reason in words for an error of the library. Values of the response never appear in it, except error codes. */
function reasonFor(thrown: unknown): string {
  const chain = causesOf(thrown);
  const refused = chain.find((each) => each instanceof RefusedLogin);
  if (refused?.message) return refused.message;
  const { code, error } = chain[0] ?? {};
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    return `The identity provider refused the login (${errorCode(error)}).`;
  if (code === 'OAUTH_RESPONSE_BODY_ERROR')
    return `The identity provider refused the code (${errorCode(error)}). Check the client ID, the client secret and the redirect address.`;
  const claims = chain.map(({ claim, message = '' }) => claim ?? /^JWT "(\w+)"/.exec(message)?.[1] ?? '');
  const [wrong] = claims.flatMap((claim) => (Object.hasOwn(CLAIMS, claim) ? [CLAIMS[claim]] : []));
  if (wrong !== undefined) return wrong;
  return chain.some(({ message = '' }) => /signature|"alg"|algorithm/i.test(message))
    ? 'The ID token is not signed with a key of the identity provider, or not with an allowed algorithm.'
    : 'The response of the identity provider is not valid.';
}

/** Codes contain only these characters (RFC 6749, section 4.1.2.1). */
function errorCode(text: unknown): string {
  return typeof text === 'string' && /^[\w.-]{1,64}$/.test(text) ? text : 'without a known error code';
}
