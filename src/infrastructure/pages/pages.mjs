// Improves the pages of logged-in users, which also work without this script.

document.documentElement.classList.add('with-script');

/** Milliseconds that the copy button says that it has copied. */
const CONFIRMATION_TIME = 2_000;

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('button.copy');
  if (!button) return;
  const { of, label = button.textContent } = button.dataset;
  const source = of ? document.getElementById(of) : button.closest('.code-block, .copyable');
  await navigator.clipboard.writeText(source.querySelector('code').textContent);
  button.dataset.label = label;
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = label), CONFIRMATION_TIME);
});

// Filters apply without a button: choices at once, text when the user leaves the field or presses Enter, and a search also after
// a pause. Other text would be incomplete until then.
/** Milliseconds. */
const TYPING_PAUSE = 500;
/** The values that the results were last filtered by, for each form. */
const applied = new WeakMap();
let typing;
/** The link or button that the pointer presses. Replacing the results would take it away. */
let pressed;

const valuesOf = (form) => String(new URLSearchParams(new FormData(form)));
const apply = (form) => {
  // A form that opens another page does so when the user sends it.
  if (!form.hasAttribute('hx-get')) return;
  if (form.isConnected && form.checkValidity() && valuesOf(form) !== applied.get(form)) form.requestSubmit();
};

document.addEventListener('focusin', ({ target: { form } }) => {
  if (form?.matches('.filters') && !applied.has(form)) applied.set(form, valuesOf(form));
});
document.addEventListener('pointerdown', ({ target }) => (pressed = target.closest?.('a, button')), true);
document.addEventListener('keydown', () => (pressed = undefined), true);
document.addEventListener('focusout', ({ target }) => {
  if (!pressed && target.matches('form.filters input')) apply(target.form);
});
document.addEventListener('change', ({ target }) => {
  if (!target.matches('form.filters select')) return;
  // A chosen period replaces the times.
  if (target.name === 'period')
    for (const name of ['start', 'end']) {
      const field = target.form.elements.namedItem(name);
      if (field) field.value = '';
    }
  target.form.requestSubmit();
});
document.addEventListener('input', ({ target }) => {
  clearTimeout(typing);
  if (target.matches('form.filters input[type=search]'))
    typing = setTimeout(() => apply(target.form), TYPING_PAUSE);
});

// The response of an identity provider, whose code was used, does not stay in the address of a test login.
if (location.pathname.startsWith('/sso/')) {
  const { pathname } = document.querySelector('.parent a') ?? location;
  history.replaceState(null, '', pathname);
}

// Only the browser knows the local time zone. Some do not find it out.
const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone?.replace('Etc/Unknown', '');
for (const button of document.querySelectorAll('.zone button.local')) {
  button.value = localZone;
  button.hidden = !localZone || button.parentElement.textContent.includes(`Times in ${localZone}`);
}

// Filters that applied without a reload have changed the address.
document.addEventListener('submit', ({ target }) => {
  if (target.matches('.zone form, .saved form'))
    target.elements.page.value = location.pathname + location.search;
});

// Fields without a value are no filters, so the address need not name them. Without times, their time zone means nothing.
document.addEventListener('htmx:configRequest', ({ detail }) => {
  if (detail.elt.matches('form.filters')) applied.set(detail.elt, valuesOf(detail.elt));
  if (!detail.formData.get('start') && !detail.formData.get('end')) detail.formData.delete('zone');
  const empty = [...detail.formData].filter(([, value]) => value === '');
  for (const [name] of empty) detail.formData.delete(name);
});

// Live updates pause while nobody can see the page.
document.addEventListener('htmx:beforeRequest', (event) => {
  const isUpdate = event.target.getAttribute('hx-trigger')?.startsWith('every');
  if (isUpdate && document.hidden) event.preventDefault();
  if (event.target === closedSearch) event.preventDefault();
});

