import { existsSync, readFileSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext, Script } from 'node:vm';

/*
 * The application as two scripts: its dependencies and its sources. Running them takes much less time than loading 3,200
 * files. `build-bundle.mjs` writes them.
 */

/** The function on the global object that returns a module by its name, such as `pg` or `src/app.module.js`. */
export const MODULES = Symbol.for('merchant-connectivity-service modules');

/**
 * Global names that become constants of the scripts, because reading a global name in a context takes so long that the
 * application would need twice the CPU time. A test can replace others, such as `fetch` and `setTimeout`.
 */
const NOT_CONSTANT = ['console', 'Date', 'eval', 'globalThis', 'Infinity', 'NaN', 'undefined'];
const CONSTANT = [
  ...runInNewContext('Object.getOwnPropertyNames(globalThis)').filter((name) => !NOT_CONSTANT.includes(name)),
  'Buffer',
  'process',
  'URL',
  'URLSearchParams',
];

/** A script that returns functions by names. Each of them runs a module when it is first called, and returns its exports. */
export class BundledScript {
  /** @param name of the file in stack traces */
  constructor(file, name = file) {
    this.file = file;
    this.name = name;
    const cache = `${file}.cache`;
    // The script contains only ASCII, which is read faster so.
    const begin = `(function (require, module, exports) { const { ${CONSTANT.join()} } = globalThis; (function () {`;
    this.script = new Script(`${begin}${readFileSync(file, 'latin1')}\n})(); })`, {
      filename: name,
      ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
    });
  }

  run(require) {
    const module = { exports: {} };
    this.script.runInThisContext()(require, module, module.exports);
    return module.exports;
  }
}

/**
 * Makes the modules of scripts available to the files that `build-bundle.mjs` writes, and returns a function that reads them.
 *
 * @param others functions that return further modules, by their names
 */
export function provideModules(scripts, others = {}) {
  const modules = { ...others };
  const read = (name) => modules[name]();
  // Some dependencies load others by variable names.
  const requireFrom = (file) => {
    const fromDisk = createRequire(file);
    const base = file.startsWith('file:') ? file : pathToFileURL(file);
    // Files of the application are in the bundle by their path in `dist`.
    const inBundle = (name) =>
      /^(?:\.|file:)/.test(name) ? new URL(name, base).pathname.split('/dist/').at(-1) : name;
    const require = (name) =>
      Object.hasOwn(modules, inBundle(name)) ? read(inBundle(name)) : fromDisk(name);
    const resolve = (name, options) => {
      try {
        return fromDisk.resolve(name, options);
      } catch (error) {
        // A package of ES modules only.
        if (Object.hasOwn(modules, name)) return name;
        throw error;
      }
    };
    return Object.assign(require, fromDisk, { resolve });
  };
  const withOwnRequire = { ...nodeModule, createRequire: requireFrom };
  const require = requireFrom(scripts[0].file);
  const requireInScript = (name) => (/^(?:node:)?module$/.test(name) ? withOwnRequire : require(name));
  Object.assign(requireInScript, require);
  globalThis[MODULES] = read;
  for (const script of scripts) Object.assign(modules, script.run(requireInScript));
  return read;
}

/** Returns the scripts in a directory of `build-bundle.mjs`. */
export function readBundle(directory) {
  const files = JSON.parse(readFileSync(join(directory, 'scripts.json'), 'utf8'));
  return files.map((file) => new BundledScript(join(directory, file)));
}

/** Returns the source text of an ES module that exports a module of the bundle. */
export function exportOf(name, exported) {
  const names = exported.filter((each) => each !== 'default').map((each) => JSON.stringify(each));
  return [
    `const module = globalThis[Symbol.for(${JSON.stringify(Symbol.keyFor(MODULES))})](${JSON.stringify(name)});`,
    `const { ${names.map((each, index) => `${each}: x${index}`).join(', ')} } = module;`,
    `export { ${names.map((each, index) => `x${index} as ${each}`).join(', ')} };`,
    ...(exported.includes('default') ? ['export default module.default;'] : []),
    '',
  ].join('\n');
}
