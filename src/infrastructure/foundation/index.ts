export { layFoundation, prepareSchema } from './foundation.js';
export { plainSentence } from './plain-sentence.js';
export { runProgram, say } from './run-program.js';
export { onTermination } from './termination.js';