// The response is another page, such as the login, or an error: show it. A live update that failed changes nothing. The results
// say what is wrong with filters.
document.addEventListener('htmx:beforeSwap', (event) => {
  const { xhr, isError, requestConfig } = event.detail;
  const isSamePage = new URL(xhr.responseURL).pathname === new URL(requestConfig.path, location).pathname;
  const isUpdate = requestConfig.elt.getAttribute('hx-trigger')?.startsWith('every');
  if (isSamePage && xhr.status === 400 && requestConfig.elt.matches('form.filters')) {
    Object.assign(event.detail, { shouldSwap: true, isError: false });
    return;
  }
  // Nothing takes a page away from a user who types into the search. Results of an earlier text do not stay.
  if (requestConfig.elt.matches('.search input')) {
    event.detail.shouldSwap = isSamePage && !isError;
    if (!event.detail.shouldSwap) event.detail.target.replaceChildren();
    return;
  }
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

/** The field of a search whose results the user has closed, until the next input. */
let closedSearch;
document.addEventListener('input', () => (closedSearch = undefined));

// The results below the search: the arrow keys lead through them, and Escape closes them.
document.addEventListener('keydown', (event) => {
  const stops = [...(event.target.closest?.('.search')?.querySelectorAll('input, a') ?? [])];
  if (stops.length === 0) return;
  if (event.key === 'Escape') {
    stops[0].focus();
    closedSearch = stops[0];
    closedSearch.dispatchEvent(new CustomEvent('htmx:abort', { bubbles: true, detail: {} }));
    closedSearch.form.querySelector('.found').replaceChildren();
  }
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const next = step && stops[stops.indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
});

// Live updates change only what differs. They keep the mark of the opened entry, which the server does not know, and a row
// with the focus or the selection, even if newer rows take its place on the page.
Object.assign(globalThis.Idiomorph?.defaults.callbacks ?? {}, {
  beforeAttributeUpdated: (name, { type }) =>
    name !== 'aria-current' && !(name === 'checked' && type === 'checkbox'),
  beforeNodeRemoved: (node) =>
    !(
      node.localName === 'tr' &&
      (node.contains(document.activeElement) || node.querySelector('input:checked') || isSelected(node))
    ),
});
const isSelected = (node) => {
  const selection = getSelection();
  return !selection.isCollapsed && selection.containsNode(node, true);
};

// Says how many rows are selected, and selects all. Several rows can be about the same delivery.
const ROWS = 'form.selection td input[type=checkbox]';
const countSelected = () => {
  const form = document.querySelector('form.selection');
  if (!form) return;
  const rows = [...document.querySelectorAll(ROWS)];
  const selected = rows.filter(({ checked }) => checked);
  const count = new Set(selected.map(({ value }) => value)).size;
  const shown = form.querySelector('.count');
  const [one, many] = shown.dataset.things.split(' ');
  shown.textContent = count > 0 ? `(${count} ${count === 1 ? one : many})` : '';
  form.querySelector('.bar button').disabled = count === 0;
  const all = form.querySelector('.select-all');
  all.checked = selected.length === rows.length;
  all.indeterminate = selected.length > 0 && !all.checked;
};
document.addEventListener('change', ({ target }) => {
  if (target.matches('.select-all'))
    for (const row of document.querySelectorAll(ROWS)) row.checked = target.checked;
  if (target.matches(`.select-all, ${ROWS}`)) countSelected();
});
for (const name of ['htmx:afterSwap', 'htmx:historyRestore']) document.addEventListener(name, countSelected);
addEventListener('pageshow', countSelected);

/** A form of a page that the browser shows again, without the service, is another form: the user sends it on purpose. */
const renewPageTokens = () => {
  for (const input of document.getElementsByName('page_token')) input.value += Date.now();
};
addEventListener('pageshow', ({ persisted }) => persisted && renewPageTokens());
document.addEventListener('htmx:historyRestore', renewPageTokens);
countSelected();

// Says how many entries an update added.
const entryRows = () => [...document.querySelectorAll('#results tr[id^=entry-]')];
let shownRows = new Set();
document.addEventListener('htmx:beforeSwap', () => (shownRows = new Set(entryRows().map(({ id }) => id))));
document.addEventListener('htmx:afterSwap', ({ detail: { requestConfig } }) => {
  if (!requestConfig.elt.getAttribute('hx-trigger')?.startsWith('every')) return;
  const added = entryRows().filter(({ id }) => !shownRows.has(id)).length;
  if (added > 0) announce(`${added} new ${added === 1 ? 'entry' : 'entries'}`);
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
  for (const time of document.querySelectorAll('time:is([title], .relative)')) {
    const seconds = Math.trunc((Date.parse(time.dateTime) - Date.now()) / 1_000);
    const [unit, length] = Object.entries(UNITS).find(([, each]) => Math.abs(seconds) >= each) ?? [
      'second',
      1,
    ];
    const text = FORMAT.format(Math.trunc(seconds / length), unit);
    const shown = time.title ? 'title' : 'textContent';
    if (time[shown] !== text) time[shown] = text;
  }
}, TIMES_INTERVAL);

// On a phone, several filters would push the list out of view.
const phone = matchMedia('(max-width: 48rem)');
const foldFilters = () => {
  for (const filters of document.querySelectorAll(
    '.filters > details:has(> .line > :not(.actions):nth-child(3))',
  ))
    filters.open = !phone.matches;
};
phone.addEventListener('change', foldFilters);
foldFilters();

// Folded filters say how many of them are applied.
const countFilters = () => {
  const summary = document.querySelector('.filters > details > summary');
  const count = document.querySelectorAll('.chips li').length;
  if (summary) summary.textContent = count === 0 ? 'Filters' : `Filters (${count})`;
};
for (const name of ['htmx:afterSwap', 'htmx:historyRestore']) document.addEventListener(name, countFilters);
countFilters();

// On a phone, the results are below the filters, where a change would not be seen.
document.addEventListener('htmx:afterSwap', ({ detail: { requestConfig } }) => {
  const results = document.getElementById('results');
  const isBelow = results && results.getBoundingClientRect().top > innerHeight / 2;
  // Leaving a field and a pause do not say that the user has finished.
  const isFinished =
    requestConfig.triggeringEvent?.submitter || document.activeElement?.matches('form.filters select');
  if (isBelow && isFinished && requestConfig.elt.matches('form.filters')) results.scrollIntoView();
});

// Text that does not fit in its column is shown on hover and focus.
for (const name of ['pointerover', 'focusin'])
  document.addEventListener(name, ({ target }) => {
    const cell = target.closest?.('table.data :is(td, th)');
    if (!cell || cell.title) return;
    if (
      [cell, ...cell.querySelectorAll('.middle span, bdi')].some(
        (each) => each.scrollWidth > each.clientWidth,
      )
    )
      cell.title = cell.textContent;
    // A long identifier is in the link only.
    if (cell.textContent.includes('…'))
      cell.title =
        new URLSearchParams(cell.querySelector('a')?.search).get('external_user_id') ?? cell.textContent;
  });

// Menus close with Escape, and when the focus or the pointer leaves them.
const openMenus = () => [...document.querySelectorAll('details.popover[open]')];
for (const name of ['pointerdown', 'focusin'])
  document.addEventListener(name, ({ target }) => {
    for (const menu of openMenus()) if (!menu.contains(target)) menu.open = false;
  });
document.addEventListener('keydown', (event) => {
  const [menu] = openMenus();
  if (event.key !== 'Escape' || !menu) return;
  // An entry that is open beside the list stays.
  event.stopImmediatePropagation();
  menu.open = false;
  menu.querySelector('summary').focus();
});

// Tabs: a click and the arrow keys show another part of the page.
const showTab = (tab) => {
  for (const each of tab.parentElement.children) {
    const isShown = each === tab;
    each.setAttribute('aria-selected', isShown);
    each.tabIndex = isShown ? 0 : -1;
    document.getElementById(each.getAttribute('aria-controls')).classList.toggle('shown', isShown);
  }
};
document.addEventListener('click', ({ target }) => {
  const tab = target.closest?.('[role=tab]');
  if (tab) showTab(tab);
});
document.addEventListener('keydown', ({ key, target }) => {
  const next = { ArrowLeft: target.previousElementSibling, ArrowRight: target.nextElementSibling }[key];
  if (!next?.matches('[role=tab]') || !target.matches('[role=tab]')) return;
  next.focus();
  showTab(next);
});

// In a wide window, an entry of a list opens beside it. Otherwise, and without this script, the link opens its page.
const wide = matchMedia('(min-width: 82rem)');
const ENTRY_LINKS = '.split table.dense td.main a';
/** The address names the opened entry, so that it can be reloaded and shared: `#entry-` and its ID, which its row has, too. */
const ENTRY_HASH = /^#entry-([\w-]+)$/;

const linkTo = (hash) => document.querySelector(`${hash} td.main a`);

const showEntry = async (hash) => {
  const panel = document.getElementById('entry');
  const link = linkTo(hash);
  // The entry may have left the list.
  const path = link?.pathname ?? `${panel.parentElement.dataset.entries}/${hash.match(ENTRY_HASH)[1]}`;
  for (const each of document.querySelectorAll(ENTRY_LINKS)) each.removeAttribute('aria-current');
  link?.setAttribute('aria-current', 'true');
  panel.querySelector('.open').href = path;
  await htmx.ajax('GET', path, {
    target: '#entry-content',
    select: '#content > *',
    swap: 'innerHTML',
  });
  panel.hidden = location.hash !== hash;
};

const hideEntry = () => {
  document.getElementById('entry').hidden = true;
  const link = document.querySelector(`${ENTRY_LINKS}[aria-current]`);
  link?.removeAttribute('aria-current');
  link?.focus();
};

const opensEntries = () => document.getElementById('entry') && wide.matches;
const isOpen = () => document.getElementById('entry')?.hidden === false;

/** The first entry that is opened adds an address to the history, which the next ones replace: "back" closes the entry. */
const openEntry = async (link) => {
  const hash = `#${link.closest('tr').id}`;
  if (isOpen()) history.replaceState(history.state, '', hash);
  else {
    // htmx would load the list again when the user goes back to an address that it has added.
    history.replaceState(null, '');
    history.pushState({ isEntry: true }, '', hash);
  }
  await showEntry(hash);
};

const closeEntry = () => {
  if (history.state?.isEntry) return history.back();
  history.replaceState(null, '', location.pathname + location.search);
  hideEntry();
};

const showAddress = () => {
  if (!opensEntries()) return;
  if (ENTRY_HASH.test(location.hash)) showEntry(location.hash);
  else if (isOpen()) hideEntry();
};
showAddress();

// Going back and forward: htmx loads the lists whose addresses it has added, and this script the others.
let shownList = location.pathname + location.search;
document.addEventListener('htmx:historyRestore', () => (shownList = location.pathname + location.search));
document.addEventListener('htmx:pushedIntoHistory', () => {
  shownList = location.pathname + location.search;
  // The address of another list names no entry.
  if (isOpen()) document.getElementById('entry').hidden = true;
});
addEventListener('popstate', ({ state }) => {
  if (state?.htmx || !document.querySelector('.split')) return;
  if (shownList === location.pathname + location.search) showAddress();
  else location.reload();
});

document.addEventListener('click', async (event) => {
  const link = event.target.closest?.(ENTRY_LINKS);
  if (event.target.closest?.('#entry .close')) closeEntry();
  if (!link || !wide.matches || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  await openEntry(link);
  // Users of the keyboard go on in the entry.
  if (event.detail === 0) document.getElementById('entry').focus();
});

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && isOpen()) closeEntry();
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step || !event.target.matches(ENTRY_LINKS)) return;
  const links = [...document.querySelectorAll(ENTRY_LINKS)];
  const link = links[links.indexOf(event.target) + step];
  if (!link) return;
  event.preventDefault();
  link.focus();
  if (isOpen()) openEntry(link);
});

