import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { MoreThan } from 'typeorm';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { Sealer, SecretDigest } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { NOT_FOUND, type ApiError } from '../../../infrastructure/errors/index.js';
import { rateLimitKeyOfAddress } from '../../../infrastructure/http/index.js';
import {
  AttemptLimitsRepository,
  subtractAll,
  tooManyAttempts,
} from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { TOKEN_LIFETIME } from '../access-token.js';
import { RevokedTokensRepository } from '../revoked-tokens.repository.js';
import { DeviceAuthorization } from './device-authorization.entity.js';
import {
  DeviceAuthorizationsRepository,
  type Decision,
  type DeviceAccess,
  type Visibility,
} from './device-authorizations.repository.js';
import { digestOfUserCode, formatUserCode, ownerOfUserCode, parseUserCode } from './user-code.js';

/** Maximum number of devices in a list. Access ends after 15 minutes, so there are few. */
const MAX_DEVICES = 50;

const AUDIT_ACTIONS = { approved: 'auth.device_approve', denied: 'auth.device_deny' } as const;

/**
 * The decisions of users about device authorizations (RFC 8628, section 3.3). A user finds only those of the user's own organization, and
 * decides only in the session that entered the code: otherwise, a link to the confirmation page could trick another user into
 * approving a device.
 */
@Injectable()
export class DeviceApprovalsService {
  /** Limits on wrong codes, per user, and per organization and IP address (RFC 8628, section 5.1). */
  private readonly perUser = this.limits.limit('user-code-of-user', { attempts: 5, within: 15 * MINUTE });
  private readonly perAddress = this.limits.limit('user-code-of-address', { attempts: 20, within: HOUR });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly transaction: Transaction,
    private readonly repository: DeviceAuthorizationsRepository,
    private readonly tokens: RevokedTokensRepository,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly configuration: ServiceConfiguration,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Binds the pending device authorization with the entered user code to the login session of the user.
   *
   * @returns its ID; undefined if there is none
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async enterCode(actor: DashboardActor, entered: string): Promise<string | undefined> {
    const address = JSON.stringify([actor.organizationId, rateLimitKeyOfAddress(actor.origin.ip)]);
    const attempts = [
      { limit: this.perUser, subject: actor.userId, error: tooManyCodes },
      { limit: this.perAddress, subject: address, error: tooManyCodes },
    ];
    const id = await this.limits.attempt(attempts, () => this.bind(actor, entered));
    if (id !== undefined) await subtractAll(attempts);
    return id;
  }

  private async bind(actor: DashboardActor, entered: string): Promise<string | undefined> {
    const code = parseUserCode(entered);
    if (code === undefined) return undefined;
    const { organizationId, environment } = this.visibleTo(actor);
    const pending = {
      userCodeDigest: digestOfUserCode(this.digest, code),
      status: 'pending' as const,
      expiresAt: MoreThan(this.clock.now()),
      organizationId,
      ...(environment && { environment }),
    };
    const found = await this.transaction.manager.findOneBy(DeviceAuthorization, pending);
    const binding = { enteredInSession: sessionIdOf(actor) };
    const isBound = found && (await this.transaction.updateRow(DeviceAuthorization, pending, binding));
    return isBound ? found.id : undefined;
  }

  async find(actor: DashboardActor, id: unknown): Promise<DeviceAuthorization | null> {
    if (!isUUID(id)) return null;
    const { organizationId, environment } = this.visibleTo(actor);
    const where = { id: id as string, organizationId, ...(environment && { environment }) };
    return this.transaction.manager.findOneBy(DeviceAuthorization, where);
  }

  isPending({ status, expiresAt }: DeviceAuthorization): boolean {
    return status === 'pending' && expiresAt > this.clock.now();
  }

  /** Returns whether the user entered the code in the current session. */
  isEnteredBy(actor: DashboardActor, { enteredInSession }: DeviceAuthorization): boolean {
    return enteredInSession === sessionIdOf(actor);
  }

  userCodeOf({ id, userCodeSealed }: DeviceAuthorization): string {
    return formatUserCode(this.sealer.open(userCodeSealed, ownerOfUserCode(id)));
  }

  /**
   * Records a user's decision and its audit entry. Does nothing if the device authorization is no longer pending, or
   * another session entered its code.
   */
  @Transactional()
  async decide(
    actor: DashboardActor,
    { id, clientId, environment }: DeviceAuthorization,
    status: Decision['status'],
  ): Promise<void> {
    // Uses the access version that the request was authenticated with. If a password reset increases the version at the
    // same time, the approval is not valid.
    const { userId, accessVersion } = actor;
    const now = this.clock.now();
    const pending = {
      id,
      status: 'pending' as const,
      expiresAt: MoreThan(now),
      enteredInSession: sessionIdOf(actor),
    };
    const decision: Decision = { status, userId, decidedAt: now, accessVersion };
    if (!(await this.transaction.updateRow(DeviceAuthorization, pending, decision))) return;
    const target = { name: clientId, environment };
    await this.auditLog.record({ action: AUDIT_ACTIONS[status], actor, target });
  }

  /** Returns the user's devices that have access, newest first. */
  async listAccess(actor: DashboardActor): Promise<DeviceAccess[]> {
    return this.repository.withAccess(actor, this.visibleTo(actor), this.clock.now(), MAX_DEVICES);
  }

  /**
   * Ends the access of a device that the user approved, even if the device fetches its token at the same time: the token
   * has the ID of the device authorization.
   *
   * @throws ApiError NOT_FOUND
   */
  @Transactional()
  async endAccess(actor: DashboardActor, id: string): Promise<void> {
    const device = await this.find(actor, id);
    if (!device || device.userId !== actor.userId) throw NOT_FOUND.error();
    const approved = { id: device.id, status: 'approved' as const };
    await this.transaction.manager.update(DeviceAuthorization, approved, { status: 'denied' });
    const expiresAt = new Date((device.redeemedAt ?? device.expiresAt).getTime() + TOKEN_LIFETIME);
    if (!(await this.tokens.revoke({ jti: device.id, expiresAt }))) return;
    const target = { name: device.clientId, environment: device.environment };
    await this.auditLog.record({ action: 'auth.device_revoke', actor, target });
  }

  private visibleTo({ organizationId }: DashboardActor): Visibility {
    return { organizationId, environment: this.configuration.pinnedEnvironment };
  }
}

function sessionIdOf({ credential }: DashboardActor): string {
  if (credential.kind !== 'session') throw new Error('Pages accept no access tokens');
  return credential.sessionId;
}

function tooManyCodes(wait: number): ApiError {
  return tooManyAttempts(wait, 'Too many wrong codes.');
}
