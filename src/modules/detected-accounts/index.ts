export { IDENTIFY_OPERATION_NAME } from './detected-accounts.controller.js';
export { DetectedAccountsImport, MAX_LINE_LENGTH, type ImportState } from './detected-accounts.import.js';
export { DetectAccountsRequest } from './detected-accounts.dto.js';
export { DetectedAccountsModule } from './detected-accounts.module.js';
export { DetectedAccountsService } from './detected-accounts.service.js';
