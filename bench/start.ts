/** The duration of a start with existing data, and the memory of the idle service. */
import { setTimeout as after } from 'node:timers/promises';
import { residentBytes } from './support/other-process.ts';
import { makeRow, type Row } from './support/row.ts';
import { Service } from './support/service.ts';
import { isNoisy, median } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const starts = 3;
const readyLimitMs = 2_000;
const idleLimitMegabytes = 250;
const idleForMs = 5_000;

export async function benchStart(surroundings: Surroundings): Promise<Row[]> {
  const dataDir = await surroundings.emptyFolder('start');
  await (await Service.start({ dataDir })).stop();
  const readyMs: number[] = [];
  for (let i = 0; i < starts; i++) {
    const service = await Service.start({ dataDir, launcher: true });
    readyMs.push(service.readyAfterMs);
    await service.stop();
  }
  const service = await Service.start({ dataDir, nodeOptions: surroundings.profiled('start') });
  await after(idleForMs);
  const bytes = residentBytes(service.pid);
  await service.stop();
  const ready = { ours: median(readyMs), limit: readyLimitMs, noisy: isNoisy(readyMs) };
  const rows = [makeRow({ bench: 'start', row: 'start to ready, data there', unit: 'ms', reach: { atMost: 1 }, ...ready })];
  if (bytes === null) return rows;
  const memory = { ours: bytes / 2 ** 20, limit: idleLimitMegabytes };
  return [...rows, makeRow({ bench: 'start', row: 'resident, idle, without PostgreSQL', unit: 'MB', reach: { atMost: 1 }, ...memory })];
}
