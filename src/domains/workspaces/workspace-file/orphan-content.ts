/**
 * Content without a row: its upload was stored, but the process ended before the row was committed; or a deliverable was written again. A
 * walk over the store, page by page, finds it, and it is removed when it is a day old, so that running uploads are not affected.
 *
 * Only content of a workspace in this database is removed: a service started with another database removes nothing.
 */
import type { Clock } from '../../../clock.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore, StoredContent } from '../../../storage/files.ts';
import type { HousekeepingJob } from '../../../storage/maintenance.ts';
import { ownersOf } from './content-key.ts';

const minAgeMs = 24 * 3_600_000;
/** A walk lists all content, and some stores charge for listing. */
const walkEveryMs = 6 * 3_600_000;

export type OrphanContentOptions = {
  database: Database;
  /** A walk takes many pages, so it may miss content that is stored meanwhile. */
  files: Pick<FileStore, 'remove' | 'contents'>;
  clock: Clock;
};

/** Repeated walks over the store; memory holds one page. */
export class OrphanContent implements HousekeepingJob {
  readonly name = 'orphaned contents';
  readonly everyMs = walkEveryMs;
  private readonly options: OrphanContentOptions;
  private walk: AsyncIterator<StoredContent> | null = null;

  constructor(options: OrphanContentOptions) {
    this.options = options;
  }

  /** Examines the next `limit` contents. Returns how many it examined and how many of them it removed; fewer than `limit`: the walk has ended. */
  async runBatch(limit: number): Promise<{ seen: number; removed: number }> {
    const { database, files, clock } = this.options;
    const oldest = clock.nowMs() - minAgeMs;
    const page = await this.nextPage(limit);
    const unneeded = await unneededContents(
      database,
      page.filter((content) => content.modifiedAtMs < oldest).map((content) => content.key),
    );
    for (const key of unneeded) await files.remove(key);
    return { seen: page.length, removed: unneeded.length };
  }

  /** Closes the directory or listing that a walk holds open. */
  async close(): Promise<void> {
    const walk = this.walk;
    this.walk = null;
    await walk?.return?.();
  }

  private async nextPage(pageSize: number): Promise<StoredContent[]> {
    const walk = (this.walk ??= this.options.files.contents()[Symbol.asyncIterator]());
    const page: StoredContent[] = [];
    try {
      while (page.length < pageSize) {
        const { done, value } = await walk.next();
        if (done === true) {
          this.walk = null;
          break;
        }
        page.push(value);
      }
    } catch (error) {
      this.walk = null;
      throw error;
    }
    return page;
  }
}

/**
 * The keys without any reference: no file of a workspace, no deliverable, no deliverable in transit to its task (the message and the
 * row it becomes are exchanged in one commit, so one statement sees one of the two), no snapshot, and no snapshot that is being taken of the
 * workspace (likewise exchanged in one commit): its statement may have read the row that named the content.
 */
export async function unneededContents(database: Database, keys: readonly string[]): Promise<string[]> {
  const known = keys.flatMap((key) => {
    const owners = ownersOf(key);
    return owners === null ? [] : [{ key, ...owners }];
  });
  if (known.length === 0) return [];
  const { rows } = await database.read({
    name: 'unneeded_contents',
    text: `select k.key from unnest($1::text[], $2::text[], $3::text[]) k(key, workspace_id, file_id)
      where exists (select from workspace w where w.id = k.workspace_id)
        and not exists (select from workspace_file f where f.id = k.file_id and f.content_key = k.key and f.status = 'present')
        and not exists (select from deliverable d where d.content_key = k.key)
        and not exists (select from message m where m.kind = 'task' and m.command = 'delivered' and m.input->>'contentKey' = k.key)
        and not exists (select from snapshot_file s where s.content_key = k.key)
        and not exists (select from snapshot s where s.workspace_id = k.workspace_id and s.files is null and s.created_at > now() - interval '10 minutes')`,
    values: [known.map(({ key }) => key), known.map(({ workspaceId }) => workspaceId), known.map(({ fileId }) => fileId)],
  });
  return rows.map((row) => row.key);
}
