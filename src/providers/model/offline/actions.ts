/** Jobs that carry out plain orders: mails, purchases, files. A rejected action is not tried again, unless the reason says what to do instead. */
import { type Conversation, findCall, type PastCall } from './conversation.ts';
import { listedFiles, pagedText } from './gather.ts';
import { nothing, notOffered, over, type Progress } from './job.ts';
import { type FileOrder, findAddresses, type MailOrder, type PurchaseOrder, parseAmount } from './orders.ts';
import { collapseWhitespace } from './prompt-tokens.ts';

const maxBodyChars = 100_000;
const maxSaidChars = 3000;
/** How often a person's reason may cause another try of one order. */
const maxCorrections = 3;

/** Sends one mail. `report` is this agent's report, if it wrote one; otherwise one is searched in the workspace. */
export function sendMail(conversation: Conversation, order: MailOrder, report: string | null): Progress {
  if (!conversation.offered.has('send_email')) return notOffered('send_email', `The e-mail to ${order.to}`);
  const text = report === null && order.message === null ? workspaceReport(conversation) : { text: report ?? order.message ?? '' };
  if ('calls' in text) return text;
  if (text.text === '') return over(`No e-mail was sent to ${order.to}: there is no report or text to send.`);
  const body = order.message === null ? text.text : report === null ? order.message : `${order.message}\n\n${report}`;
  const heading = text.text
    .slice(0, maxSaidChars)
    .split('\n')
    .find((line) => line.startsWith('# '))
    ?.slice(2)
    .trim()
    .replace(/\\(.)/g, '$1');
  const subject = (order.subject ?? heading ?? body.split('\n')[0]!).trim().slice(0, 120) || 'Report';
  let to = order.to;
  for (let tries = 0; tries < maxCorrections; tries++) {
    const past = findCall(conversation, 'send_email', { to });
    if (past === undefined) return { calls: [{ name: 'send_email', args: { to, subject, body: body.slice(0, maxBodyChars) } }] };
    if (past.outcome === 'done')
      return over(`The e-mail "${past.doneWith.subject ?? subject}" to ${past.doneWith.to ?? to} was handed over.${edits(past)}`);
    const other =
      past.outcome === 'rejected'
        ? findAddresses(past.resultText.slice(0, maxSaidChars)).find(
            (address) => findCall(conversation, 'send_email', { to: address })?.outcome !== 'rejected',
          )
        : undefined;
    if (other === undefined) return over(`The e-mail to ${to} ${undone(past)}`);
    to = other;
  }
  return over(`The e-mail to ${order.to} was not sent: it was rejected ${maxCorrections} times.`);
}

export function buy(conversation: Conversation, order: PurchaseOrder): Progress {
  const what = `${order.description} from ${order.vendor}`;
  if (!conversation.offered.has('create_purchase_order')) return notOffered('create_purchase_order', `The order of ${what}`);
  let { amount, vendor } = order;
  for (let tries = 0; tries < maxCorrections; tries++) {
    const args = { description: order.description, amount, vendor };
    const past = findCall(conversation, 'create_purchase_order', args);
    if (past === undefined) return { calls: [{ name: 'create_purchase_order', args }] };
    if (past.outcome === 'done') {
      const done = { ...args, ...past.doneWith };
      return over(`Ordered ${done.description} from ${done.vendor} for ${done.amount}.${edits(past)}${waits(past)}`);
    }
    const other = past.outcome === 'rejected' ? corrected(past.resultText, amount, vendor) : null;
    if (other === null) return over(`The order of ${what} ${undone(past)}`);
    ({ amount, vendor } = other);
  }
  return over(`${what} was not ordered: it was rejected ${maxCorrections} times.`);
}

function edits({ args, doneWith }: PastCall): string {
  return doneWith === args ? '' : ' Whoever approved it had changed it.';
}

function waits({ resultText: lines }: PastCall): string {
  return lines.includes('pending') ? ' The order waits for approval.' : '';
}

export function writeOrdered(conversation: Conversation, { path, content }: FileOrder): Progress {
  if (!conversation.offered.has('write_file')) return notOffered('write_file', `The file ${path}`);
  const args = { path, content };
  const past = findCall(conversation, 'write_file', args);
  if (past === undefined) return { calls: [{ name: 'write_file', args }] };
  return over(past.outcome === 'done' ? `Wrote ${path}.` : `The file ${path} ${undone(past)}`);
}

/** A report that already exists in the workspace, with its whole text. */
function workspaceReport(conversation: Conversation): { text: string } | { calls: { name: string; args: Record<string, unknown> }[] } {
  if (conversation.offered.has('list_files') && findCall(conversation, 'list_files') === undefined)
    return { calls: [{ name: 'list_files', args: {} }] };
  const path = reportIn(conversation);
  if (path === null) return { text: '' };
  const read = pagedText(conversation, path);
  if ('call' in read) return { calls: [read.call] };
  return { text: 'text' in read ? read.text : '' };
}

/** The file meant by "the report": a file named in the task, otherwise report.md, otherwise summary.md. */
export function reportIn(conversation: Conversation): string | null {
  const files = listedFiles(conversation) ?? [];
  const task = conversation.task.toLowerCase();
  return (
    files.find((name) => /\.(?:md|markdown|txt)$/i.test(name) && task.includes(name.toLowerCase())) ??
    files.find((name) => /^report\.md$/i.test(name)) ??
    files.find((name) => /^summary\.md$/i.test(name)) ??
    null
  );
}

function undone(past: PastCall): string {
  if (past.outcome === 'rejected') return `was not done: a person rejected it (${reasonOf(past.resultText)}).`;
  if (/outcome is unknown|uncertain/i.test(past.resultText))
    return `may or may not have gone through; its outcome is unknown, so I did not repeat it (${past.resultText.slice(0, 300)}).`;
  return `was not done: ${past.resultText.slice(0, 300)}`;
}

function reasonOf(lines: string): string {
  const words = collapseWhitespace(lines.slice(0, maxSaidChars));
  const lower = words.toLowerCase();
  const at = lower.indexOf('reject');
  const end = lower.indexOf('do not do it again');
  let reason = words.slice(0, end === -1 ? words.length : end);
  if (at !== -1) reason = reason.slice(at).replace(/^\w+(?: (?:this|it|by a person)){0,3}/i, '');
  return (
    reason
      .replace(/^[\s:.-]{1,4}/, '')
      .trim()
      .slice(0, 300) || 'no reason given'
  );
}

/** "At most 100 dollars", "from Initech instead": another amount or vendor; null if the reason names neither. */
function corrected(lines: string, amount: number, vendor: string): { amount: number; vendor: string } | null {
  const reason = reasonOf(lines);
  const otherAmount = parseAmount(reason) ?? amount;
  const otherVendor = /\b(?:from|use|with|at) ([A-Z][\w&.-]{0,60}(?: [A-Z][\w&.-]{0,60}){0,4}) instead\b/.exec(reason)?.[1] ?? vendor;
  return otherAmount === amount && otherVendor === vendor ? null : { amount: otherAmount, vendor: otherVendor };
}

/** One job after the other: the first job with further calls continues, and all sentences are kept. */
export function inTurn(steps: (() => Progress)[]): Progress {
  const lines: string[] = [];
  for (const step of steps) {
    const progress = step();
    if ('calls' in progress) return progress;
    lines.push(...progress.said);
  }
  return lines.length === 0 ? nothing : over(...lines);
}
