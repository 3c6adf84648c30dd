import { timeInUtc } from '../../infrastructure/time/index.js';
import { Controller, Get, Header, Inject, type StreamableFile } from '@nestjs/common';
import type { VNode } from 'preact';
import {
  Allowed,
  Badge,
  ButtonLink,
  ConfirmPage,
  DashboardFile,
  DashboardPage,
  Details,
  FileField,
  FormPage,
  isolated,
  Moment,
  SelectField,
  usePage,
  Visit,
  UNCHANGEABLE,
  type Confirmation,
  type FormDescription,
  type PageResponse,
  type PageVisit,
  type ShownValues,
} from '../../infrastructure/pages/index.js';
import { LOGO_MEDIA_TYPES, MAX_LOGO_BYTES } from './logo.js';
import { DEFAULT_GRACE_DAYS, UpdateOrganizationRequest } from './organization.dto.js';
import type { Organization } from './organization.entity.js';
import { OrganizationsService } from './organizations.service.js';
import { USER_PERMISSIONS } from '../dashboard-users/index.js';
import { ORGANIZATION_PERMISSIONS } from './organizations.capability.js';

const SETTINGS = { title: 'Settings', path: '/dashboard/organization' };

@Controller('dashboard/organization')
class SettingsPage {
  constructor(private readonly organizations: OrganizationsService) {}

  @Get()
  @DashboardPage(ORGANIZATION_PERMISSIONS.getOrganization)
  async show(@Visit() { actor }: PageVisit): Promise<PageResponse> {
    const organization = await this.organizations.get(actor);
    return {
      title: SETTINGS.title,
      actions: organization.activatedAt ? null : (
        <ButtonLink
          permission={ORGANIZATION_PERMISSIONS.activateOrganization}
          to={`${SETTINGS.path}/activate`}
        >
          Activate organization
        </ButtonLink>
      ),
      messages: {
        activated: 'The organization is active.',
        required: 'The requirement is saved. It applies from the time below.',
        optional: 'Two-factor authentication is no longer required.',
        logo: 'The logo was changed.',
      },
      content: (
        <>
          <Details
            entries={[
              ['Name', organization.name],
              ['ID', <code key="id">{organization.id}</code>],
              ['Status', statusOf(organization)],
              ['Two-factor authentication', <SecondFactor key="second-factor" organization={organization} />],
              ['Logo', <Logo key="logo" organization={organization} />],
            ]}
          />
        </>
      ),
    };
  }

  // A user uploaded the image: browsers must not execute anything in it.
  @Get('logo')
  @Header('Content-Security-Policy', "default-src 'none'; sandbox")
  @DashboardFile(ORGANIZATION_PERMISSIONS.getOrganizationLogo)
  logo(@Visit() { actor }: PageVisit): Promise<StreamableFile> {
    return this.organizations.logo(actor);
  }
}

function statusOf({ activatedAt }: Organization): VNode {
  return activatedAt ? (
    <>
      <Badge tone="good">Active</Badge> since <Moment time={activatedAt} />
    </>
  ) : (
    <>
      <Badge tone="warn">Not activated</Badge> An owner activates the organization once, when you are about to
      go live.
    </>
  );
}

function SecondFactor({ organization }: { readonly organization: Organization }): VNode {
  const { now } = usePage();
  const from = organization.secondFactorRequiredFrom;
  return (
    <>
      {from ? (
        <>
          <Badge tone={from > now ? 'warn' : 'good'}>Required</Badge> {from > now ? 'from' : 'since'}{' '}
          <Moment time={from} />.{' '}
          {from > now
            ? 'Users who have not set it up by then can log in, but can only set it up. They get no email about this, so tell them to set it up under '
            : 'Users who have not set it up can log in, but can only set it up, under '}
          “Your account”.
        </>
      ) : (
        <>
          <Badge tone="soft">Optional</Badge> Users can log in without it.
        </>
      )}
      <Allowed permission={USER_PERMISSIONS.listUsers}>
        {' · '}
        <a href="/dashboard/users?two_factor=off">See who has not set it up</a>
      </Allowed>
      <Allowed permission={ORGANIZATION_PERMISSIONS.updateOrganization}>
        {' · '}
        <a href={`${SETTINGS.path}/second-factor`}>{from ? 'Make it optional' : 'Require it'}</a>
      </Allowed>
    </>
  );
}

function Logo({ organization }: { readonly organization: Organization }): VNode {
  const hasLogo = organization.logoMediaType !== null;
  return (
    <>
      {hasLogo ? (
        <img class="logo" src={`${SETTINGS.path}/logo`} alt={`Logo of ${organization.name}`} />
      ) : (
        'None. Your users see it in the SDK.'
      )}
      <Allowed permission={ORGANIZATION_PERMISSIONS.updateOrganizationLogo}>
        {hasLogo ? null : ' · '}
        <a href={`${SETTINGS.path}/logo/change`}>{hasLogo ? 'Change logo' : 'Add logo'}</a>
      </Allowed>
    </>
  );
}

