/**
 * Orders for tools of connected services and MCP servers: a tool called by its name ("call mcp_notes_add with {…}"), and plain orders for the
 * services that rules know ("post 'hello' to #general"). Pure; each token is read a bounded number of times.
 */
import type { ToolOffer } from '../port.ts';
import { isRecord } from './conversation.ts';
import { collapseWhitespace, isSpace, readTokens, sentenceEnd, sentenceStart, type Token } from './prompt-tokens.ts';
import { type Clause, serviceOrder, serviceVerbs } from './service-orders.ts';
import { refusalOf, sentenceText, stanceOf } from './stance.ts';

/** `textField`: the field that gets what was read before, where the order has no text of its own. */
export type ToolOrder = { tool: string; args: Record<string, unknown>; reads: boolean; textField: string | null };
export type ToolOrders = { orders: ToolOrder[]; refused: string[] };

/** Tools with rules of their own, or which no prompt names. */
const others = new Set(
  'list_files read_file write_file profile_table code_exec web_search fetch_url send_email create_purchase_order charge_card delegate finish'.split(
    ' ',
  ),
);
const calling = new Set('call use run invoke execute try rufe nutze verwende'.split(' '));
const maxOrders = 10;
const maxJsonChars = 20_000;

/** @param withheld names of tools that exist and are not offered: an order for one is answered with the reason */
export function parseToolOrders(text: string, offers: readonly ToolOffer[], withheld: readonly string[] = []): ToolOrders {
  const tokens = readTokens(text);
  const byName = new Map(offers.filter(({ name }) => !others.has(name)).map((offer) => [offer.name, offer]));
  const isKnown = (name: string) => byName.has(name) || withheld.includes(name);
  const found: ToolOrders = { orders: [], refused: [] };
  let from = 0;
  for (let i = 0; i < tokens.length && found.orders.length < maxOrders && found.refused.length < maxOrders; i++) {
    if (tokens[i]!.start < from) continue;
    const offer = byName.get(tokens[i]!.text);
    const read = (offer && byItsName(text, tokens, i, offer)) ?? byRule(text, tokens, i, isKnown);
    if (read === null) continue;
    from = Math.max(from, read.end);
    if ('refusal' in read) found.refused.push(read.refusal);
    else if (!found.orders.some((order) => JSON.stringify(order) === JSON.stringify(read.order))) found.orders.push(read.order);
  }
  return found;
}

type Read = ({ end: number } & ({ order: ToolOrder } | { refusal: string })) | null;

function byRule(text: string, tokens: readonly Token[], i: number, isKnown: (tool: string) => boolean): Read {
  if (!serviceVerbs.has(tokens[i]!.lower)) return null;
  const clause = clauseAt(text, tokens, i);
  const order = serviceOrder(clause, isKnown);
  const stance = stanceOf(tokens, i);
  if (order === null) {
    if (tokens[i]!.lower !== 'deploy' || stance !== 'order' || !isKnown('create_deployment')) return null;
    return {
      refusal: 'create_deployment was not called, because the task names no target: vercel, netlify, cloudflare or expo.',
      end: clause.end,
    };
  }
  if (stance === 'order') return { order, end: clause.end };
  const refusal = refusalOf(stance, `${order.tool} was not called`, sentenceText(text, tokens, i));
  return refusal === null ? null : { refusal, end: clause.end };
}

/** From the verb to the end of its sentence, or to an "and" or "then" that begins another one. */
function clauseAt(text: string, tokens: readonly Token[], i: number): Clause {
  const last = sentenceEnd(tokens, i);
  let to = i + 1;
  while (to < last && !(joins.has(tokens[to]!.lower) && verbs.has(nextVerb(tokens, to + 1)))) to++;
  const end = tokens[to - 1]!.end;
  return { verb: tokens[i]!.lower, tokens: tokens.slice(i + 1, to), text, end };
}
const joins = new Set(['and', 'then', 'und', 'dann', ',']);
const verbs = new Set([...serviceVerbs, 'e-mail', 'email', 'mail', 'call', 'use']);
function nextVerb(tokens: readonly Token[], at: number): string {
  const next = tokens[at]?.lower ?? '';
  return joins.has(next) ? (tokens[at + 1]?.lower ?? '') : next;
}

