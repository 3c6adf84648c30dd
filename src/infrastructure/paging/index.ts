export { CursorCodec, type CursorScope } from './cursor-codec.js';
export { INVALID_CURSOR_FORMAT } from './paging-errors.js';
export { PagingModule } from './paging.module.js';
