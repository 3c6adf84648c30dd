import type { TransportFailure } from '../../../infrastructure/http-client/index.js';

/** Why an attempt got no usable response, in a few words, and what to check. */
interface DeliveryFailure {
  readonly title: string;
  readonly explanation: string;
}

const FAILURES: Readonly<Record<TransportFailure | 'INTERRUPTED' | 'KEY_UNAVAILABLE', DeliveryFailure>> = {
  TIMEOUT: {
    title: 'No response in time',
    explanation:
      'Your endpoint did not respond within 10 seconds. Respond with 200 first, and process the event afterward.',
  },
  DNS: {
    title: 'Host name not found',
    explanation: 'The host name of your endpoint could not be resolved. Check the URL and your DNS records.',
  },
  TLS: {
    title: 'TLS failed',
    explanation:
      'A secure connection to your endpoint could not be established. Check that its certificate is valid for the host name, has not expired and includes the whole chain.',
  },
  REFUSED: {
    title: 'Connection refused',
    explanation:
      'Your endpoint refused the connection. Check that the receiver runs and that the port is open.',
  },
  RESET: {
    title: 'Connection closed',
    explanation: 'Your endpoint closed the connection before it responded.',
  },
  NOT_HTTP: {
    title: 'Not an HTTP response',
    explanation: 'Your endpoint sent something that is not an HTTP response.',
  },
  HEADERS_TOO_LARGE: {
    title: 'Headers too large',
    explanation:
      'The headers of your endpoint’s response are longer than 16 KiB, or arrived in too many small pieces.',
  },
  FORBIDDEN_ADDRESS: {
    title: 'Address not public',
    explanation: 'The host name of your endpoint resolves to an address that is not public.',
  },
  INTERRUPTED: {
    title: 'Interrupted',
    explanation: 'The service was interrupted during the attempt. It retries such attempts by itself.',
  },
  KEY_UNAVAILABLE: {
    title: 'Key not available',
    explanation:
      'The service could not read the key or the headers of the endpoint, so it sent nothing. Such attempts do not count: the event waits. The operator of the service has to act.',
  },
};

/** Describes the `reason` of an attempt without a usable response. Entries of older versions can have others. */
export function deliveryFailure(reason: string): DeliveryFailure {
  return Object.hasOwn(FAILURES, reason)
    ? FAILURES[reason as keyof typeof FAILURES]
    : { title: reason, explanation: `The delivery failed (${reason}).` };
}
