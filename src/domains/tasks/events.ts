/** Events of tasks, agents and what agents ask and deliver. */
import type { EventFamilies } from '../../edge/stream/event-catalogue.ts';

export const tasksEvents: EventFamilies = {
  task: { names: ['created', 'waiting', 'planning', 'running', 'paused', 'completed', 'failed', 'cancelled'], scope: 'tasks.read' },
  agent: {
    names: [
      'started',
      'thinking',
      'action',
      'tool_result',
      'waiting',
      'approval_needed',
      'error',
      'completed',
      'paused',
      'resumed',
      'guided',
      'cancelled',
    ],
    scope: 'agents.read',
  },
  // The contract (§8) names both types for one event.
  approval: {
    names: ['required', 'approved', 'rejected', 'expired'],
    scope: 'agents.read',
    aliases: { required: 'agent.approval_needed' },
  },
  deliverable: { names: ['created', 'updated'], scope: 'tasks.read' },
};
