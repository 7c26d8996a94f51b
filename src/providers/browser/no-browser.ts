/** Where no browser is configured. */
import { ToolError } from '../../errors.ts';
import type { Browser } from './port.ts';

const missing = 'No browser service is configured here. Call fetch_url without `render` to read a page as the server sends it.';

export const noBrowser: Browser = {
  isConfigured: false,
  async render() {
    throw new ToolError(missing);
  },
  async screenshot() {
    throw new ToolError(missing);
  },
  health: async () => ({ status: 'not_configured', detail: 'No browser service is configured; fetch_url reads pages without one' }),
  async close() {},
};
