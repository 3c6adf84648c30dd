import { Baseline1790000000001 } from './1790000000001-baseline.js';
import { WebhookLanesAndRecoveries1790000000004 } from './1790000000004-webhook-lanes-and-recoveries.js';

/** All migrations, oldest first. Never edit one that has been released. */
export const MIGRATIONS = [
  // 0.2.0
  Baseline1790000000001,
  // Unreleased
  WebhookLanesAndRecoveries1790000000004,
];
