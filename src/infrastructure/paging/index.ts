export {
  CursorField,
  cutToPage,
  DEFAULT_PAGE_SIZE,
  NextCursorProperty,
  PageSizeField,
  type RequestedPage,
} from './paging.js';
