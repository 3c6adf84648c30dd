export { ExternalUsersModule } from './external-users.module.js';
export { ErasedUsersRegister } from './erased-users-register.js';
export { UserErasuresService } from './user-erasures.service.js';
