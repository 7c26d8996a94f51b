/** Rules that a text states beside a table, applied to it: a fee for each late row, a list of entries that must be there, a limit of one column. */
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { onlyColumnFor } from './column-synonyms.ts';
import { countOf, exact, measures, safe } from './figure.ts';
import { type Amount, exactly, inNotationOf, isMoney } from './text/amounts.ts';
import type { Passage } from './text/passages.ts';

export type Applied = { kind: 'fee' | 'expected' | 'limit'; line: number; text: string };

const maxApplied = 12;
const maxSentence = 1_000;
export const late =
  /(?<![\p{L}])(?:late(?:ly|ness)?|overdue|delayed|verspätet\p{L}{0,2}|Verspätung(?:en)?|zu spät\p{L}{0,2}|überfällig\p{L}{0,2}|retards?|tardi(?:f|ve)s?|en retard|retraso|tardí[oa]s?|ritardo|in ritardo|te laat)(?![\p{L}])/iu;
const each = /(?<![\p{L}])(?:each|every|per|for each|je|jede[rsnm]?|pro|chaque|par|cada|por|ogni|per ogni|elke?)(?![\p{L}])/iu;
/** A fee for each day is not one for each row. */
const otherBasis =
  /(?<![\p{L}])(?:days?|hours?|minutes?|weeks?|months?|tage?|stunden?|minuten?|wochen?|monate?|jours?|heures?|semaines?|mois|días?|horas?|giorn[oi]|ore|dag(?:en)?)(?![\p{L}])/iu;
const expecting =
  /(?<![\p{L}])(?:must|should|shall|has to|have to|expected|required|is due from|müssen|muss|sollen|soll|erwartet\p{L}{0,2}|doivent|doit|attendus?|attendues?|deben|debe|esperad[oa]s?|devono|deve|attes[oi]|moeten|verwacht)(?![\p{L}])/iu;
const limiting =
  /(?<![\p{L}])(?:at most|no more than|not more than|maximum|limit|may not exceed|must not exceed|höchstens|maximal|Höchstwert|Grenzwert|darf[^.;]{0,60} nicht (?:übersteigen|überschreiten)|au plus|au maximum|limite|ne doit pas dépasser|como máximo|máximo|al massimo|massimo|hoogstens)(?![\p{L}])/iu;
const fewestListed = 3;
const maxListed = 60;

export function appliedRules(passages: readonly Passage[], table: TableProfile): Applied[] {
  return passages
    .filter(({ text }) => text.length <= maxSentence)
    .flatMap((passage) => [...fee(passage, table), ...expected(passage, passages, table), ...limit(passage, table)])
    .slice(0, maxApplied);
}

/** How many rows are late, where the table has a due and a done date; null where it has not. */
export function lateRows({ remarks }: TableProfile): { count: number; of: string; text: string } | null {
  for (const { kind, text } of remarks) {
    const found =
      kind === 'late'
        ? /^(?<done>.{1,80}) is after (?<due>.{1,80}) in (?<count>[\d,]{1,9}) of (?<of>[\d,]{1,9}) rows? with both/.exec(text)?.groups
        : undefined;
    if (found !== undefined)
      return {
        count: Number(found.count!.replaceAll(',', '')),
        of: found.of!,
        text: `${found.done} is after ${found.due} in ${found.count} of ${found.of} rows with both`,
      };
  }
  return null;
}

/** "Each late return costs 4 euros": the fee times the late rows. */
function fee({ text, line, amounts }: Passage, table: TableProfile): Applied[] {
  const [amount, ...others] = amounts.filter(isMoney);
  if (amount === undefined || others.length > 0 || !late.test(text) || !each.test(text)) return [];
  const rows = otherBasis.test(text) ? null : lateRows(table);
  if (rows === null)
    return [
      {
        kind: 'fee',
        line,
        text: `The fee of ${safe(amount.written)} is not added up: how many times it is due cannot be found with certainty in ${safe(table.name)}`,
      },
    ];
  return [
    {
      kind: 'fee',
      line,
      text: `The fee of ${safe(amount.written)} for each late row: ${safe(rows.text)}, so ${countOf(rows.count, 'fee')}, ${safe(sum(amount, rows.count))} in all${openRows(table)}`,
    },
  ];
}

