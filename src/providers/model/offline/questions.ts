/** Splits a task into its questions and requests: one for each interrogative or order, without statements. Pure and linear. */

import { wordSet } from '../../table/word-set.ts';
import { collapseWhitespace, endsSentence, readTokens, type Token } from './prompt-tokens.ts';

/** "I would like the total, the best month, and anything odd": a list of requests. */
const wishers = wordSet('i we ich wir je nous');
const wishes = wordSet('like want need möchte möchten brauche brauchen will wollen voudrais veux');
/** Begin a part of such a list. */
const articles = wordSet('the any anything everything all both das die den der alle alles le la les');
const orders = wordSet('give show tell list name find report zeige nenne liste finde donne montre');
const maxWishTokens = 4;
const maxListTokens = 100;
const interrogatives = wordSet(
  'what which who whom whose where when why how was welche welcher welches welchen welchem wer wem wessen wo wann warum wie wieviel ' +
    'worüber wofür womit wozu wodurch woran qual quais quem quantos quantas onde wat wie welk welke hoeveel wanneer waar waarom waarover hoe ' +
    'qui quand combien quel quelle quels quelles pourquoi comment qué quién quiénes cuándo cuánto cuánta cuántos cuántas cuál cuáles cómo dónde chi cosa quando quanto quanti quanta quali quale perché',
);
const choosing = wordSet(
  'which welche welcher welches welchen welchem quel quelle quels quelles cuál cuáles qué quale quali qual quais welke',
);
/** Begin a question or an order only at the start of a sentence or after a comma. */
const openers = wordSet(
  'is are were do does did can should has have tell show list name give find check compare point say state calculate compute rank report ist sind gibt hat haben stimmt stimmen hay existen cuadran há existem klopt kloppen zijn ci y zeige nenne liste finde prüfe vergleiche berechne ' +
    'ermittle bestimme zähle gib nenn zeig calcule calculez donne donnez montre montrez liste listez indique indiquez compte comptez dis dites ' +
    'calcula muestra lista indica dime dame cuenta calcola mostra elenca dimmi dammi conta determine count identify',
);
/** "Read a.csv and tell me what they praise." */
const telling = wordSet('tell show give sag sage zeige nenne');
/** "Which site earns most and are there errors", in one sentence of another language. */
const checking = wordSet('hay existen gibt stimmt stimmen sind klopt kloppen zijn há existem y ci');
const prepositions = wordSet('on in at for from by during an am im um zu für bei à en dans pour a em no na per op om voor bij');
const dutch = wordSet('welke welk wat wie hoeveel wanneer waar waarom hoe');
const portuguese = wordSet('em no a com de');
const italian = wordSet('in a con di per');
/** "On which day", "in what month". */
const skipped = wordSet(
  'on in at for am im an en em à um für auf please and also then so but or could would you kindly just bitte und auch dann now finally me et y e che ¿ ce que pour para per',
);
/** "Which region and which product": so few tokens are no question without what follows. */
const fragmentTokens = 3;
/** "Can I?", with its mark. */
const shortTokens = 4;
const maxTokens = 2000;
const maxQuestions = 12;
const maxClauses = 24;
const maxChars = 200;

/** Begin a part of a sentence that asks for something of its own: "check A, and whether B". */
const reporting = wordSet('whether ob');

/** All parts of a task, also those that are no question: "From the timeline, work out how long it took, and whether it is right." */
export function clausesIn(task: string): string[] {
  const tokens = readTokens(task.slice(0, 8000)).slice(0, maxTokens);
  const clauses: string[] = [];
  let from = 0;
  const close = (to: number) => {
    const start = firstWord(tokens, from, to);
    if (start < to && clauses.length < maxClauses) clauses.push(textOf(task, tokens, start, to));
    from = to;
  };
  for (let i = 0; i < tokens.length; i++) {
    if (endsSentence(tokens, i)) close(i + 1);
    else if (i > from && (beginsPart(tokens, i) || beginsReport(tokens, i) || isListed(tokens, i))) close(i);
  }
  close(tokens.length);
  return clauses;
}

/** Asked for on their own in a list: "what it costs, the dates, and what is open". */
const listed = wordSet('dates names people figures amounts sums decisions actions deadlines quotes termine namen beträge zahlen fristen');
/** Of two words: "who does what, open points, next meeting". */
const listedPairs: readonly (readonly [ReadonlySet<string>, ReadonlySet<string>])[] = [
  [wordSet('open offene points'), wordSet('points questions issues items matters punkte fragen ouverts')],
  [
    wordSet('next nächste nächster nächstes prochaine próxima prossima'),
    wordSet('meeting session date sitzung treffen termin réunion reunión riunione'),
  ],
];
const determiners = wordSet('the all key important main die alle wichtigen');

