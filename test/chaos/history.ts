/**
 * The observations of clients in order, by one clock: their requests and outcomes, the events of streams, and the faults of the cluster. The
 * checker uses only this and the resources that are stored at the end.
 */
import { writeFile } from 'node:fs/promises';

/**
 * `done`: acknowledged. `refused`: certainly without effect. `unknown`: no answer within the client's time; it may take effect once at any
 * later moment, or never.
 */
export type Outcome = 'done' | 'refused' | 'unknown';

export type OperationName =
  | 'write'
  | 'read'
  | 'create workspace'
  | 'create task'
  | 'create key'
  | 'revoke key'
  | 'cancel task'
  | 'pause agent'
  | 'resume agent'
  | 'query'
  | 'issue card'
  | 'authorize'
  | 'freeze card'
  | 'unfreeze card'
  | 'cancel card'
  | 'deposit'
  | 'place order'
  | 'approve order'
  | 'reject order'
  | 'set limit'
  | 'trade'
  | 'replace trade'
  | 'cancel trade'
  | 'upload'
  | 'deploy'
  | 'cancel deployment';

/** What was answered about money: `approved`, `declined`, `pending` …, and why. */
export type Decided = { id: string; status: string; reason: string | null };

export type Result = string | number | Decided | null;

/** An operation of one client, however many requests it took. */
export type Operation = {
  id: number;
  account: string;
  name: OperationName;
  /**
   * What it is about: a register, a task, an agent, a card, an order, a limit, or the name of what is to be created; of an authorization card/merchant, of
   * an order of shares or coins its client_order_id; of what is deployed, also again, the workspace.
   */
  subject: string;
  /** `write`: the value. Of money the amount in cents. `deploy`: the fingerprint of the files. */
  value: string | number | null;
  invokedMs: number;
  /** The time of the first request. Of a read only the last request counts, so `invokedMs` is later. */
  begunMs: number;
  /** Null until the answer, and permanently if the outcome is unknown. */
  endedMs: number | null;
  outcome: Outcome;
  /** Of the answer that ended it, else 0. */
  status: number;
  /** `write`: the version. `read`: the value, null for none. Creations: the id. */
  result: Result;
  /** How many requests it took. */
  requests: number;
};

/** One frame with an event, as a subscriber got it. */
export type Received = {
  subscriber: string;
  account: string;
  node: string;
  atMs: number;
  prev: number;
  seq: number;
  id: string;
  type: string;
};

/** Something that is never to happen, seen by a client at once. */
export type Anomaly = { atMs: number; words: string };

/** What was done to the cluster. */
export type FaultNote = { atMs: number; endedMs: number; words: string };

export class History {
  readonly operations: Operation[] = [];
  readonly received: Received[] = [];
  readonly anomalies: Anomaly[] = [];
  readonly faults: FaultNote[] = [];
  private readonly beganMs = performance.now();

  nowMs(): number {
    return performance.now() - this.beganMs;
  }

  anomaly(words: string): void {
    this.anomalies.push({ atMs: this.nowMs(), words });
  }

  /** An operation that begins now; its fields are filled in when it ends. */
  begin(account: string, name: OperationName, subject: string, value: string | number | null = null): Operation {
    const nowMs = this.nowMs();
    const operation: Operation = {
      id: this.operations.length + 1,
      account,
      name,
      subject,
      value,
      invokedMs: nowMs,
      begunMs: nowMs,
      endedMs: null,
      outcome: 'unknown',
      status: 0,
      result: null,
      requests: 0,
    };
    this.operations.push(operation);
    return operation;
  }

  end(operation: Operation, outcome: Outcome, status: number, result: Result = null): void {
    operation.endedMs = outcome === 'unknown' ? null : this.nowMs();
    operation.outcome = outcome;
    operation.status = status;
    operation.result = result;
  }

  /** JSON lines, each with what it is. */
  async save(path: string): Promise<void> {
    const lines = [
      ...this.faults.map((fault) => ({ kind: 'fault', ...fault })),
      ...this.anomalies.map((anomaly) => ({ kind: 'anomaly', ...anomaly })),
      ...this.operations.map((operation) => ({ kind: 'operation', ...operation })),
      ...this.received.map((received) => ({ kind: 'received', ...received })),
    ];
    await writeFile(path, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  }
}