/** The settings, with the message that the organization is active. */
const ACTIVATED = `${SETTINGS.path}?done=activated`;

@Controller('dashboard/organization/activate')
class ActivatePage extends ConfirmPage(ORGANIZATION_PERMISSIONS.activateOrganization) {
  @Inject() private readonly organizations!: OrganizationsService;

  @Get()
  @DashboardPage(ORGANIZATION_PERMISSIONS.activateOrganization)
  override async show(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { activatedAt } = await this.organizations.get(visit.actor);
    return activatedAt ? { redirectTo: ACTIVATED } : super.show(visit);
  }

  async describe({ actor }: PageVisit): Promise<Confirmation> {
    return {
      title: `Activate ${isolated((await this.organizations.get(actor)).name)}?`,
      parent: SETTINGS,
      ...UNCHANGEABLE,
      text: 'This marks your organization as ready. Do it when you are about to go live. You cannot deactivate it here.',
      button: 'Activate organization',
      isDestructive: false,
      perform: () => this.organizations.activate(actor),
      next: ACTIVATED,
    };
  }
}

const GRACE_PERIODS = [0, 1, 3, DEFAULT_GRACE_DAYS, 14, 30].map((days) => ({
  value: String(days),
  label: days === 0 ? 'None: from now on' : days === 1 ? '1 day' : `${days} days`,
}));

/** The values that the form can change, as the page shows them. */
const versionOf = ({ secondFactorRequiredFrom: from }: Organization): ShownValues => ({
  'Two-factor authentication': from ? `required from ${timeInUtc(from)}` : 'optional',
});

@Controller('dashboard/organization/second-factor')
class SecondFactorPage extends ConfirmPage(
  ORGANIZATION_PERMISSIONS.updateOrganization,
  UpdateOrganizationRequest,
) {
  @Inject() private readonly organizations!: OrganizationsService;

  async describe({ actor }: PageVisit): Promise<Confirmation<Organization, UpdateOrganizationRequest>> {
    const organization = await this.organizations.get(actor);
    const isRequired = organization.secondFactorRequiredFrom !== null;
    return {
      ...(isRequired ? MAKE_OPTIONAL : REQUIRE),
      parent: SETTINGS,
      subject: organization,
      shows: versionOf,
      perform: async (request, check) => {
        await this.organizations.update(actor, request, check);
        const done = request.required ? 'required' : 'optional';
        return { redirectTo: `${SETTINGS.path}?done=${done}` };
      },
    };
  }
}

const MAKE_OPTIONAL = {
  title: 'Make two-factor authentication optional?',
  button: 'Make it optional',
  text: (
    <>
      <input type="hidden" name="required" value="no" />
      <p>
        Users can then log in without a second factor, and turn theirs off. Those who have set one up keep it.
      </p>
    </>
  ),
};

const REQUIRE = {
  title: 'Require two-factor authentication?',
  button: 'Require it',
  isDestructive: false,
  values: { grace_period_days: DEFAULT_GRACE_DAYS },
  text: (
    <>
      <p>
        Until the grace period ends, nothing changes. Then users without a second factor can log in, but can
        only set it up. Access tokens of devices stay valid.
      </p>
      <input type="hidden" name="required" value="yes" />
      <SelectField name="grace_period_days" label="Grace period" options={GRACE_PERIODS} />
    </>
  ),
};

const KIBIBYTE = 1_024;
/** Bytes. More than an image may have, so that the page can say what is wrong with larger ones. */
const UPLOAD_LIMIT = 4_194_304;

@Controller('dashboard/organization/logo/change')
class LogoPage extends FormPage(ORGANIZATION_PERMISSIONS.updateOrganizationLogo, undefined, {
  limit: UPLOAD_LIMIT,
  hasFiles: true,
}) {
  @Inject() private readonly organizations!: OrganizationsService;

  describe({ actor, form }: PageVisit): FormDescription {
    return {
      title: 'Change the logo',
      parent: SETTINGS,
      fields: (
        <FileField
          name="image"
          label="Image"
          hint={`PNG, JPEG or WebP, at most ${MAX_LOGO_BYTES / KIBIBYTE} KiB`}
          mediaTypes={LOGO_MEDIA_TYPES}
        />
      ),
      button: 'Upload logo',
      perform: () => this.organizations.updateLogo(actor, form.file('image')),
      next: `${SETTINGS.path}?done=logo`,
    };
  }
}

export const ORGANIZATION_PAGES = [SettingsPage, ActivatePage, SecondFactorPage, LogoPage];
