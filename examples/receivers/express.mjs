/*
 * A webhook receiver with Express: `npm install express`, and the SDK.
 *
 *     WEBHOOK_SECRET=… PORT=4000 node express.mjs
 *
 * During a rotation, WEBHOOK_SECRET has both keys, separated by a space.
 */
import { SignatureError, webhooks } from '@merchant-connectivity/sdk';
import express from 'express';

const { WEBHOOK_SECRET: secret, PORT: port = '4000' } = process.env;
if (!secret)
  throw new Error('Set WEBHOOK_SECRET to the secret of your API client, or to the key of the endpoint.');

const bytes = express.raw({ type: 'application/json', limit: '1mb' });
const app = express();
// Before `app.use(express.json())`, which replaces the bytes by an object that nobody can verify.
app.post('/webhooks', bytes, async (request, response, next) => {
  try {
    const event = await webhooks.verify(request.body ?? '', request.headers, secret.split(' '));
    // Add the event to your queue here, unless it contains this ID already, and process it afterward.
    console.log(request.get('webhook-id'), event.event);
    response.sendStatus(200);
  } catch (error) {
    // Express 4 needs it: there, an error in an async function ends the process.
    next(error);
  }
});
// Also gets what body parsers throw: 413 for a large body, 400 for one that ended early.
app.use((error, _request, response, _next) => {
  if (!(error instanceof SignatureError) && !error.status) console.error(error);
  response.sendStatus(error instanceof SignatureError ? 401 : (error.status ?? 500));
});
const server = app.listen(port, () => console.log(`http://localhost:${server.address().port}/webhooks`));
