export * from './checks.js';
export * from './configuration.module.js';
export * from './environment-variable.js';
export * from './listen-address.js';
export * from './load-configuration.js';
export * from './misspelled-variables.js';
export * from './service.configuration.js';
