/**
 * What a column is there for, told from its name and its values: only measures are added up; of rates and levels (prices, scores, balances, meter
 * readings) a sum means nothing; identifiers and years are no quantities at all.
 */
import type { ColumnType } from './table-profile.ts';

export type ColumnRole = 'measure' | 'rate' | 'level' | 'identifier' | 'year' | 'code' | 'other';

export type RoleEvidence = {
  type: ColumnType;
  unit: string;
  filled: number;
  distinct: number;
  /** The column's place in the table. */
  index: number;
  /** Of numbers; NaN without any. */
  min: number;
  max: number;
  wholeNumbers: boolean;
};

const words = (text: string) => new Set(text.split(' '));
const identifiers = words(
  'id ids uid uuid guid key no nr num number nummer code codes zip zipcode plz postcode postleitzahl postal phone telefon telephone tel mobile fax iban bic account konto sku ean gtin isbn asin upc ' +
    'barcode serial ref reference pin ssn lat lon lng latitude longitude index idx pos position line row zeile lfd rank ip port hash rowid objectid matrikelnr version bib place platz rang seat ticket beleg txn transaction txid invoice rechnung auftrag vorgang case',
);
/** A column of whole numbers that is called after one thing holds its number: "customer", where "customers" would count them. */
const things = words(
  'customer kunde client user member employee mitarbeiter product produkt article artikel item order bestellung sensor device station store filiale shop project projekt host player respondent participant patient student book asset machine maschine vehicle room',
);
const coordinates = words('lat lon lng latitude longitude');
const idEndings = ['nummer', 'nr', 'number', 'code', 'kennung', 'schlüssel', 'plz', '_id'];
const years = words('year yr jahr fy année anno jahrgang baujahr birthyear geburtsjahr vintage');
const codes = words(
  'status state sev severity statuscode month monat week kw woche weekday wochentag day tag hour stunde quarter quartal priority prio priorität level stufe condition zustand class klasse semester floor gender version port rank season',
);
/** "reorder level" is a quantity, not a level of something. */
const least = words('reorder min minimum mindest safety stock');
const totals = words(
  'total totals sum gesamt summe amount betrag net netto gross brutto subtotal revenue umsatz sales cost costs kosten turnover value wert',
);
const rates = words(
  'grade grades stars sterne diameter durchmesser radius thickness dicke altitude price prices preis rate rates ratio percent pct percentage prozent average avg mean median quote score scores note noten punktzahl rating ratings temperature temperatur temp humidity feuchte pressure ' +
    'druck age alter height größe weight gewicht gpa bmi speed velocity share anteil discount rabatt satz kurs yield margin marge nps satisfaction zufriedenheit salary gehalt voltage spannung ' +
    'probability confidence co2 ph lux lag latency ping power watt leistung exchange factor size width length depth breite länge limit threshold target_rate vat_rate tax_rate salinity ' +
    'conversion ctr cpc roi index efficiency utilization utilisation load cpu memory mark marks written oral schriftlich mündlich presentation systolic diastolic pulse glucose cholesterol points_avg tmin tmax tavg tmean kw mw watts volt volts amp amps celsius fahrenheit hpa mbar kmh bpm pulse hr math maths mathe mathematics mathematik english englisch german deutsch physics physik chemistry chemie biology biologie history geschichte geography art kunst music musik science sport homework quiz exam test midterm final project essay likelihood importance ease quality service recommend recommendation',
);
const rateEndings = ['preis', 'price', 'quote', 'satz', 'rate', 'temperatur', 'alter', 'kurs', 'prozent', 'anteil', 'ratio', 'note'];
const levels = words(
  'balance saldo kontostand stand reading readings zählerstand meter counter cumulative running kumuliert level pegel odometer mileage_total open high low close adj_close adjusted vwap headcount population einwohner inventory_level',
);
const levelEndings = ['saldo', 'stand', 'balance', 'reading'];
const portions = words('g mg ug µg ng mmol µmol mol cfu kbe');
const volumes = words('l dl ml m3 kg 100ml');
const rateUnits = new Set([
  '%',
  '‰',
  '°C',
  '°F',
  '°K',
  'K',
  '°C/h',
  'bar',
  'mbar',
  'hPa',
  'kPa',
  'Pa',
  'rpm',
  'km/h',
  'mph',
  'm/s',
  'V',
  'A',
  'mV',
  'mA',
  'Hz',
  'kHz',
  'dB',
  'W',
  'kW',
  'MW',
]);

