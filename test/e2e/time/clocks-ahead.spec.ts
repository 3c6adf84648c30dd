import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';
import { SecretDigest } from '../../../src/infrastructure/crypto/index.js';
import { SubmittedForms } from '../../../src/infrastructure/pages/submitted-forms.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../src/infrastructure/rate-limiting/index.js';
import { HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { moveClock, setClock } from '../../support/clock.js';
import { useTestApp } from '../../support/test-app.js';

const service = useTestApp();

describe('Counts of attempts that were begun while a clock was ahead', () => {
  const limit = () =>
    service.app.get(AttemptLimitsRepository).limit('trial', { attempts: 1, within: MINUTE });
  const countTwice = async (): Promise<void> => {
    await limit().count('subject');
    await limit().count('subject');
  };
  const moveAhead = () => service.database.query('UPDATE attempt_count SET expire = expire + $1', [6 * HOUR]);
  const countAll = () => {
    const attempt = { limit: limit(), subject: 'subject', error: tooManyAttempts };
    return service.app.get(AttemptLimitsRepository).countAll([attempt]);
  };
  beforeEach(() => service.database.query('DELETE FROM attempt_count'));

  it('do not lock anybody out for as long as it was ahead', async () => {
    await countTwice();
    await moveAhead();
    expect(await limit().waitOf('subject')).toBeUndefined();
    await countTwice();
    await moveAhead();
    expect(await limit().count('subject')).toBeUndefined();
    expect(await limit().count('subject')).toBeLessThanOrEqual(60);
    await moveAhead();
    await countAll();
    await expect(countAll()).rejects.toThrow('There were too many attempts. Try again in a minute.');
  });

  it('are kept by a process whose clock is behind', async () => {
    await countTwice();
    using _clock = setClock(service, -3 * HOUR);
    await expect(countAll()).rejects.toThrow('There were too many attempts.');
  });
});

describe('A form that a process whose clock was ahead did not finish', () => {
  it('is processed again after a minute', async () => {
    const formHash = service.app.get(SecretDigest).of(JSON.stringify(['submitted form', 'fields']));
    await service.database.query('INSERT INTO submitted_form (form_hash, created_at) VALUES ($1, $2)', [
      formHash,
      new Date(Date.now() + 3 * HOUR),
    ]);
    let processed = 0;
    const response = { statusCode: 400, getHeaders: () => ({}), req: {} } as unknown as Response;
    const waiting = Promise.all(
      Array.from({ length: 5 }, () =>
        service.app.get(SubmittedForms).once(['fields'], response, async () => `${(processed += 1)}`),
      ),
    );
    await pause(500);
    expect(processed).toBe(0);
    using _clock = moveClock(service, 2 * MINUTE);
    const isOver = await Promise.race([waiting.then(() => true), pause(20_000, false)]);
    await service.database.query('DELETE FROM submitted_form');
    await waiting;
    expect([isOver, processed]).toEqual([true, 5]);
  });
});
