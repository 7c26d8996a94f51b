/**
 * A PostgreSQL for one test, behind a link, so that it can be restarted, crashed, disconnected and slowed without effects on other
 * tests.
 */
import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { noLog } from '../../src/log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { processIdentity, signalProcess } from '../../src/storage/live-process.ts';
import { endLeftovers, isPostmasterOf, readPostmaster } from '../../src/storage/postmaster.ts';
import { Link } from './link.ts';
import { sharedPostgresSettings } from './postgres-settings.ts';
import { copyPreparedPostgres } from './prepared-postgres.ts';
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts';
import { Volume } from './volume.ts';

/** The disks of a server: that of the tables, and that of the log of writes. */
export type Disks = { tables: Volume; log: Volume };

/** Files without blocks until something is written: a run of hours has room. */
const tablesMb = 8_192;
const logMb = 2_048;
/** What is said to be on the disk is there, and each page of the log takes room of its own, so that a full disk is met at once. */
const settingsOnDisks = { ...sharedPostgresSettings, fsync: 'on', full_page_writes: 'on', wal_recycle: 'off' };

export class OwnPostgres {
  readonly link: Link;
  /** null where it lies on the disk of all. */
  readonly disks: Disks | null;
  private server: EmbeddedPostgres;
  private readonly place: Place;

  private constructor(server: EmbeddedPostgres, link: Link, place: Place) {
    this.server = server;
    this.link = link;
    this.place = place;
    this.disks = place.disks;
  }

  /** @param options.disks whether it has disks of its own, which can be filled and broken: see `volume.ts` for where there can be */
  static async start({ disks: hasDisks = false } = {}): Promise<OwnPostgres> {
    const folder = await temporaryFolder('troupe-postgres-');
    const place: Place = { folder, dataDir: folder.path, disks: null };
    try {
      if (hasDisks) await lieOnDisks(place);
      else await copyPreparedPostgres(place.dataDir);
      const server = await launch(place);
      return new OwnPostgres(server, await Link.to(addressOf(server)), place);
    } catch (error) {
      await leave(place);
      throw error;
    }
  }

  /** The address through the link, for the nodes. It stays the same over restarts. */
  get url(): string {
    return this.link.through(this.server.url);
  }

  /** The direct address, for code that reads the stored data. It changes with every restart. */
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
    await this.end();
    await this.startAgain();
  }

  /** At once, and for good: `startAgain` starts it. Nothing where it has ended. */
  async end(): Promise<void> {
    const pid = await this.postmaster();
    if (pid !== null) {
      signalProcess(pid, 'SIGQUIT');
      while ((await processIdentity(pid)) !== null) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await endLeftovers(this.cluster);
  }

  /** As an init system does: the process of PostgreSQL runs when this resolves. */
  async startAgain(): Promise<void> {
    this.server = await launch(this.place);
    this.link.target = addressOf(this.server);
  }

  /** False when it has ended by itself. */
  async isRunning(): Promise<boolean> {
    return (await this.postmaster()) !== null;
  }

  async close(): Promise<void> {
    await this.link.close();
    await this.server.stop();
    await leave(this.place);
  }

  private get cluster(): string {
    return join(this.place.dataDir, 'postgres');
  }

  /** The file of one that has ended may name what another process has now. */
  private async postmaster(): Promise<number | null> {
    const pid = (await readPostmaster(this.cluster))?.pid ?? 0;
    return pid > 0 && (await isPostmasterOf(pid, this.cluster)) ? pid : null;
  }
}

type Place = { readonly folder: TemporaryFolder; dataDir: string; disks: Disks | null };

async function lieOnDisks(place: Place): Promise<void> {
  const volume = (name: string, sizeMb: number) => Volume.create(join(place.folder.path, name), sizeMb);
  const tables = await volume('tables', tablesMb);
  const log = await volume('log', logMb).catch(async (error) => {
    await tables.close();
    throw error;
  });
  place.disks = { tables, log };
  place.dataDir = tables.path;
  const server = await launch(place);
  await server.stop();
  const made = join(place.dataDir, 'postgres', 'pg_wal');
  const moved = join(log.path, 'pg_wal');
  // With owners and rights, which PostgreSQL insists on.
  await promisify(execFile)('mv', [made, moved]);
  await symlink(moved, made);
}

async function leave({ folder, disks }: Place): Promise<void> {
  await disks?.log.close();
  await disks?.tables.close();
  await folder.remove();
}

function launch({ dataDir, disks }: Place): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, log: noLog, settings: disks === null ? sharedPostgresSettings : settingsOnDisks });
}

function addressOf({ url }: EmbeddedPostgres): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
