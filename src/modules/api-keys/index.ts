export { ApiKeysModule } from './api-keys.module.js';
export { ApiKeysService, keyChanges, type IssuedKey } from './api-keys.service.js';
export { AssertionsService } from './assertions.service.js';
export { ApiKeyVerifier, clientOfKey } from './api-key-verifier.js';
