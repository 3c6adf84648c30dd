export { prepareProcess, prepareSchema } from './prepare-process.js';
export { announce, operatorMessageFor, runProgram } from './run-program.js';
export { onTermination } from './termination.js';
