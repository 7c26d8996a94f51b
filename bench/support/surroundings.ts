/** What every bench is given: how long to measure, a PostgreSQL like a user's, and where profiles go. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { noLog } from '../../src/log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { type TemporaryFolder, temporaryFolder } from '../../test/support/temporary-folder.ts';

export class Surroundings {
  /** How long each figure of each side is measured, in slices. */
  readonly seconds: number;
  /** How often something is broken, where a bench breaks something. */
  readonly times: number;
  /** null: nothing is profiled. */
  readonly profileFolder: string | null;
  private folder: TemporaryFolder | null = null;
  private postgres: EmbeddedPostgres | null = null;
  private databases = 0;

  constructor(options: { seconds: number; times: number; profileFolder: string | null }) {
    this.seconds = options.seconds;
    this.times = options.times;
    this.profileFolder = options.profileFolder;
  }

  /** An empty database on the service's own PostgreSQL with its own settings: fsync is on. */
  async emptyDatabase(): Promise<string> {
    this.postgres ??= await startEmbeddedPostgres({ dataDir: await this.emptyFolder('database'), log: noLog });
    const name = `bench_${++this.databases}`;
    const client = new pg.Client({ connectionString: this.postgres.url });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const url = new URL(this.postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  async emptyFolder(name: string): Promise<string> {
    this.folder ??= await temporaryFolder('troupe-bench-');
    const path = join(this.folder.path, name);
    await mkdir(path, { recursive: true, mode: 0o711 });
    return path;
  }

  /** Node's options for a program of ours that should be profiled. */
  profiled(name: string): string[] {
    return this.profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${this.profileFolder}`, `--cpu-prof-name=${name}.cpuprofile`];
  }

  async close(): Promise<void> {
    await this.postgres?.stop();
    await this.folder?.remove();
  }
}
