import type { VNode } from 'preact';
import { encode } from 'uqr';
import { Controller, Get, Post } from '@nestjs/common';
import {
  browserOf,
  ButtonLink,
  CodeBlock,
  Form,
  FormProblem,
  Moment,
  Notice,
  noticePage,
  SubmitButton,
  submitted,
  TextField,
  PageRoute,
  Visit,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { isRecentLogin, LOGIN_AGE } from '../../../infrastructure/auth/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { YOUR_ACCOUNT } from '../your-account.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import {
  SecondFactorService,
  type SecondFactorSetup,
  type SecondFactorState,
} from './second-factor.service.js';

/** Requires a recent login: someone else at the user's browser could otherwise enable a second factor and lock the user out. */
const LOG_IN_AGAIN: PageResponse = {
  redirectTo: '/login?next=%2Faccount%2Fsecond-factor%2Fsetup&again=page',
};
const STATE: PageResponse = { redirectTo: '/account/second-factor' };

@Controller('account/second-factor')
export class SecondFactorPage {
  constructor(
    private readonly secondFactor: SecondFactorService,
    private readonly passkeys: PasskeysService,
    private readonly clock: Clock,
  ) {}

  @Get()
  @PageRoute({ login: true, withoutSecondFactor: true })
  async show(@Visit() { actor }: PageVisit): Promise<PageResponse> {
    if (await this.passkeys.mustBeUsed(actor)) return passkeyRequiredPage();
    const { userId, lacksSecondFactor } = actor;
    return secondFactorStatePage(await this.secondFactor.state(userId), { isRequired: lacksSecondFactor });
  }

  @Post('setup')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true, recentLogin: LOGIN_AGE.sensitive })
  async prepare(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, request } = visit;
    if (!isRecentLogin(actor, this.clock.now())) return LOG_IN_AGAIN;
    if (await this.passkeys.mustBeUsed(actor)) return STATE;
    return submitted(
      async () => {
        await this.secondFactor.prepare(actor, browserOf(request) ?? '');
        return { redirectTo: '/account/second-factor/setup' };
      },
      () => this.show(visit),
    );
  }

  @Get('setup')
  @PageRoute({ login: true, withoutSecondFactor: true })
  async showSetup(@Visit() { actor, request }: PageVisit, isWrong = false): Promise<PageResponse> {
    if (!isRecentLogin(actor, this.clock.now())) return LOG_IN_AGAIN;
    if (await this.passkeys.mustBeUsed(actor)) return STATE;
    const setup = await this.secondFactor.prepared(actor, browserOf(request) ?? '');
    return setup ? secondFactorSetupPage(setup, isWrong) : STATE;
  }

  @Post('enable')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true, recentLogin: LOGIN_AGE.sensitive })
  async enable(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, form, request } = visit;
    if (!isRecentLogin(actor, this.clock.now())) return LOG_IN_AGAIN;
    if (await this.passkeys.mustBeUsed(actor)) return STATE;
    return submitted(
      async () => {
        const codes = await this.secondFactor.enable(actor, browserOf(request) ?? '', form.get('code') ?? '');
        return codes ? recoveryCodesPage(codes, true) : this.showSetup(visit, true);
      },
      () => this.show(visit),
    );
  }

  @Post('disable')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  async disable(@Visit() { actor, form }: PageVisit): Promise<PageResponse> {
    if (await this.secondFactor.disable(actor, form.get('password_to_turn_off') ?? '')) return STATE;
    return secondFactorStatePage(await this.secondFactor.state(actor.userId), { refused: 'turn off' });
  }

  @Post('recovery-codes')
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  async renewRecoveryCodes(@Visit() { actor, form }: PageVisit): Promise<PageResponse> {
    const codes = await this.secondFactor.renewRecoveryCodes(actor, form.get('password') ?? '');
    if (!codes)
      return secondFactorStatePage(await this.secondFactor.state(actor.userId), { refused: 'renew' });
    return codes.length > 0 ? recoveryCodesPage(codes, false) : STATE;
  }
}

/** Modules of empty space around a QR code, which cameras need to find it (ISO/IEC 18004). */
const QUIET_ZONE = 4;

type RefusedChange = 'turn off' | 'renew';

/** @param isRequired whether the user has to set it up before anything else */
function secondFactorStatePage(
  state: SecondFactorState,
  { refused, isRequired = false }: { readonly refused?: RefusedChange; readonly isRequired?: boolean } = {},
): Page {
  return {
    title: 'Two-factor authentication',
    parent: YOUR_ACCOUNT,
    status: refused ? 403 : 200,
    content: (
      <>
        <FormProblem />
        {isRequired ? (
          <Notice kind="bad">
            Your organization requires two-factor authentication. Set it up to continue. Instead, you can{' '}
            <a href="/account/passkeys">add a passkey</a> and log in with it.
          </Notice>
        ) : null}
        {state.enabledAt ? enabled({ ...state, enabledAt: state.enabledAt }, refused) : DISABLED}
      </>
    ),
  };
}

