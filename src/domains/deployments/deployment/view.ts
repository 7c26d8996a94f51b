/** A deployment as callers see it. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { ModeField } from '../../../edge/routes/mode.ts';
import { failureCodes } from '../hosts/host-failure.ts';
import { targets } from '../targets.ts';
import { type DeploymentRow, deploymentStatuses } from './entity.ts';
import { logSources } from './log-entity.ts';

const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const DeploymentView = Type.Object(
  {
    id: Type.String(),
    workspace_id: Type.String(),
    task_id: orNull(Type.String({ description: 'The task that created the deployment' })),
    target: Type.Enum([...targets]),
    config_id: orNull(Type.String()),
    mode: ModeField,
    status: Type.Enum([...deploymentStatuses]),
    url: orNull(Type.String({ description: 'Null until it is live' })),
    error: orNull(
      Type.Object({
        code: Type.Enum([...failureCodes]),
        message: Type.String({ description: "The host's own text where there is one" }),
      }),
    ),
    provider_id: orNull(Type.String({ description: 'Its id at the host, as soon as it is known; kept when it fails' })),
    files: orNull(Type.Integer()),
    bytes: orNull(Type.Integer()),
    created_at: Type.String({ format: 'date-time' }),
    completed_at: orNull(Type.String({ format: 'date-time' })),
  },
  { title: 'Deployment' },
);
export type DeploymentView = Static<typeof DeploymentView>;

export const LogLineView = Type.Object(
  { at: Type.String({ format: 'date-time' }), source: Type.Enum([...logSources]), text: Type.String() },
  { title: 'DeploymentLogLine' },
);

/** @param publicUrl of this service, which serves previews */
export function deploymentView(row: DeploymentRow, publicUrl: string): DeploymentView {
  const { id, errorCode, errorMessage, completedAt } = row;
  const address = row.mode === 'test' ? `${publicUrl}/preview/${id}/` : row.url;
  return {
    id,
    workspace_id: row.workspaceId,
    task_id: row.taskId,
    target: row.target,
    config_id: row.configId,
    mode: row.mode,
    status: row.status,
    url: row.status === 'live' ? address : null,
    error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
    provider_id: row.providerId,
    files: row.files,
    bytes: row.bytes,
    created_at: isoTimestamp(row.createdAt),
    completed_at: completedAt === null ? null : isoTimestamp(completedAt),
  };
}
