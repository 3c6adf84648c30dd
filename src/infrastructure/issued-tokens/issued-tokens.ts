import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { isUUID } from 'class-validator';
import {
  IsNull,
  LessThanOrEqual,
  MoreThan,
  Or,
  type EntityTarget,
  type FindOptionsWhere,
  type QueryDeepPartialEntity,
} from 'typeorm';
import {
  DEFAULT_OVERLAP_HOURS,
  generateSecret,
  isWellFormedSecret,
  MAX_OVERLAP_HOURS,
  SecretDigest,
} from '../crypto/index.js';
import { Transaction } from '../database/index.js';
import { OperatorError } from '../errors/index.js';
import { BackgroundTasks } from '../http/index.js';
import { Clock, CLOCK_TOLERANCE, HOUR, MINUTE } from '../time/index.js';
import { IntegerField, isMissing, validateText } from '../validation/index.js';
import { MAX_TOKEN_NAME_LENGTH, type IssuedToken } from './issued-token.entity.js';

/** A credential whose use is recorded. */
interface UsedRow {
  readonly id: string;
  readonly lastUsedAt: Date | null;
}

/** A token with its plain text, which is returned only once. */
export interface Issued<Token> {
  readonly stored: Token;
  readonly token: string;
}

/** Shared by all credentials of programs that are stored as digests: issue, look-up, use, rotation with overlap and revocation. */
@Injectable()
export class IssuedTokens {
  private readonly logger = new Logger('IssuedTokens');

  constructor(
    private readonly transaction: Transaction,
    private readonly digest: SecretDigest,
    private readonly tasks: BackgroundTasks,
    private readonly clock: Clock,
  ) {}

  /** Stores a new token. @param properties the properties that only this kind of token has, and those that differ from a new token */
  async issue<Token extends IssuedToken>(
    entity: EntityTarget<Token>,
    prefix: string,
    properties: Omit<Token, Exclude<keyof IssuedToken, 'name' | 'scopes'>> & Partial<IssuedToken>,
  ): Promise<Issued<Token>> {
    const token = generateSecret(prefix);
    const stored = {
      id: randomUUID(),
      digest: this.digest.of(token),
      createdAt: this.clock.now(),
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
      ...properties,
    } as unknown as Token;
    await this.transaction.manager.insert(entity, stored as QueryDeepPartialEntity<Token>);
    return { stored, token };
  }

  /** Returns the token with this text, also if it has ended. */
  async find<Token extends IssuedToken>(entity: EntityTarget<Token>, token: string): Promise<Token | null> {
    if (!isWellFormedSecret(token)) return null;
    return this.transaction.manager.findOneBy(entity, {
      digest: this.digest.of(token),
    } as FindOptionsWhere<Token>);
  }

  /**
   * Locks the token until the transaction ends, so that concurrent changes run one after the other.
   *
   * @param what the kind of token in words
   * @throws OperatorError if there is none
   */
  async lock<Token extends IssuedToken>(
    entity: EntityTarget<Token>,
    what: string,
    id: string,
  ): Promise<Token> {
    const where = { id } as FindOptionsWhere<Token>;
    const token = isUUID(id) ? await this.transaction.lockRow(entity, where) : null;
    if (!token) throw new OperatorError(`There is no ${what} ${id}.`);
    return token;
  }

  /** Returns when a token ends that is replaced now. */
  endOfOverlap(
    { createdAt, expiresAt }: Pick<IssuedToken, 'createdAt' | 'expiresAt'>,
    overlapHours: number,
  ): Date {
    // Without overlap, a time in the past, so that the token is not accepted again if the clock is set back.
    if (overlapHours === 0) return createdAt;
    const end = new Date(this.clock.milliseconds() + overlapHours * HOUR);
    return expiresAt && expiresAt < end ? expiresAt : end;
  }

  /** Keeps the time of an earlier revocation. @returns whether the token was not revoked before */
  async revoke<Token extends IssuedToken>(entity: EntityTarget<Token>, id: string): Promise<boolean> {
    return this.transaction.updateRow(
      entity,
      { id, revokedAt: IsNull() } as FindOptionsWhere<Token>,
      { revokedAt: this.clock.now() } as unknown as QueryDeepPartialEntity<Token>,
    );
  }

  /**
   * Records a use: at most once a minute, by one of the processes. The request does not wait for it. A time that was recorded while a
   * clock was ahead is replaced.
   */
  recordUse<Row extends UsedRow>(
    entity: EntityTarget<Row>,
    { id, lastUsedAt }: UsedRow,
    address?: string,
  ): void {
    const now = this.clock.now();
    const aMinuteAgo = new Date(now.getTime() - MINUTE);
    const latest = new Date(now.getTime() + CLOCK_TOLERANCE);
    if (lastUsedAt && lastUsedAt > aMinuteAgo && lastUsedAt <= latest) return;
    const notSince = { id, lastUsedAt: Or(IsNull(), LessThanOrEqual(aMinuteAgo), MoreThan(latest)) };
    const use = { lastUsedAt: now, ...(address !== undefined && { lastUsedIp: address }) };
    this.tasks.begin(async () => {
      try {
        await this.transaction.manager.update(
          entity,
          notSince as unknown as FindOptionsWhere<Row>,
          use as unknown as QueryDeepPartialEntity<Row>,
        );
      } catch (error) {
        this.logger.warn('The last use of a credential was not recorded', error);
      }
    });
  }
}

/** The form of a rotation. */
export class RotationRequest {
  /** For which the previous credential is still accepted. */
  @IntegerField({
    in: 'form',
    required: false,
    min: 0,
    max: MAX_OVERLAP_HOURS,
    default: DEFAULT_OVERLAP_HOURS,
  })
  overlap_hours: number = DEFAULT_OVERLAP_HOURS;
}

/** @throws OperatorError if an overlap is out of bounds */
export function requireOverlap(hours: number): void {
  // Also catches NaN.
  if (!(hours >= 0 && hours <= MAX_OVERLAP_HOURS))
    throw new OperatorError(`The overlap must be between 0 and ${MAX_OVERLAP_HOURS} hours.`);
}

/** Returns the problem with the name of a token. */
export function problemWithName(name: string): string | undefined {
  return isMissing(name) ? 'The name is blank.' : validateText('name', name, MAX_TOKEN_NAME_LENGTH);
}
