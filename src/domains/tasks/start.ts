/** Tasks and agents on a node, with the tools of all domains. */
import type { Authority } from '../../authority.ts';
import { domainOf } from '../../providers/mail/port.ts';
import type { StartedDomain, StartPlatform } from '../domain.ts';
import { createDownloadLinks, workspaceAccess } from '../workspaces/contract.ts';
import { agentActor } from './agent/agent.ts';
import { agentMail } from './agent/agent-mail.ts';
import { agentEffects } from './agent/effects.ts';
import type { AgentRow } from './agent/entity.ts';
import { addToolMetrics } from './metrics.ts';
import { agentRoutes } from './routes/agents.ts';
import { deliverableRoutes } from './routes/deliverables.ts';
import { taskRoutes } from './routes/tasks.ts';
import { taskEffects } from './task/effects.ts';
import { taskActor } from './task/task.ts';
import { createCatalogue } from './tools/catalogue.ts';
import { observedToolbox, ToolStats } from './tools/observed.ts';

export function startTasks(platform: StartPlatform): StartedDomain {
  const { actors, database, files, tokens, publicUrl, eventCatalogue, model, compute, mail, config, tracer, log } = platform;
  const stats = new ToolStats();
  const toolbox = observedToolbox(createCatalogue(platform.agentTools), stats, tracer);
  const workspace = (agent: AgentRow, authority: Authority, callId: string) =>
    workspaceAccess({ actors, database, files }, { ...agent, agentId: agent.id, authority, callId });
  const from = config.agentMailFrom ?? `Troupe agent <agents@${domainOf(config.mailFrom)}>`;
  const mailParts = { actors, database, mail, from, reachesPeople: config.smtpUrl !== null };
  return {
    actors: [
      taskActor(taskEffects({ model, database, actors })),
      agentActor(
        toolbox,
        agentEffects({
          model,
          toolbox,
          sources: platform.toolSources,
          workspace,
          mail: (agent, callId) => agentMail(mailParts, agent, callId),
          compute,
          database,
          actors,
          log,
        }),
      ),
    ],
    routes: [
      ...taskRoutes({ actors, database, eventCatalogue }),
      ...deliverableRoutes({ database, files, links: createDownloadLinks(tokens, publicUrl) }),
      ...agentRoutes({ actors, toolbox, sources: platform.toolSources }),
    ],
    metrics: (metrics) => addToolMetrics(metrics, stats),
  };
}
