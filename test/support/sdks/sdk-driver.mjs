/*
 * Makes the calls of test/support/sdks/sdk-cases.ts with the TypeScript SDK: reads each as a line of JSON, and writes its outcome.
 * sdk_driver.py does the same with the Python SDK.
 */
import { createInterface } from 'node:readline';
import * as sdk from '@merchant-connectivity/sdk';

const { ApiError, ConnectionError, MerchantConnectivity, SignatureError, webhooks } = sdk;
const KINDS = [
  [ApiError, 'ApiError'],
  [ConnectionError, 'ConnectionError'],
  [SignatureError, 'SignatureError'],
  [TypeError, 'InvalidArgument'],
];

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

async function resultOf({
  client: options,
  operation,
  path = [],
  query,
  body,
  options: own,
  list,
  verify,
  sign,
}) {
  if (operation === 'names') return Object.getOwnPropertyNames(MerchantConnectivity.prototype).slice(1);
  if (verify) {
    const { secret, headers, tolerance } = verify;
    const limit = tolerance === undefined ? {} : { tolerance: tolerance ?? Infinity };
    return webhooks.verify(Buffer.from(verify.body, 'base64'), headers, secret, limit);
  }
  if (sign) {
    const { body: text, secret, id, timestamp } = sign;
    return webhooks.sign(text, secret, { id, timestamp: new Date(timestamp * 1000) });
  }
  const client = new MerchantConnectivity(options);
  if (operation === 'followWebhookEvents') return all(sdk.followEvents(client, query));
  const result = client[operation](...path, ...[query, body].filter(Boolean), own);
  if (operation === 'streamWebhooks') return (await result).text();
  return list === 'all' ? all(result) : result;
}

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  const exchanges = [];
  if (call.isObserved) {
    call.client.onRequest = ({ headers }) => headers.set('traceparent', 'of the program');
    call.client.onResponse = ({ error, ...exchange }) => {
      delete exchange.milliseconds;
      exchanges.push({ ...exchange, ...(error && { error: error.message }) });
    };
  }
  const outcome = await resultOf(call).then(
    (result) => ({ result: result ?? null }),
    (error) => {
      const kind = KINDS.find(([type]) => error instanceof type)?.[1] ?? 'other';
      const { message, operation, status, errorType, errorCode, requestId, retryAfter, help, reason } = error;
      const { oldestCursor } = error.details ?? {};
      const fields = { operation, status, errorType, errorCode, requestId, retryAfter, help, reason };
      return { error: { kind, message, oldestCursor, ...fields } };
    },
  );
  console.log(JSON.stringify({ ...outcome, ...(call.isObserved && { exchanges }) }));
}
