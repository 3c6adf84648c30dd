import { Readable } from 'node:stream';
import { readSecret } from './input.js';

describe('readSecret', () => {
  const written = (): string[] => {
    const lines: string[] = [];
    import.meta.jest
      .spyOn(process.stderr, 'write')
      .mockImplementation((line) => lines.push(String(line)) > 0);
    return lines;
  };
  const from = (text: string, isTTY: boolean): Readable & { readonly isTTY: boolean } =>
    Object.assign(Readable.from([Buffer.from(text)]), { isTTY });

  afterEach(() => void import.meta.jest.restoreAllMocks());

  it('reads standard input without its last line break', async () => {
    const lines = written();
    expect(await readSecret('password', from('a b\r\n', false))).toBe('a b');
    expect(lines).toEqual([]);
  });

  it('asks on a terminal, where it would seem to hang', async () => {
    const lines = written();
    expect(await readSecret('password', from('secret\n', true))).toBe('secret');
    expect(lines).toEqual(['Type the password, then press Enter and Ctrl+D. The terminal shows it.\n']);
  });

  it('refuses an empty input', async () => {
    await expect(readSecret('password', from('\n', false))).rejects.toThrow('Standard input is empty.');
  });
});
