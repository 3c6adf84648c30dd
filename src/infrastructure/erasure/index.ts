export {
  ErasedUsers,
  HoldsUserData,
  userDataHolders,
  type UserEntry,
  type ErasedUser,
  type UserDataHolder,
} from './user-data-holder.js';
export { ErasureModule, UserPseudonyms } from './user-pseudonyms.js';
