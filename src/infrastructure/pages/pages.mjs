// Improves the pages of logged-in users, which also work without this script.

document.documentElement.classList.add('with-script');

/** Milliseconds that the copy button says that it has copied. */
const CONFIRMATION_TIME = 2_000;

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('button.copy');
  if (!button) return;
  await navigator.clipboard.writeText(button.closest('.code-block').querySelector('code').textContent);
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), CONFIRMATION_TIME);
});

// Choices of filters apply at once. Other fields may be incomplete until the form is sent.
document.addEventListener('change', ({ target }) => {
  if (target.matches('form.filters select')) target.form.requestSubmit();
});

// Only the browser knows the local time zone.
const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const button of document.querySelectorAll('.zone button.local')) {
  button.value = localZone;
  button.hidden = !localZone || button.parentElement.textContent.includes(`Times in ${localZone}`);
}

// Filters that applied without a reload have changed the address.
document.addEventListener('submit', ({ target }) => {
  if (target.matches('.zone form')) target.elements.page.value = location.pathname + location.search;
});

// Fields without a value are no filters, so the address need not name them. Without times, their time zone means nothing.
document.addEventListener('htmx:configRequest', ({ detail }) => {
  if (!detail.formData.get('start') && !detail.formData.get('end')) detail.formData.delete('zone');
  const empty = [...detail.formData].filter(([, value]) => value === '');
  for (const [name] of empty) detail.formData.delete(name);
});

// Live updates pause while nobody can see the page.
document.addEventListener('htmx:beforeRequest', (event) => {
  const isUpdate = event.target.getAttribute('hx-trigger')?.startsWith('every');
  if (isUpdate && document.hidden) event.preventDefault();
});

// The response is another page, such as the login, or an error: show it. A live update that failed changes nothing.
document.addEventListener('htmx:beforeSwap', (event) => {
  const { xhr, isError, requestConfig } = event.detail;
  const isSamePage = new URL(xhr.responseURL).pathname === new URL(requestConfig.path, location).pathname;
  const isUpdate = requestConfig.elt.getAttribute('hx-trigger')?.startsWith('every');
  if (isSamePage && (!isError || isUpdate)) return;
  Object.assign(event.detail, { shouldSwap: false, isError: false });
  location.assign(xhr.responseURL);
});

// The keys `/` and Ctrl+K lead to the search, unless the user is typing.
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select, [contenteditable]');
  const isShortcut =
    (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey));
  if (!isShortcut) return;
  event.preventDefault();
  const search = document.querySelector('form.search input');
  search?.focus();
  search?.select();
});

// Says when the list is no longer up to date.
const announce = (text) => {
  const status = document.querySelector('.live [role=status]');
  if (status && status.textContent !== text) status.textContent = text;
};
for (const name of ['htmx:sendError', 'htmx:responseError', 'htmx:timeout'])
  document.addEventListener(name, ({ detail: { requestConfig } }) => {
    if (requestConfig?.elt.getAttribute('hx-trigger')?.startsWith('every'))
      announce('The connection was lost. Retrying…');
  });

/** Milliseconds between updates of times such as “5 minutes ago”. */
const TIMES_INTERVAL = 15_000;
const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = { day: 86_400, hour: 3_600, minute: 60, second: 1 };

setInterval(() => {
  for (const time of document.querySelectorAll('time.relative')) {
    const seconds = Math.trunc((Date.parse(time.dateTime) - Date.now()) / 1_000);
    const [unit, length] = Object.entries(UNITS).find(([, each]) => Math.abs(seconds) >= each) ?? [
      'second',
      1,
    ];
    const text = FORMAT.format(Math.trunc(seconds / length), unit);
    if (time.textContent !== text) time.textContent = text;
  }
}, TIMES_INTERVAL);

// On a phone, the results are below the filters, where a change would not be seen.
document.addEventListener('htmx:afterSwap', ({ detail: { requestConfig } }) => {
  const results = document.getElementById('results');
  const isBelow = results && results.getBoundingClientRect().top > innerHeight / 2;
  if (isBelow && requestConfig.elt.matches('form.filters')) results.scrollIntoView();
});

// In a wide window, an entry of a list opens beside it. Otherwise, and without this script, the link opens its page.
const wide = matchMedia('(min-width: 82rem)');
const ENTRY_LINKS = '.split table.dense tbody a';

const showEntry = async (link) => {
  const panel = document.getElementById('entry');
  for (const each of document.querySelectorAll(ENTRY_LINKS)) each.removeAttribute('aria-current');
  link.setAttribute('aria-current', 'true');
  panel.querySelector('.open').href = link.href;
  await htmx.ajax('GET', link.pathname, {
    target: '#entry-content',
    select: '#content > *',
    swap: 'innerHTML',
  });
  panel.hidden = false;
};

const closeEntry = () => {
  document.getElementById('entry').hidden = true;
  const link = document.querySelector(`${ENTRY_LINKS}[aria-current]`);
  link?.removeAttribute('aria-current');
  link?.focus();
};

document.addEventListener('click', async (event) => {
  const link = event.target.closest?.(ENTRY_LINKS);
  if (event.target.closest?.('#entry .close')) closeEntry();
  if (!link || !wide.matches || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  await showEntry(link);
  // Users of the keyboard go on in the entry.
  if (event.detail === 0) document.getElementById('entry').focus();
});

document.addEventListener('keydown', (event) => {
  const panel = document.getElementById('entry');
  if (event.key === 'Escape' && panel?.hidden === false) closeEntry();
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step || !event.target.matches(ENTRY_LINKS)) return;
  const links = [...document.querySelectorAll(ENTRY_LINKS)];
  const link = links[links.indexOf(event.target) + step];
  if (!link) return;
  event.preventDefault();
  link.focus();
  if (!panel.hidden) showEntry(link);
});
