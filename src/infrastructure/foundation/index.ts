export { layFoundation, prepareSchema, type Foundation } from './foundation.js';
export { plainSentence } from './plain-sentence.js';
export { runProgram, say } from './run-program.js';
export { onTermination } from './termination.js';
