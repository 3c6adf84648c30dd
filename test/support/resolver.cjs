/**
 * Jest on Node.js 20 cannot `require` an ES module, as Node.js itself can, and nestjs-cls is CommonJS that
 * requires Nest, which is ES modules alone. Such a `require` gets, by way of a file of one line, the
 * namespace that `provide-nest-to-commonjs.ts` has imported before.
 */
const { mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const directory = join(__dirname, '..', '..', 'node_modules', '.cache', 'nest-for-commonjs');
mkdirSync(directory, { recursive: true });

module.exports = (request, options) => {
  if (!request.startsWith('@nestjs/') || !options.conditions?.includes('require')) {
    return options.defaultResolver(request, options);
  }
  const file = join(directory, `${request.replaceAll('/', '+')}.cjs`);
  writeFileSync(file, `module.exports = globalThis[Symbol.for(${JSON.stringify(request)})];\n`);
  return file;
};
