/** Lists of facts, each with an upper bound. */
export const maxEach = 60;
/** Of figures and dates a log of a few pages has hundreds. */
export const maxFigures = 3_000;

export function add<T>(list: T[], fact: T, most = maxEach): void {
  if (list.length < most) list.push(fact);
}

/** Once, even if two sentences of an entry say so. */
export function addOnce(list: { text: string; line: number }[], quote: { text: string; line: number }): void {
  if (!list.some(({ text, line }) => text === quote.text && line === quote.line)) add(list, quote);
}
