export { parsedUrl } from './parsed-url.js';
