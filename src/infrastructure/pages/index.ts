export { Form, Notice, TextField } from './layout.js';
export type { PageAnswer } from './page-answer.js';
export { PageRoute, SentForm } from './page-route.decorator.js';
export { PagesModule } from './pages.module.js';
