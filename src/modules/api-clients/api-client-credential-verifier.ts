import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { Request } from 'express';
import type { AuthenticatedClient, CredentialCheck } from '../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
import { SecretDigest } from '../../infrastructure/crypto/index.js';
import { clientAddress } from '../../infrastructure/http/index.js';
import { AcceptedCredentials, cacheKeyOf, IssuedTokens } from '../../infrastructure/issued-tokens/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { ApiSecret } from './api-client.entity.js';
import { ApiClientsRepository } from './api-clients.repository.js';

/** Looked up in place of an ID that is not a UUID, so that the response takes the same time. */
export const UNUSED_CLIENT_ID = '00000000-0000-0000-0000-000000000000';
const UNUSED_SECRET = { id: UNUSED_CLIENT_ID, version: 0, digest: Buffer.alloc(32), lastUsedAt: null };

/**
 * Checks the secrets of API clients for `ApiKeyVerifier`. Only successes are cached. The cache key contains a plain hash of the
 * secret, which takes a third of the time of the HMAC. Every failure queries the database, so the response time doesn't
 * reveal which part was wrong.
 */
@Injectable()
export class ApiClientCredentialVerifier {
  private readonly cache = new AcceptedCredentials<AuthenticatedClient>(this.clock);

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly digest: SecretDigest,
    private readonly clock: Clock,
    private readonly configuration: ServiceConfiguration,
    private readonly tokens: IssuedTokens,
  ) {}

  async verify(clientId: string, secret: string, request: Request): Promise<CredentialCheck> {
    const key = cacheKeyOf(secret, clientId);
    const cached = this.cache.get(key);
    if (cached) return { accepted: true, client: cached };

    const digest = this.digest.of(secret);
    const secrets = await this.repository.acceptedSecrets(
      isUUID(clientId) ? clientId : UNUSED_CLIENT_ID,
      this.clock.now(),
    );
    const [stored] = secrets;
    // Compares every digest, even after a match, so that the response time doesn't reveal which one matched.
    const [match] = (stored ? secrets : [UNUSED_SECRET]).filter((each) =>
      SecretDigest.equal(each.digest, digest),
    );
    if (!stored || !this.configuration.environments.includes(stored.environment)) return { accepted: false };
    if (!match || stored.signsOnly) {
      const client = { clientId: stored.clientId, environment: stored.environment };
      return { accepted: false, client, refusal: match && refusalOf(clientAddress(request)) };
    }
    this.tokens.recordUse(ApiSecret, match, clientAddress(request));
    const client: AuthenticatedClient = {
      clientId: stored.clientId,
      organizationId: stored.organizationId,
      environment: stored.environment,
      enabledOperations: new Set(stored.enabledOperations),
      secretVersion: match.version,
    };
    this.cache.set(key, client);
    return { accepted: true, client };
  }

  lastAccepted(clientId: string, secret: string): AuthenticatedClient | undefined {
    return this.cache.last(cacheKeyOf(secret, clientId));
  }
}

/** The reason, shown in the request log of the client. */
const refusalOf = (address: string): string =>
  `The secret only signs webhooks: send an API key. The request came from ${address}.`;
