/** The tools of the tasks domain: files, tables, code, the web, mail. */
import type { Browser } from '../../../providers/browser/port.ts';
import type { Compute } from '../../../providers/compute/port.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { SandboxPool } from '../../../providers/sandbox/port.ts';
import { createCodeExec } from './code-exec.ts';
import { createFetchUrl } from './fetch-url.ts';
import { listFiles } from './list-files.ts';
import type { Tool } from './port.ts';
import { createProfileTable } from './profile-table.ts';
import { createReadFile } from './read-file.ts';
import { createScreenshot } from './screenshot.ts';
import { sendEmail } from './send-email.ts';
import { createWebSearch } from './web-search.ts';
import { writeFile } from './write-file.ts';

export type TaskToolsParts = {
  outbound: Outbound;
  /** SEARCH_URL; null when there is none. */
  searchUrl: string | null;
  sandbox: SandboxPool;
  /** Where tables and pages are read. */
  compute: Compute;
  /** Where none is configured, agents have no tool that needs it. */
  browser: Browser;
};

export function taskTools({ outbound, searchUrl, sandbox, compute, browser }: TaskToolsParts): Tool[] {
  return [
    listFiles,
    createReadFile(compute),
    writeFile,
    createProfileTable(compute),
    createCodeExec(sandbox),
    createWebSearch(outbound, searchUrl),
    createFetchUrl(outbound, compute, browser),
    ...(browser.isConfigured ? [createScreenshot(browser)] : []),
    sendEmail,
  ];
}