// A form that requires a login takes its input along, in the storage of this tab: not in an address, and without secrets, which
// the page does not have. The page that the form was on fills it in again.
const KEPT_FORM = 'kept form';
/** The ID of the user whose pages this tab showed last. */
const USER = 'user';
/** Milliseconds that the input is kept. */
const KEEPING_TIME = 15 * 60_000;

/** Returns a value of this tab's storage, which the browser may refuse. */
const sessionValue = (name) => {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
};

const keepForm = (login) => {
  const form = document.querySelector('#content form');
  const address = new URL(login.href);
  const fields = [...new FormData(form)].filter(([name]) => name !== 'form_token' && name !== 'page_token');
  const kept = {
    page: address.searchParams.get('next'),
    action: form.getAttribute('action'),
    fields,
    user: sessionValue(USER),
    until: Date.now() + KEEPING_TIME,
  };
  try {
    sessionStorage.setItem(KEPT_FORM, JSON.stringify(kept));
  } catch {
    return; // Without storage, the page itself keeps the input.
  }
  address.searchParams.set('again', 'kept');
  location.replace(address);
};

const takeKeptForm = () => {
  const kept = JSON.parse(sessionValue(KEPT_FORM) ?? 'null');
  if (!kept) return undefined;
  const isHere = kept.page === location.pathname + location.search;
  const isAllowed = kept.until >= Date.now() && kept.user === user;
  if (isHere || !isAllowed) sessionStorage.removeItem(KEPT_FORM);
  return isHere && isAllowed ? kept : undefined;
};

