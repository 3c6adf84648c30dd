import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { HttpClient, HttpClientConfiguration } from '../../../infrastructure/http-client/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import {
  CLOCK_TOLERANCE,
  IdentityProvider,
  mailboxIn,
  MAX_ADDRESS_LENGTH,
  nameIn,
  subjectIn,
  REASONS,
  RefusedLogin,
  type BegunRequest,
  type LoginOptions,
  type LoginSecrets,
  type ProviderIdentity,
} from '../logins/identity-provider.js';

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

const NOT_A_URL = 'The issuer field must be an https URL, such as https://login.example.com.';
const UNREADABLE = 'The discovery document of the issuer cannot be read:';
const OTHER_ISSUER = `${UNREADABLE} it is that of another issuer.`;
const WELL_KNOWN = '/.well-known/openid-configuration';
const NO_USER_INFO =
  'The ID token contains no email address, and the UserInfo endpoint of the identity provider cannot be used.';

/** Loading the library takes time and memory, which processes without logins save. */
const openidClient = () => import('openid-client');

type Credentials = Pick<SsoConfiguration, 'id' | 'entityId' | 'clientId' | 'clientSecretSealed'>;

/**
 * Identity providers that speak OpenID Connect: the code flow with PKCE, `state`, `nonce` and `iss`. The library `openid-client`
 * does all of the verification; the requests go through the HTTP client that cannot reach private addresses.
 */
@Injectable()
export class OpenidProvider extends IdentityProvider {
  private readonly cache = new LRUCache<string, Promise<Configuration>>({
    max: MAX_CACHED,
    ttl: CACHE_LIFETIME,
  });

  constructor(
    private readonly http: HttpClient,
    private readonly httpConfiguration: HttpClientConfiguration,
    private readonly publicAddress: PublicAddress,
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
   * @throws RefusedLogin if it cannot be used
   */
  async issuerOf(url: string, clientId: string): Promise<string> {
    const problem = this.http.urlProblem(url);
    if (problem === 'SYNTAX' || problem === 'NOT_HTTPS') throw new RefusedLogin(NOT_A_URL);
    const expected = withoutSlash(url.replace(WELL_KNOWN, ''));
    const { issuer } = (await this.discover(expected + WELL_KNOWN, clientId)).serverMetadata();
    if (withoutSlash(issuer) !== expected) throw new RefusedLogin(OTHER_ISSUER);
    return issuer;
  }

  override async begin(
    configuration: Credentials,
    { state, nonce, verifier }: LoginSecrets,
    { forceLogin, email }: LoginOptions,
  ): Promise<BegunRequest> {
    const client = await openidClient();
    const url = client.buildAuthorizationUrl(await this.configured(configuration), {
      redirect_uri: this.address(configuration.id),
      scope: 'openid email profile',
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
    { state, nonce, verifier }: LoginSecrets,
    query: string,
    startedAt: Date,
  ): Promise<ProviderIdentity> {
    const client = await openidClient();
    const configured = await this.configured(configuration);
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
      const hasAddress = token['email'] !== undefined;
      // Some providers send only the address in the ID token (PingOne), or nothing.
      const isComplete =
        (hasAddress && nameIn(token) !== undefined) || !configured.serverMetadata().userinfo_endpoint;
      const info = isComplete
        ? {}
        : await client.fetchUserInfo(configured, tokens.access_token, token.sub).catch(() => {
            // AD FS refuses its own access tokens there. The ID token says enough if it has the address.
            if (!hasAddress) throw new RefusedLogin(NO_USER_INFO);
            return {};
          });
      return identityFrom(configuration.entityId, { ...info, ...token }, startedAt);
    } catch (error) {
      throw error instanceof RefusedLogin ? error : new RefusedLogin(reasonFor(error));
    }
  }

  /** Logins that begin together share one request for the documents of their provider. A failure is not kept. */
  private configured(configuration: Credentials): Promise<Configuration> {
    const { entityId, clientId, clientSecretSealed } = configuration;
    const key = JSON.stringify([entityId, clientId, clientSecretSealed?.toString('base64')]);
    const cached = this.cache.get(key);
    if (cached) return cached;
    const begun = this.discoverConfigured(configuration);
    this.cache.set(key, begun);
    begun.catch(() => this.cache.delete(key));
    return begun;
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
    const client = await openidClient();
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
      const metadata = { client_secret: secret, [client.clockTolerance]: CLOCK_TOLERANCE / SECOND };
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
    const reason = explanation ?? problem;
    if (reason !== null) throw new RefusedLogin(reason);
    if (text?.isComplete === false) throw new RefusedLogin(text.isTooLong ? TOO_LARGE : CUT_OFF);
    return new Response(text?.text ?? '', {
      status: statusCode,
      headers: { 'content-type': text ? 'application/json' : 'text/plain' },
    });
  };
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

function identityFrom(issuer: string, claims: ProviderIdentity['claims'], startedAt: Date): ProviderIdentity {
  const { sub, email, auth_time: time } = claims;
  const address = mailboxIn(email);
  const authenticatedAt = typeof time === 'number' ? new Date(time * SECOND) : undefined;
  return {
    issuer,
    subject: subjectIn(String(sub)),
    email: address,
    isEmailVerified: isVerified(issuer, address, claims),
    name: nameIn(claims),
    authenticatedAt,
    recencyProblem: recencyProblemOf(authenticatedAt, startedAt),
    claims,
  };
}

function recencyProblemOf(authenticatedAt: Date | undefined, startedAt: Date): string | undefined {
  if (!authenticatedAt) return REASONS.noTime;
  return authenticatedAt.getTime() < startedAt.getTime() - CLOCK_TOLERANCE ? NOT_REPEATED : undefined;
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

/** What the library's errors have. The cause of a wrong claim or signature is another error, or its details. */
interface LibraryError {
  readonly message?: string;
  readonly code?: string;
  /** The error code that the provider sent. */
  readonly error?: string;
  readonly claim?: string;
  readonly cause?: LibraryError;
}

/** Returns the reason in words for an error of the library. Values of the response never appear in it, except error codes. */
function reasonFor(thrown: unknown): string {
  const chain: LibraryError[] = [];
  for (let each = thrown as LibraryError | undefined; typeof each === 'object'; each = each.cause)
    chain.push(each);
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
