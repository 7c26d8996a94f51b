/** "csat is 1 to 5", "Zufriedenheit (Skala 1 bis 10)": the scales of columns that a task gives. */
import type { Scale } from '../../table/scales.ts';
import { readTokens, type Token } from './prompt-tokens.ts';

const set = (list: string) => new Set(list.split(' '));
const between = set('to bis through – - à a hasta');
/** Words between the column and its scale; one of `naming` shows that a scale is meant. */
const naming = set('is are ist sind es son est sont scale skala échelle escala scala rated scored range ranges goes ( : =');
const filling = set('on a an the of from von auf einer der de una une sur en the given as score scores each');
const lows = new Set([0, 1]);
const highs = new Set([3, 4, 5, 6, 7, 9, 10, 100]);
const maxTaskChars = 8000;
const maxBetween = 6;
const maxScales = 8;

/** Empty if the task gives no scale. */
export function scalesIn(task: string): { scales?: Scale[] } {
  const tokens = readTokens(task.slice(0, maxTaskChars));
  const found: Scale[] = [];
  for (let i = 2; i < tokens.length && found.length < maxScales; i++) {
    const range = rangeAt(tokens, i);
    const column = range === null ? null : columnBefore(tokens, i);
    if (range !== null && column !== null) found.push({ column, ...range });
  }
  return found.length === 0 ? {} : { scales: found };
}

/** "1 to 5" or "1-5" at token `i`. */
function rangeAt(tokens: readonly Token[], i: number): { low: number; high: number } | null {
  const joined = /^([01])[-–](\d{1,3})$/.exec(tokens[i]!.text);
  const apart = between.has(tokens[i + 1]?.lower ?? '') ? [tokens[i]!.text, tokens[i + 2]?.text ?? ''] : [];
  const [low, high] = (joined === null ? apart : [joined[1]!, joined[2]!]).map((text) =>
    /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN,
  );
  return low !== undefined && high !== undefined && lows.has(low) && highs.has(high) ? { low, high } : null;
}

function columnBefore(tokens: readonly Token[], i: number): string | null {
  let named = false;
  for (let at = i - 1; at >= Math.max(0, i - maxBetween); at--) {
    const { lower, kind, text } = tokens[at]!;
    if (naming.has(lower)) named = true;
    else if (!filling.has(lower)) return named && (kind === 'word' || kind === 'quoted') && text.length <= 255 ? text : null;
  }
  return null;
}
