import { ACCOUNT_MENU, menuEntries } from '../../infrastructure/pages/index.js';

menuEntries({ label: 'Documentation', icon: 'book-open', path: '/docs', group: ACCOUNT_MENU, place: 440 });
