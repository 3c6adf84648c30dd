import { Injectable, Global, Module } from '@nestjs/common';
import type { Request, Response } from 'express';
import { MoreThan } from 'typeorm';
import { isDashboardUser, type RequestingOrganization } from '../auth/index.js';
import { Sealer, SecretDigest, sha256 } from '../crypto/index.js';
import { Transaction, Transactional } from '../database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../erasure/index.js';
import { ErrorKind, INVALID_FIELD } from '../errors/index.js';
import { requestContext, requestParameter, type RequestAttribution } from '../http/index.js';
import { Clock } from '../time/index.js';
import { IdempotencyKey, KEPT_FOR } from './idempotency-key.entity.js';

const HEADER = 'Idempotency-Key';
export const MAX_KEY_LENGTH = 255;
/** Seconds. */
const RETRY_AFTER = 1;

export const IDEMPOTENCY_KEY_REUSED = new ErrorKind(409, 'INVALID_REQUEST', 'IDEMPOTENCY_KEY_REUSED', {
  when: 'The idempotency key was used before, for a request with different content.',
  message: 'The idempotency key was used for a request with different content. Use another key.',
});

const ONGOING_OPERATION = new ErrorKind(409, 'INVALID_REQUEST', 'ONGOING_OPERATION', {
  when: 'A request with the same `Idempotency-Key` is still being processed.',
  message: 'A request with this idempotency key is still being processed. Retry after a second.',
});

/** The header of a repeated response, in the API document. */
export const IDEMPOTENCY_REPLAYED_HEADER = {
  'Idempotency-Replayed': {
    description: '`true` if this is the response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string' as const, const: 'true' },
  },
};

/** The errors of operations that accept the header, besides INVALID_FIELD. */
export const IDEMPOTENCY_ERRORS = [IDEMPOTENCY_KEY_REUSED, ONGOING_OPERATION];

/** A key, or one in quotation marks, in which a quotation mark and a backslash are escaped. The bounds are those of a key. */
export const KEY_SCHEMA = {
  minLength: 1,
  maxLength: 2 * MAX_KEY_LENGTH + 2,
  pattern: String.raw`^(?:[!#-~][!-~]{0,${MAX_KEY_LENGTH - 1}}|"(?:[!#-\[\]-~]|\\["\\])(?:[ !#-\[\]-~]|\\["\\]){0,${MAX_KEY_LENGTH - 1}}")$`,
};

/** The header in the API document. */
export const IDEMPOTENCY_KEY_PARAMETER = {
  [HEADER]: {
    component: 'IdempotencyKeyParameter',
    description:
      `Makes retries safe: 1 to ${MAX_KEY_LENGTH} visible ASCII characters, with or without quotation marks. For 24 ` +
      'hours, the same request with the same key gets the same response. See `/docs/retrying`.',
    schema: KEY_SCHEMA,
  },
};

/** A structured field of type string (RFC 8941, section 3.3.3), or the same text without quotation marks. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
const UNQUOTED = /^[!#-~][!-~]*$/;

/**
 * Returns the key in the `Idempotency-Key` header of a request (draft-ietf-httpapi-idempotency-key-header-07, section 2.1).
 *
 * @throws ApiError INVALID_FIELD if the header is malformed or repeated
 */
function idempotencyKeyOf({ headers }: Request): string | undefined {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  const [, quoted] = QUOTED.exec(String(header)) ?? [];
  const key = quoted?.replaceAll(/\\(.)/g, '$1') ?? (UNQUOTED.test(String(header)) ? String(header) : '');
  if (key.trim() === '' || key.length > MAX_KEY_LENGTH)
    throw INVALID_FIELD.error(
      `The ${HEADER} header must be one key of 1 to ${MAX_KEY_LENGTH} visible ASCII characters.`,
    );
  return key;
}

/** Handler parameter: the key in the `Idempotency-Key` header, if there is one. */
export const IdempotencyKeyHeader = requestParameter(idempotencyKeyOf);

export interface IdempotentRequest {
  /** The operation, the sender and the key, which together identify the request. */
  readonly identity: readonly string[];
  /** The ID of the API client or the user. */
  readonly sender: string;
  readonly body: object;
  readonly attribution: RequestAttribution;
  readonly response: Pick<Response, 'setHeader'>;
}

