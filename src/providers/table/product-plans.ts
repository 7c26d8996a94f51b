/**
 * Which quantity of a table is multiplied by which price. The unit in the name of a price decides (hours × hourly rate, kWh × EUR per kWh);
 * where the names leave several pairs possible, none is computed, and `doubt` says so.
 */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { words } from './column-words.ts';
import { isPrice, isQuantity } from './plan-figures.ts';

export type ProductPlan = { name: string; quantity: ColumnPlan; price: ColumnPlan };

const spanWords = words('days tage minimum min');
const dayWords = words('days tage');
const plannedWords = words(
  'book system planned plan budget budgeted soll target ziel forecast estimated geschätzt geplant geplante ordered',
);
/** Names of one unit, in quantities ("hours") and in prices ("hourly rate", "Stundensatz"). */
const units: readonly ReadonlySet<string>[] = [
  words('kwh kilowattstunde kilowattstunden'),
  words('mwh megawattstunden'),
  words('l ltr litre litres liter liters litern'),
  words('gal gallon gallons'),
  words('m3 m³ cbm kubikmeter'),
  words('m2 m² sqm qm quadratmeter'),
  words('kg kilo kilos kilogram kilograms kilogramm'),
  words('t ton tons tonne tonnes tonnen'),
  words('h hr hrs hour hours hourly stunde stunden std arbeitsstunden'),
  words('day days daily tag tage tages'),
  words('night nights nightly nacht nächte übernachtung übernachtungen übernachtungs'),
  words('minute minutes minuten'),
  words('month months monthly monat monate monats'),
  words('km kilometer kilometers kilometre kilometres'),
  words('mile miles mi'),
  words('page pages seite seiten'),
  words('person persons people personen head pax guest guests gäste participant participants teilnehmer'),
];
const timeUnits = new Set([unitOf('hour'), unitOf('night')]);
/** Units of quantities that are usually multiplied by a price without a named unit. */
const tradedUnits = new Set([unitOf('kwh'), unitOf('mwh'), unitOf('litre'), unitOf('gallon'), unitOf('m3'), unitOf('kg'), unitOf('tonne')]);
const pieces = words('unit units each piece pieces pcs stück stk item items einheit');
/** Quantities that can have any unit. */
const unspecific = words('qty quantity menge anzahl sold ordered verkauft verbrauch consumption usage');
const consumed = words('verbrauch consumption usage');
const attributes = words('weight gewicht capacity kapazität size größe');
const joints = words('per pro je');
const currencies = words('eur usd gbp chf euro euros dollar dollars cent cents ct');
const rateWords = words('rate rates satz');
/** Words beside "rate" in a price; a heart rate or a defect rate is none. */
const besideRate = words('pay billing base standard charge labour labor room flat day night hour billable client');
const wageWords = words('wage wages lohn honorar pauschale');
const priceEnding = /(?:preis|satz|lohn|tarif|honorar|pauschale|geld|kosten)$/;
const totalWords = words(
  'amount total revenue sales sum betrag umsatz gesamt summe value wert subtotal turnover net gross netto brutto line cost kosten',
);
const furtherCosts = /^(?:versand|liefer|transport|fracht|neben|porto|verpackung)/;
const rowWords = words('price preis prices');

