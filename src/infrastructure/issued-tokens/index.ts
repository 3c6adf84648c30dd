export * from './accepted-credentials.js';
export * from './issued-token.entity.js';
export * from './issued-tokens.js';
export * from './secret-version.entity.js';
export * from './secret-versions.js';
