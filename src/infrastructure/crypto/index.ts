export { CryptoConfiguration } from './crypto.configuration.js';
export { CursorCodec, INVALID_CURSOR_FORMAT, type CursorScope } from './cursor-codec.js';
export { CryptoModule, Sealer } from './sealer.js';
export { SecretDigest, sha256 } from './secret-digest.js';
export {
  dayOfSecret,
  DEFAULT_OVERLAP_HOURS,
  digestOfSecret,
  generateDatedSecret,
  generateSecret,
  isWellFormedSecret,
  isWellFormedToken,
  MAX_OVERLAP_HOURS,
  secretFrom,
} from './secret-format.js';
