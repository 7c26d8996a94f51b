/** Reads recorded replies of commands with idempotency keys; all lookups of one tick are one statement. */
import type { Database } from '../storage/database.ts';

export type RecordedReply = { reply: unknown };
type Lookup = { commandId: string; resolve(found: RecordedReply | null): void; reject(error: unknown): void };

const maxIdsInRead = 1_000;

export class CommandReplies {
  private lookups: Lookup[] = [];
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  /** Null when the command has not taken effect as far as the database knows. Rejects with `unavailable`. */
  find(commandId: string): Promise<RecordedReply | null> {
    return new Promise((resolve, reject) => {
      if (this.lookups.push({ commandId, resolve, reject }) === 1) setImmediate(() => this.readAll());
    });
  }

  private readAll(): void {
    const { lookups } = this;
    this.lookups = [];
    for (let at = 0; at < lookups.length; at += maxIdsInRead) void this.read(lookups.slice(at, at + maxIdsInRead));
  }

  private async read(lookups: Lookup[]): Promise<void> {
    try {
      const { rows } = await this.database.read({
        name: 'command_replies',
        text: 'select id, reply from command_record where id = any($1)',
        values: [lookups.map(({ commandId }) => commandId)],
      });
      const found = new Map(rows.map((row): [string, RecordedReply] => [row.id, { reply: row.reply }]));
      for (const { commandId, resolve } of lookups) resolve(found.get(commandId) ?? null);
    } catch (error) {
      for (const { reject } of lookups) reject(error);
    }
  }
}
