/** On the global object of test files that read their modules from the bundle; see `bundle/bundle.mjs`. */
const BUNDLE = Symbol.for('merchant-connectivity-service modules');

/** Used by `resolver.cjs`, which explains why. A test file that reads its modules from the bundle needs none of them. */
if (Reflect.get(globalThis, BUNDLE) === undefined)
  Object.assign(globalThis, {
    [Symbol.for('@nestjs/common')]: await import('@nestjs/common'),
    [Symbol.for('@nestjs/core')]: await import('@nestjs/core'),
    [Symbol.for('@nestjs/core/errors/exceptions/unknown-dependencies.exception')]:
      await import('@nestjs/core/errors/exceptions/unknown-dependencies.exception.js'),
    [Symbol.for('@nestjs/core/injector/injector')]: await import('@nestjs/core/injector/injector.js'),
  });

export {};
