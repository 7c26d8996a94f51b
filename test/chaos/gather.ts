/** Reads the stored state at the end of a run: from every node over the public interface, and from the database. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { ClusterProcesses } from '../support/cluster-processes.ts';
import type { Kept } from './check.ts';
import { type Customer, readOf } from './customer.ts';
import type { History, Operation } from './history.ts';

const readingsAtOnce = 16;
/** Messages and effects that remain for so long are left undone. */
const lastingMs = 30_000;
/** Of each account's tasks and workspaces this many, the first and the last ones, are asked of every node. */
export const readOfAKind = 60;

export async function gather(cluster: ClusterProcesses, customers: readonly Customer[], history: History): Promise<Kept> {
  const created = history.operations.filter(({ outcome }) => outcome === 'done');
  const [readings, registers, kept] = await Promise.all([
    readEverywhere(cluster, customers, created),
    readRegisters(cluster, customers, history.operations),
    readDatabase(cluster.databaseUrl()),
  ]);
  return { readings, registers, ...kept };
}

async function readEverywhere(
  cluster: ClusterProcesses,
  customers: readonly Customer[],
  done: readonly Operation[],
): Promise<Kept['readings']> {
  const wanted = customers.flatMap((customer) =>
    (['create task', 'create workspace'] as const).flatMap((name) => {
      const ids = done.filter((one) => one.name === name && one.account === customer.account).map(({ result }) => String(result));
      const some = ids.length <= readOfAKind ? ids : [...ids.slice(0, readOfAKind / 2), ...ids.slice(-readOfAKind / 2)];
      const path = name === 'create task' ? '/v1/tasks' : '/v1/workspaces';
      return some.flatMap((id) => cluster.up.map((node) => ({ customer, node, id, path: `${path}/${id}` })));
    }),
  );
  return inTurn(wanted, async ({ customer, node, id, path }) => {
    const answer = await customer.client.askNode(node, { method: 'GET', path });
    return { node: node.name, id, status: answer?.status ?? 0 };
  });
}

async function readRegisters(
  cluster: ClusterProcesses,
  customers: readonly Customer[],
  operations: readonly Operation[],
): Promise<Kept['registers']> {
  const written = [...new Map(operations.filter(({ name }) => name === 'write').map((one) => [one.subject, one.account]))];
  const wanted = written.flatMap(([register, account]) => cluster.up.map((node) => ({ register, account, node })));
  return inTurn(wanted, async ({ register, account, node }) => {
    const [workspace, file] = register.split('/') as [string, string];
    const customer = customers.find((one) => one.account === account)!;
    const answer = await customer.client.askNode(node, readOf(workspace, file));
    // Another answer counts as a value that was never written, which the checker reports.
    const value = answer?.status === 200 ? answer.text : answer?.status === 404 ? null : `answered ${answer?.status}`;
    return { node: node.name, register, value };
  });
}

async function readDatabase(url: string): Promise<Omit<Kept, 'readings' | 'registers'>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const rows = async (text: string) => (await client.query(text)).rows;
  try {
    const count = async (table: string) => Number((await rows(`select count(*) as count from ${table}`))[0].count);
    // A running strategy and the connections to brokers begin something again and again, which is soon done.
    const countOfLasting = async (table: string) => {
      const giveUpAtMs = performance.now() + lastingMs;
      for (let n = await count(table); ; n = await count(table)) {
        if (n === 0 || performance.now() > giveUpAtMs) return n;
        await pause(100);
      }
    };
    return {
      files: await rows(`select workspace_id || '/' || name as register, version from workspace_file`),
      tasks: await rows('select id, prompt, status from task'),
      workspaces: await rows('select id, name from workspace'),
      keys: await rows('select id, name, status from api_key'),
      events: (
        await rows(
          `select account_id as account, seq, id, type, data->>'version' as version,
             case when type = 'workspace.file_created' then (data->>'workspace_id') || '/' || (data->>'name') end as register,
             case when type = 'agent.tool_result' then (data->>'agent_id') || ' ' || (data->>'call_id') end as call
           from event order by account_id, seq`,
        )
      ).map((row) => ({ ...row, seq: Number(row.seq), version: row.version === null ? null : Number(row.version) })),
      leftovers: {
        deadLetters: await count('dead_letter'),
        messages: await countOfLasting('message'),
        effects: await countOfLasting('effect'),
      },
    };
  } finally {
    await client.end();
  }
}

/** A few at a time; the results in the list's order. */
export async function inTurn<T, R>(list: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(list.length);
  let next = 0;
  const loop = async () => {
    for (let n = next++; n < list.length; n = next++) results[n] = await work(list[n]!);
  };
  await Promise.all(Array.from({ length: readingsAtOnce }, loop));
  return results;
}
