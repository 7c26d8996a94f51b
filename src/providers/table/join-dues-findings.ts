/** Due against paid, key by key: nothing, in part, more than due, outstanding, and payments without a key of the other table. */
import { cellText } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { countOf, exact, listed, rowList } from './figure-text.ts';
import { type Dues, duesOf } from './join-dues.ts';
import { uniqueness } from './join-key.ts';
import { maxKeyChars, type Side, written } from './join-side.ts';
import type { Finding } from './table-profile.ts';
import { wordSet } from './word-set.ts';

const shown = 20;
const minUnique = 0.85;
const minOwners = 0.3;
const stateWords = wordSet('status state active aktiv zustand estado situación statut état actif stato attivo stand situação');
/** Of a member who has left or an order that was cancelled: perhaps nothing is due. */
const endedWords = wordSet(
  'left cancelled canceled inactive resigned former ended void withdrawn terminated no false nein ausgetreten gekündigt storniert inaktiv beendet baja cancelado cancelada anulado anulada inactivo inactiva résilié résiliée annulé annulée parti partie démissionnaire inactif inactive annullato annullata cessato dimesso inattivo opgezegd geannuleerd vertrokken inativo inativa',
);

/** One key of the table with what is due. */
type Account = { name: string; state: string; due: number; paid: number; open: number; bookings: number[] };

export function dueFindings(a: Side, b: Side): Finding[] {
  const found = duesOf(a, b);
  if (found === null) return [];
  const { due, paid } = found;
  const repeated = repeatedRows(due.side);
  const state = stateOf(due.side);
  const owner = ownerOf(due.side, state);
  const accounts = [...due.byKey].map(([key, value]): Account => {
    const at = due.side.rows.get(key)![0]!;
    const bookings = paid.side.rows.get(key) ?? [];
    const owed = clean(value - sumAt(due.side.table.numbers(due.plan), repeated, due.side.rows.get(key)!));
    const came = clean(paid.byKey.get(key) ?? 0);
    return {
      name: nameOf(due.side, at, owner),
      state: state === undefined ? '' : due.side.table.texts(state)[at]!,
      due: owed,
      paid: came,
      open: clean(owed - came),
      bookings,
    };
  });
  const names = namesOf(found);
  return [
    ...outstanding(accounts, names, state),
    ...nothing(accounts, names, state),
    ...reversed(accounts, found, names),
    ...inPart(accounts, names),
    ...tooMuch(accounts, found, names),
    ...inInstalments(accounts, names),
    ...unassigned(found, names),
    ...totals(accounts, found, names, state),
    ...(repeated.size === 0
      ? []
      : [
          {
            kind: 'dues_total',
            text: `Counted once in these figures of ${due.plan.name}: ${rowList([...repeated].map((at) => due.side.table.row(at)))} of ${due.side.name}, exactly like an earlier row.`,
          },
        ]),
  ];
}

/** Rows that repeat an earlier one exactly, in a table that has one row per key: the key is not due twice. */
function repeatedRows({ table, rows }: Side): ReadonlySet<number> {
  const repeated = new Set<number>();
  if (uniqueness(rows) < minUnique) return repeated;
  for (const own of rows.values()) {
    const seen = new Set<string>();
    for (const at of own) {
      const cells = JSON.stringify(table.rows.cells[at]);
      if (seen.has(cells)) repeated.add(at);
      seen.add(cells);
    }
  }
  return repeated;
}

function sumAt(numbers: Float64Array, counted: ReadonlySet<number>, rows: readonly number[]): number {
  return rows.reduce((sum, at) => (counted.has(at) && !Number.isNaN(numbers[at]!) ? sum + numbers[at]! : sum), 0);
}

type Names = { due: string; paid: string; file: string };

function namesOf({ due, paid }: Dues): Names {
  const same = due.plan.name === paid.plan.name;
  return {
    due: same ? `${due.plan.name} of ${due.side.name}` : due.plan.name,
    paid: same ? `${paid.plan.name} of ${paid.side.name}` : paid.plan.name,
    file: due.side.name,
  };
}

/** The column of names, or of persons and companies that own several keys. */
function ownerOf({ table, plans }: Side, state: ColumnPlan | undefined): ColumnPlan | undefined {
  return (
    table.nameBeside(plans) ??
    table.plans.find(
      (plan) =>
        plan.reads === 'text' &&
        plan.type === 'text' &&
        plan.role === 'other' &&
        plan !== state &&
        !plans.includes(plan) &&
        plan.meanChars <= maxKeyChars &&
        plan.values.distinct >= plan.filled * minOwners,
    )
  );
}

function nameOf(side: Side, at: number, owner: ColumnPlan | undefined): string {
  const name = owner === undefined ? '' : cellText(side.table.texts(owner)[at]!, maxKeyChars);
  return name === '' ? written(side, at) : `${written(side, at)} (${name})`;
}

function stateOf({ table, plans }: Side): ColumnPlan | undefined {
  return table.plans.find(
    (plan) =>
      (plan.reads === 'text' || plan.reads === 'boolean') &&
      !plans.includes(plan) &&
      plan.values.exact &&
      plan.values.distinct >= 2 &&
      plan.values.distinct <= 6 &&
      has(nameTokens(plan.name), stateWords),
  );
}

