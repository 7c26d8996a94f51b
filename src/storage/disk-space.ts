/**
 * Watches the free space on the disk of DATA_DIR, so that the service stops writing before PostgreSQL has no space for its log and crashes.
 * While the disk is full, commands are refused and reads go on.
 */
import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';

const mebibyte = 2 ** 20;
/** Part of the disk's size, within these bounds. */
const reserveShare = 0.05;
const minReserveBytes = 64 * mebibyte;
const maxReserveBytes = 512 * mebibyte;
/** Once full, this many times the reserve must be free before commands are accepted again, to avoid flapping. */
const recoveryFactor = 1.25;
/** With less free space than this many times the reserve it is measured more often. */
const nearTimes = 4;
const measureMs = 1_000;
const nearMeasureMs = 200;

export type DiskSpaceOptions = {
  dataDir: string;
  /** Space kept free; null: a twentieth of the disk, 64 to 512 MiB; 0: never full. */
  reserveBytes: number | null;
  log: Log;
  /** Frees space if possible; called when the disk becomes full, and periodically while it is. */
  freeSpace?(): Promise<void>;
};

const freeSpaceEveryMs = 60_000;

export class DiskSpace {
  private full = false;
  private freeBytes = Number.POSITIVE_INFINITY;
  private reserveBytes = 0;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  private freedSpaceAtMs = Number.NEGATIVE_INFINITY;
  private readonly options: DiskSpaceOptions;
  private readonly listeners: ((isFull: boolean) => void)[] = [];

  constructor(options: DiskSpaceOptions) {
    this.options = options;
  }

  /** Less space is free than the reserve. */
  get isFull(): boolean {
    return this.full;
  }

  /** Calls when the disk becomes full, and when there is space again; at once if it is full now. */
  onChange(listener: (isFull: boolean) => void): void {
    this.listeners.push(listener);
    if (this.full) listener(true);
  }

  /** Throws `storage_full` while the disk is full. */
  check(): void {
    if (this.full) throw storageFull();
  }

  /** A text for the operator; null while there is space. */
  problem(): string | null {
    if (!this.full) return null;
    const [free, reserve] = [this.freeBytes, this.reserveBytes].map((bytes) => Math.floor(bytes / mebibyte));
    return `the disk of DATA_DIR (${this.options.dataDir}) is full: ${free} MiB free, ${reserve} MiB are kept free (DISK_RESERVE_MB)`;
  }

  async start(): Promise<void> {
    if (this.options.reserveBytes === 0) return;
    await this.measure();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Measures the free space and schedules the next measurement. Never rejects: on an error the last value is kept. */
  async measure(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    const { dataDir, reserveBytes, log } = this.options;
    try {
      const { bavail, blocks, bsize } = await statfs(dataDir);
      this.freeBytes = bavail * bsize;
      this.reserveBytes = reserveBytes ?? Math.min(maxReserveBytes, Math.max(minReserveBytes, blocks * bsize * reserveShare));
      this.updateState();
    } catch (err) {
      log.warn({ err }, 'the free space on the disk of DATA_DIR cannot be read');
    }
    if (this.stopped) return;
    const isNear = this.freeBytes < this.reserveBytes * nearTimes;
    this.timer = setTimeout(() => void this.measure(), isNear ? nearMeasureMs : measureMs).unref();
  }

  private updateState(): void {
    const { log } = this.options;
    const before = this.full;
    const isFull = this.freeBytes < this.reserveBytes * (this.full ? recoveryFactor : 1);
    if (isFull && !this.full) {
      this.full = true;
      log.error(
        { free_bytes: this.freeBytes, reserve_bytes: this.reserveBytes },
        `${this.problem()}; commands are refused until there is free space`,
      );
    } else if (!isFull && this.full) {
      this.full = false;
      log.info({ free_bytes: this.freeBytes }, 'the disk of DATA_DIR has free space again; commands are accepted');
    }
    if (this.full !== before) for (const listener of this.listeners) listener(this.full);
    if (this.full) this.freeSpace();
  }

  private freeSpace(): void {
    const nowMs = performance.now();
    if (this.options.freeSpace === undefined || nowMs - this.freedSpaceAtMs < freeSpaceEveryMs) return;
    this.freedSpaceAtMs = nowMs;
    this.options.freeSpace().catch((err) => this.options.log.debug({ err }, 'disk space could not be freed'));
  }
}

export function storageFull(cause?: unknown): AppError {
  return new AppError('storage_full', 'The disk of the service is full: it takes nothing new until its operator has made room', {
    cause,
    retryAfterS: 30,
  });
}

/** Whether too little is free for a database to continue; for the last error message. */
export function isDiskFull(dataDir: string): boolean {
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize < minReserveBytes / 2;
}

/** Whether a write failed because the disk is full. */
export function isDiskFullError(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
