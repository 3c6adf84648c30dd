/*
 * A webhook receiver with Hono: `npm install hono @hono/node-server`, and the SDK.
 *
 *     WEBHOOK_SECRET=… PORT=4000 node hono.mjs
 *
 * During a rotation, WEBHOOK_SECRET has both keys, separated by a space.
 */
import { SignatureError, webhooks } from '@merchant-connectivity/sdk';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';

const { WEBHOOK_SECRET: secret, PORT: port = '4000' } = process.env;
if (!secret)
  throw new Error('Set WEBHOOK_SECRET to the secret of your API client, or to the key of the endpoint.');

const app = new Hono();
app.post('/webhooks', bodyLimit({ maxSize: 1_048_576 }), async (context) => {
  // Not `context.req.json()`, from which the bytes cannot be restored.
  const body = await context.req.arrayBuffer();
  const event = await webhooks.verify(body, context.req.raw.headers, secret.split(' '));
  // Add the event to your queue here, unless it contains this ID already, and process it afterward.
  console.log(context.req.header('webhook-id'), event.event);
  return context.body(null, 200);
});
app.onError((error, context) => {
  if (error instanceof SignatureError) return context.body(null, 401);
  // `bodyLimit` throws it.
  if (error instanceof HTTPException) return error.getResponse();
  console.error(error.message);
  return context.body(null, 400);
});
serve({ fetch: app.fetch, port: Number(port) }, ({ port: open }) =>
  console.log(`http://localhost:${open}/webhooks`),
);
