export {
  EXPORT_FORMATS,
  exportedRows,
  exportFile,
  ExportFormatField,
  type ExportFormat,
} from './export-file.js';
