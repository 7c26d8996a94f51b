/** What a careful reader says about the formulas of a table: which totals are not what they seem, and what they should be. */
import { cellText, quoted } from '../cell.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import { near } from '../summed-rows.ts';
import type { Finding } from '../table-profile.ts';
import { addressOf } from './address.ts';
import { type At, numberInText } from './evaluate.ts';
import { cellKey, keyPlace } from './sheet.ts';
import type { Problem, SheetFormulas } from './sheet-formulas.ts';
import type { SheetTable } from './sheet-tables.ts';

const cellsNamed = 6;
const labelChars = 60;
const totalsNamed = 4;
/** So many cells are named one by one. */
const minRun = 3;

export type FormulaFindings = {
  findings: Finding[];
  /** Values of data rows for the figures, by the key of the cell, in place of the stored ones. */
  values: Map<number, number>;
};

export function formulaFindings(table: SheetTable, formulas: SheetFormulas): FormulaFindings {
  const texts = new Texts(table, formulas);
  const values = valuesOfRows(table, formulas);
  const findings = [
    ...texts.problems('left_out', 'formula_left_out'),
    ...texts.problems('typed', 'formula_typed'),
    ...texts.problems('text', 'formula_text'),
    ...texts.problems('stale', 'formula_stale'),
    ...texts.problems('twice', 'formula_twice'),
    ...texts.problems('differs', 'formula_differs'),
    ...texts.problems('differs_equal', 'formula_differs'),
    ...texts.problems('typed_equal', 'formula_typed'),
    ...texts.wrongTotals(),
    ...texts.empty(),
    ...texts.errors(),
  ];
  return {
    findings: [
      ...texts.totals(),
      ...texts.verdict(values, findings.length),
      ...findings,
      ...texts.ranks(values),
      ...texts.computedColumns(),
      ...texts.counted(findings.length),
      ...texts.unchecked(),
    ],
    values,
  };
}

/** Without relations between columns that were computed again: they hold for the computed values, not for those of the file. */
export function ofStoredValues(findings: readonly Finding[], recomputed: readonly string[] = []): Finding[] {
  return findings.filter(({ kind, text }) => !kind.startsWith('relation') || !recomputed.some((column) => text.includes(column)));
}

/** Right values of rows where they differ from the shown ones, and values of formulas that the file does not store. */
function valuesOfRows({ left, names }: SheetTable, formulas: SheetFormulas): Map<number, number> {
  const values = new Map<number, number>();
  // A share of a wrong total is wrong too, but the cells of its own row are not: it stays as it is.
  const direct = new Set(
    formulas.problems.flatMap((problem) =>
      problem.kind === 'text'
        ? problem.readBy.map(({ row, column }) => cellKey(row, column))
        : problem.kind === 'left_out' || problem.kind === 'stale' || (problem.kind === 'typed' && formulas.isReplaced(problem))
          ? [cellKey(problem.row, problem.column)]
          : [],
    ),
  );
  const isInside = ({ row, column }: At) => column >= left && column < left + names.length && !formulas.totalRows.has(row);
  for (const key of [...direct, ...formulas.withoutValue]) {
    const at = keyPlace(key);
    const value = isInside(at) ? formulas.rightValue(at) : null;
    const shown = formulas.value(at);
    if (value !== null && (shown === null || (typeof shown === 'number' && !near(shown, value)))) values.set(key, value);
  }
  return values;
}

class Texts {
  private readonly table: SheetTable;
  private readonly formulas: SheetFormulas;
  /** The column that names the rows: the texts with the most different values. */
  private readonly labelColumn: number;

  constructor(table: SheetTable, formulas: SheetFormulas) {
    this.table = table;
    this.formulas = formulas;
    const distinct = table.names.map((_, i) => {
      const texts = formulas.dataRows.map(({ cells }) => cells[table.left - 1 + i]).filter((cell) => typeof cell === 'string');
      return new Set(texts).size;
    });
    this.labelColumn = table.left + distinct.indexOf(Math.max(...distinct, 0));
  }

  /** Rows that add up others. */
  totals(): Finding[] {
    const rows = [...this.formulas.summedRows];
    if (rows.length === 0) return [];
    const named = listed(
      rows.map((row) => `"${this.label(row)}" (row ${row - this.table.headerRow})`),
      cellsNamed,
    );
    return [
      {
        kind: 'total',
        text: `${named} ${rows.length === 1 ? 'adds' : 'add'} up other rows by formula and ${rows.length === 1 ? 'is' : 'are'} left out of all figures.`,
      },
    ];
  }

