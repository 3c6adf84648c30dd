/*
 * A webhook receiver with Fastify: `npm install fastify`, and the SDK.
 *
 *     WEBHOOK_SECRET=… PORT=4000 node fastify.mjs
 *
 * During a rotation, WEBHOOK_SECRET has both keys, separated by a space.
 */
import { SignatureError, webhooks } from '@merchant-connectivity/sdk';
import Fastify from 'fastify';

const { WEBHOOK_SECRET: secret, PORT: port = '4000' } = process.env;
if (!secret)
  throw new Error('Set WEBHOOK_SECRET to the secret of your API client, or to the key of the endpoint.');

const app = Fastify({ bodyLimit: 1_048_576 });
// Inside `register`, so that your other routes keep the parser of JSON, which would drop the bytes.
app.register(async (receiver) => {
  receiver.removeAllContentTypeParsers();
  receiver.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  receiver.post('/webhooks', async (request, reply) => {
    const event = await webhooks.verify(request.body ?? '', request.headers, secret.split(' '));
    // Add the event to your queue here, unless it contains this ID already, and process it afterward.
    console.log(request.headers['webhook-id'], event.event);
    return reply.code(200).send();
  });
});
app.setErrorHandler((error, _request, reply) => {
  const isRefused = error instanceof SignatureError;
  if (!isRefused && !error.statusCode) console.error(error);
  reply.code(isRefused ? 401 : (error.statusCode ?? 500)).send();
});
await app.listen({ port: Number(port) });
console.log(`http://localhost:${app.server.address().port}/webhooks`);
