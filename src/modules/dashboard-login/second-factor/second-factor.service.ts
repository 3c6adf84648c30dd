import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  INVALID_ACCESS_TOKEN,
  isRecentLogin,
  RECENT_LOGIN_REQUIRED,
  type DashboardActor,
  type DashboardPrincipal,
} from '../../../infrastructure/auth/index.js';
import { Sealer, SecretDigest } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { NO_ACCESS } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { typedCode } from '../../../infrastructure/validation/index.js';
import type { AuditAction } from '../../../infrastructure/audit-catalog/index.js';
import { DashboardUsersRepository, type DashboardUser } from '../../dashboard-users/index.js';
import { AccountEmails, AccountLog } from '../account-emails.js';
import { ProviderRequirement } from '../identity-providers.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { RecoveryCode } from './recovery-code.entity.js';
import { generateTotpSecret, totpStepOf, totpUri } from './totp.js';

/** 32 characters that are easy to tell apart. With 32 characters, a random byte modulo 32 selects one without bias. */
const RECOVERY_CODE_ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
/** 50 random bits, which cannot be guessed with the 20 attempts per hour that are allowed. */
const RECOVERY_CODE_LENGTH = 10;
const RECOVERY_CODES = 10;

const NOT_APPROVED =
  'You logged in through an identity provider that no owner has approved, or with a passkey that you added after such a login. ' +
  'Such a login cannot set up two-factor authentication or create recovery codes. Log in with your password, or ask an owner to ' +
  'approve the identity provider and to unlink you from it, and log in again.';

/** The proof that a user gives in the second step of a login. */
export type SecondFactorProof = { readonly code: string } | { readonly recoveryCode: string };

export interface SecondFactorState {
  readonly enabledAt: Date | null;
  readonly recoveryCodesLeft: number;
  /** Whether the user may log in with a password. If not, changes need a recent login at the identity provider. */
  readonly hasPassword: boolean;
}

/** The setup of an authenticator app, as text and for a QR code. */
export interface SecondFactorSetup {
  readonly secret: string;
  readonly uri: string;
}

/** The second factor of a login: codes of an authenticator app (RFC 6238), and recovery codes. */
@Injectable()
export class SecondFactorService {
  constructor(
    private readonly transaction: Transaction,
    private readonly users: DashboardUsersRepository,
    private readonly passwords: PasswordsService,
    private readonly sessions: DashboardSessionsService,
    private readonly providerRequirement: ProviderRequirement,
    private readonly sealer: Sealer,
    private readonly digest: SecretDigest,
    private readonly emails: AccountEmails,
    private readonly log: AccountLog,
    private readonly clock: Clock,
  ) {}

  async state(userId: string): Promise<SecondFactorState> {
    const user = await this.users.find(userId);
    const recoveryCodesLeft = await this.transaction.manager.countBy(RecoveryCode, { userId });
    const hasPassword = !user || !(await this.providerRequirement.appliesTo(user));
    return { enabledAt: user?.totpEnabledAt ?? null, recoveryCodesLeft, hasPassword };
  }

  /**
   * Creates a secret. It takes effect when a code proves that the app has it. Until then only the browser in which it was asked for can
   * read it: somebody who has a session elsewhere, or had one, must not know the secret that the user enables.
   *
   * @throws ApiError as `lockApproved()`
   */
  @Transactional()
  async prepare(actor: DashboardActor, browser: string): Promise<void> {
    const { id } = await this.lockApproved(actor);
    await this.users.prepareTotp(id, this.sealer.seal(generateTotpSecret(), preparedIn(browser, id)));
  }

  /** @returns undefined when no secret was prepared in this browser, or the second factor is already enabled */
  async prepared(
    { userId, email }: DashboardPrincipal,
    browser: string,
  ): Promise<SecondFactorSetup | undefined> {
    const user = await this.users.find(userId);
    const secret = user ? this.preparedSecretOf(user, browser) : undefined;
    return secret === undefined ? undefined : { secret, uri: totpUri(secret, email) };
  }

  /**
   * @param code from the app
   * @returns the recovery codes, to be shown once; undefined when the code is wrong
   * @throws ApiError as `lockApproved()`
   */
  @Transactional()
  async enable(actor: DashboardActor, browser: string, code: string): Promise<readonly string[] | undefined> {
    const user = await this.lockApproved(actor);
    const secret = this.preparedSecretOf(user, browser);
    if (secret === undefined) return undefined;
    const step = totpStepOf(secret, code, this.clock.milliseconds());
    if (step === undefined) return undefined;
    const totpSecretSealed = this.sealer.seal(secret, ownerOf(user.id));
    await this.users.change(user.id, {
      totpSecretSealed,
      totpEnabledAt: this.clock.now(),
      totpLastStep: step,
    });
    const codes = await this.renew(user.id);
    await this.emails.sendNotice(user.id, 'secondFactorEnabled');
    await this.log.record('auth.two_factor_enable', actor);
    return codes;
  }

  /** @returns whether the password was correct @throws ApiError as `confirm()` */
  async disable(actor: DashboardActor, password: string): Promise<boolean> {
    if (!(await this.confirm(actor, password, 'auth.two_factor_disable'))) return false;
    await this.remove(actor);
    return true;
  }

