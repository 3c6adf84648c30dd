/* Shows the API document with Swagger UI beside the list of operations, which gets a filter. */

/* global SwaggerUIBundle */

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
applyScheme();
dark.addEventListener('change', applyScheme);

/** Scrolls below the bar at the top, which Swagger UI does not know. */
const NativeScrolling = () => ({
  statePlugins: {
    layout: { wrapActions: { scrollToElement: () => (element) => element.scrollIntoView() } },
  },
});

/** Hides "Try it out" for operations on another host, which does not accept requests from this page. */
const OtherHosts = () => ({
  statePlugins: {
    spec: {
      wrapSelectors: {
        allowTryItOutFor:
          (_original, { specSelectors }) =>
          (_state, path, method) => {
            const server = specSelectors.specJson().getIn(['paths', path, method, 'servers', 0, 'url'], '/');
            return new URL(server, location.href).origin === location.origin;
          },
      },
    },
  },
});

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  displayRequestDuration: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  // The operations show the schemas that they use.
  defaultModelsExpandDepth: 0,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [OtherHosts, NativeScrolling],
});

// The list is links to the addresses that Swagger UI reads when the page opens.
addEventListener('hashchange', () => ui.layoutActions.parseDeepLinkHash(decodeURIComponent(location.hash)));

const list = document.querySelector('.operations');
const filter = list.querySelector('input');
filter.hidden = false;
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  for (const section of list.querySelectorAll('section')) {
    const topic = section.querySelector('h2').textContent;
    for (const item of section.querySelectorAll('li')) {
      const text = `${topic} ${item.textContent}`.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    }
    section.hidden = !section.querySelector('li:not([hidden])');
  }
});
