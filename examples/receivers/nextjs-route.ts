/*
 * A webhook receiver with Next.js: copy this file to `app/webhooks/route.ts`, and install the SDK. WEBHOOK_SECRET is the key of
 * the endpoint (`whsec_…` or `whpk_…`), or the client secret. During a rotation, it has both, separated by a space.
 */
import { SignatureError, webhooks } from '@merchant-connectivity/sdk';

const MAX_BODY = 1_048_576;

export async function POST(request: Request): Promise<Response> {
  const secret = process.env['WEBHOOK_SECRET'];
  if (!secret) {
    console.error('Set WEBHOOK_SECRET to the secret of your API client, or to the key of the endpoint.');
    return new Response(null, { status: 500 });
  }
  // Next.js does not limit the size of bodies. The service always sends the length.
  const length = request.headers.get('content-length');
  if (length === null || Number(length) > MAX_BODY) return new Response(null, { status: 413 });
  try {
    // Not `request.json()`, from which the bytes cannot be restored.
    const event = await webhooks.verify(await request.arrayBuffer(), request.headers, secret.split(' '));
    // Add the event to your queue here, unless it contains this ID already, and process it afterward.
    console.log(request.headers.get('webhook-id'), event.event);
    return new Response(null, { status: 200 });
  } catch (error) {
    if (error instanceof SignatureError) return new Response(null, { status: 401 });
    // The sender closed the connection before the end of the body, or a key is malformed.
    console.error(error);
    return new Response(null, { status: 400 });
  }
}
