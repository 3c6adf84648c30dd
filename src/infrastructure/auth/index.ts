export { BasicAuthGuard } from './basic-auth.guard.js';
export { BasicStrategy } from './basic.strategy.js';
export { Caller, callerOf } from './caller.js';
export { CredentialVerifier, type ApiCaller, type CredentialCheck } from './credential-verifier.js';
export { EnabledOperationGuard } from './enabled-operation.guard.js';
