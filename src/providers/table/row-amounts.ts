/**
 * Prices that are the amount of their row (of a sale, a ride, a session), so that their sum has a meaning. The prices of a list of things, and those of
 * one unit of a quantity, are none. The rows decide: the amount of a row rises with its quantity, the price of a unit does not.
 */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { words } from './column-words.ts';
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { isAttributeDate, isPrice, isQuantity } from './plan-figures.ts';
import { isSoldByMeasure } from './product-plans.ts';

const priceNames = words('price preis prix precio prezzo preço prijs eur usd gbp chf euro euros dollar paid net gross netto brutto');
/** Dates of an entry in a list of things. */
const listDates = words('updated modified changed added created listed released release valid since published aktualisiert geändert stand');
const thingWords = words('sku product produkt article artikel item isbn ean asin part teil');
const minRows = 8;
const mostOfName = 0.5;
const minOfKeys = 0.9;
const quantile = 0.25;
/** How much narrower the price of a unit is than the price, where the price belongs to the row. */
const narrower = 2;

export function rowAmounts(table: ColumnsInMemory): ReadonlySet<ColumnPlan> {
  const prices = table
    .quantities()
    .filter(({ name, role, min, units }) => role === 'rate' && min >= 0 && units.size < 2 && isPrice(name) && isOfRow(name));
  if (prices.length !== 1 || !areEvents(table)) return new Set();
  const [price] = prices as [ColumnPlan];
  const quantities = table.quantities().filter((plan) => plan !== price && (plan.role === 'measure' || plan.role === 'unclear'));
  if (quantities.some((plan) => risesWith(table, price, plan))) return new Set([price]);
  return quantities.some(({ name }) => isQuantity(name) || isSoldByMeasure(name)) ? new Set() : new Set([price]);
}

function isOfRow(name: string): boolean {
  return nameTokens(name).every((token) => priceNames.has(token));
}

/** Rows with a date and a key of their own, which are no list of things. */
function areEvents(table: ColumnsInMemory): boolean {
  const { plans, count } = table;
  const isKey = (plan: ColumnPlan) =>
    plan.filled === count &&
    (!plan.values.exact || plan.values.distinct >= count * minOfKeys) &&
    (plan.role === 'identifier' || (plan.index === 0 && plan.type === 'text' && table.texts(plan).every((text) => /\d/.test(text))));
  const isThing = (plan: ColumnPlan) =>
    has(nameTokens(plan.name), thingWords) && (!plan.values.exact || plan.values.distinct > count * mostOfName);
  return (
    count >= minRows &&
    plans.some((plan) => plan.reads === 'date' && !isAttributeDate(plan.name, plans) && !has(nameTokens(plan.name), listDates)) &&
    plans.some(isKey) &&
    !plans.some(isThing)
  );
}

/** Whether the price divided by the quantity varies much less than the price: then the price is one of the whole quantity. */
function risesWith(table: ColumnsInMemory, price: ColumnPlan, quantity: ColumnPlan): boolean {
  const [prices, quantities] = [table.numbers(price), table.numbers(quantity)];
  const rows = [...prices.keys()].filter((at) => prices[at]! > 0 && quantities[at]! > 0);
  if (rows.length < minRows) return false;
  const whole = spread(rows.map((at) => prices[at]!));
  return whole > 0 && spread(rows.map((at) => prices[at]! / quantities[at]!)) * narrower <= whole;
}

/** By how much the upper quartile exceeds the lower one, as a share of it. */
function spread(values: number[]): number {
  values.sort((a, b) => a - b);
  const at = Math.floor((values.length - 1) * quantile);
  return values.at(-1 - at)! / values[at]! - 1;
}
