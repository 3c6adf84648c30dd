import { FieldLabels } from './page-words.js';

describe('A message on a page', () => {
  const labels = new FieldLabels();
  labels.add('start', 'From (UTC)', false);
  labels.add('end', 'To (UTC)', false);
  labels.add('events[]', 'Events to send', true);
  labels.add('image', 'Image', false);
  labels.add('status_code', 'Status code', false);

  it.each([
    [
      'The start field must not be after the end field.',
      'The “From” field must not be after the “To” field.',
    ],
    ['The start format is invalid.', 'The “From” format is invalid.'],
    [
      'The selected events is invalid. Allowed values: CARD_UPDATED, user.add.',
      'The selected “Events to send” is invalid. Choose one from the list.',
    ],
    [
      'The image field must not be greater than 262144 bytes.',
      'The “Image” field must not be greater than 256 KiB.',
    ],
    ['The image field must have 1000 bytes.', 'The “Image” field must have 1000 bytes.'],
    [
      'The query parameter status_code is given more than once.',
      'The filter “Status code” is given more than once.',
    ],
    ['The cursor field is not valid.', 'The cursor field is not valid.'],
    [
      'The selected cursor is invalid. Allowed values: a, b.',
      'The selected cursor is invalid. Allowed values: a, b.',
    ],
  ])('says %j as %j', (message, said) => expect(labels.applyTo(message)).toBe(said));
});
