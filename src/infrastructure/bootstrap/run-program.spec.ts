import { operatorMessageFor } from './run-program.js';

describe('operatorMessageFor', () => {
  it('returns the stack of an error that nobody expects', () => {
    const error = new TypeError('undefined is not a function');
    expect(operatorMessageFor(error)).toBe(error.stack);
  });

  it('explains that the port is in use, without a stack', () => {
    const error = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', port: 3000 });
    expect(operatorMessageFor(error)).toBe(
      'Port 3000 is in use. Stop the program that listens there, or choose another port: PORT=3001 npm start',
    );
  });
});
