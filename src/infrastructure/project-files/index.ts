export * from './project-files.js';
