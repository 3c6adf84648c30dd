import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import { BatchedStatement, inPositions, type Positioned } from '../../../infrastructure/database/index.js';

interface Lookup {
  readonly userId: string;
  readonly now: Date;
}

const LOOKUPS_PER_STATEMENT = 100;
const CONCURRENT_STATEMENTS = 4;

/**
 * Looks up the users behind requests. Every request to the dashboard API needs one, so lookups that arrive together
 * share a statement, which saves a third of the CPU time under load (docs/decisions/0009-dashboard-credentials.md). The
 * statement runs outside any open transaction and does not see its changes.
 */
@Injectable()
export class PrincipalsBatch {
  /**
   * Returns the user with their role at that time: their own role, or the higher role of an active access grant; undefined for a
   * user who was removed, is disabled or has not accepted the invitation.
   */
  readonly lookups = new BatchedStatement<Lookup, DashboardPrincipal | undefined>({
    execute: (lookups) => this.execute(lookups),
    maxRows: LOOKUPS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
    isRepeatable: true,
  });

  constructor(private readonly dataSource: DataSource) {}

  private async execute(lookups: readonly Lookup[]): Promise<(DashboardPrincipal | undefined)[]> {
    const rows = await this.dataSource.query<(DashboardPrincipal & Positioned)[]>(
      `SELECT position::integer, dashboard_user.id AS "userId", organization_id AS "organizationId", dashboard_user.name,
              organization.name AS "organizationName", email, coalesce(second_factor_required_from <= now AND totp_enabled_at IS NULL, false) AS "lacksSecondFactor",
              CASE WHEN totp_enabled_at IS NULL THEN second_factor_required_from END AS "secondFactorDue",
              access_version AS "accessVersion",
              CASE WHEN 'owner' IN (role, granted) THEN 'owner'
                   WHEN 'admin' IN (role, granted) THEN 'admin'
                   ELSE role END AS role
         FROM unnest($1::uuid[], $2::timestamptz[]) WITH ORDINALITY AS lookup (id, now, position)
         JOIN dashboard_user USING (id)
         JOIN organization ON organization.id = organization_id
         LEFT JOIN LATERAL (
                -- 'owner' sorts after 'admin'.
               SELECT max(access_grant.role) AS granted
                  FROM access_grant
                 WHERE user_id = dashboard_user.id AND revoked_at IS NULL AND expires_at > now
              ) active ON true
        WHERE disabled_at IS NULL AND password_hash IS NOT NULL`,
      [lookups.map(({ userId }) => userId), lookups.map(({ now }) => now)],
    );
    return inPositions(lookups, rows);
  }
}
