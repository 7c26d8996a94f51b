/**
 * The Idempotency-Keys in use: the request of each key, its ids, and the answer to the first request. A key is reserved before its
 * request runs, so that a retry after any crash runs with the ids of the first request and reaches the same actor with the same command.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { idPrefixes, newId } from '../ids.ts';
import type { Database } from './database.ts';

/** One key of one account. */
export type KeyOfCaller = { accountId: string; key: string };
/** `ulid`: the part of the new resource's id after its prefix. */
export type Reservation = { ulid: string; commandId: string };
/** Suffix of the command id for a command that must run before the request's own. */
export const earlierCommand = ':before';

/** The ids of all commands that a request with this command id may send. */
export function commandsOf(commandId: string): string[] {
  return [commandId, `${commandId}${earlierCommand}`];
}

export type Reserved =
  /** `again`: the key was reserved before, and the earlier request may have had an effect. */
  | ({ kind: 'mine'; isRepeat: boolean } & Reservation)
  /** Another request with the key may still be running. */
  | { kind: 'running' }
  | { kind: 'answered'; status: number; response: string /** In the form given to `bind`. */; contents: string | null }
  /** The key was first used for something else. */
  | { kind: 'other' };

/**
 * `other`: an earlier try bound the key to other contents. `ended`: another try with the key and these contents has been answered meanwhile,
 * or the key was released.
 */
export type Bound = 'bound' | 'other' | 'ended';

/** The process that reserves keys, and a test of whether other processes live. */
export type Holder = {
  /** New for every start of a process, never used twice. */
  incarnation: string;
  /** Whether the process with this incarnation may still run. False must be certain. */
  isAlive(incarnation: string): boolean;
  /** How long a live process keeps a key without a renewal. Default 15 s. */
  reservedForMs?: number;
};

const dayMs = 24 * 3_600_000;
/** How long a key is bound to its first request and returns its answer. */
export const keysKeptForMs = { day: dayMs, month: 30 * dayMs } as const;
export type KeptFor = keyof typeof keysKeptForMs;
/** Prefix of command ids whose keys are kept for a month: their records must be kept as long. */
export const monthlyCommands = 'idem30_';
/** A secret in an answer is not returned after this time. */
const secretsKeptForMs = dayMs;
/** A key whose process is live is taken over so long after its last renewal: its request has ended, or does not reach the database. */
const reservedForMs = 15_000;
/** Renewals within `reservedForMs`: one may be lost, and one late. */
const renewals = 3;

export class IdempotencyKeys {
  /** Distinguishes reservations of this process from those of others. */
  private readonly holder: Holder;
  private readonly database: Database;
  readonly clock: Clock;

  constructor(database: Database, clock: Clock, holder: Holder = { incarnation: randomUUID(), isAlive: () => true }) {
    this.database = database;
    this.clock = clock;
    this.holder = holder;
  }

  /**
   * Reserves the key, takes it over, or returns its state. A key is taken over at once from a process that has ended, because a repeated
   * command has its effect once, and from a live one 15 seconds after it has renewed the key last. Call it for one request of a key at a time: an unfinished
   * reservation of this process counts as failed, and the key is reserved again.
   *
   * @param fingerprint contains no dot
   * @param earlier the fingerprint that an earlier version of this service would have given the request
   */
  async reserve(
    { accountId, key }: KeyOfCaller,
    fingerprint: string,
    keptFor: KeptFor = 'day',
    earlier: () => string | null = () => null,
  ): Promise<Reserved> {
    const nowMs = this.clock.nowMs();
    const ulid = newId(idPrefixes.request, accountId, nowMs).slice(idPrefixes.request.length);
    const commandId = `${keptFor === 'month' ? monthlyCommands : 'idem_'}${randomUUID()}`;
    const inserted = await this.database.write({
      name: 'idempotency_reserve',
      text: `insert into idempotency_key as k (account_id, key, fingerprint, target_id, command_id, reserved_by, reserved_at, expires_at)
        values ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), to_timestamp($8::float8 / 1000))
        on conflict (account_id, key) do update set fingerprint = excluded.fingerprint, target_id = excluded.target_id,
          command_id = excluded.command_id, reserved_by = excluded.reserved_by, reserved_at = excluded.reserved_at,
          expires_at = excluded.expires_at, status = null, response = null,
          secret_response = null, secret_until = null
        where k.expires_at <= excluded.reserved_at
        returning 1`,
      values: [accountId, key, fingerprint, ulid, commandId, this.holder.incarnation, nowMs, nowMs + keysKeptForMs[keptFor]],
    });
    if (inserted.rows.length > 0) return { kind: 'mine', isRepeat: false, ulid, commandId };
    const { rows } = await this.database.read({
      name: 'idempotency_find',
      text: `select fingerprint, target_id, command_id, reserved_by, reserved_at, status, response, secret_response, secret_until
        from idempotency_key where account_id = $1 and key = $2`,
      values: [accountId, key],
    });
    const [row] = rows;
    // The key was released meanwhile, because its first request was refused: the caller's next try can run.
    if (row === undefined) return { kind: 'running' };
    const [print, contents = null] = row.fingerprint.split('.') as [string, string?];
    if (print !== fingerprint && print !== earlier()) return { kind: 'other' };
    if (row.status !== null) {
      const response = row.secret_until !== null && row.secret_until > nowMs ? row.secret_response : row.response;
      return { kind: 'answered', status: row.status, response, contents };
    }
    if (!this.isTakeable(row, nowMs) || !(await this.takeOver({ accountId, key }, row, nowMs))) return { kind: 'running' };
    return { kind: 'mine', isRepeat: true, ulid: row.target_id, commandId: row.command_id };
  }

