/** Headings, heads of tables and fixed words of a summary in the language of the task. What is copied from the text stays as it is. */

import { wordSet } from '../../table/word-set.ts';

export type ReportLanguage = 'de' | 'fr';

/** Frequent words, also of languages that a summary is not written in: they share words with the others. */
const small = {
  de: wordSet(
    'der die das und ist im in zu den von mit für auf wird ein eine nicht des dem was wer wie wann warum wo bis muss bitte uns wir ich sich sind auch aus',
  ),
  fr: wordSet(
    "le la les et est un une des du de dans pour avec sur que qui quoi quand quel quelle pourquoi comment combien où nous vous je il elle pas ce cette qu'est-ce est-il est-elle sont-ils a-t-il au aux à notre",
  ),
  en: wordSet('the and is of to a in for with on what who when which why how that this it we you i are was our be by do does'),
  es: wordSet('el la los las y en un una de del por para con que qué quién quiénes cuándo cuál cuánto cómo dónde es son se no más al'),
  it: wordSet('il lo la gli le i e in un una di del della dei per con che chi cosa quando quale quanto come dove perché è sono si non al'),
  pt: wordSet('o a os as e em um uma de do da dos das por para com que quem quando qual quanto como onde é são se não ao'),
  nl: wordSet('de het een en in van is op voor met wat wie wanneer waarom hoe welke zijn er niet aan te door bij'),
};
const fewestWords = 6;
const leastShare = 0.2;
const maxChars = 4_000;

