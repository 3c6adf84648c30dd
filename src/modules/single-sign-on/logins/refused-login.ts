/** A login that is refused, with the reason in words for the user and for the admins of the organization. */
export class RefusedLogin extends Error {}

/** Reasons that do not depend on the protocol. */
export const REASONS = {
  unknown:
    'The login is unknown, was used already, took more than 10 minutes, or began in another browser. Start again.',
  disabled: 'Single sign-on was disabled in the meantime.',
  otherTester: 'The test login was started by another user.',
  noEmail: 'The identity provider did not send an email address.',
  unverified:
    'The identity provider did not send a verified email address (see the claim email_verified, and hd of Google).',
  domain: 'The domain of the email address is not a domain that your organization has proved.',
  noUser:
    'The organization has no user with this email address. Invite the person, or let new people become users.',
  notCreated:
    'The user cannot be created: the email address belongs to a user of another organization, or the organization has too many users.',
  linkedElsewhere:
    'The user with this email address is linked to another account at the identity provider. Remove the user and invite them again to link the new account.',
  userDisabled: 'The user is disabled.',
  notApproved:
    'Owners can log in through an identity provider only after an owner has enabled it. Ask an owner to log in with a password, and to disable and enable the identity provider.',
} as const;
