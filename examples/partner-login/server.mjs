/**
 * A website with a login of its own, whose users connect agents and accounts, and see who acts for them. Copy `completeLogin`,
 * `connectAccount`, `showAccounts` and what they call; the login stands in for yours.
 *
 *     SERVICE_URL=https://api.example.com CLIENT_ID=… CLIENT_SECRET=… node server.mjs
 *
 * Enter `http://localhost:4300/connect-agent` as the login page in the settings for agents of the environment that the credentials are
 * for, and open `http://localhost:4300/`. To serve both, keep the parameter `environment`, which says whose credentials to use.
 */
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const SALT = 'example';
const hash = (password) => scryptSync(password, SALT, 32);
const USERS = new Map([
  ['ada', { id: 'user-ada', phoneNumber: '+12125550123', passwordHash: hash('correct horse') }],
  ['bo', { id: 'user-bo', passwordHash: hash('battery staple') }],
]);

/** The users who are logged in, by their session, and the links that were created for them. */
const sessions = new Map();

/**
 * Starts the website.
 *
 * @param {{ serviceUrl: string, connectorUrl?: string, clientId: string, clientSecret: string, port?: number }} options
 */
export async function startWebsite({ serviceUrl, connectorUrl, clientId, clientSecret, port = 0 }) {
  const server = createServer(async (request, response) => {
    try {
      const { pathname, searchParams } = new URL(request.url, 'http://localhost');
      const session = sessions.get(/(?:^|; )shop_session=(\w+)/.exec(request.headers.cookie ?? '')?.[1]);
      const route = `${request.method} ${pathname}`;
      if (route === 'POST /login') await logIn(request, response);
      else if (route === 'GET /connect-agent') await completeLogin(searchParams, session, response);
      else if (!session && route === 'GET /') showLogin('', response);
      else if (session && route === 'GET /')
        await showAccounts(searchParams.get('link_id'), session, response);
      else if (session && route === 'POST /connect') await connectAccount(session, response);
      else response.writeHead(404).end();
    } catch (error) {
      console.error(error.message);
      response.writeHead(502).end('Connecting failed. Start again.');
    }
  });

  /** Sends a request to the service. */
  async function call(method, path, body) {
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const headers = { 'content-type': 'application/json', authorization };
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const result = await fetch(serviceUrl + path, request);
    const { status } = result;
    const json = await result.json();
    if (!result.ok) throw Object.assign(new Error(`${status} ${json.error_message}`), { status });
    return json;
  }

  /** The login address, for all purposes: logs the user in if necessary, then tells the service who the user is. */
  async function completeLogin(query, session, response) {
    const authorizationId = query.get('authorization_id');
    if (!/^[\da-f-]{36}$/.test(authorizationId ?? '')) return response.writeHead(400).end();
    // Another user logs in than the one who is logged in.
    if (!session || query.get('prompt') === 'login') return showLogin(authorizationId, response);
    const complete = (user) => call('POST', `/mcp/authorizations/${authorizationId}/complete`, user);
    const user = { external_user_id: session.user.id };
    // 400: not a phone number of the US or Canada, the only ones that can be sent. 409: the user took too long, or reloaded the page.
    const completed = await complete({ ...user, phone_number: session.user.phoneNumber }).catch((error) => {
      if (error.status !== 400) throw error;
      return complete(user);
    });
    // Send the URL to this browser only: with it, the user continues.
    redirect(response, completed.redirect_url);
  }

  /** Creates a link. This website redirects to it; you can also send it by email. */
  async function connectAccount(session, response) {
    const returnTo = `http://localhost:${server.address().port}/`;
    const wanted = { external_user_id: session.user.id, merchant_id: 16, return_url: returnTo };
    const link = await call('POST', '/sign-in-links', wanted);
    session.links.add(link.id);
    redirect(response, link.url);
  }

  /** The page of the user, and where a link returns to. The query is not trusted: the service says how the link ended. */
  async function showAccounts(linkId, session, response) {
    const link = session.links.has(linkId) ? await call('GET', `/sign-in-links/${linkId}`) : undefined;
    const user = encodeURIComponent(session.user.id);
    const { data } = await call('GET', `/merchant-accounts?external_user_id=${user}`);
    const connected = data.filter(({ state }) => state === 'connected').map(({ merchant }) => merchant.name);
    show(
      response,
      `<h1>Your accounts</h1>
${link ? `<p>${escaped(link.merchant.name)}: ${escaped(link.status)}</p>` : ''}
<p>Connected: ${connected.length > 0 ? escaped(connected.join(', ')) : 'none'}</p>
<form method="post" action="/connect"><button>Connect an account</button></form>
<p><a href="${connectorUrl ?? serviceUrl}/users/${clientId}">Who acts for you</a></p>`,
    );
  }

  await new Promise((resolve) => server.listen(port, 'localhost', resolve));
  return { url: `http://localhost:${server.address().port}`, close: () => server.close() };
}

const show = (response, html) =>
  response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    .end(`<!doctype html>\n<title>Example shop</title>\n${html}`);

const escaped = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const showLogin = (authorizationId, response) =>
  show(
    response,
    `<h1>Log in</h1>
<form method="post" action="/login">
  <input type="hidden" name="authorization_id" value="${authorizationId}">
  <label>Name <input name="name" autocomplete="username"></label>
  <label>Password <input name="password" type="password" autocomplete="current-password"></label>
  <button>Log in</button>
</form>`,
  );

async function logIn(request, response) {
  let body = '';
  for await (const chunk of request)
    if ((body += chunk).length > 10_000) return response.writeHead(413).end();
  const form = new URLSearchParams(body);
  const user = USERS.get(form.get('name'));
  const entered = hash(form.get('password') ?? '');
  if (!user || !timingSafeEqual(entered, user.passwordHash))
    return response.writeHead(403).end('Wrong name or password.');
  const session = randomBytes(16).toString('hex');
  sessions.set(session, { user, links: new Set() });
  response.setHeader('set-cookie', `shop_session=${session}; HttpOnly; SameSite=Lax; Path=/`);
  const id = form.get('authorization_id');
  redirect(response, id ? `/connect-agent?${new URLSearchParams({ authorization_id: id })}` : '/');
}

const redirect = (response, location) => response.writeHead(303, { location }).end();

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { SERVICE_URL: serviceUrl, CONNECTOR_URL: connectorUrl, PORT = '4300' } = process.env;
  const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = process.env;
  if (!serviceUrl || !clientId || !clientSecret)
    throw new Error('Set SERVICE_URL, CLIENT_ID and CLIENT_SECRET.');
  const options = { serviceUrl, connectorUrl, clientId, clientSecret, port: Number(PORT) };
  console.log(`Listening on ${(await startWebsite(options)).url}`);
}
