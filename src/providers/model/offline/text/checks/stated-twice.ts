/** One thing for which a text states two dates or two amounts: "The fair is on 9 May" and, further below, "The fair is on 16 May". */
import { type Amount, isMoney } from '../amounts.ts';
import { findDates } from '../dates.ts';
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { cited } from '../questions/told.ts';
import { stemsOf } from '../stem.ts';

const stating =
  /^(?<subject>[^.,;:!?()]{3,80}?) (?:(?<start>starts?|begins?|will (?:start|begin)|beginnt|beginnen|startet|commence(?:nt)?|débute|empieza|comienza|inizia|begint)|(?<end>ends?|will end|endet|se termine|termina|finisce|eindigt)|(?<place>is|are|will be|takes? place|will take place|will be held|ist|sind|findet|finden|wird|est|sont|a lieu|aura lieu|sera|es|son|será|tiene lugar|è|sarà|si svolge)|(?<price>costs?|will cost|amounts? to|beträgt|betragen|kostet|kosten|coûte(?:nt)?|s['’]élève à|cuestan?|costa(?:no)?))(?![\p{L}])/u;
/** Of another time, another part, or no plain statement. */
const other =
  /\?|(?<![\p{L}])(?:was|were|had|previous(?:ly)?|former(?:ly)?|earlier|before|until|since|from|last|next|instead|not|no longer|corrected|moved|postponed|now|new|then|later|each|every|per|if|would|could|about|around|up to|at least|first|second|third|another|also|or|children|members|reduced|war|waren|früher|zuvor|vorher|bisher|bis|seit|ab|letzte[nrsm]?|nächste[nrsm]?|statt(?= \p{L})|nicht|korrigiert|verschoben|neue?[nrsm]?|dann|später|jede[rsnm]?|pro|je|wenn|würde|etwa|rund|mindestens|höchstens|erste[nrsm]?|zweite[nrsm]?|auch|oder|Kinder|Mitglieder|ermäßigt|était|avant|jusqu|depuis|dernier|prochain|au lieu|corrigé|reporté|nouveau|ensuite|chaque|par|si|environ|premier|deuxième|aussi|ou|antes|hasta|desde|último|próximo|cada|también|prima|fino|scorso|prossimo|ogni|anche)(?![\p{L}])/iu;
const maxStatements = 300;
/** Words such as "beim". */
const shortWord = 4;
const maxChars = 240;
const maxFound = 20;

type Statement = {
  kind: string;
  stems: ReadonlySet<string>;
  heading: ReadonlySet<string>;
  value: string;
  written: string;
  passage: Passage;
};

export function statedTwice(passages: readonly Passage[]): Quote[] {
  const statements = passages.flatMap((passage) => statementOf(passage) ?? []).slice(0, maxStatements);
  const found: Quote[] = [];
  for (const [i, later] of statements.entries()) {
    const first = statements.slice(0, i).find((each) => each.kind === later.kind && each.value !== later.value && isSame(each, later));
    if (first === undefined || found.length === maxFound) continue;
    found.push({
      text: `The text says ${first.written} (${cited(first.passage)}) and ${later.written} (${cited(later.passage)}) of the same thing.`,
      line: later.passage.line,
    });
  }
  return found;
}

/** Null for a sentence that states no single date or amount of a named thing. */
function statementOf(passage: Passage): Statement | null {
  const { text, section, amounts } = passage;
  const groups = text.length > maxChars || other.test(text) ? undefined : stating.exec(text)?.groups;
  if (groups === undefined || groups.subject === undefined) return null;
  const stems = stemsOf(groups.subject);
  const [date, ...dates] = findDates(text);
  const [amount, ...more] = amounts;
  if (stems.size === 0 || /\d/.test(groups.subject) || dates.length + more.length > 0) return null;
  const role = groups.start !== undefined ? 'start' : groups.end !== undefined ? 'end' : 'place';
  const own = { stems, heading: stemsOf(section), passage };
  const day = date?.iso?.slice(5) ?? date?.monthDay ?? null;
  if (date !== undefined && amount === undefined && day !== null && groups.price === undefined)
    return { ...own, kind: `date ${role}`, value: day, written: date.written };
  if (amount !== undefined && date === undefined && isMeasured(amount) && role === 'place')
    return { ...own, kind: `amount ${amount.unit}`, value: String(amount.value), written: amount.written };
  return null;
}

function isMeasured(amount: Amount): boolean {
  return isMoney(amount) || amount.unit.length > 1;
}

/** Words that only one of the subjects has must stand in the heading above the other; amounts of one word are of their section. */
function isSame(a: Statement, b: Statement): boolean {
  const only = (one: Statement, two: Statement) => [...one.stems].filter((each) => each.length > shortWord && !two.stems.has(each));
  const isNear = a.passage.section === b.passage.section;
  if (a.kind.startsWith('amount') && Math.min(a.stems.size, b.stems.size) < 2 && !isNear) return false;
  const common = [...a.stems].some((each) => b.stems.has(each));
  return common && only(a, b).every((each) => b.heading.has(each)) && only(b, a).every((each) => a.heading.has(each));
}