  problems(kind: Problem['kind'], findingKind: string): Finding[] {
    const found = this.formulas.problems.filter((problem) => problem.kind === kind);
    const shown = found.slice(0, cellsNamed).map((problem) => ({ kind: findingKind, text: this.problem(problem) }));
    if (found.length > cellsNamed)
      shown.push({
        kind: findingKind,
        text: `The same holds for ${countOf(found.length - cellsNamed, 'more cell')}: ${listed(found.slice(cellsNamed).map(addressOf_), cellsNamed)}.`,
      });
    return shown;
  }

  /** Totals that are wrong because of the cells that they add up. */
  wrongTotals(): Finding[] {
    const { formulas } = this;
    const said = new Set(
      formulas.problems.filter(({ kind }) => kind === 'twice' || kind === 'left_out').map(({ row, column }) => cellKey(row, column)),
    );
    const findings: Finding[] = [];
    for (const row of formulas.totalRows) {
      const wrong = this.columns().flatMap((column) => {
        const at = { row, column };
        const [shown, right] = [formulas.value(at), said.has(cellKey(row, column)) ? null : formulas.rightValue(at)];
        return typeof shown === 'number' && right !== null && !near(shown, right)
          ? [
              `${formulas.name(column)} (${addressOf(row, column)}) shows ${exact(shown)} instead of ${exact(right)} (difference ${exact(clean(right - shown))})`,
            ]
          : [];
      });
      if (wrong.length > 0 && findings.length < cellsNamed)
        findings.push({
          kind: 'formula_total',
          text: `Total row "${this.label(row)}": computed from the cells of the rows, ${listed(wrong, cellsNamed)}.`,
        });
    }
    return findings;
  }

  empty(): Finding[] {
    const found = this.formulas.problems.filter((problem) => problem.kind === 'empty');
    return found.slice(0, cellsNamed).map(({ row, column, readBy }) => ({
      kind: 'formula_empty',
      text: `${this.formulas.name(column)} of ${this.label(row)} (${addressOf(row, column)}) is empty: ${this.formulas.name(readBy.column)} in ${addressOf(readBy.row, readBy.column)} (${exactCell(this.formulas.value(readBy))}) is without it.`,
    }));
  }

  errors(): Finding[] {
    const { sheet, left, names } = this.table;
    const [first, last] = [this.table.rows[0]?.number ?? 0, this.table.rows.at(-1)?.number ?? 0];
    const inside = [...sheet.errors]
      .map(keyPlace)
      .filter(({ row, column }) => row >= first && row <= last && column >= left && column < left + names.length);
    if (inside.length === 0) return [];
    const named = inside.map(
      (at) =>
        `${addressOf(at.row, at.column)} (${this.formulas.name(at.column)} of ${this.label(at.row)}: ${cellText(this.formulas.value(at), labelChars)})`,
    );
    return [
      {
        kind: 'formula_error',
        text: `${countOf(inside.length, 'cell')} ${inside.length === 1 ? 'has' : 'have'} an error instead of a value: ${listed(named, cellsNamed)}; the figures are without ${inside.length === 1 ? 'it' : 'them'}.`,
      },
    ];
  }

  /** How many rows of a column have its formula, and which have a typed number. */
  computedColumns(): Finding[] {
    return this.formulas.computedColumns.slice(0, totalsNamed).map(({ column, formula, alike, rows, typed }) => {
      const cells = typed.map((row) => addressOf(row, column));
      const among = alike === rows ? `all ${exact(rows)}` : `${exact(alike)} of ${exact(rows)}`;
      const others = typed.length === 0 ? '' : `; typed in ${typed.length === 1 ? 'is' : 'are'} ${listed(cells, cellsNamed)}`;
      return {
        kind: 'formula_counted',
        text: `${this.formulas.name(column)} is computed in ${among} rows by one formula (${formula} in the first)${others}.`,
      };
    });
  }

  /** How many stored values are right, beside findings on others. */
  counted(others: number): Finding[] {
    const { checked, problems } = this.formulas;
    const stale = problems.filter(({ kind }) => kind === 'stale').length;
    if (others === 0 || checked < 2) return [];
    const which = stale === 0 ? `The ${exact(checked)}` : `${exact(checked - stale)} of the ${exact(checked)}`;
    return [
      {
        kind: 'formula_counted',
        text: `${which} formulas that could be computed again give the stored value${stale === 0 ? 's; what is named above is how they are written or what they read' : ''}.`,
      },
    ];
  }

