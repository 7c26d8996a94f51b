import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import * as decimal from '../../../src/domains/trading/decimal.ts';

const { one } = decimal;
const nano = fc.oneof(
  fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
  fc.bigInt({ min: -(2n ** 53n) - 9n, max: 2n ** 53n + 9n }),
  fc.bigInt({ min: -2_000_000_000n, max: 2_000_000_000n }),
);

test('a number is converted to its printed decimal, with at most nine places', () => {
  const taken: [number, bigint][] = [
    [0.1, one / 10n],
    [0.000000001, 1n],
    [-1.5, (-3n * one) / 2n],
    [1.5e-8, 15n],
    [123456.789012345, 123456789012345n],
    [1e20, 10n ** 29n],
    [-0, 0n],
  ];
  for (const [value, expected] of taken) assert.equal(decimal.nanoOf(value), expected, String(value));
  for (const value of [1e-10, 0.1234567891, Number.NaN, Number.POSITIVE_INFINITY, 1e21, 5e-324])
    assert.equal(decimal.nanoOf(value), null, String(value));
  assert.throws(() => decimal.toNano(0.30000000000000004), RangeError);
  assert.equal(decimal.roundedToNano(0.1 + 0.2), 3n * (one / 10n));
});

test('a text is a decimal only if it has digits alone', () => {
  assert.equal(decimal.nanoOfText('12.500000000000'), (25n * one) / 2n);
  for (const text of ['', '.5', '5.', '1e3', ' 1', '+1', '0x1', '1,5', '--1', 'NaN', '1'.repeat(25), '0.0000000001'])
    assert.equal(decimal.nanoOfText(text), null, text);
});

test('conversions between text and billionths are exact in both directions', () => {
  fc.assert(
    fc.property(nano, (value) => {
      const text = decimal.nanoText(value);
      assert.equal(decimal.nanoOfText(text), value);
      assert.match(text, /^-?(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/);
      assert.equal(decimal.fromNano(value), Number(text));
    }),
    { numRuns: 1_000 },
  );
});

test('a number of up to 15 digits and 9 places is booked unchanged', () => {
  const digits = fc.tuple(fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }), fc.integer({ min: 0, max: 9 }));
  fc.assert(
    fc.property(digits, ([whole, places]) => {
      const value = Number(`${whole}e-${places}`);
      assert.equal(decimal.fromNano(decimal.toNano(value)), value);
      assert.ok(decimal.decimalPlaces(value) <= places);
    }),
  );
});

test('ties are rounded to the even neighbour, all other values to the nearest', () => {
  const ties: [bigint, bigint, bigint][] = [
    [5n, 10n, 0n],
    [15n, 10n, 2n],
    [25n, 10n, 2n],
    [-5n, 10n, 0n],
    [-15n, 10n, -2n],
    [15n, -10n, -2n],
    [16n, 10n, 2n],
    [-14n, 10n, -1n],
  ];
  for (const [dividend, divisor, expected] of ties) assert.equal(decimal.divideHalfEven(dividend, divisor), expected);
  const divisor = fc.bigInt({ min: 1n, max: 10n ** 12n });
  fc.assert(
    fc.property(nano, divisor, (n, d) => {
      const rest = n - decimal.divideHalfEven(n, d) * d;
      assert.ok(2n * (rest < 0n ? -rest : rest) <= d);
    }),
  );
});

test('the cash of a fill is rounded once, half-even to cents', () => {
  const product = decimal.exactProduct(decimal.toNano(0.5), decimal.toNano(0.01));
  assert.equal(decimal.centsOfProduct(product), 0n);
  assert.equal(decimal.centsOfProduct(3n * product), 2n);
  assert.equal(decimal.centsOfNano(decimal.toNano(-1.005)), -100n);
  assert.equal(decimal.multiply(decimal.toNano(0.000000001), decimal.toNano(0.5)), 0n);
  assert.equal(decimal.divide(one, 3n * one), 333_333_333n);
});

test('a price is rounded to its step in the requested direction', () => {
  const cent = one / 100n;
  assert.equal(decimal.roundToStep(decimal.toNano(1.005), cent), one);
  assert.equal(decimal.roundToStep(decimal.toNano(1.001), cent, 'up'), decimal.toNano(1.01));
  assert.equal(decimal.roundToStep(decimal.toNano(-1.001), cent, 'down'), decimal.toNano(-1.01));
  assert.equal(decimal.roundToStep(one, cent, 'up'), one);
});
