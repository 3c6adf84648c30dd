import { INVALID_PARAMS } from '../../infrastructure/json-rpc/index.js';

/** Characters of each text in an error. */
const MAX_LENGTH = 300;
/** The JSON-RPC message in a response: the whole body, or the data of an event. */
const MESSAGE = /^(data: )?(\{.*\})$/m;
/** How the SDK lists the problems that Zod found. */
const ZOD_ISSUES = /\[\s*\{.*\}\s*\]$/s;

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
  return response.replace(MESSAGE, (_, prefix = '', json: string) => {
    const { error, ...message } = JSON.parse(json) as ProtocolErrorMessage;
    if (!error) return `${prefix}${json}`;
    const readable = { ...message, error: { ...error, ...describeIssues(error.message) } };
    return `${prefix}${JSON.stringify(readable, (_key, value: unknown) => (typeof value === 'string' ? shortened(value) : value))}`;
  });
}

function describeIssues(message: string): { readonly code: number; readonly message: string } | undefined {
  const [json] = ZOD_ISSUES.exec(message) ?? [];
  if (json === undefined) return undefined;
  const [issue] = JSON.parse(json) as { readonly path: readonly string[]; readonly message: string }[];
  const problem = issue && `${issue.path.join('.')}: ${issue.message}`;
  return { code: INVALID_PARAMS, message: `The params are not valid: ${problem}` };
}

function shortened(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
}
