/** Finds the column that a word means: by its name, a plural, or a synonym in English, German, French or Spanish. */
import { nameTokens } from '../../table/column-role.ts';
import type { ColumnProfile } from '../../table/table-profile.ts';

const set = (list: string) => new Set(list.split(' '));
const alike: readonly ReadonlySet<string>[] = [
  set('m2 m² sqm qm quadratmeter quadratmetern square sq area size fläche wohnfläche flaeche sqft'),
  set('km kilometer kilometers kilometre kilometres distance strecke fahrstrecke mile miles mi'),
  set('hour hours hr hrs h stunde stunden std arbeitsstunde'),
  set('day days tag tage tagen jour jours día días dia dias'),
  set('night nights nacht nächte übernachtung'),
  set('person persons people head capita kopf einwohner inhabitants population residents habitants personne personnes persona personas'),
  set('employee employees staff headcount mitarbeiter worker workers fte ftes'),
  set('student students pupil pupils schüler'),
  set('guest guests gast gäste visitor visitors besucher visit visits'),
  set('hectare hectares ha hektar acre acres'),
  set('litre litres liter liters l gallon gallons fuel'),
  set('kilogram kilogramm kg kilo weight gewicht'),
  set('unit units piece pieces stück stk qty quantity item items menge anzahl quantité cantidad'),
  set('order orders bestellung bestellungen'),
  set('customer customers kunde kunden client clients cliente clientes buyer buyers käufer acheteur comprador account'),
  set('click clicks klick klicks'),
  set('lead leads'),
  set('conversion conversions sale'),
  set('rating ratings stars sterne bewertung bewertungen score satisfaction satisfied zufriedenheit zufrieden'),
  set('humidity hum rh feuchte luftfeuchte luftfeuchtigkeit'),
  set('temperature temp temperatur celsius'),
  set('pressure press druck luftdruck'),
  set('salary salaries wage wages pay gehalt gehälter lohn löhne salaire salaires salario salarios sueldo'),
  set('duration length dauer time minutes'),
  set('delay delays verspätung verspätungen late'),
  set('rent rents miete mieten kaltmiete warmmiete'),
  set('price prices preis preise cost costs kosten spend spent ausgaben prix coût coûts precio precios costo costos coste costes'),
  set('revenue turnover sales umsatz income earnings einnahmen erlös ventes recettes ventas ingresos'),
  set('yield harvest ernte ertrag output production'),
  set('consumption usage verbrauch energy'),
  set('amount amounts betrag beträge montant montants importe importes monto sum total summe'),
  set(
    'expense expenses expenditure expenditures ausgabe ausgaben auslage auslagen dépense dépenses gasto gastos amount betrag montant importe',
  ),
  set(
    'site sites location locations place places standort standorte branch branches filiale filialen lieu sitio lugar sede sedes ubicación',
  ),
  set('date datum fecha day tag jour día'),
  set('month months monat monate mois mes meses'),
  set('year years jahr jahre année an año años'),
  set('city cities town towns stadt städte ort orte ville villes ciudad ciudades'),
  set('country countries land länder pays país países'),
  set('region regions gebiet area région región'),
  set('product products produkt produkte artikel article articles produit produits producto productos sku good goods ware'),
  set('supplier suppliers vendor vendors lieferant lieferanten fournisseur fournisseurs proveedor proveedores'),
  set('department departments abteilung abteilungen dept service departamento département'),
  set('category categories kategorie kategorien catégorie catégories categoría categorías type typ art tipo'),
  set('colleague colleagues employee employees staff mitarbeiter mitarbeiterin empleado empleados employé employés worker workers'),
  set('rep reps salesperson salespeople seller sellers verkäufer vertreter vendeur vendedor agent'),
  set('teacher teachers lehrer lehrerin lehrkraft enseignant profesor'),
  set('class classes klasse klassen classe clase'),
  set('subject subjects fach fächer matière asignatura course courses kurs kurse'),
  set('store stores shop shops laden läden filiale markt magasin magasins tienda tiendas'),
  set('warehouse warehouses lager depot depots entrepôt almacén'),
  set('machine machines maschine maschinen anlage equipment máquina'),
  set('sensor sensors device devices gerät geräte fühler messstelle station stations capteur'),
  set('project projects projekt projekte projet projets proyecto proyectos'),
  set('team teams mannschaft gruppe group groups équipe equipo'),
  set('status state zustand stand statut estado'),
  set('vehicle vehicles car cars fahrzeug fahrzeuge auto autos véhicule vehículo coche'),
  set('room rooms zimmer raum räume chambre habitación sala'),
  set('driver drivers fahrer fahrerin chauffeur conductor'),
  set('comment comments kommentar kommentare feedback complain complaint complaints remark remarks review reviews'),
  set('currency currencies währung währungen devise moneda'),
];

/** The only column that a word means; undefined if there is none or more than one. */
export function onlyColumnFor(word: string, columns: readonly ColumnProfile[]): ColumnProfile | undefined {
  const first = columnFor(word, columns);
  const rest = columns.filter((column) => column !== first);
  return first === undefined || columnFor(word, rest) !== undefined ? undefined : first;
}

/** A column by a synonym. */
export function columnFor(word: string, columns: readonly ColumnProfile[]): ColumnProfile | undefined {
  if (word.length < 1) return undefined;
  const same = alike.filter((names) => names.has(word));
  return (
    columns.find(({ name }) => nameTokens(name).some((token) => isSame(token, word))) ??
    columns.find(({ name }) => nameTokens(name).some((token) => same.some((names) => names.has(token)))) ??
    // "hum" and "temp" for humidity and temperature.
    columns.find(({ name }) => nameTokens(name).some((token) => token.length >= 3 && word.length >= 6 && word.startsWith(token)))
  );
}

/** Equal except for a plural ending. */
function isSame(a: string, b: string): boolean {
  return a === b || endings.some((ending) => stemsOf(a, ending).some((stem) => stem.length > 2 && stemsOf(b, ending).includes(stem)));
}

const endings = [/(?:es|s)$/, /(?:en|n|e)$/, /(?:ies|y)$/];

function stemsOf(word: string, ending: RegExp): string[] {
  const lower = word.toLowerCase();
  return [lower, lower.replace(ending, ''), lower.replace(/s$/, '')];
}
