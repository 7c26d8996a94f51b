/** "Why …?", "what caused it?": a table shows notable figures, not their causes. */
import { nameTokens } from '../../table/column-role.ts';
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { safe } from './figure.ts';

const causes = wordSet(
  'why warum weshalb wieso reason reasons cause causes caused grund gründe ursache ursachen verursacht pourquoi causé cause causa causas causó causado',
);
const causeNames = wordSet('reason grund cause ursache motivo raison');
const remarkNames = wordSet('remark remarks note notes comment comments bemerkung bemerkungen anmerkung obs remarque nota notas');
const maxRemarks = 6;
const maxNamed = 12;

/** That the files have no data on causes; null if the words do not ask for a cause, or if a column has causes. */
export function causeText(words: readonly string[], tables: readonly TableProfile[]): string | null {
  if (tables.every(({ rows }) => rows === 0) || !words.some((word) => causes.has(word))) return null;
  const columns = tables.flatMap((table) => table.columns.filter(({ derived }) => derived !== true));
  if (columns.some(({ name }) => nameTokens(name).some((token) => causeNames.has(token)))) return null;
  const noted = tables.flatMap((table) =>
    table.columns.filter(({ name, frequent }) => frequent !== undefined && nameTokens(name).some((token) => remarkNames.has(token))),
  );
  if (noted.length > 0) return remarksText(noted);
  const names = [...new Set(columns.map(({ name }) => safe(name)))];
  const listing = `${names.slice(0, maxNamed).join(', ')}${names.length > maxNamed ? ' and more' : ''}`;
  const files = tables.length === 1 ? 'the file, which has' : 'the files, which have';
  return `As to why: the cause cannot be told from ${files} no data on causes, only ${listing}. The figures tell which rows and groups make up a total, and that values rise together is no proof of cause.`;
}

/** Remarks may tell causes; that they do is not known. */
function remarksText(columns: readonly ColumnProfile[]): string {
  const each = columns.map(({ name, frequent }) => {
    const values = frequent!.slice(0, maxRemarks).map(({ value, count }) => `${safe(value)} ${count}`);
    return `${safe(name)} (most often ${values.join(', ')})`;
  });
  return `As to why: no column is called a cause, but ${each.join(' and ')} may tell some; what is written beside a row is no proof of its cause.`;
}
