export { browserOf } from './form-tokens.js';
export { Form, Link, Moment, Notice, TextField } from './layout.js';
export type { Page, PageResponse } from './page-response.js';
export { PageRoute, FormBody } from './page-route.decorator.js';
export { PagesModule } from './pages.module.js';
export { BASE_STYLES } from './stylesheet.controller.js';