/** Null for other languages, and for a task that is too short or too mixed to tell. */
export function languageOf(task: string): ReportLanguage | null {
  const words = task
    .slice(0, maxChars)
    .toLowerCase()
    .split(/[^\p{L}'’-]+/u)
    .filter((word) => word !== '');
  if (words.length < fewestWords) return null;
  const count = (language: keyof typeof small) => words.filter((word) => small[language].has(word)).length;
  const counts = (Object.keys(small) as (keyof typeof small)[]).map((language) => ({ language, found: count(language) }));
  const [first, second] = counts.sort((a, b) => b.found - a.found) as [(typeof counts)[0], (typeof counts)[0]];
  const { language, found } = first;
  if (found < words.length * leastShare || found === second.found) return null;
  return language === 'de' || language === 'fr' ? language : null;
}

/** English, German, French. */
const fixed: readonly (readonly [string, string, string])[] = [
  ['What was asked', 'Was gefragt war', 'Ce qui était demandé'],
  ['Decisions', 'Beschlüsse', 'Décisions'],
  ['Decisions that a later one replaced', 'Beschlüsse, die ein späterer ersetzt', 'Décisions remplacées par une plus récente'],
  [
    'Days and figures that a later sentence replaced',
    'Tage und Zahlen, die ein späterer Satz ersetzt',
    'Jours et chiffres remplacés plus loin',
  ],
  ['Actions', 'Aufgaben', 'Tâches'],
  ['Actions for which nobody is named', 'Aufgaben, für die niemand genannt ist', 'Tâches sans responsable'],
  ['Actions without a deadline', 'Aufgaben ohne Frist', 'Tâches sans échéance'],
  ['What does not fit together', 'Was nicht zusammenpasst', 'Ce qui ne concorde pas'],
  ['Differences', 'Differenzen', 'Différences'],
  ['Put off or not decided', 'Vertagt oder nicht entschieden', 'Reporté ou non décidé'],
  ['Objections and abstentions', 'Einwände und Enthaltungen', 'Objections et abstentions'],
  ['Objections and fears', 'Einwände und Befürchtungen', 'Objections et craintes'],
  ['Questions asked', 'Gestellte Fragen', 'Questions posées'],
  ['Open questions', 'Offene Fragen', 'Questions ouvertes'],
  ['Risks and blockers', 'Risiken und Hindernisse', 'Risques et obstacles'],
  ['People', 'Personen', 'Personnes'],
  ['Absent or apologies', 'Abwesend oder entschuldigt', 'Absents ou excusés'],
  [
    'Other names (places, organisations and others, by their capitals; not told apart)',
    'Andere Namen (Orte, Vereine und andere, an der Großschreibung erkannt; nicht unterschieden)',
    'Autres noms (lieux, organisations et autres, d’après les majuscules ; non distingués)',
  ],
  ['Sentences that quote somebody', 'Sätze, die jemanden zitieren', 'Phrases qui citent quelqu’un'],
  ['Entries', 'Einträge', 'Entrées'],
  ['Entries of the log', 'Einträge des Buchs', 'Entrées du journal'],
  ['Corrections and later additions', 'Berichtigungen und Nachträge', 'Corrections et ajouts'],
  ['Speakers', 'Wer spricht', 'Qui parle'],
  ['Dates', 'Termine', 'Dates'],
  ['Figures', 'Zahlen', 'Chiffres'],
  ['E-mail addresses', 'E-Mail-Adressen', 'Adresses e-mail'],
  ['Web addresses', 'Webadressen', 'Adresses web'],
  ['Fields', 'Angaben', 'Champs'],
  ['Headings', 'Überschriften', 'Titres'],
  ['Remarks', 'Bemerkungen', 'Remarques'],
  [
    'Marked as confidential: keep it, and what stands below it, out of what goes to others',
    'Als vertraulich gekennzeichnet: gehört, mit dem, was darunter steht, nicht in das, was an andere geht',
    'Marqué confidentiel : à retirer, avec ce qui suit, de ce qui part à d’autres',
  ],
  // Heads and cells of tables.
  ['As written', 'Wortlaut', 'Texte'],
  ['Line', 'Zeile', 'Ligne'],
  ['Under', 'Unter', 'Sous'],
  ['Who', 'Wer', 'Qui'],
  ['What, as written', 'Was (Wortlaut)', 'Quoi (texte)'],
  ['By when', 'Bis wann', 'Échéance'],
  ['Date', 'Datum', 'Date'],
  ['Done', 'Erledigt', 'Fait'],
  ['Why it is open', 'Warum offen', 'Pourquoi c’est ouvert'],
  ['Decided first', 'Zuerst beschlossen', 'Décidé d’abord'],
  ['Replaced by', 'Ersetzt durch', 'Remplacé par'],
  ['Said first', 'Zuerst gesagt', 'Dit d’abord'],
  ['Where', 'Wo', 'Où'],
  ['Name', 'Name', 'Nom'],
  ['First on line', 'Zuerst in Zeile', 'D’abord ligne'],
  ['Speaker', 'Wer', 'Qui'],
  ['Turns', 'Beiträge', 'Prises de parole'],
  ['Words', 'Wörter', 'Mots'],
  ['Value', 'Wert', 'Valeur'],
  ['Day', 'Tag', 'Jour'],
  ['Time', 'Uhrzeit', 'Heure'],
  ['Entry, as written', 'Eintrag (Wortlaut)', 'Entrée (texte)'],
  ['Found', 'Gefunden', 'Trouvé'],
  ['File', 'Datei', 'Fichier'],
  ['What', 'Was', 'Quoi'],
  ['Sum', 'Summe', 'Somme'],
  ['Notes', 'Bemerkungen', 'Remarques'],
  ['When', 'Wann', 'Quand'],
  ['Last entry with a fault', 'Letzter Eintrag mit einem Fehler', 'Dernière entrée avec une panne'],
  ['Entries with a fault', 'Einträge mit einem Fehler', 'Entrées avec une panne'],
  ['Sum of its figures', 'Summe der Zahlen', 'Somme des chiffres'],
  ['Figure before', 'Zahl vorher', 'Chiffre avant'],
  ['Figure now', 'Zahl jetzt', 'Chiffre corrigé'],
  ['Of the entry', 'Des Eintrags', 'De l’entrée'],
  ['not said', 'nicht gesagt', 'non dit'],
  ['nobody named', 'niemand genannt', 'personne'],
  ['yes', 'ja', 'oui'],
  ['open', 'offen', 'ouvert'],
  ['open question', 'offene Frage', 'question ouverte'],
  ['put off or not decided', 'vertagt oder nicht entschieden', 'reporté ou non décidé'],
  ['action for which nobody is named', 'Aufgabe, für die niemand genannt ist', 'tâche sans responsable'],
  // Whole lines.
  [
    'Sums of the figures beside each code, over all entries that name several; corrected figures count with their later value:',
    'Summen der Zahlen neben jedem Kürzel, über alle Einträge, die mehrere nennen; berichtigte Zahlen zählen mit ihrem späteren Wert:',
    'Sommes des chiffres à côté de chaque code, sur toutes les entrées qui en nomment plusieurs ; les chiffres corrigés comptent avec leur dernière valeur :',
  ],
  [
    'Faults for which no later entry says, in the words that the rules know, that they were repaired:',
    'Fehler, von denen kein späterer Eintrag in Worten, die die Regeln kennen, sagt, dass sie behoben sind:',
    'Pannes dont aucune entrée plus récente ne dit, dans les mots que les règles connaissent, qu’elles sont réparées :',
  ],
  [
    'Entries that name a fault, which is not yet what the trouble costs:',
    'Einträge, die einen Fehler nennen; was der Ärger kostet, ist das noch nicht:',
    'Entrées qui nomment une panne ; ce n’est pas encore ce que coûtent les ennuis :',
  ],
  ['The text begins with:', 'Der Text beginnt so:', 'Le texte commence ainsi :'],
  ['The text gives as the cause:', 'Der Text nennt als Ursache:', 'Le texte donne comme cause :'],
  ['The newest message says:', 'Die neueste Nachricht sagt:', 'Le message le plus récent dit :'],
  [
    '*Written by the offline model: by fixed rules, without a language model. Figures come from profile_table and code_exec; sentences of texts are copied, not rephrased.*',
    '*Vom eingebauten Modell geschrieben: nach festen Regeln, ohne Sprachmodell. Zahlen kommen aus profile_table und code_exec; Sätze der Texte sind abgeschrieben, nicht umformuliert.*',
    '*Écrit par le modèle intégré : par des règles fixes, sans modèle de langue. Les chiffres viennent de profile_table et de code_exec ; les phrases des textes sont copiées, pas reformulées.*',
  ],
  ['No action was found by the rules.', 'Die Regeln haben keine Aufgabe gefunden.', 'Les règles n’ont trouvé aucune tâche.'],
  ['No decision was found by the rules.', 'Die Regeln haben keinen Beschluss gefunden.', 'Les règles n’ont trouvé aucune décision.'],
  ['Nothing open was found by the rules.', 'Die Regeln haben nichts Offenes gefunden.', 'Les règles n’ont rien trouvé d’ouvert.'],
  ['Not answered by the built-in rules.', 'Von den eingebauten Regeln nicht beantwortet.', 'Sans réponse des règles intégrées.'],
  [
    'Not answered by the built-in rules; these lines share most words with it:',
    'Von den eingebauten Regeln nicht beantwortet; diese Zeilen haben die meisten Wörter mit der Frage gemeinsam:',
    'Sans réponse des règles intégrées ; ces lignes ont le plus de mots en commun avec la question :',
  ],
  ['Decided first and replaced by a later one:', 'Zuerst beschlossen und später ersetzt:', 'Décidé d’abord, puis remplacé :'],
  ['Decided first and replaced by a later message:', 'Zuerst beschlossen und später ersetzt:', 'Décidé d’abord, puis remplacé :'],
  ['A later sentence replaced that day:', 'Ein späterer Satz ersetzt diesen Tag:', 'Une phrase plus récente remplace ce jour :'],
  [
    'Read by its form as minutes or notes of a meeting.',
    'Der Form nach ein Protokoll oder Notizen einer Sitzung.',
    'D’après sa forme, le compte rendu ou les notes d’une réunion.',
  ],
  ['Read by its form as a transcript.', 'Der Form nach ein Gespräch.', 'D’après sa forme, une conversation.'],
  ['Read by its form as e-mails.', 'Der Form nach E-Mails.', 'D’après sa forme, des e-mails.'],
  ['Read by its form as a plain text.', 'Der Form nach ein einfacher Text.', 'D’après sa forme, un texte simple.'],
];
const words: Record<ReportLanguage, ReadonlyMap<string, string>> = {
  de: new Map(fixed.map(([en, de]) => [en, de])),
  fr: new Map(fixed.map(([en, , fr]) => [en, fr])),
};
/** Parts of a heading or of a note in a cell; `$1` is what they are about. */
const patterns: Record<ReportLanguage, readonly (readonly [RegExp, string])[]> = {
  de: [
    [/^Summary of (.{1,200})$/, 'Zusammenfassung: $1'],
    [/^(.{1,200}) in its own sentences$/, '$1 in eigenen Sätzen'],
    [/: ([\d,]{1,9}) words? in ([\d,]{1,9}) sentences?/, ': $1 Wörter in $2 Sätzen'],
    [/\(a year, no day\)/, '(ein Jahr, kein Tag)'],
    [/^All together: ([\d.,]{1,20})\.$/, 'Zusammen: $1.'],
    [/confidential\)$/, 'vertraulich)'],
    [/^What (.{1,200}) holds$/, 'Was in $1 steht'],
    [/^Its own date: (.{1,120}), line (\d{1,6})\.$/, 'Eigenes Datum: $1, Zeile $2.'],
    [/\(year (?:taken|counted) from line (\d{1,6})/, '(Jahr aus Zeile $1'],
    [/\(counted from (\d{4}-\d{2}-\d{2}), line (\d{1,6})/, '(gezählt ab $1, Zeile $2'],
    [/\(counted from (\d{4}-\d{2}-\d{2}), the day of the message/, '(gezählt ab $1, dem Tag der Nachricht'],
    [/; settled on line (\d{1,6})\)/, '; erledigt laut Zeile $1)'],
    [/: replaced on line (\d{1,6})/, ': ersetzt in Zeile $1'],
  ],
  fr: [
    [/^Summary of (.{1,200})$/, 'Résumé : $1'],
    [/^(.{1,200}) in its own sentences$/, '$1 dans ses propres phrases'],
    [/: ([\d,]{1,9}) words? in ([\d,]{1,9}) sentences?/, ' : $1 mots en $2 phrases'],
    [/\(a year, no day\)/, '(une année, sans jour)'],
    [/^All together: ([\d.,]{1,20})\.$/, 'En tout : $1.'],
    [/confidential\)$/, 'confidentiel)'],
    [/^What (.{1,200}) holds$/, 'Ce que contient $1'],
    [/^Its own date: (.{1,120}), line (\d{1,6})\.$/, 'Sa propre date : $1, ligne $2.'],
    [/\(year (?:taken|counted) from line (\d{1,6})/, '(année de la ligne $1'],
    [/\(counted from (\d{4}-\d{2}-\d{2}), line (\d{1,6})/, '(compté depuis le $1, ligne $2'],
    [/\(counted from (\d{4}-\d{2}-\d{2}), the day of the message/, '(compté depuis le $1, jour du message'],
    [/; settled on line (\d{1,6})\)/, '; réglé d’après la ligne $1)'],
    [/: replaced on line (\d{1,6})/, ' : remplacé ligne $1'],
  ],
};

/** Columns whose cells hold words of the report beside what is copied. */
const ownColumns = new Set(['Who', 'By when', 'Date', 'Done', 'Why it is open', 'ISO', 'What, as written', 'Where']);

/** A summary in English with its own words in another language. */
export function inLanguage(markdown: string, language: ReportLanguage | null): string {
  if (language === null) return markdown;
  const lines = markdown.split('\n');
  let head: string[] = [];
  return lines
    .map((line, i) => {
      const marks = /^#{1,3} /.exec(line)?.[0];
      if (marks !== undefined) return marks + told(line.slice(marks.length), language);
      if (!line.startsWith('| ') || !line.endsWith(' |')) return told(line, language);
      const cells = line.slice(2, -2).split(' | ');
      const isHead = lines[i + 1]?.startsWith('| ---') === true;
      if (isHead) head = cells;
      return `| ${cells.map((cell, at) => (isHead || ownColumns.has(head[at] ?? '') ? told(cell, language) : cell)).join(' | ')} |`;
    })
    .join('\n');
}

function told(text: string, language: ReportLanguage): string {
  const known = words[language].get(text);
  if (known !== undefined) return known;
  return text.length > maxChars ? text : patterns[language].reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
}
