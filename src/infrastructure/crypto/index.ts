export * from './crypto.configuration.js';
export * from './crypto.module.js';
export * from './cursor-codec.js';
export * from './sealer.js';
export * from './secret-digest.js';
export * from './secret-format.js';
export * from './crypto-errors.js';
export * from './standard-signature.js';
