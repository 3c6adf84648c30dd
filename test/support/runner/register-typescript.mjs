import { register } from 'node:module';

/** Lets Node.js import the TypeScript sources: see typescript-loader.mjs. */
register('./typescript-loader.mjs', import.meta.url);
