import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { MoreThan } from 'typeorm';
import { isDashboardUser, type RequestingOrganization } from '../auth/index.js';
import { Sealer, SecretDigest, sha256 } from '../crypto/index.js';
import { Transaction, Transactional } from '../database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../erasure/index.js';
import { INVALID_FIELD } from '../errors/index.js';
import { requestContext, requestParameter, type RequestAttribution } from '../http/index.js';
import { withMessages } from '../openapi/index.js';
import { Clock } from '../time/index.js';
import { IdempotencyKey, KEPT_FOR } from './idempotency-key.entity.js';
import { IDEMPOTENCY_KEY_REUSED, ONGOING_OPERATION } from './idempotency-errors.js';

const HEADER = 'Idempotency-Key';
export const MAX_KEY_LENGTH = 255;
/** Seconds. */
const RETRY_AFTER = 1;

/** The header of a repeated response, in the API document. */
export const IDEMPOTENCY_REPLAYED_HEADER = {
  'Idempotency-Replayed': {
    description: '`true` if this is the response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string' as const, const: 'true' },
  },
};

const MALFORMED = `The ${HEADER} header must be one key of 1 to ${MAX_KEY_LENGTH} visible ASCII characters.`;

/** The error about the header, for operations without a body and other parameters that could be invalid. */
export const MALFORMED_KEY = withMessages(INVALID_FIELD, MALFORMED);

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

/** The part of the document of an operation that accepts the header, besides the errors. */
export const ACCEPTS_IDEMPOTENCY_KEY = {
  headerParameters: IDEMPOTENCY_KEY_PARAMETER,
  responseHeaders: IDEMPOTENCY_REPLAYED_HEADER,
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
  if (key.trim() === '' || key.length > MAX_KEY_LENGTH) throw INVALID_FIELD.error(MALFORMED);
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
    // Some operations have no body.
    body: (request.body as object | undefined) ?? {},
    attribution: requestContext(request),
    response: request.res as Response,
  };
});

/**
 * A user of the dashboard who repeats a request needs the same credential: it decides which environment is accessible. An API key is
 * its client, so that its successor can repeat a request.
 */
function senderOf(sender: RequestingOrganization): string[] {
  if (!isDashboardUser(sender)) return [sender.clientId];
  const { userId, credential } = sender;
  if (credential.kind === 'key') return [credential.clientId];
  return [userId, credential.kind === 'session' ? '' : credential.clientId];
}

interface StoredResponse {
  /** Missing as long as the key is only claimed. */
  readonly response?: object;
  /** The ID of what the first step of the work stored, if the key was claimed with `claim`. */
  readonly claimed?: string | undefined;
  /** For the request log. */
  readonly sessionId?: string | undefined;
}

/** The content of a stored response. */
interface StoredContent<Response> {
  /** The client's identifier of the user whom the request is about. The response is deleted when the user is erased. */
  readonly externalUserId?: string;
  /** Returns the token in the response, so that the response can be deleted with `forgetToken`. */
  readonly tokenIn?: (response: Response) => string;
}

