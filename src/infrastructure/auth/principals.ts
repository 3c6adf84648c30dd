import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import { requestParameter, type AttributedClient } from '../http/index.js';
import type { DashboardRole } from './dashboard-roles.js';
import type { Scope } from './scopes.js';

/** An API client whose secret, API key or access token was accepted. */
export interface AuthenticatedClient {
  readonly clientId: string;
  readonly organizationId: string;
  readonly environment: PlatformEnvironment;
  /** Restricted operations that this client may use. */
  readonly enabledOperations: ReadonlySet<string>;
  /** The API key of the request. Without one, the secret was sent, which has all scopes. */
  readonly key?: AuthenticatedKey;
  /** The version of the secret, if the request was sent with one. */
  readonly secretVersion?: number;
}

/** An API key that was accepted. */
interface AuthenticatedKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** A dashboard user with the rights that the user has now. */
export interface DashboardPrincipal {
  readonly userId: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly name: string;
  readonly email: string;
  /** The user's own role, or the role of an access grant that is in force. */
  readonly role: DashboardRole;
  /** Access tokens and device approvals of an earlier version have ended. */
  readonly accessVersion: number;
  /** Whether the organization requires a second factor that the user has not set up. */
  readonly lacksSecondFactor: boolean;
  /** From when the organization requires a second factor; null if it does not, or if the user has one. */
  readonly secondFactorDue: Date | null;
}

/** An access token of the device authorization flow. */
interface TokenCredential {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly scopes: ReadonlySet<Scope>;
}

/** An API key, or an access token that was issued for one. No user has logged in: the key acts for itself, as a member. */
interface KeyCredential extends AuthenticatedClient {
  readonly kind: 'key';
  readonly key: AuthenticatedKey;
  readonly scopes: ReadonlySet<Scope>;
}

/** A dashboard user, and the credential with which the user sent the request. */
export interface DashboardIdentity extends DashboardPrincipal {
  readonly credential:
    | { readonly kind: 'session'; readonly sessionId: string; readonly authenticatedAt: Date }
    | TokenCredential
    | KeyCredential;
}

/** Who reads the data of an organization: one of its API clients, or one of its dashboard users. */
export type RequestingOrganization = AuthenticatedClient | DashboardIdentity;

/** Returns whether the actor is a dashboard user, as opposed to an API client. */
export function isDashboardUser(requester: RequestingOrganization): requester is DashboardIdentity {
  return 'credential' in requester;
}

export const SERVICE_SCOPES = ['events:publish', 'detections:write'] as const;
export type ServiceScope = (typeof SERVICE_SCOPES)[number];

/** One of the platform's own services. */
export interface AuthenticatedService {
  readonly scopes: ReadonlySet<string>;
}

export const AGENT_SCOPES = ['accounts:read', 'sign_in_links:write'] as const;
export type AgentScope = (typeof AGENT_SCOPES)[number];

/** An agent that acts for one user, as its MCP token says. */
export interface AuthenticatedAgent {
  /** Identifies a token that an API client created in rate limits. */
  readonly tokenId: string;
  /** The connection of an agent that the end user connected: limits count all its tokens together. */
  readonly connectionId: string | null;
  /** SHA-256. */
  readonly tokenHash: Buffer;
  readonly client: AttributedClient;
  readonly organizationId: string;
  readonly externalUserId: string;
  /** E.164; the user's, if the client gave one. Decrypted when it is read. */
  readonly phoneNumber: string | undefined;
  readonly expiresAt: Date;
  /** All scopes for a token that an API client created. */
  readonly scopes: readonly AgentScope[];
  /** Name and host of an agent that the end user connected; null for a token that an API client created. */
  readonly agent: string | null;
}

/** Returns the key by which limits count an agent: an agent that logged in gets many tokens. */
export function agentKeyOf({ connectionId, tokenId }: AuthenticatedAgent): string {
  return connectionId ?? tokenId;
}

/** Returns the authenticated client. Call it only on routes that accept Basic credentials. */
export function currentClientOf(request: Request): AuthenticatedClient {
  return request.user as AuthenticatedClient;
}

/** Returns the authenticated agent. Call it only on routes that accept MCP tokens. */
export function currentAgentOf(request: Request): AuthenticatedAgent {
  return request.user as AuthenticatedAgent;
}

/** Handler parameter: the authenticated client. */
export const CurrentClient = requestParameter(currentClientOf);
