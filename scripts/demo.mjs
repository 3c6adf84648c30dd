/*
 * Starts the service with an organization that has a week of traffic, to look around: `npm run demo`.
 *
 * The data are the same each time, relative to the start, and are kept in a directory of their own.
 */
process.env.DATA_DIR ??= '.data/demo';
if (process.env.NODE_ENV === 'production') {
  process.stderr.write('The demo writes invented data, so it does not run with NODE_ENV=production.\n');
  process.exit(1);
}
const { fillDemo } = await import('./demo/fill.mjs');
process.stdout.write(await fillDemo(process.env));
await import('../dist/src/main.js');
