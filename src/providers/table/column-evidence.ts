/** What the first reading finds out about one column, and the decision about its type. */
import { type Cell, cellText, isFormula, isMissing, isPlaceholder, parseBoolean } from './cell.ts';
import { inUtc, type Order, readCompact, readInOrder, readStamp, stampRange } from './column-dates.ts';
import { type ColumnRole, has, nameTokens, roleOf } from './column-role.ts';
import { type ParsedDate, parseDate } from './date-format.ts';
import { dateWarnings } from './date-warnings.ts';
import { countKey, FrequentValues } from './frequent-values.ts';
import { isDigitCode, type NumberStyle, type ParsedNumber, parseEither, parseNumber } from './number-format.ts';
import type { ColumnType } from './table-profile.ts';

export type ColumnPlan = {
  name: string;
  index: number;
  type: ColumnType;
  role: ColumnRole;
  /** How cells of a mixed column are read; otherwise equal to the type. */
  reads: 'number' | 'date' | 'boolean' | 'text';
  style: NumberStyle;
  filled: number;
  values: FrequentValues;
  /** Number of cells that do not have the column's type. */
  unlike: number;
  examples: string[];
  /** Texts in place of a number or a date, including placeholders such as n/a, with counts. */
  leftOut: { value: string; count: number }[];
  /** Cells with such a text; `leftOut` holds the first texts only. */
  leftOutCells: number;
  unit: string;
  /** Cells of each unit, `''` for none; more than one entry if units are mixed. */
  units: ReadonlyMap<string, number>;
  /** Number of cells in each notation of dates. */
  dateForms: ReadonlyMap<string, number>;
  /** Number of times with each written offset from UTC ('' for none), in minutes. If there are several, all are converted to UTC. */
  offsets: ReadonlyMap<number | '', number>;
  /** Some dates have a time of day. */
  timed: boolean;
  /** The times are in UTC, as written or after their conversion; otherwise in a zone that is not known or not converted. */
  inUtc: boolean;
  /** The order of day and month in dates like 03/04/2024 is unknown. */
  dateDoubt: boolean;
  /** The cell as a date; null if it is not a date, or is ambiguous. */
  readDate: (cell: Cell) => ParsedDate | null;
  /** First and last date in ms; only for dates. */
  range: { firstMs: number; lastMs: number } | null;
  /** Of all numbers; NaN without numbers. */
  min: number;
  max: number;
  /** Some cells are digits but not quantities: with leading zeros, or too long. */
  codes: boolean;
  formulas: number;
  /** Number of cells in each number style that the other style cannot read. */
  styles: { dot: number; comma: number };
  /** Mean length of non-empty text cells. */
  meanChars: number;
};

const examplesKept = 3;
const maxExampleChars = 30;
const unitsKept = 8;
const leftOutKept = 12;
/** With at least this share of numbers (or dates) a column has that type with exceptions; otherwise it is text. */
const mixedShare = 0.5;
const timeWords = new Set('timestamp ts time epoch date created updated at unixtime datetime datum zeit day tag'.split(' '));

