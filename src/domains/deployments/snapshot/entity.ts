/** The files of snapshots, which are written directly and never change: no actor owns them. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

export const SnapshotFile = defineEntity({
  name: 'SnapshotFile',
  tableName: 'snapshot_file',
  properties: {
    snapshotId: p.text().primary(),
    path: p.text().primary(),
    accountId: p.text(),
    type: p.text(),
    sizeBytes: p.bigint('number'),
    sha256: p.text(),
    /** Once a host has needed it. */
    sha1: p.text().strictNullable(),
    contentKey: p.text(),
  },
});
export type SnapshotFileRow = InferEntity<typeof SnapshotFile>;
