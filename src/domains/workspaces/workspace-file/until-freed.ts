/** The room of removed content can be used, and is shown as free, once the account's register has the change. */
import { untilShown } from '../../../edge/routes/until-shown.ts';
import type { Database } from '../../../storage/database.ts';
import { isRegistered } from '../../accounts/contract.ts';
import type { WorkspaceFileRow } from './entity.ts';
import { workspaceFile } from './messages.ts';

/** The change is committed: a longer wait, such as for an actor that moves to another node, would only delay the answer. */
const waitAtMostMs = 5_000;

/** Waits until the room that a committed change of the file frees is registered. Never rejects. */
export function untilFreed(database: Pick<Database, 'read'>, { id, accountId }: Pick<WorkspaceFileRow, 'id' | 'accountId'>): Promise<void> {
  return untilShown(() => isRegistered(database, accountId, `${workspaceFile.kind}/${id}`), waitAtMostMs);
}