/** Whether the user can see and change the control, or it says what the form was opened with. */
const isInput = ({ type, name }) =>
  name === 'seen' || !['button', 'file', 'hidden', 'image', 'reset', 'submit'].includes(type);

/** Several forms of a page can have one address: they differ in their hidden fields. */
const isSameForm = (form, action, fields) =>
  form.getAttribute('action') === action &&
  fields.every(([name]) => form.elements.namedItem(name)) &&
  [...form.elements].some((each) => each.name && isInput(each) && each.type !== 'hidden') &&
  [...form.elements]
    .filter(({ type, name }) => type === 'hidden' && !['form_token', 'page_token', 'seen'].includes(name))
    .every((each) => fields.some(([name, value]) => name === each.name && value === each.value));

const fillIn = ({ action, fields }) => {
  const form = [...document.querySelectorAll('#content form')].find((each) =>
    isSameForm(each, action, fields),
  );
  if (!form) return;
  const names = new Set(fields.map(([name]) => name));
  for (const control of [...form.elements].filter(isInput)) {
    const values = fields.filter(([name]) => name === control.name).map(([, value]) => value);
    if (control.type === 'checkbox') control.checked = values.includes(control.value);
    else if (names.has(control.name)) control.value = values[0];
  }
  const notice = document.createElement('div');
  notice.className = 'notice good';
  form.before(notice);
  notice.setAttribute('role', 'status');
  notice.textContent = 'The form has what you entered before you logged in. Nothing was changed yet.';
};