  unchecked(): Finding[] {
    const { unchecked } = this.formulas;
    if (unchecked === 0) return [];
    return [
      {
        kind: 'formula_unchecked',
        text: `${countOf(unchecked, 'formula')} of the table ${unchecked === 1 ? 'was' : 'were'} not computed again (other functions, other files, or errors): ${unchecked === 1 ? 'its' : 'their'} stored ${unchecked === 1 ? 'value is' : 'values are'} taken as written.`,
      },
    ];
  }

  /** The whole in a sentence. */
  verdict(values: ReadonlyMap<number, number>, others: number): Finding[] {
    const { formulas } = this;
    const none = formulas.withoutValue.size;
    const stored = [...values].filter(([key]) => !formulas.withoutValue.has(key));
    const findings: Finding[] = [];
    if (stored.length > 0) {
      const byColumn = Map.groupBy(stored, ([key]) => keyPlace(key).column);
      const said = [...byColumn].map(
        ([column, cells]) =>
          `${formulas.name(column)} of ${listed(
            cells.map(([key]) => this.label(keyPlace(key).row)),
            cellsNamed,
          )}`,
      );
      findings.push({
        kind: 'formula_verdict',
        text: `The totals of the sheet cannot be trusted as they stand: wrong ${stored.length === 1 ? 'is' : 'are'} ${listed(said, totalsNamed)}${this.followers(stored.length)}. The figures here use the values that the cells of the rows give.`,
      });
    } else if (formulas.problems.some(({ kind }) => kind === 'left_out' || kind === 'twice' || kind === 'typed'))
      findings.push({
        kind: 'formula_verdict',
        text: 'The totals of the sheet cannot be trusted as they stand: see the cells named below.',
      });
    else if (others === 0 && formulas.checked > 0)
      findings.push({
        kind: 'formula_agrees',
        text: `${formulas.checked === 1 ? 'The formula' : `The ${exact(formulas.checked)} formulas`} that could be computed again ${formulas.checked === 1 ? 'agrees' : 'agree'} with the stored ${formulas.checked === 1 ? 'value' : 'values'}, and no sum leaves out a row.`,
      });
    if (none > 0) {
      const open = [...formulas.withoutValue].filter((key) => !formulas.totalRows.has(keyPlace(key).row) && !values.has(key)).length;
      findings.push({
        kind: 'formula_unstored',
        text: `The file stores no value for ${countOf(none, 'formula')}; the figures use what the formulas give${open > 0 ? `, but for ${exact(open)} that could not be computed` : ''}.`,
      });
    }
    return findings;
  }

  /** Who leads by the values as written in the sheet, where that is someone else. */
  ranks(values: ReadonlyMap<number, number>): Finding[] {
    const { formulas } = this;
    const columns = new Set([...values.keys()].filter((key) => !formulas.withoutValue.has(key)).map((key) => keyPlace(key).column));
    return [...columns].flatMap((column) => {
      const rows = formulas.dataRows.flatMap(({ number: row }) => {
        const shown = formulas.value({ row, column });
        return typeof shown === 'number' ? [{ row, shown, right: values.get(cellKey(row, column)) ?? shown }] : [];
      });
      if (rows.length < 3) return [];
      const [byShown, byRight] = [rows.toSorted((a, b) => b.shown - a.shown), rows.toSorted((a, b) => b.right - a.right)];
      const [top, low] = [byRight[0]!, byRight.at(-1)!];
      if (byRight[1]!.right === top.right || byRight.at(-2)!.right === low.right) return [];
      const other =
        byShown[0]!.row === top.row
          ? ''
          : `; by the values as written in the sheet ${this.label(byShown[0]!.row)} (${exact(byShown[0]!.shown)}) would be first`;
      const otherLow =
        byShown.at(-1)!.row === low.row ? '' : `, and ${this.label(byShown.at(-1)!.row)} (${exact(byShown.at(-1)!.shown)}) last`;
      return [
        {
          kind: 'formula_rank',
          text: `By the cells of the rows, ${formulas.name(column)} is largest in ${this.label(top.row)} (${exact(top.right)}) and smallest in ${this.label(low.row)} (${exact(low.right)})${other}${otherLow}.`,
        },
      ];
    });
  }

  /** Total rows with a wrong value. */
  private followers(causes: number): string {
    const { formulas } = this;
    const wrong = [...formulas.totalRows].filter((row) =>
      this.columns().some((column) => {
        const [shown, right] = [formulas.value({ row, column }), formulas.rightValue({ row, column })];
        return typeof shown === 'number' && right !== null && !near(shown, right);
      }),
    );
    return wrong.length === 0
      ? ''
      : `, and with ${causes === 1 ? 'it' : 'them'} the total ${wrong.length === 1 ? 'row' : 'rows'} ${listed(
          wrong.map((row) => `"${this.label(row)}"`),
          totalsNamed,
        )}`;
  }

