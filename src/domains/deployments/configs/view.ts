/** A deploy configuration as callers see it. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { ModeField } from '../../../edge/routes/mode.ts';
import { targets } from '../targets.ts';
import type { DeployConfig } from './config.ts';

const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const DeployConfigView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    target: Type.Enum([...targets]),
    build_command: orNull(Type.String()),
    output_dir: orNull(Type.String()),
    project: orNull(Type.String()),
    team: orNull(Type.String()),
    url: orNull(Type.String()),
    mode: ModeField,
    verified_at: orNull(Type.String({ format: 'date-time', description: 'null: the host was not queried, or did not answer' })),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'DeployConfig' },
);
export type DeployConfigView = Static<typeof DeployConfigView>;

export function deployConfigView(config: DeployConfig): DeployConfigView {
  const { id, name, target, project, team, url, mode } = config;
  return {
    ...{ id, name, target, build_command: config.buildCommand, output_dir: config.outputDir, project, team, url, mode },
    verified_at: config.verifiedAt === null ? null : isoTimestamp(config.verifiedAt),
    created_at: isoTimestamp(config.createdAt),
  };
}
