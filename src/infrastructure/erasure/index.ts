export * from './user-data-holder.js';
export * from './user-pseudonyms.js';
