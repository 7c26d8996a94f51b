/** The steps of a deployment that touch more than its row: snapshots, builds, hosts, its address. Each may run again at any point. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectContext } from '../../../actors/define-actor.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Builder } from '../build/builder.ts';
import type { DeployConfig } from '../configs/config.ts';
import { deployConfigs } from '../configs/messages.ts';
import type { FindHost } from '../hosts/catalogue.ts';
import type { Host, HostAccess, Publication } from '../hosts/host.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { ContentTurns } from '../low-priority.ts';
import type { SiteFile, Snapshot, Snapshots } from '../snapshot/site.ts';
import type { Target } from '../targets.ts';
import { checkSite, siteChecks } from './check-site.ts';
import type { DeploymentRow } from './entity.ts';
import { LogSender } from './log-sender.ts';
import {
  type Built,
  type CancelledAtHost,
  type CopiesRemoved,
  deployment,
  type Failed,
  type Poll,
  type Polled,
  type Prepared,
  type Probed,
  type Published,
} from './messages.ts';
import { type ProbeParts, probe as probeSite } from './probe.ts';
import { removeCopies as removeCopiesAtHost } from './remove-copies.ts';
import { retryUnavailable } from './retry-unavailable.ts';
import { siteUrl } from './site-url.ts';

export type EffectParts = ProbeParts & {
  actors: Pick<ActorSystem, 'ask' | 'query'>;
  clock: Clock;
  snapshots: Snapshots;
  builder: Builder;
  contentTurns: ContentTurns;
  findHost: FindHost;
  /** The access to the host of a configuration, including `kept`. Throws `DeployFailed` if its credentials cannot be decrypted. */
  accessOf(config: DeployConfig, accountId: string): HostAccess;
  apiUrls: Readonly<Record<Target, string>>;
  maskOf(credentials: Readonly<Record<string, string>>): (text: string) => string;
};

export type DeploymentEffects = ReturnType<typeof deploymentEffects>;

/** A creation that runs while the deployment is cancelled is found within this time. */
const findPausesMs = [0, 1_500, 3_000];

