/** A login that is refused, with the reason in words for the user and for the admins of the organization. */
export class RefusedLogin extends Error {}

/** What to do about a provider whose logins do not prove that they are recent. */
export const STALENESS_REMEDY =
  'Where a recent login is required, users need a passkey or a second factor of this service: let them add one before you require single sign-on.';

/** Reasons that do not depend on the protocol. */
export const REASONS = {
  unknown:
    'The login is unknown, was used already, took more than 10 minutes, or began in another browser. Start again.',
  disabled: 'Single sign-on was disabled in the meantime.',
  otherTester: 'The test login was started by another user.',
  noEmail: 'The identity provider did not send an email address.',
  invalidEmail: 'The identity provider sent an email address that is not valid.',
  subject: 'The identity provider must identify the person by 1 to 255 printable characters.',
  noTime:
    'The identity provider does not say when the person logged in (the claim auth_time), so the login does not prove that it is recent.',
  unverified:
    'The identity provider did not send a verified email address (see the claim email_verified, and hd of Google).',
  domain: 'The domain of the email address is not a domain that your organization has proved.',
  secondFactorHelps:
    'A passkey or a second factor of this service proves it, too: add one on the account page after a login with a password, or ask a break-glass owner to do what you wanted to do.',
  noUser:
    'The organization has no user with this email address. Invite the person, or let new people become users.',
  notCreated:
    'The user cannot be created: the email address belongs to a user of another organization, or the organization has too many users.',
  linkedElsewhere:
    'The user with this email address is linked to another account at the identity provider. To link the new account, select “Unlink single sign-on” on the page of the user.',
  userDisabled: 'The user is disabled.',
  notApproved:
    'Owners can log in through an identity provider only after an owner has enabled it. Ask an owner to log in with a password, and to disable and enable the identity provider.',
} as const;