/** Handler parameter: what `IdempotentRequests.once()` needs; undefined for a request without a key. */
export const Idempotent = requestParameter((request): IdempotentRequest | undefined => {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const sender = senderOf(request.user as RequestingOrganization);
  return {
    identity: [request.method, request.path, ...sender, key],
    sender: sender[0] as string,
    body: request.body as object,
    attribution: requestContext(request),
    response: request.res as Response,
  };
});

/** A user of the dashboard who repeats a request needs the same credential: it decides which environment is accessible. */
function senderOf(sender: RequestingOrganization): string[] {
  if (!isDashboardUser(sender)) return [sender.clientId];
  return [sender.userId, sender.credential.kind === 'token' ? sender.credential.clientId : ''];
}

interface StoredResponse {
  readonly response: object;
  /** For the request log. */
  readonly sessionId?: string | undefined;
}

/** Performs requests with an `Idempotency-Key` once: docs/decisions/0033-idempotency-key-header.md. */
@HoldsUserData('access')
@Injectable()
export class IdempotentRequests implements UserDataHolder {
  constructor(
    private readonly transaction: Transaction,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /**
   * Does the work, or returns the response of the same request from the last 24 hours. Requests without a key cost nothing.
   * If the work fails, nothing is stored, and the request can be repeated with the same key.
   *
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, ONGOING_OPERATION, or the error of the work
   */
  once<Response extends object>(
    request: IdempotentRequest | undefined,
    work: () => Promise<Response>,
  ): Promise<Response> {
    return request ? this.inTransaction(request, work) : work();
  }

  async eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    const userHash = this.userHashOf(clientId, externalUserId);
    return (await this.transaction.manager.delete(IdempotencyKey, { userHash })).affected ?? 0;
  }

  /** Deletes the stored response that contains a token, which was revoked. A repeated request is then processed again. */
  async forgetToken(tokenHash: Buffer): Promise<void> {
    await this.transaction.manager.delete(IdempotencyKey, { tokenHash });
  }

  private userHashOf(clientId: string, externalUserId: string): Buffer {
    return this.digest.of(JSON.stringify(['idempotent user', clientId, externalUserId]));
  }

  /** One transaction contains the work and the key, so that a crash leaves both or neither. */
  @Transactional()
  private async inTransaction<Response extends object>(
    { identity, sender, body, attribution, response: http }: IdempotentRequest,
    work: () => Promise<Response>,
  ): Promise<Response> {
    const keyHash = this.digest.of(JSON.stringify(['idempotency key', ...identity]));
    const requestHash = this.digest.of(canonicalJson(body));
    const owner = ['idempotency_key', keyHash.toString('hex')];
    // Does not wait: a request that waits would occupy a connection of the pool.
    if (!(await this.transaction.tryLock(`idempotency key ${keyHash.toString('hex')}`)))
      throw ONGOING_OPERATION.error(undefined, { retryAfter: RETRY_AFTER });
    const createdAt = this.clock.now();
    const earlier = await this.transaction.manager.findOneBy(IdempotencyKey, {
      keyHash,
      createdAt: MoreThan(new Date(createdAt.getTime() - KEPT_FOR)),
    });
    if (earlier) {
      if (!earlier.requestHash.equals(requestHash)) throw IDEMPOTENCY_KEY_REUSED.error();
      const { response, ...logged } = JSON.parse(
        this.sealer.open(earlier.responseSealed, owner),
      ) as StoredResponse;
      Object.assign(attribution, logged);
      http.setHeader('Idempotency-Replayed', 'true');
      return response as Response;
    }
    const response = await work();
    const stored: StoredResponse = { response, sessionId: attribution.sessionId };
    const responseSealed = this.sealer.seal(JSON.stringify(stored), owner);
    const { external_user_id: user } = body as { readonly external_user_id?: string };
    const { token } = response as { readonly token?: string };
    const userHash = user === undefined ? null : this.userHashOf(sender, user);
    const tokenHash = token === undefined ? null : sha256(token);
    const row: IdempotencyKey = { keyHash, requestHash, responseSealed, userHash, tokenHash, createdAt };
    // Replaces a key that has expired and is not deleted yet.
    await this.transaction.manager.upsert(IdempotencyKey, row, ['keyHash']);
    return response;
  }
}

/** Returns the JSON of a value. It does not depend on the order of the members. */
export function canonicalJson(value: object): string {
  return JSON.stringify(value, sortedMembers);
}

function sortedMembers(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

@Global()
@Module({ providers: [IdempotentRequests], exports: [IdempotentRequests] })
export class IdempotencyModule {}
