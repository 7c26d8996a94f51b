import { actorRef } from '../../../../src/actors/define-actor.ts';
import type { NoteRow } from './entity.ts';

export type NoteContract = {
  commands: { write(input: { accountId: string; text: string }): NoteRow };
  queries: { get(input: null): NoteRow | null };
};
export const note = actorRef<NoteContract>('note');
