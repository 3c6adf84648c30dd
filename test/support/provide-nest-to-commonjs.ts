import * as common from '@nestjs/common';
import * as core from '@nestjs/core';
import * as unknownDependencies from '@nestjs/core/errors/exceptions/unknown-dependencies.exception.js';
import * as injector from '@nestjs/core/injector/injector.js';

/** For `resolver.cjs`, which says why. */
Object.assign(globalThis, {
  [Symbol.for('@nestjs/common')]: common,
  [Symbol.for('@nestjs/core')]: core,
  [Symbol.for('@nestjs/core/errors/exceptions/unknown-dependencies.exception')]: unknownDependencies,
  [Symbol.for('@nestjs/core/injector/injector')]: injector,
});
