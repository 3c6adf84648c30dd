export { CareersOperation } from './careers-operation.js';
export { PlatformOperation } from './platform-operation.js';