export class ColumnEvidence {
  private readonly values: FrequentValues;
  private readonly units = new Map<string, number>();
  private readonly leftOut = new Map<string, number>();
  private leftOutCells = 0;
  private readonly forms = new Map<string, number>();
  private readonly offsets = new Map<number | '', number>();
  private filled = 0;
  private chars = 0;
  private booleans = 0;
  private codes = 0;
  private plainIntegers = 0;
  private monthNumbers = 0;
  private formulas = 0;
  /** Cells with decimals, by their number style. */
  private fractions = { dot: 0, comma: 0 };
  private bounds = { dot: { min: Infinity, max: -Infinity }, comma: { min: Infinity, max: -Infinity } };
  /** Cells that both styles accept but read differently, such as 1,234. */
  private ambiguous = 0;
  /** Of these, by their mark. */
  private twoWays = { dot: 0, comma: 0 };
  /** Of the numbers written without any mark; the smallest that is not 0. */
  private unmarkedMax = -Infinity;
  private unmarkedMin = Infinity;
  private numbers = 0;
  private compact = 0;
  private dates = 0;
  private orderedDates = 0;
  private dayFirst = 0;
  private monthFirst = 0;
  private timed = false;
  /** Numbers without a unit in a column with one unit. */
  private bare = 0;
  /** Numbers with a one-letter unit. */
  private letterUnits = 0;
  /** Dates that are different days in the two orders. */
  private twofold = 0;
  private twofoldExample = '';
  private ranges = { day_first: newRange(), month_first: newRange() };
  private utcRange = newRange();
  private examples = { number: [] as string[], date: [] as string[], other: [] as string[] };
  dots = 0;
  commas = 0;
  /** Some dates are written 31.12.2024, as in countries with a decimal comma. */
  get dottedDates(): boolean {
    return [...this.forms.keys()].some((form) => form.startsWith('DD.MM.'));
  }

  /** The number style that the column itself shows; null if it shows none. */
  get leaning(): NumberStyle | null {
    if (this.dots !== this.commas) return this.dots > this.commas ? 'dot' : 'comma';
    // 941 beside 1.007, and no 1007: the mark separates thousands.
    const isContinued = this.unmarkedMax >= 100 && this.unmarkedMax < 1000;
    // 3,631 among whole numbers that are all larger than 999, as in a list of meter readings.
    const isAmongLarger = this.unmarkedMin >= 1000 && this.unmarkedMin < Infinity;
    const grouped = this.ambiguous > 0 && (isContinued || isAmongLarger);
    if (!grouped || this.twoWays.dot > 0 === this.twoWays.comma > 0) return null;
    return this.twoWays.dot > 0 ? 'comma' : 'dot';
  }

  /** All marks are dots before three digits. */
  get dottedGroups(): boolean {
    return this.twoWays.dot >= 3 && this.twoWays.comma === 0 && this.dots === 0 && this.commas === 0;
  }

  constructor(distinctLimit: number) {
    this.values = new FrequentValues(distinctLimit);
  }

  add(cell: Cell): void {
    if (isMissing(cell)) {
      if (isPlaceholder(cell)) this.leaveOut(cell);
      return;
    }
    this.filled++;
    if (typeof cell === 'string') this.chars += cell.length;
    this.values.add(countKey(cell));
    if (isFormula(cell)) this.formulas++;
    const kind = this.looksNumeric(cell) && this.addNumber(cell) ? 'number' : this.addDate(cell) ? 'date' : 'other';
    if (kind === 'number') this.addMonthNumber(cell);
    if (this.examples[kind].length < examplesKept) this.examples[kind].push(cellText(cell, 40));
    if (kind !== 'other') return;
    this.leaveOut(cell);
    if (parseBoolean(cell) !== null) this.booleans++;
    else if (isDigitCode(cell)) this.codes++;
  }

