/** The content words of free-text answers that are nouns, by the words beside them. In English, German, French, Spanish and Italian. */
import { wordSet } from '../word-set.ts';
import { isOpinion } from './comment-tones.ts';

const maxTextChars = 500;
const stopWords = wordSet(
  'a about after again all also always every each am an and any are as at back be because been before being but by came can come comes could did do does doing done down far for from get gets go got had has have having he her here him his how i if in ' +
    'into is it its just like look looks made make many me more most much my never no nor not now of off on once one only or other our out over own please quite really same she should so some still such than thank thanks that the their them ' +
    'then there these they thing things this those through to too up us use used very was way we well were what when where which while who why will with would you your would im ive dont didnt cant wont isnt wasnt it’s ' +
    'time times day days week weeks weekend month months year years hour hours minute minutes morning evening lot bit rest part couple new old last next since until first second special works worked working free one two three four five six seven eight nine ten eleven twelve whole big small little long short high low late early full different current recent everything something anything nothing everyone everybody someone nobody ' +
    'aber alle als also am an auch auf aus bei beim bin bis bitte da das dass dem den der des die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas für ganz gibt hab habe haben hat ' +
    'hatte ich ihr im in ist ja jetzt kann kein keine können mal man mehr mein meine mich mir mit muss nach nicht noch nur oder ohne schon sehr sein seine sich sie sind so über um und uns unser unter viel vom von vor war ' +
    'waren warum was weil weiter wenn wer wie wieder wir wird wurde würde zu zum zur zeit tag tage woche stunde stunden minuten jahr mal alles nichts neu neue neuen neuer letzte letzten seit ' +
    'le la les un une des du de et est sont était étaient dans pour par sur avec sans pas plus très trop que qui nous vous ils elles notre votre ce cette ces mais ou où au aux en se son sa ses été avons avez jour jours temps heure heures fois tout tous toute toutes rien nouveau nouvelle dernier dernière depuis ' +
    'el los las una unos unas del al y o es son era fue fueron está están muy más menos no nos su sus con sin por para que lo se mi mis pero como todo todos toda todas nada nuevo nueva último última desde día días tiempo hora horas vez veces ' +
    'il lo gli uno della delle dei degli nel nella con per che non più molto è era sono erano tutto tutti giorno giorni ora ore volta ma anche',
);
/** Beside them a noun follows. */
const nounLeads = wordSet(
  'the a an my our your their his her its this that these those no any some many several both another of for with without in at on from by about near during ' +
    'der die das den dem des ein eine einen einem einer mein meine meinem unser unsere unserem unseren kein keine keinen viele wenige im am beim zum zur vom für mit ohne bei ' +
    'le la les un une des du au aux de mon ma mes notre nos ce cet cette ces aucun aucune pour avec sans dans ' +
    'el los las una del al mi mis nuestro nuestra este esta ningún muchos muchas pocos con sin para en ' +
    'il lo gli della del delle dei nel nella',
);
/** Beside them a verb or an adjective follows. */
const otherLeads = wordSet(
  'to i we you they he she it who us me not never too very so really quite more most as could can would will should must did do does is was were are be been being had have has always just still nobody ' +
    'zu ich wir ihr sie er es uns nicht sehr ist war sind waren wurde wurden wird hat haben nie immer ' +
    'je nous vous ils elle elles très trop est était sont pas plus si on ' +
    'yo muy es era fue está son nos se lo más menos no tan ' +
    'è era sono molto troppo non',
);
/** After the first word of a sentence: it is the subject. */
const afterSubject = wordSet(
  'was is are were has had ended came ist war sind waren est était sont es era fue está fueron è sono erano kam',
);
/** Before the name of a place, without an article. */
const placeLeads = wordSet('at to near until since from via towards à');
const sentenceEnd = /[.!?;:]\s{1,4}/;
/** Words of one meaning in several languages are one topic. */
const meanings = new Map(
  [
    'breakfast frühstück petit-déjeuner desayuno colazione ontbijt',
    'wifi wi-fi wlan internet',
    'shower dusche douche ducha doccia',
    'staff personal personnel personale mitarbeiter équipe',
    'noise lärm bruit ruido rumore',
    'room zimmer chambre habitación kamer',
    'bed bett cama letto',
    'bathroom badezimmer baño bagno',
    'food essen nourriture comida cibo eten',
    'price preis prix precio prezzo prijs',
    'queue schlange warteschlange fila',
    'parking parkplatz stationnement aparcamiento parcheggio',
    'delivery lieferung livraison entrega consegna levering',
    'service servicio servizio',
    'teacher lehrer lehrerin professeur profesor profesora insegnante',
    'course kurs cours curso corso',
    'pool schwimmbad piscine piscina zwembad',
    'coffee kaffee café caffè koffie',
    'kitchen küche cuisine cocina cucina',
    'doctor arzt médecin médico medico',
  ].flatMap((line) => {
    const words = line.split(' ');
    return words.map((word) => [word, words[0]!] as const);
  }),
);

