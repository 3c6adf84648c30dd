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

// Fields without a value are no filters, so the address need not name them.
document.addEventListener('htmx:configRequest', ({ detail }) => {
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
  const isSamePage = new URL(xhr.responseURL).pathname === location.pathname;
  const isUpdate = requestConfig.elt.getAttribute('hx-trigger')?.startsWith('every');
  if (isSamePage && (!isError || isUpdate)) return;
  Object.assign(event.detail, { shouldSwap: false, isError: false });
  location.assign(xhr.responseURL);
});

// On a phone, the results are below the filters, where a change would not be seen.
document.addEventListener('htmx:afterSwap', ({ detail: { requestConfig } }) => {
  const results = document.getElementById('results');
  const isBelow = results && results.getBoundingClientRect().top > innerHeight / 2;
  if (isBelow && requestConfig.elt.matches('form.filters')) results.scrollIntoView();
});
