/* The search and the copy buttons of every page. Everything else works without scripts. */

const MAX_RESULTS = 12;
/** Factor of the score of the operation that the query names. */
const OPERATION_WEIGHT = 20;

const form = document.querySelector('.search');
const field = form.querySelector('input');
const list = form.querySelector('.results');
const status = form.querySelector('[role=status]');
let loading;

form.hidden = false;

/** Loads the search and its index when the field is used for the first time. */
function load() {
  loading ??= Promise.all([
    import('./minisearch.mjs'),
    fetch('/docs/assets/search.json').then((response) => response.json()),
  ]).then(([{ default: MiniSearch }, { options, index }]) => MiniSearch.loadJS(index, options));
  loading.catch(() => (loading = undefined));
  return loading;
}

async function search() {
  const query = field.value.trim();
  if (query === '') return close();
  const index = await load();
  // The text may have changed while the index was loading.
  if (query !== field.value.trim()) return;
  // The excerpt of an operation is its method and path.
  const isNamed = (excerpt) =>
    [excerpt, excerpt.split(' ')[1]].some((name) => name?.toLowerCase() === query.toLowerCase());
  const options = {
    boostDocument: (_id, _term, { weight, excerpt }) => weight * (isNamed(excerpt) ? OPERATION_WEIGHT : 1),
  };
  let found = index.search(query, options);
  if (found.length === 0) found = index.search(query, { ...options, combineWith: 'OR' });
  const shown = found.slice(0, MAX_RESULTS);
  list.replaceChildren(...(shown.length === 0 ? [nothing(query)] : shown.map(resultItem)));
  list.hidden = false;
  status.textContent = shown.length === 1 ? '1 result' : `${shown.length} results`;
}

function resultItem({ title, page, excerpt, href }) {
  const link = document.createElement('a');
  link.href = href;
  const texts = [
    ['b', title],
    ['span', page === title ? '' : page],
    ['span', excerpt],
  ];
  for (const [name, text] of texts.filter(([, text]) => text !== '')) {
    link.appendChild(document.createElement(name)).textContent = text;
  }
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function nothing(query) {
  const item = document.createElement('li');
  item.className = 'none';
  item.textContent = `No results for “${query}”.`;
  return item;
}

function close() {
  list.hidden = true;
  status.textContent = '';
}

/** Moves the focus between the field and the results. */
function move(step) {
  const stops = [field, ...list.querySelectorAll('a')];
  stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
}

field.addEventListener('focus', () => load());
field.addEventListener('input', search);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  search().then(() => list.querySelector('a')?.click());
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    field.focus();
    close();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    move(event.key === 'ArrowDown' ? 1 : -1);
  }
});
form.addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget && !form.contains(relatedTarget)) close();
});
list.addEventListener('click', ({ target }) => {
  if (target.closest('a')) close();
});
document.addEventListener('pointerdown', ({ target }) => {
  if (!form.contains(target)) close();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]') !== null;
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
  field.select();
});

// Browsers offer the clipboard only to pages over https and of the local machine.
if (navigator.clipboard) {
  for (const code of document.querySelectorAll('main pre')) addCopyButton(code);
}

function addCopyButton(code) {
  const block = document.createElement('div');
  block.className = 'block';
  const button = document.createElement('button');
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent.trimEnd());
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  code.replaceWith(block);
  block.append(code, button);
}
