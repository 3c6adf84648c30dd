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
export { inDigits, inMilliseconds, inPercent } from './numbers.js';
export { inWords } from './page-words.js';
export { UnknownPages } from './page-exception.filter.js';
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
  isolated,
  Link,
  Moment,
  Middle,
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
  SubmitButton,
  TextArea,
  TextField,
  TimeField,
  ZoneField,
} from './parts/form.js';
export {
  Exports,
  Filter,
  FilterChips,
  FilterChoice,
  FilterForm,
  FurtherFilters,
  MAX_FILTER_NAME_LENGTH,
  Pagination,
  pathOfUser,
  pathWith,
  PeriodChoice,
  PeriodFields,
  PERIODS,
  Results,
  SAVED_FILTERS_PATH,
  SaveFiltersForm,
  SessionLink,
  SplitView,
  ToolLink,
  UserForm,
  UserLink,
} from './parts/list.js';
export { checkColumn, Selection } from './parts/selection.js';
export { Details, Table, Tiles, type Column } from './parts/table.js';
export { Tabs } from './parts/tabs.js';
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
