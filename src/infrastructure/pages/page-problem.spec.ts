import { NOT_FOUND, type FieldProblem } from '../errors/index.js';
import { fieldError, MESSAGES } from '../validation/index.js';
import { PageProblem, type Refusal } from './page-problem.js';

function problemOf(refusal: Refusal, hasAddress = false): PageProblem {
  const problem = new PageProblem(refusal, hasAddress, 'token');
  problem.addField('start', 'From (UTC)', false);
  problem.addField('end', 'To (UTC)', false);
  problem.addField('events[]', 'Events to send', true);
  problem.addField('image', 'Image', false);
  problem.addField('status_code', 'Status code', false);
  problem.add('event_id', 'Event');
  return problem;
}

const NOT_AFTER = { field: 'start', rule: MESSAGES.notAfter, other: 'end' };

describe('A problem on a page', () => {
  it.each<[FieldProblem, string]>([
    [NOT_AFTER, 'The “From” field must not be after the “To” field.'],
    [{ ...NOT_AFTER, field: 'begin' }, 'The begin field must not be after the “To” field.'],
    [{ field: 'start', rule: MESSAGES.format }, 'The “From” format is invalid.'],
    [
      { field: 'events', rule: MESSAGES.selected, limit: ['CARD_UPDATED', 'user.add'] },
      'The selected “Events to send” is invalid. Choose one from the list.',
    ],
    [
      { field: 'events', rule: (item) => `${item} is no event.`, item: { index: 1, value: 'CARD' } },
      '“CARD” is no event.',
    ],
    [
      { field: 'events', rule: (item) => `${item} is no event.`, item: { index: 0, value: 'C\u202eARD' } },
      '“\u2068C<U+202E>ARD\u2069” is no event.',
    ],
    [
      { field: 'event_id', rule: MESSAGES.selected, limit: ['a', 'b'] },
      'The selected “Event” is invalid. Allowed values: a, b.',
    ],
    [
      { field: 'image', rule: MESSAGES.maxBytes, limit: 262_144 },
      'The “Image” field must not be greater than 256 KiB.',
    ],
    [
      { field: 'image', rule: MESSAGES.maxBytes, limit: 1_000 },
      'The “Image” field must not be greater than 1000 bytes.',
    ],
    [
      { field: 'status_code', rule: MESSAGES.repeatedParameter, limit: 'status_code' },
      'The filter “Status code” is given more than once.',
    ],
    [
      { field: 'page_size', rule: MESSAGES.blankParameter, limit: 'page_size' },
      'The query parameter page_size must not be blank.',
    ],
    [{ field: 'next_cursor', rule: MESSAGES.string }, 'The next cursor field must be a string.'],
    [
      { field: 'cursor', rule: MESSAGES.selected, limit: ['a', 'b'] },
      'The selected cursor is invalid. Allowed values: a, b.',
    ],
  ])('calls fields by their labels: %j', (problem, expected) =>
    expect(problemOf(fieldError(problem)).reason).toBe(expected),
  );

  it('keeps what follows in the message of the operation', () => {
    const error = fieldError({ field: 'image', rule: MESSAGES.required });
    error.message += ' The field imag is not known.';
    expect(problemOf(error).reason).toBe('The “Image” field is required. The field imag is not known.');
  });

  const html = htmlOf();
  it.each<[string, Refusal, string]>([
    ['the first of two', fieldError(NOT_AFTER), 'start'],
    ['the second if the page lacks the first', fieldError({ ...NOT_AFTER, field: 'begin' }), 'end'],
    ['checkboxes', fieldError({ field: 'events', rule: MESSAGES.unknown }), 'events[]'],
    ['a field that the message does not name', NOT_FOUND.error('Gone.', { field: 'image' }), 'image'],
  ])('is at the field that it is about: %s', (_what, refusal, field) => {
    const problem = problemOf(refusal);
    const names = ['start', 'end', 'events[]', 'image'];
    expect(names.filter((name) => problem.at(name) !== undefined)).toEqual([field]);
    const filled = problem.fill(`${problem.notice}<p>${problem.at(field)}</p>`, html);
    expect(filled).toBe(`<p>${problem.reason}</p>`);
  });

  it('is at each field that it is about', () => {
    const options = {
      ...NOT_AFTER,
      others: [
        { field: 'image', rule: MESSAGES.required },
        { field: 'gone', rule: MESSAGES.required },
      ],
    };
    const problem = problemOf(NOT_FOUND.error(fieldError(NOT_AFTER).message, options));
    const page = ['start', 'end', 'image'].map((name) => `${name}: ${problem.at(name) ?? ''}`).join('|');
    expect(problem.fill(problem.notice + page, html)).toBe(
      'start: The “From” field must not be after the “To” field.|end: |image: The “Image” field is required.',
    );
  });

  it.each<[string, Refusal, boolean]>([
    ['it is about no field', NOT_FOUND.error('Gone for $& good.'), false],
    ['the page lacks the field', fieldError({ field: 'event_id', rule: MESSAGES.unknown }), false],
    ['it is about a filter', fieldError(NOT_AFTER), true],
  ])('is a notice if %s', (_what, refusal, hasAddress) => {
    const problem = problemOf(refusal, hasAddress);
    expect(['start', 'end', 'image'].flatMap((name) => problem.at(name) ?? [])).toEqual([]);
    expect(problem.fill(problem.notice, html)).toBe(`<b>${problem.reason}</b>`);
  });
});

function htmlOf() {
  return { text: (reason: string) => reason, notice: (reason: string) => `<b>${reason}</b>` };
}
