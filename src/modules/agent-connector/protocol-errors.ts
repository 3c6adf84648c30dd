import { INVALID_PARAMS } from '../../infrastructure/surfaces/index.js';

/** Characters of each text in an error. */
const MAX_LENGTH = 300;
/** The JSON-RPC message in a response: the whole body, or the data of an event. */
const MESSAGE = /(?<=^|\ndata: )\{[^\n]*\}(?=\n|$)/;
/** How the SDK lists the problems that Zod found. No message begins with a text of the client. */
const ZOD_ISSUES = /^(?:Invalid [\w/]+ request: )?(\[\s*\{.*\}\s*\])$/s;

/** Returns the JSON-RPC message in a response. */
export function messageIn(response: string): string {
  return MESSAGE.exec(response)?.[0] ?? response;
}

interface ProtocolErrorMessage {
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/**
 * Returns the response of the SDK in which errors are short sentences. The SDK repeats the names and values of a message at any
 * length, and describes invalid parameters, in the message of an error, as a JSON array.
 */
export function withReadableError(response: string): string {
  // Few responses are errors. In the text of a result, quotes are escaped.
  if (!response.includes('"error":{"code":')) return response;
  return response.replace(MESSAGE, (json) => {
    const { error, ...message } = JSON.parse(json) as ProtocolErrorMessage;
    if (!error) return json;
    return JSON.stringify({ ...message, error: { ...error, ...describeIssues(error.message) } }, shortened);
  });
}

function describeIssues(message: string): { readonly code: number; readonly message: string } | undefined {
  const [, json] = ZOD_ISSUES.exec(message) ?? [];
  if (json === undefined) return undefined;
  const [issue] = JSON.parse(json) as { readonly path: readonly string[]; readonly message: string }[];
  const problem = issue && `${issue.path.join('.')}: ${issue.message}`;
  return { code: INVALID_PARAMS, message: `The params are not valid: ${problem}` };
}

function shortened(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MAX_LENGTH) return value;
  return `${value.slice(0, MAX_LENGTH).toWellFormed()}…`;
}
