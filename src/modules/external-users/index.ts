export { ExternalUsersModule } from './external-users.module.js';
export { ErasedUsersRegister } from './erased-users-register.js';
export { toErasureResponse } from './user-erasures.dto.js';
export { UserErasuresService } from './user-erasures.service.js';
