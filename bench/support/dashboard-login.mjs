/** Gets an access token as a user and a device do: through the pages and the device flow, over HTTP. */
export async function accessToken({ baseUrl, credentials }, environment, scope) {
  const { client_id } = credentials[environment];
  const browser = openBrowser(baseUrl);
  await browser.visit('/login');
  await browser.send('/login', credentials.dashboard);
  const flow = await form(baseUrl, '/oauth/device/code', { client_id, scope });
  await browser.visit('/device');
  const { location } = await browser.send('/device', { user_code: flow.user_code });
  await browser.visit(location);
  const request = new URL(location, baseUrl).searchParams.get('request');
  await browser.send('/device/confirm', { request, decision: 'approve' });
  const { access_token } = await form(baseUrl, '/oauth/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id,
    device_code: flow.device_code,
  });
  return access_token;
}

async function form(baseUrl, path, fields) {
  const response = await fetch(`${baseUrl}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
  const body = await response.json();
  if (!response.ok) throw new Error(`${path} responded ${response.status}: ${JSON.stringify(body)}`);
  return body;
}

/** Logs in to the dashboard. @returns a function that loads a page, which returns the HTML */
export async function openDashboard({ baseUrl, credentials }) {
  const browser = openBrowser(baseUrl);
  await browser.visit('/login');
  await browser.send('/login', credentials.dashboard);
  return async (path) => {
    const { status, text } = await browser.visit(path);
    if (status !== 200) throw new Error(`${path} responded ${status}`);
    return text;
  };
}

/** A minimal browser that keeps cookies and submits the form of the current page. */
export function openBrowser(baseUrl) {
  const cookies = new Map();
  let formToken = '';
  const cookie = () => [...cookies].map((pair) => pair.join('=')).join('; ');
  const go = async (path, init) => {
    const response = await fetch(new URL(path, baseUrl), {
      redirect: 'manual',
      headers: { cookie: cookie() },
      ...init,
    });
    for (const each of response.headers.getSetCookie()) {
      const [name, value] = each.split(';')[0].split(/=(.*)/s);
      cookies.set(name, value);
    }
    const text = await response.text();
    formToken = /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? formToken;
    return { status: response.status, location: response.headers.get('location'), text, formToken };
  };
  return {
    cookie,
    visit: (path) => go(path, {}),
    send: (path, fields) =>
      go(path, { method: 'POST', body: new URLSearchParams({ form_token: formToken, ...fields }) }),
  };
}