/** What one answer contains: its content words and pairs of adjacent ones by their stem, as written. */
export type Bag = { terms: Map<string, string> };
export type Words = { bags: Bag[]; isNoun: (term: string) => boolean };

export function wordsOf(answers: readonly string[]): Words {
  const evidence = new Map<string, number>();
  const places = new Map<string, number>();
  const bags = answers.map((answer) => readWords(answer, evidence, places));
  const isNoun = (term: string) => {
    const words = term.split(' ');
    // A pair such as "audio guide" has the evidence of its first word.
    return words.some((word) => (evidence.get(word) ?? 0) > 0) && !words.some((word) => isOpinion(word) || (places.get(word) ?? 0) > 0);
  };
  return { bags, isNoun };
}

function readWords(text: string, evidence: Map<string, number>, places: Map<string, number>): Bag {
  const terms = new Map<string, string>();
  for (const sentence of text.slice(0, maxTextChars).split(sentenceEnd)) {
    const written = sentence.split(/[^\p{L}\p{N}'’-]+/u).filter((word) => word !== '');
    let before = '';
    let beforeForm = '';
    for (const [i, form] of written.entries()) {
      const raw = form.toLowerCase();
      const word = raw.replaceAll(/['’]/g, '');
      if (word.length < 3 || stopWords.has(raw) || stopWords.has(word) || !/\p{L}/u.test(word)) {
        before = '';
        continue;
      }
      const stem = stemOf(word);
      evidence.set(stem, (evidence.get(stem) ?? 0) + nounEvidence(written, i));
      places.set(stem, (places.get(stem) ?? 0) + placeEvidence(written, i));
      terms.set(stem, terms.get(stem) ?? raw);
      if (before !== '') terms.set(`${before} ${stem}`, `${beforeForm} ${raw}`);
      before = stem;
      beforeForm = raw;
    }
  }
  return { terms };
}

/** 1 where the word stands as a noun does, −1 where it stands as a verb or an adjective does, else 0. */
function nounEvidence(written: readonly string[], at: number): number {
  if (at === 0) return afterSubject.has(written[1]?.toLowerCase() ?? '') ? 1 : 0;
  // A capital within a sentence: a noun in German, a name elsewhere.
  if (/^\p{Lu}\p{Ll}/u.test(written[at]!)) return 1;
  const before = written[at - 1]!.toLowerCase();
  if (nounLeads.has(before)) return 1;
  return otherLeads.has(before) ? -1 : isOpinion(before) ? 1 : 0;
}

/** 1 where a capital follows a word such as "near" without an article, as in the name of a place; −1 for a small letter, else 0. */
function placeEvidence(written: readonly string[], at: number): number {
  if (/^\p{Ll}/u.test(written[at]!)) return -1;
  const [lead, before] = [written[at - 2] ?? '', written[at - 1] ?? ''];
  return placeLeads.has(before.toLowerCase()) || (/^\p{Lu}/u.test(before) && placeLeads.has(lead.toLowerCase())) ? 1 : 0;
}

/** English plurals, and words of one meaning; a stronger rule would join different words. */
function stemOf(word: string): string {
  const singular =
    word.length > 4 && word.endsWith('ies')
      ? `${word.slice(0, -3)}y`
      : word.length > 3 && word.endsWith('s') && !word.endsWith('ss') && !word.endsWith('us') && !word.endsWith('is')
        ? word.slice(0, -1)
        : word;
  return meanings.get(singular) ?? singular;
}
