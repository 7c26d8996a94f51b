/** Tools that act on the agent itself. They run no code: the agent carries them out when its model calls them. */
import Type, { type TObject } from 'typebox';
import { agentTypes } from './port.ts';

export type ControlTool = { name: 'delegate' | 'finish'; description: string; parameters: TObject; need: null };

export const delegate: ControlTool = {
  name: 'delegate',
  // The other agent has no more rights than this one.
  need: null,
  description:
    'Gives a self-contained piece of the work to another agent of the task, which shares the workspace but does not see this conversation. ' +
    'Say in the prompt all it needs: the goal, the files, the form of the answer. Its closing words come back as the result. Do small things yourself.',
  parameters: Type.Object({
    type: Type.Union(
      agentTypes.map((type) => Type.Literal(type)),
      { description: 'The kind of agent' },
    ),
    prompt: Type.String({ minLength: 1, maxLength: 8000, description: 'The complete assignment' }),
  }),
};

export const finish: ControlTool = {
  name: 'finish',
  need: null,
  description: 'Ends your work. Call it once, alone, when everything is delivered or cannot be: the summary is what the user reads.',
  parameters: Type.Object({
    summary: Type.String({
      minLength: 1,
      maxLength: 16_000,
      description: 'What was done, the main findings with their figures, which files were written, and what is missing or uncertain',
    }),
  }),
};

export const controlTools: readonly ControlTool[] = [delegate, finish];