function sum(amount: Amount, count: number): string {
  return inNotationOf(amount, exactly(amount.value * count));
}

function openRows({ remarks }: TableProfile): string {
  const open = remarks.find(({ kind, text }) => kind === 'open' && /^[\d,]{1,9} rows? ha(?:s|ve) no /.test(text));
  return open === undefined ? '' : `; not counted: ${safe(open.text.split(':')[0]!)}`;
}

/** "The following must appear: Ann, Bo, Cy": the names that no row has. */
function expected(passage: Passage, passages: readonly Passage[], table: TableProfile): Applied[] {
  if (!expecting.test(passage.text)) return [];
  const names = listIn(passage, passages);
  if (names.length < fewestListed) return [];
  const ranked = table.columns
    .flatMap((column) => {
      const values = valuesOf(column, table);
      if (values === null) return [];
      const present = names.filter((name) => values.has(name.toLowerCase()));
      return [{ column, values, present }];
    })
    .toSorted((a, b) => b.present.length - a.present.length);
  const [best, second] = ranked;
  // Half of the names or more say which column is meant.
  if (best === undefined || best.present.length * 2 < names.length || second?.present.length === best.present.length) return [];
  const missing = names.filter((name) => !best.present.includes(name));
  const listed = missing.length === 0 ? 'none is missing' : `missing: ${missing.map(safe).join(', ')}`;
  return [
    {
      kind: 'expected',
      line: passage.line,
      text: `Expected are ${exact(names.length)} entries; in ${safe(best.column.name)} of ${safe(table.name)} are ${exact(best.present.length)} of them, ${listed} (looked for in all rows, not in each period)`,
    },
  ];
}

/** The names behind a colon or in a row of commas; or the items of the list below. */
function listIn({ text, at, section }: Passage, passages: readonly Passage[]): string[] {
  const inline = namesIn(text.slice(text.indexOf(':') + 1));
  if (text.includes(':') && inline.length >= fewestListed) return inline;
  const items: string[] = [];
  for (const next of passages.slice(at + 1, at + 1 + maxListed)) {
    if (next.kind !== 'item' || next.section !== section) break;
    items.push(next.text.replace(/[.,;]$/, ''));
  }
  return items;
}

function namesIn(list: string): string[] {
  const parts = list
    .replace(/[.!]$/, '')
    .split(/, (?:and |und |et |y |e |en )?| (?:and|und|et|y|e|en) /u)
    .map((part) => part.trim());
  return parts.length > maxListed || parts.some((part) => part === '' || part.length > 40) ? [] : parts;
}

/** All different values of a column in lower case; null where the profile does not list all of them. */
function valuesOf(
  { name, type, distinct, distinct_estimated: isEstimated, frequent }: ColumnProfile,
  { groups }: TableProfile,
): ReadonlySet<string> | null {
  if (type !== 'text' || isEstimated) return null;
  const group = groups.find(({ by, shortened }) => by === name && shortened !== true);
  const values =
    group !== undefined
      ? group.values.map(({ value }) => value)
      : frequent !== undefined && frequent.length === distinct
        ? frequent.map(({ value }) => value)
        : null;
  return values === null ? null : new Set(values.map((value) => value.toLowerCase()));
}

/** "The temperature may be at most 25": the largest value against the limit. */
function limit({ text, line, amounts }: Passage, table: TableProfile): Applied[] {
  if (!limiting.test(text) || amounts.length !== 1) return [];
  const numeric = measures(table);
  const words = text.toLowerCase().split(/[^\p{L}]+/u);
  const columns = [...new Set(words.flatMap((word) => (word.length < 4 ? [] : (onlyColumnFor(word, numeric) ?? []))))];
  const [column] = columns;
  if (column === undefined || columns.length > 1) return [];
  const { max, max_row: row } = column.numbers!;
  const [amount] = amounts;
  return [
    {
      kind: 'limit',
      line,
      text:
        max > amount!.value
          ? `The largest ${safe(column.name)} is ${exact(max)} (row ${exact(row)} of ${safe(table.name)}), above the limit of ${safe(amount!.written)}`
          : `No ${safe(column.name)} of ${safe(table.name)} is above the limit of ${safe(amount!.written)}; the largest is ${exact(max)} (row ${exact(row)})`,
    },
  ];
}
