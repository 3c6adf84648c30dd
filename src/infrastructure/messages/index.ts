export * from './messages.configuration.js';
export * from './mailer.js';
export * from './messages.module.js';
export * from './text-messages.js';
