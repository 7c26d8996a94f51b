/** Wraps a model; counts, prices and traces its turns. */
import { CountBy, Distribution } from '../../counts.ts';
import type { Tracer } from '../../tracing.ts';
import type { Model, ModelReply } from './port.ts';

/** Tasks may name any model: beyond this number of names, others count as `other`. */
const maxSeries = 60;

export class ModelStats {
  readonly turns = new CountBy(['model', 'outcome'], maxSeries);
  readonly tokens = new CountBy(['model', 'direction'], maxSeries);
  readonly cost = new CountBy(['model'], maxSeries);
  readonly durationS = new Distribution([0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 600]);

  answered({ model, inputTokens, outputTokens, costMillicents }: ModelReply): void {
    this.turns.add([model, 'done']);
    this.tokens.add([model, 'in'], inputTokens);
    this.tokens.add([model, 'out'], outputTokens);
    this.cost.add([model], costMillicents / 100_000);
  }
}

/** @param tracer null: turns are not traced */
export function observedModel(model: Model, stats: ModelStats, tracer: Tracer | null): Model {
  return {
    name: model.name,
    async turn(request, options) {
      const requestedModel = request.model ?? model.name;
      const span = tracer?.startSpan(
        `model ${requestedModel.slice(0, 200)}`,
        tracer.current(),
        { 'gen_ai.request.model': requestedModel.slice(0, 200) },
        { kind: 'client' },
      );
      const begunAtMs = performance.now();
      try {
        const reply = await model.turn(request, options);
        stats.answered(reply);
        span?.set('gen_ai.response.model', reply.model);
        span?.set('gen_ai.usage.input_tokens', reply.inputTokens);
        span?.set('gen_ai.usage.output_tokens', reply.outputTokens);
        span?.end();
        return reply;
      } catch (error) {
        stats.turns.add([requestedModel.slice(0, 200), options.signal.aborted ? 'aborted' : 'failed']);
        span?.end(error);
        throw error;
      } finally {
        stats.durationS.record((performance.now() - begunAtMs) / 1_000);
      }
    },
  };
}
