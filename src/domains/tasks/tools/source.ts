/**
 * Tools that an account has because of what it has connected: other services and MCP servers. They differ between accounts and change while
 * agents run, so they are asked for when a model turn begins and again before a call is run.
 */
import type { Mode } from '../../../mode.ts';
import type { Tool } from './port.ts';

/** For whom tools are asked. `allowConnect`: `config.allow_connect` of the task. */
export type ToolOwner = { accountId: string; mode: Mode; taskId: string; allowConnect: boolean };

export interface ToolSource {
  /**
   * The tools that this owner has now beside those of the catalogue, in a fixed order. One that has a connection replaces the catalogue's of
   * the same name. Scopes of the task need no look: every tool has its `need`.
   */
  toolsOf(owner: ToolOwner): Promise<SourcedTool[]>;
}

export type SourcedTool = Tool & {
  /**
   * The id of the integration or MCP server that it relies on; null: not connected yet, and offered because of `allowConnect`. Then its `run`
   * does nothing but throw `NeedsConnection`, and no approval is requested before.
   */
  connection: string | null;
  /** The name of the service or server, for people and events. */
  service: string;
  /** Checks arguments where `parameters` are no TypeBox schema of ours. Default: `checkArguments`. */
  check?(sent: unknown, signal?: AbortSignal): CheckedArguments | Promise<CheckedArguments>;
  /** It can be called, but it is not listed for models: there are too many. */
  hidden?: boolean;
  /** The label of its metrics, where its name is chosen by a customer. Default: its name. */
  measuredAs?: string;
};

export type CheckedArguments = { ok: true; args: Record<string, unknown> } | { ok: false; message: string };

/** Thrown by `run` of a tool without connection: the agent waits until `connectionMade` is called for the service. Nothing was done. */
export class NeedsConnection extends Error {
  override name = 'NeedsConnection';
  readonly service: string;
  readonly tool: string;
  readonly connectUrl: string;
  constructor({ service, tool, connectUrl }: { service: string; tool: string; connectUrl: string }) {
    super(`${service} is not connected`);
    this.service = service;
    this.tool = tool;
    this.connectUrl = connectUrl;
  }
}

/** Thrown by `run` where the connection was ended: the agent ends with this error. `message` names the service. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}
