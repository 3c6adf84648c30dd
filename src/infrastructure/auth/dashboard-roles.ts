import { enumeration } from '../schemas/index.js';

/** The roles of dashboard users, from the most rights to the fewest. */
export const DASHBOARD_ROLES = ['owner', 'admin', 'member', 'viewer'] as const;
export type DashboardRole = (typeof DASHBOARD_ROLES)[number];
/** The roles in the API document. */
export const ROLE = enumeration(
  'Role',
  DASHBOARD_ROLES,
  'The role of a dashboard user. The first has the most rights.',
);
