export * from './user-data-holder.js';
