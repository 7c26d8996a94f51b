/** What free-text answers complain of and praise: words of one meaning in four languages are one theme, counted by answers and by group. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { ratingBounds, ratingOf } from './ratings.ts';
import { groupingColumns } from './score.ts';

type Tone = 'complaint' | 'praise';
/** `tone`: what the theme is where neither words nor rating say it. */
type Theme = { name: string; words: RegExp; tone?: Tone };

const theme = (name: string, words: string, tone?: Tone): Theme => ({
  name,
  words: new RegExp(`(?<![\\p{L}])(?:${words})(?![\\p{L}])`, 'iu'),
  ...(tone === undefined ? {} : { tone }),
});
const themes: readonly Theme[] = [
  theme(
    'waiting and queues',
    "queue[sd]?|queu(?:e)?ing|wait(?:s|ed|ing)?|(?:long|the|in) lines?|Schlangen?|Wartezeit(?:en)?|warten|gewartet|anstehen|file d'attente|attente|attendre|colas?|esperas?|esperar",
    'complaint',
  ),
  theme(
    'prices',
    'pric(?:e|es|ey|ing)|expensive|overpriced|dear|cheap(?:er)?|costs? too|overcharged|charged (?:us |me )?[€$£]?\\d{1,6}|teuer\\p{L}{0,2}|Preise?n?|günstig\\p{L}{0,2}|cher|chère|chers|prix|car[oa]s?|precios?|barat[oa]',
    'complaint',
  ),
  theme(
    'staff and service',
    'staff|team|employees?|waiters?|waitress(?:es)?|receptionists?|cashiers?|friendly|unfriendly|kind(?! of)|rude|helpful|service|Personal|Mitarbeiter\\p{L}{0,5}|(?:un)?freundlich\\p{L}{0,2}|hilfsbereit\\p{L}{0,2}|personnel|équipe|aimables?|accueil|amables?',
  ),
  theme(
    'vegetarian and vegan food',
    'vegetarians?|vegans?|veggie|veg|vegetarische?[nrs]?|vegane?[nrs]?|fleischlos\\p{L}{0,2}|végétarien\\p{L}{0,3}|végane?s?|vegetarian[oa]s?|vegan[oa]s?',
    'complaint',
  ),
  theme(
    'taste of the food',
    '(?:good|great|excellent|nice|lovely|bad|awful|terrible) (?:food|meals?|lunch(?:es)?|dish(?:es)?|soups?|salads?|curry|pasta|fish|coffee|cakes?|dinner)|tast(?:e|es|ed|y|eless)|delicious|flavou?rs?|bland|schmeckt?|lecker\\p{L}{0,2}|Geschmack|délicieu(?:x|se)|goût|delicios[oa]s?|sabor|ric[oa]',
  ),
  theme('breakfast', 'breakfasts?|Frühstück|petit[- ]déjeuner|desayunos?'),
  theme('wifi and internet', 'wi-?fi|wlan|internet'),
  theme(
    'bathroom and shower',
    'showers?|bathrooms?|toilets?|Duschen?|Badezimmer|Toiletten?|douches?|toilettes|salle de bains?|duchas?|baños?',
  ),
  theme(
    'cold or heating',
    'cold|lukewarm|freezing|froze|icy|unheated|heating|heizung|chauffage|calefacción|riscaldamento|kalte?[nrs]?|lauwarm\\p{L}{0,2}|froide?s?|tiède|frí[oa]s?',
    'complaint',
  ),
  theme('noise', 'loud|nois(?:e|y)|laut|Lärm|bruit|bruyante?s?|ruido|ruidos[oa]', 'complaint'),
  theme(
    'cleanliness',
    'clean(?:er|liness)?|dirty|dirt|insects?|bed ?bugs?|cockroach(?:es)?|mould|sauber\\p{L}{0,4}|schmutzig\\p{L}{0,2}|dreckig\\p{L}{0,2}|propreté|propres?|suci[oa]s?|limpi[oae]\\p{L}{0,3}',
  ),
  theme('choice', 'choice|variety|selection|monotonous|always the same|Auswahl|Abwechslung|eintönig|choix|variété|variedad'),
  theme('portions', 'portions?|Portionen|rations?|raciones|ración'),
  theme('parking', 'parking|car park|Parkpl[aä]tze?n?|stationnement|aparcamiento'),
  theme('delivery', 'deliver(?:y(?! (?:vans?|trucks?|lorr(?:y|ies)))|ies|ed)|shipping|Lieferung(?:en)?|Lieferzeit|livraisons?|entregas?'),
  theme('opening hours', 'opening hours|opening times|Öffnungszeit(?:en)?|horaires|horarios?'),
  theme('app and website', 'app|website|web site|login|Webseite|site web|página web'),
  theme('seats and space', 'seats?|seating|crowded|overcrowded|Sitzpl[aä]tze?n?|places assises|asientos'),
  theme('pay', 'salary|salaries|wages?|underpaid|Gehalt|Gehälter|Lohn|Löhne|salaires?|salarios?'),
  theme('management', 'managers?|management|boss(?:es)?|leadership|Vorgesetzte[nr]?|Führung|hiérarchie|jefes?'),
  theme('workload', 'workload|stress(?:ful|ed)?|overtime|understaffed|Überstunden|Arbeitsbelastung|surcharge|sobrecarga'),
  theme('communication', 'communication|informed|information|Kommunikation|comunicación'),
];
const positive =
  /(?<![\p{L}])(?:good|great|excellent|nice|lovely|loved?|best|remembered|out of their way|fast (?:wi-?fi|internet|service|delivery)|friendly|kind(?! of)|helpful|tasty|delicious|thanks?|perfect|wonderful|super|always smile|happy|clean|cheap|fair|gut\p{L}{0,2}|toll|freundlich\p{L}{0,2}|hilfsbereit\p{L}{0,2}|lecker\p{L}{0,2}|sauber\p{L}{0,2}|danke|günstig|bien|bonne?s?|excellente?s?|aimables?|délicieu(?:x|se)|merci|parfait|buen[oa]?s?|muy rico|amables?|delicios[oa]s?|gracias|limpi[oa])(?![\p{L}])/iu;
