import { writeSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/** Imported by a program (`node --import`), writes on standard error which modules of the service it loads. */
if (isMainThread) register(import.meta.url);

const MODULE = /\/dist\/src\/((?:modules\/[^/]+|infrastructure\/http)\/index)\.js$/;

export function load(url, context, next) {
  const [, name] = MODULE.exec(url) ?? [];
  if (name) writeSync(2, `loaded ${name}\n`);
  return next(url, context);
}
