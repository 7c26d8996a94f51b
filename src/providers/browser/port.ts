/** A browser that opens pages for agents: each agent has a context of its own, and every connection follows the rules of `Outbound`. */

export type PageRequest = {
  url: string;
  /** The owner of the context: its cookies and storage are kept until the context has been unused for a while. */
  agentId: string;
  accountId: string;
  signal: AbortSignal;
  /** Time limit of the page, from the moment it has a slot. Default 30 s. */
  timeMs?: number;
};

/** `url`: after redirects. `html`: the document once its scripts have run, at most 2 MiB. */
export type RenderedPage = { url: string; status: number; title: string; html: string; truncated: boolean };

/** `png`: at most 10 MiB. */
export type Screenshot = { url: string; status: number; title: string; png: Uint8Array; width: number; height: number };

export interface Browser {
  /** Without a browser the other calls fail with this reason. */
  readonly isConfigured: boolean;
  /** Throws `ToolError` for a page that cannot be opened (text for a model), and `unavailable` where the browser does not answer. */
  render(request: PageRequest): Promise<RenderedPage>;
  screenshot(request: PageRequest & { width: number; height: number; fullPage: boolean }): Promise<Screenshot>;
  /** Whether it answers; starts it where it is not running. Bounded by a few seconds. */
  health(): Promise<{ status: 'ok' | 'unavailable' | 'not_configured'; detail: string }>;
  close(): Promise<void>;
}
