/** Plain orders for the tools of the services that accounts connect, each read from one clause: a verb and what follows it. */

import { wordSet } from '../../table/word-set.ts';
import { amountAt } from './money.ts';
import { hostIn, publishing } from './page-orders.ts';
import type { Token } from './prompt-tokens.ts';
import type { ToolOrder } from './tool-orders.ts';

export type Clause = {
  verb: string;
  /** After the verb. */
  tokens: readonly Token[];
  /** The whole prompt, which the positions of tokens are in. */
  text: string;
  end: number;
};

type Rule = { tool: string; verbs: ReadonlySet<string>; read(clause: Clause): Record<string, unknown> | null; textField?: string };

const reading = wordSet('read show check get fetch list summarise summarize lies zeige');
const sending = wordSet('post send write say publish announce poste sende schreibe');
const making = wordSet('create open file raise report make erstelle');
const searching = wordSet('search find look');

const rules: readonly Rule[] = [
  {
    tool: 'create_deployment',
    verbs: publishing,
    read: ({ tokens }) =>
      optional({ target: hostIn(tokens) }, { config_id: tokens.find(({ text }) => /^cfg_\w{1,60}$/.test(text))?.text ?? null }),
  },
  {
    tool: 'screenshot',
    verbs: wordSet('take make capture erstelle mache'),
    read: (clause) =>
      has(clause, 'screenshot')
        ? optional(
            { url: clause.tokens.find(({ kind }) => kind === 'url')?.text ?? null },
            { full_page: has(clause, 'full', 'whole', 'entire', 'ganzen', 'gesamten') || null },
          )
        : null,
  },
  {
    tool: 'send_message',
    verbs: sending,
    textField: 'text',
    read: (clause) => (has(clause, 'whatsapp') ? optional({ to: phoneIn(clause) }, { text: quotedIn(clause)[0] ?? null }) : null),
  },
  {
    tool: 'post_message',
    verbs: sending,
    textField: 'text',
    read: (clause) => optional({ channel: channelIn(clause) }, { text: quotedIn(clause)[0] ?? afterColon(clause) ?? null }),
  },
  {
    tool: 'create_channel',
    verbs: making,
    read: (clause) => (has(clause, 'channel') ? optional({ name: channelIn(clause)?.slice(1) ?? quotedIn(clause)[0] ?? null }) : null),
  },
  {
    tool: 'read_channel',
    verbs: reading,
    read: (clause) => optional({ channel: channelIn(clause) }, { limit: countIn(clause) }),
  },
  {
    tool: 'read_issue',
    verbs: reading,
    read: (clause) => (has(clause, 'issue') ? optional({ repository: repositoryIn(clause), number: countIn(clause) }) : null),
  },
  {
    tool: 'create_issue',
    verbs: making,
    textField: 'body',
    read(clause) {
      if (!has(clause, 'issue', 'ticket')) return null;
      const [title = null, body = null] = quotedIn(clause);
      return optional({ repository: repositoryIn(clause), title }, { body });
    },
  },
  {
    tool: 'search_pages',
    verbs: searching,
    read: (clause) => (has(clause, 'notion', 'pages') ? optional({ query: quotedIn(clause)[0] ?? null }) : null),
  },
  {
    tool: 'search_messages',
    verbs: searching,
    read: (clause) => (has(clause, 'slack') ? optional({ query: quotedIn(clause)[0] ?? null }) : null),
  },
  {
    tool: 'search_inbox',
    verbs: searching,
    read: (clause) => (has(clause, ...mails, 'gmail') ? optional({ query: quotedIn(clause)[0] ?? null }) : null),
  },
  {
    tool: 'draft_email',
    verbs: wordSet('draft'),
    read(clause) {
      const to = clause.tokens.find(({ kind }) => kind === 'address')?.text ?? null;
      const [subject = null, body = null] = quotedIn(clause);
      return optional({ to, subject, body: body ?? subject });
    },
  },
  {
    tool: 'read_emails',
    verbs: reading,
    // An address makes it an order to send, and a file is read by other rules.
    read: (clause) =>
      has(clause, ...mails, 'gmail') && !clause.tokens.some(({ kind, text }) => kind === 'address' || /\.[a-z]{2,5}$/i.test(text))
        ? optional({}, { max_results: countIn(clause) })
        : null,
  },
  {
    tool: 'read_messages',
    verbs: reading,
    read: (clause) => (has(clause, 'whatsapp') ? optional({}, { limit: countIn(clause) }) : null),
  },
  {
    tool: 'list_payments',
    verbs: reading,
    read: (clause) => (has(clause, 'payments', 'stripe') ? optional({}, { limit: countIn(clause) }) : null),
  },
  {
    tool: 'refund_payment',
    verbs: wordSet('refund erstatte'),
    read: (clause) => optional({ payment_id: clause.tokens.find(({ text }) => /^(?:pi|ch|py)_\w{1,250}$/.test(text))?.text ?? null }),
  },
  {
    tool: 'create_payment_link',
    verbs: making,
    read(clause) {
      if (!has(clause, 'payment') || !has(clause, 'link')) return null;
      const amounts = clause.tokens.map((_, at) => amountAt(clause.tokens, at));
      const amount = amounts.find((found) => found !== null && found.currency !== null)?.value ?? null;
      const named = clause.tokens.find(({ lower }) => /^(?:usd|eur|gbp|chf|jpy|euros?)$/.test(lower))?.lower ?? 'usd';
      return optional({ name: quotedIn(clause)[0] ?? null, amount, currency: named.startsWith('eur') ? 'eur' : named });
    },
  },
];
const mails = ['email', 'emails', 'e-mail', 'e-mails', 'mail', 'mails', 'inbox', 'posteingang'];

