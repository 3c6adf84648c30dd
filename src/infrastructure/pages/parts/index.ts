export { Badge, type Tone } from './badge.js';
export { BarChart, LineChart, SegmentedBar } from './charts.js';
export { CodeBlock } from './code-block.js';
export { Confirmation } from './confirmation.js';
export { EmptyState } from './empty-state.js';
export { FilterForm, Results, pathWith } from './filter-form.js';
export {
  ActionButton,
  Checkboxes,
  FileField,
  Form,
  FORM_TOKEN_FIELD,
  SelectField,
  TextArea,
  TextField,
  TimeField,
} from './form.js';
export { Allowed, ButtonLink, Link } from './links.js';
export { Moment, RelativeTime } from './moment.js';
export { Done, Notice, Problem } from './notice.js';
export { Pagination } from './pagination.js';
export { Tiles } from './tiles.js';
export { Details, Table, type Column } from './table.js';
