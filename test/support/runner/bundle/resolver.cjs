const { existsSync } = require('node:fs');
const { join, relative, resolve } = require('node:path');
const withoutBundle = require('../resolver.cjs');

const TESTS = join(__dirname, '..', '..', '..');
const SOURCES = join(TESTS, '..', 'src');

/** Resolves what tests import of the application, and its dependencies, to files that export them from the bundle. */
module.exports = (request, options) => {
  if (!options.conditions?.includes('test-bundle')) return withoutBundle(request, options);
  if (![TESTS, SOURCES].some((folder) => options.basedir.startsWith(folder)))
    return options.defaultResolver(request, options);
  const path = /^[./]/.test(request)
    ? join('dist/src', relative(SOURCES, resolve(options.basedir, request)))
    : join('npm', request);
  const file = join(process.env.TEST_BUNDLE, `${path.replace(/\.tsx?$/, '')}.js`);
  return existsSync(file) ? file : options.defaultResolver(request, options);
};
