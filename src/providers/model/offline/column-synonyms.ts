/** Finds the column that a word means: by its name, a plural, or a synonym in English, German, French or Spanish. */
import { nameTokens } from '../../table/column-role.ts';
import type { ColumnProfile } from '../../table/table-profile.ts';
import { withoutAccents } from '../../table/without-accents.ts';
import { wordSet } from '../../table/word-set.ts';

const alike: readonly ReadonlySet<string>[] = [
  wordSet('m2 m² sqm qm quadratmeter quadratmetern square sq area size fläche wohnfläche flaeche sqft'),
  wordSet('km kilometer kilometers kilometre kilometres distance strecke fahrstrecke mile miles mi'),
  wordSet('hour hours hr hrs h stunde stunden std arbeitsstunde'),
  wordSet('day days tag tage tagen jour jours día días dia dias'),
  wordSet('night nights nacht nächte übernachtung'),
  wordSet(
    'person persons people head capita kopf einwohner inhabitants population residents habitants personne personnes persona personas',
  ),
  wordSet('employee employees staff headcount mitarbeiter worker workers fte ftes'),
  wordSet('student students pupil pupils schüler'),
  wordSet('guest guests gast gäste visitor visitors besucher visit visits'),
  wordSet('hectare hectares ha hektar acre acres'),
  wordSet('litre litres liter liters l gallon gallons fuel'),
  wordSet(
    'returned returns return retoure retouren retourniert rückgabe rückgaben zurück devuelto devueltos devoluciones retourné retournés retours',
  ),
  wordSet('delivered deliveries delivery geliefert lieferung lieferungen livré livrés livraison entregado entregados entregas'),
  wordSet('kilogram kilogramm kg kilo weight gewicht'),
  wordSet(
    'unit units piece pieces stück stücke stücken stk pièce pièces pieza piezas pezzo pezzi qty quantity item items menge anzahl quantité cantidad',
  ),
  wordSet('order orders bestellung bestellungen'),
  wordSet('customer customers kunde kunden client clients cliente clientes buyer buyers käufer acheteur comprador account'),
  wordSet('click clicks klick klicks'),
  wordSet('lead leads'),
  wordSet('conversion conversions sale'),
  wordSet('rating ratings stars sterne bewertung bewertungen score satisfaction satisfied zufriedenheit zufrieden'),
  wordSet('humidity hum rh feuchte luftfeuchte luftfeuchtigkeit'),
  wordSet('temperature temp temperatur celsius'),
  wordSet('pressure press druck luftdruck'),
  wordSet('salary salaries wage wages pay gehalt gehälter lohn löhne salaire salaires salario salarios sueldo'),
  wordSet('duration length dauer time minutes'),
  wordSet('delay delays verspätung verspätungen late'),
  wordSet('payment payments paid zahlung zahlungen bezahlt paiement paiements pago pagos pagamento pagamenti betaling betalingen'),
  wordSet('rent rents miete mieten kaltmiete warmmiete'),
  wordSet('price prices preis preise cost costs kosten spend spent ausgaben prix coût coûts precio precios costo costos coste costes'),
  wordSet(
    'sold sell sells selling verkauft verkaufte verkauften verkaufen vendu vendus vendue vendues vend vendent vendido vendidos vendida vendidas venden venduto venduti vende vendono',
  ),
  wordSet(
    'departure departures depart departs departed leave leaves left leaving abfahrt abfahrten abgefahren départ départs salida salidas partenza partenze',
  ),
  wordSet(
    'arrival arrivals arrive arrives arrived arriving kam kamen ankunft ankünfte angekommen arrivée arrivées llegada llegadas arrivo arrivi',
  ),
  wordSet('revenue turnover sales umsatz income earnings einnahmen erlös ventes recettes ventas ingresos'),
  wordSet('yield harvest ernte ertrag output production'),
  wordSet('consumption usage verbrauch energy'),
  wordSet('amount amounts betrag beträge montant montants importe importes monto sum total summe'),
  wordSet(
    'expense expenses expenditure expenditures ausgabe ausgaben auslage auslagen dépense dépenses gasto gastos amount betrag montant importe',
  ),
  wordSet(
    'site sites location locations place places standort standorte branch branches filiale filialen lieu sitio lugar sede sedes ubicación',
  ),
  wordSet('date datum fecha day tag jour día'),
  wordSet('month months monat monate mois mes meses'),
  wordSet('year years jahr jahre année an año años'),
  wordSet('city cities town towns stadt städte ort orte ville villes ciudad ciudades'),
  wordSet('country countries land länder pays país países'),
  wordSet('region regions gebiet area région región'),
  wordSet(
    'product products item produkt produkte artikel article articles produit produits producto productos sku good goods ware warengruppe produktgruppe',
  ),
  wordSet('supplier suppliers vendor vendors lieferant lieferanten fournisseur fournisseurs proveedor proveedores'),
  wordSet('department departments abteilung abteilungen dept service departamento département'),
  wordSet('category categories kategorie kategorien catégorie catégories categoría categorías type typ art tipo'),
  wordSet('colleague colleagues employee employees staff mitarbeiter mitarbeiterin empleado empleados employé employés worker workers'),
  wordSet('rep reps salesperson salespeople seller sellers verkäufer vertreter vendeur vendedor agent'),
  wordSet(
    'teacher teachers lehrer lehrerin lehrkraft enseignant professeur professeurs profesor profesora profesores insegnante insegnanti maestro docent',
  ),
  wordSet('class classes klasse klassen classe clase'),
  wordSet('subject subjects fach fächer matière asignatura course courses kurs kurse'),
  wordSet('store stores shop shops laden läden filiale markt magasin magasins tienda tiendas'),
  wordSet('warehouse warehouses lager depot depots entrepôt almacén'),
  wordSet('machine machines maschine maschinen anlage equipment máquina'),
  wordSet('sensor sensors device devices gerät geräte fühler messstelle station stations capteur'),
  wordSet('project projects projekt projekte projet projets proyecto proyectos'),
  wordSet('team teams mannschaft gruppe group groups équipe equipo'),
  wordSet('status state zustand stand statut estado'),
  wordSet('vehicle vehicles car cars fahrzeug fahrzeuge auto autos véhicule vehículo coche'),
  wordSet('route routes strecke strecken linie linien ruta rutas trajet trajets ligne lignes línea líneas tratta tratte'),
  wordSet(
    'vessel vessels ship ships boat boats ferry ferries schiff schiffe boot boote fähre fähren barco barcos bateau bateaux navire navires nave navi',
  ),
  wordSet('doctor doctors physician arzt ärztin ärzte médecin médecins médico médica médicos medico medici'),
  wordSet('room rooms zimmer raum räume chambre habitación sala'),
  wordSet('driver drivers fahrer fahrerin chauffeur conductor'),
  wordSet('comment comments kommentar kommentare feedback complain complaint complaints remark remarks review reviews'),
  wordSet('currency currencies währung währungen devise moneda'),
];

