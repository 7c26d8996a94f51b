/** What a question asks for beside its topic: rows of one status, a measure, or a quotient. A finding on another measure is no answer to it. */
import { nameTokens } from '../../table/column-role.ts';
import { isMoney } from '../../table/plan-figures.ts';
import type { ColumnProfile, Finding, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { columnFor } from './column-synonyms.ts';
import { addsUp, countOf, exact, groupedRows, mainMeasure, measures, percent, safe } from './figure.ts';

const amountWords = wordSet('much many share percentage number count often viel viele wieviel wieviele anteil anzahl');
const negations = wordSet('not no never without nicht nie kein keine ohne');
const moneyWords = wordSet(
  'revenue turnover earn earns earned earnings bring brings brought takings income sales umsatz einnahmen ingresos ventas',
);
const useWords = wordSet('use uses used usage consume consumed consumption verbrauch verbraucht verbrauchen');
const useNames = wordSet('verbrauch consumption usage consumo consommation kwh used use');
export const perWords = wordSet('per je pro por par');
const units = wordSet('kg kilo kilos kilogram km kilometre kilometer mile kwh mwh litre liter gallon hour stunde m2 sqm tonne ton');
const agreeWords = wordSet('agree agrees match matches tally stimmt stimmen übereinstimmen');
const episodeWords = wordSet('episode episodes');
const itemWords = wordSet('article articles product products item items artikel produkt produkte producto productos produit produits');
const itemNames = wordSet('sku article artikel product produkt producto produit item name title description bezeichnung');
const agreeKinds = wordSet(
  'relation relation_broken total total_wrong balance balance_broken join_only join_repeats join_values join_difference dues_unassigned',
);
const worthWords = wordSet('worth wert valeur vaut vale valor valore');
/** Values of a quantity at the prices of the other file. */
export const valueKinds = wordSet('join_product join_unpriced join_converted');
const amountNames = wordSet('value wert valeur valor valore amount betrag montant importe importo total sum summe worth');
/** Findings on the figures of one measure. */
const measureKinds = wordSet('group sums trend growth growth_each leaders rank by_weekday');
const figureKinds = wordSet('group sums trend growth growth_each leaders rank by_weekday weekday rows_by_day');
/** Figures that were computed for the task, whatever their groups. */
const computedKinds = wordSet('join_converted asked_ratio budget_months');
const mostMeasures = 3;

type Candidate = Finding & { columns: readonly ColumnProfile[] };

/** The rows with a status that the question names ("How much was refunded?"), and their amounts. Empty if it names none. */
export function statusFigures(words: readonly string[], tables: readonly TableProfile[]): string[] {
  if (!words.some((word) => amountWords.has(word)) || words.some((word) => negations.has(word))) return [];
  const stems = new Set(words.filter((word) => word.length >= 6).map(stem));
  return tables.flatMap((table) =>
    table.groups
      .filter(({ is_status: isStatus }) => isStatus === true)
      .flatMap((group) =>
        group.values
          .filter(({ value }) => value.length >= 5 && stems.has(stem(value.toLowerCase())))
          .map(({ value, rows, figures }) => {
            const whole = groupedRows(table, group);
            const sums = measures(table)
              .filter((column) => addsUp(column) && figures[column.name] !== undefined)
              .toSorted((a, b) => Number(b === mainMeasure(table)) - Number(a === mainMeasure(table)))
              .slice(0, mostMeasures)
              .map(({ name }) => `${safe(name)} adds up to ${exact(figures[name]!.sum)}`);
            const file = tables.length > 1 ? `${safe(table.name)}: ` : '';
            return `${file}${safe(group.by)} is ${safe(value)} in ${countOf(rows, 'row')} of ${exact(whole)} (${percent(rows, whole)})${sums.length === 0 ? '' : `; in them ${sums.join(', ')}`}.`;
          }),
      ),
  );
}

/** The findings that may answer the question, as far as its measure tells. */
export function withItsMeasure<Each extends Candidate>(
  words: readonly string[],
  candidates: readonly Each[],
  tables: readonly TableProfile[],
): Each[] {
  if (words.some((word) => agreeWords.has(word))) {
    const found = candidates.filter(({ kind }) => agreeKinds.has(kind));
    // Keys without a partner do not match; two different totals then follow from them.
    return found.some(({ kind }) => kind === 'join_only') ? found.filter(({ kind }) => kind !== 'join_difference') : found;
  }
  const all = tables.flatMap(measures);
  if (words.some((word, i) => perWords.has(word) && isQuantityWord(words[i + 1] ?? '', all)))
    return candidates.filter(({ kind }) => kind === 'ratio' || kind === 'asked_ratio' || !measureKinds.has(kind));
  if (words.some((word) => itemWords.has(word))) {
    const named = groupsNamedIn(words.filter((word) => !itemWords.has(word)));
    const isByOther = ({ kind, text, columns }: Candidate) =>
      kind === 'group' && named(columns).some((name) => text.startsWith(`By ${safe(name)},`));
    if (candidates.some(isByItem))
      return withValues(words, candidates, tables).filter((each) => isByItem(each) || isByOther(each) || computedKinds.has(each.kind));
  }
  const noTrend = words.some((word) => episodeWords.has(word));
  const wanted = measuresAsked(words, tables);
  const groupsOf = groupsNamedIn(words);
  return withValues(words, candidates, tables).filter(({ kind, text, columns }) => {
    const groups = groupsOf(columns);
    if (kind === 'group' && groups.length > 0 && !groups.some((name) => text.includes(safe(name)))) return false;
    if (noTrend && kind === 'trend') return false;
    if (wanted.size === 0 || !measureKinds.has(kind)) return true;
    const named = all.filter(({ name }) => text.includes(safe(name)));
    return named.some(({ name }) => wanted.has(name));
  });
}

/** Without the number of entries of records whose value is computed: it answers only "how many". */
function withValues<Each extends Candidate>(
  words: readonly string[],
  candidates: readonly Each[],
  tables: readonly TableProfile[],
): readonly Each[] {
  const valued = tables.filter(({ columns }) => columns.some(({ derived }) => derived === true));
  const counts = tables.flatMap(({ name, columns }) =>
    valued.some((table) => table.name.startsWith(`${name}: `)) ? columns.filter((column) => column.name.startsWith('number of ')) : [],
  );
  if (counts.length === 0 || words.includes('many')) return candidates;
  return candidates.filter(({ kind, text }) => !figureKinds.has(kind) || !counts.some(({ name }) => text.includes(safe(name))));
}

/** "What is the cellar worth?" asks for money, which no number of bottles answers. */
export function asksWorth(words: readonly string[]): boolean {
  return words.some((word) => worthWords.has(word));
}

/** Whether a value was computed, or a column may contain one. */
export function hasValue(candidates: readonly Finding[], tables: readonly TableProfile[]): boolean {
  if (candidates.some(({ kind }) => valueKinds.has(kind))) return true;
  const numeric = tables.flatMap(measures);
  // The prices of a single table may be those of its rows.
  return numeric.some(
    (column) =>
      column.derived === true ||
      (isMoney(column) && (addsUp(column) || tables.length === 1)) ||
      nameTokens(column.name).some((token) => amountNames.has(token)),
  );
}

/** The names of the text columns that a question names, for each set of columns once. */
function groupsNamedIn(words: readonly string[]) {
  const known = new Map<readonly ColumnProfile[], readonly string[]>();
  const long = words.filter((word) => word.length > 2);
  return (columns: readonly ColumnProfile[]): readonly string[] => {
    const found =
      known.get(columns) ??
      long.map((word) => columnFor(word, columns)).flatMap((column) => (column?.type === 'text' ? [column.name] : []));
    known.set(columns, found);
    return found;
  };
}

/** "By sku, …" of the lines of orders. */
function isByItem({ kind, text, columns }: Candidate): boolean {
  const items = columns.filter(({ name }) => nameTokens(name).length > 0 && nameTokens(name).every((token) => itemNames.has(token)));
  return kind === 'group' && items.some(({ name }) => text.startsWith(`By ${safe(name)},`) || text.includes(` by ${safe(name)}:`));
}

/** "per kilo": a unit, or a column of numbers. */
function isQuantityWord(word: string, columns: readonly ColumnProfile[]): boolean {
  return units.has(word) || (word.length > 2 && columnFor(word, columns) !== undefined);
}

/** The names of the columns that words for money or for use mean; empty if the tables have none or more than one. */
function measuresAsked(words: readonly string[], tables: readonly TableProfile[]): ReadonlySet<string> {
  if (words.some((word) => useWords.has(word))) {
    const used = tables.flatMap(measures).filter(({ name }) => nameTokens(name).some((token) => useNames.has(token)));
    if (used.length === 1) return new Set([used[0]!.name]);
  }
  if (!words.some((word) => moneyWords.has(word))) return new Set();
  const amounts = tables.flatMap(measures).filter((column) => addsUp(column) && isMoney(column));
  const computed = tables.flatMap(measures).filter(({ derived }) => derived === true);
  const [only, ...more] = computed.length > 0 ? computed : amounts;
  return new Set(only === undefined || more.length > 0 ? [] : [only.name]);
}

/** "refunds" and "refunded", "cancelled" and "cancelling". */
function stem(word: string): string {
  return word.replace(/(?:ing|ed|es|s|e)$/, '');
}
