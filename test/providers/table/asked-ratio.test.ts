/** A division of two columns that the caller asks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ratio } from '../../../src/providers/table/findings/ratio.ts';
import { profileTable } from '../../../src/providers/table/profile.ts';
import { opening } from './tables.ts';

async function asked(text: string, ratio: Ratio): Promise<string[]> {
  const { remarks } = await profileTable(opening(Buffer.from(text)), 'lots.csv', undefined, { ratio });
  return remarks.filter(({ kind }) => kind === 'asked_ratio' || kind === 'ratio').map((remark) => remark.text);
}

const lots = (wrong: number) =>
  `linea,turno,piezas,defectos\n${Array.from({ length: 24 }, (_, i) => {
    const [line, shift, pieces] = [i % 2 ? 'A' : 'B', ['día', 'tarde', 'noche'][i % 3], 100 + ((i * 97) % 700)];
    return `${line},${shift},${pieces},${i === 9 ? wrong : Math.round(pieces * (shift === 'noche' && line === 'A' ? 0.1 : 0.05))}`;
  }).join('\n')}\n`;

test('a ratio that is asked for is told over all, by each group and by two groups together, as a share where it is one', async () => {
  const [whole, byLine, byShift, byBoth] = await asked(lots(20), { of: 'defectos', per: 'piezas' });
  assert.match(whole!, /^defectos ÷ piezas is 5\.88 % over 24 rows \(604 ÷ 10,272\)\.$/);
  assert.match(byLine!, /^defectos ÷ piezas by linea, the highest first: A 6\.\d+ % and B 5\.\d+ %\.$/);
  assert.match(byShift!, /by turno, the highest first: noche /);
  assert.match(byBoth!, /by linea and turno, the highest first: A \/ noche 10\.\d+ %, /);
});

test('a value that is probably wrong is left out of the ratio and named, with the figures that contain it', async () => {
  const [whole] = await asked(lots(2000), { of: 'defectos', per: 'piezas' });
  assert.match(
    whole!,
    /over 23 rows .*Left out because probably wrong: row 10 \(día, A\) with defectos 2,000 and piezas 273; with it 25\.16 % in all, A 43\.55 %/,
  );
});

test('a ratio per 100 is no share', async () => {
  const [whole] = await asked(lots(20), { of: 'defectos', per: 'piezas', times: 100 });
  assert.match(whole!, /^defectos per 100 piezas is 5\.88 over 24 rows \(604 ÷ 10,272 × 100\)\.$/);
});