  decide(name: string, index: number, fileStyle: NumberStyle, warnings: string[]): ColumnPlan {
    const style = this.leaning ?? fileStyle;
    const { min, max } = this.numbers > 0 ? this.bounds[style] : { min: Number.NaN, max: Number.NaN };
    const order = this.order(fileStyle);
    const numeric = this.kind(this.fractions[style] > 0);
    const stamp = numeric.reads === 'number' && numeric.type === 'integer' ? this.stampOf(name, min, max) : null;
    const kind: Kind = stamp === null ? numeric : { type: 'date', reads: 'date', like: this.filled };
    const units = this.unitCounts(kind);
    const unit = kind.reads === 'number' && units.size === 1 ? [...units.keys()][0]! : '';
    if (this.bare > 0 && unit !== '')
      warnings.push(
        `Column ${name}: ${kind.like - this.bare} of ${kind.like} numbers have the unit ${unit}; the others have none and are taken as ${unit} too.`,
      );
    const role = roleOf(name, {
      type: kind.type,
      unit,
      filled: this.filled,
      distinct: this.values.distinct,
      index,
      min: kind.reads === 'number' ? min : Number.NaN,
      max,
      wholeNumbers: this.fractions[style] === 0,
    });
    const quantity = role === 'measure' || role === 'rate' || role === 'level' || role === 'unclear';
    const reads = kind.reads === 'number' && !quantity ? 'text' : kind.reads;
    if (reads === 'number' && this.ambiguous > 0 && this.leaning === null)
      warnings.push(`Column ${name}: numbers like 1,234 or 1.234 could mean two things; the ${style} is read as the decimal mark.`);
    if (reads === 'date' && stamp === null)
      warnings.push(
        ...dateWarnings(name, order, {
          twofold: this.twofold,
          example: this.twofoldExample,
          dayFirst: this.dayFirst,
          monthFirst: this.monthFirst,
        }),
      );
    const zoned = this.offsets.size > 1;
    const readDate = stamp ?? (zoned ? (cell: Cell) => inUtc(readInOrder(cell, order)) : (cell: Cell) => readInOrder(cell, order));
    const orderOfRange = order.kind === 'month_first' ? 'month_first' : 'day_first';
    return {
      name,
      index,
      type: kind.type,
      role,
      reads,
      style,
      filled: this.filled,
      values: this.values,
      unlike: this.filled - kind.like,
      examples: kind.type === 'mixed' ? this.unlikeExamples(reads) : [],
      leftOut: reads === 'number' || reads === 'date' ? this.left(kind.type) : [],
      leftOutCells: this.leftOutCells,
      unit,
      units,
      dateForms: this.forms,
      offsets: this.offsets,
      inUtc: stamp !== null || zoned || this.offsets.has(0),
      timed: stamp !== null ? stamp !== readCompact : this.timed,
      dateDoubt: reads === 'date' && stamp === null && order.kind === 'unknown',
      readDate,
      range: reads === 'date' ? (stamp !== null ? stampRange(stamp, min, max) : zoned ? this.utcRange : this.ranges[orderOfRange]) : null,
      min,
      max,
      codes: this.codes > 0,
      formulas: this.formulas,
      styles: { dot: this.dots, comma: this.commas },
      meanChars: this.filled === 0 ? 0 : this.chars / this.filled,
    };
  }

  private kind(fractions: boolean): Kind {
    const filled = this.filled;
    // "12A" is a flat among flats; it is amperes only if the whole column is numeric.
    const numbers = this.numbers === filled ? filled : this.numbers - this.letterUnits;
    const dates = this.orderedDates + this.dates;
    if (dates > 0 && this.monthNumbers > 0 && dates + this.monthNumbers === filled) return { type: 'date', reads: 'date', like: filled };
    if (filled === 0) return { type: 'empty', reads: 'text', like: 0 };
    if (this.codes > 0 && this.codes + this.plainIntegers === filled) return { type: 'text', reads: 'text', like: filled };
    if (numbers === filled) return { type: fractions ? 'number' : 'integer', reads: 'number', like: filled };
    if (dates === filled) return { type: 'date', reads: 'date', like: filled };
    if (this.booleans === filled) return { type: 'boolean', reads: 'boolean', like: filled };
    if (numbers > filled * mixedShare && this.codes <= filled * 0.02) return { type: 'mixed', reads: 'number', like: numbers };
    if (dates + this.compact > filled * mixedShare) return { type: 'mixed', reads: 'date', like: dates };
    return { type: 'text', reads: 'text', like: filled };
  }

  /** Seconds or milliseconds since 1970, or 20240305, in a column with a time-related name. */
  private stampOf(name: string, min: number, max: number): ((cell: Cell) => ParsedDate | null) | null {
    if (!has(nameTokens(name), timeWords) || this.codes > 0) return null;
    if (this.compact === this.filled) return readCompact;
    if (min >= 9e8 && max < 2.3e9) return readStamp(1000);
    return min >= 9e11 && max < 2.3e12 ? readStamp(1) : null;
  }

