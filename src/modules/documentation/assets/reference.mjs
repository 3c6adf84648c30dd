/* Shows the API document with Swagger UI in place of the list of operations. */

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

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  // The operations show the schemas that they use.
  defaultModelsExpandDepth: 0,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [OtherHosts, NativeScrolling],
});
