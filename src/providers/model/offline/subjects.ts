/** Compares the subject of a question with the columns: a subject without a column cannot be answered from the file, and the report says so. */
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { withoutAccents } from '../../table/without-accents.ts';
import { wordSet } from '../../table/word-set.ts';
import { columnFor } from './column-synonyms.ts';
import { endsSentence, readTokens, type Token } from './prompt-tokens.ts';

/** `grouping`: an everyday word that counts only in the form of a grouping: "which product", "per customer". */
type Subject = { name: string; keywords: ReadonlySet<string>; columns: RegExp; grouping?: true };

const money =
  /amount|revenue|sales|turnover|total|price|value|paid|spent|spend|cost|fee|income|umsatz|betrag|erlös|einnahme|preis|wert|kosten|ausgabe|summe|netto|brutto|net$|gross|budget|actual|invoice|rent|salary|wage|gehalt|lohn|saldo|balance|rate$|stundensatz|tarif|prix|precio|importe|montant|gasto|depense|cout|coste|ventas|ventes|ingreso|recette|chiffre|ca$|valeur|valor|pago|paiement|paye|cuota|monto|factur|£|\$|€|eur|usd|gbp|chf/i;
const subjects: readonly Subject[] = [
  { name: 'revenue', keywords: wordSet('revenue revenues turnover umsatz umsätze erlös erlöse'), columns: money },
  { name: 'cost', keywords: wordSet('cost costs kosten kostet'), columns: money },
  {
    name: 'profit',
    keywords: wordSet('profit profits profitable margin margins gewinn gewinne marge margen'),
    columns: /profit|margin|gewinn|marge|ergebnis|earning|deckungsbeitrag|benefi|rentab|ganancia|utilidad|rendement/i,
  },
  {
    name: 'country or place',
    keywords: wordSet('country countries land länder ländern nation'),
    columns:
      /country|countries|land|nation|region|market|iso|locale|ort|stadt|city|location|place|address|adresse|pays|pais|lugar|lieu|ville|ciudad|direccion/i,
  },
  {
    name: 'city or place',
    keywords: wordSet('city cities stadt städte town towns'),
    columns:
      /city|cities|stadt|ort|town|location|place|address|adresse|branch|filiale|store|site|standort|station|plz|postcode|zip|ville|ciudad|lugar|lieu|commune|poblacion|localidad|municip|sede|direccion|country|region|pays|pais/i,
  },
  {
    name: 'region',
    keywords: wordSet('region regions'),
    columns:
      /region|area|gebiet|territory|country|land|state|city|stadt|ort|location|bezirk|zone|market|provincia|province|zona|comunidad|estado|departement|pays|pais|ville|ciudad/i,
  },
  {
    name: 'age',
    keywords: wordSet('age ages alter'),
    columns: /age|alter|birth|geburt|dob|years|jahr|edad|naissance|nacim|annee|ano|fecha_nac/i,
  },
  {
    name: 'gender',
    keywords: wordSet('gender sex geschlecht'),
    columns: /gender|sex|geschlecht|anrede|genero|genre|civilite|tratamiento/i,
  },
  {
    name: 'supplier',
    keywords: wordSet('supplier suppliers vendor vendors lieferant lieferanten'),
    columns:
      /supplier|vendor|lieferant|hersteller|manufacturer|carrier|provider|company|firma|name|fournisseur|proveedor|lieferer|kreditor|nom|nombre/i,
  },
  {
    name: 'weather',
    keywords: wordSet('weather wetter'),
    columns: /weather|wetter|temp|rain|regen|wind|sun|cloud|niederschlag|meteo|tiempo|lluvia|pluie|clima|viento|vent|soleil|nube/i,
  },
  { name: 'e-mail address', keywords: wordSet('email emails'), columns: /mail|contact|kontakt|address|adresse|correo|courriel|direccion/i },
  {
    name: 'phone number',
    keywords: wordSet('phone telephone telefonnummer telefon'),
    columns: /phone|tel|mobil|fax|contact|kontakt|nummer|movil|portable|numero|number|handy|cell/i,
  },
  {
    name: 'satisfaction or rating',
    keywords: wordSet('satisfaction satisfied rating ratings zufriedenheit zufrieden bewertung'),
    columns:
      /satisf|rating|score|stars|zufried|bewert|sterne|nps|recommend|note|grade|feedback|review|comment|kommentar|csat|opinion|avis|etoile|estrella|calific|valorac|puntuac|puntaje|points|punkte|recomend|empfehl|comentario|evaluat|eval|happy|happiness|mood|stimmung|smiley|likert|survey|encuesta|enquete|rate/i,
  },
  {
    name: 'salary',
    keywords: wordSet('salary salaries wage wages gehalt gehälter lohn löhne'),
    columns:
      /salar|wage|gehalt|lohn|pay|comp|income|brutto|netto|gross|amount|betrag|rate|sueldo|remuner|paie|nomina|entgelt|verguetung|vergutung|honorar|montant|importe|earn|cost|kosten/i,
  },
  {
    name: 'teacher',
    keywords: wordSet('teacher teachers lehrer lehrerin lehrkraft'),
    columns: /teacher|lehr|tutor|instructor|staff|name|profes|enseign|docente|maestr|dozent|nom|nombre/i,
  },
  {
    name: 'discount',
    keywords: wordSet('discount discounts rabatt rabatte'),
    columns: /discount|rabatt|nachlass|price|preis|skonto|percent|%|remise|reduc|descuento|rebaja|rebate|precio|prix|pct|prozent|nachlas/i,
  },
  {
    name: 'competitors',
    keywords: wordSet('competitor competitors competition konkurrenz wettbewerber'),
    columns: /compet|konkurr|wettbewerb|company|firma|brand|concurr|marque|marca|empresa|entreprise|vendor|provider/i,
  },
  {
    name: 'reason',
    keywords: wordSet('reasons grund gründe gründen'),
    columns:
      /reason|grund|ursache|cause|comment|kommentar|note|remark|bemerk|category|kategorie|type|diagnos|complaint|issue|fault|problem|status|code|raison|motif|motivo|razon|causa|comentario|categorie|categoria|tipo|beschreib|descri|detail|text/i,
  },
  {
    name: 'product',
    grouping: true,
    keywords: wordSet('product products produkt produkte artikel'),
    columns:
      /product|produkt|artik|article|item|sku|name|good|ware|material|model|type|categor|desc|bezeich|title|part|ean|service|plan|produ|referencia|reference|designation|nom|nombre|titre|titulo|course|kurs/i,
  },
  {
    name: 'customer',
    grouping: true,
    keywords: wordSet('customer customers kunde kunden client clients'),
    columns:
      /custom|kunde|client|name|user|member|buyer|account|company|firma|mail|person|guest|gast|patient|subscriber|contact|debitor|empf|acheteur|comprador|socio|adherent|abonne|usuario|utilisateur|mitglied|nutzer|besteller|compte|cuenta|nom|nombre|empresa|entreprise|organi[sz]ation|debtor|shop|filiale|branch/i,
  },
  {
    name: 'department or team',
    grouping: true,
    keywords: wordSet('department departments abteilung abteilungen'),
    columns:
      /depart|abteil|team|division|unit|bereich|group|kostenstelle|cost.?cent|section|dept|function|equipe|equipo|seccion|area|unidad|centro|centre|filiere|abt|dpt|dpto/i,
  },
  {
    name: 'seller or staff member',
    grouping: true,
    keywords: wordSet('salesperson salespeople seller sellers verkäufer verkäuferin cashier'),
    columns:
      /sales|seller|verk|agent|rep|staff|employee|mitarb|cashier|kass|name|person|owner|by|user|vend|commercial|comercial|emplead|employe|nom|nombre|cajer|caiss|responsable|berater|betreuer|clerk|waiter|server|driver/i,
  },
  {
    name: 'channel',
    grouping: true,
    keywords: wordSet('channel channels kanal kanäle'),
    columns:
      /channel|kanal|source|quelle|medium|campaign|platform|via|type|origin|canal|fuente|plataforma|plateforme|campan|campagne|kampagne|quell|herkunft|referrer/i,
  },
  {
    name: 'payment method',
    keywords: wordSet('zahlungsart zahlungsarten zahlungsmethode'),
    columns: /pay|zahl|method|card|karte|bar|cash|art$|pago|paiement|forma|moyen|mode|tarjeta|carte|efectivo|especes|art|type|tender/i,
  },
  {
    name: 'stock',
    grouping: true,
    keywords: wordSet('stock inventory lagerbestand lagerbestände vorrat vorräte'),
    columns: /stock|invent|bestand|lager|hand|qty|quant|menge|avail|vorrat|anzahl|count|level|existencia|almacen|cantidad|reserve|dispo/i,
  },
  {
    name: 'returns',
    grouping: true,
    keywords: wordSet('returns refunds retouren rücksendungen'),
    columns:
      /return|refund|retour|rück|status|state|type|reason|qty|quant|amount|menge|devoluc|rembours|reembols|estado|statut|etat|motivo|motif|tipo|montant|importe|cantidad|credit|gutschrift/i,
  },
  {
    name: 'complaints',
    grouping: true,
    keywords: wordSet('complaint complaints beschwerde beschwerden reklamation reklamationen'),
    columns:
      /complain|beschwer|reklam|ticket|issue|comment|feedback|category|type|subject|status|plainte|queja|reclam|comentario|categorie|categoria|tipo|statut|estado|beanstand|fehler|problem|topic/i,
  },
  {
    name: 'delivery',
    grouping: true,
    keywords: wordSet('delivery deliveries lieferzeit lieferung lieferungen'),
    columns:
      /deliver|liefer|ship|versand|arriv|eta|received|carrier|transit|dispatch|eingang|livrai|entrega|envio|expedi|reparto|transport|llegada|recibid|zustell/i,
  },
  {
    name: 'budget or target',
    grouping: true,
    keywords: wordSet('budget budgets target targets soll planwert planwerte'),
    columns: /budget|target|plan|soll|ziel|goal|forecast|quota|vorgabe|presupuest|objetiv|objectif|meta|prevision|prevu|cible|previst/i,
  },
  {
    name: 'tax',
    keywords: wordSet('vat mwst mehrwertsteuer umsatzsteuer'),
    columns: /tax|vat|mwst|ust|steuer|netto|brutto|net$|gross|tva|iva|impuest|impot|ttc|bruto|neto|brut|btw/i,
  },
  {
    name: 'temperature',
    keywords: wordSet('temperature temperatures temperatur temperaturen'),
    columns: /temp|grad|°|celsius|fahrenheit|deg|value|wert|reading|termo|thermo|valeur|valor|lectura|mesure|medida|measure/i,
  },
  {
    name: 'sickness or absence',
    keywords: wordSet('sickness absences absenteeism krankheit krankheitstage fehlzeiten'),
    columns:
      /sick|absen|krank|fehl|leave|away|present|attend|reason|grund|type|art|status|maladie|enferm|baja|ausenc|conge|permiso|motif|motivo|tipo|urlaub/i,
  },
  {
    name: 'nationality',
    keywords: wordSet('nationality nationalities nationalität nationalitäten'),
    columns: /nation|country|land|citizen|origin|herkunft|staat|nacional|pays|pais|origen|ciudadan/i,
  },
  {
    name: 'brand or maker',
    keywords: wordSet('brand brands marke marken manufacturer manufacturers hersteller'),
    columns:
      /brand|marke|manufact|herstell|maker|make|vendor|supplier|model|company|firma|name|product|artikel|marque|marca|fabric|fabrik|proveedor|fournisseur|produ|articul|nom|nombre|empresa|entreprise/i,
  },
  { name: 'emissions', keywords: wordSet('emission emissions emissionen co2'), columns: /co2|emiss|carbon|ghg|abgas|emisi|gei|ges|gas/i },
  {
    name: 'currency',
    keywords: wordSet('currency currencies währung währungen'),
    columns:
      /curr|währ|waehr|eur|usd|gbp|chf|€|\$|£|amount|price|betrag|preis|devise|moneda|divisa|monnaie|prix|precio|montant|importe|total|sum/i,
  },
  {
    name: 'snow',
    keywords: wordSet('snow schnee snowfall schneefall'),
    columns: /snow|schnee|precip|niederschlag|weather|wetter|neige|nieve|meteo|clima|tiempo/i,
  },
  {
    name: 'wind',
    keywords: wordSet('wind windgeschwindigkeit'),
    columns: /wind|gust|böe|weather|wetter|speed|vent|viento|rafale|racha|meteo|boe/i,
  },
  {
    name: 'return on investment',
    keywords: wordSet('roi roas'),
    columns:
      /roi|roas|revenue|umsatz|sales|income|return|profit|gewinn|erlös|value|wert|gain|revenu|ingreso|ventas|ventes|beneficio|benefice|rendement|retorno|valor|valeur|ertrag/i,
  },
  {
    name: 'attendance',
    grouping: true,
    keywords: wordSet('attendance anwesenheit'),
    columns:
      /attend|present|anwes|visit|besuch|absent|fehl|particip|teiln|spectator|zuschauer|asist|presen|ausen|espectador|spectateur|frequent/i,
  },
  {
    name: 'mileage',
    keywords: wordSet('mileage kilometerstand laufleistung'),
    columns: /mile|km|kilomet|odometer|distance|strecke|lauf|distanc|recorr|parcour/i,
  },
  { name: 'warranty', keywords: wordSet('warranty garantie gewährleistung'), columns: /warrant|garantie|gewähr|garant|gewahr/i },
  {
    name: 'insurance',
    keywords: wordSet('insurance versicherung versicherungen'),
    columns: /insur|versicher|policy|police|premium|prämie|assur|segur|aseg|poliza|prima|prime/i,
  },
  {
    name: 'language',
    grouping: true,
    keywords: wordSet('language languages sprache sprachen'),
    columns: /lang|sprach|locale|idioma|lengua/i,
  },
  {
    name: 'colour',
    grouping: true,
    keywords: wordSet('color colors colour colours farbe farben'),
    columns: /colo|farb|name|variant|desc|product|artikel|coul|couleur|nom|nombre|produ|articul/i,
  },
  {
    name: 'browser or device',
    keywords: wordSet('browser browsers'),
    columns: /browser|agent|device|client|gerät|naveg|navig|dispositivo|appareil|equipo|gerat/i,
  },
];
const explaining = wordSet(
  'is are means mean holds gives tells contains shows stands ist sind heißt bedeutet steht enthält est signifie es significa',
);
const questioning = wordSet(
  'how what which who where when why whose wie was welche welcher welches welchem wer wo wann warum wieviel show tell give list find calculate compute name zeige nenne finde berechne',
);