  private problem(problem: Problem): string {
    const { formulas } = this;
    const cell = addressOf(problem.row, problem.column);
    const what = `${formulas.name(problem.column)} of ${this.label(problem.row)}`;
    switch (problem.kind) {
      case 'left_out': {
        const rows = rowsLeftOut(problem.cells);
        if (rows !== null) {
          const together = problem.cells.reduce((sum, at) => sum + (numberOf(formulas.value(at)) ?? 0), 0);
          const [first, last] = [problem.cells[0]!, problem.cells.at(-1)!];
          return `${what}: ${cell} = ${problem.formula} leaves out ${rows} of the sheet (${addressOf(first.row, first.column)}:${addressOf(last.row, last.column)}, ${this.label(first.row)} to ${this.label(last.row)}; together ${exact(clean(together))}): it shows ${exact(problem.shown)} instead of ${exact(problem.right)}.`;
        }
        const left = problem.cells.map(
          (at) =>
            `${at.row === problem.row ? formulas.name(at.column) : this.label(at.row)} (${addressOf(at.row, at.column)}: ${exactCell(formulas.value(at))})`,
        );
        return `${what}: ${cell} = ${problem.formula} leaves out ${listed(left, cellsNamed)}: it shows ${exact(problem.shown)} instead of ${exact(problem.right)}.`;
      }
      case 'typed':
        return `${what}: ${cell} is typed in as a number, without a formula: ${exact(problem.shown)}, but ${problem.formula}, as the cells beside it have it, gives ${exact(problem.right)}.`;
      case 'differs':
        return `${what}: ${cell} = ${problem.formula} (${exact(problem.shown)}) differs from the formula of the other rows, ${problem.usual}, which would give ${exact(problem.right)}.`;
      case 'typed_equal':
        return `${what}: ${cell} is typed in as a number (${exact(problem.shown)}), without the formula of the other rows; ${problem.formula} gives the same.`;
      case 'differs_equal':
        return `${what}: ${cell} = ${problem.formula} reads other cells than the formula of the other rows, ${problem.usual}; both give ${exact(problem.shown)}.`;
      case 'twice':
        return `${what}: ${cell} = ${problem.formula} adds subtotals and their rows, so rows count twice: it shows ${exact(problem.shown)}; without the subtotals it would be ${exact(problem.right)}.`;
      case 'stale':
        return `${what}: ${cell} = ${problem.formula} shows ${exact(problem.shown)}, but its cells give ${exact(problem.right)}; the stored value is out of date.`;
      case 'text': {
        const readers = problem.readBy.map(
          (at) => `${addressOf(at.row, at.column)} (${formulas.name(at.column)} of ${this.label(at.row)}${shownAndRight(formulas, at)})`,
        );
        return `${what}: ${cell} is the text ${quoted(formulas.value(problem), labelChars)}, not a number, so the sums skip it: ${listed(readers, cellsNamed)}.`;
      }
      case 'empty':
        return '';
    }
  }

  private columns(): number[] {
    return this.table.names.map((_, i) => this.table.left + i);
  }

  private label(row: number): string {
    const { formulas } = this;
    const own = formulas.value({ row, column: this.labelColumn });
    const first = this.columns()
      .map((column) => formulas.value({ row, column }))
      .find((cell) => typeof cell === 'string');
    const label = typeof own === 'string' ? own : first;
    return label === undefined ? `row ${row} of the sheet` : cellText(label, labelChars);
  }
}

/** "rows 97 to 101" for more than a few rows of one column in succession. */
function rowsLeftOut(cells: readonly At[]): string | null {
  const [first, last] = [cells[0]!, cells.at(-1)!];
  const isRun = cells.every(({ row, column }, i) => row === first.row + i && column === first.column);
  return cells.length > minRun && isRun ? `rows ${first.row} to ${last.row}` : null;
}

function numberOf(cell: ReturnType<SheetFormulas['value']>): number | null {
  return typeof cell === 'number' ? cell : numberInText(cell);
}

function shownAndRight(formulas: SheetFormulas, at: At): string {
  const [shown, right] = [formulas.value(at), formulas.rightValue(at)];
  return typeof shown === 'number' && right !== null && !near(shown, right) ? `: ${exact(shown)} instead of ${exact(right)}` : '';
}

function addressOf_({ row, column }: At): string {
  return addressOf(row, column);
}

function exactCell(cell: ReturnType<SheetFormulas['value']>): string {
  return typeof cell === 'number' ? exact(cell) : cellText(cell, labelChars);
}

function clean(value: number): number {
  return Number(value.toPrecision(14));
}