export function deploymentEffects(parts: EffectParts) {
  const { actors, snapshots, builder, contentTurns, findHost, accessOf, apiUrls, maskOf } = parts;

  return { prepare, build, publish, poll, probe, cancelAtHost, removeCopies };

  function prepare(_input: object, context: EffectContext): Promise<Prepared | Failed> {
    return step(context, async (row) => {
      const config = row.config ?? (await lookUp(row));
      const { workspaceId, accountId } = row;
      const snapshot = takenBefore(row) ?? (await snapshots.take({ id: workspaceId, accountId }));
      if (snapshot.files === 0) throw new DeployFailed('build_failed', 'The workspace has no files');
      const found = { kind: 'prepared', config, snapshot } as const;
      if (row.siteId === null && config !== null && config.buildCommand !== null) return { ...found, site: null };
      const site = row.siteId === null ? await chosenPart(snapshot, config) : snapshot;
      checkSite(hostOf(row.target, config), await snapshots.files(site.snapshotId));
      return { ...found, site };
    });
  }

  function build(_input: object, context: EffectContext): Promise<Built | Failed> {
    return step(context, async (row, signal, log) => {
      const { id, accountId, workspaceId, snapshotId, target, config } = row;
      if (context.isRepeat) log.add('The build was interrupted and begins again', 'troupe');
      const host = hostOf(target, config);
      const site = await builder.build({
        ...{ deploymentId: id, accountId, workspaceId, snapshotId: snapshotId!, checks: siteChecks(host), signal },
        ...{ command: config!.buildCommand!, outputDir: config!.outputDir },
        turn: contentTurns(row),
        log: (lines) => lines.forEach((line) => log.add(line, 'build')),
      });
      checkSite(host, await snapshots.files(site.snapshotId));
      return { kind: 'built', site };
    });
  }

  function publish(_input: object, context: EffectContext): Promise<Published | Failed> {
    return step(context, async (row, signal, log, isRepeat) => {
      const { id: deploymentId, accountId, providerId } = row;
      const config = row.config!;
      const siteId = row.siteId!;
      const files = await snapshots.files(siteId);
      const access = await newestAccess(row);
      const turn = contentTurns(row);
      // A request of an earlier run may still be carried out.
      let isDoubtful = isRepeat;
      let hashed: Promise<readonly string[]> | null = null;
      const publication: Publication = {
        ...{ deploymentId, files, isRepeat, providerId, signal },
        async open(file: SiteFile) {
          await turn();
          return snapshots.open(file);
        },
        sha1: () => (hashed ??= snapshots.sha1(siteId, files, signal, turn)),
        created: (made) => created(deploymentId, context.effectId, made, signal),
        async keep(values, gone = {}) {
          const stored = await retryUnavailable(signal, () =>
            actors.ask(deployConfigs, accountId, 'keep', { id: config.id, values, gone }),
          );
          return { ...values, ...stored };
        },
        outcomeUnknown: () => {
          isDoubtful = true;
        },
        log: (text, source = 'provider') => log.add(text, source),
      };
      const made = await hostOf(config.target, config).publish(access, publication);
      return { kind: 'published', providerId: made.providerId, ...(isDoubtful && { isDoubtful }) };
    });
  }

  function poll({ polls, detail }: Poll, context: EffectContext): Promise<Polled | Failed> {
    return step(context, async (row, signal) => {
      const config = row.config!;
      const state = await hostOf(row.target, config).state(accessOf(config, row.accountId), row.providerId!, signal);
      if (state.kind === 'working') return { ...state, polls, isNews: state.detail !== detail };
      if (state.kind === 'failed') return { kind: 'ended', code: state.code, message: state.message };
      return { kind: 'live', url: siteUrl(config.url, state.url, apiUrls[row.target]) };
    });
  }

  function probe({ url, untilMs }: { url: string; untilMs: number }, context: EffectContext): Promise<Probed | Failed> {
    return step(context, async ({ accountId }, signal) => {
      const status = await probeSite(parts, { url, accountId, forMs: untilMs - parts.clock.nowMs(), signal });
      return { kind: 'answered', status };
    });
  }

  function cancelAtHost(_input: object, context: EffectContext): Promise<CancelledAtHost | Failed> {
    return step(context, async (first, signal) => {
      const { id, target, config } = first;
      const host = hostOf(target, config);
      const access = await newestAccess(first);
      for (const pauseMs of findPausesMs) {
        await pause(pauseMs, null, { signal });
        const { providerId: named } = await current(id, signal);
        const providerId = named ?? (await host.find?.(access, id, signal)) ?? null;
        if (providerId === null) continue;
        await host.cancel(access, providerId, signal);
        return { kind: 'cancelled', providerId, isLive: await isLive(host, access, providerId, signal) };
      }
      return { kind: 'nothing' };
    });
  }

  function removeCopies(_input: object, context: EffectContext): Promise<CopiesRemoved | Failed> {
    return step(context, async (row, signal) => {
      const config = await lookUp(row);
      return removeCopiesAtHost(hostOf(row.target, config), accessOf(config!, row.accountId), row, signal);
    });
  }

  /**
   * Runs a step on the stored row while the deployment waits for it; repeats it while parts of this service, such as the database, do not
   * answer. A `DeployFailed` is an outcome whose text is masked; the log is stored before the outcome.
   */
  async function step<V>(
    { actorId, effectId, isRepeat, signal: asked }: EffectContext,
    work: (row: DeploymentRow, signal: AbortSignal, log: LogSender, isRepeat: boolean) => Promise<V>,
  ): Promise<V | Failed> {
    const row = await mine();
    let runs = 0;
    const unneeded = new AbortController();
    const signal = AbortSignal.any([asked, unneeded.signal]);
    const onUnneeded = () => unneeded.abort(new AppError('conflict', 'The deployment has ended'));
    const mask = maskFor(row);
    const log = new LogSender({ ...parts, deploymentId: actorId, effectId, mask, signal, onUnneeded });
    try {
      return await retryUnavailable(signal, async () => {
        const isFirst = runs++ === 0;
        return work(isFirst ? row : await mine(), signal, log, isRepeat || !isFirst);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof DeployFailed)) throw error;
      return { kind: 'failed', code: error.code, message: mask(error.message) };
    } finally {
      await log.end();
    }

    /** This node may be late: another one has run the step, and the row has moved on or has lost its credentials. */
    async function mine(): Promise<DeploymentRow> {
      const stored = await current(actorId, asked);
      if (stored.effectId !== effectId) throw new AppError('conflict', 'The deployment goes on without this step');
      return stored;
    }
  }

  async function current(id: string, signal: AbortSignal): Promise<DeploymentRow> {
    const row = await retryUnavailable(signal, () => actors.query(deployment, id, 'get', null));
    if (row === null) throw new AppError('not_found', 'Deployment not found');
    return row;
  }

  async function created(id: string, effectId: string, providerId: string, signal: AbortSignal): Promise<void> {
    // Also when it was aborted: the id is needed to cancel it at the host.
    const isCurrent = await actors.ask(deployment, id, 'created', { effectId, providerId }).catch((error) => {
      if (signal.aborted) throw error;
      return retryUnavailable(signal, () => actors.ask(deployment, id, 'created', { effectId, providerId }));
    });
    signal.throwIfAborted();
    if (!isCurrent) throw new AppError('conflict', 'The deployment has ended');
  }

  async function lookUp({ accountId, mode, target, configId }: DeploymentRow): Promise<DeployConfig | null> {
    const found =
      configId === null
        ? await actors.query(deployConfigs, accountId, 'newest', { target, mode })
        : await actors.query(deployConfigs, accountId, 'find', { id: configId, mode });
    if (found === null && mode === 'live') throw new DeployFailed('auth', `There is no deploy configuration of ${target} any more`);
    return found;
  }

  /** Without a build, `output_dir` names the folder that is published. */
  async function chosenPart(snapshot: Snapshot, config: DeployConfig | null): Promise<Snapshot> {
    const folder = config?.outputDir ?? '.';
    if (folder === '.') return snapshot;
    const part = await snapshots.within(snapshot.snapshotId, folder);
    if (part.files === 0) throw new DeployFailed('build_failed', `The workspace has no files in the folder ${folder} (output_dir)`);
    return part;
  }

  /** With the values that this or another deployment of the configuration has stored meanwhile. */
  async function newestAccess({ accountId, mode, config }: DeploymentRow): Promise<HostAccess> {
    const newest = await actors.query(deployConfigs, accountId, 'find', { id: config!.id, mode });
    return accessOf({ ...config!, kept: newest?.kept ?? config!.kept }, accountId);
  }

  function hostOf(target: Target, config: DeployConfig | null): Host {
    return findHost({ target, projectGiven: config?.project != null });
  }

  function maskFor({ config, accountId, mode }: DeploymentRow): (text: string) => string {
    return maskOf(config === null || mode === 'test' ? {} : accessOf(config, accountId).credentials);
  }
}

/** Where the host does not know it any more, it is not live. */
async function isLive(host: Host, access: HostAccess, providerId: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await host.state(access, providerId, signal)).kind === 'live';
  } catch (error) {
    if (error instanceof DeployFailed) return false;
    throw error;
  }
}

function takenBefore({ snapshotId, files, bytes }: DeploymentRow): Snapshot | null {
  return snapshotId === null ? null : { snapshotId, files: files ?? 0, bytes: bytes ?? 0 };
}
