/** The columns of a table in memory, read once by their plans: texts, numbers (NaN if missing) and dates (ms, NaN if missing). */
import { cellText, isMissing } from './cell.ts';
import { type ColumnPlan, readNumber } from './column-evidence.ts';
import { eventDates, isQuantity } from './plan-figures.ts';
import type { Rows } from './rows.ts';
import { spellingsOf } from './spellings.ts';

const maxTextChars = 2000;
const shownChars = 40;
const maxContextColumns = 6;
/** Different names for each key, where names are told instead of keys. */
const minOfKey = 0.95;

export class ColumnsInMemory {
  readonly plans: readonly ColumnPlan[];
  readonly rows: Rows;
  readonly count: number;
  private readonly textsByColumn = new Map<number, string[]>();
  private readonly numbersByColumn = new Map<number, Float64Array>();
  private readonly datesByColumn = new Map<number, Float64Array>();
  private readonly labelColumn: ColumnPlan | undefined;
  private context: readonly ColumnPlan[] | undefined;
  /** Columns of the record that each entry of a list belongs to. */
  private readonly inherited: readonly string[];

  constructor(rows: Rows, plans: readonly ColumnPlan[], inherited: readonly string[] = []) {
    this.inherited = inherited;
    this.rows = rows;
    this.plans = plans;
    this.count = rows.cells.length;
    this.labelColumn = this.chooseLabel([]);
  }

  /** Trimmed; '' for a missing cell. Spellings of one value are one text, so that all findings by group agree. */
  texts(plan: ColumnPlan): string[] {
    let texts = this.textsByColumn.get(plan.index);
    if (texts === undefined) {
      const names = spellingsOf(plan);
      texts = this.written(plan).map((text) => names.get(text) ?? text);
      this.textsByColumn.set(plan.index, texts);
    }
    return texts;
  }

  /** As `texts`, but each in its own spelling: for comparing cells exactly. */
  written({ index }: ColumnPlan): string[] {
    return this.rows.cells.map((cells) => (isMissing(cells[index] ?? null) ? '' : cellText(cells[index]!, maxTextChars)));
  }

  numbers(plan: ColumnPlan): Float64Array {
    let numbers = this.numbersByColumn.get(plan.index);
    if (numbers === undefined) {
      numbers = Float64Array.from(this.rows.cells, (cells) => readNumber(plan, cells[plan.index] ?? null)?.value ?? Number.NaN);
      this.numbersByColumn.set(plan.index, numbers);
    }
    return numbers;
  }

  dates(plan: ColumnPlan): Float64Array {
    let dates = this.datesByColumn.get(plan.index);
    if (dates === undefined) {
      dates = Float64Array.from(this.rows.cells, (cells) => plan.readDate(cells[plan.index] ?? null)?.ms ?? Number.NaN);
      this.datesByColumn.set(plan.index, dates);
    }
    return dates;
  }

  quantities(): ColumnPlan[] {
    return this.plans.filter(({ reads }) => reads === 'number');
  }

  row(at: number): number {
    return this.rows.numbers[at]!;
  }

  /** "row 5 (INV-17)", with the row's name if a column has names. */
  rowName(at: number): string {
    const label = this.label(at);
    return label === '' ? `row ${this.row(at)}` : `row ${this.row(at)} (${label})`;
  }

  /** "row 5 (INV-17)", or, without names, with what tells the rows apart best: "row 5 (2024-03-01, Berg)". */
  rowInWords(at: number): string {
    if (this.labelColumn !== undefined) return this.rowName(at);
    const entry = this.entryInWords(at);
    if (entry !== '') return `row ${this.row(at)} (${entry})`;
    this.context ??= this.chooseContext();
    const parts = this.context.map((plan) => cellText(this.texts(plan)[at]!, shownChars));
    const nonEmpty = parts.filter((text) => text !== '');
    return nonEmpty.length === 0 ? `row ${this.row(at)}` : `row ${this.row(at)} (${nonEmpty.join(', ')})`;
  }

