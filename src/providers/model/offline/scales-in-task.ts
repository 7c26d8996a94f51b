/** "csat is 1 to 5", "Zufriedenheit (Skala 1 bis 10)": the scales of columns that a task gives. */
import type { Scale } from '../../table/scales.ts';
import { wordSet } from '../../table/word-set.ts';
import { readTokens, type Token } from './prompt-tokens.ts';

const between = wordSet('to bis through – - à a hasta');
/** Words between the column and its scale; one of `naming` shows that a scale is meant. */
const naming = wordSet('is are ist sind es son est sont scale skala échelle escala scala rated scored range ranges goes ( : =');
const filling = wordSet('on a an the of from between von auf einer der de una une sur en the given as score scores each');
const starting = wordSet('from von between de da van');
const lows = new Set([0, 1]);
const highs = new Set([3, 4, 5, 6, 7, 9, 10, 100]);
const maxTaskChars = 8000;
const maxBetween = 6;
const maxScales = 8;
/** Words of the meaning of a scale's low end. */
const maxMeaning = 7;

/** Empty if the task gives no scale. */
export function scalesIn(task: string): { scales?: Scale[] } {
  const tokens = readTokens(task.slice(0, maxTaskChars));
  const found: Scale[] = [];
  for (let i = 2; i < tokens.length && found.length < maxScales; i++) {
    const range = rangeAt(tokens, i);
    if (range !== null) for (const column of columnsBefore(tokens, i)) found.push({ column, ...range });
  }
  return found.length === 0 ? {} : { scales: found.slice(0, maxScales) };
}

/** The words that may be the column with answers from 0 to 10 whose net promoter score the task asks for. */
export function promotersIn(task: string): { promoters_of?: string[] } {
  if (!/(?<!\p{L})(?:e?nps|net[- ]promoter)(?!\p{L})/iu.test(task.slice(0, maxTaskChars))) return {};
  const columns = (scalesIn(task).scales ?? []).filter(({ low, high }) => low === 0 && high === 10).map(({ column }) => column);
  return columns.length === 0 ? {} : { promoters_of: columns };
}

/** "1 to 5", "1-5" or "0 = very bad to 10" at token `i`. */
function rangeAt(tokens: readonly Token[], i: number): { low: number; high: number } | null {
  const joined = /^([01])[-–](\d{1,3})$/.exec(tokens[i]!.text);
  const next = isMeaning(tokens[i + 1])
    ? tokens.slice(i + 2, i + 2 + maxMeaning).findIndex(({ lower }) => between.has(lower)) + i + 2
    : i + 1;
  const apart = next > i && between.has(tokens[next]?.lower ?? '') ? [tokens[i]!.text, tokens[next + 1]?.text ?? ''] : [];
  const [low, high] = (joined === null ? apart : [joined[1]!, joined[2]!]).map((text) =>
    /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN,
  );
  return low !== undefined && high !== undefined && lows.has(low) && highs.has(high) ? { low, high } : null;
}

/** What stands between an end of a scale and its meaning: "0 = very bad". */
function isMeaning(token: Token | undefined): boolean {
  return token !== undefined && (token.text === '=' || token.text === '(');
}

/** "csat (score 1 to 5)", "answers (score 1 to 5)": either word may be the column, and only one of them is. */
function columnsBefore(tokens: readonly Token[], i: number): string[] {
  let named = isMeaning(tokens[i + 1]) && starting.has(tokens[i - 1]!.lower);
  const scores: string[] = [];
  for (let at = i - 1; at >= Math.max(0, i - maxBetween); at--) {
    const { lower, kind, text } = tokens[at]!;
    if (naming.has(lower)) named = true;
    else if (!filling.has(lower)) {
      const isColumn = (kind === 'word' || kind === 'quoted') && text.length <= 255;
      return named ? [...(isColumn ? [text] : []), ...scores] : [];
    } else if (lower === 'score' || lower === 'scores') scores.push(text);
  }
  return named ? scores : [];
}
