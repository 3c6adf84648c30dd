/**
 * A website with a login of its own, whose users connect agents. Copy `connectAgent` and what it calls; the login stands in for
 * yours.
 *
 *     SERVICE_URL=https://api.example.com CLIENT_ID=… CLIENT_SECRET=… node server.mjs
 *
 * Enter `http://localhost:4300/connect-agent` as the login page in the settings for agents.
 */
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const SALT = 'example';
const hash = (password) => scryptSync(password, SALT, 32);
const USERS = new Map([
  ['ada', { id: 'user-ada', phoneNumber: '+12125550123', passwordHash: hash('correct horse') }],
]);

/** The users who are logged in, by their session. */
const sessions = new Map();

/**
 * Starts the website.
 *
 * @param {{ serviceUrl: string, clientId: string, clientSecret: string, port?: number }} options
 */
export async function startWebsite({ serviceUrl, clientId, clientSecret, port = 0 }) {
  const server = createServer(async (request, response) => {
    try {
      const { pathname, searchParams } = new URL(request.url, 'http://localhost');
      const user = sessions.get(/(?:^|; )shop_session=(\w+)/.exec(request.headers.cookie ?? '')?.[1]);
      if (pathname === '/login' && request.method === 'POST') await logIn(request, response);
      else if (pathname === '/connect-agent')
        await connectAgent(searchParams.get('authorization_id'), user, response);
      else response.writeHead(404).end();
    } catch (error) {
      console.error(error.message);
      response.writeHead(502).end('Connecting the agent failed. Start again in the agent.');
    }
  });

  /** The login address: logs the user in if necessary, then tells the service who the user is. */
  async function connectAgent(authorizationId, user, response) {
    if (!/^[\da-f-]{36}$/.test(authorizationId ?? '')) return response.writeHead(400).end();
    if (!user) return showLogin(authorizationId, response);
    const completed = await fetch(`${serviceUrl}/mcp/authorizations/${authorizationId}/complete`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      },
      body: JSON.stringify({ external_user_id: user.id, phone_number: user.phoneNumber }),
    });
    const body = await completed.json();
    // 409: the user took too long, or reloaded the page.
    if (!completed.ok) throw new Error(`${completed.status} ${body.error_message}`);
    // Send the URL to this browser only: with it, the user approves the agent.
    redirect(response, body.redirect_url);
  }

  await new Promise((resolve) => server.listen(port, 'localhost', resolve));
  return { url: `http://localhost:${server.address().port}`, close: () => server.close() };
}

function showLogin(authorizationId, response) {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html>
<title>Example shop</title>
<h1>Log in to connect your agent</h1>
<form method="post" action="/login">
  <input type="hidden" name="authorization_id" value="${authorizationId}">
  <label>Name <input name="name" autocomplete="username"></label>
  <label>Password <input name="password" type="password" autocomplete="current-password"></label>
  <button>Log in</button>
</form>`);
}

async function logIn(request, response) {
  let body = '';
  for await (const chunk of request) {
    body += chunk;
    if (body.length > 10_000) return response.writeHead(413).end();
  }
  const form = new URLSearchParams(body);
  const user = USERS.get(form.get('name'));
  const entered = hash(form.get('password') ?? '');
  if (!user || !timingSafeEqual(entered, user.passwordHash))
    return response.writeHead(403).end('Wrong name or password.');
  const session = randomBytes(16).toString('hex');
  sessions.set(session, user);
  response.setHeader('set-cookie', `shop_session=${session}; HttpOnly; SameSite=Lax; Path=/`);
  redirect(
    response,
    `/connect-agent?${new URLSearchParams({ authorization_id: form.get('authorization_id') ?? '' })}`,
  );
}

function redirect(response, location) {
  response.writeHead(303, { location }).end();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { SERVICE_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', PORT = '4300' } = process.env;
  const options = {
    serviceUrl: SERVICE_URL,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    port: Number(PORT),
  };
  console.log(`Listening on ${(await startWebsite(options)).url}`);
}
