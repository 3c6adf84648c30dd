import { Output } from './output.js';

describe('The table of a list', () => {
  function printed(rows: readonly object[]): string {
    const write = import.meta.jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    new Output(false, false).table(rows, { NAME: ({ name }: { name: string }) => name });
    const texts = write.mock.calls.map(([text]) => text);
    write.mockRestore();
    return texts.join('');
  }

  it('has columns as wide as their longest cell', () => {
    expect(printed([{ name: 'a' }, { name: 'longer' }])).toBe('NAME\na\nlonger\n');
  });

  it('can have 200,000 rows', () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => ({ name: String(index) }));
    expect(printed(rows)).toHaveLength(5 + 10 * 2 + 90 * 3 + 900 * 4 + 9_000 * 5 + 90_000 * 6 + 100_000 * 7);
  });
});