function isListed(tokens: readonly Token[], i: number): boolean {
  const { kind, lower } = tokens[i]!;
  if (!isAnd(tokens[i]!) && !(kind === 'mark' && lower === ',')) return false;
  let at = i + 1;
  while (at < i + 5 && at < tokens.length && (isAnd(tokens[at]!) || determiners.has(tokens[at]!.lower))) at++;
  const word = (of: number) => tokens[of]?.lower ?? '';
  const isPair = listedPairs.some(([first, second]) => first.has(word(at)) && second.has(word(at + 1)));
  const next = tokens[at + (isPair ? 2 : 1)];
  return (isPair || listed.has(word(at))) && (next === undefined || next.kind === 'mark' || next.kind === 'break' || isAnd(next));
}

function beginsReport(tokens: readonly Token[], i: number): boolean {
  const { lower, kind } = tokens[i]!;
  if (!isAnd(tokens[i]!) && !(kind === 'mark' && lower === ',')) return false;
  const next = tokens[firstWord(tokens, i, Math.min(tokens.length, i + 4))];
  return next !== undefined && reporting.has(next.lower);
}

/** In their order; a question of the tokens before its first word. */
export function questionsIn(task: string): string[] {
  const tokens = readTokens(task.slice(0, 8000)).slice(0, maxTokens);
  const questions: string[] = [];
  /** Where a clause that is no request begins: "I want to say that ours is best, can I?" asks about it. */
  let statement: number | null = null;
  let from = 0;
  /** Whether the next part of the sentence belongs to a list of requests. */
  let isList = false;
  const close = (to: number) => {
    const begin = firstWord(tokens, from, to);
    const wish = wishIn(tokens, begin);
    const inQue = [begin - 2, begin - 1].find((at) => at >= from && isInQue(tokens, at)) ?? null;
    const start = wish ?? inQue ?? begin;
    const request = start < to && (isRequest(tokens[start]!) || wish !== null || inQue !== null || isList);
    isList = request && !endsSentence(tokens, to - 1) && (isList || wish !== null || orders.has(tokens[start]!.lower));
    if (request && isFragment(tokens, start, to) && statement === null && questions.length > 0) {
      const first = questions.pop()!;
      questions.push(`${first}, ${textOf(task, tokens, start, to).toLowerCase()}`);
    } else if (request) questions.push(textOf(task, tokens, to - start < shortTokens ? (statement ?? start) : start, to));
    statement = request || start >= to || endsSentence(tokens, to - 1) ? null : start;
    from = to;
  };
  for (let i = 0; i < tokens.length; i++) {
    if (endsSentence(tokens, i)) close(i + 1);
    else if (
      i > from &&
      (beginsPart(tokens, i) ||
        beginsReport(tokens, i) ||
        (beginsItem(tokens, i) && (isList || beginsList(tokens, firstWord(tokens, from, i))))) &&
      !isInBrackets(tokens, from, i) &&
      !(isAnd(tokens[i]!) && isInterrogative(tokens[i + 1]?.lower ?? '') && isOnlyNamed(tokens, from, i))
    )
      close(i);
  }
  close(tokens.length);
  return questions.slice(0, maxQuestions);
}

/** "Tell me which ticket type" (and which month was best) names what is asked for and does not ask yet. */
function isOnlyNamed(tokens: readonly Token[], from: number, to: number): boolean {
  const first = firstWord(tokens, from, to);
  const isTold = telling.has(tokens[first]?.lower ?? '') && isInterrogative(tokens[first + 2]?.lower ?? '');
  const start = isTold ? first + 2 : first;
  return to - start < fragmentTokens || (to - start === fragmentTokens && choosing.has(tokens[start]!.lower));
}

/** "which day", "which the least": a part of the question before it. */
function isFragment(tokens: readonly Token[], start: number, to: number): boolean {
  if (to - start < fragmentTokens) return true;
  const words = tokens.slice(start, Math.min(to, start + fragmentTokens + 2)).filter(({ kind }) => kind !== 'mark' && kind !== 'break');
  return words.length <= fragmentTokens && interrogatives.has(words[0]!.lower) && articles.has(words[1]?.lower ?? '');
}

/** Where the list after "I would like" begins; null if the words are no wish for several things. */
function wishIn(tokens: readonly Token[], begin: number): number | null {
  if (!wishers.has(tokens[begin]?.lower ?? '')) return null;
  const said = tokens.slice(begin, begin + maxWishTokens).findIndex(({ lower }) => wishes.has(lower));
  const start = begin + said + 1;
  if (said < 1 || !articles.has(tokens[start]?.lower ?? '')) return null;
  const end = Math.min(tokens.length, start + maxListTokens);
  for (let i = start; i < end && !endsSentence(tokens, i); i++) if (beginsItem(tokens, i)) return start;
  return null;
}

