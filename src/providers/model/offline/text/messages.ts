/** The messages of an e-mail thread: author and time of each, from the headers and the lines that introduce quotes. */
import { findDates } from './dates.ts';
import { findPeople } from './names.ts';
import type { Unit } from './units.ts';

export type Message = { from: string; iso: string | null; line: number };

const maxMessages = 60;
const announcing = /(?<![\p{L}])(?:wrote|writes|schrieb|schreibt)(?![\p{L}])[^:]{0,80}:$/iu;

export function readMessages(units: readonly Unit[]): Message[] {
  const messages: Message[] = [];
  const start = (from: string, line: number, iso: string | null = null) => {
    if (messages.length < maxMessages) messages.push({ from, line, iso });
  };
  for (const unit of units) {
    const field = headerOf(unit);
    if (field !== null && /^(?:from|von)$/i.test(field.key)) start(senderName(field.value), unit.line);
    else if (field !== null && /^(?:date|sent|datum|gesendet)$/i.test(field.key)) {
      const last = messages.at(-1);
      if (last !== undefined && last.iso === null) last.iso = dayOf(field.value);
    } else if (announces(unit)) start(writerOf(unit.text), unit.line, dayOf(unit.text));
  }
  return messages;
}

const requesting =
  /(?<![\p{L}])(?:could you|can you|would you|please|kannst du|könntest du|könnten Sie|bitte|pourrais-tu|pouvez-vous|puedes|podrías|puoi|potresti)(?![\p{L}])/iu;

/** Without requests of earlier mails, with no deadline, to somebody who has written since: the later mails say what came of them. */
export function withoutAnswered<Task extends { who: string | null; what: string; due: string | null; line: number }>(
  tasks: readonly Task[],
  messages: readonly Message[],
): Task[] {
  return tasks.filter(({ who, what, due, line }) => {
    const own = messages.findLast((message) => message.line <= line);
    if (who === null || due !== null || own === undefined || own.iso === null || !requesting.test(what)) return true;
    return !messages.some(({ from, iso }) => iso !== null && iso > own.iso! && (from.startsWith(who) || who.includes(from)));
  });
}

/** A deadline before the newest mail has passed, whatever came of it. */
export function withPassed<Task extends { iso: string | null; note: string }>(
  tasks: readonly Task[],
  messages: readonly Message[],
): Task[] {
  const newest = messages.reduce<string | null>((last, { iso }) => (iso !== null && (last === null || iso > last) ? iso : last), null);
  if (newest === null) return [...tasks];
  const passed = `passed before the newest message of ${newest}`;
  return tasks.map((task) =>
    task.iso !== null && task.iso < newest ? { ...task, note: task.note === '' ? passed : `${task.note}; ${passed}` } : task,
  );
}

/** "On 2 April Nina Hart wrote:": with its mark, or with a day or an address. "Only Nina writes to them" is none. */
export function announces({ kind, text }: Unit): boolean {
  if ((kind !== 'quote' && kind !== 'sentence' && kind !== 'heading') || text.length > 200) return false;
  if (text.endsWith(':')) return announcing.test(text);
  const isHeader = !/[?!"“”]/.test(text) && (text.includes('@') || findDates(text).length > 0) && !/[.]$/.test(text);
  return (isHeader || kind === 'heading') && announcing.test(`${text}:`);
}

/** The person named in "On 2 Apr 2025 at 11:05 Nina Hart wrote:". */
export function writerOf(text: string): string {
  const [person] = findPeople(text);
  if (person !== undefined) return person;
  const before = text
    .slice(0, text.search(/(?<![\p{L}])(?:wrote|writes|schrieb|schreibt)/iu))
    .replace(/<[^<>]{0,100}>/g, '')
    .trim();
  return /(?:\p{Lu}[\p{L}'’.-]{0,30} ?){1,3}$/u.exec(before.slice(-100))?.[0].trim() || 'not named';
}

export function senderName(text: string): string {
  return (text.split('<')[0]!.replaceAll('"', '').trim() || text).slice(0, 80);
}

function headerOf({ kind, key, text }: Unit): { key: string; value: string } | null {
  if (kind === 'field') return { key, value: text };
  const quoted = kind === 'quote' ? /^(from|von|date|sent|datum|gesendet): ?(.{1,200})$/i.exec(text) : null;
  return quoted === null ? null : { key: quoted[1]!, value: quoted[2]! };
}

function dayOf(text: string): string | null {
  return findDates(text).find(({ iso }) => iso !== null)?.iso ?? null;
}
