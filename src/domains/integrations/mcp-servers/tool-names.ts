/**
 * Names of the tools of MCP servers for models: `mcp_{server}_{tool}`. Two tools of an account can lead to the same name: the tool `b_c` of the
 * server `a`, and the tool `c` of the server `a_b`. The tool that had the name first keeps it; the other has a name that ends with a hash. A name is
 * stored with its tool and stays when other servers are removed.
 */
import { createHash } from 'node:crypto';
import { isoTimestamp } from '../../../clock.ts';
import type { Mode } from '../../../mode.ts';
import type { Database } from '../../../storage/database.ts';
import { readableJson } from '../../../storage/readable-json.ts';

/** Names that other servers of the account use. */
export type NamesInUse = {
  all: readonly string[];
  /** Those of servers that were connected earlier. Only servers that are connected at the same moment can choose the same name; then the later one changes it. */
  older: readonly string[];
};

export const noNames: NamesInUse = { all: [], older: [] };

/** At most 64 characters: a longer name, or one with other characters, ends with a hash of server and tool. */
export function toolNameOf(server: string, tool: string): string {
  const name = plainName(server, tool);
  return name.length <= maxNameChars && name.endsWith(tool) ? name : hashedName(server, tool, 0);
}

/** As `toolNameOf`, or the first name with a hash that is free. */
export function freeToolName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  let name = toolNameOf(server, tool);
  for (let tries = 1; isTaken(name); tries++) name = hashedName(server, tool, tries);
  return name;
}

/**
 * Reads only servers whose names allow equal names of tools: where one name is the beginning of the other, followed by `_`.
 *
 * @param server `createdAt` is null before it is stored
 */
export async function namesInUse(
  database: Pick<Database, 'read'>,
  { id, accountId, mode, name, createdAt }: { id: string; accountId: string; mode: Mode; name: string; createdAt: number | null },
): Promise<NamesInUse> {
  const { rows } = await database.read({
    name: 'mcp_names_in_use',
    text: `select name, coalesce((created_at, id) < ($5::timestamptz, $3), true) as is_older,
        (select json_agg(json_build_object('name', tool->'name', 'toolName', tool->'toolName')) from json_array_elements(${readableJson('tools')}) tool) as tools
      from mcp_server
      where account_id = $1 and mode = $2 and removed_at is null and id <> $3 and (starts_with(name, $4 || '_') or starts_with($4, name || '_'))`,
    values: [accountId, mode, id, name, createdAt === null ? null : isoTimestamp(createdAt)],
  });
  const others = rows.map(({ name: server, is_older: isOlder, tools }) => {
    const pinned: { name: string; toolName: string | null }[] = tools ?? [];
    return { isOlder, names: pinned.map((tool) => tool.toolName ?? toolNameOf(server, tool.name)) };
  });
  const older = others.filter(({ isOlder }) => isOlder);
  return { all: others.flatMap(({ names }) => names), older: older.flatMap(({ names }) => names) };
}

const maxNameChars = 64;

function plainName(server: string, tool: string): string {
  return `mcp_${server}_${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
}

/** @param tries 0 for the hash of server and tool alone */
function hashedName(server: string, tool: string, tries: number): string {
  const hashed = tries === 0 ? [server, tool] : [server, tool, tries];
  const suffix = `_${createHash('sha256').update(JSON.stringify(hashed)).digest('hex').slice(0, 8)}`;
  return `${plainName(server, tool).slice(0, maxNameChars - suffix.length)}${suffix}`;
}