  /**
   * Renews a reservation until the returned function is called, so that no other process takes the key over while the request of this one runs,
   * however often the request asks and however long an upload takes.
   */
  holdWhileRunning({ accountId, key }: KeyOfCaller, commandId: string): () => void {
    const renew = async () => {
      await this.database.write({
        name: 'idempotency_renew',
        text: `update idempotency_key set reserved_at = to_timestamp($5::float8 / 1000)
          where account_id = $1 and key = $2 and command_id = $3 and reserved_by = $4 and status is null`,
        values: [accountId, key, commandId, this.holder.incarnation, this.clock.nowMs()],
      });
    };
    // The next renewal follows.
    const timer = setInterval(() => void renew().catch(() => {}), (this.holder.reservedForMs ?? reservedForMs) / renewals);
    timer.unref();
    return () => clearInterval(timer);
  }

  private isTakeable({ reserved_by, reserved_at }: { reserved_by: string; reserved_at: number }, nowMs: number): boolean {
    const { incarnation, isAlive } = this.holder;
    return reserved_by === incarnation || nowMs - reserved_at >= (this.holder.reservedForMs ?? reservedForMs) || !isAlive(reserved_by);
  }

  /** If several requests take the key over at once, one succeeds. */
  private async takeOver(of: KeyOfCaller, seen: { reserved_by: string; reserved_at: number }, nowMs: number): Promise<boolean> {
    const { rows } = await this.database.write({
      name: 'idempotency_take_over',
      text: `update idempotency_key set reserved_by = $3, reserved_at = to_timestamp($4::float8 / 1000)
        where account_id = $1 and key = $2 and status is null and reserved_by = $5 and reserved_at = to_timestamp($6::float8 / 1000) returning 1`,
      values: [of.accountId, of.key, this.holder.incarnation, nowMs, seen.reserved_by, seen.reserved_at],
    });
    return rows.length > 0;
  }

  /**
   * Stores the answer for retries; the first stored answer stays.
   *
   * @param secretResponse the answer for the first 24 hours, then deleted
   */
  async keep(
    { accountId, key }: KeyOfCaller,
    commandId: string,
    status: number,
    response: string,
    secretResponse: string | null = null,
  ): Promise<void> {
    const secretUntilMs = secretResponse === null ? null : this.clock.nowMs() + secretsKeptForMs;
    await this.database.write({
      name: 'idempotency_keep',
      text: `update idempotency_key set status = $4, response = $5, secret_response = $6, secret_until = to_timestamp($7::float8 / 1000)
        where account_id = $1 and key = $2 and command_id = $3 and status is null`,
      values: [accountId, key, commandId, status, response, secretResponse, secretUntilMs],
    });
  }

  /**
   * Binds a reserved key to the hash of contents that arrived after the reservation.
   *
   * @param contains no dot
   */
  async bind({ accountId, key }: KeyOfCaller, commandId: string, contents: string): Promise<Bound> {
    const { rows } = await this.database.write({
      name: 'idempotency_bind',
      text: `update idempotency_key set fingerprint = split_part(fingerprint, '.', 1) || '.' || $4
        where account_id = $1 and key = $2 and command_id = $3 and status is null and split_part(fingerprint, '.', 2) in ('', $4) returning 1`,
      values: [accountId, key, commandId, contents],
    });
    if (rows.length > 0) return 'bound';
    const found = await this.database.read({
      name: 'idempotency_bound',
      text: `select 1 from idempotency_key where account_id = $1 and key = $2 and command_id = $3 and split_part(fingerprint, '.', 2) not in ('', $4)`,
      values: [accountId, key, commandId, contents],
    });
    return found.rows.length > 0 ? 'other' : 'ended';
  }

  /** Deletes expired secrets, at most `limit`. Returns how many. */
  async deleteSecrets(limit = 1_000): Promise<number> {
    const { rows } = await this.database.write({
      name: 'idempotency_forget_secrets',
      text: `update idempotency_key set secret_response = null, secret_until = null where ctid = any(array(
        select ctid from idempotency_key where secret_until <= to_timestamp($1::float8 / 1000) limit $2 for update skip locked)) returning 1`,
      values: [this.clock.nowMs(), limit],
    });
    return rows.length;
  }

  /**
   * Releases the key of a refused request for any new request. Only if this request reserved it first: an earlier one may still have its
   * effect. The key stays reserved if one of the request's commands is committed, or another request has taken it over.
   */
  async free({ accountId, key }: KeyOfCaller, commandId: string): Promise<void> {
    await this.database.write({
      name: 'idempotency_free',
      text: `delete from idempotency_key where account_id = $1 and key = $2 and command_id = $3 and reserved_by = $4 and status is null
        and not exists (select from command_record where id = any($5::text[]))`,
      values: [accountId, key, commandId, this.holder.incarnation, commandsOf(commandId)],
    });
  }
}
