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

/** How long a replica goes on with what it knows: a rotation or revocation is seen everywhere within it. */
const CREDENTIALS_CACHED_FOR = 5 * SECOND;
/** Clients kept at once; beyond that the oldest are asked for again. */
const CACHED_CLIENTS = 10_000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Looked up in place of what is no UUID at all, so that the answer takes as long. */
const NOBODY = '00000000-0000-0000-0000-000000000000';
const DUMMY_DIGEST = Buffer.alloc(32);

interface CachedClient {
  readonly client: AuthenticatedClient;
  readonly until: number;
}

/**
 * Checks the Basic credentials of API clients. Only successes are remembered, under the digest of the
 * secret: every failure asks the database, so the time tells nothing about which part was wrong.
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
      UUID.test(clientId) ? clientId : NOBODY,
      this.clock.now(),
    );
    const digests = stored?.digests ?? [DUMMY_DIGEST];
    // Every digest is compared, also after a match.
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
    if (this.cache.size <= CACHED_CLIENTS) return;
    // A Map keeps the order of insertion: the first key is the oldest.
    const [oldest] = this.cache.keys();
    if (oldest !== undefined) this.cache.delete(oldest);
  }
}
