export { ErasedUsers, type UserEntry } from './erased-users.js';
export { ErasureModule } from './erasure.module.js';
export { HoldsUserData, userDataHolders, type ErasedUser, type UserDataHolder } from './user-data-holder.js';
export { UserPseudonyms } from './user-pseudonyms.js';
