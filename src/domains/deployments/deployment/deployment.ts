/**
 * A deployment: publishes the files of a workspace at a host, one step after the other.
 *
 * D1 One effect runs at a time, `effectId`. Reports of any other effect are ignored, and their reply is that it must stop.
 * D2 Each change of status has one event: building, deploying, then live or failed. Nothing leaves live or failed.
 * D3 The id at the host is stored before the host's state of it is queried.
 * D4 At every end its effect is aborted, its timers are cleared, and any deployment that it may have created at the host is cancelled.
 * D5 Credentials are in its row only while a step may need them.
 * D6 If a creation may have been carried out after the search for it, the host is searched again; then it has the deployment once.
 */
import Type from 'typebox';
import { defineActor, type EffectResult, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { FailureCode } from '../hosts/host-failure.ts';
import type { DeploymentEffects } from './effects.ts';
import { Deployment, type DeploymentRow } from './entity.ts';
import { deploymentInputs } from './inputs.ts';
import { withLines } from './journal.ts';
import {
  type Built,
  type CancelledAtHost,
  type CopiesRemoved,
  type DeploymentContract,
  deployment,
  type Failed,
  type LogLine,
  type NewDeployment,
  type Poll,
  type Polled,
  type Prepared,
  type Probed,
  type Published,
} from './messages.ts';
import { pollPauseMs } from './poll-pause.ts';

type State = DeploymentRow | null;
type Context = TurnContext<DeploymentContract>;
/** The failure of a step; null where the effect has none of its own. */
type Outcome<V> = EffectResult<V | Failed>;

export type DeploymentActorParts = {
  effects: DeploymentEffects;
  /** The deployment as callers see it, for events. */
  shown(row: DeploymentRow): object;
  /** The whole of it. */
  timeoutMs: number;
  probeMs: number;
  /** How long the host may take to carry out a creation whose outcome is unknown. */
  secondSearchMs: number;
};

const deadline = 'deadline';
const nextPoll = 'poll';
const secondSearch = 'second look';
const Nothing = Type.Object({});
/** Failures of a publication after which the host may still create. */
const unknownEndings: ReadonlySet<FailureCode> = new Set<FailureCode>(['cancelled', 'timed_out', 'provider_down']);

export function deploymentActor({ effects, shown, timeoutMs, probeMs, secondSearchMs }: DeploymentActorParts) {
  // The deadline of the deployment ends a step; this limit is for an effect that ignores its signal.
  const step = { repeatable: () => true, timeoutMs: timeoutMs + 60_000 };
  return defineActor<DeploymentRow, DeploymentContract>({
    ref: deployment,
    entity: Deployment,
    inputs: deploymentInputs,
    commands: {
      create,
      begin,
      created,
      logged,
      prepared,
      built,
      published,
      polled,
      probed,
      cancelledAtHost,
      copiesRemoved,
      pollAgain,
      lookAgain: searchAgain,
      cancel(state, _input, ctx) {
        if (state === null) throw new AppError('not_found', 'Deployment not found');
        if (hasEnded(state)) throw new AppError('conflict', `The deployment is ${state.status} already`);
        const row = stop(state, 'cancelled', 'It was cancelled', ctx);
        return { state: row, reply: forReply(row) };
      },
      timedOut(state, _input, ctx) {
        if (state === null || hasEnded(state)) return { state, reply: null };
        return { state: stop(state, 'timed_out', `It took longer than ${Math.round(timeoutMs / 1_000)} seconds`, ctx), reply: null };
      },
    },
    queries: { get: (state) => state },
    effects: {
      prepare: { run: effects.prepare, ...step, lane: 'publish', outcome: 'prepared', input: Nothing },
      build: { run: effects.build, ...step, lane: 'build', outcome: 'built', input: Nothing },
      publish: { run: effects.publish, ...step, lane: 'publish', outcome: 'published', input: Nothing },
      // One request, or one every two seconds: `Outbound` bounds what goes to one origin.
      poll: {
        run: effects.poll,
        ...step,
        isBrief: true,
        outcome: 'polled',
        input: Type.Object({ polls: Type.Integer(), detail: Type.String() }),
      },
      probe: {
        run: effects.probe,
        ...step,
        isBrief: true,
        outcome: 'probed',
        input: Type.Object({ url: Type.String(), untilMs: Type.Number() }),
      },
      cancelAtHost: {
        run: effects.cancelAtHost,
        repeatable: () => true,
        timeoutMs: 120_000,
        isBrief: true,
        outcome: 'cancelledAtHost',
        input: Nothing,
      },
      removeCopies: {
        run: effects.removeCopies,
        repeatable: () => true,
        timeoutMs: 120_000,
        isBrief: true,
        outcome: 'copiesRemoved',
        input: Nothing,
      },
    },
  });

  function create(state: State, input: NewDeployment, ctx: Context): Turn<DeploymentRow, DeploymentRow> {
    if (state !== null) return { state, reply: forReply(state) };
    const { accountId, mode, taskId, workspaceId, target, config = null, snapshot = null, site = null } = input;
    const taken = site ?? snapshot;
    const row: DeploymentRow = {
      ...{ id: ctx.id, accountId, mode, taskId, workspaceId, target },
      configId: config?.id ?? input.configId,
      config: mode === 'test' && config !== null ? { ...config, credentials: '' } : config,
      ...{ status: 'pending', step: 'prepare', effectId: null },
      ...{ snapshotId: taken?.snapshotId ?? null, siteId: site?.snapshotId ?? null },
      ...{ files: taken?.files ?? null, bytes: taken?.bytes ?? null },
      ...{ providerId: null, url: null, errorCode: null, errorMessage: null, logLines: 0 },
      ...{ createdAt: ctx.nowMs, completedAt: null },
    };
    ctx.schedule(deadline, ctx.nowMs + timeoutMs, 'timedOut', {});
    ctx.send(deployment, ctx.id, 'begin', {});
    return { state: row, reply: forReply(row) };
  }

  function begin(state: State, _input: object, ctx: Context): Turn<State, null> {
    if (state?.status !== 'pending') return { state, reply: null };
    const row: DeploymentRow = { ...state, status: 'building', effectId: ctx.run('prepare', {}) };
    emit(row, ctx);
    return { state: row, reply: null };
  }

  function prepared(state: State, result: Outcome<Prepared>, ctx: Context): Turn<State, null> {
    return next(state, result, ctx, (row, { config, snapshot, site }) => {
      const counted = withLine(
        { ...row, config, configId: config?.id ?? row.configId, ...countsOf(snapshot) },
        snapshotLine(snapshot),
        ctx,
      );
      const taken = { ...counted, snapshotId: snapshot.snapshotId };
      if (site !== null) return publish({ ...taken, ...countsOf(site), siteId: site.snapshotId }, ctx);
      return { ...taken, step: 'build', effectId: ctx.run('build', {}) };
    });
  }

  function built(state: State, result: Outcome<Built>, ctx: Context): Turn<State, null> {
    return next(state, result, ctx, (row, { site }) => publish({ ...row, ...countsOf(site), siteId: site.snapshotId }, ctx));
  }

  function publish(row: DeploymentRow, ctx: Context): DeploymentRow {
    const deploying: DeploymentRow = { ...row, status: 'deploying', step: 'publish' };
    emit(deploying, ctx);
    // Nothing leaves: this service serves the snapshot itself.
    if (row.mode === 'test') return live(deploying, 'The preview can be opened', ctx);
    return { ...deploying, effectId: ctx.run('publish', {}) };
  }

  function published(state: State, result: Outcome<Published>, ctx: Context): Turn<State, null> {
    return next(state, result, ctx, (row, { providerId, isDoubtful }) => {
      if (isDoubtful) scheduleSecondSearch(ctx);
      return { ...row, providerId, step: 'poll', effectId: ctx.run('poll', { polls: 0, detail: '' }) };
    });
  }

  function scheduleSecondSearch(ctx: Context): void {
    ctx.schedule(secondSearch, ctx.nowMs + secondSearchMs, 'lookAgain', {});
  }

  function searchAgain(state: State, _input: object, ctx: Context): Turn<State, null> {
    if (state === null) return { state, reply: null };
    if (!hasEnded(state) || state.effectId !== null) {
      scheduleSecondSearch(ctx);
      return { state, reply: null };
    }
    return { state: { ...state, effectId: ctx.run('removeCopies', {}) }, reply: null };
  }

  function polled(state: State, result: Outcome<Polled>, ctx: Context): Turn<State, null> {
    return next(state, result, ctx, (row, value) => {
      if (value.kind === 'ended') return end(row, { status: 'failed', code: value.code, message: value.message }, ctx);
      if (value.kind === 'working') {
        const { detail, isNews, polls } = value;
        ctx.schedule(nextPoll, ctx.nowMs + pollPauseMs(polls), 'pollAgain', { polls: polls + 1, detail });
        return isNews ? withLine(row, `The host: ${detail}`, ctx) : row;
      }
      const { url } = value;
      const probing = withLine({ ...row, url, step: 'probe' }, `The host reports it as live; requesting ${url}`, ctx);
      return { ...probing, effectId: ctx.run('probe', { url, untilMs: ctx.nowMs + probeMs }) };
    });
  }

  function probed(state: State, result: Outcome<Probed>, ctx: Context): Turn<State, null> {
    return next(state, result, ctx, (row, { status }) => live(row, `${row.url} answers with ${status}`, ctx));
  }

  function live(row: DeploymentRow, line: string, ctx: Context): DeploymentRow {
    return end(withLine(row, line, ctx), { status: 'live' }, ctx);
  }

  /** Takes the outcome of the effect that runs. A failure of the step ends the deployment. */
  function next<V extends { kind: string }>(
    state: State,
    { effectId, outcome }: EffectResult<V | Failed>,
    ctx: Context,
    proceed: (row: DeploymentRow, value: V) => DeploymentRow,
  ): Turn<State, null> {
    if (state === null || hasEnded(state) || state.effectId !== effectId) return { state, reply: null };
    const row = { ...state, effectId: null };
    if (outcome.kind === 'done' && !isFailed(outcome.value)) return { state: proceed(row, outcome.value as V), reply: null };
    const failure = outcome.kind === 'done' ? (outcome.value as Failed) : unexpected(row, outcome);
    return { state: failStep(row, failure, ctx), reply: null };
  }

  function failStep(row: DeploymentRow, { code, message }: Failed, ctx: Context): DeploymentRow {
    // A deployment that is live at the host is not cancelled: only our own request of its address has failed.
    const isUnderWay = row.providerId !== null && row.step !== 'probe';
    return end(row, { status: 'failed', code, message, cancelsAtHost: isUnderWay }, ctx);
  }

  /** Ends the deployment before its step has ended. */
  function stop(row: DeploymentRow, code: FailureCode, message: string, ctx: Context): DeploymentRow {
    if (row.effectId !== null) ctx.cancel(row.effectId);
    const mayBeThere = row.step === 'publish' || row.step === 'poll' || row.step === 'probe';
    return end({ ...row, effectId: null }, { status: 'failed', code, message, cancelsAtHost: mayBeThere }, ctx);
  }

  function end(row: DeploymentRow, how: Ending, ctx: Context): DeploymentRow {
    ctx.unschedule(deadline);
    ctx.unschedule(nextPoll);
    if (how.status === 'failed' && row.step === 'publish' && row.mode === 'live' && unknownEndings.has(how.code)) scheduleSecondSearch(ctx);
    const logged = how.status === 'live' ? row : withLine(row, `Failed (${how.code}): ${how.message}`, ctx);
    const cancelsAtHost = how.status === 'failed' && how.cancelsAtHost === true && row.mode === 'live' && row.config !== null;
    const ended: DeploymentRow = {
      ...logged,
      ...{ status: how.status, step: 'ended', completedAt: ctx.nowMs },
      ...(how.status === 'failed' && { errorCode: how.code, errorMessage: how.message }),
      effectId: cancelsAtHost ? ctx.run('cancelAtHost', {}) : null,
      config: cancelsAtHost ? row.config : null,
    };
    emit(ended, ctx);
    return ended;
  }

  function emit(row: DeploymentRow, ctx: Context): void {
    const { accountId, taskId, status } = row;
    ctx.emit({ accountId, type: `deployment.${status}`, ...(taskId !== null && { taskId }), data: { deployment: shown(row) } });
  }
}

type Ending = { status: 'live' } | { status: 'failed'; code: FailureCode; message: string; cancelsAtHost?: boolean };

function created(state: State, { effectId, providerId }: { effectId: string; providerId: string }): Turn<State, boolean> {
  if (state === null) return { state, reply: false };
  const isCurrent = state.effectId === effectId;
  // Also from an aborted effect: the effect that cancels at the host reads the id here.
  const isChanged = isCurrent ? state.providerId !== providerId : state.providerId === null;
  return { state: isChanged ? { ...state, providerId } : state, reply: isCurrent };
}

function logged(state: State, { effectId, lines }: { effectId: string; lines: LogLine[] }, ctx: Context): Turn<State, boolean> {
  if (state === null || state.effectId !== effectId) return { state, reply: false };
  return { state: withLines(state, lines, ctx), reply: true };
}

function pollAgain(state: State, poll: Poll, ctx: Context): Turn<State, null> {
  if (state?.step !== 'poll' || state.effectId !== null) return { state, reply: null };
  return { state: { ...state, effectId: ctx.run('poll', poll) }, reply: null };
}

function cancelledAtHost(state: State, { effectId, outcome }: Outcome<CancelledAtHost>, ctx: Context): Turn<State, null> {
  if (state === null || state.effectId !== effectId) return { state, reply: null };
  const row = { ...state, effectId: null, config: null };
  if (outcome.kind !== 'done') return { state: withLine(row, 'The host could not be asked to cancel it', ctx), reply: null };
  const { value } = outcome;
  if (value.kind === 'nothing') return { state: row, reply: null };
  if (value.kind === 'failed') return { state: withLine(row, `The host has not cancelled it: ${value.message}`, ctx), reply: null };
  const line =
    value.isLive === true
      ? 'The host had published it already: visitors see it until another deployment replaces it'
      : 'The host was asked to cancel it';
  return { state: withLine({ ...row, providerId: value.providerId }, line, ctx), reply: null };
}

function copiesRemoved(state: State, { effectId, outcome }: Outcome<CopiesRemoved>, ctx: Context): Turn<State, null> {
  if (state === null || state.effectId !== effectId) return { state, reply: null };
  const row: DeploymentRow = { ...state, effectId: null };
  const failure = outcome.kind !== 'done' ? 'no answer' : isFailed(outcome.value) ? outcome.value.message : null;
  if (failure !== null) return { state: withLine(row, `It is unknown whether the host created it twice: ${failure}`, ctx), reply: null };
  const { kept, removed } = (outcome as { value: CopiesRemoved }).value;
  const lines = removed.map((id) => `The host had created it twice, by a request that it carried out late: ${id} was removed`);
  if (kept !== state.providerId)
    lines.push(`The host serves ${kept}, created by a request that it carried out late: it has the same files`);
  return { state: lines.reduce<DeploymentRow>((logged, line) => withLine(logged, line, ctx), { ...row, providerId: kept }), reply: null };
}

function withLine(row: DeploymentRow, text: string, ctx: Context): DeploymentRow {
  return withLines(row, [{ at: ctx.nowMs, source: 'troupe', text }], ctx);
}

/** Replies to commands with an id are stored for a day: the credentials are not. */
function forReply(row: DeploymentRow): DeploymentRow {
  return { ...row, config: null };
}

function hasEnded({ status }: DeploymentRow): boolean {
  return status === 'live' || status === 'failed';
}

function isFailed(value: { kind: string }): value is Failed {
  return value.kind === 'failed';
}

function countsOf({ files, bytes }: { files: number; bytes: number }): { files: number; bytes: number } {
  return { files, bytes };
}

function snapshotLine({ files, bytes }: { files: number; bytes: number }): string {
  return `Snapshot of the workspace: ${files} ${files === 1 ? 'file' : 'files'}, ${bytes} bytes`;
}

function unexpected({ step }: DeploymentRow, outcome: Exclude<EffectResult['outcome'], { kind: 'done' }>): Failed {
  const code = step === 'prepare' || step === 'build' ? 'build_failed' : step === 'probe' ? 'probe_failed' : 'provider_down';
  return { kind: 'failed', code, message: outcome.kind === 'failed' ? outcome.message : 'It failed unexpectedly' };
}