  /** The first date and the text column that tells most rows of it apart; without a date two text columns. */
  private chooseContext(): ColumnPlan[] {
    const date = eventDates(this.plans, this.count)[0] ?? this.plans.find(({ reads }) => reads === 'date');
    const texts = this.plans
      .filter(({ reads, type, values, meanChars }) => reads === 'text' && type === 'text' && values.distinct > 1 && meanChars <= shownChars)
      .filter((plan) => !isClock(this.texts(plan).find((text) => text !== '') ?? ''))
      .slice(0, maxContextColumns);
    const chosen = date === undefined ? [] : [date];
    const kinds = (plans: readonly ColumnPlan[]) => {
      const columns = plans.map((plan) => this.texts(plan));
      return new Set(this.rows.cells.map((_, at) => columns.map((own) => own[at]).join('\u0000'))).size;
    };
    let apart = chosen.length === 0 ? 1 : kinds(chosen);
    while (chosen.length < 2) {
      const counts = texts.map((plan) => (chosen.includes(plan) ? 0 : kinds([...chosen, plan])));
      const most = Math.max(0, ...counts);
      if (most === 0 || (most <= apart && chosen.length > (date === undefined ? 0 : 1))) break;
      chosen.push(texts[counts.indexOf(most)]!);
      apart = most;
    }
    return chosen;
  }

  /** The record of an entry and what it is of: "00101, Business card, qty 200"; empty in a table that is no list of records. */
  private entryInWords(at: number): string {
    const record = this.plans.find(({ name, reads, values }) => reads === 'text' && this.inherited[0] === name && values.distinct > 1);
    const own = this.plans.filter(({ name }) => !this.inherited.includes(name));
    const item = own.find(
      ({ reads, type, values, meanChars }) => reads === 'text' && type === 'text' && values.distinct > 1 && meanChars <= shownChars,
    );
    if (record === undefined) return '';
    const count = own.find(({ name, reads }) => reads === 'number' && isQuantity(name));
    const texts = [record, item].flatMap((plan) => (plan === undefined ? [] : [cellText(this.texts(plan)[at]!, shownChars)]));
    const written = count === undefined ? '' : cellText(this.written(count)[at]!, shownChars);
    return [...texts, written === '' ? '' : `${count!.name} ${written}`].filter((text) => text !== '').join(', ');
  }

  /** The best identification of the row: its name, otherwise its date, otherwise its number. */
  periodOrRow(at: number): string {
    const date = this.labelColumn === undefined ? this.plans.find(({ reads }) => reads === 'date') : undefined;
    const text = date === undefined ? '' : this.texts(date)[at]!;
    return text === '' ? this.rowName(at) : `${text} (row ${this.row(at)})`;
  }

  label(at: number): string {
    return this.labelColumn === undefined ? '' : cellText(this.texts(this.labelColumn)[at]!, shownChars);
  }

  get labelPlan(): ColumnPlan | undefined {
    return this.labelColumn;
  }

  /** The column with names beside the given key columns. */
  nameBeside(keys: readonly ColumnPlan[]): ColumnPlan | undefined {
    if (this.labelColumn !== undefined && !keys.includes(this.labelColumn)) return this.labelColumn;
    const found = this.chooseLabel(keys);
    return found?.type === 'text' && found.role !== 'identifier' && !found.codes ? found : undefined;
  }

  /** The column with the rows' names: nearly all different, short, and not dates. */
  private chooseLabel(except: readonly ColumnPlan[]): ColumnPlan | undefined {
    const naming = this.plans.filter((plan) => {
      const { reads, filled, values, meanChars, type } = plan;
      return (
        !except.includes(plan) &&
        reads === 'text' &&
        filled >= this.count * 0.8 &&
        meanChars <= 40 &&
        values.distinct >= filled * 0.8 &&
        (type === 'text' || type === 'integer')
      );
    });
    const named = naming.filter((plan) => !isClock(this.texts(plan).find((text) => text !== '') ?? ''));
    const name = named.find(({ role, type }) => role !== 'identifier' && type === 'text');
    const key = named.find(({ role }) => role === 'identifier');
    // A name that repeats where the key does not, such as the shelf of an article, does not tell the rows apart.
    return name !== undefined && key !== undefined && name.values.distinct < key.values.distinct * minOfKey ? key : (name ?? named[0]);
  }
}

/** The nearest number to the written one, without binary rounding noise. */
export function clean(value: number): number {
  return Number(value.toPrecision(12));
}

/** A time such as 07:45, or a duration, does not name a row. */
function isClock(text: string): boolean {
  return /^\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?$/.test(text);
}
