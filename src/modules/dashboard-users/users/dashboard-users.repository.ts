import { Injectable } from '@nestjs/common';
import { IsNull, LessThan, MoreThan, Not, Or, Raw, type FindOperator } from 'typeorm';
import { DASHBOARD_ROLES, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { Transaction, violatesUnique } from '../../../infrastructure/database/index.js';
import type { CurrentRoles } from '../../audit-logs/index.js';
import { AccessGrant } from '../access-grant.entity.js';
import { DashboardUser, USERS_WITH_STATUS } from './dashboard-user.entity.js';
import type { UsersQuery } from './users.dto.js';

/** The email belongs to another user, of this organization or another. */
export class EmailTakenError extends Error {}

/** The place of a user in the list of an organization. */
export type UserPosition = Pick<DashboardUser, 'id'> & { readonly time: Date };

/** Queries on dashboard users. */
@Injectable()
export class DashboardUsersRepository implements CurrentRoles {
  constructor(private readonly transaction: Transaction) {}

  /** @returns false when the email is taken: by a user of the organization, or by any user with a password */
  async add(user: DashboardUser): Promise<boolean> {
    return this.transaction.insertNew(
      DashboardUser,
      user,
      'dashboard_user_email_key',
      'dashboard_user_organization_email_key',
    );
  }

  /** Returns the user who set a password for this email, even if the user is disabled. */
  async findWithPassword(email: string): Promise<DashboardUser | null> {
    return this.transaction.manager.findOneBy(DashboardUser, { email, passwordHash: Not(IsNull()) });
  }

  async find(id: string): Promise<DashboardUser | null> {
    return this.transaction.manager.findOneBy(DashboardUser, { id });
  }

  /** Returns the user, locked against other changes until the transaction ends. */
  async lock(id: string): Promise<DashboardUser | null> {
    return this.transaction.manager.findOne(DashboardUser, {
      where: { id },
      lock: { mode: 'for_no_key_update' },
    });
  }

  /** Returns the role that decides about rights: the user's own, or the higher one of an access grant that is in force. */
  async effectiveRole({ id, role }: Pick<DashboardUser, 'id' | 'role'>, now: Date): Promise<DashboardRole> {
    const inForce = { userId: id, revokedAt: IsNull(), expiresAt: MoreThan(now) };
    const grants = await this.transaction.manager.findBy(AccessGrant, inForce);
    const roles = new Set<DashboardRole>([role, ...grants.map((grant) => grant.role)]);
    return DASHBOARD_ROLES.find((each) => roles.has(each)) ?? role;
  }

  /** Revokes the access grants of the user that are in force. @returns whether there were any */
  async revokeGrants(userId: string, now: Date): Promise<boolean> {
    const inForce = { userId, revokedAt: IsNull(), expiresAt: MoreThan(now) };
    return (await this.transaction.manager.update(AccessGrant, inForce, { revokedAt: now })).affected !== 0;
  }

  async currentRole(userId: string, now: Date): Promise<DashboardRole | undefined> {
    const user = await this.find(userId);
    return user && !user.disabledAt ? this.effectiveRole(user, now) : undefined;
  }

  async organizationName(organizationId: string): Promise<string> {
    const [row] = await this.transaction.manager.query<{ name: string }[]>(
      'SELECT name FROM organization WHERE id = $1',
      [organizationId],
    );
    return row?.name ?? '';
  }

  /**
   * Returns users in the order in which they were added. Plain SQL, because entities of 1,000 users take much longer.
   *
   * @param text only users whose name or email contains it, in any case
   */
  async list(organizationId: string, limit: number, text = ''): Promise<DashboardUser[]> {
    return this.transaction.manager.query<DashboardUser[]>(
      `SELECT id, organization_id AS "organizationId", email, name, role, password_hash AS "passwordHash",
              password_expires_at AS "passwordExpiresAt",
              disabled_at AS "disabledAt", totp_secret_sealed AS "totpSecretSealed", totp_enabled_at AS "totpEnabledAt",
              totp_last_step AS "totpLastStep", access_version AS "accessVersion", is_break_glass AS "isBreakGlass",
              created_at AS "createdAt"
         FROM dashboard_user
        WHERE organization_id = $1 AND ($3 = '' OR strpos(lower(name), lower($3)) > 0 OR strpos(lower(email), lower($3)) > 0)
        ORDER BY created_at, id LIMIT $2`,
      [organizationId, limit, text],
    );
  }

  /**
   * Returns the users who match the filters, in the order in which they were added, and how many users match.
   *
   * @param after the time and ID of the last user before the page
   */
  async page(
    organizationId: string,
    { search, role, status, two_factor: factor }: UsersQuery,
    after: UserPosition | undefined,
    limit: number,
  ): Promise<[users: DashboardUser[], count: number]> {
    const users = this.transaction.manager.createQueryBuilder(DashboardUser, 'account').where({
      organizationId,
      ...(role && { role }),
      ...(status && USERS_WITH_STATUS[status]),
      ...(factor && { totpEnabledAt: factor === 'on' ? Not(IsNull()) : IsNull() }),
    });
    if (search !== undefined)
      users.andWhere(`strpos(lower(account.name || E'\\n' || account.email), lower(:search)) > 0`, {
        search,
      });
    const count = await users.getCount();
    if (after) users.andWhere('(account.createdAt, account.id) > (:time, :id)', after);
    users.orderBy('account.createdAt').addOrderBy('account.id').limit(limit);
    return [await users.getMany(), count];
  }

  async count(organizationId: string): Promise<number> {
    return this.transaction.manager.countBy(DashboardUser, { organizationId });
  }

  /** Serializes the management of the organization's users until the transaction ends. */
  async lockUsersOf(organizationId: string): Promise<void> {
    await this.transaction.lock(`dashboard-users:${organizationId}`);
  }

  /** Returns a condition for the IDs of all users of an organization, however many it has. */
  isOneOf(organizationId: string): FindOperator<string> {
    const isUser = (column: string): string =>
      `${column} IN (SELECT id FROM dashboard_user WHERE organization_id = :organizationId)`;
    return Raw(isUser, { organizationId });
  }

  async findInOrganization(organizationId: string, id: string): Promise<DashboardUser | null> {
    return this.transaction.findById(DashboardUser, { organizationId, id });
  }

  async findByEmail(organizationId: string, email: string): Promise<DashboardUser | null> {
    return this.transaction.manager.findOneBy(DashboardUser, { organizationId, email });
  }

  /**
   * Returns whether another user with the role owner can log in. Access grants do not count.
   *
   * @param marked also requires this value of `isBreakGlass`
   */
  async hasActiveOwnerBesides(
    organizationId: string,
    id: string,
    marked: Partial<Pick<DashboardUser, 'isBreakGlass'>> = {},
  ): Promise<boolean> {
    return this.transaction.manager.existsBy(DashboardUser, {
      organizationId,
      id: Not(id),
      role: 'owner',
      disabledAt: IsNull(),
      passwordHash: Not(IsNull()),
      ...marked,
    });
  }

  async findInvited(organizationId: string, email: string): Promise<DashboardUser | null> {
    return this.transaction.manager.findOneBy(DashboardUser, {
      organizationId,
      email,
      passwordHash: IsNull(),
    });
  }

  async change(id: string, changes: Partial<DashboardUser>): Promise<void> {
    await this.transaction.manager.update(DashboardUser, { id }, changes);
  }

  /** Ends the user's access tokens and device approvals, which are valid only for the version that they were issued with. */
  async endAccess(id: string): Promise<void> {
    await this.transaction.manager.increment(DashboardUser, { id }, 'accessVersion', 1);
  }

  /**
   * Also ends the user's access tokens and device approvals.
   *
   * @throws EmailTakenError when this is the user's first password and another user has the email by now
   */
  async setPassword(id: string, passwordHash: string): Promise<void> {
    try {
      await this.change(id, { passwordHash });
      await this.endAccess(id);
    } catch (error) {
      throw violatesUnique(error, 'dashboard_user_email_key') ? new EmailTakenError() : error;
    }
  }

  /** Stores the secret of a second factor that is not enabled yet. */
  async prepareTotp(id: string, secretSealed: Buffer): Promise<void> {
    await this.transaction.manager.update(
      DashboardUser,
      { id, totpEnabledAt: IsNull() },
      { totpSecretSealed: secretSealed },
    );
  }

  /** @returns whether the step is later than all steps before; true for only one of several concurrent calls */
  async acceptTotpStep(id: string, step: number): Promise<boolean> {
    const enabled = { id, totpEnabledAt: Not(IsNull()), totpLastStep: Or(IsNull(), LessThan(step)) };
    return this.transaction.updateRow(DashboardUser, enabled, { totpLastStep: step });
  }

  /** Deletes the user with their sessions and grants. */
  async remove(id: string): Promise<void> {
    await this.transaction.manager.delete(DashboardUser, { id });
  }
}
