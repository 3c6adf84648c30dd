import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

/**
 * Node.js module hooks that import the TypeScript sources without a build, so that the setup of a test run needs
 * none. `npm test` runs them on Node.js 20, which cannot strip types itself.
 */
export async function resolve(specifier, context, next) {
  const isSource = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
  return next(isSource ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context);
  const { code } = await transformFile(fileURLToPath(url), { sourceMaps: 'inline' });
  return { format: 'module', source: code, shortCircuit: true };
}
