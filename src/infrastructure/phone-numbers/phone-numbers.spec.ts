import { isNorthAmerican, isPhoneNumber } from './phone-numbers.js';

describe('isNorthAmerican', () => {
  it.each([861, 436, 357, 457, 465, 624, 764, 837, 924])(
    'accepts the area code %d, which the metadata lacks',
    (areaCode) => {
      expect(isNorthAmerican(`+1${areaCode}2345678`)).toBe(true);
      expect(isPhoneNumber(`(${areaCode}) 234-5678`)).toBe(true);
    },
  );

  it.each(['+12125550123', '+16045550123', '+19072345678', '+18672345678', '+18002345678'])(
    'accepts %s, which the metadata knows',
    (number) => expect(isNorthAmerican(number)).toBe(true),
  );

  // prettier-ignore
  it.each([
    242, 246, 264, 268, 284, 340, 345, 441, 473, 649, 658, 664, 670, 671, 684, 721, 758, 767, 784, 787, 809, 829, 849, 868, 869,
    876, 939,
  ])('rejects the area code %d of another country', (areaCode) => {
    expect(isNorthAmerican(`+1${areaCode}2345678`)).toBe(false);
    // Also if it is not valid there.
    expect(isNorthAmerican(`+1${areaCode}9999999`)).toBe(false);
  });

  it.each([
    ['+15552345678', 'an easily recognizable code'],
    ['+12112345678', 'a service code'],
    ['+17102345678', 'the code of the government'],
    ['+12932345678', 'a code that is reserved for longer numbers'],
    ['+13722345678', 'a reserved code'],
    ['+19612345678', 'a reserved code'],
    ['+11232345678', 'an area code that begins with 1'],
    ['+18611345678', 'a number that begins with 1'],
    ['+1861234567', 'nine digits'],
    ['+186123456789', 'eleven digits'],
    ['+442071838750', 'another calling code'],
  ])('rejects %s: %s', (number) => expect(isNorthAmerican(number)).toBe(false));
});