const numberWords = wordSet('id no nr code number nummer key');
const nameWords = wordSet('name title label');
const minOfKind = 3;
const minCognate = 7;
const maxEnding = 2;

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
  const found =
    columns.find(({ name }) => nameTokens(name).some((token) => isSame(token, word))) ??
    columns.find(({ name }) => nameTokens(name).some((token) => same.some((names) => names.has(token)))) ??
    // "hum" and "temp" for humidity and temperature.
    columns.find(({ name }) => nameTokens(name).some((token) => token.length >= 3 && word.length >= 6 && word.startsWith(token))) ??
    columns.find(({ name }) => nameTokens(name).some((token) => isCognate(token, word)));
  return found === undefined ? undefined : (nameOf(found, columns) ?? found);
}

/** "technician" and "technicien": the same word of two languages. */
function isCognate(token: string, word: string): boolean {
  const [a, b] = [withoutAccents(token), withoutAccents(word)];
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same >= minCognate && Math.max(a.length, b.length) - same <= maxEnding;
}

/** customer_name beside customer_id: a question on customers means them by name. */
function nameOf(column: ColumnProfile, columns: readonly ColumnProfile[]): ColumnProfile | undefined {
  const tokens = nameTokens(column.name);
  if (tokens.length < 2 || !numberWords.has(tokens.at(-1)!)) return undefined;
  const thing = tokens.slice(0, -1).join(' ');
  return columns.find(({ name }) => {
    const other = nameTokens(name);
    return other.length === tokens.length && nameWords.has(other.at(-1)!) && other.slice(0, -1).join(' ') === thing;
  });
}

/** Whether the word stands in the names of several columns: "route" of north_route, island_route and all_routes names none of them. */
export function isKindOfColumn(word: string, columns: readonly ColumnProfile[]): boolean {
  let named = 0;
  for (const { name } of columns) if (nameTokens(name).some((token) => isSame(token, word)) && ++named >= minOfKind) return true;
  return false;
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
