import { Injectable, Logger } from '@nestjs/common';
import { BackgroundTasks, browserName, type RequestOrigin } from '../../infrastructure/http/index.js';
import { Mailer, type Mail } from '../../infrastructure/messages/index.js';
import { AttemptLimitsRepository } from '../../infrastructure/rate-limiting/index.js';
import { Clock, DAY, HOUR, MINUTE } from '../../infrastructure/time/index.js';
import { AuditLog, type AuditAction, type AuditActor, type AuditOutcome } from '../audit-logs/index.js';
import { INVITATION_LIFETIME } from '../dashboard-users/index.js';
import { RESET_LIFETIME } from './passwords/password-link.entity.js';

const IF_NOT_YOU =
  "If you didn't do this, request a new password on the login page right away, and tell an owner of your organization.";

/** Emails about changes to an account, which tell users about changes that somebody else made. */
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
    text: 'A passkey was removed from your account. It no longer logs you in.',
  },
} as const;

/**
 * Emails to users about their accounts. They are sent in the background, so that response times do not show whether an
 * email is sent.
 */
@Injectable()
export class AccountEmails {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mailer: Mailer,
    private readonly tasks: BackgroundTasks,
    private readonly clock: Clock,
  ) {}

  sendReset(to: string, link: string): void {
    this.send(to, 'Set a new password', [
      'Someone, probably you, requested a new password for your account.',
      `Set a new password here. The link works once and expires in ${RESET_LIFETIME / MINUTE} minutes:`,
      { link, label: 'Set a new password' },
      "If you didn't request it, ignore this email. Your password stays the same.",
    ]);
  }

  sendInvitation(to: string, organization: string, link: string): void {
    this.send(to, 'Your invitation', [
      `You have been invited to the dashboard of ${organization}.`,
      `Set a password to get started. The link works once and expires in ${INVITATION_LIFETIME / DAY} days:`,
      { link, label: 'Set a password' },
      "If you didn't expect this invitation, ignore this email.",
    ]);
  }

  /** @param link to the login page */
  sendInvitationToProvider(to: string, organization: string, link: string): void {
    this.send(to, 'Your invitation', [
      `You have been invited to the dashboard of ${organization}.`,
      'Log in with your organization’s account to get started:',
      { link, label: 'Log in' },
      "If you didn't expect this invitation, ignore this email.",
    ]);
  }

  sendNewBrowser(to: string, { ip, userAgent }: RequestOrigin): void {
    this.send(to, 'New login to your account', [
      'Someone logged in to your account in a browser that you have not used before:',
      { facts: { Browser: browserName(userAgent), 'IP address': ip, Time: this.clock.now().toISOString() } },
      'If this was you, ignore this email.',
      IF_NOT_YOU,
    ]);
  }

  sendNotice(to: string, notice: keyof typeof NOTICES): void {
    const { subject, text } = NOTICES[notice];
    this.send(to, subject, [text, IF_NOT_YOU]);
  }

  /** Runs work that sends an email. It continues after the response. */
  inBackground(work: () => Promise<void>): void {
    this.tasks.begin(() =>
      work().catch((error: unknown) => {
        // The error message may contain the recipient's address.
        const { code, name } = error as { code?: string; name?: string };
        this.logger.error(`An email could not be sent (${code ?? name})`);
      }),
    );
  }

  private send(to: string, subject: string, body: Mail['body']): void {
    this.inBackground(() => this.mailer.send({ to, subject, body }));
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
    await this.auditLog.record({ action, actor, target: { name: actor.email }, outcome });
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
    const isFirst = (await this.refusals.count(`${kind} ${userId}`)) === undefined;
    if (isFirst) await this.record(action, actor, 'denied');
  }
}