  /**
   * @returns the new codes, or none when the second factor is not enabled; undefined when the password was wrong
   * @throws ApiError as `confirm()` and `lockApproved()`
   */
  async renewRecoveryCodes(actor: DashboardActor, password: string): Promise<readonly string[] | undefined> {
    if (!(await this.confirm(actor, password, 'auth.recovery_codes_renew'))) return undefined;
    return this.replaceRecoveryCodes(actor);
  }

  /**
   * Checks the password. A user who must log in at an identity provider may know none, and needs a recent login instead.
   *
   * @throws ApiError INVALID_ACCESS_TOKEN, RATE_LIMIT_EXCEEDED
   */
  private async confirm(actor: DashboardActor, password: string, action: AuditAction): Promise<boolean> {
    if ((await this.state(actor.userId)).hasPassword)
      return (await this.passwords.confirm(actor, password, action)) !== undefined;
    if (!isRecentLogin(actor, this.clock.now())) throw INVALID_ACCESS_TOKEN.error(RECENT_LOGIN_REQUIRED);
    return true;
  }

  /** Accepts a valid proof once. Joins the transaction of the login. */
  @Transactional()
  async accepts(user: DashboardUser, proof: SecondFactorProof): Promise<boolean> {
    if (!user.totpEnabledAt) return false;
    if ('recoveryCode' in proof) {
      const code = { userId: user.id, digest: this.digestOf(proof.recoveryCode) };
      return this.transaction.deleteRow(RecoveryCode, code);
    }
    const step = totpStepOf(this.secretOf(user), proof.code, this.clock.milliseconds());
    return step !== undefined && this.users.acceptTotpStep(user.id, step);
  }

  /**
   * Removes the second factor of a user. An email notifies the user.
   *
   * @returns false if there was none
   */
  @Transactional()
  async reset(userId: string): Promise<boolean> {
    const user = await this.users.lock(userId);
    if (!user?.totpEnabledAt) return false;
    await this.users.change(userId, { totpSecretSealed: null, totpEnabledAt: null, totpLastStep: null });
    await this.transaction.manager.delete(RecoveryCode, { userId });
    await this.emails.sendNotice(userId, 'secondFactorDisabled');
    return true;
  }

  @Transactional()
  private async remove(actor: DashboardActor): Promise<void> {
    await this.sessions.lockUserOf(actor);
    if (await this.reset(actor.userId)) await this.log.record('auth.two_factor_disable', actor);
  }

  @Transactional()
  private async replaceRecoveryCodes(actor: DashboardActor): Promise<readonly string[]> {
    const user = await this.lockApproved(actor);
    if (!user.totpEnabledAt) return [];
    const codes = await this.renew(user.id);
    await this.emails.sendNotice(user.id, 'recoveryCodesReplaced');
    await this.log.record('auth.recovery_codes_renew', actor);
    return codes;
  }

  /**
   * Locks the user, unless no owner has approved the login: an admin who controls the identity provider could otherwise lock out the
   * user, or keep codes after the provider has ended.
   *
   * @throws ApiError NO_ACCESS, INVALID_ACCESS_TOKEN
   */
  private async lockApproved(actor: DashboardActor): Promise<DashboardUser> {
    const { user, session } = await this.sessions.lockUserOf(actor);
    if (!session.isOwnerApproved) throw NO_ACCESS.error(NOT_APPROVED);
    return user;
  }

  private async renew(userId: string): Promise<readonly string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, generateRecoveryCode);
    await this.transaction.manager.delete(RecoveryCode, { userId });
    await this.transaction.manager.insert(
      RecoveryCode,
      codes.map((code) => ({ userId, digest: this.digestOf(code) })),
    );
    return codes;
  }

  private preparedSecretOf(user: DashboardUser, browser: string): string | undefined {
    if (!user.totpSecretSealed || user.totpEnabledAt) return undefined;
    try {
      return this.sealer.open(user.totpSecretSealed, preparedIn(browser, user.id));
    } catch {
      // The second factor was prepared in another browser.
      return undefined;
    }
  }

  private secretOf({ id, totpSecretSealed }: DashboardUser): string {
    return this.sealer.open(totpSecretSealed ?? Buffer.alloc(0), ownerOf(id));
  }

  private digestOf(recoveryCode: string): Buffer {
    // Users omit the hyphen and type lowercase letters.
    return this.digest.of(typedCode(recoveryCode));
  }
}

function ownerOf(userId: string): string[] {
  return ['dashboard_user', userId, 'totp_secret'];
}

function preparedIn(browser: string, userId: string): string[] {
  return [...ownerOf(userId), browser];
}

function generateRecoveryCode(): string {
  const characters = [...randomBytes(RECOVERY_CODE_LENGTH)].map((byte) =>
    RECOVERY_CODE_ALPHABET.charAt(byte % RECOVERY_CODE_ALPHABET.length),
  );
  const half = RECOVERY_CODE_LENGTH / 2;
  return `${characters.slice(0, half).join('')}-${characters.slice(half).join('')}`;
}
