import { enumeration } from '../schemas/index.js';

/** Scopes of the dashboard API, which users can also give to devices. */
const DASHBOARD = {
  'request_logs:read':
    'Read request logs: the requests of your API client and the deliveries of its webhooks',
  'webhook_endpoints:read': 'View webhook endpoints',
  'webhook_endpoints:write':
    'Create, update, and delete webhook endpoints, rotate their keys, and send events to them',
} as const;

/** Scopes of the operations for API clients. */
const PLATFORM = {
  'accounts:read': 'List the merchant accounts of your users',
  'accounts:write': 'Unlink merchant accounts of your users',
  'agents:read': 'List the agents that your users connected',
  'agents:write': 'Create connection codes, with which agents act for any user, and disconnect agents',
  'audit_logs:read': 'Read the audit log',
  'detected_accounts:read': 'Look up the merchant accounts that were detected for your users',
  'mcp_tokens:write': 'Create MCP tokens, with which agents act for any user',
  'merchants:read': 'List merchants',
  'sandbox:write': 'Simulate accounts, detections and webhooks in development',
  'sessions:write': 'Create and extend sessions of the client SDK',
  'sign_in_links:read': 'List sign-in links',
  'sign_in_links:write': 'Create sign-in links, which can be sent by text message, and cancel them',
  'tokens:introspect': 'Check access tokens and MCP tokens',
  'users:erase': 'Erase users, and check the progress of an erasure',
  'users:identify':
    'Say which user has logged in, for agents, sign-in links and the page of users. A program with this scope can act as any user',
  'webhook_events:read': 'Receive webhook events without an endpoint',
} as const;

/**
 * The names of all scopes: what programs may do. A capability can add its own with `declare module`, so that other names do not
 * compile.
 *
 * @public
 */
export interface Scopes extends Record<keyof typeof DASHBOARD | keyof typeof PLATFORM, never> {}

export type Scope = keyof Scopes & string;

const descriptions = new Map<string, string>();
const names: Scope[] = [];

/** The names of all scopes, in alphabetical order. It grows while the capabilities are loaded. */
export const SCOPES: readonly Scope[] = names;
/** The scopes that a user can give to a device. */
export const DEVICE_SCOPES = Object.keys(DASHBOARD) as readonly (keyof typeof DASHBOARD)[];

export const SCOPE = enumeration('Scope', SCOPES, 'What an access token or an API key may be used for.');

/**
 * Adds scopes, with what they allow in words.
 *
 * @public
 * @throws Error if a scope exists
 */
export function apiScopes<const Added extends Readonly<Record<string, string>>>(scopes: Added): Added {
  for (const [name, allows] of Object.entries(scopes)) {
    if (descriptions.has(name)) throw new Error(`Two scopes are called ${name}: rename one of them.`);
    descriptions.set(name, allows);
    names.push(name as Scope);
  }
  names.sort();
  return scopes;
}

apiScopes({ ...DASHBOARD, ...PLATFORM });

/** Returns what a scope allows, in words. */
export function describeScope(scope: Scope): string {
  return descriptions.get(scope) ?? scope;
}

/** Returns whether the text is the name of a scope. */
export function isScope(text: string): text is Scope {
  return descriptions.has(text);
}