function beginsList(tokens: readonly Token[], begin: number): boolean {
  return orders.has(tokens[begin]?.lower ?? '') || wishIn(tokens, begin) !== null;
}

/** "…, the best products", "…, and anything odd". */
function beginsItem(tokens: readonly Token[], i: number): boolean {
  if (tokens[i]!.kind !== 'mark' || tokens[i]!.lower !== ',') return false;
  const next = tokens[i + 1];
  return articles.has((next !== undefined && isAnd(next) ? tokens[i + 2]?.lower : next?.lower) ?? '');
}

/** "(January to May, is against budget)" is a part of its question. */
function isInBrackets(tokens: readonly Token[], from: number, at: number): boolean {
  let depth = 0;
  for (let i = from; i < at; i++) depth += tokens[i]!.text === '(' ? 1 : tokens[i]!.text === ')' ? -1 : 0;
  return depth > 0;
}

function firstWord(tokens: readonly Token[], from: number, to: number): number {
  let at = from;
  while (
    at < to &&
    (tokens[at]!.kind === 'mark' || tokens[at]!.kind === 'break' || (skipped.has(tokens[at]!.lower) && !isThereAny(tokens, at)))
  )
    at++;
  return at;
}

/** The "y" of "y a-t-il" is no "and". */
function isThereAny(tokens: readonly Token[], at: number): boolean {
  return tokens[at]!.lower === 'y' && /^a-t-/.test(tokens[at + 1]?.lower ?? '');
}

export function isInterrogative(word: string): boolean {
  // "What's still open?"
  return interrogatives.has(word.replace(/['’]s$/, '')) || word.startsWith("qu'") || word.startsWith('qu’');
}

function isRequest({ lower }: Token): boolean {
  return isInterrogative(lower) || openers.has(lower) || reporting.has(lower);
}

/** A comma or a colon, and "and" with an interrogative or with "tell me", divide a sentence: "how much, and which month". */
function beginsPart(tokens: readonly Token[], i: number): boolean {
  const { lower, kind } = tokens[i]!;
  if (kind === 'mark' && (lower === ',' || lower === ':')) {
    const next = tokens[firstWord(tokens, i, Math.min(tokens.length, i + 4))];
    return next !== undefined && isRequest(next);
  }
  if (lower === 'en') return dutch.has(wordAfter(tokens, i));
  if (!isAnd(tokens[i]!)) return false;
  if (isInterrogative(wordAfter(tokens, i)) || isInQue(tokens, i + 1)) return true;
  // "E che cosa".
  const at = i + (tokens[i + 1]?.lower === 'che' ? 2 : 1);
  const [next, second] = [tokens[at]?.lower ?? '', tokens[at + 1]?.lower ?? ''];
  return (
    isInterrogative(next) ||
    isCheck(next, second) ||
    (telling.has(next) && (second === 'me' || second === 'us' || second === 'mir' || second === 'uns'))
  );
}

/** The word after "and", or after "and" with a preposition: "and on which day", "und in welchem Monat", "y en qué mes". */
function wordAfter(tokens: readonly Token[], i: number): string {
  const next = tokens[i + 1]?.lower ?? '';
  if (!prepositions.has(next)) return next;
  // "Who does what and by when" is one question.
  const second = tokens[i + 2]?.lower ?? '';
  return choosing.has(second) || second === 'what' || second === 'wat' ? second : '';
}

/** "e em que mês", "e in che mese": an interrogative only behind a preposition. */
function isInQue(tokens: readonly Token[], i: number): boolean {
  const [lead, word] = [tokens[i]?.lower ?? '', tokens[i + 1]?.lower ?? ''];
  return (word === 'que' && portuguese.has(lead)) || (word === 'che' && italian.has(lead));
}

/** "y hay errores", "et y a-t-il des erreurs", "e ci sono errori". */
function isCheck(next: string, second: string): boolean {
  return checking.has(next) && (next !== 'y' || /^a-t-il|^a$/.test(second)) && (next !== 'ci' || second === 'sono');
}

function isAnd({ lower }: Token): boolean {
  return lower === 'and' || lower === 'und' || lower === 'et' || lower === 'y' || lower === 'e';
}

function textOf(task: string, tokens: readonly Token[], from: number, to: number): string {
  let last = to - 1;
  while (last > from && (tokens[last]!.kind === 'break' || ',;:'.includes(tokens[last]!.text) || isAnd(tokens[last]!))) last--;
  const text = collapseWhitespace(task.slice(tokens[from]!.start, Math.min(tokens[last]!.end, tokens[from]!.start + 4 * maxChars)));
  const short = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return short[0]!.toUpperCase() + short.slice(1);
}
