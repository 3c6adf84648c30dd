import { Injectable } from '@nestjs/common';
import { isEmail, isUUID } from 'class-validator';
import type { DashboardPrincipal, DashboardRole } from '../../../infrastructure/auth/index.js';
import { OperatorError } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { validateName } from '../../../infrastructure/validation/index.js';
import { newUser, type DashboardUser } from './dashboard-user.entity.js';
import { DashboardUsersRepository } from './dashboard-users.repository.js';
import { generatePassword, hashPassword, PasswordRules } from './password-rules.js';
import { PrincipalsBatch } from './principals.batch.js';

/** Far more than the 1,000 users that an organization can have through the dashboard. */
const MAX_LISTED = 10_000;

export interface NewDashboardUser {
  readonly organizationId: string;
  readonly email: string;
  readonly name: string;
  readonly role: DashboardRole;
  /** A random password is generated if it is absent. */
  readonly password?: string | undefined;
  /** Milliseconds after which a generated password expires, unless the user replaces it. */
  readonly passwordLifetime?: number | undefined;
}

/** A user that can be added. */
export interface PreparedDashboardUser extends AddedDashboardUser {
  readonly row: DashboardUser;
}

export interface AddedDashboardUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly passwordExpiresAt: Date | null;
}

/** Adds and looks up dashboard users. */
@Injectable()
export class DashboardUsersService {
  constructor(
    private readonly repository: DashboardUsersRepository,
    private readonly principals: PrincipalsBatch,
    private readonly passwordRules: PasswordRules,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks a new user and hashes the password. Call it before the transaction that adds the user: PostgreSQL ends a
   * transaction that is idle for 5 s, and hashing can take as long on a busy machine.
   *
   * @param organizationName of an organization that is created with the user
   * @throws OperatorError when the email is malformed, or the password is not acceptable
   */
  async prepare(user: NewDashboardUser, organizationName?: string): Promise<PreparedDashboardUser> {
    const email = user.email.toLowerCase();
    if (!isEmail(email)) throw new OperatorError('The email address is not valid.');
    validateName('a user', user.name);
    if (user.password !== undefined) {
      const problem = await this.passwordRules.problemWith(
        user.password,
        { ...user, email },
        organizationName,
      );
      if (problem !== undefined) throw new OperatorError(problem);
    }
    const password = user.password ?? generatePassword();
    const passwordHash = await hashPassword(password);
    const { passwordLifetime: lifetime } = user;
    const isExpiring = user.password === undefined && lifetime !== undefined;
    const passwordExpiresAt = isExpiring ? new Date(this.clock.milliseconds() + lifetime) : null;
    const row = newUser({ ...user, passwordHash, passwordExpiresAt }, this.clock.now());
    return { id: row.id, email, password, passwordExpiresAt, row };
  }

  /** @throws OperatorError when the email is taken */
  async add({ row, ...added }: PreparedDashboardUser): Promise<AddedDashboardUser> {
    if (!(await this.repository.add(row)))
      throw new OperatorError('A user with this email address already exists.');
    return added;
  }

  /**
   * Returns the user as of now. Called for every request, so that removed and disabled users lose access immediately.
   *
   * @returns undefined for a user who was removed, is disabled or has not accepted the invitation
   */
  async principal(userId: string): Promise<DashboardPrincipal | undefined> {
    return this.principals.lookups.add({ userId, now: this.clock.now() });
  }

  /** Returns the users of an organization for operators, in the order in which they were added. */
  list(organizationId: string): Promise<DashboardUser[]> {
    return this.repository.list(organizationId, MAX_LISTED);
  }

  /** Returns the owners and admins of an organization who can log in. Access grants do not count. */
  async administrators(organizationId: string): Promise<DashboardUser[]> {
    const users = await this.list(organizationId);
    return users.filter(
      ({ role, passwordHash, disabledAt }) =>
        (role === 'owner' || role === 'admin') && passwordHash !== null && disabledAt === null,
    );
  }

  /** @throws OperatorError when there is no such user */
  async requireForOperator(userId: string): Promise<DashboardUser> {
    const user = isUUID(userId) ? await this.repository.find(userId) : null;
    if (!user) throw new OperatorError(`There is no user ${userId}.`);
    return user;
  }
}
