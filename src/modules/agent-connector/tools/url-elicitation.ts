import { randomUUID } from 'node:crypto';
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { declaresUrlElicitation, type JsonRpcMessage } from '../../../infrastructure/surfaces/index.js';

/** Asks the client to have its user open a URL before the call can be completed (MCP, "Elicitation", URL mode). */
export class UrlElicitation {
  constructor(
    /** The ID of the thing that the user opens there, such as a sign-in link. */
    readonly id: string,
    readonly url: string,
    /** The text for the user. */
    readonly message: string,
  ) {}
}

/** The response of the user to the URL of an earlier call. */
export interface Elicited {
  /** The ID of the `UrlElicitation`. */
  readonly id: string;
  /** Whether the user agreed to open the URL. */
  readonly isAccepted: boolean;
}

/**
 * How a client takes a URL for its user. `input_required`: as a result, which it follows with another request (revision 2026-07-28).
 * `error`: as an error, after which it repeats the request (revision 2025-11-25).
 */
export type ElicitationWay = 'input_required' | 'error';

/**
 * The ID of a session that has no state: in revision 2025-11-25, a client says only in its first message what it can do, and any
 * replica may get the next one.
 */
const SESSION = 'Mcp-Session-Id';
const URL_SESSION = 'url-elicitation.';

interface Parameters {
  readonly protocolVersion?: unknown;
  readonly capabilities?: unknown;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Returns the headers of the response to a client that begins a session and takes URLs. */
export function sessionHeadersFor({ method, params }: JsonRpcMessage): Readonly<Record<string, string>> {
  const { protocolVersion, capabilities } = (params ?? {}) as Parameters;
  const isUrlSession =
    method === 'initialize' && protocolVersion === '2025-11-25' && declaresUrlElicitation(capabilities);
  return isUrlSession ? { [SESSION]: URL_SESSION + randomUUID() } : {};
}

/** Returns how the client of a message takes URLs; undefined if it has not declared that it does. */
export function wayOfElicitation(
  { params }: JsonRpcMessage,
  session: string | undefined,
): ElicitationWay | undefined {
  const { _meta: meta } = (params ?? {}) as Parameters;
  if (meta && CLIENT_CAPABILITIES_META_KEY in meta)
    return declaresUrlElicitation(meta[CLIENT_CAPABILITIES_META_KEY]) ? 'input_required' : undefined;
  return session?.startsWith(URL_SESSION) ? 'error' : undefined;
}
