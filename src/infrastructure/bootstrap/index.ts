export { operatorMessageFor } from './operator-message.js';
export { prepareProcess, prepareSchema, type PreparedProcess } from './prepare-process.js';
export { announce, runProgram } from './run-program.js';
export { onTermination } from './termination.js';