function isEnded({ state }: Account): boolean {
  return has(nameTokens(state), endedWords);
}

function isOver({ open, paid }: Account): boolean {
  return open < 0 && paid > 0;
}

const sumOf = (accounts: readonly Account[], figure: (account: Account) => number) =>
  clean(accounts.reduce((sum, account) => sum + figure(account), 0));

const openOf = ({ open }: Account) => open;

/** What is outstanding is the sum over the keys with too little; too much of another key does not reduce it. */
function outstanding(accounts: readonly Account[], { due, paid }: Names, state: ColumnPlan | undefined): Finding[] {
  const open = accounts.filter((account) => account.open > 0);
  if (open.length === 0) return [{ kind: 'dues_open', text: `Nothing is outstanding: no key has less ${paid} than ${due}.` }];
  const over = accounts.filter(isOver);
  const rest = over.length === 0 ? '' : `; more than due from others (${exact(-sumOf(over, openOf))}) is not set off`;
  const [none, part] = [open.filter((account) => account.paid <= 0), open.filter((account) => account.paid > 0)];
  const split = `${exact(sumOf(none, openOf))} from ${countOf(none.length, 'key')} with nothing and ${exact(sumOf(part, openOf))} from ${countOf(part.length, 'key')} with a part`;
  const ended = open.filter(isEnded);
  const without =
    ended.length === 0 || ended.length === open.length || state === undefined
      ? ''
      : ` Without ${ended.length === 1 ? 'the one' : `the ${exact(ended.length)}`} with ${stateText(ended, state)}, from whom perhaps nothing is due, ${exact(clean(sumOf(open, openOf) - sumOf(ended, openOf)))} is outstanding from ${countOf(open.length - ended.length, 'key')}.`;
  return [
    {
      kind: 'dues_open',
      text: `Outstanding (${due} − ${paid}, where it is positive): ${exact(sumOf(open, openOf))} from ${countOf(open.length, 'key')}: ${split}${rest}.${without}`,
    },
  ];
}

function nothing(accounts: readonly Account[], { paid }: Names, state: ColumnPlan | undefined): Finding[] {
  const none = accounts.filter((account) => account.open > 0 && account.bookings.length === 0);
  if (none.length === 0) return [];
  const ended = none.filter(isEnded);
  const one = ({ name, due }: Account) => `${name} ${exact(due)}`;
  const group = (own: readonly Account[]) =>
    `${countOf(own.length, 'key')}, together ${exact(sumOf(own, openOf))}: ${listed(own.map(one), shown)}`;
  if (state === undefined || ended.length === 0 || ended.length === none.length)
    return [
      {
        kind: 'dues_nothing',
        text: `No ${paid} at all: ${group(none)}${ended.length > 0 ? ` (all with ${stateText(ended, state)}: perhaps nothing is due from them)` : ''}.`,
      },
    ];
  const going = none.filter((account) => !isEnded(account));
  return [
    {
      kind: 'dues_nothing',
      text: `No ${paid} at all: ${group(going)}. Also none, but with ${stateText(ended, state)}, so perhaps nothing is due: ${group(ended)}.`,
    },
  ];
}

function stateText(accounts: readonly Account[], state: ColumnPlan | undefined): string {
  const values = [...new Set(accounts.map((account) => account.state))];
  return state === undefined ? '' : `${state.name} ${listed(values.map((value) => `"${cellText(value, maxKeyChars)}"`))}`;
}

/** Bookings of a key that cancel each other out: a payment and its return. */
function reversed(accounts: readonly Account[], { paid }: Dues, { paid: name }: Names): Finding[] {
  const numbers = paid.side.table.numbers(paid.plan);
  const each = accounts.flatMap((account) => {
    const pair = reversal(account.bookings, numbers);
    if (pair === null) return [];
    const rows = rowList(pair.map((at) => paid.side.table.row(at)));
    const left =
      account.paid === 0
        ? `nothing is left, so ${exact(account.due)} is unpaid`
        : `${exact(account.paid)} of ${exact(account.due)} is left`;
    return [`${account.name} ${exact(numbers[pair[0]!]!)} and ${exact(numbers[pair[1]!]!)} (${rows}): ${left}`];
  });
  return each.length === 0 ? [] : [{ kind: 'dues_reversed', text: `Rows of ${name} that cancel each other out: ${listed(each, shown)}.` }];
}

function reversal(bookings: readonly number[], numbers: Float64Array): [number, number] | null {
  const byAmount = new Map(bookings.toReversed().map((at) => [numbers[at]!, at]));
  for (const back of bookings) {
    const first = numbers[back]! < 0 ? byAmount.get(-numbers[back]!) : undefined;
    if (first !== undefined) return [first, back];
  }
  return null;
}

