export { prepareProcess, prepareSchema } from './prepare-process.js';
export { announce, collectGarbage, operatorMessageFor, runProgram } from './run-program.js';
export { onTermination } from './termination.js';
