// Generated from openapi.json. Run `npm run openapi` after changes.
/** The release of the SDK. */
export const VERSION = '0.4.0';
