export { ExternalUsersModule } from './external-users.module.js';
export { ErasedUsersRegister } from './erased-users-register.js';
export { UserErasuresService } from './user-erasures.service.js';
export { EXTERNAL_USER_PERMISSIONS } from './external-users.capability.js';
export type { UserErasureResponse } from './user-erasures.dto.js';
