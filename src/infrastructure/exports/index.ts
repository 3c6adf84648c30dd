export { EXPORT_FORMATS, exportedRows, ExportFormatField, type ExportFormat } from './exported-rows.js';
export { exportFile } from './export-file.js';
