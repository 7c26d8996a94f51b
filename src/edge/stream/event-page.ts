/**
 * A page of an account's events from PostgreSQL. It is returned as one row with one text for each column: a row for each event would cost
 * this process several times as much as all other work on it.
 */
import type { StreamEvent } from './event-frame.ts';

export const pageSize = 500;

/** U+001E: occurs neither in JSON nor in any other column. */
const separator = '\x1e';
/** The same form as in `streamEvent`. */
const envelope = `'{"id":"' || id || '","seq":' || seq || ',"type":"' || type || '","account_id":"' || account_id || '","created_at":"'
  || to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","data":' || data::text || '}'`;
const joined = (column: string): string => `string_agg(${column}, e'\\x1e')`;

/** The events of $1 after the number $2, in order. */
export const pageSql = `select ${joined('seq::text')} as seqs, ${joined('id')} as ids, ${joined('type')} as types, ${joined(`coalesce(task_id, '')`)} as "taskIds",
  ${joined('floor(extract(epoch from created_at) * 1000)::text')} as "createdAts", ${joined(envelope)} as envelopes
  from (select * from event where account_id = $1 and seq > $2 order by seq limit ${pageSize}) page`;

type Column = 'seqs' | 'ids' | 'types' | 'taskIds' | 'createdAts' | 'envelopes';

/** @param row result of `pageSql`; all null if there are no events */
export function eventsOfPage(accountId: string, row: Record<Column, string | null>): StreamEvent[] {
  if (row.seqs === null) return [];
  const column = (name: Column): string[] => row[name]!.split(separator);
  const [seqs, ids, types, taskIds, createdAts, envelopes] = [
    column('seqs'),
    column('ids'),
    column('types'),
    column('taskIds'),
    column('createdAts'),
    column('envelopes'),
  ];
  return seqs.map((seq, i) => ({
    accountId,
    seq: Number(seq),
    id: ids[i]!,
    type: types[i]!,
    taskId: taskIds[i] === '' ? null : taskIds[i]!,
    createdAt: Number(createdAts[i]),
    envelope: envelopes[i]!,
    frame: null,
  }));
}
