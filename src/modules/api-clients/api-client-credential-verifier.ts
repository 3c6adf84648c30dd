import { Injectable } from '@nestjs/common';
import {
  CredentialVerifier,
  type AuthenticatedClient,
  type CredentialCheck,
} from '../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
import { SecretDigest } from '../../infrastructure/crypto/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { ApiClientsRepository } from './api-clients.repository.js';

/** After a rotation or revocation, other processes accept the old secret for up to this long. */
const CREDENTIALS_CACHED_FOR = 5 * SECOND;
/** Maximum number of cached clients. The oldest is removed first. */
const MAX_CACHED_CLIENTS = 10_000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Looked up in place of an invalid client id, so that the response takes as long. */
const UNUSED_CLIENT_ID = '00000000-0000-0000-0000-000000000000';
const DUMMY_DIGEST = Buffer.alloc(32);

interface CachedClient {
  readonly client: AuthenticatedClient;
  readonly until: number;
}

/**
 * Verifies the Basic credentials of API clients. Only successful checks are cached, by the digest of the secret. Every
 * failure queries the database, so that the response time does not reveal which part was wrong.
 */
@Injectable()
export class ApiClientCredentialVerifier extends CredentialVerifier {
  private readonly cache = new Map<string, CachedClient>();

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly digest: SecretDigest,
    private readonly clock: Clock,
    private readonly configuration: ServiceConfiguration,
  ) {
    super();
  }

  async verify(clientId: string, secret: string): Promise<CredentialCheck> {
    const digest = this.digest.of(secret);
    const key = `${clientId}:${digest.toString('base64')}`;
    const cached = this.cache.get(key);
    if (cached && cached.until > this.clock.milliseconds()) return { accepted: true, client: cached.client };

    const stored = await this.repository.credentialsOf(
      UUID.test(clientId) ? clientId : UNUSED_CLIENT_ID,
      this.clock.now(),
    );
    const digests = stored?.digests ?? [DUMMY_DIGEST];
    // Compares every digest, even after a match, to take constant time.
    const matches = digests.filter((candidate) => SecretDigest.equal(candidate, digest)).length > 0;
    const { pinnedEnvironment } = this.configuration;
    if (!stored || (pinnedEnvironment && stored.environment !== pinnedEnvironment))
      return { accepted: false };
    if (!matches) {
      return { accepted: false, client: { clientId: stored.clientId, environment: stored.environment } };
    }
    const client: AuthenticatedClient = {
      clientId: stored.clientId,
      organizationId: stored.organizationId,
      environment: stored.environment,
      enabledOperations: new Set(stored.enabledOperations),
    };
    this.remember(key, client);
    return { accepted: true, client };
  }

  private remember(key: string, client: AuthenticatedClient): void {
    this.cache.delete(key);
    this.cache.set(key, { client, until: this.clock.milliseconds() + CREDENTIALS_CACHED_FOR });
    if (this.cache.size <= MAX_CACHED_CLIENTS) return;
    // A Map is ordered by insertion: the first key is the oldest.
    const [oldest] = this.cache.keys();
    if (oldest !== undefined) this.cache.delete(oldest);
  }
}
