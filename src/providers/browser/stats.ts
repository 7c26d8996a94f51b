/** Statistics of the browser's pages on a node. */
import { CountBy, Distribution } from '../../counts.ts';
import { ToolError } from '../../errors.ts';
import { crashedPage } from './protocol.ts';

export class BrowserStats {
  readonly pages = new CountBy(['outcome']);
  /** How long a page waited for a slot. */
  readonly waitS = new Distribution([0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60]);
  /** Pages that were open when their browser ended. */
  ended = 0;
  /** Replaced by the browser. */
  load: () => { running: number; waiting: number } = () => ({ running: 0, waiting: 0 });

  constructor() {
    // From 0 on, so that the first one is an increase.
    for (const outcome of ['done', 'failed', 'crashed']) this.pages.add([outcome], 0);
  }

  /** Counts a page by how it ended: `failed`: the agent gets an error, for example for a page that took too long. Aborted ones are not counted. */
  async watched<T>(page: Promise<T>): Promise<T> {
    try {
      const result = await page;
      this.pages.add(['done']);
      return result;
    } catch (error) {
      if (error instanceof ToolError) this.pages.add([error.message === crashedPage ? 'crashed' : 'failed']);
      throw error;
    }
  }
}