/** A sentence for each requested subject that no column of any table covers. */
export function absentSubjects(task: string, tables: readonly TableProfile[]): string[] {
  const profiles = tables.filter(({ column_count: count }) => count > 0).flatMap((table) => table.columns);
  if (profiles.length === 0) return [];
  const columns = profiles.flatMap(({ name }) => [name, withoutAccents(name)]);
  const tokens = readTokens(task.slice(0, 8000));
  const explained = explainedSentences(task.slice(0, 8000), profiles);
  const values = new Set(
    tables.flatMap(({ columns: own }) => own.flatMap(({ frequent }) => (frequent ?? []).map(({ value }) => value.toLowerCase()))),
  );
  const found: string[] = [];
  for (const { name, keywords, columns: speaking, grouping } of subjects) {
    const word = tokens.find(
      (token, i) =>
        token.kind === 'word' && keywords.has(token.lower) && isAsked(tokens, i) && (grouping !== true || isGrouping(tokens, i)),
    );
    if (word === undefined || columns.some((column) => speaking.test(column)) || values.has(word.lower)) continue;
    // A synonym in another language, or the task's own explanation of a column.
    if ([...keywords].some((keyword) => columnFor(keyword, profiles) !== undefined)) continue;
    if (explained.some((words) => [...keywords].some((keyword) => words.has(keyword)))) continue;
    // budget24.csv is about the budget, whatever its columns are called.
    if (tables.some((table) => [...keywords].some((each) => each.length > 3 && table.name.toLowerCase().includes(each)))) continue;
    // The remarks contain the result of price and cost.
    if (name === 'profit' && tables.some(({ remarks }) => remarks.some(({ kind }) => kind === 'margin' || kind === 'flows'))) continue;
    if (
      tables.some((table) => table.columns.some((column) => column.unit !== undefined && /[$€£]|EUR|USD|GBP|CHF/.test(column.unit))) &&
      speaking === money
    )
      continue;
    found.push(`Not in the data: no column tells ${name} ("${word.text}" was asked for), so this cannot be answered from the files.`);
  }
  return found;
}

