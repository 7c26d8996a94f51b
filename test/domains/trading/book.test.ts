/** The book: cash, positions and results as the fold of the journal. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  averageEntryPrice,
  type Book,
  type BookEntry,
  emptyBook,
  enter,
  equityOf,
  foldBook,
  heldQuantity,
  unrealised,
} from '../../../src/domains/trading/book.ts';
import { nanoText, one, toNano } from '../../../src/domains/trading/decimal.ts';

const fill = (side: 'buy' | 'sell', quantity: string, price: string, commission = '0', symbol = 'AAPL'): BookEntry => ({
  kind: 'fill',
  symbol,
  side,
  quantity,
  price,
  commission,
});
const deposit: BookEntry = { kind: 'deposit', amount: '100000' };
const dollars = (sum: string) => Number(BigInt(sum) / one) / 1e9;
const average = (book: Book, symbol = 'AAPL') => nanoText(averageEntryPrice(book.positions[symbol]!));

test('buying twice averages the price to nine places, half-even', () => {
  const book = foldBook([deposit, fill('buy', '1', '10'), fill('buy', '2', '11')]);
  assert.equal(average(book), '10.666666667');
  assert.equal(dollars(book.cash), 99_968);
  assert.equal(dollars(book.realised), 0);
});

test('a partial sale realises its share and keeps the average, and the sale of the rest leaves no position', () => {
  const part = foldBook([deposit, fill('buy', '1', '10'), fill('buy', '2', '11'), fill('sell', '1', '12', '0.5')]);
  assert.equal(average(part), '10.666666667');
  assert.equal(dollars(part.realised), 1.333333333);
  const flat = enter(part, fill('sell', '2', '9'));
  assert.deepEqual(flat.positions, {});
  // 34 - 32 spent in whole numbers, less the commission.
  assert.deepEqual([dollars(flat.cash), dollars(flat.realised), dollars(flat.commissions)], [99_997.5, -2, 0.5]);
});

test('a sale beyond the holding closes it and opens a short at its price', () => {
  const book = foldBook([deposit, fill('buy', '10', '100'), fill('sell', '15', '110')]);
  assert.equal(book.positions.AAPL!.quantity, '-5');
  assert.equal(average(book), '110');
  assert.equal(dollars(book.realised), 100);
  const covered = enter(book, fill('buy', '5', '120'));
  assert.deepEqual([covered.positions, dollars(covered.realised), dollars(covered.cash)], [{}, 50, 100_050]);
});

test('a quantity of nine decimal places closes to exactly zero', () => {
  const book = foldBook([
    fill('buy', '0.333333333', '3.000000001'),
    fill('sell', '0.111111111', '3'),
    fill('sell', '0.222222222', '2.999999999'),
  ]);
  assert.deepEqual(book.positions, {});
  assert.equal(BigInt(book.cash), BigInt(book.realised));
});

test('a split keeps the cost, a dividend is cash, a short pays it, and a new name keeps the position', () => {
  const held = foldBook([deposit, fill('buy', '10', '100'), { kind: 'split', symbol: 'AAPL', ratio: '4' }]);
  assert.deepEqual([held.positions.AAPL!.quantity, average(held)], ['40', '25']);
  const paid = enter(held, { kind: 'dividend', symbol: 'AAPL', amount: '0.25' });
  assert.equal(dollars(paid.cash) - dollars(held.cash), 10);
  const short = enter(foldBook([fill('sell', '4', '5')]), { kind: 'dividend', symbol: 'AAPL', amount: '1' });
  assert.equal(dollars(short.cash), 16);
  const renamed = enter(held, { kind: 'symbol_change', from: 'AAPL', to: 'APL' });
  assert.deepEqual([heldQuantity(renamed, 'AAPL'), renamed.positions.APL], [0n, held.positions.AAPL]);
  assert.equal(renamed.realised, held.realised);
});

const decimal = fc.integer({ min: 1, max: 5_000_000_000 }).map((n) => nanoText(BigInt(n)));
const entry = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('fill' as const),
      symbol: fc.constantFrom('A', 'B'),
      side: fc.constantFrom('buy' as const, 'sell' as const),
      quantity: decimal,
      price: decimal,
      commission: decimal,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dividend' as const), symbol: fc.constantFrom('A', 'B'), amount: decimal }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('split' as const),
      symbol: fc.constantFrom('A', 'B'),
      ratio: fc.constantFrom('2', '0.5', '3'),
    }),
  },
);

test('cash, result and positions are consistent, and a rebuild gives the same bytes (K1, K2, K3)', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
      const all: BookEntry[] = [deposit, ...entries];
      const book = foldBook(all);
      let live = emptyBook();
      for (const each of all) live = enter(JSON.parse(JSON.stringify(live)) as Book, each);
      assert.equal(JSON.stringify(live), JSON.stringify(book));
      const price = toNano(7);
      const gained = equityOf(book, () => price) - 100_000n * one * one;
      const open = Object.values(book.positions).reduce((sum, position) => sum + unrealised(position, price), 0n);
      assert.equal(gained, BigInt(book.realised) + open - BigInt(book.commissions));
      for (const { quantity } of Object.values(book.positions)) assert.notEqual(quantity, '0');
    }),
  );
});