/** A quantity and its price, in a table without their product; `doubt` is the reason why none is computed, where a reader may expect one. */
export function productPlans(
  columns: readonly ColumnPlan[],
  mixed: (plan: ColumnPlan) => boolean,
): { product: ProductPlan | null; doubt: string | null } {
  const none = { product: null, doubt: null };
  const numeric = columns.filter((plan) => plan.reads === 'number' && !mixed(plan));
  const prices = numeric.filter(isUnitPrice);
  const quantities = numeric.filter((plan) => !prices.includes(plan) && isFactor(plan));
  const pairs = prices.flatMap((price) =>
    quantities.map((quantity) => ({ quantity, price, fit: fitOf(quantity, price, quantities) })).filter(({ fit }) => fit > 0),
  );
  const best = Math.max(0, ...pairs.map(({ fit }) => fit));
  const found = pairs.filter(({ fit }) => fit === best);
  // Of planned and actual hours the actual ones are paid.
  const actual = found.filter(({ quantity }) => !has(nameTokens(quantity.name), plannedWords));
  const chosen = actual.length === 1 ? actual : found;
  const factors = new Set(chosen.flatMap(({ quantity, price }) => [quantity, price]));
  if (chosen.length === 0 || numeric.some((plan) => !factors.has(plan) && isTotal(plan, chosen[0]!.price))) return none;
  const nameOf = ({ quantity, price }: { quantity: ColumnPlan; price: ColumnPlan }) => `${quantity.name} × ${price.name}`;
  if (chosen.length > 1) {
    // A price and a cost of the same pieces give a profit (findings/margin.ts).
    if (new Set(chosen.map(({ quantity }) => quantity)).size === 1 && chosen.some(({ price }) => isCost(price))) return none;
    return {
      product: null,
      doubt: `Several amounts are possible (${chosen.slice(0, 4).map(nameOf).join(', ')}) and no name decides; none is computed.`,
    };
  }
  const [pair] = chosen as [(typeof chosen)[0]];
  const { quantity, price } = pair;
  if (best === fits.unsure) {
    const doubt = `The names do not say whether ${price.name} applies to each unit of ${quantity.name} or to the whole row; ${nameOf(pair)} is not computed.`;
    return { product: null, doubt };
  }
  return { product: { name: nameOf(pair), quantity, price }, doubt: null };
}

/** How well a pair fits: the unit of the price is the unit of the quantity, nothing contradicts, or the price may be one of the whole row. */
const fits = { named: 3, possible: 2, unsure: 1, none: 0 } as const;

function fitOf(quantity: ColumnPlan, price: ColumnPlan, quantities: readonly ColumnPlan[]): number {
  const tokens = nameTokens(quantity.name);
  const unit = unitIn(tokens);
  const per = unitOfPrice(price.name);
  if (per !== null) {
    if (pieces.has(per)) return unit === -1 ? fits.named : fits.possible;
    if (tokens.some((token) => isSameUnit(token, per)) || (unit !== -1 && unit === unitOf(per))) return fits.named;
    return unit === -1 && has(tokens, unspecific) && !timeUnits.has(unitOf(per)) ? fits.possible : fits.none;
  }
  // Days at a rate: each day of a rental, or the length of a stay beside the rate of the whole.
  if (has(tokens, spanWords))
    return has(tokens, dayWords) && nameTokens(price.name).every((token) => rateWords.has(token)) ? fits.unsure : fits.none;
  const timed = timeUnits.has(unit);
  if (timed && has(nameTokens(price.name), rateWords)) return fits.named;
  if (!timed && isQuantity(quantity.name)) return fits.possible;
  if (unit === -1 ? !has(tokens, consumed) : !timed && !tradedUnits.has(unit)) return fits.none;
  // The kilograms of a piece beside the number of pieces are no quantity of their own.
  const counted = quantities.some((plan) => plan !== quantity && isQuantity(plan.name) && unitIn(nameTokens(plan.name)) === -1);
  if ((counted && !timed) || price.role === 'measure' || has(tokens, attributes)) return fits.none;
  return isSteadyPrice(price, quantity) ? fits.possible : fits.unsure;
}

/** The price of one unit varies less than the quantities; the price of a whole row varies with them. A quantity of 0 tells nothing of that. */
function isSteadyPrice(price: ColumnPlan, quantity: ColumnPlan): boolean {
  const spread = ({ min, max }: ColumnPlan) => (min > 0 ? max / min - 1 : Number.POSITIVE_INFINITY);
  if (quantity.min <= 0) return price.min === price.max;
  return price.min === price.max || spread(price) <= spread(quantity) / 2;
}

/** "kg" of a quantity and "per kg" of a price. */
export function isOfUnit(quantity: string, price: string): boolean {
  const per = unitOfPrice(price);
  return per !== null && nameTokens(quantity).some((token) => isSameUnit(token, per));
}

