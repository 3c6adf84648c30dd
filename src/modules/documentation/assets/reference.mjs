/* Filters the operations, follows addresses of the whole reference to their pages, and sends requests from the forms. */

const navigation = document.querySelector('#navigation');

for (const filter of document.querySelectorAll('.filter')) {
  const list = filter.closest('[data-filtered]');
  const groups = list.querySelectorAll(list.dataset.filtered);
  const open = new Set([...groups].filter((group) => group.open));
  filter.hidden = false;
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const group of groups) {
      for (const item of group.querySelectorAll('li')) {
        const text = `${item.dataset.words ?? ''} ${item.textContent}`.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
      }
      group.hidden = !group.querySelector('li:not([hidden])');
      if (group.matches('details')) group.open = words.length > 0 || open.has(group);
    }
  });
}

/** Opens the page of the operation or topic that the hash names: `#name`, `#METHOD /path`, or as earlier releases did, `#/topic/name`. */
function follow() {
  const hash = decoded(location.hash);
  const [, topic, old] = hash.match(/^#\/([^/]+)(?:\/([^/]+))?$/) ?? [];
  const name = old ?? hash.slice(1);
  const links = [...navigation.querySelectorAll('li[data-words] a')];
  const found =
    links.find((link) => link.hash === `#${name}`) ??
    links.find((link) => isRouteOf(link.parentElement.dataset.words, name)) ??
    navigation.querySelector(`details[data-tag="${CSS.escape(topic ?? '')}"] a`);
  if (found && name !== '' && found.pathname + found.hash !== location.pathname + location.hash)
    location.replace(found.href);
}

/** Returns the text of a part of an address; an empty one if it is malformed. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

/** Whether a request such as `GET /request-logs/1` is one of the operation whose words end with `GET /request-logs/{id}`. */
function isRouteOf(words, request) {
  const route = words.split(' ').slice(-2).join('/').split('/');
  const parts = request.replace(' ', '/').split('/');
  return (
    parts.length === route.length &&
    route.every((part, index) => part.startsWith('{') || part === parts[index])
  );
}

addEventListener('hashchange', follow);
if (location.hash !== '') follow();

// One language for all samples of the page.
document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs > input')) return;
  const label = target.nextElementSibling.textContent;
  for (const other of document.querySelectorAll('.tabs > label'))
    if (other.textContent === label) other.previousElementSibling.checked = true;
});

for (const panel of document.querySelectorAll('.try')) prepare(panel);

function prepare(panel) {
  const form = panel.querySelector('form');
  const { server } = form.dataset;
  panel.hidden = false;
  if (server && new URL(server).origin !== location.origin) {
    form.hidden = true;
    panel.querySelector('.elsewhere').hidden = false;
    return;
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form, panel.querySelector('.answer'));
  });
  form.addEventListener('input', ({ target }) => {
    target.setCustomValidity('');
    if (!target.name.startsWith('credentials.')) return;
    for (const field of document.getElementsByName(target.name)) field.value = target.value;
  });
}

/** Sends the request of a form, and shows the response while it arrives. */
async function send(form, answer) {
  const request = requestOf(form);
  if (!request) return;
  const [button, stop] = form.querySelectorAll('button');
  const controller = new AbortController();
  const end = () => controller.abort();
  stop.addEventListener('click', end);
  button.disabled = true;
  stop.hidden = false;
  const begin = performance.now();
  try {
    const response = await fetch(request.url, { ...request.options, signal: controller.signal });
    await show(response, Math.round(performance.now() - begin), answer);
  } catch (error) {
    if (!controller.signal.aborted) answer.replaceChildren(element('p', `No response: ${error.message}`));
  }
  stop.removeEventListener('click', end);
  stop.hidden = true;
  button.disabled = false;
}

/** Returns the request that the fields describe; undefined if one of them is not valid, which then says so. */
function requestOf(form) {
  const { method, path, type, login } = form.dataset;
  const values = { path: {}, query: {}, header: {}, body: {}, credentials: {} };
  let whole;
  for (const field of form.querySelectorAll('[name]')) {
    const [place, ...name] = field.name.split('.');
    if (field.value === '' && !(place === 'path')) continue;
    try {
      const value = 'json' in field.dataset ? JSON.parse(field.value) : field.value;
      if (name.length === 0) whole = value;
      else values[place][name.join('.')] = value;
      // Browsers take these two for folders, also if they are encoded.
      const isMissing = place === 'path' && ['', '.', '..'].includes(field.value);
      field.setCustomValidity(isMissing ? 'Enter a value other than “.” and “..”.' : '');
    } catch {
      field.setCustomValidity('Enter JSON, such as 1, true, "text" or {"name": "value"}.');
    }
    if (!field.reportValidity()) return undefined;
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values.path[name]));
  const query = new URLSearchParams(
    Object.entries(values.query).flatMap(([name, value]) => [value].flat().map((each) => [name, each])),
  );
  const body = whole ?? values.body;
  const { client_id: user = '', secret = '', token, service_token: service } = values.credentials;
  const bearer = token ?? service;
  const basic = user + secret === '' ? undefined : `Basic ${base64(`${user}:${secret}`)}`;
  const authorization = bearer === undefined ? basic : `Bearer ${bearer}`;
  return {
    url: query.size > 0 ? `${filled}?${query}` : filled,
    options: {
      method,
      headers: {
        ...values.header,
        ...(authorization && { Authorization: authorization }),
        ...(type && { 'Content-Type': type }),
      },
      body:
        type && (type === 'application/json' ? JSON.stringify(body) : new URLSearchParams(body).toString()),
      // With cookies, the browser would ask for a password if the credentials are wrong.
      credentials: login !== undefined && !authorization ? 'same-origin' : 'omit',
      cache: 'no-store',
    },
  };
}

const base64 = (text) => btoa(String.fromCodePoint(...new TextEncoder().encode(text)));

async function show(response, duration, answer) {
  const status = element('p', `${response.status} ${response.statusText} `);
  status.className = `status-${String(response.status)[0]}`;
  status.append(element('span', `after ${duration} ms`));
  const headers = document.createElement('details');
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  headers.append(element('summary', 'Headers'), element('pre', lines));
  const body = element('pre', '');
  body.tabIndex = 0;
  answer.replaceChildren(status, headers, body);
  const decoder = new TextDecoder();
  for await (const part of chunksOf(response.body)) body.append(decoder.decode(part, { stream: true }));
  body.textContent = formatted(body.textContent) || 'The response has no body.';
}

async function* chunksOf(stream) {
  const reader = stream?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader.read()) yield part.value;
}

function formatted(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function element(name, text) {
  const created = document.createElement(name);
  created.textContent = text;
  return created;
}
