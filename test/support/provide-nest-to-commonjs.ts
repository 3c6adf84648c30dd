import * as common from '@nestjs/common';
import * as core from '@nestjs/core';
import * as unknownDependencies from '@nestjs/core/errors/exceptions/unknown-dependencies.exception.js';
import * as injector from '@nestjs/core/injector/injector.js';

/** Used by `resolver.cjs`, which explains why. */
Object.assign(globalThis, {
  [Symbol.for('@nestjs/common')]: common,
  [Symbol.for('@nestjs/core')]: core,
  [Symbol.for('@nestjs/core/errors/exceptions/unknown-dependencies.exception')]: unknownDependencies,
  [Symbol.for('@nestjs/core/injector/injector')]: injector,
});
