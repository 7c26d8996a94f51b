/** Prices of well-known models, so that a task's owner sees its cost. List prices; long-context and batch tariffs are not modelled. */

/** US dollars per million tokens: fresh input, input read from the provider's cache, output. */
type Price = readonly [inputUsd: number, cachedInputUsd: number, outputUsd: number];

const prices: Readonly<Record<string, Price>> = {
  'gpt-5.5': [5, 0.5, 30],
  'gpt-5.5-pro': [30, 30, 180],
  'gpt-5.4': [2.5, 0.25, 15],
  'gpt-5.4-mini': [0.75, 0.075, 4.5],
  'gpt-5.4-nano': [0.2, 0.02, 1.25],
  'gpt-5.4-pro': [30, 30, 180],
  'gpt-5.2': [1.75, 0.175, 14],
  'gpt-5.2-pro': [21, 21, 168],
  'gpt-5.1': [1.25, 0.125, 10],
  'gpt-5': [1.25, 0.125, 10],
  'gpt-5-mini': [0.25, 0.025, 2],
  'gpt-5-nano': [0.05, 0.005, 0.4],
  'gpt-5-pro': [15, 15, 120],
  'gpt-4.1': [2, 0.5, 8],
  'gpt-4.1-mini': [0.4, 0.1, 1.6],
  'gpt-4.1-nano': [0.1, 0.025, 0.4],
  'gpt-4o': [2.5, 1.25, 10],
  'gpt-4o-mini': [0.15, 0.075, 0.6],
  o3: [2, 0.5, 8],
  'o4-mini': [1.1, 0.275, 4.4],
  'claude-fable-5-1': [10, 1, 50],
  'claude-opus-5-5': [4, 0.4, 20],
  'claude-opus-5': [5, 0.5, 25],
  'claude-opus-4-8': [5, 0.5, 25],
  'claude-opus-4-7': [5, 0.5, 25],
  'claude-opus-4-6': [5, 0.5, 25],
  'claude-opus-4-5': [5, 0.5, 25],
  'claude-opus-4-1': [15, 1.5, 75],
  'claude-opus-4': [15, 1.5, 75],
  'claude-sonnet-5-5': [2, 0.2, 10],
  'claude-sonnet-5': [2, 0.2, 10],
  'claude-sonnet-4-6': [3, 0.3, 15],
  'claude-sonnet-4-5': [3, 0.3, 15],
  'claude-sonnet-4': [3, 0.3, 15],
  'claude-3-7-sonnet': [3, 0.3, 15],
  'claude-haiku-4-5': [1, 0.1, 5],
  'claude-3-5-haiku': [0.8, 0.08, 4],
  'gemini-2.5-pro': [1.25, 0.125, 10],
  'gemini-2.5-flash': [0.3, 0.03, 2.5],
  'gemini-2.5-flash-lite': [0.1, 0.01, 0.4],
};

/** After a listed name: its end, a tag or a date. A number of one or two digits would be another version of the model. */
const sameModel = /^($|[:@]|-(?!\d{1,2}($|[-:@])))/;
const longestFirst = Object.keys(prices).sort((a, b) => b.length - a.length);

/**
 * The price of a model, or undefined if it is not known. A listed name also covers its dated and tagged forms (`gpt-5-2025-08-07`,
 * `openai/gpt-5:free`), never for another version (`gpt-5.9`).
 */
export function priceOf(model: string): Price | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const listed = longestFirst.find((prefix) => name.startsWith(prefix) && sameModel.test(name.slice(prefix.length)));
  return listed === undefined ? undefined : prices[listed];
}

/** US cents × 1,000, rounded up; counted in whole numbers throughout. `cachedInputTokens` are part of `inputTokens`. */
export function costMillicents(price: Price, inputTokens: number, cachedInputTokens: number, outputTokens: number): number {
  const [input, cached, output] = price.map(millicentsPerMillion) as [number, number, number];
  const cachedTokens = Math.min(cachedInputTokens, inputTokens);
  return Math.ceil(((inputTokens - cachedTokens) * input + cachedTokens * cached + outputTokens * output) / 1_000_000);
}

function millicentsPerMillion(usd: number): number {
  return Math.round(usd * 100_000);
}