export function isUnitPrice({ name, unit, role }: ColumnPlan): boolean {
  // A price per 100 litres times litres is not an amount.
  if (unit === '%' || /(?:per|pro|je|\/) ?\d{2,}/i.test(name.slice(0, 200))) return false;
  const tokens = nameTokens(name);
  const per = unitOfPrice(name);
  if (/^(?:gesamt|total)/.test(tokens.at(-1) ?? '')) return false;
  if (isPrice(name)) {
    if (per !== null || !has(tokens, rateWords)) return true;
    return tokens.every((token) => rateWords.has(token) || besideRate.has(token) || currencies.has(token) || pieces.has(token));
  }
  return (
    per !== null &&
    role !== 'measure' &&
    (/[€$£]/.test(name) || has(tokens, currencies) || has(tokens, wageWords) || priceEnding.test(tokens.at(-1) ?? ''))
  );
}

function isFactor({ name, role }: ColumnPlan): boolean {
  if (role !== 'measure' && role !== 'unclear') return false;
  const tokens = nameTokens(name);
  if (isPrice(name) || tokens.every((token) => currencies.has(token))) return false;
  if (isQuantity(name)) return role === 'measure';
  return role === 'measure' || unitIn(tokens) !== -1;
}

/** An amount of money in each row, which may be the product itself. An amount whose cells are formulas is not known; the product is. */
function isTotal({ name, role, formulas }: ColumnPlan, price: ColumnPlan): boolean {
  if (formulas > 0) return false;
  const tokens = nameTokens(name);
  const last = tokens.at(-1) ?? '';
  if (/^(?:gesamt|total)(?:preis|price)$/.test(last)) return true;
  // "price" beside "price per litre".
  if (unitOfPrice(price.name) !== null && tokens.every((token) => rowWords.has(token) || currencies.has(token))) return true;
  if (role !== 'measure') return false;
  return (
    has(tokens, totalWords) ||
    tokens.every((token) => currencies.has(token)) ||
    /(?:betrag|summe|umsatz|erlös)$/.test(last) ||
    (/kosten$/.test(last) && !furtherCosts.test(last))
  );
}

function isCost({ name }: ColumnPlan): boolean {
  return /(?:^|[^\p{L}])(?:costs?|ek)(?:$|[^\p{L}])|kosten|einkauf|einstand|purchase/iu.test(name.slice(0, 200));
}

/** The unit that the name of a price contains: "litre" of "price per litre", "hourly", "kwh" of EUR_kWh, "stunden" of Stundensatz. */
function unitOfPrice(name: string): string | null {
  const tokens = nameTokens(name.replaceAll('/', ' per '));
  const joint = tokens.findIndex((token) => joints.has(token));
  if (joint !== -1) return tokens[joint + 1] ?? null;
  const adjective = tokens.find((token) => /^(?:hourly|daily|nightly|monthly)$/.test(token));
  if (adjective !== undefined) return adjective;
  const own = tokens.find((token) => pieces.has(token));
  if (own !== undefined) return own;
  if (tokens.some((token) => /^(?:einzel|stück)preis$/.test(token))) return 'stück';
  const last = tokens.at(-1) ?? '';
  if (tokens.length > 1 && unitOf(last) !== -1) return last;
  if (tokens.length > 1 && unitOf(tokens[0]!) !== -1) return tokens[0]!;
  const compound = tokens.find((token) => priceEnding.test(token) && unitOf(token.replace(priceEnding, '')) !== -1);
  return compound === undefined ? null : compound.replace(priceEnding, '');
}

function unitOf(word: string): number {
  return units.findIndex((names) => names.has(word));
}

/** "litres", "kwh": a quantity that is usually sold at a price of its unit. */
export function isSoldByMeasure(name: string): boolean {
  return tradedUnits.has(unitIn(nameTokens(name)));
}

function unitIn(tokens: readonly string[]): number {
  const last = tokens.findLast((token) => unitOf(token) !== -1);
  return last === undefined ? compoundUnit(tokens) : unitOf(last);
}

/** "Betriebsstunden". */
function compoundUnit(tokens: readonly string[]): number {
  return tokens.some((token) => token.length > 7 && token.endsWith('stunden')) ? unitOf('stunden') : -1;
}

/** Equal but for a plural ending, or two names of one unit. */
function isSameUnit(a: string, b: string): boolean {
  const unit = unitOf(a);
  if (unit !== -1) return unit === unitOf(b);
  const stem = (word: string) => word.replace(/(?:es|s|en|n|e)$/, '');
  return a === b || (stem(a).length > 2 && stem(a) === stem(b));
}