/** The words of the task's sentences that explain a column: "are customers satisfied (csat is 1 to 5)", "tz means the mood". */
function explainedSentences(task: string, columns: readonly ColumnProfile[]): ReadonlySet<string>[] {
  const names = new Set(columns.map(({ name }) => withoutAccents(name)));
  return task.split(/[.!?](?=\s|$)|\n/).flatMap((sentence) => {
    const words = readTokens(sentence)
      .filter(({ kind }) => kind !== 'mark' && kind !== 'break')
      .map(({ lower }) => lower);
    const inBrackets = [...sentence.matchAll(/\(([^()]{1,200})\)/g)].flatMap(([, inner]) => readTokens(inner!).map(({ lower }) => lower));
    const explains = (word: string, next: string | undefined) => names.has(withoutAccents(word)) && explaining.has(next ?? '');
    return inBrackets.some((word) => names.has(withoutAccents(word))) || words.some((word, i) => explains(word, words[i + 1]))
      ? [new Set(words)]
      : [];
  });
}

/** "Will it be better next month?" */
export function forecastRemark(task: string, tables: readonly TableProfile[]): string[] {
  if (tables.every(({ rows }) => rows === 0)) return [];
  const asks =
    /(?<![\p{L}])(?:will (?:it|we|they|sales|this|the)|what will|wird (?:es|der|die|das)|wie wird|werden wir)(?![\p{L}])[^.!?\n]{0,200}\?/iu.test(
      task.slice(0, 8000),
    );
  return asks ? ['What will be is not in the files: the report tells what was, and makes no forecast.'] : [];
}

