export { MessageFiles } from './message-files.js';
export { MessageFilesModule } from './message-files.module.js';
