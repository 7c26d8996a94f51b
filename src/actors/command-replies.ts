/** Reads recorded replies of commands with idempotency keys; all lookups of one tick are one statement. */
import type { Database } from '../storage/database.ts';

export type RecordedReply = { reply: unknown };
type Wanted = { commandId: string; resolve(found: RecordedReply | null): void; reject(error: unknown): void };

const maxIdsInRead = 1_000;

export class CommandReplies {
  private wanted: Wanted[] = [];
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  /** Null when the command has not taken effect as far as the database knows. Rejects with `unavailable`. */
  find(commandId: string): Promise<RecordedReply | null> {
    return new Promise((resolve, reject) => {
      if (this.wanted.push({ commandId, resolve, reject }) === 1) setImmediate(() => this.readAll());
    });
  }

  private readAll(): void {
    const { wanted } = this;
    this.wanted = [];
    for (let at = 0; at < wanted.length; at += maxIdsInRead) void this.read(wanted.slice(at, at + maxIdsInRead));
  }

  private async read(wanted: Wanted[]): Promise<void> {
    try {
      const { rows } = await this.database.read({
        name: 'command_replies',
        text: 'select id, reply from command_record where id = any($1)',
        values: [wanted.map(({ commandId }) => commandId)],
      });
      const found = new Map(rows.map((row): [string, RecordedReply] => [row.id, { reply: row.reply }]));
      for (const { commandId, resolve } of wanted) resolve(found.get(commandId) ?? null);
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}
