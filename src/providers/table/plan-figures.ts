/**
 * Decisions for the second reading: which columns group others, which date is used for the trend, where units are mixed.
 */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { words } from './column-words.ts';
import { isFreeText } from './findings/text.ts';
import { currencyOf } from './number-format.ts';
import type { Survey } from './survey.ts';
import type { TrendProfile } from './table-profile.ts';

const maxGroups = 300;
const maxGroupings = 6;
const shortTable = 24;
const dayMs = 86_400_000;
const quantityWords = words(
  'tickets pallets bottles boxes crates cartons sacks bouteilles caisses flaschen kisten kartons säcke botellas cajas bottiglie casse qty quantity units unit_count menge anzahl stück stueck pieces pcs count stock bestand inventory hand sold hours stunden std nights items ordered shares volume_sold verkauft booked gebucht participants attendees teilnehmer quantité quantités cantidad cantidades quantità quantidade aantal',
);
const priceWords = words(
  'price preis cost kosten rate stundensatz satz einzelpreis stückpreis tariff tarif fee prix precio prezzo preço prijs',
);
const noPriceWords = words(
  'tax vat mwst ust discount rabatt exchange interest conversion growth error percent pct total gesamt zins iva tva',
);
const currencyWords = words('currency währung waehrung curr ccy cur moneda devise');
const otherUnits = words(
  'pct percent percentage prozent % count anzahl days tage weeks wochen months monate hours stunden minutes minuten years jahre km kg',
);
const unitWords = words('unit uom einheit me metric parameter kpi indicator kennzahl measurement messgröße');
/** Codes of a person or a place that do not characterise the row. */
export const personalCodes = words(
  'phone telefon tel mobile fax iban bic account konto zip zipcode plz postcode postal postleitzahl ssn serial barcode ean',
);

/** Columns whose values get figures of their own, the most useful kinds first. */
export function groupingPlans({ columns, rows }: Survey): ColumnPlan[] {
  const rank = (plan: ColumnPlan) => (plan.role === 'identifier' || plan.codes ? 2 : plan.role === 'year' || plan.role === 'code' ? 1 : 0);
  return columns
    .filter((plan) => canGroup(plan, rows))
    .toSorted((a, b) => rank(a) - rank(b) || a.index - b.index)
    .slice(0, maxGroupings);
}

export function isGroupLimit(values: number): boolean {
  return values <= maxGroups;
}

/** When something was booked or written down, beside the date of the event itself. */
const entryDates = words(
  'booked booking gebucht buchung reserved reservation reservierung created erstellt erfasst entered entry recorded registered logged exported export updated modified réservé réservation reservado reserva',
);

