/** Places, organisations and other names of a German text, where every noun has a capital: by legal forms, by words that announce one, by known places. */

const word = '\\p{Lu}[\\p{L}\\p{N}&’-]{1,30}';
const run = new RegExp(`(?<![\\p{L}\\p{N}-])${word}(?: (?:(?:von|&) )?${word}){1,4}(?: e\\. ?V\\.)?`, 'gu');
const single = new RegExp(`(?<![\\p{L}\\p{N}-])${word}`, 'gu');
const announced =
  /(?<![\p{L}])(?:Stadt|Gemeinde|Landkreis|Kreis|Ortsteil|Stadtteil|Bezirk|Bundesland|Land|Firma|Unternehmen|Verein|Partei|Initiative|Bürgerinitiative|Agentur|Verlag|Klinik|Hochschule|Universität|Museum|Stiftung|Gewerkschaft|Fluss|Insel|Region|Kanton|Provinz) (?:\p{Lu}[\p{L}\p{N}&’-]{1,30})(?: \p{Lu}[\p{L}\p{N}&’-]{1,30}){0,3}/gu;
/** Nouns that occur beside others without being part of a name. */
const plain = new Set(
  'Jeder Jede Jedes Jeden Jedem Lange Langer Kurze Neue Neuer Neues Alte Alter Offene Offener Nächste Nächster Nächstes Letzte Letzter Große Kleine Erste Zweite Dritte Ob Sobald Solange Leitung Antwort Frage Vorschlag Bericht Abstimmung Ergebnis Herrn Der Die Das Den Dem Des Ein Eine Einen Einem Einer Eines In Im An Am Auf Aus Bei Beim Bis Für Mit Nach Seit Über Um Unter Vom Von Vor Zu Zum Zur Und Oder Aber Auch Als Ab Es Er Sie Wir Ich Ihr Man Da Dann Dort Hier Heute Gestern Morgen Nun Noch Nicht Kein Keine Alle Allen Diese Dieser Dieses Diesem Diesen Davon Dabei Damit Dazu Deren Dessen Denn Wenn Weil Wie Was Wer Wo Ende Anfang Mitte Rund Etwa Bereits Laut Wegen Während Trotz Ohne Gegen Durch Zwischen Januar Februar März April Mai Juni Juli August September Oktober November Dezember Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag Montags Uhr Euro Prozent Millionen Million Milliarden Milliarde Mio Mrd Kilometer Meter Quadratmeter Liter Tonnen Kilogramm Grad Tage Tagen Wochen Monate Monaten Jahre Jahren Stunden Minuten Stück Personen Menschen Herr Frau Herrn Dr Prof Frühjahr Sommer Herbst Winter Nummer Nr Seite Punkt TOP Ja Nein Enthaltung Enthaltungen Stimmen Guten Tag Liebe Lieber Sehr Viele Grüße Hallo Mehr Weniger Insgesamt Zudem Außerdem Nur Erst Sein Seine Ihre Unser Unsere Unseren Unserem Ihren Ihrem Ihrer Seinen Seiner Seinem Meine Meinen Mein Grüßen Gruß Postfach Straße Telefon Fax'.split(
    ' ',
  ),
);
const places = new Set(
  'Berlin Hamburg München Köln Frankfurt Stuttgart Düsseldorf Leipzig Dortmund Bremen Dresden Hannover Nürnberg Duisburg Bochum Wuppertal Bielefeld Bonn Münster Mannheim Karlsruhe Augsburg Wiesbaden Mönchengladbach Gelsenkirchen Aachen Braunschweig Chemnitz Kiel Magdeburg Freiburg Krefeld Mainz Lübeck Erfurt Oberhausen Rostock Kassel Potsdam Saarbrücken Ludwigshafen Oldenburg Leverkusen Osnabrück Solingen Heidelberg Darmstadt Regensburg Paderborn Ingolstadt Würzburg Ulm Heilbronn Wolfsburg Göttingen Pforzheim Offenbach Recklinghausen Bremerhaven Fürth Koblenz Jena Erlangen Trier Hildesheim Cottbus Gera Weimar Konstanz Passau Bamberg Bayreuth Flensburg Schwerin Tübingen Marburg Gießen Fulda Kempten Stralsund Greifswald Görlitz Zwickau Wien Graz Linz Salzburg Innsbruck Klagenfurt Zürich Bern Basel Genf Lausanne Luzern Winterthur Deutschland Österreich Schweiz Frankreich Italien Spanien Polen Tschechien Dänemark Niederlande Belgien Luxemburg England Großbritannien Irland Schweden Norwegen Finnland Portugal Griechenland Türkei Ukraine Russland China Japan Indien USA Kanada Brasilien Australien Europa Afrika Asien Amerika Paris London Rom Madrid Brüssel Amsterdam Prag Warschau Kopenhagen Oslo Stockholm Helsinki Budapest Lissabon Athen Istanbul Moskau Kiew Peking Tokio Bayern Hessen Sachsen Thüringen Brandenburg Niedersachsen Saarland Rhein Elbe Donau Neckar Bodensee Ostsee Nordsee Alpen'.split(
    ' ',
  ),
);
const states =
  /(?<![\p{L}])(?:Baden-Württemberg|Nordrhein-Westfalen|Rheinland-Pfalz|Schleswig-Holstein|Sachsen-Anhalt|Mecklenburg-Vorpommern)(?![\p{L}])/gu;

/** Names in a German sentence, as written; reads its first 4,000 characters. */
export function findGermanNames(written: string): string[] {
  const text = written.slice(0, 4000);
  const found: { name: string; index: number }[] = [];
  const add = (name: string, index: number) => {
    if (!found.some((known) => known.name.includes(name) && index >= known.index && index < known.index + known.name.length))
      found.push({ name, index });
  };
  for (const { 0: name, index } of text.matchAll(run)) {
    const words = name.split(' ');
    let from = 0;
    while (from < words.length && (plain.has(words[from]!) || /^\p{Ll}/u.test(words[from]!))) from++;
    let to = words.length;
    while (to > from && (plain.has(words[to - 1]!) || /^\p{Ll}/u.test(words[to - 1]!)) && !/^e\.|V\.$/.test(words[to - 1]!)) to--;
    const kept = words.slice(from, to);
    if (kept.length < 2 || kept.some((each) => plain.has(each))) continue;
    add(kept.join(' '), index + words.slice(0, from).join(' ').length);
  }
  for (const { 0: name, index } of text.matchAll(announced)) add(name, index);
  for (const { 0: name, index } of text.matchAll(states)) add(name, index);
  for (const { 0: name, index } of text.matchAll(single)) if (places.has(name)) add(name, index);
  return found.toSorted((a, b) => a.index - b.index).map(({ name }) => name);
}

export function isGerman(text: string): boolean {
  const words = text
    .slice(0, 20_000)
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((each) => each !== '');
  const common = words.filter((each) => small.has(each)).length;
  return words.length >= 20 && common / words.length > 0.12;
}

const small = new Set(
  'der die das und ist im in zu den von mit für auf wird ein eine nicht des dem am bis sich es wir sind auch bei zum zur nach wurde'.split(
    ' ',
  ),
);