/** Words that such orders begin with. */
export const serviceVerbs: ReadonlySet<string> = new Set(rules.flatMap(({ verbs }) => [...verbs]));

/** The order of a clause; null where no rule reads it. */
export function serviceOrder(clause: Clause, isKnown: (tool: string) => boolean): ToolOrder | null {
  for (const { tool, verbs, read, textField = null } of rules) {
    if (!verbs.has(clause.verb) || !isKnown(tool)) continue;
    const args = read(clause);
    if (args === null) continue;
    return {
      tool,
      args,
      reads: reading.has(clause.verb) || searching.has(clause.verb),
      textField: textField !== null && !(textField in args) ? textField : null,
    };
  }
  return null;
}

/** The fields; null where a required one is missing. */
function optional(required: Record<string, unknown>, others: Record<string, unknown> = {}): Record<string, unknown> | null {
  if (Object.values(required).some((value) => value === null)) return null;
  return { ...required, ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)) };
}

function has({ tokens }: Clause, ...names: string[]): boolean {
  return tokens.some(({ kind, lower }) => kind === 'word' && names.includes(lower));
}

function quotedIn({ tokens }: Clause): string[] {
  return tokens.flatMap(({ kind, text }) => (kind === 'quoted' ? [text] : []));
}

/** "#general", with its mark; "the channel general". */
function channelIn({ tokens }: Clause): string | null {
  for (let i = 0; i < tokens.length; i++) {
    const [token, next] = [tokens[i]!, tokens[i + 1]];
    if (token.kind === 'quoted' && /^#[\p{L}\p{N}_-]{1,80}$/u.test(token.text)) return token.text;
    if (token.text === '#' && next?.kind === 'word' && next.start === token.end) return `#${next.text}`;
  }
  return null;
}

/** "acme/site". */
function repositoryIn({ tokens, text }: Clause): string | null {
  for (let i = 1; i + 1 < tokens.length; i++) {
    const [owner, slash, name] = [tokens[i - 1]!, tokens[i]!, tokens[i + 1]!];
    if (slash.text === '/' && owner.end === slash.start && name.start === slash.end) return text.slice(owner.start, name.end);
  }
  const quoted = tokens.find(({ kind, text: inner }) => kind === 'quoted' && /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(inner));
  return quoted?.text ?? null;
}

function phoneIn({ tokens, text }: Clause): string | null {
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token.text === '+' && tokens[i + 1]?.kind === 'figure') return text.slice(token.start, tokens[i + 1]!.end);
    if (token.kind === 'figure' && /^\d{8,15}$/.test(token.text)) return token.text;
  }
  return null;
}

function countIn({ tokens }: Clause): number | null {
  const figure = tokens.find(({ kind, text }) => kind === 'figure' && /^\d{1,9}$/.test(text));
  return figure === undefined ? null : Number(figure.text);
}

/** "to #general: the build is done", up to the end of the clause. */
function afterColon({ tokens, text, end }: Clause): string | null {
  const colon = tokens.findIndex(({ text: mark }) => mark === ':');
  if (colon === -1 || colon === tokens.length - 1) return null;
  return text.slice(tokens[colon]!.end, end).trim() || null;
}
