import { AttemptSlots } from './attempt-slots.js';

const lane = (organizationId: string | null, isProven: boolean) => ({ organizationId, isProven });

describe('AttemptSlots', () => {
  it('leaves half of the slots to endpoints with a recent success', () => {
    const slots = new AttemptSlots(16);
    const releases = Array.from({ length: 8 }, (_, index) => slots.occupy(lane(`o-${index}`, false)));
    expect([slots.free, slots.freeForUnproven]).toEqual([8, 0]);
    releases[0]?.();
    expect([slots.free, slots.freeForUnproven]).toEqual([9, 1]);
  });

  it('has no free slots for endpoints without a recent success if they use more than their half', () => {
    const slots = new AttemptSlots(16);
    for (let index = 0; index < 10; index += 1) slots.occupy(lane(`o-${index}`, false));
    expect([slots.free, slots.freeForUnproven, slots.furtherForUnproven]).toEqual([6, 0, 0]);
  });

  it('leaves half of the slots to other organizations', () => {
    const slots = new AttemptSlots(16);
    const releases = Array.from({ length: 8 }, () => slots.occupy(lane('one', true)));
    expect([slots.freeFor('one'), slots.freeFor('other'), slots.fullOrganizations]).toEqual([0, 8, ['one']]);
    for (const release of releases) release();
    expect([slots.free, slots.freeFor('one'), slots.fullOrganizations]).toEqual([16, 8, []]);
  });

  it('gives unproven endpoints further slots only while few are used', () => {
    const slots = new AttemptSlots(16);
    expect(slots.furtherForUnproven).toBe(2);
    slots.occupy(lane('one', false));
    slots.occupy(lane('two', false));
    expect(slots.furtherForUnproven).toBe(0);
  });

  it('reserves half of what each organization can use, until it is released', () => {
    const slots = new AttemptSlots(16);
    slots.occupy(lane('one', true));
    slots.occupy(lane('one', true));
    const { total, perOrganization, release } = slots.reserve(new Set(['one', 'two']));
    expect([total, [...perOrganization]]).toEqual([
      7,
      [
        ['one', 3],
        ['two', 4],
      ],
    ]);
    expect([slots.free, slots.freeFor('one'), slots.freeFor('two')]).toEqual([7, 3, 4]);
    release();
    expect([slots.free, slots.freeFor('one'), slots.freeFor('two')]).toEqual([14, 6, 8]);
  });
});