  private unitCounts({ reads, like }: Kind): Map<string, number> {
    if (reads !== 'number' || this.units.size === 0) return new Map();
    const bare = like - [...this.units.values()].reduce((sum, count) => sum + count, 0);
    const [only] = this.units.keys();
    if (bare > 0 && this.units.size === 1 && only !== '%') {
      this.bare = bare;
      return new Map([[only!, like]]);
    }
    return bare > 0 ? new Map([...this.units, ['', bare]]) : new Map(this.units);
  }

  private left(type: ColumnType): { value: string; count: number }[] {
    if (type === 'integer' || type === 'number' || type === 'date' || type === 'mixed')
      return [...this.leftOut].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
    return [];
  }

  private unlikeExamples(reads: ColumnPlan['reads']): string[] {
    const { other, number, date } = this.examples;
    return [...other, ...(reads === 'date' ? number : date)].slice(0, examplesKept);
  }

  private order(fileStyle: NumberStyle): Order {
    if (this.dayFirst > 0 && this.monthFirst > 0) return { kind: 'mixed' };
    if (this.dayFirst > 0) return { kind: 'day_first' };
    if (this.monthFirst > 0 || this.twofold === 0) return { kind: 'month_first' };
    const { day_first: day, month_first: month } = this.ranges;
    const dayOrdered = day.falls === 0 || day.rises === 0;
    const monthOrdered = month.falls === 0 || month.rises === 0;
    const dated = this.dates + this.orderedDates;
    if ((this.twofold >= 4 || dated >= 6) && dayOrdered !== monthOrdered)
      return { kind: dayOrdered ? 'day_first' : 'month_first', because: 'order' };
    if (fileStyle === 'comma') return { kind: 'day_first', because: 'style' };
    // With the wrong order, a log of a few days would spread over months, on a few days of each.
    const [daySpan, monthSpan] = [day.lastMs - day.firstMs, month.lastMs - month.firstMs];
    if (this.timed && this.twofold >= 8 && Math.min(daySpan, monthSpan) < Math.max(daySpan, monthSpan) * 0.2)
      return { kind: daySpan < monthSpan ? 'day_first' : 'month_first', because: 'span' };
    return { kind: 'unknown' };
  }

  /** A cheap check before the expensive one. */
  private looksNumeric(cell: Cell): boolean {
    if (typeof cell !== 'string') return typeof cell === 'number';
    for (let i = 0; i < Math.min(cell.length, 10); i++) {
      const code = cell.charCodeAt(i);
      if (code >= 48 && code <= 57) return true;
    }
    return false;
  }

  private addNumber(cell: Cell): boolean {
    const dot = parseNumber(cell, 'dot');
    // Digits alone have the same value in both styles.
    const plain = typeof cell === 'number' || (dot !== null && !cellHasMark(cell as string));
    const comma = plain ? dot : parseNumber(cell, 'comma');
    const parsed = dot ?? comma;
    if (parsed === null) return false;
    this.numbers++;
    if (plain && parsed.decimals === 0 && parsed.unit === '') {
      this.plainIntegers++;
      if (readCompact(cell) !== null) this.compact++;
    }
    if (dot !== null && dot.decimals > 0) this.fractions.dot++;
    if (comma !== null && comma.decimals > 0) this.fractions.comma++;
    if (dot === null && comma !== null && comma.decimals > 0) this.fractions.dot++;
    if (comma === null && dot !== null && dot.decimals > 0) this.fractions.comma++;
    widenBounds(this.bounds.dot, dot ?? comma);
    widenBounds(this.bounds.comma, comma ?? dot);
    if (comma === null) this.dots++;
    else if (dot === null) this.commas++;
    else if (dot.value !== comma.value) {
      this.ambiguous++;
      this.twoWays[String(cell).includes('.') ? 'dot' : 'comma']++;
    } else if (!cellHasMark(String(cell))) {
      this.unmarkedMax = Math.max(this.unmarkedMax, dot.value);
      if (dot.value !== 0) this.unmarkedMin = Math.min(this.unmarkedMin, dot.value);
    }
    const { unit } = parsed;
    if (unit.length === 1 && /[A-Za-z]/.test(unit)) this.letterUnits++;
    if (unit !== '' && (this.units.has(unit) || this.units.size < unitsKept)) this.units.set(unit, (this.units.get(unit) ?? 0) + 1);
    return true;
  }