const negative =
  /(?<![\p{L}])(?:too|no|not|never|nobody|bad|worse|worst|poor|slow|cold|rude|unfriendly|dirty|expensive|overpriced|awful|terrible|bland|tasteless|forgot|forgotten|ignored|broken|blocked|weak|drops? every|dropped every|without asking|nothing|problem|missing|lacks?|isn't|don't|doesn't|can't|wasn't|zu|kein\p{L}{0,2}|nicht|nie|schlecht\p{L}{0,2}|unfreundlich\p{L}{0,2}|teuer\p{L}{0,2}|kalt\p{L}{0,2}|fehlt|trop|pas|jamais|mauvaise?s?|cher|froide?s?|demasiado|muy (?:caro|cara|lento|frío)|mal[oa]?s?|nunca|falta)(?![\p{L}])/iu;
/** "Not bad", "no queue", "nothing to complain about". */
const reversed =
  /(?<![\p{L}])(?:not (?:too )?(?:bad|expensive|long|slow|loud|cold)|no (?:queues?|waiting|wait|problems?|complaints?)|nothing (?:to complain|wrong|bad)|nicht (?:schlecht|teuer)|keine (?:Schlange|Wartezeit|Probleme)|pas (?:mal|cher))(?![\p{L}])/iu;
/** Nouns that a clause names by the way, after the word that it is about: "the noise of delivery vans". */
const sourceOfNoise =
  /(?<![\p{L}])(noise|sound|smell|Lärm|Geruch|bruit|odeur|ruido|olor) (?:of|from|von|der|des|du|de|del) (?:\p{L}{1,20} ){0,2}\p{L}{1,20}/giu;
/** Whom an answer complained to: "we told the manager twice". */
const informed =
  /(?<![\p{L}])(?:told|informed|asked|called|contacted|(?:wrote|complained|spoke|talked|reported (?:it |this |that )?) ?(?:to|with)) (?:the |a |our |your )?(?:\p{L}{1,20} )?(?:managers?|management|boss|staff|team|waiters?|waitress|receptionists?)(?![\p{L}])/giu;
const wishing =
  /(?<![\p{L}])(?:please|more|better|should|would like|wish|want|need|bitte|mehr|bessere?[nrs]?|wünsche|sollte|plus de|más|por favor)(?![\p{L}])/iu;
const parts = /[.!?;] |(?:, | )(?:but|however|though|aber|jedoch|mais|pero) /iu;
const maxChars = 500;
const maxParts = 8;
const fewestAnswers = 10;
const fewestOfGroup = 5;
const themesShown = 8;
const themesOfGroup = 4;
const maxGroups = 8;
/** Themes that cover fewer answers say little of them. */
const minCovered = 0.3;

/** @param rows answers with content; the findings are empty where the themes cover few of them */
export function themeFindings(table: ColumnsInMemory, plan: ColumnPlan, rows: readonly number[]): Finding[] {
  if (rows.length < fewestAnswers) return [];
  const texts = table.texts(plan);
  const rated = ratingsOf(table);
  const said = new Map(rows.map((at) => [at, saidIn(texts[at]!, rated(at))]));
  if ([...said.values()].filter(({ themed }) => themed.size > 0).length < rows.length * minCovered) return [];
  return [
    toneFinding(table, plan, said, 'complaint', 'complaints', 'Complaints and wishes'),
    toneFinding(table, plan, said, 'praise', 'praise', 'Praise'),
  ].filter((finding) => finding !== null);
}

/** Whether the word says that something is good or bad. */
export function isOpinion(word: string): boolean {
  return positive.test(word) || negative.test(word);
}

/** Whether a sentence names a known theme. */
export function hasTheme(sentence: string): boolean {
  const read = subjectsOf(sentence.slice(0, maxChars));
  return themes.some(({ words }) => words.test(read));
}

/** `themed`: themes with their tones. `tones`: by the rating; by the words where there is none. */
type Said = { themed: ReadonlySet<string>; tones: ReadonlySet<Tone> };

/** Each part of a sentence has its own tone. */
function saidIn(text: string, rated: Tone | null): Said {
  const themed = new Set<string>();
  const tones = new Set<Tone>(rated === null ? [] : [rated]);
  for (const part of text.slice(0, maxChars).split(parts).slice(0, maxParts)) {
    const spoken = toneOf(part);
    if (rated === null && spoken !== null) tones.add(spoken);
    const read = subjectsOf(part);
    for (const { name, words, tone } of themes) {
      if (!words.test(read)) continue;
      const which = spoken ?? tone ?? rated;
      if (which !== null) themed.add(`${which} ${name}`);
    }
  }
  return { themed, tones };
}

/** The part without nouns that it names by the way. */
function subjectsOf(part: string): string {
  return part.replace(sourceOfNoise, '$1').replace(informed, '');
}

/** Null where the words do not say, or say both. */
function toneOf(part: string): Tone | null {
  if (reversed.test(part)) return 'praise';
  const [good, bad] = [positive.test(part), negative.test(part)];
  if (good !== bad)
    return good
      ? wishing.test(part) && !/(?<![\p{L}])(?:thanks?|danke|merci|gracias)(?![\p{L}])/iu.test(part)
        ? 'complaint'
        : 'praise'
      : 'complaint';
  return !good && wishing.test(part) ? 'complaint' : null;
}

function ratingsOf(table: ColumnsInMemory): (at: number) => Tone | null {
  const rating = ratingOf(table);
  const bounds = rating === undefined ? null : ratingBounds(rating);
  if (rating === undefined || bounds === null) return () => null;
  const values = table.numbers(rating);
  return (at) => (values[at]! <= bounds.low ? 'complaint' : values[at]! >= bounds.high ? 'praise' : null);
}

function toneFinding(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  said: ReadonlyMap<number, Said>,
  tone: Tone,
  kind: string,
  lead: string,
): Finding | null {
  const rows = [...said.keys()];
  const all = ranked(rows, said, tone);
  if (all.length === 0) return null;
  const [group] = groupingColumns(table, maxGroups);
  return {
    kind,
    text: `${lead} in ${plan.name} by theme, words of one meaning together (${countOf(rows.length, 'answer')} with text): ${namesOf(all.slice(0, themesShown))}${tone === 'complaint' ? complaintsWithoutTheme(said) : ''}.${group === undefined ? '' : byGroup(table, group, said, tone)}`,
  };
}

/** How many answers complain of something that no theme covers. Praise is not counted: a good rating may stand beside any text. */
function complaintsWithoutTheme(said: ReadonlyMap<number, Said>): string {
  const count = [...said.values()].filter(
    ({ themed, tones }) => tones.has('complaint') && !themes.some(({ name }) => themed.has(`complaint ${name}`)),
  ).length;
  return count === 0
    ? ''
    : `; ${countOf(count, 'more answer')} with a low rating or words of complaint ${count === 1 ? 'has' : 'have'} no known theme`;
}

function byGroup(table: ColumnsInMemory, group: ColumnPlan, said: ReadonlyMap<number, Said>, tone: Tone): string {
  const texts = table.texts(group);
  const groups = Map.groupBy(
    [...said.keys()].filter((at) => texts[at] !== ''),
    (at) => texts[at]!,
  );
  const each = [...groups]
    .toSorted((a, b) => b[1].length - a[1].length)
    .map(([name, rows]) => {
      const own = ranked(rows, said, tone);
      const few = rows.length < fewestOfGroup ? ', too few to judge' : '';
      const found =
        own.length > 0
          ? namesOf(own.slice(0, themesOfGroup))
          : rows.some((at) => said.get(at)!.tones.has(tone))
            ? 'no known theme'
            : 'none';
      return `${name} (${countOf(rows.length, 'answer')}${few}): ${found}`;
    });
  return ` By ${group.name}: ${each.join('; ')}.`;
}

function ranked(rows: readonly number[], said: ReadonlyMap<number, Said>, tone: Tone): [string, number][] {
  return themes
    .map(({ name }): [string, number] => [name, rows.filter((at) => said.get(at)!.themed.has(`${tone} ${name}`)).length])
    .filter(([, count]) => count > 0)
    .toSorted((a, b) => b[1] - a[1]);
}

function namesOf(counts: readonly [string, number][]): string {
  return counts.map(([name, count]) => `${name} ${exact(count)}`).join(', ');
}
