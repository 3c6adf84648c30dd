import { readProjectFile } from '../../../infrastructure/project-files/index.js';
import { isReceiverName, RECEIVERS, verificationCode, type ReceiverName } from './receiver-code.js';

describe('The code of receivers', () => {
  it.each(Object.keys(RECEIVERS) as ReceiverName[])('verifies in %s, and runs no test vectors', (name) => {
    const code = verificationCode(name);
    const file = readProjectFile(`examples/receivers/${RECEIVERS[name].file}`);
    expect(file.startsWith(`${code}\n`)).toBe(true);
    expect(code).toMatch(/verify_?standard_?webhooks/i);
    expect(code).toMatch(/verify_?service_?signature/i);
    expect(code).not.toMatch(/\bmain\(|deliveries\.json/);
  });

  it('knows its languages only', () => {
    expect(['go', 'constructor', '', undefined, 7].filter(isReceiverName)).toEqual(['go']);
  });
});
