/** The words that identify a column as an identifier, a code, a rate, a level or an amount. */
import { withoutAccents } from './without-accents.ts';

export const words = (text: string) => new Set(text.split(' ').flatMap(spellings));

/** Names of columns are often written without accents: "quantite", "Groesse". */
function spellings(word: string): string[] {
  const plain = withoutAccents(word.replaceAll('ß', 'ss'));
  const german = word.replaceAll('ä', 'ae').replaceAll('ö', 'oe').replaceAll('ü', 'ue').replaceAll('ß', 'ss');
  return [word, plain, german];
}

export const identifiers = words(
  'id ids uid uuid guid key no nr num number nummer code codes zip zipcode plz postcode postleitzahl postal phone telefon telephone tel mobile fax iban bic account konto sku ean gtin isbn asin upc ' +
    'barcode serial ref reference pin ssn lat lon lng latitude longitude index idx pos position line row zeile lfd rank ip port hash rowid objectid matrikelnr version bib place platz rang seat ticket beleg txn transaction txid invoice rechnung auftrag vorgang case',
);
/** A whole-number column named after one thing contains its id: "customer"; "customers" would be a count. */
export const things = words(
  'customer kunde client user member employee mitarbeiter product produkt article artikel item order bestellung sensor device station store filiale shop project projekt host player respondent participant patient student book asset machine maschine vehicle room trip appt appointment booking reservation lot parcel shipment sailing voyage crossing überfahrt traversée',
);
export const coordinates = words('lat lon lng latitude longitude');
export const idEndings = ['nummer', 'nr', 'number', 'code', 'kennung', 'schlüssel', 'plz', '_id'];
export const years = words(
  'bought built purchased acquired founded established installed commissioned gekauft gebaut gegründet angeschafft year yr jahr fy année anno jahrgang baujahr birthyear geburtsjahr vintage millésime cosecha annata',
);
export const codes = words(
  'table tisch desk_no status state sev severity statuscode month monat week kw woche weekday wochentag day tag hour stunde quarter quartal priority prio priorität level stufe condition zustand class klasse semester floor etage gender version port rank season round runde lap gate lane block zone gruppe group shift schicht batch cluster section sector ward grade_level ebene',
);
/** "reorder level" is a quantity, not a level of something. */
export const least = words('reorder min minimum mindest safety stock');
export const totals = words(
  'total totals sum gesamt summe amount betrag net netto gross brutto subtotal revenue umsatz sales cost costs kosten turnover value wert',
);
export const rates = words(
  'prix precio precios prezzo prezzi preço preços prijs prijzen lieferzeit laufzeit bearbeitungszeit durchlaufzeit reaktionszeit liegezeit turnaround mindestmenge mindestbestand minimum grade grades stars sterne diameter durchmesser radius thickness dicke altitude price prices preis rate rates ratio percent pct percentage prozent average avg mean median quote score scores note noten punktzahl rating ratings temperature temperatur temp humidity hum rh feuchte pressure press torque drehmoment oechsle öchsle brix plato ibu psi ampere strength hardness density dichte battery akku charge_level soc ' +
    'druck age alter height größe weight gewicht gpa bmi speed velocity share anteil discount rabatt satz kurs margin marge nps satisfaction zufriedenheit salary gehalt voltage spannung ' +
    'probability confidence co2 ph lux lag latency ping power watt leistung exchange factor size width length depth breite länge limit threshold target_rate vat_rate tax_rate salinity ' +
    'conversion ctr cpc cpm cpa cac arpu ltv roas roi index kpi percentile density concentration turbidity conductivity moisture oxygen noise db decibel frequency hz angle degrees coefficient beta volatility rent miete kaltmiete warmmiete wage lohn hourly tariff tarif mpg kmh elo odds handicap apy coupon multiple occupancy auslastung belegung vacancy growth wachstum inflation unemployment churn retention uptime availability verfügbarkeit accuracy precision recall tenure experience seniority years bedrooms bathrooms rooms zimmer abv alcohol hardness viscosity response wait waiting wartezeit ms millis latenz rtt jitter fps threshold setpoint sollwert grad luftfeuchte luftfeuchtigkeit luftdruck windgeschwindigkeit wind gust visibility sicht step_length stride cadence vo2 bp spo2 saturation hba1c efficiency utilization utilisation load cpu memory mark marks written oral schriftlich mündlich presentation systolic diastolic pulse glucose cholesterol points_avg tmin tmax tavg tmean kw mw watts volt volts amp amps celsius fahrenheit hpa mbar kmh bpm pulse hr rpm uv math maths mathe mathematics mathematik english englisch german deutsch physics physik chemistry chemie biology biologie history geschichte geography art kunst music musik science sport homework quiz exam test midterm final project essay likelihood importance ease quality service recommend recommendation',
);
export const rateEndings = ['preis', 'price', 'quote', 'satz', 'rate', 'temperatur', 'alter', 'kurs', 'prozent', 'anteil', 'ratio', 'note'];
export const levels = words(
  'balance saldo kontostand stand reading readings zählerstand meter counter cumulative running kumuliert level pegel odometer mileage_total open high low close adj_close adjusted vwap headcount population einwohner inventory_level',
);
export const levelEndings = ['saldo', 'stand', 'balance', 'reading'];
export const portions = words('g mg ug µg ng mmol µmol mol cfu kbe');
export const volumes = words('l dl ml m3 kg 100ml');
export const rateUnits = new Set([
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

/** Words for additive quantities: amounts of money, goods, time, distance, energy. */
export const amounts = words(
  'quantité quantités cantidad cantidades quantità quantidade quantidades aantal importe importes monto montos montant montants ventas ventes ingresos gastos recettes dépenses goal invalid ungültig ungültige freight fracht porto postage toll maut utilities maintenance wartung material materials labour labor löhne prize bets stake raised given donated collected claimed erstattet reimbursed granted requested approved counted gezählt fare fares fahrpreis sqft sq teile parts pallets paletten boxes kisten bottles flaschen trees bäume amt qty quantity count counts anzahl menge units stück stk pcs pieces income earnings profit loss gewinn verlust ergebnis erlös erlöse ertrag expense expenditure ausgaben ausgabe einnahmen einnahme spend spent budget paid payment bezahlt gezahlt deposit withdrawal debit credit soll haben refund donation spende pledged received invested investment funding grant fine tip tax vat mwst ust steuer shipping versand fee gebühr charge bonus commission provision premium prämie claim claimed invoiced due owed outstanding offen worth plan planned actual ist forecast ziel target quota ' +
    'hours hour stunden std minutes minuten min mins seconds sekunden days tage nights nächte duration dauer downtime overtime überstunden delay verspätung absence distance strecke km kilometer kilometers miles mi energy kwh wh mwh gwh consumption verbrauch usage litres liters litre liter gallons fuel water wasser strom gas heat wärme rain rainfall precipitation niederschlag regen snow schnee mm sunshine production produced produktion output harvest ernte milk milch tons tonnes tonnen t waste abfall scrap ausschuss bytes kb mb gb tb traffic stock bestand inventory on_hand hand votes stimmen booked capacity kapazität attended enrolled area fläche sqm qm m2 ha hectares hektar acres calories kcal steps schritte sold verkauft used delivered shipped returned rejected sent opened clicked won lost drawn made population people persons personen staff headcount besucher gäste teilnehmer passengers fahrgäste goals tore assists points punkte impressions reach likes followers downloads plan_value volume volumen kg weight_total eur usd gbp chf euro dollar frei total_time played scored conceded yes no ' +
    'wahlberechtigte eligible damage schaden subsidy förderung savings ersparnis emissions emissionen co2e load_kg catch fang eggs eier cases fälle deaths births infections doses dosen tests',
);
export const amountEndings = [
  'stunden',
  'tage',
  'menge',
  'anzahl',
  'kosten',
  'betrag',
  'umsatz',
  'zahl',
  'verbrauch',
  'stück',
  'bestand',
  'ausgaben',
  'einnahmen',
  'gewinn',
  'kilometer',
  'minuten',
  'dauer',
  'stimmen',
  'besucher',
  'summe',
  'ertrag',
  'erlös',
  'fläche',
  'gäste',
  'teilnehmer',
  'wert',
  'gebühr',
  'spende',
  'produktion',
  'ernte',
  'tonnen',
  'fälle',
];
/** Units written with the numbers. */
export const amountUnits = new Set([
  'kWh',
  'Wh',
  'MWh',
  'GWh',
  'h',
  'min',
  's',
  'km',
  'm',
  'kg',
  't',
  'l',
  'L',
  'ml',
  'MB',
  'GB',
  'TB',
  'KB',
  'kB',
  'm²',
  'm2',
  'm³',
  'ha',
  'pcs',
  'St',
  'Stk',
  'Stück',
]);