// Input is only for the user who entered it.
const { user } = document.body.dataset;
if (user) {
  try {
    sessionStorage.setItem(USER, user);
  } catch {
    // Nothing is kept without storage.
  }
}
const login = document.querySelector('#content a.log-in');
const keptForm = login ? keepForm(login) : takeKeptForm();
if (keptForm) fillIn(keptForm);

// Nobody who uses this tab after a logout finds the input.
document.addEventListener('submit', ({ target }) => {
  if (target.getAttribute('action') === '/logout') sessionStorage.removeItem(KEPT_FORM);
});

// A button shows that its form is being sent, and another click does nothing. After a while, it can be sent again: the user may have
// stopped the browser.
/** Milliseconds. */
const SENDING_TIME = 15_000;
const sending = new Set();

const endSending = () => {
  for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
  sending.clear();
};
const beginSending = (form, button) => {
  sending.add(form);
  button?.setAttribute('aria-busy', 'true');
  setTimeout(endSending, SENDING_TIME);
};
document.addEventListener('submit', (event) => {
  const { target, submitter } = event;
  if (event.defaultPrevented || target.getAttribute('method') !== 'post') return;
  if (sending.has(target)) event.preventDefault();
  else beginSending(target, submitter);
});
addEventListener('pageshow', endSending);

