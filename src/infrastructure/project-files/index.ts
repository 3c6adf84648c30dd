export { projectFolder, readProjectFile } from './project-files.js';