/** Shown to users who have a passkey, and logged in with their password only. */
function passkeyRequiredPage(): Page {
  return noticePage({
    title: 'Log in with your passkey',
    kind: 'bad',
    notice:
      'Your organization requires two-factor authentication, and you logged in with your password only.',
    text: 'If you lost your passkey, ask another owner or an admin of your organization: they can remove your account and invite you again.',
    links: { '/login': 'Log in with your passkey' },
  });
}

const DISABLED = (
  <>
    <p>
      Two-factor authentication is <strong>off</strong>. If you turn it on, you need your password and a code
      from an app on your phone to log in. Someone who learns your password can’t log in without the code.
    </p>
    <Form action="/account/second-factor/setup">
      <button>Set up two-factor authentication</button>
    </Form>
  </>
);

function enabled(
  { enabledAt, recoveryCodesLeft, hasPassword }: SecondFactorState & { readonly enabledAt: Date },
  refused: RefusedChange | undefined,
): VNode {
  const password = (name: string, change: RefusedChange): VNode | null =>
    !hasPassword ? null : (
      <TextField
        name={name}
        label="Your password"
        type="password"
        autocomplete="current-password"
        error={refused === change ? 'This isn’t your password.' : undefined}
      />
    );
  return (
    <>
      <p>
        Two-factor authentication has been <strong>on</strong> since <Moment time={enabledAt} />.
      </p>
      <h2>Recovery codes</h2>
      <p>{`You have ${recoveryCodesLeft} left. New codes replace all old codes.`}</p>
      <Form action="/account/second-factor/recovery-codes">
        {password('password', 'renew')}
        <button class="second">Create new recovery codes</button>
      </Form>
      <h2>Turn off</h2>
      <p>
        {hasPassword
          ? 'You will need only your password to log in. Your recovery codes will stop working. This asks for your password and not for a code, so that it also works if you have lost your phone and logged in with a recovery code.'
          : 'You will need only your identity provider to log in. Your recovery codes will stop working.'}
      </p>
      <Form action="/account/second-factor/disable">
        {password('password_to_turn_off', 'turn off')}
        <button class="danger">Turn off two-factor authentication</button>
      </Form>
    </>
  );
}

function secondFactorSetupPage({ secret, uri }: SecondFactorSetup, isWrong = false): Page {
  return {
    title: 'Set up two-factor authentication',
    parent: YOUR_ACCOUNT,
    status: isWrong ? 400 : 200,
    content: (
      <>
        <h2>1. Add this account to your authenticator app</h2>
        <p>
          Scan this QR code with the app. If the app is on this device, <a href={uri}>open it here</a>.
        </p>
        <QrCode text={uri} label="QR code for your authenticator app. The same key is shown below as text." />
        <p>Or enter this key in the app:</p>
        <p>
          {/* Groups of 4 are easier to type. Apps ignore the spaces. */}
          <code class="secret">{secret.match(/.{1,4}/g)?.join(' ')}</code>
        </p>
        <h2>2. Enter the code from the app</h2>
        <Form action="/account/second-factor/enable">
          <TextField
            name="code"
            label="Code"
            hint="The 6-digit code that the app shows."
            isCode
            inputmode="numeric"
            error={
              isWrong ? 'This code is wrong or expired. Enter the code that the app shows now.' : undefined
            }
          />
          <SubmitButton>Turn on two-factor authentication</SubmitButton>
        </Form>
      </>
    ),
  };
}

/** Shown once: only digests of the codes are stored. */
function recoveryCodesPage(codes: readonly string[], isFirstSet: boolean): Page {
  const text = codes.join('\n');
  return {
    title: 'Your recovery codes',
    content: (
      <>
        <Notice kind="good">
          {isFirstSet ? 'Two-factor authentication is on.' : 'Your old recovery codes no longer work.'}
        </Notice>
        <p>
          Save these codes where you keep your passwords. <strong>They won’t be shown again.</strong> If you
          can’t use your app, you can log in with one of the codes. Each code works once.
        </p>
        <CodeBlock title="Recovery codes" code={text} />
        <p>
          <a href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`} download="recovery-codes.txt">
            Download the codes
          </a>
        </p>
        <ButtonLink to="/account">I’ve saved my codes</ButtonLink>
      </>
    ),
  };
}

/** A QR code as one path of black squares, without a script or an image file. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const { data, size } = encode(text, { border: QUIET_ZONE });
  const squares = data.flatMap((row, y) => row.map((isBlack, x) => (isBlack ? `M${x} ${y}h1v1h-1z` : '')));
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path d={squares.join('')} />
    </svg>
  );
}