// A form that requires a recent login asks for it before it is sent, in a dialog that shows the pages of the login.
const LOGGED_IN = '/account/logged-in';
const LOG_IN = `/login?${new URLSearchParams({ next: LOGGED_IN, again: 'form' })}`;
/** Milliseconds that sending the form may take. */
const LOGIN_MARGIN = 5_000;

const pageAt = async (path, options) => {
  const response = await fetch(path, options);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  return { page, content: page.getElementById('content') };
};

/**
 * Returns whether the page says that the login is recent. The forms of this page then get its token. Never resolves after a login of
 * another user: this page ends.
 */
const takeLogin = async ({ page }, within) => {
  const age = page.querySelector('[data-login-age]')?.dataset.loginAge;
  if (age === undefined) return false;
  // Another user logged in, who may neither see nor send the input of this one.
  if (page.body.dataset.user !== user) {
    location.replace('/dashboard');
    await new Promise(() => {});
  }
  if (Number(age) > within - LOGIN_MARGIN) return false;
  const { value } = page.querySelector('[name=form_token]');
  for (const input of document.getElementsByName('form_token')) input.value = value;
  return true;
};

/** The address of the identity provider that the login leads to, or of the login in a tab of its own. */
const outside = ({ content }) => {
  const forms = [...content.querySelectorAll('form')];
  const link = content.querySelector('a[href^="http"]');
  const isForm = forms.some(
    (form) => new URL(form.getAttribute('action'), location).origin !== location.origin,
  );
  return isForm ? LOG_IN : forms.length === 0 && link?.href;
};

/** Two fields of a page must not have one ID. */
const renameIds = (dialog) => {
  for (const name of ['id', 'for', 'aria-describedby'])
    for (const each of dialog.querySelectorAll(`[${name}]`))
      each.setAttribute(name, each.getAttribute(name).replaceAll(/\S+/g, 'login-$&'));
};

