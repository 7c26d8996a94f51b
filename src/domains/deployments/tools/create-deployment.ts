/** create_deployment: the same deployment as over REST, of the task's workspace. A repeated call with the same `callId` is the same deployment. */

import { setTimeout as pause } from 'node:timers/promises';
import Type from 'typebox';
import { AppError, ToolError } from '../../../errors.ts';
import { derivedId } from '../../../ids.ts';
import { AskAgain, askUntilAnswered, type Preview, type Tool, type ToolContext } from '../../tasks/contract.ts';
import { chooseConfig } from '../configs/choose.ts';
import { type CreationParts, createDeployment } from '../deployment/create.ts';
import type { DeploymentRow } from '../deployment/entity.ts';
import { deployment } from '../deployment/messages.ts';
import { deploymentView } from '../deployment/view.ts';
import type { FindHost } from '../hosts/catalogue.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import { deploymentIds } from '../ids.ts';
import type { Snapshot } from '../snapshot/site.ts';
import { type Target, targets } from '../targets.ts';
import { basisOf, changed, type Planned, textOf } from './site-preview.ts';

export type DeployingParts = CreationParts & { findHost: FindHost; publicUrl(): string };

type Arguments = { target: Target; config_id?: string | null };
type Plan = { planned: Planned; snapshot: Snapshot };

const texts = { what: 'The deployment', nothing: 'Nothing was deployed' };
/** How long the answer waits for the end of the deployment, which continues by itself. */
const waitMs = 5 * 60_000;
const timeoutMs = waitMs + 60_000;
const minPollPauseMs = 100;
const maxPollPauseMs = 2_000;

export const createDeploymentTool = (parts: DeployingParts): Tool => ({
  name: 'create_deployment',
  agentTypes: 'all',
  description:
    'Publishes all files of the workspace at a hosting provider, and answers the deployment {id, status, url, error}. status live: the site is public at url. Any other status: ' +
    'it is still under way. Deploy only what the task asks for, where it says, once, after the last file is written; the page of a site is index.html. After a failure say ' +
    'why it failed; do not try another target by yourself.',
  parameters: Type.Object({
    target: Type.Enum([...targets], { description: 'The hosting provider' }),
    config_id: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()], {
        description: 'The deploy configuration, cfg_…; without it the newest of the target',
      }),
    ),
  }),
  need: { scope: 'workspaces.write' },
  highConsequence: true,
  repeatable: true,
  timeoutMs,

  async preview(args: Arguments, context: ToolContext): Promise<Preview> {
    const { planned, snapshot } = await plan(parts, args, context);
    await parts.snapshots.remove(snapshot.snapshotId);
    return { text: textOf(planned), basis: basisOf(planned) };
  },

  async run(args: Arguments, context: ToolContext) {
    const { actors, publicUrl } = parts;
    const deploymentId = derivedId(deploymentIds.deployment, context.slotOwner ?? context.accountId, context.callId);
    // A deployment that an earlier run of this call has created is not created again, whatever has changed since.
    const earlier = await askUntilAnswered(texts, async () => actors.query(deployment, deploymentId, 'get', null));
    if (earlier === null) await begin(parts, deploymentId, args, context);
    // From here on the tool sends one query every two seconds; the deployment's own steps have their own lanes.
    context.releaseSlot();
    const row = await ended(parts, deploymentId, context.signal);
    const shown = deploymentView(row, publicUrl());
    if (shown.error !== null)
      throw new ToolError(`The deployment failed (${shown.error.code}): ${shown.error.message}`, { details: { deployment: shown } });
    if (shown.status === 'live') return shown;
    return { ...shown, note: 'It is still under way. Do not deploy again: its outcome shows in the deployment later.' };
  },
});

async function begin(parts: DeployingParts, deploymentId: string, args: Arguments, context: ToolContext): Promise<void> {
  const { accountId, taskId, workspaceId, authority, approvedBasis } = context;
  const { planned, snapshot } = await plan(parts, args, context);
  const basis = basisOf(planned);
  // A person who has named another configuration has approved that one.
  const approved =
    approvedBasis === null || args.config_id == null ? approvedBasis : { ...(approvedBasis as object), configId: basis.configId };
  const why = approved === null ? null : changed(approved, basis);
  if (why !== null) {
    await parts.snapshots.remove(snapshot.snapshotId);
    throw new AskAgain({ text: `${why}\n${textOf(planned)}`, basis });
  }
  const creation = { accountId, mode: authority.mode, workspaceId, target: args.target, taskId, config: planned.config, snapshot };
  await askUntilAnswered(texts, () => createDeployment(parts, { deploymentId, ...creation }, 'agent'));
}

/** The deployment as it would be made now. Its snapshot is the caller's to publish or to remove. */
async function plan(parts: DeployingParts, args: Arguments, context: ToolContext): Promise<Plan> {
  const { accountId, workspaceId, authority } = context;
  const { actors, builder, snapshots, findHost } = parts;
  const { target, config_id: configId = null } = args;
  const { mode } = authority;
  const config = await askUntilAnswered(texts, () => chooseConfig(actors, { accountId, mode, target, configId }));
  const refusal = config !== null && config.buildCommand !== null ? await builder.refusal() : null;
  if (refusal !== null) throw new ToolError(`${refusal}. ${texts.nothing}.`);
  const snapshot = await askUntilAnswered(texts, () => taken(parts, { id: workspaceId, accountId }));
  try {
    const files = await snapshots.files(snapshot.snapshotId);
    if (files.length === 0) throw new ToolError(`The workspace has no files. ${texts.nothing}.`);
    const host = findHost({ target, projectGiven: config?.project != null }).title;
    return { planned: { mode, workspaceId, host, config, files }, snapshot };
  } catch (error) {
    await snapshots.remove(snapshot.snapshotId);
    throw error;
  }
}

async function taken({ snapshots }: DeployingParts, workspace: { id: string; accountId: string }): Promise<Snapshot> {
  try {
    return await snapshots.take(workspace);
  } catch (error) {
    if (error instanceof DeployFailed) throw new ToolError(`${error.message}. ${texts.nothing}.`, { cause: error });
    throw error;
  }
}

/** The deployment once it is live or has failed, or as it is after some minutes. */
async function ended({ actors }: DeployingParts, deploymentId: string, signal: AbortSignal): Promise<DeploymentRow> {
  const begunAtMs = performance.now();
  for (let pauseMs = minPollPauseMs; ; pauseMs = Math.min(maxPollPauseMs, pauseMs * 1.5)) {
    const row = await known(actors, deploymentId);
    if (row !== null && (row.step === 'ended' || performance.now() - begunAtMs >= waitMs)) return row;
    await pause(pauseMs, undefined, { signal });
  }
}

/** null: no answer now; a later query may have one. */
async function known(actors: DeployingParts['actors'], deploymentId: string): Promise<DeploymentRow | null> {
  try {
    return await actors.query(deployment, deploymentId, 'get', null);
  } catch (error) {
    if (error instanceof AppError && error.code !== 'draining' && error.code !== 'internal') return null;
    throw error;
  }
}
