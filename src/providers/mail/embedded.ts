/** Mail without a mail server: each message is stored as a .eml file, which any mail program opens. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import { composeMail, type MailSource, plainId } from './compose-mail.ts';
import type { MailProvider } from './port.ts';

/** The same `messageId` gives the same file. @param directory created if missing; readable only by this user */
export function createEmbeddedMail({ directory, ...source }: MailSource & { directory: string }): MailProvider {
  return {
    async send(mail, messageId) {
      const message = await composeMail(mail, messageId, source);
      const name = `${plainId(messageId)}.eml`;
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await writeWhole(join(directory, name), message);
      } catch (error) {
        throw new AppError('unavailable', 'The mail could not be kept: the mail folder cannot be written', { cause: error });
      }
      return { detail: `kept as ${name} (no mail server is configured, so it was not sent)` };
    },
  };
}

/** Readers see the whole file or none, also after a power failure. */
async function writeWhole(path: string, content: Uint8Array): Promise<void> {
  // Nodes may share the folder, and in containers their process ids can be equal.
  const draft = `${path}.${randomUUID()}.part`;
  try {
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