export function roleOf(name: string, evidence: RoleEvidence): ColumnRole {
  const { type, unit, filled, distinct, index, min, max, wholeNumbers } = evidence;
  const tokens = nameTokens(name);
  const last = tokens.findLast((token) => !/^\d+$/.test(token)) ?? '';
  const numeric = Number.isFinite(min);
  if (type === 'date' || type === 'boolean' || type === 'empty') return 'other';
  if (numeric && unit === '') {
    if (wholeNumbers && min >= 1000 && max <= 2200 && (tokens.some((token) => years.has(token)) || last.endsWith('jahr'))) return 'year';
    // Places on the map are the only numbers with decimals that name something.
    const names = wholeNumbers || coordinates.has(last);
    if (names && isIdentifierName(tokens, last, name) && !isCounted(tokens)) return 'identifier';
    if (wholeNumbers && tokens.length === 1 && things.has(tokens[0]!) && min >= 1 && (index === 0 || min >= 100)) return 'identifier';
    // Counts up through the rows from its place at the left: a running number.
    if (
      index === 0 &&
      wholeNumbers &&
      distinct === filled &&
      filled > 10 &&
      max - min === filled - 1 &&
      !has(tokens, totals) &&
      !has(tokens, rates) &&
      !has(tokens, levels)
    )
      return min <= 1 || min >= 100 ? 'identifier' : 'code';
    if (wholeNumbers && codes.has(last) && !has(tokens, least) && distinct <= 70 && min >= 0 && max < 1000) return 'code';
  }
  if (!numeric) {
    if (isIdentifierName(tokens, last, name) && distinct > 1) return 'identifier';
    return 'other';
  }
  if (rateUnits.has(unit)) return 'rate';
  if (tokens.includes('unit') && has(tokens, words('price cost preis amount value'))) return 'rate';
  if (isConcentration(tokens) || (tokens.length > 1 && /^q\d{0,2}$/.test(tokens[0]!) && min >= 0 && max <= 10)) return 'rate';
  if (tokens.includes('lead') && (tokens.includes('time') || tokens.includes('days'))) return 'rate';
  if (tokens.includes('per') || tokens.includes('pro') || tokens.includes('je') || name.includes('%')) return 'rate';
  if (
    levels.has(last) ||
    has(tokens, words('balance saldo kontostand reading zählerstand odometer kilometerstand cumulative running kumuliert')) ||
    (endsWith(last, levelEndings) && !last.endsWith('bestand'))
  )
    return 'level';
  if (has(tokens, totals) && !has(tokens, words('average avg mean median rate percent pct ratio share score temperature')))
    return 'measure';
  if (/gesamt|summe|betrag|umsatz|kosten/.test(last)) return 'measure';
  return tokens.some((token) => rates.has(token)) || endsWith(last, rateEndings) ? 'rate' : 'measure';
}

/** nitrate_mg_l, "lead (µg/l)": how much of something there is in a litre or a kilogram. */
function isConcentration(tokens: readonly string[]): boolean {
  return (
    tokens.some((token, i) => i > 0 && volumes.has(token) && portions.has(tokens[i - 1]!)) ||
    /^(?:mg|ug|µg|ng|mmol)(?:l|dl|m3|kg)$/.test(tokens.at(-1) ?? '')
  );
}

/** Lower-case words of a column's name: unitPrice, unit_price and "Unit price" are the same. */
export function nameTokens(name: string): string[] {
  return name
    .slice(0, 120)
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/\bp H\b/g, 'pH')
    .toLowerCase()
    .split(/[^\p{L}\p{N}%]+/u)
    .filter((token) => token !== '');
}

export function has(tokens: readonly string[], set: ReadonlySet<string>): boolean {
  return tokens.some((token) => set.has(token));
}

/** "number of visits", "no. of items": these count, whatever their last word. */
function isCounted(tokens: readonly string[]): boolean {
  return (
    (tokens.includes('of') && (tokens[0] === 'number' || tokens[0] === 'no' || tokens[0] === 'num')) ||
    has(tokens, new Set(['count', 'anzahl', 'quantity', 'qty', 'amount', 'total', 'balance', 'opened', 'new']))
  );
}

function isIdentifierName(tokens: readonly string[], last: string, name: string): boolean {
  if (name.trim() === '#' || name.trim() === '№') return true;
  if (last === 'index' && tokens.length > 1) return false;
  if (identifiers.has(last)) return true;
  return last.length > 3 && idEndings.some((ending) => last.endsWith(ending)) && !last.endsWith('umber_of') && tokens.length > 0;
}

function endsWith(word: string, endings: readonly string[]): boolean {
  return word.length > 4 && endings.some((ending) => word.length > ending.length && word.endsWith(ending));
}
