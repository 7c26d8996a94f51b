/** A host for tests: its deployments survive crashes of the service, and each of its steps can be paused or refused. */
import { buffer } from 'node:stream/consumers';
import type { Host, HostState, Publication } from '../../src/domains/deployments/hosts/host.ts';
import { DeployFailed } from '../../src/domains/deployments/hosts/host-failure.ts';

/** Moments of a publication: before anything, when the host has made it, when the id is stored, after each upload, before the end. */
export type Moment = 'begin' | 'made' | 'stored' | 'uploaded' | 'finished' | 'state' | 'cancel';

type Made = { id: string; tag: string; files: Map<string, string> | null };

export class ScriptedDeployHost {
  readonly made: Made[] = [];
  /** SHA-256 of the contents that were sent, in order. */
  readonly uploads: string[] = [];
  readonly cancelled: string[] = [];
  /** The id of the one that visitors see. */
  served: string | null = null;
  readonly moments: Moment[] = [];
  /** What it says of its states, one after the other; the last one stays. */
  states: (HostState | DeployFailed)[] = [];
  /** Called at each moment; what it throws the host fails with. */
  at: (moment: Moment) => unknown = () => {};
  private readonly contents = new Map<string, string>();

  readonly host: Host = {
    ...{ target: 'vercel', title: 'Scripted', credentials: ['token'], limits: { files: 50, fileBytes: 1_000, badName } },
    identify: async () => {},
    publish: async (_access, publication) => this.publish(publication),
    state: async (_access, providerId) => {
      await this.reach('state');
      const [state] = this.states.length > 1 ? this.states.splice(0, 1) : this.states;
      if (state === undefined) throw new Error(`No state of ${providerId}`);
      if (state instanceof DeployFailed) throw state;
      return state;
    },
    find: async (_access, tag) => this.made.find((one) => one.tag === tag)?.id ?? null,
    copies: {
      list: async (_access, tag) => this.made.filter((one) => one.tag === tag).map(({ id }) => id),
      served: async () => this.served,
      remove: async (_access, providerId) => this.made.splice(0).forEach((one) => one.id !== providerId && this.made.push(one)),
    },
    cancel: async (_access, providerId) => {
      await this.reach('cancel');
      this.cancelled.push(providerId);
    },
  };

  private async publish({ deploymentId, files, isRepeat, providerId, open, created, log, signal }: Publication) {
    await this.reach('begin', signal);
    const there = this.made.find(({ id, tag }) => id === providerId || (isRepeat && tag === deploymentId));
    const own = there ?? { id: `at-host-${this.made.length + 1}`, tag: deploymentId, files: null };
    if (there === undefined) this.made.push(own);
    await this.reach('made', signal);
    if (providerId === null) await created(own.id);
    await this.reach('stored', signal);
    for (const file of files) {
      if (this.contents.has(file.sha256)) continue;
      this.contents.set(file.sha256, (await buffer(await open(file))).toString());
      this.uploads.push(file.sha256);
      await this.reach('uploaded', signal);
    }
    log(`It has ${files.length} files of secret-token`);
    own.files = new Map(files.map(({ path, sha256 }) => [path, this.contents.get(sha256)!]));
    await this.reach('finished', signal);
    return { providerId: own.id };
  }

  private async reach(moment: Moment, signal?: AbortSignal): Promise<void> {
    this.moments.push(moment);
    await this.at(moment);
    signal?.throwIfAborted();
  }
}

function badName(path: string): string | null {
  return path.includes('#') ? 'it holds a #' : null;
}
