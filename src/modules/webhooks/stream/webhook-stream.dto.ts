import { INVALID_FIELD, NO_ACCESS, TOO_MANY_REQUESTS } from '../../../infrastructure/errors/index.js';
import { withMessages, type OperationDocument } from '../../../infrastructure/openapi/index.js';

/** Listeners that one client can have at the same time, over all processes. */
export const MAX_LISTENERS = 5;

/** The scope that a stream requires. A stream ends when its key loses the scope. */
export const STREAM_SCOPE = 'webhook_events:read';
export const DEVELOPMENT_ONLY = 'The stream of webhooks requires development credentials.';
export const TOO_MANY_LISTENERS = `This client has ${MAX_LISTENERS} listeners, which is the maximum. Stop one of them.`;
export const UNKNOWN_EVENT =
  'The Last-Event-ID header must be an id of this stream whose event is still stored. Omit it to receive new events only.';

const EXAMPLE = `event: ready
id: start-48210
data: {}

id: 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1
data: {"headers":{"Content-Type":"application/json","webhook-id":"0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1"},"body":"eyJldmVudCI6Ik1FUkNIQU5UX1NUQVRVU19VUERBVEUifQ=="}

: keep-alive

`;

export const STREAM_WEBHOOKS: OperationDocument = {
  operationId: 'streamWebhooks',
  summary: 'Stream webhooks (sandbox)',
  description:
    'Sends the events of your development client over this connection, as server-sent events. Use it to receive events on a ' +
    'machine that has no public URL; `mcs listen` forwards them to a local server.\n\n' +
    'The first message has the name `ready`: from then on, every published event is streamed. Each further message is one ' +
    'event, exactly as an endpoint would receive it. Its `data` is a JSON object with the `headers` of the request, ' +
    'including both signatures, and its `body`, encoded in base64. Its `id` is the id of the event. To continue after an ' +
    'interruption, send the last `id` that you received in the header `Last-Event-ID`: the stream continues after it, ' +
    'without a gap and without repetition, as long as the event is stored (events are retained as long as the request log).\n\n' +
    'A listener is not an endpoint: it does not count toward the maximum number of endpoints, nothing is retried, and ' +
    'events that test an endpoint are not streamed. A comment every 15 seconds keeps the connection alive. The service ends ' +
    'the stream when it shuts down, when the credentials are no longer valid, or when the client does not read for 10 seconds; ' +
    `connect again to continue. A client can have ${MAX_LISTENERS} listeners.`,
  headerParameters: {
    'Last-Event-ID': {
      description:
        'The last `id` that you received. Without this header, the stream begins with the next event.',
    },
  },
  response: String,
  responseType: 'text/event-stream',
  responseDescription: 'The stream, which stays open.',
  responseExample: EXAMPLE,
  errors: [
    withMessages(INVALID_FIELD, UNKNOWN_EVENT),
    withMessages(NO_ACCESS, DEVELOPMENT_ONLY),
    withMessages(TOO_MANY_REQUESTS, TOO_MANY_LISTENERS),
  ],
};
