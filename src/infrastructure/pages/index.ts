export { dashboardPath, inEachEnvironment } from '../http/index.js';
export { BASE_STYLES } from './assets.controller.js';
export {
  EXPORT_FORMATS,
  exportedRows,
  exportFile,
  ExportFormatField,
  type ExportFormat,
} from './export-file.js';
export { FilteredLists, PAGE_OPERATION } from './filtered-lists.js';
export { browserOf, FormTokens } from './form-tokens.js';
export { pagesNamed } from './navigation.js';
export { usePage, type Page, type PageResponse } from './page.js';
export { inWords } from './page-words.js';
export { PageEnvironments } from './page.renderer.js';
export {
  DashboardAction,
  DashboardExport,
  DashboardFile,
  DashboardPage,
  FormBody,
  PageEnvironment,
  PageRoute,
  Visit,
  type PageVisit,
} from './page-route.decorator.js';
export { PagesModule } from './pages.module.js';
export { BarChart, LineChart, SegmentedBar, Sparkline } from './parts/charts.js';
export {
  Allowed,
  Badge,
  ButtonLink,
  CodeBlock,
  Done,
  EmptyState,
  FormProblem,
  Link,
  Moment,
  Name,
  Notice,
  Problem,
  RelativeTime,
  type Tone,
} from './parts/elements.js';
export {
  ActionButton,
  Checkboxes,
  confirmationPage,
  FileField,
  Form,
  Seen,
  SelectField,
  TextArea,
  TextField,
  TimeField,
  ZoneField,
} from './parts/form.js';
export {
  Filter,
  FilterChips,
  FilterChoice,
  FilterForm,
  MAX_FILTER_NAME_LENGTH,
  Pagination,
  pathWith,
  PeriodChoice,
  PeriodFields,
  PERIODS,
  Results,
  SAVED_FILTERS_PATH,
  SaveFiltersForm,
  SplitView,
  Toolbar,
} from './parts/list.js';
export { RowCheckbox, Selection } from './parts/selection.js';
export { Details, Table, Tiles, type Column } from './parts/table.js';
export { SavedFilters } from './saved-filters.js';
export {
  queryFrom,
  requestFrom,
  requireUnchanged,
  submitted,
  timestampFrom,
  type ShownValues,
} from './submitted.js';
export { localTimeAt, offsetAt } from './time-zones.js';