/** Returns whether the user logged in, or cannot log in on this page. */
const askForLogin = (within) =>
  new Promise((resolve) => {
    const dialog = document.createElement('dialog');
    const closing = new AbortController();
    const until = { signal: closing.signal };
    dialog.className = 'login';

    /** The address at which the user continues in the dialog. */
    let first;
    const focusFirst = () => first?.focus();

    const show = async (request) => {
      const shown = await request;
      if (await takeLogin(shown, within)) return dialog.close('done');
      const cancel = document.createElement('button');
      Object.assign(cancel, { type: 'button', className: 'second', textContent: 'Cancel' });
      cancel.addEventListener('click', () => dialog.close());
      const provider = outside(shown);
      if (provider) {
        const link = document.createElement('a');
        Object.assign(link, { href: provider, target: '_blank', className: 'button' });
        link.textContent = 'Log in at your identity provider';
        const text = document.createElement('p');
        text.textContent =
          'Your organization uses single sign-on. Log in there in a new tab, then come back.';
        shown.content.replaceChildren(shown.content.querySelector('.heading'), text, link);
      }
      first =
        shown.content.querySelector('[autofocus]') ??
        shown.content.querySelector('input:not([type=hidden]), a, button');
      // The browser does not let parts of a page take the focus from another element by themselves.
      first.removeAttribute('autofocus');
      dialog.replaceChildren(...shown.content.children, cancel);
      renameIds(dialog);
      const heading = dialog.querySelector('h1');
      heading.id = 'login-heading';
      dialog.setAttribute('aria-labelledby', heading.id);
      focusFirst();
      const passkeys = dialog.querySelector('form[action="/login/passkey"]');
      if (passkeys) (await import('/passkeys.js')).usePasskeys(passkeys);
    };
    /** Shows the next page, or says that it did not arrive. */
    const goOn = (request) =>
      show(request).catch(() => {
        endSending();
        const status = dialog.querySelector('[role=status]') ?? document.createElement('p');
        status.setAttribute('role', 'status');
        status.textContent = 'The connection was lost. Try again.';
        if (!status.isConnected) dialog.append(status);
      });
    const send = (form) => {
      const body = new URLSearchParams(new FormData(form));
      goOn(pageAt(form.getAttribute('action'), { method: 'POST', body }));
    };

    dialog.addEventListener('submit', (event) => {
      event.preventDefault();
      // A form with a passkey is sent later, by an event of its own.
      if (event.target.elements.credential) return;
      event.submitter?.setAttribute('aria-busy', 'true');
      send(event.target);
    });
    dialog.addEventListener('passkey', (event) => {
      event.preventDefault();
      send(event.target);
    });
    dialog.addEventListener('click', (event) => {
      const link = event.target.closest('a');
      if (!link || link.target) return;
      event.preventDefault();
      if (link.pathname === '/login') goOn(pageAt(link.href));
      else open(link.href, '_blank', 'noopener');
    });
    // After a login in another tab.
    addEventListener(
      'focus',
      () =>
        pageAt(LOGGED_IN)
          .then((page) => takeLogin(page, within))
          .then(
            (isRecent) => isRecent && dialog.close('done'),
            // Without a connection, the dialog stays.
            () => undefined,
          ),
      until,
    );
    dialog.addEventListener('close', () => {
      closing.abort();
      dialog.remove();
      resolve(dialog.returnValue === 'done');
    });
    document.body.append(dialog);
    show(pageAt(LOG_IN)).then(
      () => {
        if (!dialog.isConnected) return;
        dialog.showModal();
        focusFirst();
      },
      // The login page did not arrive: the form is sent, and the service asks for the login.
      () => {
        closing.abort();
        dialog.remove();
        resolve(true);
      },
    );
  });

