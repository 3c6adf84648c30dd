export { UserPageModule } from './user-page.module.js';
