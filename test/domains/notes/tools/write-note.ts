import Type from 'typebox';
import type { ActorSystem } from '../../../../src/actors/actor-system.ts';
import type { Tool } from '../../../../src/domains/tasks/contract.ts';
import { derivedId } from '../../../../src/ids.ts';
import { notesIds } from '../ids.ts';
import { note } from '../note/messages.ts';

export const writeNote = (actors: ActorSystem): Tool => ({
  name: 'write_note',
  agentTypes: 'all',
  description: 'Keeps a short text and answers its id.',
  parameters: Type.Object({ text: Type.String({ minLength: 1, maxLength: 1_000 }) }),
  need: { scope: 'tasks.write' },
  highConsequence: false,
  repeatable: true,
  timeoutMs: 10_000,
  async run({ text }: { text: string }, { accountId, callId }) {
    const { id } = await actors.ask(note, derivedId(notesIds.note, accountId, callId), 'write', { accountId, text }, { commandId: callId });
    return { note_id: id };
  },
});
