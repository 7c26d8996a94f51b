/** A PostgreSQL of one test's own, behind a link, so that it can be restarted, crashed, cut off and slowed without harm to others. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../src/log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { processIdentity } from '../../src/storage/live-process.ts';
import { Link } from './link.ts';
import { sharedPostgresSettings } from './postgres-settings.ts';
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts';

export class OwnPostgres {
  readonly link: Link;
  private server: EmbeddedPostgres;
  private readonly folder: TemporaryFolder;

  private constructor(server: EmbeddedPostgres, link: Link, folder: TemporaryFolder) {
    this.server = server;
    this.link = link;
    this.folder = folder;
  }

  static async start(): Promise<OwnPostgres> {
    const folder = await temporaryFolder('troupe-postgres-');
    const server = await launch(folder);
    return new OwnPostgres(server, await Link.to(addressOf(server)), folder);
  }

  /** By way of the link: what the nodes are told. It stays the same over restarts. */
  get url(): string {
    return this.link.through(this.server.url);
  }

  /** Past the link: for whoever looks at what was kept. It changes with every restart. */
  get directUrl(): string {
    return this.server.url;
  }

  /** As an operator does it; connections are cut. */
  async restart(): Promise<void> {
    await this.server.stop();
    await this.startAgain();
  }

  /** As `kill -QUIT` ends it: at once, with recovery at the next start. */
  async crash(): Promise<void> {
    const pid = Number((await readFile(join(this.folder.path, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
    process.kill(pid, 'SIGQUIT');
    while ((await processIdentity(pid)) !== null) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.startAgain();
  }

  async close(): Promise<void> {
    await this.link.close();
    await this.server.stop();
    await this.folder.remove();
  }

  private async startAgain(): Promise<void> {
    this.server = await launch(this.folder);
    this.link.target = addressOf(this.server);
  }
}

function launch(folder: TemporaryFolder): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: folder.path, log: silentLog, settings: sharedPostgresSettings });
}

function addressOf({ url }: EmbeddedPostgres): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