const groupingLeads = wordSet('which welche welcher welches welchen per pro je by nach what each every jede jeder jedes jedem');

/** "Which product", "by the customer". */
function isGrouping(tokens: readonly Token[], at: number): boolean {
  const before = tokens.slice(Math.max(0, at - 2), at).map(({ lower }) => lower);
  return groupingLeads.has(before.at(-1) ?? '') || (before.at(-1) === 'the' && groupingLeads.has(before[0]!));
}

/** Within a sentence that asks or orders, not in a statement. */
function isAsked(tokens: readonly Token[], at: number): boolean {
  let from = at;
  while (from > 0 && at - from < 40 && !endsSentence(tokens, from - 1)) from--;
  for (let i = from; i < tokens.length && i < at + 40; i++) {
    if (questioning.has(tokens[i]!.lower) || tokens[i]!.text === '?') return true;
    if (i > at && endsSentence(tokens, i)) return false;
  }
  return false;
}

/** "Compared to last year" over data of one year only. */
export function comparedYearRemark(task: string, tables: readonly TableProfile[]): string[] {
  const asks =
    /(?<!\p{L})(?:last year|previous year|prior year|year[ -](?:over|on)[ -]year|yoy|vorjahr\p{L}{0,4}|letzte[sn]? jahr)(?!\p{L})/iu.test(
      task.slice(0, 8000),
    );
  const dates = tables.flatMap(({ columns }) => columns.flatMap(({ dates: own }) => (own === undefined ? [] : [own])));
  const years = new Set(dates.flatMap(({ first, last }) => [first.slice(0, 4), last.slice(0, 4)]));
  const named = tables.some(({ columns, name }) =>
    [name, ...columns.map((column) => column.name)].some((text) => /(?:19|20)\d\d|year|jahr|prev|last|py/i.test(text)),
  );
  if (!asks || dates.length === 0 || years.size !== 1 || named) return [];
  return [`Not in the data: all dates are in ${[...years][0]}, so nothing can be compared with the year before.`];
}