/** Performs requests with an `Idempotency-Key` once: docs/decisions/0033-idempotency-key-header.md. */
@HoldsUserData('access')
@Injectable()
export class IdempotentRequests implements UserDataHolder {
  private readonly ongoing = new Set<string>();

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
    content: StoredContent<Response> = {},
  ): Promise<Response> {
    return request ? this.inTransaction(request, work, content) : work();
  }

  /**
   * Returns the response of the same request from the last 24 hours, or does work that calls `once`, and has steps that `once` cannot
   * contain because they need a connection of their own or wait for others: limits and messages. Of simultaneous requests in this
   * process, only one begins.
   *
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, ONGOING_OPERATION, or the error of the work
   */
  async replayOr<Response extends object>(
    request: IdempotentRequest | undefined,
    work: () => Promise<Response>,
  ): Promise<Response> {
    if (!request) return work();
    const keyHash = this.keyHashOf(request);
    const key = keyHash.toString('hex');
    if (this.ongoing.has(key)) throw ONGOING_OPERATION.error(undefined, { retryAfter: RETRY_AFTER });
    this.ongoing.add(key);
    try {
      return ((await this.find(request, keyHash)) as Response | undefined) ?? (await work());
    } finally {
      this.ongoing.delete(key);
    }
  }

  /**
   * Does the first step of work that `replayOr` contains, in the transaction that claims the key: from then on, the key refuses other
   * requests in all processes. Until `once` stores the response, the same request continues after the step.
   *
   * @param step returns the ID of what it stored
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, ONGOING_OPERATION, or the error of the step
   */
  claim(request: IdempotentRequest | undefined, step: () => Promise<string>): Promise<string> {
    return request ? this.claimInTransaction(request, step) : step();
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

  private keyHashOf({ identity }: IdempotentRequest): Buffer {
    return this.digest.of(JSON.stringify(['idempotency key', ...identity]));
  }

  private requestHashOf({ body }: IdempotentRequest): Buffer {
    return this.digest.of(canonicalJson(body));
  }

  private async find(request: IdempotentRequest, keyHash: Buffer): Promise<object | undefined> {
    const stored = await this.findStored(request, keyHash);
    return stored && this.replay(request, stored);
  }

  private replay(
    { attribution, response: answer }: IdempotentRequest,
    { response, sessionId }: StoredResponse,
  ): object | undefined {
    if (!response) return undefined;
    Object.assign(attribution, sessionId !== undefined && { sessionId });
    answer.setHeader('Idempotency-Replayed', 'true');
    return response;
  }

  private async findStored(request: IdempotentRequest, keyHash: Buffer): Promise<StoredResponse | undefined> {
    const earlier = await this.transaction.manager.findOneBy(IdempotencyKey, {
      keyHash,
      createdAt: MoreThan(new Date(this.clock.milliseconds() - KEPT_FOR)),
    });
    if (!earlier) return undefined;
    if (!earlier.requestHash.equals(this.requestHashOf(request))) throw IDEMPOTENCY_KEY_REUSED.error();
    return JSON.parse(this.sealer.open(earlier.responseSealed, ownerOf(keyHash))) as StoredResponse;
  }

  @Transactional()
  private async claimInTransaction(request: IdempotentRequest, step: () => Promise<string>): Promise<string> {
    const keyHash = await this.lock(request);
    const earlier = await this.findStored(request, keyHash);
    if (earlier?.claimed !== undefined) return earlier.claimed;
    const claimed = await step();
    await this.store(request, keyHash, { claimed });
    return claimed;
  }

  /** One transaction contains the work and the key, so that a crash leaves both or neither. */
  @Transactional()
  private async inTransaction<Response extends object>(
    request: IdempotentRequest,
    work: () => Promise<Response>,
    { externalUserId, tokenIn }: StoredContent<Response>,
  ): Promise<Response> {
    const { sender, attribution } = request;
    const keyHash = await this.lock(request);
    const earlier = await this.findStored(request, keyHash);
    const replayed = earlier && this.replay(request, earlier);
    if (replayed) return replayed as Response;
    const response = await work();
    const stored = { response, claimed: earlier?.claimed, sessionId: attribution.sessionId };
    await this.store(request, keyHash, stored, {
      userHash: externalUserId === undefined ? null : this.userHashOf(sender, externalUserId),
      tokenHash: tokenIn ? sha256(tokenIn(response)) : null,
    });
    return response;
  }

  /** Does not wait for another request: a waiting request would occupy a connection of the pool. */
  private async lock(request: IdempotentRequest): Promise<Buffer> {
    const keyHash = this.keyHashOf(request);
    if (!(await this.transaction.tryLock(`idempotency key ${keyHash.toString('hex')}`)))
      throw ONGOING_OPERATION.error(undefined, { retryAfter: RETRY_AFTER });
    return keyHash;
  }

  private async store(
    request: IdempotentRequest,
    keyHash: Buffer,
    stored: StoredResponse,
    hashes: Pick<IdempotencyKey, 'userHash' | 'tokenHash'> = { userHash: null, tokenHash: null },
  ): Promise<void> {
    const responseSealed = this.sealer.seal(JSON.stringify(stored), ownerOf(keyHash));
    const requestHash = this.requestHashOf(request);
    const row: IdempotencyKey = {
      keyHash,
      requestHash,
      responseSealed,
      ...hashes,
      createdAt: this.clock.now(),
    };
    // Replaces a key that has expired and is not deleted yet.
    await this.transaction.manager.upsert(IdempotencyKey, row, ['keyHash']);
  }
}

const ownerOf = (keyHash: Buffer): string[] => ['idempotency_key', keyHash.toString('hex')];

/** Returns the JSON of a value. It does not depend on the order of the members. */
export function canonicalJson(value: object): string {
  return JSON.stringify(value, sortedMembers);
}

function sortedMembers(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
