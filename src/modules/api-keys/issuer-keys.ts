import { Injectable, Logger } from '@nestjs/common';
import { compactVerify, createLocalJWKSet, errors, type CompactVerifyGetKey, type JWK } from 'jose';
import { BoundedCache } from '../../infrastructure/caching/index.js';
import { HttpClient } from '../../infrastructure/http-client/index.js';
import { Clock, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { parsedJson } from '../../infrastructure/config/index.js';
import type { AssertionClaims } from './key-trust.js';

/** Only asymmetric algorithms: with others, anyone who can verify a token could also make one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** Bytes. */
const MAX_DOCUMENT_SIZE = 256 * 1024;
const MAX_KEYS = 100;
const DEADLINE = 5 * SECOND;
/** Milliseconds after which keys are read again, and for which they are used if that fails. */
const FRESH_FOR = 5 * MINUTE;
const USED_FOR = 10 * MINUTE;
/** Milliseconds between two requests for the keys of an issuer. */
const REFRESH_INTERVAL = MINUTE;
const MAX_ISSUERS = 1_000;
/** Characters of the keys of all issuers together. */
const MAX_KEPT = 16 * 1024 * 1024;
/** Characters of the keys of one, which has about 2,000. So the issuers of one organization leave room for those of others. */
const MAX_SET = 48 * 1024;
/** The members of a public key (RFC 7518, section 6; RFC 8037). What else an issuer publishes is not kept. */
const KEY_MEMBERS = ['kty', 'kid', 'alg', 'use', 'crv', 'n', 'e', 'x', 'y'] as const;
const WELL_KNOWN = '/.well-known/openid-configuration';

/** The reason why a token of another issuer is not accepted, as a sentence for the request log of the client. */
export class RefusedAssertion extends Error {}

interface KnownIssuer {
  /** Undefined if the keys were never read, or too long ago. */
  readonly keyOf: CompactVerifyGetKey | undefined;
  /** Characters of the keys, and 1. */
  readonly size: number;
  /** On the monotonic clock. */
  readonly fetchedAt: number;
  readonly triedAt: number;
  /** Why the keys could not be read at last. */
  readonly problem?: string;
}

const UNKNOWN: KnownIssuer = { keyOf: undefined, size: 1, fetchedAt: -Infinity, triedAt: -Infinity };

/**
 * Verifies the signatures of tokens of other issuers, whose addresses customers chose. The keys come through the HTTP client that cannot
 * reach private addresses.
 */
@Injectable()
export class IssuerKeys {
  private readonly logger = new Logger('ApiKeys');
  private readonly issuers = new BoundedCache<KnownIssuer>({
    max: MAX_ISSUERS,
    maxSize: MAX_KEPT,
    sizeCalculation: ({ size }) => size,
  });
  private readonly fetches = new Map<string, Promise<KnownIssuer>>();

  constructor(
    private readonly http: HttpClient,
    private readonly clock: Clock,
  ) {}

  /** Returns why the address of an issuer cannot be used. */
  problemWith(issuer: string): string | undefined {
    return this.http.urlProblem(issuer) === undefined ? undefined : 'The issuer must be a public https URL.';
  }

  /** Verifies the signature alone. @throws RefusedAssertion */
  async claimsOf(issuer: string, token: string): Promise<AssertionClaims> {
    const known = await this.known(issuer, false);
    try {
      return await this.verify(known, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw refusalOf(error);
    }
    // The issuer may have a new key.
    return this.verify(await this.known(issuer, true), token).catch((error: unknown) => {
      throw refusalOf(error);
    });
  }

  private async verify({ keyOf, problem }: KnownIssuer, token: string): Promise<AssertionClaims> {
    if (!keyOf) throw new RefusedAssertion(`The keys of the issuer cannot be read. ${problem}`);
    const { payload } = await compactVerify(token, keyOf, { algorithms: ALGORITHMS });
    return objectIn(Buffer.from(payload).toString());
  }

  /** @param isOutdated whether the known keys lack the key that is needed */
  private async known(issuer: string, isOutdated: boolean): Promise<KnownIssuer> {
    const now = this.clock.monotonic();
    const kept = this.issuers.get(issuer) ?? UNKNOWN;
    const age = now - kept.fetchedAt;
    const known = age < USED_FOR ? kept : { ...UNKNOWN, triedAt: kept.triedAt, problem: kept.problem };
    if ((age < FRESH_FOR && !isOutdated) || now - known.triedAt < REFRESH_INTERVAL) return known;
    const running = this.fetches.get(issuer) ?? this.fetch(issuer, known);
    this.fetches.set(issuer, running);
    return running;
  }

  /** Keeps the last keys if the current keys cannot be read. */
  private async fetch(issuer: string, last: KnownIssuer): Promise<KnownIssuer> {
    try {
      const read = await this.read(issuer).catch((error: unknown) => {
        if (!(error instanceof RefusedAssertion)) throw error;
        this.logger.warn('The keys of an issuer cannot be read', { issuer, problem: error.message });
        return { ...last, problem: error.message };
      });
      const known = { ...read, triedAt: this.clock.monotonic() };
      this.issuers.set(issuer, known);
      return known;
    } finally {
      this.fetches.delete(issuer);
    }
  }

  private async read(issuer: string): Promise<Omit<KnownIssuer, 'triedAt'>> {
    const metadata = await this.document(issuer.replace(/\/$/, '') + WELL_KNOWN);
    if (metadata['issuer'] !== issuer) throw new RefusedAssertion('Its metadata is that of another issuer.');
    const { keys: published } = await this.document(String(metadata['jwks_uri']));
    if (!Array.isArray(published) || published.length > MAX_KEYS)
      throw new RefusedAssertion('Its key set is not valid.');
    const keys = published.map(publicKeyIn);
    const size = 1 + JSON.stringify(keys).length;
    if (size > MAX_SET) throw new RefusedAssertion('Its keys are larger than 48 KiB.');
    return {
      keyOf: createLocalJWKSet({ keys }),
      size,
      fetchedAt: this.clock.monotonic(),
    };
  }

  private async document(url: string): Promise<Readonly<Record<string, unknown>>> {
    const { text, problem } = await this.http.getDocument({
      url,
      maxBytes: MAX_DOCUMENT_SIZE,
      deadline: DEADLINE,
    });
    if (problem !== null || !text?.isComplete)
      throw new RefusedAssertion(problem ?? 'A document is larger than 256 KiB.');
    return objectIn(text.text);
  }
}

/** Returns the members of a key that a signature needs. */
function publicKeyIn(key: unknown): JWK {
  const members = KEY_MEMBERS.map((name) => [name, (key as Partial<JWK> | null)?.[name]] as const);
  return Object.fromEntries(members.filter(([, value]) => typeof value === 'string')) as JWK;
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  const content = parsedJson(text);
  if (content !== null && typeof content === 'object') return content as Record<string, unknown>;
  throw new RefusedAssertion('A document is not a JSON object.');
}

/** Keys that an issuer publishes can also cause errors of other classes: a malformed or a short key does. */
function refusalOf(error: unknown): RefusedAssertion {
  if (error instanceof RefusedAssertion) return error;
  return new RefusedAssertion(
    error instanceof errors.JWKSNoMatchingKey
      ? 'The issuer has no key with the ID of the token.'
      : 'The token is malformed, its signature is wrong, or its algorithm or key is not allowed.',
  );
}
