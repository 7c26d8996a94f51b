/** What one free-text answer complains of and praises, by words of one meaning in English, German, French, Spanish and Italian. */
export type Tone = 'complaint' | 'praise';
/** `tone`: what the theme is where neither words nor rating say it. */
type Theme = { name: string; words: RegExp; tone?: Tone };

const theme = (name: string, words: string, tone?: Tone): Theme => ({
  name,
  words: new RegExp(`(?<![\\p{L}])(?:${words})(?![\\p{L}])`, 'iu'),
  ...(tone === undefined ? {} : { tone }),
});
export const themes: readonly Theme[] = [
  theme(
    'waiting and queues',
    "queue[sd]?|queu(?:e)?ing|wait(?:s|ed|ing)?|(?:long|the|in) lines?|Schlangen?|Wartezeit(?:en)?|warten|gewartet|anstehen|file d'attente|attente|attendre|attendu|colas?|esperas?|esperar|esperamos|esperé|code? interminabili|attesa|aspettat[oa]|aspettare",
    'complaint',
  ),
  theme(
    'delays',
    '(?<!(?:audio|sound|video|time) )delay(?:s|ed)?|lateness|behind schedule|(?:minutes?|mins?|hours?|days?|weeks?|months?|too|very|so|was|were|is|are|always|often|came|comes?|ran|runs|running|again|arriv(?:es?|ed|ing)|deliver(?:ed|y)|\\d{1,3} ?min) late(?! (?:at night|in the)| \\p{L}{3,9}(?:day|er)(?![\\p{L}]))|late (?:again|by|for|arrival|delivery|departure|start)|missed (?:my|our|the|her|his|their) (?:\\p{L}{1,12} )?(?:connection|bus|train|flight|ferry|tram|plane|appointment)|verspätet\\p{L}{0,2}|Verspätung(?:en)?|zu spät|Anschluss verpasst|verzögert|Verzögerung(?:en)?|retards?|retrasos?|retrasad[oa]s?|ritard[oi]|con demora|demoras?',
    'complaint',
  ),
  theme(
    'prices',
    'pric(?:e|es|ey|ing)|expensive|overpriced|dear|cheap(?:er)?|costs? too|overcharged|charged (?:us |me )?[€$£]?\\d{1,6}|teuer\\p{L}{0,2}|Preise?n?|günstig\\p{L}{0,2}|cher|chère|chers|prix|car[oa]s?|precios?|barat[oa]',
    'complaint',
  ),
  theme(
    'staff and service',
    'staff|team|employees?|waiters?|waitress(?:es)?|receptionists?|cashiers?|friendly|unfriendly|kind(?! of)|rude|helpful|(?<!self[- ])service|Personal|Mitarbeiter\\p{L}{0,5}|(?:un)?freundlich\\p{L}{0,2}|hilfsbereit\\p{L}{0,2}|personnel|équipe|aimables?|accueil|amables?',
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
  theme(
    'machines and terminals',
    'self[- ]?(?:check-?outs?|service|scan)|(?:ticket|vending|card|checkout|coin) machines?|machines? (?:\\p{L}{1,10} )?(?:broken|swallow(?:ed|s)?|ate|eats)|card readers?|terminals?|Automaten?|Selbstbedienungskassen?|bornes?|distributeurs?|cajeros?|máquinas?|distributor[ei]',
    'complaint',
  ),
  theme('breakfast', 'breakfasts?|Frühstück|petit[- ]déjeuner|desayunos?'),
  theme('wifi and internet', 'wi-?fi|wlan|internet'),
  theme(
    'toilets and showers',
    'showers?|bathrooms?|washrooms?|restrooms?|toilets?|Duschen?|Badezimmer|Toiletten?|douches?|toilettes|salle de bains?|duchas?|baños?',
  ),
  theme(
    'cold or heating',
    'cold|lukewarm|freezing|froze|icy|unheated|heating|heizung|chauffage|calefacción|riscaldamento|radiators?|heaters?|(?:sat|slept|stood|wore|wearing|kept) (?:\\p{L}{1,6} )?in (?:our|my|their|his|her) (?:coats?|jackets?)|shiver(?:ed|ing)|froren|gefroren|Heizkörper|kalte?[nrs]?|lauwarm\\p{L}{0,2}|froide?s?|tiède|frí[oa]s?|fredd[oa]|fredd[ie]|radiateurs?|radiadores|termosifoni?',
    'complaint',
  ),
  theme(
    'noise',
    'loud(?:ly)?|nois(?:e|es|y)|slamm(?:ed|ing) doors?|snor(?:ing|ed)|laut|Lärm|bruit|bruyante?s?|ruidos?|ruidos[oa]|rumor[ei]|rumoros[oa]',
    'complaint',
  ),
  theme(
    'cleanliness',
    'clean(?:er|ed|liness)?|unclean|dirty|dirt|filthy|filth|disgusting|stank|stinks?|smelly|unwashed|not washed|stains?|stained|insects?|bed ?bugs?|cockroach(?:es)?|mould|sauber\\p{L}{0,4}|schmutzig\\p{L}{0,2}|dreckig\\p{L}{0,2}|propreté|propres?|suci[oa]s?|sales?|saletés?|sporc[oai]|sporche|puli(?:to|ta|ti|te|zia)|limpi[oae]\\p{L}{0,3}',
  ),
  theme('choice', 'choice|variety|selection|monotonous|always the same|Auswahl|Abwechslung|eintönig|choix|variété|variedad'),
  theme('portions', 'portions?|Portionen|rations?|raciones|ración'),
  theme(
    'slowness',
    '(?:too |very |so )?slow(?:ly|er|ness)?|sluggish|takes (?:ages|forever)|langsam\\p{L}{0,2}|lente?s?|lentement|lent[oa]s?|lentezza|traag|trage',
    'complaint',
  ),
  theme('parking', 'parking|car park|Parkpl[aä]tze?n?|stationnement|aparcamiento'),
  theme('delivery', 'deliver(?:y(?! (?:vans?|trucks?|lorr(?:y|ies)))|ies|ed)|shipping|Lieferung(?:en)?|Lieferzeit|livraisons?|entregas?'),
  theme(
    'opening hours',
    "opening (?:hours|times)|hours (?:are |were )?(?:too short|useless|bad|wrong)|shut(?:s|ting)? (?:at|on|early|when)|clos(?:ed|es|ing) (?:at|so|too|early|when|on my)|know when it['’]s open|Öffnungszeiten|(?:schließt|macht) zu früh|horaires d['’]ouverture|ferme trop tôt|horarios? de apertura|orari(?:o)? di apertura|Öffnungszeit|horaires|horarios?",
    'complaint',
  ),
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
  /(?<![\p{L}])(?:too|no|not|never|nobody|bad|worse|worst|poor|slow|cold|rude|unfriendly|dirty|expensive|overpriced|awful|terrible|horrible|disgusting|filthy|bland|tasteless|forgot|forgotten|ignored|broken|blocked|weak|drops? every|dropped every|without asking|nothing|problem|missing|lacks?|isn't|don't|doesn't|can't|wasn't|zu|kein\p{L}{0,2}|nicht|nie|schlecht\p{L}{0,2}|unfreundlich\p{L}{0,2}|teuer\p{L}{0,2}|kalt\p{L}{0,2}|fehlt|trop|pas|jamais|mauvaise?s?|cher|froide?s?|demasiado|muy (?:caro|cara|lento|frío)|mal[oa]?s?|nunca|falta)(?![\p{L}])/iu;
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
const parts = /[.!?;] |(?:, | )(?:but|however|though|aber|jedoch|mais|pero|però|maar) |, (?:nur|only|only the|solo|sauf|ma|mas) /iu;
const sentenceEnds = /(?<=[.!?…]) /u;
const maxChars = 500;
const maxParts = 8;

/** Whether the word says that something is good or bad. */
export function isOpinion(word: string): boolean {
  return positive.test(word) || negative.test(word);
}

/** Whether a sentence names a known theme. */
export function hasTheme(sentence: string): boolean {
  const read = subjectsOf(sentence.slice(0, maxChars));
  return themes.some(({ words }) => words.test(read));
}

/** The first sentence that names the theme; the whole text if the theme needs more than one. */
export function themeIn(text: string, name: string): string {
  const words = themes.find((each) => each.name === name)?.words;
  return text.split(sentenceEnds).find((sentence) => words?.test(subjectsOf(sentence))) ?? text;
}

/** `themed`: themes with their tones. `neutral`: themes whose tone neither words nor rating say. `tones`: by the rating; by the words where there is none. */
export type Said = { themed: ReadonlySet<string>; neutral: ReadonlySet<string>; tones: ReadonlySet<Tone> };

/** Each part of a sentence has its own tone. */
export function saidIn(text: string, rated: Tone | null): Said {
  const themed = new Set<string>();
  const neutral = new Set<string>();
  const tones = new Set<Tone>(rated === null ? [] : [rated]);
  for (const part of text.slice(0, maxChars).split(parts).slice(0, maxParts)) {
    const spoken = toneOf(part);
    if (rated === null && spoken !== null) tones.add(spoken);
    const read = subjectsOf(part);
    for (const { name, words, tone } of themes) {
      if (!words.test(read)) continue;
      const which = spoken ?? tone ?? rated;
      if (which === null) neutral.add(name);
      else themed.add(`${which} ${name}`);
    }
  }
  return { themed, neutral, tones };
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
