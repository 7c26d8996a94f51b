/**
 * A file system for one test, ext4 in a file (`mount -o loop`), that can be full and can break without effects on others. Needs root, on
 * Linux.
 *
 * Full is full: a file of ballast takes every block that is left. Broken is what the kernel makes of a disk error in the metadata of a
 * file system (`errors=remount-ro`): no write and no fsync succeeds any more, what was not on the disk yet is lost, and only after it
 * was unmounted and checked can it be written again.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdir, open, rm, statfs, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { temporaryFolder } from './temporary-folder.ts';

const execute = promisify(execFile);
/** Those who have just ended may still be counted as users of it. */
const unmountAttempts = 50;
const againMs = 100;
const fewInodes = '32768';
const ballast = 'ballast';

let reason: Promise<string | false> | null = null;

/** Why there can be no volumes here; false where there can. */
export function withoutVolumes(): Promise<string | false> {
  reason ??= tryOne();
  return reason;
}

async function tryOne(): Promise<string | false> {
  if (process.platform !== 'linux' || process.getuid!() !== 0) return 'only root on Linux can mount a file system';
  const folder = await temporaryFolder('troupe-volume-');
  try {
    const volume = await Volume.create(join(folder.path, 'volume'), 16);
    await volume.close();
    return false;
  } catch (error) {
    return `no file system can be mounted (${(error as Error).message.trim().split('\n').at(-1)})`;
  } finally {
    await folder.remove();
  }
}

export class Volume {
  /** Where it is mounted. */
  readonly path: string;
  private readonly image: string;
  private readonly sizeMb: number;
  private isMounted = false;
  /** The last resort, where nobody closes it: at the end of this process. */
  private readonly leave = () => {
    if (this.isMounted) execFileSync('umount', ['--lazy', this.path], { stdio: 'ignore' });
  };

  private constructor(path: string, sizeMb: number) {
    this.path = path;
    this.image = `${path}.image`;
    this.sizeMb = sizeMb;
  }

  /** @param path a folder that is made; the image, which takes as much of the disk as was ever written, lies beside it */
  static async create(path: string, sizeMb: number): Promise<Volume> {
    const volume = new Volume(path, sizeMb);
    await mkdir(path, { recursive: true });
    const image = await open(volume.image, 'w');
    await image.truncate(sizeMb * 1024 * 1024);
    await image.close();
    await execute('mkfs.ext4', ['-q', '-F', '-m', '0', '-N', fewInodes, volume.image]);
    process.once('exit', volume.leave);
    await volume.mount();
    // As of every temporary folder: PostgreSQL passes through as another user.
    await chmod(path, 0o711);
    return volume;
  }

  /** Takes all room that is left. Ends with `free`. */
  async fill(): Promise<void> {
    // It fails for want of room, and keeps what it has got.
    await execute('fallocate', ['--length', `${this.sizeMb}MiB`, join(this.path, ballast)]).catch(() => {});
    const { bavail, bsize } = await statfs(this.path);
    if (bavail * bsize > 1024 * 1024) throw new Error(`${this.path} could not be filled: ${bavail * bsize} bytes are free`);
  }

  async free(): Promise<void> {
    await rm(join(this.path, ballast), { force: true });
  }

  /** Nothing can be written from now on. Ends with `repair`. */
  async breakDown(): Promise<void> {
    const { stdout } = await execute('findmnt', ['--noheadings', '--output', 'SOURCE', this.path]);
    await writeFile(`/sys/fs/ext4/${basename(stdout.trim())}/trigger_fs_error`, 'disk error').catch(() => {});
    const written = await writeFile(join(this.path, 'written'), '').then(
      () => true,
      () => false,
    );
    if (written) throw new Error(`${this.path} could not be broken`);
  }

  /** Nobody may be using it. */
  async repair(): Promise<void> {
    await this.unmount();
    // It ends with 1 where it found something and mended it.
    await execute('e2fsck', ['-f', '-y', this.image]).catch((error: { code?: number; stdout?: string }) => {
      if (error.code !== 1) throw new Error(`${this.image} cannot be mended:\n${error.stdout}`, { cause: error });
    });
    await this.mount();
  }

  async close(): Promise<void> {
    await this.unmount();
    process.off('exit', this.leave);
    await rm(this.image);
  }

  private async mount(): Promise<void> {
    // What is on the volume is in the image; whether the image is on a disk concerns none but a machine that is switched off.
    await execute('mount', ['-o', 'loop,nobarrier,errors=remount-ro', this.image, this.path]);
    this.isMounted = true;
  }

  private async unmount(): Promise<void> {
    for (let attempt = 1; this.isMounted; attempt++) {
      try {
        await execute('umount', [this.path]);
        this.isMounted = false;
      } catch (error) {
        if (attempt === unmountAttempts) throw error;
        await pause(againMs);
      }
    }
  }
}
