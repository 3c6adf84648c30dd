import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { Request } from 'express';
import {
  CredentialVerifier,
  type AuthenticatedClient,
  type CredentialCheck,
  type DashboardIdentity,
  type Scope,
} from '../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
import { SecretDigest } from '../../infrastructure/crypto/index.js';
import { clientAddress, requestContext, type AttributedClient } from '../../infrastructure/http/index.js';
import {
  AcceptedCredentials,
  cacheKeyOf,
  isBefore,
  IssuedTokens,
} from '../../infrastructure/issued-tokens/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { ApiClientCredentialVerifier, UNUSED_CLIENT_ID } from '../api-clients/index.js';
import { API_KEY_EMAIL, type CurrentKeys } from '../audit-logs/index.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysRepository, type KeyWithClient } from './api-keys.repository.js';
import { isInRanges } from './ip-ranges.js';

const PREFIX = /^mck_/;

type AuthenticatedWithKey = AuthenticatedClient & Required<Pick<AuthenticatedClient, 'key'>>;

/** A key that was accepted, and its ranges, which depend on the request. */
interface KnownKey extends Pick<KeyWithClient, 'ipRanges' | 'expiresAt'> {
  readonly client: AuthenticatedWithKey;
}

/**
 * Checks API keys and secrets. Only keys that are accepted are cached, like secrets; every refusal queries the database and takes as
 * long as that of a wrong secret. The request log of the client gets the reason, the response does not.
 */
@Injectable()
export class ApiKeyVerifier extends CredentialVerifier implements CurrentKeys {
  private readonly cache = new AcceptedCredentials<KnownKey>(this.clock);

  constructor(
    private readonly secrets: ApiClientCredentialVerifier,
    private readonly repository: ApiKeysRepository,
    private readonly tokens: IssuedTokens,
    private readonly digest: SecretDigest,
    private readonly clock: Clock,
    private readonly configuration: ServiceConfiguration,
  ) {
    super();
  }

  verify(clientId: string, secret: string, request: Request): Promise<CredentialCheck> {
    return PREFIX.test(secret)
      ? this.verifyKey(clientId, secret, request)
      : this.secrets.verify(clientId, secret, request);
  }

  private async verifyKey(clientId: string, secret: string, request: Request): Promise<CredentialCheck> {
    const cacheKey = cacheKeyOf(secret, clientId);
    const known = this.cache.get(cacheKey);
    if (known && this.isUsable(known, request)) return { accepted: true, client: known.client };
    const claimed = await this.repository.claimed(
      isUUID(clientId) ? clientId : UNUSED_CLIENT_ID,
      this.digest.of(secret),
    );
    if (!claimed || !this.configuration.environments.includes(claimed.environment))
      return { accepted: false };
    const { key } = claimed;
    const refusal = this.refusalOf(
      key?.organizationId === claimed.organizationId ? key : null,
      request,
      claimed,
    );
    if (!key || refusal !== undefined) {
      const { clientId: id, environment } = claimed;
      return { accepted: false, client: { clientId: id, environment }, refusal };
    }
    return { accepted: true, client: this.accepted(cacheKey, key, request) };
  }

  lastAccepted(clientId: string, secret: string): AttributedClient | undefined {
    if (!PREFIX.test(secret)) return this.secrets.lastAccepted(clientId, secret);
    return this.cache.last(cacheKeyOf(secret, clientId))?.client;
  }

  /** Returns whether a Bearer token has the form of an API key. */
  isKey(token: string): boolean {
    return PREFIX.test(token);
  }

  /** Checks a key that was sent as a Bearer token. @returns undefined if it is not accepted */
  async identify(token: string, request: Request): Promise<DashboardIdentity | undefined> {
    const cacheKey = cacheKeyOf(token);
    const known = this.cache.get(cacheKey);
    if (known && this.isUsable(known, request)) return identityOf(known.client);
    const key = await this.repository.find('digest', this.digest.of(token));
    return this.isAccepted(key, request) ? identityOf(this.accepted(cacheKey, key, request)) : undefined;
  }