  private addDate(cell: Cell): boolean {
    const monthFirst = parseDate(cell, 'month_first');
    const dayFirst = monthFirst?.ordered === true ? monthFirst : parseDate(cell, 'day_first');
    const parsed = monthFirst ?? dayFirst;
    if (parsed === null) return false;
    if (this.forms.has(parsed.form) || this.forms.size < unitsKept) this.forms.set(parsed.form, (this.forms.get(parsed.form) ?? 0) + 1);
    this.timed ||= parsed.hasTime;
    if (parsed.hasTime && parsed.offset !== undefined)
      if (this.offsets.has(parsed.offset) || this.offsets.size < unitsKept)
        this.offsets.set(parsed.offset, (this.offsets.get(parsed.offset) ?? 0) + 1);
    widen(this.utcRange, inUtc(parsed)!.ms);
    if (parsed.ordered) this.orderedDates++;
    else this.dates++;
    if (monthFirst !== null) widen(this.ranges.month_first, monthFirst.ms);
    if (dayFirst !== null) widen(this.ranges.day_first, dayFirst.ms);
    if (monthFirst === null) this.dayFirst++;
    else if (dayFirst === null) this.monthFirst++;
    else if (monthFirst.ms !== dayFirst.ms) {
      this.twofold++;
      if (this.twofoldExample === '') this.twofoldExample = cellText(cell, maxExampleChars);
    }
    return true;
  }

  /** 10.2024 is also a number, in a column of such months. */
  private addMonthNumber(cell: Cell): void {
    if (typeof cell !== 'string' || cell.length > 8 || !/^\s?(?:0?[1-9]|1[0-2])[./](?:19|20)\d\d\s?$/.test(cell)) return;
    const parsed = parseDate(cell, 'month_first');
    if (parsed === null) return;
    this.monthNumbers++;
    this.forms.set(parsed.form, (this.forms.get(parsed.form) ?? 0) + 1);
    for (const range of [this.ranges.month_first, this.ranges.day_first, this.utcRange]) widen(range, parsed.ms);
  }

  private leaveOut(cell: Cell): void {
    const text = cellText(cell, 30);
    this.leftOutCells++;
    if (this.leftOut.has(text) || this.leftOut.size < leftOutKept) this.leftOut.set(text, (this.leftOut.get(text) ?? 0) + 1);
  }
}

/** The cell as a number by the column's plan. */
export function readNumber(plan: ColumnPlan, cell: Cell): ParsedNumber | null {
  return isMissing(cell) ? null : parseEither(cell, plan.style);
}

type Kind = { type: ColumnType; reads: ColumnPlan['reads']; like: number };
type Range = { firstMs: number; lastMs: number; previousMs: number; rises: number; falls: number };

function newRange(): Range {
  return { firstMs: Infinity, lastMs: -Infinity, previousMs: Number.NaN, rises: 0, falls: 0 };
}

function widen(range: Range, ms: number): void {
  if (ms < range.firstMs) range.firstMs = ms;
  if (ms > range.lastMs) range.lastMs = ms;
  if (ms > range.previousMs) range.rises++;
  if (ms < range.previousMs) range.falls++;
  range.previousMs = ms;
}

function widenBounds(bounds: { min: number; max: number }, parsed: ParsedNumber | null): void {
  if (parsed === null) return;
  if (parsed.value < bounds.min) bounds.min = parsed.value;
  if (parsed.value > bounds.max) bounds.max = parsed.value;
}

function cellHasMark(text: string): boolean {
  return text.includes('.') || text.includes(',');
}
