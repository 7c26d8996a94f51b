/** Causes, what was ruled out, and why something was noticed late: the sentences that say so. Suspicions are told as such. */
import { contentWords } from '../../summary.ts';
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { stem, stemsInCommon } from '../stem.ts';
import { sectionOf } from '../text-kind.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

const cause =
  /(?<![\p{L}])(?:(?:root |main |actual |real )?causes? (?:was|were|is|are|of)|caused by|due to|owing to|because of|traced (?:back )?to|turned out (?:that|to be)|(?:found|established|confirmed|determined) that|fault (?:was|lay) (?:with|in)|was to blame|Ursache (?:war|ist|sind|waren)|verursacht|zurückzuführen|lag an|stellte (?:sich )?(?:fest|heraus))(?![\p{L}])/iu;
const reason =
  /(?<![\p{L}])(?:because|since (?!\d|then)|as a result of|the reason (?:is|was|for)|led to|therefore|that is why|weil|wegen|aufgrund|deshalb|daher|denn)(?![\p{L}])/iu;
const suspicion =
  /(?<![\p{L}])(?:suspects?|suspected|suspicion|thinks?|believes?|assum\p{L}{1,6}|presum\p{L}{1,6}|suppos\p{L}{1,4}|probably|perhaps|possibly|maybe|may have|might (?:have|be)|could (?:have been|be)|likely|seems?|vermut\p{L}{1,6}|wahrscheinlich|möglicherweise|vielleicht|glaubt|nimmt an|könnte)(?![\p{L}])/iu;
const unexamined =
  /(?<![\p{L}])(?:not (?:yet |so far )?(?:been )?(?:examined|investigated|clear|known|established|found|determined|explained|identified|inspected)|unknown|unclear|unexplained|under investigation|no explanation|nobody knows|nicht (?:untersucht|bekannt|geklärt|gefunden|klar)|ungeklärt|unklar|unbekannt)(?![\p{L}])/iu;
const excluded =
  /(?<![\p{L}])(?:ruled out|(?:did|does) not help|made no difference|(?:was|were|is) not (?:the cause|to blame|at fault|responsible|affected)|(?:no|without any|without an?) (?:fault|problem|error|defect|damage|leak|irregularit(?:y|ies)) ?(?:was |were |on |in |at |with |found|whatever)?|had nothing to do|in order|ausgeschlossen|half nicht|brachte nichts|nicht die Ursache|nicht schuld|kein(?:en)? (?:Fehler|Defekt|Schaden)|in Ordnung)(?![\p{L}])/iu;
const unnoticed =
  /(?<![\p{L}])(?:no (?:alarm|alert|warning|notification|message)|(?:nobody|no one|none) (?:notic\p{L}{1,4}|saw|read|watch\p{L}{0,3}|check\p{L}{0,3}|is|was|looked|looks|reacted|answered)|unnoticed|unread|ignored|overlooked|not (?:noticed|monitored|watched|read|on duty|forwarded|seen|checked)|only (?:checks?|monitors?|watch(?:es)?)|(?:with|only|low|lower|lowest) priority|by chance|by accident|(?:went|was sent|were sent|sent|goes)(?: [\p{L}\p{N}]{1,12}){0,5} to (?:the |an? )?(?:mailbox|inbox|address|spam|former)|(?:was|were) (?:switched|turned) off|muted|kein(?:e|en)? (?:Alarm|Warnung|Meldung)|niemand|unbemerkt|zufällig|nicht (?:bemerkt|überwacht|gelesen))(?![\p{L}])/iu;
const askingWords = new Set(
  'why cause causes caused reason reasons know known already exactly what happened happen find found tell told was were does did problem explain whether warum weshalb wieso ursache ursachen grund gründe wissen schon bekannt'.split(
    ' ',
  ),
);
const neighbours = 2;

export function causeOf(clause: string, passages: readonly Passage[]): Told {
  const scope = onTopic(clause, toldIn(passages));
  const open = (text: string) => suspicion.test(text) || unexamined.test(text);
  const direct = quotesWhere(scope, ({ text }) => cause.test(text) && !open(text));
  const given = direct.length > 0 ? direct : quotesWhere(scope, ({ text }) => reason.test(text) && !open(text));
  if (given.length > 0)
    return { short: `the text gives as the cause: ${quotesShort(given)}`, lines: ['The text gives as the cause:', '', quoteTable(given)] };
  const suspected = quotesWhere(scope, ({ text }) => open(text));
  if (suspected.length === 0) return notSaid('The text does not say why: no sentence on this names a cause.');
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

/** The passages on the topic of a question, by its words, with their neighbours; all if it has no words of its own. */
function onTopic(clause: string, passages: readonly Passage[]): Passage[] {
  const wanted = new Set(
    contentWords(clause)
      .filter((word) => !askingWords.has(word))
      .map(stem),
  );
  if (wanted.size === 0) return [...passages];
  const hits = passages.map(({ text, section }) => stemsInCommon(`${section} ${text}`, wanted));
  return passages.filter(({ section }, at) => {
    for (let i = Math.max(0, at - neighbours); i <= Math.min(passages.length - 1, at + neighbours); i++)
      if (hits[i]! > 0 && passages[i]!.section === section) return true;
    return false;
  });
}
