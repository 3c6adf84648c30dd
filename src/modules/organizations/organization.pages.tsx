import type { VNode } from 'preact';
import {
  Allowed,
  Badge,
  ButtonLink,
  confirmationPage,
  Details,
  Done,
  FileField,
  Form,
  Moment,
  Seen,
  SelectField,
  usePage,
  type Page,
  type ShownValues,
  isolated,
  SubmitButton,
} from '../../infrastructure/pages/index.js';
import { LOGO_MEDIA_TYPES, MAX_LOGO_BYTES } from './logo.js';
import { DEFAULT_GRACE_DAYS, type OrganizationResponse } from './organization.dto.js';

export const SETTINGS_PATH = '/dashboard/organization';
const SETTINGS = { title: 'Settings', path: SETTINGS_PATH };
const LOGO_PATH = `${SETTINGS_PATH}/logo`;
const SECOND_FACTOR_PATH = `${SETTINGS_PATH}/second-factor`;
const ACTIVATE_PATH = `${SETTINGS_PATH}/activate`;

export function settingsPage(organization: OrganizationResponse): Page {
  return {
    title: SETTINGS.title,
    content: (
      <>
        <Done
          messages={{
            activated: 'The organization is active.',
            required: 'The requirement is saved. It applies from the time below.',
            optional: 'Two-factor authentication is no longer required.',
            logo: 'The logo was changed.',
          }}
        />
        <h2>Organization</h2>
        <Details
          entries={[
            ['Name', organization.name],
            ['ID', <code key="id">{organization.organization_id}</code>],
            ['Status', <Status key="status" organization={organization} />],
          ]}
        />
        {organization.activated_at ? null : (
          <>
            <p>An owner activates the organization once, when you are about to go live.</p>
            <Allowed operation="activateOrganization">
              <ButtonLink to={ACTIVATE_PATH}>Activate organization</ButtonLink>
            </Allowed>
          </>
        )}
        <h2>Two-factor authentication</h2>
        <SecondFactor organization={organization} />
        <h2>Logo</h2>
        <Logo organization={organization} />
      </>
    ),
  };
}

function Status({ organization }: { readonly organization: OrganizationResponse }): VNode {
  return organization.activated_at ? (
    <>
      <Badge tone="good">Active</Badge> since <Moment time={organization.activated_at} />
    </>
  ) : (
    <Badge tone="warn">Not activated</Badge>
  );
}

function SecondFactor({ organization }: { readonly organization: OrganizationResponse }): VNode {
  const { now } = usePage();
  const from = organization.second_factor_required_from;
  return (
    <>
      {from ? (
        <p>
          <Badge tone={from > now ? 'warn' : 'good'}>Required</Badge> {from > now ? 'from' : 'since'}{' '}
          <Moment time={from} />.{' '}
          {from > now
            ? 'Users who have not set it up by then can log in, but can only set it up. They get no email about this, so tell them to set it up under '
            : 'Users who have not set it up can log in, but can only set it up, under '}
          “Your account”.
        </p>
      ) : (
        <p>
          <Badge tone="soft">Optional</Badge> Users can log in without it.
        </p>
      )}
      <Allowed operation="listUsers">
        <p>
          <a href="/dashboard/users?two_factor=off">See who has not set it up</a>
        </p>
      </Allowed>
      <Allowed operation="updateOrganization">
        <ButtonLink to={SECOND_FACTOR_PATH} kind="second">
          {from ? 'Make it optional' : 'Require it'}
        </ButtonLink>
      </Allowed>
    </>
  );
}

function Logo({ organization }: { readonly organization: OrganizationResponse }): VNode {
  return (
    <>
      {organization.has_logo ? (
        <img class="logo" src={LOGO_PATH} alt={`Logo of ${organization.name}`} />
      ) : (
        <p>There is no logo yet. Your users see it in the SDK.</p>
      )}
      <Allowed operation="updateOrganizationLogo">
        <p>
          <ButtonLink to={`${LOGO_PATH}/change`} kind="second">
            {organization.has_logo ? 'Change logo' : 'Add logo'}
          </ButtonLink>
        </p>
      </Allowed>
    </>
  );
}

export function activatePage({ name }: OrganizationResponse): Page {
  return confirmationPage({
    title: `Activate ${isolated(name)}?`,
    parent: SETTINGS,
    action: ACTIVATE_PATH,
    button: 'Activate organization',
    isDestructive: false,
    children: (
      <p>
        This marks your organization as ready. Do it when you are about to go live. You cannot deactivate it
        here.
      </p>
    ),
  });
}

const GRACE_PERIODS = [0, 1, 3, DEFAULT_GRACE_DAYS, 14, 30].map((days) => ({
  value: String(days),
  label: days === 0 ? 'None: from now on' : days === 1 ? '1 day' : `${days} days`,
}));

/** What the form can change, as the page shows it. */
export const changeableOf = ({ second_factor_required_from: from }: OrganizationResponse): ShownValues => ({
  'Two-factor authentication': from
    ? `required from ${from.toISOString().slice(0, 16).replace('T', ' ')} UTC`
    : 'optional',
});

export function secondFactorPage(organization: OrganizationResponse): Page {
  const seen = <Seen values={changeableOf(organization)} />;
  return organization.second_factor_required_from
    ? confirmationPage({
        title: 'Make two-factor authentication optional?',
        parent: SETTINGS,
        action: SECOND_FACTOR_PATH,
        button: 'Make it optional',
        children: (
          <>
            {seen}
            <input type="hidden" name="required" value="no" />
            <p>
              Users can then log in without a second factor, and turn theirs off. Those who have set one up
              keep it.
            </p>
          </>
        ),
      })
    : confirmationPage({
        title: 'Require two-factor authentication?',
        parent: SETTINGS,
        action: SECOND_FACTOR_PATH,
        button: 'Require it',
        isDestructive: false,
        children: (
          <>
            <p>
              Until the grace period ends, nothing changes. Then users without a second factor can log in, but
              can only set it up. Access tokens of devices stay valid.
            </p>
            {seen}
            <input type="hidden" name="required" value="yes" />
            <SelectField
              name="grace_period_days"
              label="Grace period"
              options={GRACE_PERIODS}
              value={String(DEFAULT_GRACE_DAYS)}
            />
          </>
        ),
      });
}

const KIBIBYTE = 1_024;

export function logoPage(): Page {
  return {
    title: 'Change the logo',
    parent: SETTINGS,
    content: (
      <Form action={`${LOGO_PATH}/change`} hasFiles>
        <FileField
          name="image"
          label="Image"
          hint={`PNG, JPEG or WebP, at most ${MAX_LOGO_BYTES / KIBIBYTE} KiB`}
          mediaTypes={LOGO_MEDIA_TYPES}
          showsProblem
        />
        <SubmitButton>Upload logo</SubmitButton>
      </Form>
    ),
  };
}
