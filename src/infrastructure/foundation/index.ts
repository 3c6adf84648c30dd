export { layFoundation, prepareSchema, type Foundation } from './foundation.js';
export { plainSentence } from './plain-sentence.js';
export { onTermination } from './termination.js';
