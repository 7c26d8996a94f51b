/** "Why …?", "what caused it?": a table shows notable figures, not their causes. */
import { nameTokens } from '../../table/column-role.ts';
import type { TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { safe } from './figure.ts';

const causes = wordSet(
  'why warum weshalb wieso reason reasons cause causes caused grund gründe ursache ursachen verursacht pourquoi causé cause causa causas causó causado',
);
const causeNames = wordSet('reason grund cause ursache motivo raison');
const maxNamed = 12;

/** That the files have no data on causes; null if the words do not ask for a cause, or if a column has causes. */
export function causeText(words: readonly string[], tables: readonly TableProfile[]): string | null {
  if (tables.every(({ rows }) => rows === 0) || !words.some((word) => causes.has(word))) return null;
  const columns = tables.flatMap((table) => table.columns.filter(({ derived }) => derived !== true));
  if (columns.some(({ name }) => nameTokens(name).some((token) => causeNames.has(token)))) return null;
  const names = [...new Set(columns.map(({ name }) => safe(name)))];
  const listing = `${names.slice(0, maxNamed).join(', ')}${names.length > maxNamed ? ' and more' : ''}`;
  const files = tables.length === 1 ? 'the file, which has' : 'the files, which have';
  return `As to why: the cause cannot be told from ${files} no data on causes, only ${listing}. The figures tell which rows and groups make up a total, and that values rise together is no proof of cause.`;
}
