export { Clock, TimeModule } from './clock.js';
export { DAY, HOUR, hourlyAt, MINUTE, SECOND } from './durations.js';
export { periodOf, type Period } from './period.js';
