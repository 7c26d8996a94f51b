/** Deployments. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { DeployConfig } from '../configs/config.ts';
import type { FailureCode } from '../hosts/host-failure.ts';
import type { Target } from '../targets.ts';

export const deploymentStatuses = ['pending', 'building', 'deploying', 'live', 'failed'] as const;
export type DeploymentStatus = (typeof deploymentStatuses)[number];

export const Deployment = defineEntity({
  name: 'Deployment',
  tableName: 'deployment',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    taskId: p.text().strictNullable(),
    workspaceId: p.text(),
    target: p.text().$type<Target>(),
    configId: p.text().strictNullable(),
    /** The configuration at the beginning, unaffected by later changes; null for a preview, and after the end. */
    config: json<DeployConfig>().strictNullable(),
    status: p.text().$type<DeploymentStatus>(),
    /** The current step within the status. */
    step: p.text().$type<'prepare' | 'build' | 'publish' | 'poll' | 'probe' | 'ended'>(),
    /** The effect of the step that runs. */
    effectId: p.text().strictNullable(),
    /** The workspace's files at creation. */
    snapshotId: p.text().strictNullable(),
    /** What is published: the output of the build, or the same. */
    siteId: p.text().strictNullable(),
    files: p.integer().strictNullable(),
    bytes: p.bigint('number').strictNullable(),
    providerId: p.text().strictNullable(),
    url: p.text().strictNullable(),
    errorCode: p.text().$type<FailureCode>().strictNullable(),
    errorMessage: p.text().strictNullable(),
    /** How many lines its log has. */
    logLines: p.integer(),
    createdAt: epochMs(),
    completedAt: epochMs().strictNullable(),
  },
});
export type DeploymentRow = InferEntity<typeof Deployment>;
