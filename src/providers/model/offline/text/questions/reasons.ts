/** Causes, what was ruled out, and why something was noticed late: the sentences that say so. Suspicions are told as such. */
import { contentWords } from '../../summary.ts';
import { findDates } from '../dates.ts';
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { stem, stemsInCommon } from '../stem.ts';
import { sectionOf } from '../text-kind.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

const cause =
  /(?<![\p{L}])(?:(?:root |main |actual |real )?causes? (?:was|were|is|are|of)|caused by|due to|owing to|because of|traced (?:back )?to|turned out (?:that|to be)|(?:found|established|confirmed|determined) that|fault (?:was|lay) (?:with|in)|was to blame|Ursache (?:war|ist|sind|waren)|verursacht|zurückzuführen|lag an|stellte (?:sich )?(?:fest|heraus)|herausgestellt|wegen|aufgrund|infolge|schuld (?:war|ist|daran)|Grund (?:war|ist|dafür)|la cause (?:est|était|en est)|(?:à cause|en raison) d(?:[eu]s?|['’]\p{L}{1,30})|d[uû]e?s? (?:à|aux?)|provoquée?s? par|causée?s? par|il s['’]est avéré|s['’]explique par|la causa (?:fue|es|era|è)|debid[oa]s? a|por culpa de|a causa d[ei]l?|causad[oa]s? por|resultó que|dovut[oaie] a|causat[oaie] da|è (?:risultato|emerso) che|de oorzaak (?:was|is)|vanwege|veroorzaakt door)(?![\p{L}])/iu;
const reason =
  /(?<![\p{L}])(?:because|since (?!\d|then)|as a result of|the reason (?:is|was|for)|led to|therefore|that is why|weil|deshalb|daher|denn|(?:parce|puis) ?qu(?:e|['’]\p{L}{1,30})|à la suite d[eu]|(?<=, )car|c['’]est pourquoi|porque|ya que|poiché|perché|omdat)(?![\p{L}])/iu;
const suspicion =
  /(?<![\p{L}])(?:suspects?|suspected|suspicion|thinks?|believes?|assum\p{L}{1,6}|presum\p{L}{1,6}|suppos\p{L}{1,4}|probably|perhaps|possibly|maybe|may have|might (?:have|be)|could (?:have been|be(?! \p{L}{2,14}(?:ed|en)(?![\p{L}])))|likely|seems?|vermut\p{L}{1,6}|wahrscheinlich|möglicherweise|vielleicht|glaubt|nimmt an|könnte)(?![\p{L}])/iu;
const unexamined =
  /(?<![\p{L}])(?:not (?:yet |so far )?(?:been )?(?:examined|investigated|clear|known|established|found|determined|explained|identified|inspected)|unknown|unclear|unexplained|under investigation|no explanation|nobody knows|nicht (?:untersucht|bekannt|geklärt|gefunden|klar)|ungeklärt|unklar|unbekannt)(?![\p{L}])/iu;
const excluded =
  /(?<![\p{L}])(?:ruled out|(?:did|does) not help|made no difference|(?:was|were|is) not (?:the cause|to blame|at fault|responsible|affected)|(?:no|without any|without an?) (?:fault|problem|error|defect|damage|leak|irregularit(?:y|ies)) ?(?:was |were |on |in |at |with |found|whatever)?|had nothing to do|in order|ausgeschlossen|half nicht|brachte nichts|nicht die Ursache|nicht schuld|kein(?:en)? (?:Fehler|Defekt|Schaden)|in Ordnung)(?![\p{L}])/iu;
const unnoticed =
  /(?<![\p{L}])(?:no (?:alarm|alert|warning|notification|message)|(?:nobody|no one|none) (?:notic\p{L}{1,4}|saw|read|watch\p{L}{0,3}|check\p{L}{0,3}|is|was|looked|looks|reacted|answered)|unnoticed|unread|ignored|overlooked|not (?:noticed|monitored|watched|read|on duty|forwarded|seen|checked)|only (?:checks?|monitors?|watch(?:es)?)|(?:with|only|low|lower|lowest) priority|by chance|by accident|(?:went|was sent|were sent|sent|goes)(?: [\p{L}\p{N}]{1,12}){0,5} to (?:the |an? )?(?:mailbox|inbox|address|spam|former)|(?:was|were) (?:switched|turned) off|muted|kein(?:e|en)? (?:Alarm|Warnung|Meldung)|niemand|unbemerkt|zufällig|nicht (?:bemerkt|überwacht|gelesen))(?![\p{L}])/iu;
const askingWords = new Set(
  'why cause causes caused reason reasons know known already exactly what happened happen find found tell told was were does did problem explain whether pourquoi cause raison por qué causa perché motivo waarom oorzaak est été sont était les des une fue una che della warum weshalb wieso ursache ursachen grund gründe wissen schon bekannt'.split(
    ' ',
  ),
);
const neighbours = 2;

/** "It turned out that …" is established, whatever else the sentence supposes. */
const established =
  /(?<![\p{L}])(?:turned out (?:that|to be)|(?:established|confirmed) that|stellte sich heraus|herausgestellt|il s['’]est avéré|resultó que|è (?:risultato|emerso) che)(?![\p{L}])/iu;

const opinion =
  /(?<![\p{L}])(?:suspects?|suspected|suspicion|thinks?|believes?|glaubt|nimmt an|vermut\p{L}{1,6}|pense|croit|soupçonne|cree|sospecha|crede|sospetta)(?![\p{L}])/iu;
const connecting =
  /(?<![\p{L}])(?:because|due to|owing to|caused by|weil|wegen|aufgrund|infolge|à cause|en raison|parce|provoquée?s? par|causée?s? par|debid[oa]s? a|a causa d[ei]l?|porque|perché|dovut[oaie] a|vanwege|omdat)(?![\p{L}])/iu;
const besideChars = 40;

/** Whether a sentence only supposes a cause, or says that it is not known: "nobody could work because of the smoke" supposes nothing. */
function isOpen(text: string): boolean {
  if (established.test(text)) return false;
  if (unexamined.test(text)) return true;
  const found = connecting.exec(text);
  if (found === null) return suspicion.test(text);
  const end = found.index + found[0].length;
  return opinion.test(text) || suspicion.test(text.slice(Math.max(0, found.index - besideChars), end + besideChars));
}

/** Null where the text neither names a cause of this nor says that it is not known. */
export function causeOf(clause: string, passages: readonly Passage[]): Told | null {
  const told = toldIn(passages);
  const scope = onTopic(clause, told);
  const open = isOpen;
  const isCause = ({ text }: Passage) => cause.test(text) && !open(text);
  const direct = quotesWhere(scope, isCause);
  const given = direct.length > 0 ? direct : quotesWhere(scope, ({ text }) => reason.test(text) && !open(text));
  if (given.length > 0)
    return { short: `the text gives as the cause: ${quotesShort(given)}`, lines: ['The text gives as the cause:', '', quoteTable(given)] };
  const suspected = quotesWhere(scope, ({ text }) => open(text));
  // What is supposed in one place is often known in a later one.
  const since = Math.min(...suspected.map(({ line }) => line));
  const later = quotesWhere(
    told.filter(({ line }) => line > since),
    isCause,
  );
  if (suspected.length > 0 && later.length > 0) {
    const all = [...suspected, ...later];
    return {
      short: `first only suspected, later the text names causes: ${quotesShort(later)}`,
      lines: ['First it is only suspected or not known; later the text names causes, of this or of something else:', '', quoteTable(all)],
    };
  }
  if (suspected.length === 0 || !namesTopic(clause, suspected)) return happenedIn(clause, told);
  const lead = 'The cause is not established. The text only has suspicions, or says that it is not known';
  return { short: `${lead.toLowerCase()}: ${quotesShort(suspected)}`, lines: [`${lead}:`, '', quoteTable(suspected)] };
}

export function ruledOut(passages: readonly Passage[]): Told {
  return quoted(
    quotesWhere(toldIn(passages), ({ text }) => excluded.test(text)),
    'The text does not say that anything was ruled out.',
  );
}

export function whyLate(passages: readonly Passage[]): Told {
  return quoted(
    quotesWhere(toldIn(passages), ({ text }) => unnoticed.test(text)),
    'The text does not say why it was noticed late.',
  );
}

function quoted(quotes: readonly Quote[], none: string): Told {
  return quotes.length === 0 ? notSaid(none) : { short: quotesShort(quotes), lines: [quoteTable(quotes)] };
}

function notSaid(text: string): Told {
  return { short: text.replace(/\.$/, ''), lines: [text] };
}

/** Without the lists of what is to be done: they tell nothing of what happened. */
function toldIn(passages: readonly Passage[]): Passage[] {
  return passages.filter(({ section }) => sectionOf(section) !== 'actions');
}

const calendar =
  /^(?:january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4})$/u;

/** The words of the matter that is asked about. */
function topicOf(clause: string): Set<string> {
  return new Set(
    contentWords(clause)
      .filter((word) => !askingWords.has(word) && !calendar.test(word))
      .map(stem),
  );
}

/** Whether what is only supposed is about the matter of the question; "probably two weeks" beside it supposes no cause. */
function namesTopic(clause: string, quotes: readonly Quote[]): boolean {
  const wanted = topicOf(clause);
  return wanted.size === 0 || quotes.some(({ text }) => opinion.test(text) || unexamined.test(text) || stemsInCommon(text, wanted) > 0);
}

const hindering =
  /(?<![\p{L}])(?:closed|cancelled|canceled|ran? out|broken|broke|failed|strike|ill|fever|hospital|missing|off the road|blocked|flood\p{L}{0,3}|damage|no \p{L}{3,}|holiday|geschlossen|abgesagt|ausgefallen|kaputt|krank|Streik|gesperrt|fehlt\p{L}{0,2}|kein\p{L}{0,2}|fermée?s?|annulée?s?|en panne|malade|grève|aucune?)(?![\p{L}])/iu;
const fewestHeadings = 3;

/** "Why did it fall in May?", in notes with a heading for each day: what hindered in that month, not told as the cause. */
function happenedIn(clause: string, passages: readonly Passage[]): Told | null {
  const months = monthsIn(clause);
  if (months.size === 0) return null;
  const dated = new Set(passages.filter(({ section }) => monthsIn(section).size > 0).map(({ section }) => section));
  if (dated.size < fewestHeadings) return null;
  const found = quotesWhere(
    passages,
    ({ text, section }) => hindering.test(text) && [...monthsIn(section)].some((month) => months.has(month)),
  );
  if (found.length === 0) return null;
  return {
    short: `not said as a cause; of that month the text tells: ${quotesShort(found)}`,
    lines: ['The text does not name these as the cause; of that month it tells what hindered:', '', quoteTable(found)],
  };
}

/** The months of a question or a heading, as two digits. */
function monthsIn(text: string): Set<string> {
  const named = findDates(`${text} `).flatMap(({ iso, monthDay }) => (iso ?? `0000-${monthDay ?? ''}`).slice(5, 7));
  const words = [...text.slice(0, 300).matchAll(/\p{L}{3,10}/gu)].flatMap(({ 0: word }) => {
    const [date] = /^\p{Lu}/u.test(word) ? findDates(`1 ${word} 2024`) : [];
    return date?.iso?.slice(5, 7) ?? [];
  });
  return new Set([...named, ...words].filter((month) => month.length === 2));
}

/** The passages on the topic of a question, by its words, with their neighbours; all if it has no words of its own. */
function onTopic(clause: string, passages: readonly Passage[]): Passage[] {
  const wanted = topicOf(clause);
  if (wanted.size === 0) return [...passages];
  const hits = passages.map(({ text, section }) => stemsInCommon(`${section} ${text}`, wanted));
  const around = passages.map(({ section }, at) => {
    let most = 0;
    for (let i = Math.max(0, at - neighbours); i <= Math.min(passages.length - 1, at + neighbours); i++)
      if (passages[i]!.section === section) most = Math.max(most, hits[i]!);
    return most;
  });
  // One word of several may be of another matter.
  const best = around.reduce((most, each) => Math.max(most, each), 0);
  return passages.filter((_, at) => around[at]! > 0 && around[at]! * 2 > best);
}
