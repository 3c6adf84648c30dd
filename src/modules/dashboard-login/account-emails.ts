import { Injectable } from '@nestjs/common';
import { browserName, type RequestOrigin } from '../../infrastructure/http/index.js';
import { AttemptLimitsRepository } from '../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR, timeInUtc } from '../../infrastructure/time/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { unlessOwnFailure } from '../../infrastructure/database/index.js';
import { AuditLog, type AuditActor, type AuditOutcome } from '../audit-logs/index.js';
import { EmailsRepository, roleInWords, type DashboardUser, type Inviter } from '../dashboard-users/index.js';

const IF_NOT_YOU =
  "If you didn't do this, request a new password on the login page right away, and tell an owner of your organization.";

/** Emails about changes to an account, so that users notice changes that somebody else made. */
const NOTICES = {
  passwordChanged: {
    subject: 'Your password was changed',
    text: 'The password of your account was changed, and your other sessions were ended.',
  },
  secondFactorEnabled: {
    subject: 'Two-factor authentication was turned on',
    text: 'Two-factor authentication was turned on for your account.',
  },
  secondFactorDisabled: {
    subject: 'Two-factor authentication was turned off',
    text: 'Two-factor authentication was turned off for your account.',
  },
  recoveryCodesReplaced: {
    subject: 'Your recovery codes were replaced',
    text: 'New recovery codes were created for your account. The old codes no longer work.',
  },
  passkeyAdded: {
    subject: 'A passkey was added to your account',
    text: 'A passkey was added to your account. Whoever has it can log in without your password. If you didn’t add it, remove it on the page “Passkeys” of your account: a new password alone doesn’t remove it.',
  },
  passkeyRemoved: {
    subject: 'A passkey was removed from your account',
    text: 'A passkey was removed from your account. It no longer logs you in, and other sessions that it opened were ended, as was the access of all devices that you had approved.',
  },
} as const;

/** Emails to users about their accounts. All methods join the open transaction. */
@Injectable()
export class AccountEmails {
  constructor(
    private readonly emails: EmailsRepository,
    private readonly clock: Clock,
  ) {}

  async sendReset(userId: string, link: string, expiresAt: Date): Promise<void> {
    const body = [
      'Someone, probably you, requested a new password for your account.',
      `Set a new password here. The link works once, until ${timeInUtc(expiresAt)}:`,
      { link, label: 'Set a new password' },
      "If you didn't request it, ignore this email. Your password stays the same.",
    ];
    await this.emails.addLink(userId, { subject: 'Set a new password', body }, { kind: 'reset', expiresAt });
  }

  /** @param link to the page that sets a password, or to the login page if the user must log in at an identity provider */
  async sendInvitation(
    { id, role }: Pick<DashboardUser, 'id' | 'role'>,
    { name, email, organization }: Inviter & { readonly organization: string },
    link: string,
    expiresAt: Date,
  ): Promise<void> {
    const isToLogin = link.endsWith('/login');
    const body = [
      `${organization} has invited you to its dashboard.`,
      { facts: { 'Invited by': `${name} (${email})`, 'Your role': roleInWords(role) } },
      isToLogin
        ? 'Log in with your organization’s account to get started:'
        : `Set a password to get started. The link works once, until ${timeInUtc(expiresAt)}:`,
      { link, label: isToLogin ? 'Log in' : 'Set a password' },
      "If you didn't expect this invitation, ignore this email.",
    ];
    await this.emails.addLink(id, { subject: 'Your invitation', body }, { kind: 'invitation', expiresAt });
  }

  /** Forgets emails with links that do not work anymore. */
  async discardLinks(userId: string): Promise<void> {
    await this.emails.deleteLinks(userId);
  }

  async sendNewBrowser(userId: string, { ip, userAgent }: RequestOrigin): Promise<void> {
    const body = [
      'Someone logged in to your account in a browser that you have not used before:',
      { facts: { Browser: browserName(userAgent), 'IP address': ip, Time: timeInUtc(this.clock.now()) } },
      'If this was you, ignore this email.',
      IF_NOT_YOU,
    ];
    await this.emails.addNotice([userId], { subject: 'New login to your account', body });
  }

  async sendNotice(userId: string, notice: keyof typeof NOTICES): Promise<void> {
    const { subject, text } = NOTICES[notice];
    await this.emails.addNotice([userId], { subject, body: [text, IF_NOT_YOU] });
  }
}

@Injectable()
export class AccountLog {
  private readonly refusals = this.limits.limit('refused-attempts', { attempts: 1, within: HOUR });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly auditLog: AuditLog,
  ) {}

  async record(action: AuditAction, actor: AuditActor, outcome: AuditOutcome = 'success'): Promise<void> {
    const { organizationId, name, email, origin } = actor;
    // Without the role: users may do this to their own accounts in any role.
    const user = { organizationId, name, email, origin };
    await this.auditLog.record({ action, actor: user, target: { name: email }, outcome });
  }

  /**
   * Records an attempt beyond a limit. One entry stands for all refused attempts of this kind on the account within an hour,
   * because otherwise anyone could fill the log.
   */
  async recordRefusal(
    kind: 'login' | 'second factor' | 'password',
    userId: string,
    action: AuditAction,
    actor: AuditActor,
  ): Promise<void> {
    const subject = `${kind} ${userId}`;
    if ((await this.refusals.count(subject)) !== undefined) return;
    await unlessOwnFailure(
      () => this.refusals.subtract(subject),
      () => this.record(action, actor, 'denied'),
    );
  }
}
