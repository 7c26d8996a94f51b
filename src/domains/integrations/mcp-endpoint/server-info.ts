/** The server's description for MCP clients and their models. */
import type { ServerInfo } from './results.ts';

export const serverInfo: ServerInfo = { name: 'troupe', title: 'Troupe', version: '0.1.0' };

export const instructions =
  'Troupe gives tasks to teams of agents. Start one with create_task or run_task, follow it with get_task, and read what it wrote with list_deliverables and get_deliverable. Agents ask before high-consequence actions: show people what the pending approvals of a task say, and pass on their decision with decide_approval.';