/** The dates of a table on which something happened: without those of booking or entry, if it has another. */
export function eventDates(plans: readonly ColumnPlan[], rows: number): ColumnPlan[] {
  const dates = plans.filter(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  const events = dates.filter(({ name }) => !has(nameTokens(name), entryDates) && !isAttributeDate(name, plans));
  return events.some(({ filled }) => filled >= rows / 2) ? dates.filter(({ name }) => !has(nameTokens(name), entryDates)) : dates;
}

/** The date for trends: the one most rows have; none if day and month are ambiguous. */
export function trendPlan({ columns, rows }: Survey): { plan: ColumnPlan; period: TrendProfile['period'] } | null {
  const dates = eventDates(columns, rows).filter(({ filled }) => filled >= rows / 2);
  const born = ({ name }: ColumnPlan) => (/birth|geburt|dob/i.test(name) ? 1 : 0);
  const best = dates.toSorted((a, b) => born(a) - born(b) || b.filled - a.filled || a.index - b.index)[0];
  return best === undefined ? null : { plan: best, period: periodOf(best) };
}

const attributeDates = words(
  'birth born geburt geburtsdatum dob entry eintritt eintrittsdatum hire hired hiring joined join joining beitritt employed',
);
const startDates = words('start started starts beginn since seit');
const payWords = words('salary pay wage wages lohn gehalt fte');

/** A date that describes the person in the row, such as the entry or the birth: figures by such dates are no development in time. */
export function isAttributeDate(name: string, columns: readonly { name: string }[]): boolean {
  const tokens = nameTokens(name);
  return has(tokens, attributeDates) || (has(tokens, startDates) && columns.some((column) => has(nameTokens(column.name), payWords)));
}

/** For each numeric column: the column that contains its unit or currency, if that has several values. */
export function unitColumns({ columns }: { columns: readonly ColumnPlan[] }): Map<number, ColumnPlan> {
  const found = new Map<number, ColumnPlan>();
  const numeric = columns.filter(({ reads }) => reads === 'number');
  for (const plan of columns) {
    if (plan.reads !== 'text' || !plan.values.exact || plan.values.distinct < 2 || plan.values.distinct > 30) continue;
    const tokens = nameTokens(plan.name);
    if (has(tokens, currencyWords) && plan.values.distinct <= 20 && isCurrencies(plan)) {
      for (const column of numeric) if (!isQuantity(column.name) && !hasNoCurrency(column)) found.set(column.index, plan);
    } else if (tokens.length <= 2 && has(tokens, unitWords) && plan.meanChars <= 24) {
      const valued = numeric.filter(
        ({ name }) =>
          has(nameTokens(name), new Set(['value', 'wert', 'reading', 'result', 'messwert'])) ||
          (isQuantity(name) && !tokens.includes('metric')),
      );
      for (const column of valued) found.set(column.index, plan);
    }
  }
  return found;
}

/** A count, a share, a time, a distance or a weight, whatever the record's currency is. */
function hasNoCurrency({ name, unit }: ColumnPlan): boolean {
  return /^number of /i.test(name) || unit === '%' || has(nameTokens(name), otherUnits);
}

export function isQuantity(name: string): boolean {
  const tokens = nameTokens(name);
  return has(tokens, quantityWords) || /(?:menge|anzahl|bestand|stunden)$/.test(tokens.at(-1) ?? '');
}

export function isPrice(name: string): boolean {
  const tokens = nameTokens(name);
  return (has(tokens, priceWords) || /(?:preis|price)$/.test(tokens.at(-1) ?? '')) && !has(tokens, noPriceWords);
}

function isCurrencies(plan: ColumnPlan): boolean {
  return plan.values.top(20).every(({ key }) => currencyOf(key) !== undefined || /^[A-Za-z]{3,4}$/.test(key));
}

/** Few values, each of them frequent. Free text, running numbers and personal codes are not groups. */
function canGroup(plan: ColumnPlan, rows: number): boolean {
  const { name, type, role, reads, filled, values, codes, meanChars } = plan;
  if (isFreeText(plan) && meanChars >= 14 && values.distinct >= 6) return false;
  if (rows < 3 || !values.exact || values.distinct < 2 || !isGroupLimit(values.distinct)) return false;
  // In a short table a group of one beside groups of two is still useful.
  const most = filled <= shortTable ? filled * 0.8 : filled / 2;
  if (values.distinct > Math.max(2, most) || meanChars > 60) return false;
  if (type === 'integer') return role === 'year' || role === 'code' || (role === 'identifier' && !has(nameTokens(name), personalCodes));
  if (type !== 'text' && type !== 'boolean') return false;
  if (reads === 'number' || reads === 'date') return false;
  return !(codes && has(nameTokens(name), personalCodes)) && !(role === 'identifier' && has(nameTokens(name), personalCodes));
}

/** Hours for up to three days, days for up to two months, months for up to ten years, else years. */
function periodOf({ range, dateForms, timed }: ColumnPlan): TrendProfile['period'] {
  const days = range === null ? 0 : (range.lastMs - range.firstMs) / dayMs;
  const coarse = [...dateForms.keys()].some(
    (form) => form === 'YYYY-MM' || form.startsWith('Month YYYY') || form === 'MM/YYYY' || form === 'quarter',
  );
  if ([...dateForms.keys()].every((form) => form === 'quarter') && dateForms.size > 0) return 'quarter';
  if (days <= 62 && !coarse) return timed && days <= 2 && days > 0.1 ? 'hour' : 'day';
  return days <= 3660 ? 'month' : 'year';
}

const foreignMoneyWords = words('importe monto ventas precio montant prix ventes bedrag omzet prijs importo prezzo valor vendas kwota');
const moneyWords = words(
  'amount revenue sales turnover total umsatz betrag profit cost costs kosten spend spent brutto gross netto net income einnahmen ausgaben fare price preis pay fee donation spende eur usd gbp chf',
);

/** Amounts of money, by their name or their unit. */
export function isMoney({ name, unit = '' }: { name: string; unit?: string }): boolean {
  return has(nameTokens(name), moneyWords) || has(nameTokens(name), foreignMoneyWords) || (unit !== '' && currencyOf(unit) !== undefined);
}

/** The measure most likely meant by "the figures": money before counts; of several the first. */
export function leadingMeasure(plans: readonly ColumnPlan[]): ColumnPlan | undefined {
  const mixed = unitColumns({ columns: plans });
  const measures = plans.filter(
    ({ reads, role, units, index, values }) =>
      reads === 'number' && role === 'measure' && units.size < 2 && values.distinct > 1 && !mixed.has(index),
  );
  return measures.find(({ name }) => has(nameTokens(name), moneyWords)) ?? measures[0];
}
