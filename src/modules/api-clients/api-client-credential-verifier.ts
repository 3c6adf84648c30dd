import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { LRUCache } from 'lru-cache';
import {
  CredentialVerifier,
  type AuthenticatedClient,
  type CredentialCheck,
} from '../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
import { SecretDigest, sha256 } from '../../infrastructure/crypto/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { ApiClientsRepository } from './api-clients.repository.js';

/** Milliseconds within which every process notices that a secret is no longer accepted. */
const CREDENTIALS_CACHED_FOR = 5 * SECOND;
const MAX_CACHED_CLIENTS = 10_000;

/** Looked up in place of an ID that is not a UUID, so that the response takes the same time. */
const UNUSED_CLIENT_ID = '00000000-0000-0000-0000-000000000000';
const DUMMY_DIGEST = Buffer.alloc(32);

/**
 * Checks the Basic credentials of API clients. Only successes are cached. The cache key contains a plain hash of the
 * secret, which takes a third of the time of the HMAC. Every failure queries the database, so the response time doesn't
 * reveal which part was wrong.
 */
@Injectable()
export class ApiClientCredentialVerifier extends CredentialVerifier {
  private readonly cache = new LRUCache<string, AuthenticatedClient>({
    max: MAX_CACHED_CLIENTS,
    ttl: CREDENTIALS_CACHED_FOR,
    // Without rounding, and by the service's clock.
    ttlResolution: 0,
    noDeleteOnStaleGet: true,
    perf: { now: () => this.clock.milliseconds() },
  });

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly digest: SecretDigest,
    private readonly clock: Clock,
    private readonly configuration: ServiceConfiguration,
  ) {
    super();
  }

  async verify(clientId: string, secret: string): Promise<CredentialCheck> {
    const key = keyOf(clientId, secret);
    const cached = this.cache.get(key);
    if (cached) return { accepted: true, client: cached };

    const digest = this.digest.of(secret);
    const stored = await this.repository.clientWithDigests(
      isUUID(clientId) ? clientId : UNUSED_CLIENT_ID,
      this.clock.now(),
    );
    const digests = stored?.digests ?? [DUMMY_DIGEST];
    // Compares every digest, even after a match, so that the response time doesn't reveal which one matched.
    const matches = digests.filter((candidate) => SecretDigest.equal(candidate, digest)).length > 0;
    if (!stored || !this.configuration.environments.includes(stored.environment)) return { accepted: false };
    if (!matches) {
      return { accepted: false, client: { clientId: stored.clientId, environment: stored.environment } };
    }
    const client: AuthenticatedClient = {
      clientId: stored.clientId,
      organizationId: stored.organizationId,
      environment: stored.environment,
      enabledOperations: new Set(stored.enabledOperations),
    };
    this.cache.set(key, client);
    return { accepted: true, client };
  }

  lastAccepted(clientId: string, secret: string): AuthenticatedClient | undefined {
    return this.cache.peek(keyOf(clientId, secret), { allowStale: true });
  }
}

function keyOf(clientId: string, secret: string): string {
  return `${clientId}:${sha256(secret).toString('base64')}`;
}
