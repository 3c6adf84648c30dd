/** The descriptions of the commands, apart from their programs, so that the help loads quickly. */
export const COMMANDS = {
  organization: 'Organizations, which are the customers of the platform',
  client: 'API clients and their secrets',
  user: 'Dashboard users',
  'external-user': 'Users of the clients, and their erasure',
  endpoint: 'Webhook endpoints',
  database: 'The database: its size, and its distribution over several servers',
  'data-key': 'The keys that encrypt secrets and personal data',
  detection: 'Detected accounts',
  application: 'Job applications, which are personal data',
  audit: 'The audit log: who did what in the dashboard',
  'request-log': 'The request log: API requests and webhook delivery attempts',
  'service-token': 'Credentials of the platform’s own services',
  'token-key': 'The keys that sign access tokens',
  migrate: 'Update the schema of the database',
  doctor: 'Check settings, database, keys, Redis, mail and text messages, and say what to do',
} as const;

export type CommandName = keyof typeof COMMANDS;
