/** "rent per m²", "Kosten je Kilometer": which column of a table is divided by which other one. */
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { columnFor } from './column-synonyms.ts';
import { addsUp, mainMeasure, measures } from './figure.ts';
import { readTokens } from './prompt-tokens.ts';

const joints = wordSet('per pro je /');
const skipped = wordSet('the a an each every one der die das den jeden jede jedem einzelnen average mean total');
const moneyWords = wordSet('price prices cost costs preis kosten revenue income money euro euros pay much');
const maxTokensApart = 6;

/** The first pair of columns in the task; null if it names none or the columns do not exist. */
export function ratioIn(task: string, table: TableProfile): { of: string; per: string } | null {
  const tokens = readTokens(task.slice(0, 8000)).map(({ lower }) => lower);
  const columns = measures(table).filter((column) => column.derived !== true);
  for (const [i, token] of tokens.entries()) {
    if (!joints.has(token)) continue;
    let at = i + 1;
    while (at < i + 3 && (skipped.has(tokens[at] ?? '') || /^\d+$/.test(tokens[at] ?? ''))) at++;
    const per = columnFor(tokens[at] ?? '', columns);
    // "sales per region": a column of names groups, and is not a divisor.
    if (per === undefined) continue;
    const of = before(tokens, i, columns, per) ?? moneyColumn(tokens, i, table, per);
    if (of !== undefined && of !== per) return { of: of.name, per: per.name };
  }
  return compound(tokens, columns);
}

function before(tokens: readonly string[], at: number, columns: readonly ColumnProfile[], per: ColumnProfile): ColumnProfile | undefined {
  for (let i = at - 1; i >= 0 && i >= at - maxTokensApart; i--) {
    const found = columnFor(
      tokens[i]!,
      columns.filter((column) => column !== per),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** "What does it cost per kilometre" means the one column of money. */
function moneyColumn(tokens: readonly string[], at: number, table: TableProfile, per: ColumnProfile): ColumnProfile | undefined {
  if (!tokens.slice(Math.max(0, at - maxTokensApart), at).some((token) => moneyWords.has(token))) return undefined;
  const main = mainMeasure(table);
  return main !== undefined && main !== per && main.derived !== true && addsUp(main) ? main : undefined;
}

/** "Quadratmeterpreis", "Stundenlohn". */
function compound(tokens: readonly string[], columns: readonly ColumnProfile[]): { of: string; per: string } | null {
  for (const token of tokens) {
    if (!/^(?:quadratmeter|kilometer|stück|hektar)(?:preis|miete|kosten|ertrag)/.test(token)) continue;
    const [first, second] = token.startsWith('quadratmeter')
      ? ['quadratmeter', token.slice(12)]
      : token.startsWith('kilometer')
        ? ['kilometer', token.slice(9)]
        : token.startsWith('hektar')
          ? ['hektar', token.slice(6)]
          : ['stück', token.slice(5)];
    const [per, of] = [columnFor(first!, columns), columnFor(second!.replace(/e?[ns]?$/, ''), columns) ?? columnFor('miete', columns)];
    if (per !== undefined && of !== undefined && per !== of) return { of: of.name, per: per.name };
  }
  return null;
}
