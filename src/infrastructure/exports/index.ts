export { EXPORT_FORMAT, EXPORT_FORMATS, exportedRows, type ExportFormat } from './exported-rows.js';
export { exportFile } from './export-file.js';
