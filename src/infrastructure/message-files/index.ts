export { MessageFiles } from './message-files.js';
