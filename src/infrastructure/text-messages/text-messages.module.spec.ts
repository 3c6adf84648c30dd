import { loadConfiguration, ServiceConfiguration } from '../config/index.js';
import { HttpClient, HttpClientConfiguration } from '../http-client/index.js';
import { Metrics } from '../metrics/index.js';
import { Clock } from '../time/index.js';
import { Tracing } from '../tracing/index.js';
import { FileTextMessages } from './file.text-messages.js';
import { TextMessagesConfiguration } from './text-messages.configuration.js';
import { textMessages } from './text-messages.module.js';
import { TwilioTextMessages } from './twilio.text-messages.js';

const SETTINGS = { TWILIO_ACCOUNT_SID: 'AC0123', TWILIO_AUTH_TOKEN: 'secret', TWILIO_FROM: '+12125550199' };

function textMessagesWith(environment: Record<string, string>): object {
  const configuration = loadConfiguration(environment);
  const http = new HttpClient(configuration.get(HttpClientConfiguration), new Clock(), new Tracing());
  const [settings, service] = [
    configuration.get(TextMessagesConfiguration),
    configuration.get(ServiceConfiguration),
  ];
  return textMessages(settings, service, http, new Metrics());
}

describe('Text messages', () => {
  it('are files unless Twilio is configured', () => {
    expect(textMessagesWith({})).toBeInstanceOf(FileTextMessages);
    expect(textMessagesWith(SETTINGS)).toBeInstanceOf(TwilioTextMessages);
  });

  it.each(Object.keys(SETTINGS))('require %s with the other settings of Twilio', (missing) => {
    const names = Object.keys(SETTINGS).filter((name) => name !== missing);
    expect(() => textMessagesWith({ ...SETTINGS, [missing]: '' })).toThrow(
      `${names[0]} requires the other settings of Twilio: set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM, or none of them.`,
    );
  });

  it('require a public https URL of the provider', () => {
    const environment = { ...SETTINGS, TWILIO_API_URL: 'http://127.0.0.1:1' };
    expect(() => textMessagesWith(environment)).toThrow(
      'TWILIO_API_URL must be a public https URL, unless WEBHOOK_TARGETS is any.',
    );
    expect(textMessagesWith({ ...environment, WEBHOOK_TARGETS: 'any' })).toBeInstanceOf(TwilioTextMessages);
  });
});
