import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { BYTES, LOGO_MEDIA_TYPES, LOGO_NOT_FOUND } from './logo.js';
import { OrganizationResponse, UpdateLogoRequest, UpdateOrganizationRequest } from './organization.dto.js';

export const GET_ORGANIZATION: OperationDocument = {
  operationId: 'getOrganization',
  summary: 'Get the organization',
  description:
    'Returns your organization. Use it to show the name of your organization and whether it is activated. Available ' +
    'to every user.',
  response: OrganizationResponse,
  responseDescription: 'The organization.',
  errors: [],
};

export const UPDATE_ORGANIZATION: OperationDocument = {
  operationId: 'updateOrganization',
  summary: 'Change the settings of the organization',
  description:
    'Requires two-factor authentication of every user, or ends the requirement. Until the grace period ends, nothing ' +
    'changes for users without it. Then they can log in, but do nothing else before they have set it up. Access tokens ' +
    'stay valid. Available to owners who logged in within the last 5 minutes. Audited as `account.update`.',
  body: UpdateOrganizationRequest,
  response: OrganizationResponse,
  responseDescription: 'The organization.',
  responseExample: { second_factor_required_from: '2026-02-07T08:15:30.123Z' },
  errors: [],
};

export const ACTIVATE_ORGANIZATION: OperationDocument = {
  operationId: 'activateOrganization',
  summary: 'Activate the organization',
  description:
    'Marks your organization as ready. Use it once, when you are about to go live. Repeated requests return the same ' +
    'response and change nothing. Available to owners. Audited as `account.activate` only if something changes.',
  response: OrganizationResponse,
  responseDescription: 'The organization is active.',
  errors: [],
};

export const UPDATE_LOGO: OperationDocument = {
  operationId: 'updateOrganizationLogo',
  summary: 'Change the logo',
  description:
    'Replaces the logo of your app. Use it to change what your users see in the SDK. The type of the image is detected ' +
    'from its first bytes. SVG is refused because it can contain scripts. Available to admins and owners. Audited as ' +
    '`account.logo_update`.',
  body: UpdateLogoRequest,
  response: OrganizationResponse,
  responseDescription: 'The organization with its new logo.',
  errors: [],
};

export const GET_LOGO: OperationDocument = {
  operationId: 'getOrganizationLogo',
  summary: 'Get the logo',
  description:
    'Returns the logo of your app. Use it to show the logo next to the name of your app. Available to every user.',
  response: Buffer as never,
  responseType: [...LOGO_MEDIA_TYPES, BYTES],
  responseDescription: `The image; as \`${BYTES}\` if \`Accept\` allows that but not images.`,
  errors: [LOGO_NOT_FOUND],
};
