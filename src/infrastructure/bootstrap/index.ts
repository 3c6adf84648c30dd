export * from './prepare-process.js';
export * from './run-program.js';
export * from './termination.js';
