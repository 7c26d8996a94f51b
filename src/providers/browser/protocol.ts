/** The messages between the node and the process that drives the browser. */

export const crashedPage = 'The page crashed the browser tab, or needed more memory than it may use.';

export type DriverSettings = {
  /** Ranges that pages may reach although private (OUTBOUND_ALLOW). */
  allow: string[];
  chromium: { path: string } | { url: string };
  /** Whether a Chromium that is started confines its processes by namespaces of the system. */
  sandbox: boolean;
  /** An empty folder of the driver's user: the only one that a Chromium that is started writes to. */
  home: string;
};

export type Visit = {
  url: string;
  agentId: string;
  /** From now on, in milliseconds. */
  timeMs: number;
  /** The requested form of the page. */
  capture: { kind: 'html' } | { kind: 'png'; width: number; height: number; fullPage: boolean };
};

export type VisitResult = {
  url: string;
  status: number;
  title: string;
  /** Of a `html` visit. */
  html: string;
  truncated: boolean;
  /** Of a `png` visit. */
  png: Uint8Array;
};

export type ToDriver =
  | { op: 'begin'; settings: DriverSettings }
  | { op: 'visit'; id: number; visit: Visit }
  | { op: 'abort'; id: number }
  | { op: 'probe'; id: number };

export type FromDriver =
  /** `pid`: Chromium's own, where this process started it. */
  | { op: 'ready'; version: string; pid: number | null }
  | { op: 'failed'; reason: string }
  | { op: 'done'; id: number; result: VisitResult | null }
  /** `forAgent`: the message is for the agent; otherwise it describes a defect. */
  | { op: 'threw'; id: number; message: string; forAgent: boolean };

export const maxHtmlBytes = 2 * 2 ** 20;
export const maxPngBytes = 10 * 2 ** 20;
