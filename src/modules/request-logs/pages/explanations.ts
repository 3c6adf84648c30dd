import type { TransportFailure } from '../../../infrastructure/http-client/index.js';
import type { SingleRequestLogEntryResponse } from '../reading/request-logs.dto.js';

/** Why an attempt got no response, and what to check. */
const TRANSPORT_EXPLANATIONS: Readonly<Record<TransportFailure | 'INTERRUPTED', string>> = {
  TIMEOUT:
    'Your endpoint did not respond within 10 seconds. Respond with 200 first, and process the event afterward.',
  DNS: 'The host name of your endpoint could not be resolved. Check the URL and your DNS records.',
  TLS: 'A secure connection to your endpoint could not be established. Check that its certificate is valid for the host name, has not expired and includes the whole chain.',
  REFUSED: 'Your endpoint refused the connection. Check that the receiver runs and that the port is open.',
  RESET: 'Your endpoint closed the connection before it responded.',
  NOT_HTTP: 'Your endpoint sent something that is not an HTTP response.',
  HEADERS_TOO_LARGE: 'The headers of your endpoint’s response are longer than 16 KiB.',
  FORBIDDEN_ADDRESS: 'The host name of your endpoint resolves to an address that is not public.',
  INTERRUPTED: 'The service was interrupted during the attempt. It retries such attempts by itself.',
};

/** Explains status codes of the API. The log does not keep the body of a response, which says more. */
const API_EXPLANATIONS: Readonly<Record<number, string>> = {
  400: 'The request was not valid. The error message in the response says which field to correct.',
  401: 'The credentials were missing or wrong. Check the client ID, the secret and the environment that they belong to.',
  403: 'The credentials do not allow this request.',
  404: 'Nothing exists at this path, or the thing that the path names does not exist in this environment.',
  405: 'This path exists, but not with this HTTP method.',
  409: 'The request conflicts with the current state. The error message in the response says why.',
  413: 'The request body was too large.',
  415: 'The Content-Type header of the request is not supported.',
  429: 'Too many requests were sent in a short time. Wait as long as the Retry-After header of the response says.',
};

type Explained = Pick<SingleRequestLogEntryResponse, 'type' | 'status_code' | 'reason'>;

/** Returns why an entry failed, in words, or null if it succeeded. */
export function explanationOf({ type, status_code, reason }: Explained): string | null {
  if (type === 'webhook') return reason === null ? null : explanationOfDelivery(status_code, reason);
  if (status_code < 400) return null;
  return (
    API_EXPLANATIONS[status_code] ??
    (status_code < 500
      ? 'The request was rejected. The error message in the response says why.'
      : 'The service could not process the request. You can safely retry a request that only reads.')
  );
}

function explanationOfDelivery(status: number, reason: string): string {
  if (reason === 'NON_200') return `Your endpoint responded with ${status}. Only 200 counts as received.`;
  return Object.hasOwn(TRANSPORT_EXPLANATIONS, reason)
    ? TRANSPORT_EXPLANATIONS[reason as keyof typeof TRANSPORT_EXPLANATIONS]
    : `The delivery failed (${reason}).`;
}
