/** Reads all deployments at the end of a run: from every node, from the database, and from the hosts. */
import pg from 'pg';
import type { Client, Door } from './client.ts';
import type { AtHost } from './deploy-hosts.ts';
import { fingerprintOfHashes } from './fingerprint.ts';
import { inTurn, readOfAKind } from './gather.ts';

export type KeptDeployments = {
  deployments: {
    id: string;
    workspace: string;
    status: string;
    code: string | null;
    message: string | null;
    providerId: string | null;
    /** Of the snapshot that was published; null: it was not taken. */
    fingerprint: string | null;
    /** It has an effect, or credentials that are no longer needed. */
    isUnderWay: boolean;
  }[];
  /** `deployment.*` without the lines of logs. */
  events: { deployment: string; type: string }[];
  views: { node: string; id: string; status: string }[];
  atHosts: readonly AtHost[];
};

type NamedDoor = Door & { readonly name: string };

export async function gatherDeployments(
  { doors, databaseUrl }: { doors: readonly NamedDoor[]; databaseUrl: string },
  clients: readonly Client[],
  atHosts: readonly AtHost[],
): Promise<KeptDeployments> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      `select id, account_id, workspace_id, status, error_code, error_message, provider_id, site_id, effect_id is not null or config is not null as busy
       from deployment order by id`,
    );
    const { rows: files } = await client.query('select snapshot_id, path, sha256 from snapshot_file');
    const { rows: events } = await client.query(
      `select type, data->'deployment'->>'id' as deployment from event where type in ('deployment.building', 'deployment.deploying', 'deployment.live', 'deployment.failed')`,
    );
    const bySnapshot = Map.groupBy(files, ({ snapshot_id: id }) => id as string);
    const some = rows.length <= readOfAKind ? rows : [...rows.slice(0, readOfAKind / 2), ...rows.slice(-readOfAKind / 2)];
    const asked = some.flatMap((row) => {
      const of = clients.find(({ account }) => account === row.account_id);
      return of === undefined ? [] : doors.map((door) => ({ id: row.id as string, of, door }));
    });
    const views = await inTurn(asked, async ({ id, of, door }) => {
      const answer = await of.askNode(door, { method: 'GET', path: `/v1/deployments/${id}` });
      return { node: door.name, id, status: answer?.status === 200 ? answer.json.status : `answered ${answer?.status ?? 'nothing'}` };
    });
    const deployments = rows.map((row) => {
      const site = bySnapshot.get(row.site_id);
      return {
        ...{ id: row.id, workspace: row.workspace_id, status: row.status, code: row.error_code, message: row.error_message },
        ...{ providerId: row.provider_id, isUnderWay: row.busy },
        fingerprint: site === undefined ? null : fingerprintOfHashes(site as { path: string; sha256: string }[]),
      };
    });
    return { deployments, events, views, atHosts };
  } finally {
    await client.end();
  }
}
