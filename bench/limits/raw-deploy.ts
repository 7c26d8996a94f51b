/** The limit of deployments: a script that reads a folder, hashes its files, and sends by Vercel's protocol what the host lacks, ten at once. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveCalls } from '../support/program.ts';

const atOnce = 10;

type Site = { url: string; token: string; folder: string };

serveCalls({
  publish,
  /** A site in each folder, all at once. */
  async publishAll({ folders, ...where }: Omit<Site, 'folder'> & { folders: string[] }): Promise<void> {
    await Promise.all(folders.map((folder) => publish({ ...where, folder })));
  },
});

async function publish({ url, token, folder }: Site): Promise<void> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const files = await Promise.all(
    names.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const content = await readFile(path);
      return {
        file: path.slice(folder.length + 1),
        sha: createHash('sha1').update(content).digest('hex'),
        size: content.length,
        content,
      };
    }),
  );
  const headers = { authorization: `Bearer ${token}` };
  const create = async () => {
    const response = await fetch(`${url}/v13/deployments?skipAutoDetectionConfirmation=1`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'raw', target: 'production', files: files.map(({ content: _, ...file }) => file) }),
    });
    return (await response.json()) as { id?: string; error?: { missing?: string[] } };
  };
  const { error } = await create();
  const byHash = new Map(files.map((file) => [file.sha, file]));
  const missing = (error?.missing ?? []).values();
  const send = async () => {
    for (const hash of missing) {
      const { content } = byHash.get(hash)!;
      const upload = () =>
        fetch(`${url}/v2/files`, {
          method: 'POST',
          headers: { ...headers, 'x-vercel-digest': hash },
          body: content,
        });
      // The host may close an idle connection in the moment in which it is used again.
      const response = await upload().catch(upload);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`an upload was answered ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, send));
  if ((await create()).id === undefined) throw new Error('the deployment was not created');
}
