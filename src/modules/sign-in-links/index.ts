export { SignInLinksModule } from './sign-in-links.module.js';
export type { SignInLinkResponse } from './sign-in-links.dto.js';
export { LINK_COLUMNS } from './sign-in-links.pages.js';
export { MerchantSignIn } from './merchant-sign-in.js';
export { SIGN_IN_LINK_STATUSES } from './sign-in-link.entity.js';
export {
  SIGN_IN_NOT_CONFIGURED,
  SignInLinkCreationService,
  type CreatedSignInLink,
} from './sign-in-link-creation.service.js';
export { SignInLinksService, type SignInAgent, type SignInFailure } from './sign-in-links.service.js';
