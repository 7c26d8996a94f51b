/** screenshot: a picture of a web page as a PNG file, which becomes a deliverable of the task. */
import Type from 'typebox';
import { writingFiles } from '../../../authority.ts';
import { ToolError } from '../../../errors.ts';
import type { Browser } from '../../../providers/browser/port.ts';
import type { Tool } from './port.ts';

const width = 1280;
const height = 800;

export function createScreenshot(browser: Browser): Tool {
  return {
    name: 'screenshot',
    agentTypes: 'all',
    description:
      `Opens a public web address (http or https) in a browser, ${width} pixels wide, and writes a picture of the page as a PNG file into the workspace, for the user. ` +
      'You cannot see the picture: to read the page, use fetch_url. Answers with the file and the title, status and last address of the page.',
    parameters: Type.Object({
      url: Type.String({ minLength: 1, maxLength: 2048, description: 'Complete address, starting with https:// or http://' }),
      full_page: Type.Optional(
        Type.Boolean({ description: `The whole length of the page, at most 10,000 pixels, in place of the first ${height}` }),
      ),
      path: Type.Optional(
        Type.String({ minLength: 1, maxLength: 255, description: 'Name of the file, ending with .png. Default: screenshot-<host>.png' }),
      ),
    }),
    need: writingFiles,
    highConsequence: false,
    repeatable: true,
    untrusted: true,
    timeoutMs: 60_000,
    async run(args: { url: string; full_page?: boolean; path?: string }, { accountId, agentId, signal, workspace }) {
      if (args.path !== undefined && !/[^/]\.png$/i.test(args.path))
        throw new ToolError(`The picture is a PNG: ${JSON.stringify(args.path)} must end with .png`);
      const pageRequest = { url: args.url.trim(), accountId, agentId, signal, width, height, fullPage: args.full_page ?? false };
      const { png, ...shot } = await browser.screenshot(pageRequest);
      const written = await workspace.write(args.path ?? `screenshot-${nameOf(shot.url)}.png`, png);
      return { path: written.name, size_bytes: written.sizeBytes, version: written.version, ...shot };
    },
  };
}

/** The host in characters that fit into names of files. */
function nameOf(url: string): string {
  return new URL(url).hostname.replaceAll(/[^a-z0-9.-]+/g, '-').slice(0, 100);
}