/** The form whose login is recent. */
let confirmed;
document.addEventListener(
  'submit',
  async (event) => {
    const { target: form, submitter } = event;
    // On a page without a user, the service asks for the login.
    if (!user || !form.dataset.loginWithin || form === confirmed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (sending.has(form)) return;
    beginSending(form, submitter);
    const within = Number(form.dataset.loginWithin);
    // Without a connection, the form is sent all the same, and the browser says what is wrong.
    const isRecent = await pageAt(LOGGED_IN).then(
      async (page) => (await takeLogin(page, within)) || askForLogin(within),
      () => true,
    );
    endSending();
    if (!isRecent) return;
    confirmed = form;
    form.requestSubmit(submitter);
    confirmed = undefined;
  },
  true,
);

// A chart shows the values of the time at the pointer, and of the times that the arrow keys reach. A click and the enter key lead
// to the entries of that time, a click on a bar to those of its outcome. The table of the chart has the values and the links.
const READABLE_CHARTS = 'svg[data-from]';
/** The position of the time that each chart shows. */
const readings = new WeakMap();

const rowsOf = (chart) => [...chart.closest('figure').querySelectorAll('tr')];

const read = (chart, position) => {
  const [head, ...rows] = rowsOf(chart);
  const index = Math.min(Math.max(position, 0), rows.length - 1);
  readings.set(chart, index);
  const { from, to } = chart.dataset;
  const x = Number(from) + ((index + 0.5) * (to - from)) / rows.length;
  const [time, ...values] = [...rows[index].cells].map((cell) => cell.textContent);
  const shown = values.flatMap((value, each) =>
    value === '0' ? [] : [`${head.cells[each + 1].textContent}: ${value}`],
  );
  const [line, text] = chart.querySelector('.reading').children;
  for (const name of ['x1', 'x2']) line.setAttribute(name, x);
  text.textContent = `${time} ${shown.join(', ') || 'none'}`;
};

/**
 * Opens the link of the time that the chart shows, in another tab if the event has such a key. A click on a bar opens the entries of
 * its outcome.
 */
const follow = (chart, { target, ctrlKey, metaKey, shiftKey }) => {
  const link = rowsOf(chart)[readings.get(chart) + 1]?.querySelector('a')?.cloneNode();
  if (!link) return;
  const { outcome } = target.dataset;
  const address = new URL(link.href);
  if (outcome) address.searchParams.set('outcome', outcome);
  link.href = address;
  link.dispatchEvent(
    new MouseEvent('click', { ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true }),
  );
};

/** Shows the values of the time at the pointer. */
const readAt = (chart, { clientX }) => {
  const { left, width } = chart.getBoundingClientRect();
  const x = ((clientX - left) / width) * chart.viewBox.baseVal.width;
  const { from, to } = chart.dataset;
  read(chart, Math.floor(((x - from) / (to - from)) * (rowsOf(chart).length - 1)));
};

document.addEventListener('pointermove', (event) => {
  const chart = event.target.closest?.(READABLE_CHARTS);
  if (chart) readAt(chart, event);
});
document.addEventListener('focusin', ({ target }) => {
  if (target.matches(READABLE_CHARTS)) read(target, readings.get(target) ?? Infinity);
});
document.addEventListener('keydown', (event) => {
  if (!event.target.matches(READABLE_CHARTS)) return;
  if (event.key === 'Enter') follow(event.target, event);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  read(event.target, readings.get(event.target) + step);
});
document.addEventListener('click', (event) => {
  const chart = event.target.closest(READABLE_CHARTS);
  if (!chart) return;
  // A finger does not move before it taps.
  readAt(chart, event);
  follow(chart, event);
});

// A period is dragged over the bars of a histogram. A click opens the link of a bar, as without this script.
/** The chart, and the positions of the first and the last bar under the pointer. */
let drag;
let hasDragged = false;

const barAt = (chart, { clientX }) => {
  const { left, width } = chart.getBoundingClientRect();
  const count = chart.viewBox.baseVal.width;
  return Math.min(Math.max(Math.floor(((clientX - left) / width) * count), 0), count - 1);
};

/** Marks the bars from one position to another, or none. */
const mark = (chart, first = 0, last = -1) => {
  const marked = chart.querySelector('.dragged');
  marked.setAttribute('x', first);
  marked.setAttribute('width', last - first + 1);
};

const endDrag = () => {
  if (drag) mark(drag.chart);
  drag = undefined;
};

document.addEventListener('pointerdown', (event) => {
  const chart = event.target.closest?.('.histogram svg');
  hasDragged = false;
  if (!chart || event.button !== 0) return;
  const bar = barAt(chart, event);
  drag = { chart, from: bar, to: bar };
});
document.addEventListener('pointermove', (event) => {
  if (!drag) return;
  const { chart, from } = drag;
  drag.to = barAt(chart, event);
  hasDragged ||= drag.to !== from;
  if (hasDragged) mark(chart, Math.min(from, drag.to), Math.max(from, drag.to));
});
document.addEventListener('pointerup', () => {
  if (!drag) return;
  const { chart, from, to } = drag;
  endDrag();
  // A live update may have replaced the chart.
  if (!hasDragged || !chart.isConnected) return;
  const { list, start, step, end } = chart.dataset;
  const timeOf = (bar) => new Date(Math.min(Number(start) + bar * Number(step), Number(end))).toISOString();
  const address = new URL(list, location.href);
  address.searchParams.set('start', timeOf(Math.min(from, to)));
  address.searchParams.set('end', timeOf(Math.max(from, to) + 1));
  location.assign(address);
});
document.addEventListener('pointercancel', endDrag);
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') endDrag();
});
// The browser would drag the link of the bar, and follow it at the end.
document.addEventListener('dragstart', (event) => {
  if (drag) event.preventDefault();
});
document.addEventListener(
  'click',
  (event) => {
    if (hasDragged && event.target.closest?.('.histogram')) event.preventDefault();
  },
  true,
);