  /**
   * Checks the key that an access token was issued for: it must not have ended since, and have the scopes.
   *
   * @param scopes those of the token: the key may have lost some
   */
  async identifyById(
    id: string,
    scopes: readonly string[],
    request: Request | undefined,
  ): Promise<DashboardIdentity | undefined> {
    const key = await this.repository.find('id', id);
    if (!this.isAccepted(key, request)) return undefined;
    const left = key.scopes.filter((scope) => scopes.includes(scope));
    return identityOf(authenticated({ ...key, scopes: left }));
  }

  async isActive(id: string, scopes: ReadonlySet<Scope>): Promise<boolean> {
    const key = await this.repository.find('id', id);
    return this.isAccepted(key, undefined) && [...scopes].every((scope) => key.scopes.includes(scope));
  }

  private isAccepted(key: KeyWithClient | undefined, request: Request | undefined): key is KeyWithClient {
    if (!key || !this.configuration.environments.includes(key.environment)) return false;
    const refusal = this.refusalOf(key, request);
    if (refusal === undefined) return true;
    if (request) Object.assign(requestContext(request), { client: attributed(key), refusal });
    return false;
  }

  private isUsable({ ipRanges, expiresAt }: KnownKey, request: Request): boolean {
    return (
      isBefore(this.clock.now(), expiresAt) &&
      (ipRanges.length === 0 || isInRanges(clientAddress(request), ipRanges))
    );
  }

  private accepted(cacheKey: string, key: KeyWithClient, request: Request): AuthenticatedWithKey {
    const client = authenticated(key);
    this.cache.set(cacheKey, { client, ipRanges: key.ipRanges, expiresAt: key.expiresAt });
    this.tokens.recordUse(ApiKey, key, clientAddress(request));
    return client;
  }

  /**
   * Returns the reason why a key is not accepted, for the request log of the client.
   *
   * @param request absent if only the key matters
   * @param claimed the client in whose name the request was sent, if it names one
   */
  private refusalOf(
    key: KeyWithClient | null,
    request: Request | undefined,
    claimed: AttributedClient | undefined = key ?? undefined,
  ): string | undefined {
    const address = request && clientAddress(request);
    const problem = ((): string | undefined => {
      if (!key) return 'The API key is unknown';
      if (key.clientId !== claimed?.clientId)
        return `The API key “${key.name}” belongs to the ${key.environment} client`;
      if (key.revokedAt) return `The API key “${key.name}” was ended`;
      if (!isBefore(this.clock.now(), key.expiresAt)) return `The API key “${key.name}” has expired`;
      if (address !== undefined && !isInRanges(address, key.ipRanges))
        return `The API key “${key.name}” is not accepted from this address`;
      return undefined;
    })();
    return problem === undefined ? undefined : `${problem}. The request came from ${address}.`;
  }
}

function attributed({ clientId, environment }: AttributedClient): AttributedClient {
  return { clientId, environment };
}

function authenticated(key: KeyWithClient): AuthenticatedWithKey {
  return {
    clientId: key.clientId,
    organizationId: key.organizationId,
    environment: key.environment,
    enabledOperations: new Set(key.enabledOperations),
    key: { id: key.id, name: key.name, scopes: new Set(key.scopes) },
  };
}

/** Returns the client, if the identity is that of an API key. */
export function clientOfKey(identity: DashboardIdentity | undefined): AuthenticatedClient | undefined {
  if (identity?.credential.kind !== 'key') return undefined;
  const { kind: _kind, scopes: _scopes, ...client } = identity.credential;
  return client;
}

/** Returns a key as a principal of the dashboard, with the rights of a member. */
function identityOf(client: AuthenticatedWithKey): DashboardIdentity {
  const { key, organizationId } = client;
  return {
    userId: key.id,
    organizationId,
    organizationName: '',
    name: key.name,
    email: API_KEY_EMAIL,
    role: 'member',
    accessVersion: 0,
    lacksSecondFactor: false,
    secondFactorDue: null,
    credential: { ...client, kind: 'key', scopes: key.scopes },
  };
}
