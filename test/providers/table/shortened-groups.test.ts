/** A profile that is shortened to the size of a result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings } from '../../../src/providers/model/offline/findings.ts';
import { fitProfile } from '../../../src/providers/table/fit-profile.ts';
import { profileText } from './tables.ts';

test('a list of groups that is shortened keeps the groups with the largest figures, however few rows they have', async () => {
  const rows = Array.from({ length: 120 }, (_, i) => `L${i},O${String(i % 40).padStart(3, '0')},${10 + (i % 7)}`);
  const profile = await profileText(`line,order,amount\n${rows.join('\n')}\nL120,O777,900\nL121,O778,850\n`);
  const short = fitProfile(profile, 6_000);
  const group = short.groups.find(({ by }) => by === 'order')!;
  assert.ok(group.values.length < profile.groups.find(({ by }) => by === 'order')!.values.length, 'it is shortened');
  assert.deepEqual(
    group.values.filter(({ rows: count }) => count === 1).map(({ value }) => value),
    ['O777', 'O778'],
  );
  const text = findings(short).find((each) => each.startsWith('By order'))!;
  assert.match(text, /^By order, O777 has the largest amount: 900 /);
  assert.doesNotMatch(text, /smallest|In order/);
});
