export { Clock } from './clock.js';
export { DAY, HOUR, MINUTE, SECOND } from './durations.js';
export { TimeModule } from './time.module.js';
