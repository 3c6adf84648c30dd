import { EVENT_NAMES } from '../../infrastructure/event-catalog/index.js';
import { exampleEvent } from '../webhooks/index.js';
import { triggeredData, triggeredEvent, type Changes } from './triggered-event.js';
// With the events of all capabilities.
import '../../app.module.js';

const NOTHING: Changes = {
  sessionId: undefined,
  taskId: 7,
  externalUserId: undefined,
  merchant: undefined,
  data: { card_id: 'a' },
  metadata: undefined,
};

describe('A triggered event', () => {
  it.each(EVENT_NAMES)('has the fields of %s and no others', (name) => {
    const changed = triggeredEvent(name, {
      ...NOTHING,
      sessionId: 's',
      externalUserId: 'u',
      merchant: { id: 1, name: 'Amazon' },
      metadata: { a: 'b' },
    });
    expect(Object.keys(changed)).toEqual(Object.keys(exampleEvent(name)));
    expect(changed.event).toBe(name);
  });

  it('equals the example except for its task if nothing is changed', () => {
    expect(triggeredEvent('CARD_UPDATED', NOTHING)).toEqual({
      ...exampleEvent('CARD_UPDATED'),
      taskId: 7,
      data: { card_id: 'a' },
    });
  });

  it('has the data of the example except for changed fields', () => {
    expect(triggeredData('MERCHANT_STATUS_UPDATE', { status: 'UP', unknown: 1 })).toEqual({
      type: 'card_switcher',
      status: 'UP',
    });
    expect(triggeredData('AUTHENTICATED', { card_id: null })).toEqual({ card_id: null });
    expect(triggeredData('ACCOUNT_LOGIN_REQUIRED', { card_id: 'a' })).toEqual({});
  });
});
