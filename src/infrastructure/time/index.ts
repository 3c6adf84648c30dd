export { Clock, DAY, HOUR, hourlyAt, MINUTE, periodOf, SECOND, TimeModule, type Period } from './clock.js';
