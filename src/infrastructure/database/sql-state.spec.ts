/**
 * Compares built-in classes, of which the bundle has others.
 *
 * @jest-environment-options {"usesBundle": false}
 */
import {
  endsConnection,
  isDatabaseUnavailable,
  isTransient,
  mayRepeat,
  violatesUnique,
} from './sql-state.js';

const withCode = (code: string): Error => Object.assign(new Error('refused'), { code });
/** Wraps an error of the driver as TypeORM does. */
const queryFailed = (driverError: unknown): Error =>
  Object.assign(new Error('QueryFailedError'), { driverError });

describe('SQLSTATE codes', () => {
  it.each([
    ['08006', true],
    ['57P01', true],
    ['57P03', true],
    ['53300', true],
    ['53100', true],
    ['53200', true],
    ['ECONNREFUSED', true],
    ['ECONNRESET', true],
    ['ENOTFOUND', true],
    ['57014', true],
    ['25006', true],
    ['25P03', true],
    ['28P01', true],
    ['58030', true],
    ['XX000', true],
    ['XX001', true],
    ['EHOSTDOWN', true],
    ['0A000', false],
    ['22P02', false],
    ['23505', false],
    ['25P02', false],
    ['40001', false],
    ['42P01', false],
    ['54000', false],
    ['55P03', false],
    ['P0001', false],
    ['ENOENT', false],
    ['EBUSY', false],
  ])('isDatabaseUnavailable returns for code %s: %s', (code, expected) => {
    expect(isDatabaseUnavailable(withCode(code))).toBe(expected);
    expect(isDatabaseUnavailable(queryFailed(withCode(code)))).toBe(expected);
  });

  it.each(['EMFILE', 'EADDRNOTAVAIL', 'EAGAIN', 'ENOENT', 'EACCES'])(
    'isDatabaseUnavailable returns true for %s of a connection only',
    (code) => {
      const failed = (syscall: string): Error => Object.assign(withCode(code), { syscall });
      expect([failed('connect'), failed('open')].map(isDatabaseUnavailable)).toEqual([true, false]);
    },
  );

  it.each([
    ['Connection terminated unexpectedly', true],
    ['timeout exceeded when trying to connect', true],
    ['Connection terminated due to connection timeout', true],
    ['Client has encountered a connection error and is not queryable', true],
    ['Cannot use a pool after calling end on the pool', true],
    ['timeout expired', true],
    ['syntax error at or near "timeout"', false],
    ['', false],
  ])('isDatabaseUnavailable returns for message "%s": %s', (message, expected) => {
    expect(isDatabaseUnavailable(new Error(message))).toBe(expected);
  });

  it('inspects each error of an AggregateError', () => {
    expect(isDatabaseUnavailable(new AggregateError([withCode('EACCES'), withCode('ECONNREFUSED')]))).toBe(
      true,
    );
    expect(isDatabaseUnavailable(new AggregateError([]))).toBe(false);
  });

  it.each([undefined, null, 'text', 5, {}])('returns false for %p', (error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
    expect(isTransient(error)).toBe(false);
    expect(violatesUnique(error, 'a_key')).toBe(false);
  });

  it('isTransient recognizes errors that a retry may fix', () => {
    expect(
      ['40001', '40P01', '23505', '57014'].map((code) => isTransient(queryFailed(withCode(code)))),
    ).toEqual([true, true, false, false]);
  });

  it.each([
    ['08006', true, true],
    ['25006', true, true],
    ['57P01', true, true],
    ['ECONNRESET', false, true],
    ['28P01', true, false],
    ['53100', true, false],
    ['57014', false, false],
    ['23505', false, false],
  ])('code %s ends the connection: %s, and the work may be repeated at once: %s', (code, ends, repeats) => {
    const error = queryFailed(withCode(code));
    expect([endsConnection(error), mayRepeat(error)]).toEqual([ends, repeats]);
  });

  it('violatesUnique distinguishes constraints', () => {
    const error = queryFailed({ code: '23505', constraint: 'a_key' });
    expect(violatesUnique(error, 'a_key')).toBe(true);
    expect(violatesUnique(error, 'another_key')).toBe(false);
    expect(violatesUnique(queryFailed({ code: '23503', constraint: 'a_key' }), 'a_key')).toBe(false);
  });
});
