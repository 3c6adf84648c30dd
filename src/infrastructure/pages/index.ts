export { Form, Moment, Notice, TextField } from './layout.js';
export type { Page, PageAnswer } from './page-answer.js';
export { PageRoute, SentForm } from './page-route.decorator.js';
export { PagesModule } from './pages.module.js';