function byItsName(text: string, tokens: readonly Token[], i: number, offer: ToolOffer): Read {
  const from = sentenceStart(tokens, i);
  const verb = tokens.findLastIndex((token, at) => at >= from && at < i && calling.has(token.lower));
  const sent = jsonAfter(text, tokens[i]!.end);
  if (verb === -1 && i !== from && sent === null) return null;
  // "screenshot" is an ordinary word, too.
  if (!offer.name.includes('_') && sent === null) return null;
  const stance = stanceOf(tokens, verb === -1 ? i : verb);
  if (stance !== 'order' && (verb !== -1 || stance !== 'none')) {
    const refusal = refusalOf(stance, `${offer.name} was not called`, sentenceText(text, tokens, i));
    return refusal === null ? null : { refusal, end: tokens[i]!.end };
  }
  if (sent !== null) return { order: { tool: offer.name, args: sent.args, reads: true, textField: null }, end: sent.end };
  const { args, end } = namedArguments(text, tokens, i, offer);
  const missing = requiredOf(offer).filter((name) => !(name in args));
  if (missing.length > 0) {
    const refusal = `${offer.name} was not called, because these arguments are missing: ${missing.join(', ')}.`;
    return { refusal, end };
  }
  return { order: { tool: offer.name, args, reads: true, textField: null }, end };
}

/** The JSON object that follows a tool's name, after a few words at most. */
function jsonAfter(text: string, from: number): { args: Record<string, unknown>; end: number } | null {
  const open = text.slice(from, from + 60).search(/[{.!?\n]/);
  if (open === -1 || text[from + open] !== '{') return null;
  const start = from + open;
  let depth = 0;
  let quoted = false;
  for (let at = start; at < Math.min(text.length, start + maxJsonChars); at++) {
    const char = text[at];
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) {
      try {
        const args: unknown = JSON.parse(text.slice(start, at + 1));
        return isRecord(args) ? { args, end: at + 1 } : null;
      } catch {
        return null;
      }
    }
  }
  return null;
}

const linking = new Set([':', '=', 'is', 'of', 'to', 'as']);

/** "with text "hello" and count 3": fields by their names; then quoted texts for required fields that are left, in their order. */
function namedArguments(
  text: string,
  tokens: readonly Token[],
  i: number,
  offer: ToolOffer,
): { args: Record<string, unknown>; end: number } {
  const properties = propertiesOf(offer);
  const to = sentenceEnd(tokens, i, 200);
  const args: Record<string, unknown> = {};
  const free: Token[] = [];
  for (let at = i + 1; at < to; at++) {
    const token = tokens[at]!;
    const schema = token.kind === 'quoted' ? undefined : properties.get(token.text);
    let value = at + 1;
    while (value < to && value < at + 3 && linking.has(tokens[value]!.lower)) value++;
    if (schema !== undefined && !(token.text in args) && value < to) {
      const given = valueAt(text, tokens[value]!);
      args[token.text] = converted(given.text, schema);
      while (value + 1 < to && tokens[value + 1]!.start < given.end) value++;
      at = value;
    } else if (token.kind === 'quoted') free.push(token);
  }
  for (const name of requiredOf(offer)) {
    if (name in args || properties.get(name) !== 'string') continue;
    const next = free.shift();
    if (next !== undefined) args[name] = next.text;
  }
  return { args, end: tokens[to - 1]!.end };
}

/** A quoted text, or everything up to the next space. */
export function valueAt(text: string, token: Token): { text: string; end: number } {
  if (token.kind === 'quoted') return { text: token.text, end: token.end };
  let end = token.start;
  const limit = Math.min(text.length, token.start + 2_000);
  while (end < limit && !isSpace(text[end]!)) end++;
  while (end > token.start + 1 && '.,;:!?)'.includes(text[end - 1]!)) end--;
  return { text: text.slice(token.start, end), end };
}

function converted(value: string, type: string): unknown {
  if ((type === 'number' || type === 'integer') && value !== '' && Number.isFinite(Number(value))) return Number(value);
  if (type === 'boolean' && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return type === 'array' ? [value] : value;
}

function propertiesOf({ parameters }: ToolOffer): Map<string, string> {
  const properties = isRecord(parameters) && isRecord(parameters.properties) ? parameters.properties : {};
  return new Map(Object.entries(properties).map(([name, schema]) => [name, isRecord(schema) ? String(schema.type ?? 'string') : 'string']));
}

function requiredOf({ parameters }: ToolOffer): string[] {
  const required = isRecord(parameters) ? parameters.required : null;
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/** A text of a result for people: its own text, or its JSON. */
export function shownResult(result: unknown, most: number): string {
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
  return collapseWhitespace(text.slice(0, 4 * most)).slice(0, most);
}