function inPart(accounts: readonly Account[], { due, paid }: Names): Finding[] {
  const part = accounts.filter((account) => account.open > 0 && account.paid > 0).toSorted((a, b) => b.open - a.open);
  if (part.length === 0) return [];
  const each = part.map((account) => `${account.name} ${exact(account.paid)} of ${exact(account.due)}, ${exact(account.open)} missing`);
  return [
    {
      kind: 'dues_part',
      text: `${paid} is only a part of ${due} for ${countOf(part.length, 'key')}, together ${exact(sumOf(part, openOf))} missing: ${each.slice(0, shown).join('; ')}${part.length > shown ? ' and more' : ''}.`,
    },
  ];
}

function tooMuch(accounts: readonly Account[], { paid }: Dues, { due, paid: name }: Names): Finding[] {
  const over = accounts.filter(isOver).toSorted((a, b) => a.open - b.open);
  if (over.length === 0) return [];
  const numbers = paid.side.table.numbers(paid.plan);
  const each = over.map((account) => {
    const alike = account.bookings.filter((at) => numbers[at] === -account.open);
    const why =
      alike.length < 2 ? '' : ` (${exact(-account.open)} in ${rowList(alike.map((at) => paid.side.table.row(at)))}: perhaps booked twice)`;
    return `${account.name} ${exact(account.paid)} of ${exact(account.due)}, ${exact(-account.open)} too much${why}`;
  });
  return [
    {
      kind: 'dues_over',
      text: `${name} is more than ${due} for ${countOf(over.length, 'key')}, together by ${exact(-sumOf(over, openOf))}: ${each.slice(0, shown).join('; ')}${over.length > shown ? ' and more' : ''}.`,
    },
  ];
}

/** Several bookings that make up the whole are no partial payment. */
function inInstalments(accounts: readonly Account[], { due, paid }: Names): Finding[] {
  const several = accounts.filter((account) => account.open === 0 && account.bookings.length > 1);
  if (several.length === 0) return [];
  const each = several.map(({ name, bookings }) => `${name} (${exact(bookings.length)} rows)`);
  return [{ kind: 'dues_whole', text: `${paid} in several rows that make up all of ${due}: ${listed(each, shown)}.` }];
}

/** Payments with a key that the other table does not have, and those without a key. */
function unassigned({ due, paid }: Dues, names: Names): Finding[] {
  const { side, plan } = paid;
  const numbers = side.table.numbers(plan);
  const keyed = new Set([...side.rows.values()].flat());
  const unknown = [...side.rows].filter(([key]) => !due.side.rows.has(key)).flatMap(([, rows]) => rows);
  const without = [...numbers.keys()].filter((at) => !keyed.has(at));
  const rows = [...unknown, ...without].filter((at) => !Number.isNaN(numbers[at]!));
  if (rows.length === 0) return [{ kind: 'dues_unassigned', text: `Every ${names.paid} has a key of ${names.file}.` }];
  const date = side.table.plans.find(({ reads }) => reads === 'date');
  const each = rows.map((at) => {
    const day = date === undefined ? '' : side.table.texts(date)[at]!;
    const key = keyed.has(at)
      ? `${side.plans.map(({ name }) => name).join(' + ')} ${written(side, at)}`
      : `no ${side.plans.map(({ name }) => name).join(' + ')}`;
    return `${exact(numbers[at]!)} in row ${side.table.row(at)} (${day === '' ? '' : `${day}, `}${key})`;
  });
  return [
    {
      kind: 'dues_unassigned',
      text: `${names.paid} without a key of ${names.file}: ${countOf(rows.length, 'row')}, together ${exact(clean(rows.reduce((sum, at) => sum + numbers[at]!, 0)))}: ${listed(each, shown)}.`,
    },
  ];
}

function totals(accounts: readonly Account[], { paid }: Dues, names: Names, state: ColumnPlan | undefined): Finding[] {
  const numbers = paid.side.table.numbers(paid.plan);
  const known = [...numbers].filter((value) => !Number.isNaN(value));
  const all = clean(known.reduce((sum, value) => sum + value, 0));
  const [due, assigned] = [sumOf(accounts, (account) => account.due), sumOf(accounts, (account) => account.paid)];
  const open = sumOf(accounts, ({ open }) => Math.max(open, 0));
  const states = state === undefined ? [] : [...new Set(accounts.map((account) => account.state))];
  const byState =
    states.length < 2
      ? ''
      : ` (${listed(
          states.map((value) => {
            const own = accounts.filter((account) => account.state === value);
            return `${state!.name} ${value === '' ? 'empty' : cellText(value, maxKeyChars)} ${exact(sumOf(own, (account) => account.due))} for ${exact(own.length)}`;
          }),
        )})`;
  const plain = clean(due - all);
  const note = plain === open ? '' : ` The difference of the two sums, ${exact(plain)}, is therefore not what is outstanding.`;
  return [
    {
      kind: 'dues_total',
      text: `${names.due} is ${exact(due)} for ${countOf(accounts.length, 'key')}${byState}; ${names.paid} is ${exact(all)} in ${countOf(known.length, 'row')}, of which ${exact(assigned)} belongs to keys of ${names.file}.${note}`,
    },
  ];
}
