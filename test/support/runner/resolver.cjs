/**
 * nestjs-cls is CommonJS and requires Nest, which consists of ES modules only. Node.js 20 can `require` ES modules, but
 * Jest on Node.js 20 cannot. This resolver redirects such a `require` to a generated file of one line, which exports
 * the namespace that `provide-nest-to-commonjs.ts` has already imported.
 */
const { existsSync, mkdirSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const directory = join(__dirname, '..', '..', '..', 'node_modules', '.cache', 'nest-for-commonjs');
mkdirSync(directory, { recursive: true });

module.exports = (request, options) => {
  if (!request.startsWith('@nestjs/') || !options.conditions?.includes('require')) {
    return options.defaultResolver(request, options);
  }
  const file = join(directory, `${request.replaceAll('/', '+')}.cjs`);
  if (!existsSync(file)) {
    // Renaming is atomic: no other worker of Jest reads an empty file.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, `module.exports = globalThis[Symbol.for(${JSON.stringify(request)})];\n`);
    renameSync(draft, file);
  }
  return file;
};