const relating =
  /(?<!\p{L})(?:correlat\p{L}{0,6}|relation(?:ship)?s?|related|depends?|dependen\p{L}{0,4}|influences?|affects?|effects?|connection|connected|link(?:ed)?|impacts?|zusammenhang|zusammenhänge|hängt|hängen|abhängig\p{L}{0,4}|beeinfluss\p{L}{0,4}|einfluss|auswirk\p{L}{0,6}|korrel\p{L}{0,8}|(?:longer|older|larger|bigger|higher|cheaper|heavier|younger|faster)(?: \p{L}{1,30}){1,6} (?:more|less|higher|lower|better|worse|fewer|longer))(?!\p{L})/iu;

/** If the task asks whether columns are related, weak correlations are reported too. */
export function relationAnswers(task: string, tables: readonly TableProfile[]): string[] {
  if (!relating.test(task.slice(0, 8000))) return [];
  return tables.flatMap(({ correlations, columns }) =>
    correlations
      .filter(
        ({ rows, columns: pair }) =>
          rows >= 5 && pair.every((name) => columns.some((column) => column.name === name && column.derived !== true)),
      )
      .slice(0, 6)
      .map(({ columns: [a, b], r, rows }) => {
        const size = Math.abs(r);
        const word = size >= 0.7 ? 'a strong' : size >= 0.4 ? 'a moderate' : size >= 0.2 ? 'a weak' : 'no clear';
        return `Correlation of ${a} and ${b}: ${r.toFixed(2)} over ${rows} rows, ${word} linear relation${size >= 0.2 ? (r > 0 ? ' (they rise together)' : ' (the one falls where the other rises)') : ''}; a correlation is no proof of cause.`;
      }),
  );
}
