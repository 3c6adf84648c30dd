/** The names and descriptions of the commands, apart from their programs, so that the help loads quickly. */
export const COMMANDS = {
  organization: {
    name: 'organization',
    description: 'Organizations, which are the customers of the platform',
  },
  client: { name: 'client', description: 'API clients and their secrets' },
  user: { name: 'user', description: 'Dashboard users' },
  endpoint: { name: 'endpoint', description: 'Webhook endpoints' },
  database: {
    name: 'database',
    description: 'The database: its size, and its distribution over several servers',
  },
  'data-key': { name: 'data-key', description: 'The keys that encrypt secrets and personal data' },
  detection: { name: 'detection', description: 'Detected accounts' },
  application: { name: 'application', description: 'Job applications, which are personal data' },
  audit: { name: 'audit', description: 'The audit log: who did what in the dashboard' },
  'request-log': {
    name: 'request-log',
    description: 'The request log: API requests and webhook delivery attempts',
  },
  'service-token': { name: 'service-token', description: 'Credentials of the platform’s own services' },
  'token-key': { name: 'token-key', description: 'The keys that sign access tokens' },
  migrate: { name: 'migrate', description: 'Update the schema of the database' },
  doctor: {
    name: 'doctor',
    description: 'Check settings, database, keys, Redis, mail and text messages, and say what to do',
  },
} as const;

export type CommandName = keyof typeof COMMANDS;
