/** The parts of a JSON-RPC message that the connector reads itself. All of them are unchecked input. */
export interface JsonRpcMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** JSON-RPC 2.0, section 5.1, and the range for errors of the implementation. */
export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
export const SERVER_ERROR = -32_000;

/** Characters of an ID, which every response repeats, and of a method. Both are far shorter in practice. */
const MAX_LENGTH = 256;

/** Returns the ID of a message for its response: null if the message has none that is valid. */
export function idOf(message: unknown): string | number | null {
  const id = (message as JsonRpcMessage | undefined)?.id;
  return (typeof id === 'string' && id.length <= MAX_LENGTH) || typeof id === 'number' ? id : null;
}

/** @returns what is wrong with the ID or the method of a message */
export function problemOf({ id, method }: JsonRpcMessage): string | undefined {
  const [tooLong] = Object.entries({ id, method }).find(([, value]) => isTooLong(value)) ?? [];
  return tooLong && `The ${tooLong} must not be longer than ${MAX_LENGTH} characters.`;
}

function isTooLong(value: unknown): boolean {
  return typeof value === 'string' && value.length > MAX_LENGTH;
}

/** Returns the name of the tool if the message calls one. */
export function calledTool(message: unknown): { readonly name: unknown } | undefined {
  const { method, params } = (message ?? {}) as JsonRpcMessage;
  if (method !== 'tools/call') return undefined;
  return { name: (params as { readonly name?: unknown } | null | undefined)?.name };
}
