import { MerchantSignIn } from '../../../src/modules/sign-in-links/merchant-sign-in.js';
import { SignInLinkCreationService } from '../../../src/modules/sign-in-links/index.js';
import { HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { moveClock } from '../../support/clock.js';
import { NETFLIX, newAgent, textMessagesTo, type TestAgent } from '../../support/merchants/sign-in-links.js';
import { newKeys, startTestApp, type TestApp } from '../../support/test-app.js';

const SETTINGS = {
  ...newKeys(),
  TEXT_MESSAGES_PER_NUMBER_AND_DAY: '14',
  TEXT_MESSAGES_PER_CLIENT_AND_DAY: '12',
};

let service: TestApp;
let replica: TestApp;

beforeAll(async () => {
  service = await startTestApp(SETTINGS);
  replica = await startTestApp({ ...SETTINGS, DATABASE_URL: service.database.url });
});
afterAll(async () => {
  await replica.close();
  await service.close();
});
beforeEach(() => service.database.query('TRUNCATE attempt_count'));

const create = (agent: TestAgent, by = service) =>
  by.app.get(SignInLinkCreationService).create(agent, NETFLIX.id);

/** Creates a link for each agent at once, by turns at the two replicas. @returns the errors */
async function createAll(agents: readonly TestAgent[]): Promise<Error[]> {
  const results = await Promise.allSettled(
    agents.map((agent, index) => create(agent, index % 2 === 0 ? service : replica)),
  );
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
}

/** Returns agents of different users with the same phone. */
const withOnePhone = (count: number): TestAgent[] => {
  const { phoneNumber } = newAgent(service);
  return Array.from({ length: count }, () => ({ ...newAgent(service), phoneNumber }));
};

const tooMany = (message: string) => ({
  status: 429,
  code: 'TOO_MANY_REQUESTS',
  message: `${message} Retry after the time in retry_after.`,
});

describe('The limits on text messages', () => {
  it('accept exactly 5 of 30 concurrent messages of a client to a phone number per hour, for different users', async () => {
    const agents = withOnePhone(30);
    const errors = await createAll(agents);
    expect(errors).toHaveLength(25);
    for (const error of errors) {
      expect(error).toMatchObject(
        tooMany('The company can send at most 5 text messages per hour to one phone number.'),
      );
      expect(error).toMatchObject({ body: { retry_after: expect.any(Number) } });
    }
    const messages = [service, replica].flatMap((each) => textMessagesTo(each, agents[0]!.phoneNumber));
    expect(messages).toHaveLength(5);
  });

  it('accept a number of messages of a client to a phone number per day', async () => {
    const agents = withOnePhone(20);
    expect(await createAll(agents)).toHaveLength(15);
    using _clock = moveClock(service, HOUR + MINUTE);
    using _clockOfReplica = moveClock(replica, HOUR + MINUTE);
    const errors = await createAll(agents);
    expect(errors).toHaveLength(18);
    for (const error of errors)
      expect(error).toMatchObject(
        tooMany('The company can send at most 7 text messages per day to one phone number.'),
      );
  });

  it('leave messages to the users of other clients with the same phone', async () => {
    const agents = withOnePhone(30);
    expect(await createAll(agents)).toHaveLength(25);
    const { phoneNumber } = agents[0]!;
    const { id, development } = await service.anotherOrganization();
    for (let count = 0; count < 5; count += 1)
      await create({ ...newAgent(service, development, id), phoneNumber });
  });

  it('do not reveal that other clients send messages to a phone', async () => {
    const { phoneNumber } = newAgent(service);
    for (let count = 0; count < 2; count += 1) {
      const { id, development } = await service.anotherOrganization();
      for (let sent = 0; sent < 5; sent += 1)
        await create({ ...newAgent(service, development, id), phoneNumber });
    }
    await expect(create({ ...newAgent(service), phoneNumber })).rejects.toMatchObject(
      tooMany('The service cannot send the text message now.'),
    );
  });

  it('accept exactly 12 of 25 concurrent messages of a client per day, to different phones', async () => {
    const errors = await createAll(Array.from({ length: 25 }, () => newAgent(service)));
    expect(errors).toHaveLength(13);
    for (const error of errors) {
      expect(error).toMatchObject(tooMany('The company can send at most 12 text messages per day.'));
      expect(error).toMatchObject({ body: { retry_after: expect.any(Number) } });
    }
    const { id, development } = await service.anotherOrganization();
    await create(newAgent(service, development, id));
  });

  it('count a refused message toward none of the limits', async () => {
    const [first, second, ...others] = withOnePhone(20) as [TestAgent, TestAgent, ...TestAgent[]];
    expect(await createAll([first, second, ...others])).toHaveLength(15);
    for (let count = 0; count < 6; count += 1) await expect(create(second)).rejects.toThrow('per hour');
    const elsewhere = { ...second, phoneNumber: newAgent(service).phoneNumber };
    // One of the five messages may have been that of this user.
    for (let count = 0; count < 4; count += 1) await create(elsewhere);
  });

  it('count messages that are sent and messages that are written to files separately', async () => {
    const limited = await startTestApp({
      TEXT_MESSAGES_PER_DAY: '20',
      TWILIO_ACCOUNT_SID: 'AC0',
      TWILIO_AUTH_TOKEN: 'auth-token-of-the-test',
      TWILIO_FROM: '+12125550199',
      TWILIO_API_URL: 'http://127.0.0.1:9',
      WEBHOOK_TARGETS: 'any',
    });
    Object.assign(limited.app.get(MerchantSignIn), {
      isConfigured: () => true,
      isAvailable: async () => true,
    });
    const agentsIn = (environment: 'development' | 'production') =>
      Array.from({ length: 30 }, () =>
        newAgent(limited, limited[environment], limited.organizationId, environment),
      );
    const createIn = async (environment: 'development' | 'production') => {
      const results = await Promise.allSettled(agentsIn(environment).map((agent) => create(agent, limited)));
      const counts: Record<string, number> = {};
      for (const result of results) {
        const outcome = result.status === 'rejected' ? (result.reason as { code: string }).code : 'CREATED';
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }
      return counts;
    };
    try {
      expect(await createIn('development')).toEqual({ CREATED: 20, TOO_MANY_REQUESTS: 10 });
      // Nothing listens at the address of the provider.
      expect(await createIn('production')).toEqual({ SERVICE_UNAVAILABLE: 20, TOO_MANY_REQUESTS: 10 });
    } finally {
      await limited.close();
    }
  });
});
